"""The recall lab: the very text that an agent would be given for a message, and why the rest was left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from souvenance.agents import injection
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory
from souvenance.agents.notes import MOST_OF_A_REMARK, AlreadyTold, search_terms
from souvenance.agents.recalled import Known, Portrait
from souvenance.agents.text_budget import excerpt
from souvenance.agents.transcript import clean
from souvenance.domain.frame import defuse
from souvenance.domain.line import MESSAGE
from souvenance.domain.trust import Trust, least_shown, of_message
from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.gate import inspect_lines
from souvenance.gate import messages as m
from souvenance.gate.conversation.context import PeerContext
from souvenance.gate.conversation.messages import SEARCH_PEER, SearchPeer
from souvenance.gate.gate import Gate
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_tree import TokenAnswer
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.browser_pages import names_in
from souvenance.surfaces.http.inspector.places import names_of, tokens_of, workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, day_of, number

LAYERS = {
    "summary": "the session in short",
    "notes": "what was concluded",
    "card": "the card",
    "said": "what was said",
    "agent": "the agent itself",
}
_FOUND = 20
_SIGNALS = 6
_TOKENS, _MOST_TOKENS = 1200, 100_000
_BEGINNING = 40
"""So much of a message is looked for in the text that an agent is given."""
_READING = ("get", "list")
_FIELDS = ("peer", "agent", "session", "q", "as", "namespaces", "day")

GIVEN = ""
THIS_SESSION = "this session"
OTHER_NAMESPACE = "other namespace"
THIRD_PARTY = "third party's words"
WEAK = "weak match"
LAYER_OFF = "layer off"
BUDGET = "budget"
DUPLICATE = "duplicate"
WHY = {
    THIS_SESSION: "the agent has the session itself before it",
    OTHER_NAMESPACE: "the token does not open the namespace that it lies in",
    THIRD_PARTY: "the person only carried or quoted it, or it reads like orders to a model",
    WEAK: "too little of it has to do with the message",
    LAYER_OFF: "what was said is switched off",
    BUDGET: "better matches took the room",
    DUPLICATE: "the message or another line says the same",
}


class TrialSetting(Struct, frozen=True):
    """What a person may change."""

    floor: bool = True
    tokens: int = _TOKENS
    layers: frozenset[str] = frozenset(LAYERS)


class Trial(Struct, frozen=True):
    """What an agent would be given under one setting."""

    setting: TrialSetting
    text: str
    tokens: int
    left_out: Mapping[str, str]
    """Why a message that was found is not in the text, by its id."""


class TrialQuestion(Struct, frozen=True):
    workspace: str
    peer: str
    agent: str
    session: str
    """The one that goes on; empty for a new one."""
    text: str
    at: datetime | None


async def recall(visit: Visit) -> Response:
    workspace, query = workspace_of(visit), visit.query
    asked = {name: query.get(name, "").strip() for name in _FIELDS}
    settings = [_setting(visit, "")]
    if query.get("compare") == "yes":
        settings.append(_setting(visit, "b_"))
    tokens, names, workspaces = await asyncio.gather(
        tokens_of(visit, workspace),
        names_of(visit, workspace),
        workspaces_of(visit),
    )
    values: dict[str, Any] = {
        "workspace": workspace,
        "workspaces": workspaces,
        "asked": asked,
        "names": names,
        "tokens": tokens or [],
        "layers": LAYERS,
        "settings": [*settings, TrialSetting()][:2],
        "compared": len(settings) > 1,
        "ranked": None,
        "trials": [],
    }
    if asked["peer"] and asked["q"]:
        day = day_of(asked["day"])
        at = day and day.replace(hour=23, minute=59)
        question = TrialQuestion(workspace, asked["peer"], asked["agent"], asked["session"], asked["q"], at)
        eye = _as_token(visit, workspace, asked, tokens or [])
        values["ranked"], trials = await _tried(visit, eye, question, settings)
        reasons = {reason for trial in trials for reason in trial.left_out.values()}
        values |= {"trials": trials, "why": {name: why for name, why in WHY.items() if name in reasons}}
    return visit.page("recall.html", **values)


def _setting(visit: Visit, prefix: str) -> TrialSetting:
    """What the form says; before it was sent, the usual."""
    query = visit.request.query_params
    if query.get("set") != "yes":
        return TrialSetting()
    tokens = min(number(query.get(f"{prefix}tokens", ""), _TOKENS), _MOST_TOKENS)
    layers = frozenset(query.getlist(f"{prefix}layer")).intersection(LAYERS)
    return TrialSetting(query.get(f"{prefix}floor") == "on", tokens, layers)


def _as_token(visit: Visit, workspace: str, asked: dict[str, str], tokens: Sequence[TokenAnswer]) -> Visit:
    """Whoever signed in, or as one who holds that token would see it. Raises: SouvenanceError."""
    eye = visit
    if asked["as"]:
        chosen = next((one for one in tokens if one.id == asked["as"]), None)
        if chosen is None:
            raise InvalidInput("that token is not there", hint="It ended, or your token does not show it.")
        eye = eye.narrowed(
            m.Attenuate(
                sub=chosen.sub,
                ops=tuple(op for op in _READING if op in chosen.ops and op in visit.who.ops),
                wid=workspace,
                namespaces_allowed=tuple(chosen.namespaces),
                peers=tuple(peer for peer in chosen.peers if peer != chosen.sub),
                sessions=None if chosen.sessions is None else tuple(chosen.sessions),
                via=tuple(chosen.via),
            )
        )
    namespaces = names_in(asked["namespaces"])
    return eye.narrowed(m.Attenuate(namespaces_allowed=namespaces)) if namespaces else eye


async def _tried(
    visit: Visit, eye: Visit, asked: TrialQuestion, settings: Sequence[TrialSetting]
) -> tuple[list[tuple[Any, list[tuple[str, float, int]]]], list[Trial]]:
    """Each message that the search found with its strongest signals, and what each setting gives."""
    search = SearchPeer(
        workspace_id=asked.workspace,
        peer_id=asked.peer,
        query=asked.text,
        limit=_FOUND,
        explain=True,
        at=asked.at,
    )
    floors = sorted({setting.floor for setting in settings})
    asks = [[replace(search, floor=floor, explain=False)] for floor in floors]
    asks[0].append(search)
    room = injection.passage_room(max(setting.tokens for setting in settings))
    recalled = await asyncio.gather(*(eye.look(partial(_known, asked, room, searches)) for searches in asks))
    knowns, near = [known for known, _ in recalled], [_ids(answers[0]) for _, answers in recalled]
    seen = recalled[0][1][1]
    own = eye is visit and not isinstance(seen, SouvenanceError)
    every = (seen if own else await visit.call(SEARCH_PEER, search)).messages
    opened = _ids(seen)
    texts = [_text(knowns[floors.index(one.floor)], asked, one) for one in settings]
    lengths = await visit.ask(
        inspect_lines.MEASURE, inspect_lines.Measure(workspace_id=asked.workspace, texts=texts)
    )
    counts = lengths.tokens if lengths else [0] * len(texts)
    trials = []
    for setting, text, tokens in zip(settings, texts, counts, strict=True):
        at = floors.index(setting.floor)
        left_out = _left_out(asked, setting, text, knowns[at], opened, near[at], every)
        trials.append(Trial(setting, text, tokens, left_out))
    return _with_bars(every), trials


def _ids(answer: Any) -> set[str]:
    return set() if isinstance(answer, SouvenanceError) else {one.id for one in answer.messages}


def _known(
    asked: TrialQuestion, room: int, searches: Sequence[SearchPeer], gate: Gate, credentials: Credentials
) -> tuple[Known, list[Any]]:
    """What memory has for the message, as the agent's own code asks for it, and what these searches found."""
    scope = ConversationScope(
        workspace=asked.workspace,
        session=asked.session,
        user=asked.peer,
        ai=asked.agent or asked.peer,
        personal=False,
        agent="looks" if asked.agent else "absent",
    )
    found: list[Any] = []

    def changed(request: Request) -> Request:
        """The same, at that moment and with or without the floor."""
        if isinstance(request, SearchPeer):
            return replace(request, floor=searches[0].floor, at=asked.at)
        return replace(request, floor=searches[0].floor) if isinstance(request, PeerContext) else request

    def together(credentials: Credentials, calls: Sequence[tuple[Operation, Request]]) -> list[Any]:
        """Asks for the searches with the first of the rest: they look for the same."""
        first = [] if found else [(SEARCH_PEER, one) for one in searches]
        answers = gate.call_all(credentials, [*first, *((one, changed(request)) for one, request in calls)])
        found.extend(answers[: len(first)])
        return answers[len(first) :]

    memory = GatedMemory(gate, scope, lambda job: credentials, capped=True, together=together)
    return memory.known(asked.text, room=room), found


