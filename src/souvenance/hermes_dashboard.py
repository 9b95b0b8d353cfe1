"""What Hermes' dashboard and desktop show of memory and change in it: of the profile whose turn it is, and of
its owner alone. Everything goes through the gate with the profile's own token, and is plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory, one_by_one
from souvenance.agents.injection import passage_room
from souvenance.agents.narrow_tokens import Purpose
from souvenance.agents.recall_trial import (
    MOST_FOUND,
    MOST_TOKENS,
    USUAL_TOKENS,
    WHY,
    TrialQuestion,
    TrialSetting,
    ids_of,
    left_out,
    looked_up,
    text_of,
    with_bars,
)
from souvenance.decoders import settled
from souvenance.errors import (
    Denied,
    InvalidInput,
    Misconfigured,
    NotFound,
    SouvenanceError,
    Unauthenticated,
    Unsupported,
)
from souvenance.gate import inspect_lines, inspection
from souvenance.gate import messages as m
from souvenance.gate.conversation.conclusions import (
    DELETE_CONCLUSION,
    LIST_CONCLUSIONS,
    ConclusionAnswer,
)
from souvenance.gate.conversation.context import READ_CARD
from souvenance.gate.conversation.messages import SEARCH_PEER, SearchPeer
from souvenance.gate.operation import Operation
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import ENVIRONMENT, home_now, local_now
from souvenance.hermes.profile_runtime import Backend
from souvenance.hermes.setup.profiles import environment_of, profile_at
from souvenance.hermes_backends import looked_into
from souvenance.surfaces.http.routes import status_of

_SHOWN = 100


class _Given(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of what a browser sends."""


class AskRecall(_Given, frozen=True):
    message: Annotated[str, Meta(min_length=1, max_length=4_000)]
    tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] | None = None
    """None for what the profile is configured with."""


class ChangeCard(_Given, frozen=True):
    """`before` alone takes a fact off, `after` alone adds one."""

    observer: str
    before: str | None = None
    after: str | None = None


class ForgetConclusion(_Given, frozen=True):
    id: str


class ObserverCard(Struct, frozen=True):
    observer: str
    facts: list[inspection.Fact]
    conclusions: list[ConclusionAnswer]


class PersonPage(Struct, frozen=True):
    profile: str
    where: str
    """The server; empty for the profile's own store."""
    person: str = ""
    """Empty where nothing is kept yet, as the rest."""
    agent: str = ""
    editable: bool = False
    """Whether facts can be changed here: of a server, its inspector changes them."""
    cards: list[ObserverCard] = []
    known: inspection.PersonAnswer | None = None


class TriedMessage(Struct, frozen=True):
    id: str
    text: str
    session: str
    said_at: Any
    left_out: str
    """Why it is not in the text; empty if it is."""
    signals: list[tuple[str, float, int]]
    """What counted most for it or against it: its name, how much it added, and the length of its bar."""


class RecallPage(Struct, frozen=True):
    text: str
    tokens: int | None
    budget: int
    messages: list[TriedMessage]
    """What was looked at, best first; none of a server that does not explain its search."""
    why: Mapping[str, str]


class _OwnerMemory(Struct, frozen=True):
    backend: Backend
    scope: ConversationScope

    @property
    def observers(self) -> list[str]:
        """Whose views of the owner the page shows."""
        return list(dict.fromkeys((self.scope.observer, self.scope.user)))

    @property
    def here(self) -> bool:
        """Whether the store is in this process. Only then the gate answers questions about its own work."""
        return self.backend.together is not None

    def ask(self, purpose: Purpose, operation: Operation, **fields: Any) -> Any:
        """What the gate answers about the workspace. Raises: SouvenanceError."""
        token = self.backend.tokens.of(self.scope)(purpose)
        request = operation.request(workspace_id=self.scope.workspace, **fields)
        return self.backend.gate.call(operation, token, m.checked(request))

    def part(self, purpose: Purpose, operation: Operation, **fields: Any) -> Any:
        """What the page can do without: None where it is refused, or there is nothing."""
        try:
            return self.ask(purpose, operation, **fields)
        except (Denied, NotFound, Unsupported):
            return None


def answered(work: str, given: Mapping[str, Any]) -> tuple[int, Any]:
    """The status and the content of the answer. Raises nothing that a request can bring about."""
    try:
        kind, answer = _WORK[work]
        return 200, msgspec.to_builtins(answer(msgspec.convert(given, type=settled(kind))))
    except msgspec.ValidationError as error:
        return _refused(InvalidInput(str(error)))
    except SouvenanceError as error:
        return _refused(error)


def _refused(error: SouvenanceError) -> tuple[int, Any]:
    """A host takes 401 for the end of its own session: what memory refuses the profile's token is none."""
    status = 403 if isinstance(error, Unauthenticated) else status_of(type(error))
    return status, {"code": error.code, "detail": error.detail, "hint": error.hint}


