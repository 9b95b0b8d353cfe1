"""A message on trial: the very text that an agent would be given for it, and why the rest is left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents import injection
from souvenance.agents.gated_memory import GatedMemory, Together
from souvenance.agents.notes import MOST_OF_A_REMARK, AlreadyTold, search_terms
from souvenance.agents.recalled import Known, Portrait
from souvenance.agents.text_budget import excerpt
from souvenance.agents.transcript import clean
from souvenance.domain.frame import defuse
from souvenance.domain.line import MESSAGE
from souvenance.domain.trust import Trust, least_shown, of_message
from souvenance.errors import SouvenanceError
from souvenance.gate.conversation.context import PeerContext
from souvenance.gate.conversation.messages import SearchPeer
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials

LAYERS = {
    "summary": "the session in short",
    "notes": "what was concluded",
    "card": "the card",
    "said": "what was said",
    "agent": "the agent itself",
}
MOST_FOUND = 20
_SIGNALS = 6
USUAL_TOKENS, MOST_TOKENS = 1200, 100_000
_BEGINNING = 40
"""So much of a message is looked for in the text that an agent is given."""

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
    LAYER_OFF: "its layer is switched off",
    BUDGET: "better matches took the room",
    DUPLICATE: "the message or another line says the same",
}


class TrialSetting(Struct, frozen=True):
    floor: bool = True
    tokens: int = USUAL_TOKENS
    layers: frozenset[str] = frozenset(LAYERS)


class Trial(Struct, frozen=True):
    """What an agent would be given under one setting."""

    setting: TrialSetting
    text: str
    tokens: int
    left_out: Mapping[str, str]
    """Why a message that was found is not in the text, by its id."""
    weak: frozenset[str]
    """In the text though no good match: beside one, or central to the person."""


class TrialQuestion(Struct, frozen=True):
    workspace: str
    peer: str
    agent: str
    session: str
    """The one that goes on; empty for a new one."""
    text: str
    at: datetime | None
    others: bool = False
    """Whether others speak with the agent, too."""


def ids_of(answer: Any) -> set[str]:
    return set() if isinstance(answer, SouvenanceError) else {one.id for one in answer.messages}


def looked_up(
    asked: TrialQuestion,
    ask: Together,
    memory: Callable[[Together], GatedMemory],
    room: int,
    beside: Sequence[tuple[Operation, Request]],
) -> tuple[Known, list[Any]]:
    """What memory has for the message, as the agent's own code asks for it, and the answers to what is asked
    beside it, a search first. The memory is the one that asks with what it is given."""
    found: list[Any] = []

    def changed(request: Request) -> Request:
        """The same, at that moment and with or without the floor."""
        search = beside[0][1] if beside else None
        if not isinstance(search, SearchPeer):
            return request
        if isinstance(request, SearchPeer):
            return replace(request, floor=search.floor, at=asked.at)
        return replace(request, floor=search.floor) if isinstance(request, PeerContext) else request

    def together(credentials: Credentials, calls: Sequence[tuple[Operation, Request]]) -> list[Any]:
        """Asks for these with the first of the rest: they look for the same."""
        first = [] if found else beside
        answers = ask(credentials, [*first, *((one, changed(request)) for one, request in calls)])
        found.extend(answers[: len(first)])
        return answers[len(first) :]

    return memory(together).known(asked.text, room=room), found


def text_of(known: Known, asked: TrialQuestion, setting: TrialSetting, now: datetime) -> str:
    on: Callable[[str], bool] = setting.layers.__contains__
    elsewhere = tuple(one for one in known.passages if not asked.session or one.session != asked.session)
    kept = replace(
        known,
        summary=known.summary if on("summary") else "",
        user=Portrait(known.user.view if on("notes") else "", known.user.card if on("card") else ()),
        ai=known.ai if on("agent") else Portrait(),
        passages=elsewhere if on("said") else (),
    )
    return injection.base(kept, asked.text, asked.at or now, tokens=setting.tokens)


def left_out(
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
    given, shown = set[str](), AlreadyTold()
    for line in text.splitlines():
        shown.take(line)

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
            WEAK: lambda: setting.floor and message.id not in near and beginning not in considered,
            LAYER_OFF: lambda: "said" not in setting.layers,
            DUPLICATE: lambda: part in said or (beginning in considered and shown.covers(part)),
        }
        return next((reason for reason, holds in reasons.items() if holds()), BUDGET)

    return {one.id: why(one) for one in every}


def conclusions_left_out(
    setting: TrialSetting, text: str, known: Known, opened: set[str], every: Sequence[Any]
) -> dict[str, str]:
    considered = defuse(clean(known.user.view))

    def why(one: Any) -> str:
        part = defuse(clean(one.text))
        if "notes" not in setting.layers:
            return LAYER_OFF
        if one.id not in opened:
            return OTHER_NAMESPACE
        if part[:_BEGINNING] in text:
            return GIVEN
        return BUDGET if part[:_BEGINNING] in considered else WEAK

    return {one.id: why(one) for one in every}


def with_bars(
    found: Sequence[Any],
    signals: Callable[[Any], Mapping[str, Any]] = lambda message: message.explanation.signals,
) -> list[tuple[Any, list[tuple[str, float, int]]]]:
    """Each with the signals that added most: what each added, and the length of its bar. All bars have the
    same scale."""
    strongest = [
        [(name.replace("_", " "), one.added) for name, one in signals(line).items() if one.added]
        for line in found
    ]
    most = max((abs(added) for some in strongest for _, added in some), default=1)
    return [
        (line, [(name, added, round(abs(added) / most * 100)) for name, added in some[:_SIGNALS]])
        for line, some in zip(found, strongest, strict=True)
    ]
