"""A question answered by a model from statements: more are searched for, the answer is checked and cited."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from souvenance.adapters.model.calls import Asking, drained
from souvenance.adapters.model.endpoint import Call, Message, Prompt, WireReply
from souvenance.adapters.model.grounding import Embed, Ground, GroundingSource
from souvenance.adapters.model.prompt_files import day, fenced, prompt, quote
from souvenance.adapters.model.replies import fault, in_words, is_data, is_refusal, parsed
from souvenance.decoders import decodable
from souvenance.errors import ModelUnusable
from souvenance.language.characters import visible
from souvenance.language.forms import clauses
from souvenance.patterns import pattern
from souvenance.ports.model import AnswerPieces, ModelAnswer, ModelQuestion, SourceStatement

NOTHING = "NOTHING KNOWN"
"""What a model says that has no answer."""

_MARK = pattern(r"[ \t]*\[\s*([sc]\d{1,4}(?:\s*[,;]\s*[sc]?\d{1,4})*)\s*\]", re.IGNORECASE)
_OPEN = pattern(r"[ \t]*(?:\[[^\]\n]{0,60})?\Z")
_LABEL = pattern(r"([sc])?(\d+)", re.IGNORECASE)
_THINKS = pattern(r"\s*<think(?:ing)?>", re.IGNORECASE)
_THOUGHT = pattern(r"</think(?:ing)?>", re.IGNORECASE)
_HELD = 16


class CitationMarks:
    """Words in, words out, and the labels that were marked, in their order."""

    def __init__(self) -> None:
        self.labels: dict[str, None] = {}
        self._held = ""
        self._begun = False

    def add(self, words: str) -> str:
        """The words that can be told by now."""
        self._held += words
        if not self._begun and not self._begins():
            return ""
        opened = _OPEN.search(self._held)
        cut = opened.start() if opened else len(self._held)
        clear, self._held = self._held[:cut], self._held[cut:]
        return self._without(clear)

    def end(self) -> str:
        """What is left to be told."""
        if not self._begun and _THINKS.match(self._held):
            self._held = ""
        left, self._held = self._held, ""
        text = self._without(left).rstrip()
        return text if self._begun or not _is_nothing(text.lstrip()) else ""

    def _begins(self) -> bool:
        """Whether it is clear that words for the reader have come."""
        text = self._held
        if _THINKS.match(text):
            thought = _THOUGHT.search(text)
            if thought is None:
                return False
            text = self._held = text[thought.end() :]
        text = text.lstrip()
        if len(text) < _HELD or _is_nothing(text):
            return False
        self._held, self._begun = text, True
        return True

    def _without(self, text: str) -> str:
        return _MARK.sub(self._marked, text)

    def _marked(self, mark: re.Match[str]) -> str:
        kind = "s"
        for label in _LABEL.finditer(mark[1]):
            kind = (label[1] or kind).lower()
            self.labels[f"{kind}{label[2]}"] = None
        return ""


def _is_nothing(text: str) -> bool:
    return text.upper().lstrip("*\"' ").startswith(NOTHING)


SEARCH = "search_memory"
UNSUPPORTED = "unsupported"
"""What an answer lacks that no statement bears, where its words were told as they came."""

_LONGEST_STATEMENT = 1200
_LONGEST_SEARCH = 300
_MOST_FOUND = 20
_FEW_TOKENS = 64
_SHARED = 2
"""How many words a statement must have in common with an answer that rests on it unmarked."""
_HALF = 0.5
_OWN_WORDS = 0.35
"""The share of an answer's words that must be found in what it cites: the rest is how it puts it."""
_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": SEARCH,
        "description": "Search memory with other words. It gives further statements, as quoted data.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What to look for, in a few words."}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}


class _Search(Struct):
    query: str


