"""Peers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from souvenance.core.archive import line_records, store_line
from souvenance.core.conversation import directory, erase
from souvenance.core.conversation.cards import Card
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.conclusions import KINDS, likeness
from souvenance.core.conversation.erase import compartments_held, delete_compartments
from souvenance.core.request_context import RequestContext
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import names
from souvenance.domain.archive_records import LineRecord
from souvenance.domain.directory import FORMER, MEMBER, PEER, REASONING, SCOPE, Entry, Job, Task
from souvenance.domain.line import CARD, SealedLine
from souvenance.domain.names import ALL, Compartment, grouped
from souvenance.domain.policy import Reach
from souvenance.domain.reasoning_settings import PeerHabits
from souvenance.domain.ulid import LineId
from souvenance.errors import Conflict, InvalidInput
from souvenance.gate.conversation import resource as r
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome, Rights
from souvenance.ports.store import ALL_BEFORE, EVERYTHING, LineQuery, ViewQuery

_Name = TypeVar("_Name", str, str | None)
_AT_ONCE = 500


class OpenPeer(r.OpenRequest, frozen=True, kw_only=True):
    configuration: PeerHabits | None = None


class ChangePeer(r.WorkspaceRequest, frozen=True, kw_only=True):
    workspace_id: r.NewName
    peer_id: r.NewName
    metadata: r.JsonObject | None = None
    configuration: PeerHabits | None = None


class ListPeers(r.ListRequest, frozen=True, kw_only=True):
    filters: r.JsonObject | None = None
    kind: Literal["scope", "all"] | None = None


class OfPeer(r.WorkspaceRequest, frozen=True, kw_only=True):
    peer_id: r.PeerName


class DeletePeer(OfPeer, frozen=True, kw_only=True):
    keep_messages: bool = False


class RenamePeer(OfPeer, frozen=True, kw_only=True):
    name: r.NewName
    after: LineId | None = None
    """Where the part before ended, as it was answered."""
    limit: Annotated[int, Meta(ge=1, le=1000)] = 250
    """How many lines are taken along at once, but for the last part."""


class PeerAnswer(r.NamedAnswer, frozen=True):
    configuration: r.JsonObject
    workspace_id: str
    uid: str = ""


class PeerPage(r.ResponsePage, frozen=True):
    items: list[PeerAnswer]


class Renamed(Answer, frozen=True):
    lines: int
    """How many were taken along in this part."""
    after: str | None = None
    """Where the next part begins; null if all is done."""


def of_peer(rights: Rights, request: Any) -> None:
    rights.peer(request.peer_id)


def _may_open(rights: Rights, request: OpenPeer) -> None:
    rights.peer(request.id)
    if request.changes or not rights.known(PEER, request.id):
        rights.puts()


def _may_rename(rights: Rights, request: RenamePeer) -> None:
    rights.workspace()
    rights.puts()


def _open(call: AuthorisedRequest, request: OpenPeer) -> Outcome:
    entry, made = _ensure(call.ctx, request.id, request.metadata, request.configuration)
    return Outcome(r.Opened(PeerAnswer.of(entry), made), r.names_read(call.ctx))


def _change(call: AuthorisedRequest, request: ChangePeer) -> Outcome:
    entry, _ = _ensure(call.ctx, request.peer_id, request.metadata, request.configuration)
    return Outcome(PeerAnswer.of(entry), r.names_read(call.ctx))


def _ensure(
    ctx: RequestContext, name: str, metadata: r.JsonObject | None, given: PeerHabits | None
) -> tuple[Entry, bool]:
    """The peer with what is given in place of what it had, and whether it was made just now."""
    entry, made = directory.ensure(ctx, PEER, name, namespace=directory.home(ctx))
    configuration = None if given is None else directory.encoded(given)
    return directory.change(ctx, entry, r.encode_object(metadata), configuration), made


def _list(call: AuthorisedRequest, request: ListPeers) -> Outcome:
    ctx, wanted = call.ctx, r.filter_of(PEER, request.filters)
    if request.kind is not None:
        entries = _with_scopes(ctx, request)
        return Outcome(
            r.page_of_entries(request, PeerPage, PeerAnswer.of, entries, wanted), r.names_read(ctx)
        )
    if _knows_every_peer(ctx):
        return r.list_entries(ctx, PEER, request, PeerPage, PeerAnswer.of, wanted)

    def known(entry: Entry) -> bool:
        return directory.knows_peer(ctx, entry) and (wanted is None or wanted(entry))

    return r.list_entries(ctx, PEER, request, PeerPage, PeerAnswer.of, known)


def _knows_every_peer(ctx: RequestContext) -> bool:
    namespaces = ctx.scope.namespaces
    if namespaces is None:
        return True
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    return stored.count(workspace, PEER) == stored.count(workspace, PEER, namespaces)


def _with_scopes(ctx: RequestContext, request: ListPeers) -> list[Entry]:
    """Peers, unless only scopes are asked for, and then scopes, as peer lists show them."""
    stored, workspace = ctx.tx.directory, ctx.scope.workspace
    peers = [] if request.kind == "scope" else stored.entries(workspace, PEER)
    scopes = [
        Entry(workspace, PEER, f"scope.{scope.name}", scope.uid, scope.created_at, scope.metadata)
        for scope in stored.entries(workspace, SCOPE)
    ]
    return [*(entry for entry in peers if directory.knows_peer(ctx, entry)), *scopes]


def _delete(call: AuthorisedRequest, request: DeletePeer) -> Outcome:
    changes = erase.erase_peer(call.ctx, request.peer_id, keep_messages=request.keep_messages)
    return r.erased(call, changes, r.Note("Peer deleted"))


def _rename(call: AuthorisedRequest, request: RenamePeer) -> Outcome:
    """Move so many lines, or all that are left. Raises: InvalidInput, Conflict, Tampered, WrongKey."""
    names.actor(request.peer_id, "peer_id")
    names.actor(request.name, "name")
    if request.peer_id == request.name:
        raise InvalidInput("both names are the same")
    move, renamed = _Move(call.ctx, request.peer_id, request.name), (request.peer_id, request.name)
    found = move.own(request.after, request.limit)
    if len(found) == request.limit:
        move.lines(line for line in found if line.about is None)
        move.enter()
        return Outcome(Renamed(move.count, found[-1].id), move.changes.trace(renamed=renamed))
    everything = [*move.own(None, EVERYTHING), *move.held_by_others()]
    if everything or move.is_known():
        move.lines(line for line in everything if line.kind != CARD)
        move.cards(line for line in everything if line.kind == CARD)
        move.enter()
        move.leave()
    return r.erased(call, move.changes, Renamed(move.count), renamed=renamed)


class _Move:
    """What a peer said and holds, and what others hold of it, becomes that of another name.

    Every line is opened and sealed anew, with the id, turn and time that it had. What was said and put goes
    in parts, each whole by itself; the last part takes along conclusions, cards, and what came meanwhile.
    Until then the peer is there under both names. If the other name is somebody's already, both become one.
    """

    def __init__(self, ctx: RequestContext, peer: str, name: str) -> None:
        ctx.tx.lines.hide(None)  # What is over and still there moves too.
        self._ctx = ctx
        self._workspace = ctx.scope.workspace
        self._peer = peer
        self._name = name
        self.changes = Changes()
        self.count = 0

    def own(self, after: str | None, most: int) -> list[SealedLine]:
        """The peer's own lines, oldest first."""
        span = LineQuery(
            self._workspace,
            self._peer,
            self._ctx.tx.lines.namespaces(self._workspace, self._peer),
            after=None if after is None else (after, ALL_BEFORE),
            history=True,
            newest_first=False,
            limit=most,
        )
        return self._ctx.tx.lines.walk(span)

    def held_by_others(self) -> list[SealedLine]:
        span = ViewQuery(self._workspace, (*KINDS, CARD), about=self._peer)
        return [line for line in self._ctx.tx.lines.views(span) if line.compartment.owner != self._peer]

    def is_known(self) -> bool:
        """Whether the directory knows the peer, or someone who was deleted and had that name."""
        stored = self._ctx.tx.directory
        return any(stored.entry(self._workspace, kind, self._peer) for kind in (PEER, FORMER))

    def lines(self, lines: Iterable[SealedLine]) -> None:
        """Seal them anew where they belong now."""
        for compartment, own in grouped((line.compartment, line) for line in lines).items():
            self._compartment(compartment, own)

    def _compartment(self, compartment: Compartment, lines: Sequence[SealedLine]) -> None:
        ctx, ids = self._ctx, [line.id for line in lines]
        keys = ctx.services.vault.held(ctx.tx, compartment)
        found = zip(lines, line_records(ctx, keys, lines), strict=True)
        records = [_known_by_words(record, line, keys) for line, record in found]
        ctx.tx.terms.remove(compartment, ids)
        ctx.tx.lines.delete(compartment, ids)
        self.changes.lose(compartment, ids)
        there = compartment._replace(owner=self._now(compartment.owner))
        for record in records:
            if not store_line(ctx, there, replace(record, about=self._now(record.about)), self.changes):
                raise Conflict(
                    f"{self._name} has another line under the id {record.id}",
                    hint="Forget one of the two, and do it again.",
                )
            self.count += 1

    def cards(self, lines: Iterable[SealedLine]) -> None:
        """Each into the card that belongs there now, several into one."""
        places = ((line.compartment, line.about or "", line) for line in lines)
        by_card = grouped(
            ((self._now(at.owner), self._now(about), at.namespace), one) for at, about, one in places
        )
        for place, own in by_card.items():
            Card(self._ctx, *place).take_over(own, self.changes)
            self.count += len(own)

    def enter(self) -> None:
        """Let the other name have the peer's entry, if it has none, and its stays in sessions."""
        stored, workspace = self._ctx.tx.directory, self._workspace
        entry = stored.entry(workspace, PEER, self._peer)
        if entry is not None:
            stored.add(replace(entry, name=self._name))
        there = stored.memberships(workspace, MEMBER, held=self._name)
        known = {(stay.holder, stay.since) for stay in there}
        present = {stay.holder: stay.since for stay in there if stay.until is None}
        for stay in stored.memberships(workspace, MEMBER, held=self._peer):
            until = present.get(stay.holder) if stay.until is None else stay.until
            covered = until is not None and until <= stay.since
            if not covered and (stay.holder, stay.since) not in known:
                stored.add_membership(replace(stay, held=self._name, until=until))

    def leave(self) -> None:
        """Take the name off the directory, and what was still to be done for it over to the other."""
        ctx, workspace = self._ctx, self._workspace
        ctx.tx.directory.remove_memberships(workspace, MEMBER, held=self._peer)
        former = ctx.tx.directory.entry(workspace, FORMER, self._peer)
        if former is not None and ctx.tx.directory.entry(workspace, PEER, self._name) is None:
            ctx.tx.directory.add(replace(former, name=self._name))
        for kind in (PEER, FORMER):
            ctx.tx.directory.remove(workspace, kind, self._peer)
        delete_compartments(ctx, compartments_held(ctx, self._peer), self.changes)
        for task in list(self._owed()):
            fields = {field: getattr(task, field) for field in Job.__struct_fields__}
            payload = self._payload(task.payload)
            ctx.tx.work.add(Job(**{**fields, "peer": self._now(task.peer), "payload": payload}), task.due)
        ctx.tx.owe_scrub()

    def _owed(self) -> Iterator[Task]:
        """What is to be done of the peer, or for it; done as it is, it would find nothing."""
        last = 0
        while found := self._ctx.tx.work.owed(self._workspace, REASONING, after=last, limit=_AT_ONCE):
            last = found[-1].seq
            for task in found:
                if task.peer == self._peer or self._payload(task.payload) != task.payload:
                    yield task

    def _payload(self, payload: str) -> str:
        content = msgspec.json.decode(payload, type=dict[str, Any])
        if content.get("observer") != self._peer:
            return payload
        return msgspec.json.encode({**content, "observer": self._name}).decode()

    def _now(self, name: _Name) -> _Name:
        return self._name if name == self._peer else name


