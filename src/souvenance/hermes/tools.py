"""The five tools of memory that a model may call: what they are, and what they answer."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pkgutil import get_data
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from souvenance.agents.gated_memory import GatedMemory
from souvenance.agents.notes import day, entries, lines, quotation, remarks, search_terms
from souvenance.agents.recalled import AI, USER, RecalledPassage
from souvenance.agents.text_budget import CHARACTERS_PER_TOKEN, cut
from souvenance.agents.transcript import clean
from souvenance.decoders import settled
from souvenance.domain.frame import defuse
from souvenance.domain.representation import fitting
from souvenance.errors import Disabled, InvalidInput, NotFound, SouvenanceError, Unauthenticated
from souvenance.gate.conversation.conclusions import ConclusionAnswer
from souvenance.hermes.configuration import LEVELS, Configuration, Level
from souvenance.language.terms import terms

_TEXTS = tomllib.loads((get_data(__package__, "tools.toml") or b"").decode())
"""What models read of these tools."""


def introduction(configuration: Configuration) -> str:
    told = _TEXTS["introduction"]
    parts = [told["memory"]]
    if configuration.recall_mode != "tools":
        parts.append(told["given"])
    if configuration.recall_mode != "context":
        parts.append(told["looked_up"].format(configuration.tool_names))
    return " ".join(parts)


SEARCH_TOKENS = 800
MOST_SEARCH_TOKENS = 2000
CARD_TOKENS = 200
_ANSWER_TOKENS = 2000
"""A model asked for it, so it may be more than is injected unasked, but no more than the widest search."""
_SUMMARY_TOKENS = 500
_VIEW_TOKENS = 700
_RECENT_TOKENS = 600
_TOKENS_PER_RESULT = 40
"""A short message with its day and names; so a budget says how many results to ask for."""
_MOST_RESULTS = 50
_LEAST_EXCERPT = 400
_RESULTS_AT_LEAST = 4
"""How many messages fit into a normal budget, even if they are long."""
_MOST_OF_A_NAME = 100
_MOST_OF_A_COMPLAINT = 300

_TRANSCRIPT = (
    "Gone from memory. The host's own transcript (state.db) may still hold what was recalled of it before."
)

_Answer = dict[str, Any]
_T = TypeVar("_T")


class _OfPeer(Struct, frozen=True, kw_only=True):
    peer: str = USER

    @property
    def whom(self) -> str:
        return self.peer.lower() if self.peer.lower() in (USER, AI) else self.peer


class _OfCard(_OfPeer, frozen=True, kw_only=True):
    card: list[str] = []


class _OfSearch(_OfPeer, frozen=True, kw_only=True):
    query: str
    max_tokens: Annotated[int, Meta(ge=1)] = SEARCH_TOKENS


class _OfReasoning(_OfPeer, frozen=True, kw_only=True):
    query: str
    reasoning_level: Annotated[str, Meta(extra_json_schema={"enum": list(LEVELS)})] = ""


class _OfConclusions(_OfPeer, frozen=True, kw_only=True):
    conclusion: str = ""
    delete_id: str = ""
    list: bool = False
    query: str = ""


def schemas(configuration: Configuration, *, own_card: bool) -> list[dict[str, Any]]:
    """The tools as the host lists them to the model; none where memory is only injected. With `own_card` the
    agent has a card of its own here."""
    if configuration.recall_mode == "context":
        return []
    parameters = {what: _parameters(what, kind) for what, (kind, _) in _TOOLS.items()}
    if not own_card:
        whose = _TEXTS["tools"]["profile"]["peer_without_own_card"]
        parameters["profile"]["properties"]["peer"]["description"] = whose
    if not configuration.dialectic_dynamic:
        del parameters["reasoning"]["properties"]["reasoning_level"]
    return [
        {
            "name": f"{configuration.tool_names}_{what}",
            "description": _TEXTS["tools"][what]["description"],
            "parameters": parameters[what],
        }
        for what in _TOOLS
    ]


def _parameters(what: str, kind: type[_OfPeer]) -> dict[str, Any]:
    schema = msgspec.json.schema_components([kind])[1][kind.__name__]
    for name, one in schema["properties"].items():
        one.pop("default", None)
        text = _TEXTS["tools"][what]["arguments"][name]
        one["description"] = text.format(usual=SEARCH_TOKENS, most=MOST_SEARCH_TOKENS)
    return {"type": "object", "properties": schema["properties"], "required": schema.get("required", [])}


def handle(memory: GatedMemory, configuration: Configuration, name: str, args: object, now: datetime) -> str:
    """What a tool answers, as JSON.

    Raises: SouvenanceError; `refused` turns it into an answer for the model.
    """
    ctx = _ToolContext(memory, configuration, now)
    tools = {ctx.tool(what): tool for what, tool in _TOOLS.items()}
    if configuration.recall_mode == "context":
        raise Disabled(
            "the tools of memory are off", hint="recallMode is 'context': memory is only injected."
        )
    if name not in tools:
        raise NotFound(f"no tool is called {name!r}", hint=f"There are: {', '.join(tools)}.")
    kind, work = tools[name]
    return _json(work(ctx, _read(kind, args)))


def _read(kind: type[_OfPeer], args: object) -> Any:
    """What a tool is called with. An empty text counts as not given. Raises: InvalidInput."""
    if not isinstance(args, Mapping):
        raise InvalidInput("the arguments are no object")
    given = {name: clean(value).strip() if isinstance(value, str) else value for name, value in args.items()}
    given = {name: value for name, value in given.items() if value not in (None, "")}
    if isinstance(given.get("card"), str):
        given["card"] = [given["card"]]
    try:
        return msgspec.convert(given, settled(kind), strict=False)
    except msgspec.ValidationError as error:
        raise InvalidInput(f"the arguments can't be read: {error}") from None


def refused(error: SouvenanceError) -> str:
    detail = cut(defuse(error.detail), _MOST_OF_A_COMPLAINT)
    return _json({"error": error.code, "detail": detail, "hint": error.hint})


def nobody() -> str:
    hint = "It names no user, or it is a group chat and groupChats is off. The operator can change both."
    return refused(Unauthenticated("this conversation has no memory", hint=hint))


class _ToolContext(Struct, frozen=True):
    memory: GatedMemory
    configuration: Configuration
    now: datetime

    def tool(self, what: str) -> str:
        return f"{self.configuration.tool_names}_{what}"

    def fit(self, found: Iterable[str], tokens: int) -> list[str]:
        return _fitting(found, self.within, tokens)

    def within(self, text: str, tokens: int) -> str:
        """The beginning of the text that fits the budget as JSON; empty if none does."""
        while text and (taken := _tokens_of(text)) > tokens:
            text = cut(text, min(len(text) - 1, len(text) * max(0, tokens) // taken))
        return text

    def passage(self, passage: RecalledPassage, most: int, about: list[str]) -> _Answer:
        peer, session = (cut(defuse(name), _MOST_OF_A_NAME) for name in (passage.peer, passage.session))
        text = quotation(passage.text, passage.trust, about, most)
        return {"date": str(day(passage.said_at, self.now)), "peer": peer, "session": session, "text": text}

    def note(self, note: ConclusionAnswer) -> _Answer:
        date = str(day(note.created_at, self.now))
        return {"id": note.id, "date": date, "text": defuse(clean(note.content))}

    def shortened(self, answer: _Answer, tokens: int) -> _Answer | None:
        """The answer with as much of its text as the budget allows; None if that is nothing."""
        text = self.within(answer["text"], tokens - _tokens_of({**answer, "text": ""}))
        return {**answer, "text": text} if text else None

    def all_fit(self, found: Iterable[_Answer], tokens: int) -> list[_Answer]:
        return _fitting(found, self.shortened, tokens)


def _fitting(found: Iterable[_T], shortened: Callable[[_T, int], _T | None], tokens: int) -> list[_T]:
    """The first of them that fit the budget together, the last one shortened if it has to be."""
    kept: list[_T] = []
    for one in found:
        short = shortened(one, tokens)
        if short:
            kept.append(short)
            tokens -= _tokens_of(short)
        if short != one:
            break
    return kept


def _profile(ctx: _ToolContext, asked: _OfCard) -> _Answer:
    peer = asked.whom
    facts = [fact for fact in (clean(fact).strip() for fact in asked.card) if fact]
    card = ctx.memory.write_card(peer, facts) if facts else ctx.memory.card(peer)
    known = [entry.text for entry in entries(card)]
    shown = ctx.fit(known, CARD_TOKENS)
    answer: _Answer = {"peer": defuse(peer), "card": shown}
    if facts:
        answer["written"] = True
    if len(shown) < len(known):
        answer["hint"] = f"{len(known) - len(shown)} more facts did not fit; {ctx.tool('search')} finds them."
    elif not known:
        answer["hint"] = f"No facts yet: they gather with conversation. Try {ctx.tool('search')}."
    return answer


def _search(ctx: _ToolContext, asked: _OfSearch) -> _Answer:
    query, tokens = asked.query, min(asked.max_tokens, MOST_SEARCH_TOKENS)
    limit = max(5, min(tokens // _TOKENS_PER_RESULT, _MOST_RESULTS))
    found = ctx.memory.search(query, asked.whom, limit)
    about = search_terms(query)
    most = max(_LEAST_EXCERPT, tokens * CHARACTERS_PER_TOKEN // _RESULTS_AT_LEAST)
    stated = ctx.memory.stated(asked.whom, query)
    kept = [note for note in stated if not set(about).isdisjoint(terms(note.content))]
    answers = (*map(ctx.note, kept), *(ctx.passage(passage, most, about) for passage in found))
    shown = ctx.all_fit(answers, tokens)
    if shown:
        return {"results": shown}
    hint = (
        "Too little room: raise max_tokens."
        if found or kept
        else f"Nothing found. Try other words, or {ctx.tool('reasoning')}."
    )
    return {"results": [], "hint": hint}


def _context(ctx: _ToolContext, asked: _OfPeer) -> _Answer:
    peer = asked.whom
    found = ctx.memory.snapshot(peer)
    newest = [ctx.passage(passage, _LEAST_EXCERPT, []) for passage in reversed(found.recent)]
    parts = {
        "summary": ctx.fit((line.text for line in lines(found.summary)), _SUMMARY_TOKENS),
        "known": ctx.fit(map(str, remarks(found.portrait.view)), _VIEW_TOKENS // 2),
        "said": ctx.all_fit(
            (ctx.passage(passage, _LEAST_EXCERPT, []) for passage in found.portrait.said), _VIEW_TOKENS
        ),
        "card": ctx.fit((entry.text for entry in entries(found.portrait.card)), CARD_TOKENS),
        "recent": fitting([one for one in newest if one["text"]], _tokens_of, _RECENT_TOKENS),
    }
    shown: _Answer = {name: part for name, part in parts.items() if part}
    return {"peer": defuse(peer), **(shown or {"hint": "Nothing is remembered yet."})}


def _reasoning(ctx: _ToolContext, asked: _OfReasoning) -> _Answer:
    query = cut(asked.query, ctx.configuration.dialectic_max_input_chars)
    level = _level(ctx.configuration, asked.reasoning_level.lower())
    reply = ctx.memory.ask(query, level, asked.whom)
    answer = "\n".join(line for line in map(defuse, clean(reply).splitlines()) if line)
    if answer:
        return {"answer": ctx.within(answer, _ANSWER_TOKENS), "reasoning_level": level}
    return {
        "answer": None,
        "hint": f"Memory has no answer. Try {ctx.tool('search')} with the words that were said.",
    }


def _conclude(ctx: _ToolContext, asked: _OfConclusions) -> _Answer:
    if sum(map(bool, (asked.conclusion, asked.delete_id, asked.list))) != 1:
        raise InvalidInput("exactly one of conclusion, delete_id and list is needed")
    if asked.query and not asked.list:
        raise InvalidInput("query goes with list only")
    if asked.conclusion:
        note = ctx.note(ctx.memory.conclude(asked.whom, asked.conclusion))
        return {"kept": ctx.shortened(note, _ANSWER_TOKENS) or note}
    if asked.delete_id:
        ctx.memory.retract(asked.delete_id)
        return {"deleted": cut(defuse(asked.delete_id), _MOST_OF_A_NAME), "note": _TRANSCRIPT}
    found = ctx.memory.conclusions(asked.whom, asked.query or None)
    shown = ctx.all_fit(map(ctx.note, found), _ANSWER_TOKENS)
    if not found:
        return {"conclusions": [], "hint": "Nothing is kept about that yet."}
    rest = {"hint": "More did not fit: narrow it down with query."} if len(shown) < len(found) else {}
    return {"conclusions": shown, **rest}


_TOOLS: dict[str, tuple[type[_OfPeer], Callable[[_ToolContext, Any], _Answer]]] = {
    "profile": (_OfCard, _profile),
    "search": (_OfSearch, _search),
    "context": (_OfPeer, _context),
    "reasoning": (_OfReasoning, _reasoning),
    "conclude": (_OfConclusions, _conclude),
}


def _level(configuration: Configuration, asked: str) -> Level:
    if not asked or not configuration.dialectic_dynamic:
        return configuration.dialectic_reasoning_level
    if (level := next((one for one in LEVELS if one == asked), None)) is None:
        raise InvalidInput(f"reasoning_level is none of {', '.join(LEVELS)}")
    return level


def _tokens_of(answer: object) -> int:
    """How many tokens an answer takes as JSON, at four characters each."""
    return -(-len(_json(answer)) // CHARACTERS_PER_TOKEN)


def _json(answer: object) -> str:
    return json.dumps(answer, ensure_ascii=False)