class LabelledStatements:
    """What lies before the model: each statement under a short label, once."""

    def __init__(self, inquiry: ModelQuestion, asking: Asking) -> None:
        self._asking = asking
        self._about = inquiry.about or ""
        self._room = max(200, asking.window - inquiry.effort.tokens - 800)
        self.known: dict[str, SourceStatement] = {}
        self._seen: set[str] = set()
        self.card = {f"c{at}": entry for at, entry in enumerate(inquiry.card, 1)}

    def put(self, statements: Sequence[SourceStatement]) -> list[dict[str, str]]:
        """The rows of those that are new, as far as there is room."""
        rows: list[dict[str, str]] = []
        for one in statements:
            if one.id in self._seen or not one.text.strip():
                continue
            row = self._row(f"s{len(self.known) + 1}", one)
            size = self._asking.count(row["text"]) + 30
            if size > self._room:
                break
            self._room -= size
            self._seen.add(one.id)
            self.known[row["id"]] = one
            rows.append(row)
        return rows

    def rows(self) -> list[dict[str, str]]:
        card = [{"id": label, "text": one.text[:_LONGEST_STATEMENT]} for label, one in self.card.items()]
        return [*card, *(self._row(label, one) for label, one in self.known.items())]

    def _row(self, label: str, one: SourceStatement) -> dict[str, str]:
        who = {} if one.peer is None else {("carried_by" if one.carried else "said_by"): one.peer}
        row = {"id": label, **who, "on": day(one.said_at), "text": one.text[:_LONGEST_STATEMENT]}
        return row if one.outdated_by is None else {**row, "now": "no longer so"}

    def cited(self, labels: Sequence[str]) -> tuple[str, ...]:
        """What is marked: statements, and what lines of the card come from."""
        said = {label: one.id for label, one in self.known.items()}
        noted = {label: one.source for label, one in self.card.items()}
        found = (said.get(label) or noted.get(label) for label in labels)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def sources(
        self, asked_at: int, cited: Sequence[str] | None = None, *, outdated: bool = True
    ) -> list[GroundingSource]:
        """All statements, those that are cited or those that are so now, and the lines of the card."""
        known = [
            one
            for one in self.known.values()
            if (cited is None or one.id in cited) and (outdated or one.outdated_by is None)
        ]
        card = [GroundingSource(one.text, asked_at) for one in self.card.values()]
        texts = (f"{one.peer or ''} {one.text[:_LONGEST_STATEMENT]}" for one in known)
        return [*card, *map(GroundingSource, texts, (one.said_at for one in known))]

    def unmarked(self, text: str) -> tuple[str, ...]:
        """The statements that a text without marks plainly rests on."""
        ground = Ground([GroundingSource(text, 0)], self._about)
        return tuple(
            one.id
            for one in self.known.values()
            if (found := ground.found(one.text))
            and (len(found) >= _SHARED or ground.share(one.text) >= _HALF)
        )


