"""Rename: what a peer said and holds, and what others hold of it, becomes that of another name.

A seal binds whose a line is, so every line is opened and sealed anew, with the id, turn and time that it
had. What was said and put goes in parts, each whole by itself; what was concluded goes with the cards made of
it, in the last part, which also takes along what came meanwhile. Until then the peer is there under both
names. If the other name is somebody's already, both become one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation.cards import Card
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.conclusions import KINDS, likeness
from souvenance.core.conversation.erase import compartments_held, delete_compartments
from souvenance.core.remember import append, sealed
from souvenance.core.request_context import RequestContext, opened
from souvenance.core.vault import CompartmentKeys
from souvenance.domain import names
from souvenance.domain.directory import FORMER, MEMBER, PEER
from souvenance.domain.jobs import REASONING, Job, Task
from souvenance.domain.line import CARD, Line, SealedLine
from souvenance.domain.names import Compartment
from souvenance.errors import Conflict, InvalidInput, Tampered
from souvenance.ports.store import ALL_BEFORE, EVERYTHING, TurnSpan, Views

_Name = TypeVar("_Name", str, str | None)

_AT_ONCE = 500


class RenameReport(Struct, frozen=True):
    """What became of one part."""

    lines: int
    """How many were sealed anew."""
    cursor: str | None
    """The line behind which the next part begins; None if nothing is left."""
    changes: Changes


def rename_some(ctx: RequestContext, peer: str, name: str, after: str | None, most: int) -> RenameReport:
    """Take so many lines along, at a request context that opens every namespace; all that is left if those
    are fewer.

    Raises: InvalidInput, Conflict if both have a line of the same id, Tampered, WrongKey.
    """
    names.actor(peer, "peer_id")
    names.actor(name, "name")
    if peer == name:
        raise InvalidInput("both names are the same")
    move = _Move(ctx, peer, name)
    found = move.own(after, most)
    if len(found) == most:
        move.lines(line for line in found if line.about is None)
        move.enter()
        return move.told(found[-1].id)
    everything = [*move.own(None, EVERYTHING), *move.held_by_others()]
    if everything or move.is_known():
        move.lines(line for line in everything if line.kind != CARD)
        move.cards(line for line in everything if line.kind == CARD)
        move.enter()
        move.leave()
    return move.told(None)


class _Move:
    """From one name to another, within one transaction."""

    def __init__(self, ctx: RequestContext, peer: str, name: str) -> None:
        self._ctx = ctx
        self._workspace = ctx.scope.workspace
        self._peer = peer
        self._name = name
        self._changes = Changes()
        self._count = 0

    def told(self, cursor: str | None) -> RenameReport:
        return RenameReport(self._count, cursor, self._changes)

    def own(self, after: str | None, most: int) -> list[SealedLine]:
        """The peer's own lines, oldest first."""
        span = TurnSpan(
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
        span = Views(self._workspace, (*KINDS, CARD), about=self._peer)
        return [line for line in self._ctx.tx.lines.views(span) if line.compartment.owner != self._peer]

    def is_known(self) -> bool:
        """Whether the directory knows the peer, or someone who was deleted and had that name."""
        stored = self._ctx.tx.directory
        return any(stored.entry(self._workspace, kind, self._peer) for kind in (PEER, FORMER))

    def lines(self, lines: Iterable[SealedLine]) -> None:
        """Seal them anew where they belong now."""
        by_compartment: dict[Compartment, list[SealedLine]] = defaultdict(list)
        for line in lines:
            by_compartment[line.compartment].append(line)
        for compartment, own in by_compartment.items():
            self._compartment(compartment, own)

    def _compartment(self, compartment: Compartment, lines: Sequence[SealedLine]) -> None:
        ctx, ids = self._ctx, [line.id for line in lines]
        keys = self._keys(compartment)
        read = [opened(line, keys) for line in lines]
        cited = ctx.tx.lines.cited(self._workspace, ids, compartment=compartment)
        ctx.tx.terms.remove(compartment, ids)
        ctx.tx.lines.delete(compartment, ids)
        self._changes.lose(compartment, ids)
        there = ctx.services.vault.compartment(
            ctx.tx, compartment._replace(owner=self._now(compartment.owner))
        )
        for line, told in zip(lines, read, strict=True):
            self._line(line, told, keys, there)
            if sources := cited.get(line.id):
                ctx.tx.lines.cite(there.compartment, line.id, sources)

    def _line(self, line: SealedLine, told: Line, keys: CompartmentKeys, there: CompartmentKeys) -> None:
        ctx = self._ctx
        now = replace(told, compartment=there.compartment, about=self._now(line.about))
        mark = _marked_anew(line, told.text, keys, there)
        made = sealed(ctx, now, there, line.metadata, tokens=line.tokens, likeness=mark)
        kept = replace(made, times=line.times)
        by = line.invalidated_by
        stored = append(ctx, kept, told.text, there) if by is None else ctx.tx.lines.append(kept)
        if not stored:
            raise Conflict(
                f"{self._name} has another line under the id {line.id}",
                hint="Forget one of the two, and do it again.",
            )
        if by is not None:
            ctx.tx.lines.invalidate(there.compartment, line.id, by)
            self._changes.replaced.append((there.compartment.owner, there.compartment.namespace, line.id, by))
        self._changes.add(kept)
        self._count += 1

    def cards(self, lines: Iterable[SealedLine]) -> None:
        """Each into the card that belongs there now, several into one."""
        by_place: dict[tuple[str, str, str], list[SealedLine]] = defaultdict(list)
        for line in lines:
            place = (
                self._now(line.compartment.owner),
                self._now(line.about or ""),
                line.compartment.namespace,
            )
            by_place[place].append(line)
            self._count += 1
        for (observer, observed, namespace), own in by_place.items():
            Card(self._ctx, observer, observed, namespace).take_over(own, self._changes)

    def enter(self) -> None:
        """Let the other name have the peer's entry, if it has none, and its stays in sessions."""
        stored, workspace = self._ctx.tx.directory, self._workspace
        entry = stored.entry(workspace, PEER, self._peer)
        if entry is not None:
            stored.add(replace(entry, name=self._name))
        there = stored.ties(workspace, MEMBER, held=self._name)
        known = {(tie.holder, tie.since) for tie in there}
        present = {tie.holder: tie.since for tie in there if tie.until is None}
        for tie in stored.ties(workspace, MEMBER, held=self._peer):
            until = present.get(tie.holder) if tie.until is None else tie.until
            covered = until is not None and until <= tie.since
            if not covered and (tie.holder, tie.since) not in known:
                stored.tie(replace(tie, held=self._name, until=until))

    def leave(self) -> None:
        """Take the name off the directory, and what was still to be done for it over to the other."""
        ctx, workspace = self._ctx, self._workspace
        ctx.tx.directory.untie(workspace, MEMBER, held=self._peer)
        former = ctx.tx.directory.entry(workspace, FORMER, self._peer)
        if former is not None and ctx.tx.directory.entry(workspace, PEER, self._name) is None:
            ctx.tx.directory.add(replace(former, name=self._name))
        for kind in (PEER, FORMER):
            ctx.tx.directory.remove(workspace, kind, self._peer)
        delete_compartments(ctx, compartments_held(ctx, self._peer), self._changes)
        for task in list(self._owed()):
            told = {field: getattr(task, field) for field in Job.__struct_fields__}
            payload = self._payload(task.payload)
            ctx.tx.work.add(Job(**{**told, "peer": self._now(task.peer), "payload": payload}), task.due)
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
        told = msgspec.json.decode(payload, type=dict[str, Any])
        if told.get("observer") != self._peer:
            return payload
        return msgspec.json.encode({**told, "observer": self._name}).decode()

    def _keys(self, compartment: Compartment) -> CompartmentKeys:
        keys = self._ctx.services.vault.known(self._ctx.tx, compartment)
        if keys is None:
            raise Tampered(f"namespace {compartment.namespace!r} of {compartment.owner!r} has lost its keys")
        return keys

    def _now(self, name: _Name) -> _Name:
        return self._name if name == self._peer else name


def _marked_anew(line: SealedLine, text: str, keys: CompartmentKeys, there: CompartmentKeys) -> bytes | None:
    """By what a conclusion is known again over there; not one that is known by a caller's key."""
    session = line.session or ""
    if line.likeness is None or line.likeness != likeness(keys.blind, session, text, line.kind):
        return None
    return likeness(there.blind, session, text, line.kind)