def _text(known: Known, asked: TrialQuestion, setting: TrialSetting) -> str:
    on: Callable[[str], bool] = setting.layers.__contains__
    user, ai = known.user, known.ai
    elsewhere = tuple(one for one in known.passages if not asked.session or one.session != asked.session)
    kept = replace(
        known,
        summary=known.summary if on("summary") else "",
        user=Portrait(user.view if on("notes") else "", user.card if on("card") else ()),
        ai=ai if on("agent") else Portrait(),
        passages=elsewhere if on("said") else (),
    )
    now = asked.at or datetime.now().astimezone()
    return injection.base(kept, asked.text, now, tokens=setting.tokens)


def _left_out(
    asked: TrialQuestion,
    setting: TrialSetting,
    text: str,
    known: Known,
    opened: set[str],
    near: set[str],
    every: Sequence[Any],
) -> dict[str, str]:
    """Why each of these messages is not in the text, by its id; empty for one that is."""
    terms, least, said = search_terms(asked.text), least_shown(asked.text), AlreadyTold(asked.text)
    considered = "\n".join(defuse(clean(one.text)) for one in known.passages)
    given: set[str] = set()

    @cache
    def shown() -> AlreadyTold:
        lines = AlreadyTold()
        for line in text.splitlines():
            lines.take(line)
        return lines

    def distrusted(message: Any) -> bool:
        trust = of_message(message.kind or MESSAGE, message.metadata, message.content)
        return trust < least or trust == Trust.SUSPECT

    def why(message: Any) -> str:
        part = defuse(excerpt(clean(message.content), terms, MOST_OF_A_REMARK))
        beginning = part[:_BEGINNING]
        if beginning in text and message.session_id != asked.session:
            reason = DUPLICATE if beginning in given else GIVEN
            given.add(beginning)
            return reason
        reasons: dict[str, Callable[[], bool]] = {
            THIS_SESSION: lambda: message.session_id == asked.session,
            OTHER_NAMESPACE: lambda: message.id not in opened,
            THIRD_PARTY: lambda: distrusted(message),
            WEAK: lambda: setting.floor and message.id not in near,
            LAYER_OFF: lambda: "said" not in setting.layers,
            DUPLICATE: lambda: part in said or (beginning in considered and shown().covers(part)),
        }
        return next((reason for reason, holds in reasons.items() if holds()), BUDGET)

    return {one.id: why(one) for one in every}


def _with_bars(messages: Sequence[Any]) -> list[tuple[Any, list[tuple[str, float, int]]]]:
    """Each message with the signals that added most: what each added, and the length of its bar. All bars
    have the same scale."""
    strongest = [
        [(name.replace("_", " "), one.added) for name, one in explanation.signals.items() if one.added]
        for explanation in (message.explanation for message in messages)
    ]
    most = max((abs(added) for some in strongest for _, added in some), default=1)
    return [
        (message, [(name, added, round(abs(added) / most * 100)) for name, added in some[:_SIGNALS]])
        for message, some in zip(messages, strongest, strict=True)
    ]


ENDPOINTS = {"GET /inspect/recall": recall}
