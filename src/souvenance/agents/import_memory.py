"""What another memory held, taken in through the gate: in its order, with its times, once.

Everything is asked of the gate as any client asks it, so that rights, audit and reasoning are the same. Each
line says where it comes from. What was taken in before is known again: a message by its id in the metadata
of its session's messages, a statement by its key, so that an import may be stopped and begun again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from souvenance.agents.names import digest
from souvenance.decoders import settled
from souvenance.domain import imports as r
from souvenance.domain.chunking import chunks
from souvenance.domain.reasoning_settings import MemberReasoning, PeerHabits
from souvenance.errors import Denied, ImportUnreadable, InvalidInput, LimitExceeded, NotFound, SouvenanceError
from souvenance.gate.conversation import messages as said
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS, NewConclusion
from souvenance.gate.conversation.context import READ_CARD, WRITE_CARD
from souvenance.gate.conversation.peers import CHANGE_PEER, OPEN_PEER
from souvenance.gate.conversation.resource import NewName, encode_object
from souvenance.gate.conversation.sessions import OPEN_SESSION
from souvenance.gate.conversation.workspaces import OPEN_WORKSPACE, OpenWorkspace
from souvenance.gate.messages import Request
from souvenance.gate.operation import Operation
from souvenance.language.orders import reads_like_orders

_MOST_BYTES = 60_000
"""Of one line, or the characters of a message: what is longer becomes several."""
_PIECE_CHARS = 12_000
"""So many fit into the bytes of a line in any script."""
_AHEAD = timedelta(days=1)


class ImportTerms(Struct, frozen=True):
    """How what is read is taken in."""

    kind: str
    """What the source is, as provenance says it."""
    now: datetime
    workspace: str | None
    """Where everything goes; None if each workspace of the source keeps its name."""
    namespace: str | None = None
    lenient: bool = False
    """Whether to leave out what can't be kept, instead of stopping: a server's content can't be mended."""
    own_words: bool = False
    """Whether messages and statements are taken for their peer's own words, and cards as they are."""


