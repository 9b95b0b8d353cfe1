"""What a use case works with: transaction, scope, services; and what it reports back."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from msgspec import Struct, field

from souvenance.core.embedding_space import Meaning
from souvenance.core.retention_rules import hidden, rules_of
from souvenance.core.vault import CompartmentKeys, Vault
from souvenance.domain import content, ulid
from souvenance.domain.audit import OK, Event
from souvenance.domain.limits import Limits
from souvenance.domain.line import LinePlace, OpenLine, SealedLine, maker, place_of
from souvenance.domain.names import Compartment
from souvenance.domain.policy import Scope
from souvenance.domain.retention import RetentionRule
from souvenance.errors import NotFound, Tampered
from souvenance.language import terms
from souvenance.ports.clock import Entropy, Zone
from souvenance.ports.index import Index
from souvenance.ports.model import Model
from souvenance.ports.store import EVERYTHING, LineQuery, Store, Transaction
from souvenance.ports.text import DocumentReader, Spelling, Thesaurus, Tokenizer
from souvenance.ports.webhook_sender import WebhookSender

_MOST = 512
ACTOR = "souvenance"
"""In whose name work is done that no request asked for."""
QUOTES = "quotes"
"""What an answer says that it was made by, where no model made it."""


class Memo:
    """Thread-safe; what was asked for longest ago is forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._known[key] = value
            if len(self._known) > _MOST:
                self._known.popitem(last=False)

    def forget(self) -> None:
        with self._lock:
            self._known.clear()


_T = TypeVar("_T")


class Trace(Struct, frozen=True, gc=False):
    """What the audit row says of the work: names, ids and numbers, never content."""

    namespaces: Sequence[str] = ()
    lines: Sequence[str] = ()
    detail: str = ""


NO_TRACE = Trace()


class Services(Struct, frozen=True):
    """The parts that every request shares."""

    vault: Vault
    index: Index
    entropy: Entropy
    tokenizer: Tokenizer
    reader: DocumentReader
    webhook_sender: WebhookSender
    thesaurus: Thesaurus
    spelling: Spelling
    zone: Zone
    """Where people live whose days are spoken of."""
    limits: Limits = field(default_factory=Limits)
    meaning: Meaning = field(default_factory=lambda: Meaning(None))
    memo: Memo = field(default_factory=Memo)
    model: Model | None = None
    """What reads, summarises and answers, if a model is configured."""
    carry: Callable[[], None] | None = None
    """Takes what waits for the bucket there, if one is configured. Raises: Unavailable."""

    def local(self, at: int) -> int:
        """The moment as clocks on the wall show it, in milliseconds as if that were UTC."""
        return at + self.zone.offset(at)

    @property
    def reasoner(self) -> str:
        """What answers in words are made by."""
        return QUOTES if self.model is None else self.model.name

    def scrub(self, store: Store) -> bool:
        """After something was erased: out of memory, and out of the files; False if that must wait."""
        self.vault.forget()
        self.index.forget()
        self.memo.forget()
        terms.of_short.cache_clear()
        return store.scrub()

    def model_for(self, task: str) -> Model | None:
        """The model that does that task; None if rules do it."""
        return self.model if self.model is not None and task in self.model.tasks else None


class RequestContext(Struct, frozen=True):
    """One request's transaction, scope and moment, with the shared parts.

    It hides from the request what is over by that moment: see `souvenance.ports.store.StoredLines.hide`.
    """

    tx: Transaction
    scope: Scope
    cap: str
    now: int
    services: Services
    known: dict[Hashable, Any] = field(default_factory=dict)
    """What was found out, for this request and those that are asked together with it, in one transaction."""

    def __post_init__(self) -> None:
        mark = self._mark  # As it is before this request changes anything, which may be undone.
        self.tx.lines.hide(lambda: hidden(self.tx, self.services.memo, self.scope.workspace, mark, self.now))

    @property
    def _mark(self) -> int:
        return self.tx.marks(self.scope.workspace).compartments

    @property
    def rules(self) -> Sequence[RetentionRule]:
        """The retention rules of the workspace, in order of name."""
        return rules_of(self.tx, self.services.memo, self.scope.workspace, self._mark)

    def once(self, what: Hashable, work: Callable[[], _T]) -> _T:
        """What comes of the work, or came of it when the same was asked before."""
        if what not in self.known:
            self.known[what] = work()
        found: _T = self.known[what]
        return found

    def fresh_id(self) -> str:
        return ulid.compose(self.now, self.services.entropy.take(ulid.ENTROPY_BYTES))

    def fresh_ids(self, count: int) -> list[str]:
        """Ids that sort in the order given."""
        return ulid.sequence(self.now, self.services.entropy.take(ulid.ENTROPY_BYTES), count)

    def compartment(self, namespace: str) -> Compartment:
        return Compartment(self.scope.workspace, self.scope.owner, namespace)

    def open_compartments(self) -> dict[str, CompartmentKeys]:
        """The keys of every existing compartment in scope, by namespace."""
        scope = self.scope
        return self.services.vault.compartments(self.tx, scope.workspace, scope.owner, scope.namespaces)

    def find(self, line_id: str) -> tuple[SealedLine, CompartmentKeys]:
        """The line of that id. Raises: NotFound, also for one that this cap may not see."""
        return self.find_all(line_id)[0]

    def find_all(self, line_id: str) -> list[tuple[SealedLine, CompartmentKeys]]:
        """The lines of that id in scope: compartments may share an id. Raises: NotFound, as `find`."""
        found = [
            (line, keys)
            for keys in self.open_compartments().values()
            if (line := self.tx.lines.get(keys.compartment, line_id)) is not None
            and self.scope.sees(line.session)
        ]
        if not found:
            raise NotFound("there is no such line")
        return found


def own_context(
    tx: Transaction, services: Services, workspace: str, namespace: str, now: int
) -> RequestContext:
    """The context of work that no request asked for, in one namespace."""
    scope = Scope(workspace, ACTOR, frozenset((namespace,)), None)
    return RequestContext(tx, scope, ACTOR, now, services)


def own_event(at: int, operation: str, trace: Trace, outcome: str = OK) -> Event:
    """What the log says of work that no request asked for."""
    return Event(at, ACTOR, ACTOR, operation, outcome, trace.namespaces, trace.lines, trace.detail)


def whole_history(compartment: Compartment, after: str = "", limit: int = EVERYTHING) -> LineQuery:
    """Every line of the compartment behind that id, replaced ones too, oldest first."""
    return LineQuery(
        compartment.workspace,
        compartment.owner,
        (compartment.namespace,),
        after=(after, compartment.namespace) if after else None,
        history=True,
        newest_first=False,
        limit=limit,
    )


def said_at(line: LinePlace) -> int:
    return line.created_at if line.occurred_at is None else line.occurred_at


_open_line = maker(OpenLine, "text", "metadata", *LinePlace.__struct_fields__)


def opened(line: SealedLine, keys: CompartmentKeys) -> OpenLine:
    """The line with its text. Raises: Tampered."""
    text = keys.open(line)
    try:
        metadata = content.decode_metadata(line.metadata)
    except ValueError:
        raise Tampered(f"line {line.id} has metadata that can't be read") from None
    return _open_line(text, metadata, *place_of(line))