def _person(given: _Given) -> PersonPage:
    with _memory() as (configuration, memory):
        page = PersonPage(profile_at(configuration.home).name, configuration.url or "")
        if memory is None:
            return page
        scope = memory.scope
        cards = [
            ObserverCard(observer, _facts(memory, observer), _conclusions(memory, observer))
            for observer in memory.observers
        ]
        return replace(
            page,
            person=scope.user,
            agent=scope.ai,
            editable=memory.here,
            cards=cards,
            known=memory.part("list", inspection.PERSON, peer=scope.user),
        )


def _conclusions(memory: _OwnerMemory, observer: str) -> list[ConclusionAnswer]:
    about = {"observer_id": observer, "observed_id": memory.scope.user}
    found = memory.part("read", LIST_CONCLUSIONS, filters=about, size=_SHOWN)
    return found.items if found else []


def _facts(memory: _OwnerMemory, observer: str) -> list[inspection.Fact]:
    peer = memory.scope.user
    if memory.here:
        found = memory.part("read", inspection.FACTS, peer=peer, observer=observer)
        return found.facts if found else []
    target = None if observer == peer else peer
    card = memory.part("read", READ_CARD, peer_id=observer, target=target)
    texts = (card and card.peer_card) or []
    return [inspection.Fact(text, False, None, None, None, None, None, []) for text in texts]


def _recall(given: AskRecall) -> RecallPage:
    with _memory() as (configuration, memory):
        budget = given.tokens or configuration.context_tokens or USUAL_TOKENS
        if memory is None:
            return RecallPage("", 0, budget, [], {})
        scope, setting = memory.scope, TrialSetting(tokens=budget)
        asked = TrialQuestion(scope.workspace, scope.user, scope.ai, "", given.message, None)
        text, messages = _tried(memory, asked, setting)
        measured = memory.part("read", inspect_lines.MEASURE, texts=[text]) if memory.here else None
        reasons = {one.left_out for one in messages}
        why = {reason: words for reason, words in WHY.items() if reason in reasons}
        return RecallPage(text, measured and measured.tokens[0], budget, messages, why)


def _tried(
    memory: _OwnerMemory, asked: TrialQuestion, setting: TrialSetting
) -> tuple[str, list[TriedMessage]]:
    """The text that memory adds, and the messages that were looked at; the text alone where no gate
    explains its search."""
    backend, scope, room = memory.backend, memory.scope, passage_room(setting.tokens)
    capped, tokens = backend.tokens.capped, backend.tokens.of(scope)
    search = SearchPeer(
        workspace_id=asked.workspace, peer_id=asked.peer, query=asked.text, limit=MOST_FOUND, explain=True
    )
    searches = (replace(search, floor=True, explain=False), search) if capped else ()
    beside = [(SEARCH_PEER, one) for one in searches]
    memory_of = partial(GatedMemory, backend.gate, scope, tokens, capped=capped)
    ask = backend.together or partial(one_by_one, backend.gate)
    known, answers = looked_up(asked, ask, lambda together: memory_of(together=together), room, beside)
    text = text_of(known, asked, setting, local_now())
    if not answers or any(isinstance(one, SouvenanceError) for one in answers):
        return text, []
    near, every = ids_of(answers[0]), answers[1].messages
    reasons = left_out(asked, setting, text, known, ids_of(answers[1]), near, every)
    return text, [
        TriedMessage(one.id, one.content, one.session_id, one.created_at, reasons[one.id], bars)
        for one, bars in with_bars([one for one in every if one.explanation])
    ]


def _change(given: ChangeCard) -> None:
    with _kept() as memory:
        after = (given.after or "").strip() or None
        about = {"peer": memory.scope.user, "observer": given.observer}
        memory.ask("note", inspection.AMEND, **about, before=given.before, after=after)


def _forget(given: ForgetConclusion) -> None:
    with _kept() as memory:
        # What the token may erase includes what the agent knows of others.
        found = (one for observer in memory.observers for one in _conclusions(memory, observer))
        if given.id not in {one.id for one in found}:
            raise NotFound("there is no such conclusion here", hint="Look at the person again.")
        memory.ask("erase", DELETE_CONCLUSION, conclusion_id=given.id)


@contextmanager
def _kept() -> Iterator[_OwnerMemory]:
    """Raises: NotFound where nothing is kept yet; SouvenanceError."""
    with _memory() as (_, memory):
        if memory is None:
            raise NotFound("nothing is remembered yet")
        yield memory


@contextmanager
def _memory() -> Iterator[tuple[Configuration, _OwnerMemory | None]]:
    """The memory of the profile whose turn it is; None where nothing is kept yet. Raises: SouvenanceError."""
    home = home_now()
    environment = environment_of(profile_at(home), ENVIRONMENT)
    configuration, complaints = read_configuration(home, environment)
    wrong = [str(one) for one in complaints if one.switches_off]
    if wrong:
        raise Misconfigured(wrong[0], hint="Run: hermes souvenance status")
    with looked_into(configuration, environment) as found:
        yield configuration, found and _OwnerMemory(*found)


_WORK: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "person": (_Given, _person),
    "recall": (AskRecall, _recall),
    "card": (ChangeCard, _change),
    "forget": (ForgetConclusion, _forget),
}