class Wording:
    """Records in the gate's words."""

    def __init__(self, terms: ImportTerms) -> None:
        self._terms = terms

    def messages(self, record: r.ImportedMessage) -> Iterator[tuple[str, said.NewMessage]]:
        """The record as messages, several if it is long, each with what it is known again by.

        Raises: ImportUnreadable.
        """
        for part_id, text, part in _parts(record):
            fields = {
                "content": text,
                "peer_id": record.peer,
                "metadata": self.with_origin(record.metadata, part_id, {**record.origin, **part}),
                "created_at": self._time(record.at, record.place),
            }
            yield part_id, self._made(fields, said.NewMessage, record.place)

    def statements(self, record: r.ImportedStatement) -> Iterator[NewConclusion]:
        """Raises: ImportUnreadable."""
        terms = self._terms
        for part_id, text, part in _parts(record):
            key = digest(terms.kind, record.observer, record.observed, part_id, text)
            fields = {
                "content": text,
                "observer_id": record.observer,
                "observed_id": record.observed,
                "session_id": record.session,
                "metadata": self.with_origin(record.metadata, part_id, {**record.origin, **part}),
                "created_at": self._time(record.at, record.place),
                "quoted": not terms.own_words,
                "key": f"{terms.kind}-{key[:40]}",
            }
            yield self._made(fields, NewConclusion, record.place)

    def _made(self, fields: dict[str, Any], kind: type[Any], place: str) -> Any:
        with _readable(place):
            encode_object(fields["metadata"])
            return msgspec.convert(fields, settled(kind))

    def check(self, name: str, metadata: Mapping[str, Any], place: str, source_id: str) -> None:
        """Raises: ImportUnreadable if what has that name can't be kept."""
        with _readable(place):
            msgspec.convert(name, settled(NewName))
            encode_object(self.with_origin(metadata, source_id, {}))

    def with_origin(
        self, metadata: Mapping[str, Any], source_id: str, origin: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The metadata of something, with where it comes from."""
        provenance: dict[str, Any] = {
            "from": self._terms.kind,
            "id": source_id,
            "at": self._terms.now.isoformat(timespec="seconds"),
        }
        if self._terms.own_words:
            provenance[r.OWN_WORDS] = True
        if isinstance(before := metadata.get(r.PROVENANCE), Mapping):  # Without what was before that again.
            plain = {key: one for key, one in before.items() if isinstance(one, str | int | float | bool)}
            provenance["before"] = plain
        return {**metadata, r.PROVENANCE: {**origin, **provenance}}

    def _time(self, at: datetime | None, place: str) -> datetime | None:
        if at is not None and at > self._terms.now + _AHEAD:
            raise ImportUnreadable(f"{place}: its time lies in the future: {at.isoformat()}")
        return at


@contextmanager
def _readable(place: str) -> Iterator[None]:
    try:
        yield
    except (msgspec.ValidationError, SouvenanceError) as error:
        raise ImportUnreadable(f"{place}: {getattr(error, 'detail', error)}") from None


def _parts(record: r.ImportedMessage | r.ImportedStatement) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The text in pieces that each fit into a line: their ids, their texts and which piece it is."""
    text = record.text
    short = len(text) <= said.MOST_MESSAGE_CHARS and len(text.encode("utf-8", "replace")) <= _MOST_BYTES
    pieces = [text] if short else chunks(text, _PIECE_CHARS)
    if len(pieces) == 1:
        yield record.id, pieces[0], {}
        return
    for number, piece in enumerate(pieces, 1):
        yield f"{record.id}#{number}", piece, {"part": number, "parts": len(pieces)}


Ask = Callable[[Operation, Request], Any]
_Made = TypeVar("_Made")

_BATCH = 100
_BATCH_CHARS = 500_000
_MOST_PENDING = 64
_EXAMPLES = 3


class ImportTally(Struct):
    workspaces: int = 0
    peers: int = 0
    sessions: int = 0
    messages: int = 0
    conclusions: int = 0
    cards: int = 0
    there: int = 0
    """Messages, conclusions and cards that had been taken in before."""
    skipped: dict[str, int] = field(default_factory=dict)
    """How many were left out, by why."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """Where some of them stand, by why."""

    @property
    def seen(self) -> int:
        return self.messages + self.conclusions + self.cards + self.there

    def skip(self, why: str, place: str) -> None:
        self.skipped[why] = self.skipped.get(why, 0) + 1
        places = self.examples.setdefault(why, [])
        if len(places) < _EXAMPLES and place not in places:
            places.append(place)


class _Pending(Struct):
    """A session that is being filled."""

    known: set[str]
    waiting: list[said.NewMessage] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    chars: int = 0


class Taking:
    """One import; `report` is called whenever it has come further."""

    def __init__(
        self, ask: Ask, terms: ImportTerms, report: Callable[[ImportTally], None] = lambda tally: None
    ) -> None:
        self._ask = ask
        self._terms = terms
        self._wording = Wording(terms)
        self._report = report
        self.tally = ImportTally()
        self._workspace = terms.workspace
        self._met: set[str] = set()
        self._sessions: set[str] = set()
        self._pending: dict[str, _Pending] = {}
        self._stated: list[NewConclusion] = []

    def look_through(self, records: Iterable[r.Record]) -> ImportTally:
        """What there is to take in, and how many of its messages are there already; nothing is written.

        Raises: ImportUnreadable for what the gate would not take.
        """
        for record in records:
            match record:
                case r.ImportedWorkspace():
                    self.tally.workspaces += 1
                    self._move(record)
                case r.ImportedPeer():
                    self.tally.peers += record.name not in self._met
                    self._met.add(record.name)
                    self._wording.check(record.name, record.metadata, "a peer", record.id)
                case r.ImportedSession():
                    self.tally.sessions += record.name not in self._sessions
                    self._sessions.add(record.name)
                    self._wording.check(record.name, record.metadata, "a session", record.id)
                case r.ImportedMessage():
                    self.tally.messages += sum(1 for _ in self._lacking(record, self._filled(record.session)))
                case r.ImportedStatement():
                    self.tally.conclusions += len(self._kept(self._wording.statements(record)))
                case r.ImportedCard():
                    self.tally.cards += 1
                case r.Skipped():
                    self.tally.skip(record.why, record.place)
            self._report(self.tally)
        return self.tally

    def take(self, records: Iterable[r.Record]) -> ImportTally:
        """Take in what is not there yet.

        Raises: SouvenanceError; what was taken in until then stays, and is known again.
        """
        for record in records:
            match record:
                case r.ImportedWorkspace():
                    self._enter(record)
                case r.ImportedPeer():
                    self._meet(record)
                case r.ImportedSession():
                    self._open(record)
                case r.ImportedMessage():
                    self._say(record)
                case r.ImportedStatement():
                    self._state(record)
                case r.ImportedCard():
                    self._lay(record)
                case r.Skipped():
                    self.tally.skip(record.why, record.place)
        self._flush()
        return self.tally

    @property
    def _here(self) -> str:
        if self._workspace is None:
            raise InvalidInput("no workspace is named", hint="Name one: --workspace.")
        return self._workspace

    def _tell(self, operation: Operation, **fields: Any) -> Any:
        """What the gate answers about the workspace. Raises: SouvenanceError."""
        return self._ask(operation, operation.request(workspace_id=self._here, **fields))

    def _move(self, record: r.ImportedWorkspace) -> None:
        self._flush()
        self._met, self._sessions = set(), set()
        self._workspace = self._terms.workspace or record.name

    def _enter(self, record: r.ImportedWorkspace) -> None:
        self._move(record)
        metadata = self._wording.with_origin(record.metadata, record.name, {})
        whole = OpenWorkspace(id=self._here, metadata=metadata, configuration=dict(record.configuration))
        try:
            opened = self._ask(OPEN_WORKSPACE, whole)
        except InvalidInput:
            opened = self._ask(OPEN_WORKSPACE, replace(whole, configuration={}))
            self.tally.skip("settings of workspaces that are not possible here", record.name)
        self.tally.workspaces += opened.created

    def _meet(self, record: r.ImportedPeer) -> None:
        if record.name in self._met:
            return
        self._met.add(record.name)
        opened = self._tell(OPEN_PEER, id=record.name)
        habits = None if record.observed is None else PeerHabits(record.observed)
        metadata = self._wording.with_origin(record.metadata, record.id, {}) if opened.created else None
        if metadata or (habits and not opened.what.configuration):
            self._tell(CHANGE_PEER, peer_id=record.name, metadata=metadata, configuration=habits)
        self.tally.peers += opened.created

    def _open(self, record: r.ImportedSession) -> None:
        if record.name in self._sessions:
            return
        self._sessions.add(record.name)
        known = self._known(record.name)
        if known is None:
            self._make(record)
        self._begin(record.name, known)

    def _make(self, record: r.ImportedSession) -> None:
        """Make the session at once, without settings that are not possible here."""
        what = {
            "id": record.name,
            "metadata": self._wording.with_origin(record.metadata, record.id, record.origin),
            "namespace": self._terms.namespace,
        }
        configuration, peers = dict(record.configuration), dict(record.members)
        try:
            opened = self._tell(OPEN_SESSION, **what, configuration=configuration, peers=peers)
        except (InvalidInput, LimitExceeded) as error:
            if error.retryable:
                raise
            bare = dict.fromkeys(record.members, MemberReasoning())
            opened = self._tell(OPEN_SESSION, **what, configuration={}, peers=bare)
            self.tally.skip("settings of sessions that are not possible here", record.name)
        self.tally.sessions += opened.created

    def _known(self, session: str) -> set[str] | None:
        """The ids of what was taken into the session before; None if no session of that name is shown."""
        found: set[str] = set()
        page = pages = 1
        while page <= pages:
            try:
                answer = self._tell(said.LIST_MESSAGES, session_id=session, page=page, size=_BATCH)
            except (NotFound, Denied):
                return None
            for one in answer.items:
                origin = one.metadata.get(r.PROVENANCE)
                if isinstance(origin, dict) and origin.get("from") == self._terms.kind:
                    found.add(str(origin.get("id")))
            page, pages = page + 1, answer.pages
        return found

    def _filled(self, session: str) -> _Pending:
        return self._pending.get(session) or self._begin(session, self._known(session))

    def _begin(self, session: str, known: set[str] | None) -> _Pending:
        while len(self._pending) >= _MOST_PENDING:
            oldest = next(iter(self._pending))
            self._send(oldest)
            del self._pending[oldest]
        pending = self._pending[session] = _Pending(known or set())
        return pending

    def _say(self, record: r.ImportedMessage) -> None:
        pending = self._filled(record.session)
        for part_id, message in self._lacking(record, pending):
            if pending.chars + len(message.content) > _BATCH_CHARS:
                self._send(record.session)
            pending.ids.append(part_id)
            pending.waiting.append(message)
            pending.chars += len(message.content)
            if len(pending.waiting) == _BATCH:
                self._send(record.session)
        self._report(self.tally)

    def _lacking(self, record: r.ImportedMessage, pending: _Pending) -> Iterator[tuple[str, said.NewMessage]]:
        """The messages that are not known there yet; the others are counted. From now on all are known."""
        for part_id, message in self._kept(self._wording.messages(record)):
            if part_id in pending.known:
                self.tally.there += 1
            else:
                pending.known.add(part_id)
                yield part_id, message

    def _send(self, session: str) -> None:
        pending = self._pending[session]
        if not pending.waiting:
            return
        answer = self._tell(
            said.ADD_MESSAGES,
            session_id=session,
            messages=pending.waiting,
            idempotency_key=f"import-{digest(self._terms.kind, session, *pending.ids)}",
            namespace=self._terms.namespace,
        )
        self.tally.there += len(pending.waiting) * answer.repeated
        self.tally.messages += len(pending.waiting) * (not answer.repeated)
        pending.waiting, pending.ids, pending.chars = [], [], 0
        self._report(self.tally)

    def _state(self, record: r.ImportedStatement) -> None:
        for peer in (record.observer, record.observed):
            self._meet(r.ImportedPeer(peer, peer))
        for stated in self._kept(self._wording.statements(record)):
            if sum(len(one.content) for one in self._stated) > _BATCH_CHARS or len(self._stated) == _BATCH:
                self._send_stated()
            self._stated.append(stated)

    def _send_stated(self) -> None:
        if not self._stated:
            return
        namespace = self._terms.namespace
        answer = self._tell(ADD_CONCLUSIONS, conclusions=self._stated, namespace=namespace)
        self.tally.there += answer.repeated
        self.tally.conclusions += len(self._stated) - answer.repeated
        self._stated = []
        self._report(self.tally)

    def _lay(self, record: r.ImportedCard) -> None:
        """Write the card, unless there is one: what is known here is not given up for what was known."""
        place = f"what {record.observer} has of {record.observed}"
        if not self._terms.own_words:
            self.tally.skip("cards, which are taken with --own-words alone", place)
            return
        entries = [one for one in record.entries if one.strip() and not reads_like_orders(one)]
        for _ in range(len(record.entries) - len(entries)):
            self.tally.skip("lines of cards that are empty or read like orders to a model", place)
        about = {"peer_id": record.observer, "target": record.observed}
        there = self._tell(READ_CARD, **about).peer_card
        if there == entries:
            self.tally.there += 1
        elif there:
            self.tally.skip("cards where there is another one here", place)
        elif entries:
            self._tell(WRITE_CARD, **about, namespace=self._terms.namespace, peer_card=entries)
            self.tally.cards += 1

    def _flush(self) -> None:
        for session in list(self._pending):
            self._send(session)
        self._pending = {}
        self._send_stated()

    def _kept(self, made: Iterator[_Made]) -> list[_Made]:
        """All parts of a record, or none. Raises: ImportUnreadable."""
        try:
            return list(made)
        except ImportUnreadable as error:
            if not self._terms.lenient:
                raise
            self.tally.skip("messages and conclusions that can't be kept here", error.detail)
            return []