class Answering:
    def __init__(self, asking: Asking, inquiry: ModelQuestion, name: str, embed: Embed | None) -> None:
        self._asking = asking
        self._embed = embed
        self._inquiry = inquiry
        self._name = name
        self._labelled = LabelledStatements(inquiry, asking)
        self._searched: list[str] = []

    def tell(self) -> AnswerPieces:
        """Raises: ModelBudgetSpent, ModelUnavailable, ModelUnusable."""
        inquiry = self._inquiry
        self._labelled.put(inquiry.statements)
        if inquiry.shape is not None:
            text = self._shaped(inquiry.shape)
            yield text
            return self._answer(text, self._labelled.unmarked(text))
        last = inquiry.effort.passes
        messages = self._question("answer", tools=self._may_search())
        if last == 1:
            return (yield from self._given(self._searching(messages)))
        draft = in_words(drained(self._searching(messages)))
        for number in range(2, last + 1):
            checking = self._asking.stream(self._prompt(self._checked(draft)))
            if number == last:
                return (yield from self._given(checking))
            draft = in_words(drained(checking))
        return self._answer("", ())

    def _may_search(self) -> bool:
        return self._inquiry.effort.searches > 0 and self._asking.calls_tools

    def _question(self, name: str, *, tools: bool) -> list[Message]:
        inquiry = self._inquiry
        offer = f"- If they do not answer it yet, call {SEARCH} with other words first." if tools else ""
        filled = {"today": day(inquiry.asked_at), "subject": self._subject()}
        if name == "answer":
            filled["tools"] = offer
        evidence = f"The statements:\n{fenced(self._labelled.rows())}"
        return [
            {"role": "system", "content": prompt(name, **filled)},
            {"role": "user", "content": f"{evidence}\n\nThe question: {quote(inquiry.question)}"},
        ]

    def _subject(self) -> str:
        about = self._inquiry.about
        return "" if about is None else f'- "I", "me" and "the user" in the question mean {quote(about)}.'

    def _checked(self, draft: str) -> list[Message]:
        messages = self._question("check", tools=False)
        content = f"{messages[1]['content']}\n\nThe draft:\n{fenced([{'draft': draft}])}"
        return [messages[0], {"role": "user", "content": content}]

    def _prompt(self, messages: Sequence[Message], searches: int = 0) -> Prompt:
        tokens = max(_FEW_TOKENS, min(self._inquiry.effort.tokens, self._asking.window // 4))
        searched = any(message["role"] == "tool" for message in messages)
        tools = (_TOOL,) if searches > 0 or searched else ()
        return Prompt(messages=tuple(messages), tokens=tokens, tools=tools, may_call=searches > 0)

    def _searching(self, messages: list[Message]) -> Generator[str, None, WireReply]:
        """The model's words; where it searches instead of speaking, it is asked again with what was found."""
        left = self._inquiry.effort.searches if self._may_search() else 0
        while True:
            reply = yield from self._asking.stream(self._prompt(messages, left))
            calls = [call for call in reply.calls if call.name == SEARCH][:left]
            if not calls:
                return reply
            left -= len(calls)
            if reply.text:
                yield " "
            messages = [*messages, _calling(reply, calls), *(self._found(call) for call in calls)]

    def _found(self, call: Call) -> Message:
        search = decodable(call.arguments, _Search)
        query = "" if search is None else search.query.strip()[:_LONGEST_SEARCH]
        rows: list[dict[str, str]] = []
        if query:
            self._searched.append(query)
            rows = self._labelled.put(list(self._inquiry.search(query))[:_MOST_FOUND])
        content = fenced(rows) if rows else "Nothing more was found."
        return {"role": "tool", "tool_call_id": call.id, "content": content}

    def _given(self, words: Generator[str, None, WireReply]) -> AnswerPieces:
        """The words without their marks, as they come; in the end the whole with what it rests on."""
        marks = CitationMarks()
        pieces: list[str] = []
        while True:
            try:
                piece = marks.add(visible(next(words)))
            except StopIteration as end:
                reply: WireReply = end.value
                break
            if piece:
                if not pieces and is_refusal(piece):
                    words.close()
                    raise ModelUnusable("the model refused")
                pieces.append(piece)
                yield piece
        if not pieces:
            in_words(reply)
        if piece := marks.end():
            pieces.append(piece)
            yield piece
        return self._judged("".join(pieces).strip(), list(marks.labels))

    def _judged(self, text: str, labels: Sequence[str]) -> ModelAnswer:
        """The answer with what it rests on, and whether all of it does."""
        if not text:
            return self._answer("", ())
        from_card = any(label in self._labelled.card for label in labels)
        cited = self._labelled.cited(labels)
        if not cited and not from_card:
            cited = self._labelled.unmarked(text)
        if (cited or from_card) and self._holds(text, cited):
            return self._answer(text, cited)
        if not self._inquiry.streamed:
            raise ModelUnusable("the model's answer cites no sources")
        return self._answer(text, cited, lacking=UNSUPPORTED)

    def _holds(self, text: str, cited: Sequence[str]) -> bool:
        """Whether the answer names nothing that no statement has, and says what those say that it cites."""
        inquiry, labelled, about = self._inquiry, self._labelled, self._inquiry.about or ""
        asked_at, asked, counts = inquiry.asked_at, inquiry.question, len(labelled.known)
        every = Ground(
            [GroundingSource("", asked_at), *labelled.sources(asked_at)], about, None, asked, counts
        )
        if is_data(text) or not every.names_all(text):
            return False
        now = Ground(labelled.sources(asked_at, outdated=False), about)
        if any(now.denied(clause) for clause in clauses(text)):
            return False
        ground = Ground(labelled.sources(asked_at, cited), about, self._embed, asked, counts)
        return ground.share(text) >= _OWN_WORDS or ground.is_near(text)

    def _answer(self, text: str, cited: tuple[str, ...], lacking: str = "") -> ModelAnswer:
        return ModelAnswer(text, cited, by=self._name, searched=tuple(self._searched), lacking=lacking)

    def _shaped(self, wanted: Mapping[str, Any]) -> str:
        """The answer as JSON that follows the schema; asked for once more if it does not at first."""
        schema = quote(wanted)
        filled = {"today": day(self._inquiry.asked_at), "subject": self._subject(), "schema": schema}
        messages = (
            {"role": "system", "content": prompt("answer_in_shape", **filled)},
            {"role": "user", "content": self._question("check", tools=False)[1]["content"]},
        )
        tokens = max(_FEW_TOKENS, min(self._inquiry.effort.tokens * 2, self._asking.window // 4))

        def follows(reply: WireReply) -> str:
            value = parsed(reply, dict)
            if wrong := fault(value, wanted, wanted):
                raise ModelUnusable(f"the model's answer does not follow the schema: {wrong}")
            return msgspec.json.encode(value).decode()

        return self._asking.ask_for(Prompt(messages, tokens, schema=wanted), follows)


def _calling(reply: WireReply, calls: Sequence[Call]) -> Message:
    asked = [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
        for one in calls
    ]
    return {"role": "assistant", "content": reply.text or None, "tool_calls": asked}