def _known_by_words(record: LineRecord, line: SealedLine, keys: CompartmentKeys) -> LineRecord:
    """What is known again by a caller's key, and not by its words, is so no longer."""
    by_words = likeness(keys.blind, record.session or "", record.text, record.kind)
    return replace(record, alike=line.likeness == by_words)


OPEN_PEER = r.operation(
    "peers.open", "list", PeerAnswer, _open, _may_open, peek=r.found_by_name(PEER, PeerAnswer.of)
)
CHANGE_PEER = r.operation("peers.change", "put", PeerAnswer, _change, of_peer)
LIST_PEERS = r.operation("peers.list", "list", PeerPage, _list)
DELETE_PEER = r.operation("peers.delete", "forget", r.Note, _delete, rings=True)
RENAME_PEER = r.operation(
    "peers.rename",
    "forget",
    Renamed,
    _rename,
    _may_rename,
    rings=True,
    reach=lambda request: Reach(workspace=request.workspace_id, namespaces=(ALL,), whole_compartments=True),
)


def rename(ask: Callable[[Operation, Request], Any], workspace: str, peer: str, name: str) -> int:
    """Rename a peer, part by part, to the end; how many lines were moved. If it was stopped midway, call it
    again. Raises: SouvenanceError."""
    lines, after = 0, None
    while True:
        request = RenamePeer(workspace_id=workspace, peer_id=peer, name=name, after=after)
        renamed: Renamed = ask(RENAME_PEER, request)
        lines, after = lines + renamed.lines, renamed.after
        if after is None:
            return lines
