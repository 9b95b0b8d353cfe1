"""The register of the reference store."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from reference.state import State
from souvenance.domain.directory import MEMBER, SESSION, Entry, Membership
from souvenance.ports.directory import Batch


class MemoryRegister:
    def __init__(self, state: State) -> None:
        self._state = state

    def entry(self, workspace: str, kind: str, name: str) -> Entry | None:
        return self._state.entries.get((workspace, kind, name))

    def named(self, workspace: str, kind: str, names: Collection[str]) -> list[Entry]:
        found = (self.entry(workspace, kind, name) for name in sorted(set(names)))
        return [entry for entry in found if entry is not None]

    def add(self, entry: Entry) -> bool:
        place = (entry.workspace, entry.kind, entry.name)
        if place in self._state.entries:
            return False
        self._state.entries[place] = entry
        return True

    def update(self, entry: Entry) -> None:
        place = (entry.workspace, entry.kind, entry.name)
        if place in self._state.entries:
            self._state.entries[place] = replace(
                self._state.entries[place], metadata=entry.metadata, configuration=entry.configuration
            )

    def remove(self, workspace: str, kind: str, name: str) -> bool:
        return self._state.entries.pop((workspace, kind, name), None) is not None

    def entries(
        self,
        workspace: str | None,
        kind: str,
        *,
        namespaces: Collection[str] | None = None,
        newest_first: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entry]:
        found = [
            entry
            for entry in self._state.entries.values()
            if entry.kind == kind
            and workspace in (None, entry.workspace)
            and (namespaces is None or entry.namespace in namespaces)
        ]
        found.sort(key=lambda entry: (entry.uid, entry.workspace, entry.name), reverse=newest_first)
        return found[offset:][:limit]

    def count(self, workspace: str | None, kind: str, namespaces: Collection[str] | None = None) -> int:
        return len(self.entries(workspace, kind, namespaces=namespaces))

    def namespaces(self, workspace: str, kind: str) -> list[str]:
        return sorted({entry.namespace for entry in self.entries(workspace, kind)})

    def add_membership(self, membership: Membership) -> None:
        self._state.memberships[
            membership.workspace, membership.kind, membership.holder, membership.held, membership.since
        ] = membership

    def memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> list[Membership]:
        found = [
            membership
            for membership in self._state.memberships.values()
            if (membership.workspace, membership.kind) == (workspace, kind)
            and holder in (None, membership.holder)
            and held in (None, membership.held)
        ]
        return sorted(found, key=lambda membership: (membership.since, membership.holder, membership.held))

    def sessions_with(
        self, workspace: str, peers: Collection[str], namespaces: Collection[str] | None = None
    ) -> list[str]:
        joined = {
            membership.holder
            for peer in peers
            for membership in self.memberships(workspace, MEMBER, held=peer)
            if membership.until is None
        }
        found = self.named(workspace, SESSION, joined)
        return [entry.name for entry in found if namespaces is None or entry.namespace in namespaces]

    def newest_sessions(
        self, workspace: str, peer: str, namespaces: Collection[str] | None, offset: int, limit: int
    ) -> list[Entry]:
        found = self.named(workspace, SESSION, self.sessions_with(workspace, (peer,), namespaces))
        return sorted(found, key=lambda entry: entry.uid, reverse=True)[offset : offset + limit]

    def remove_memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> int:
        doomed = self.memberships(workspace, kind, holder=holder, held=held)
        for membership in doomed:
            del self._state.memberships[
                membership.workspace, membership.kind, membership.holder, membership.held, membership.since
            ]
        return len(doomed)

    def batch(self, workspace: str, session: str, digest: bytes) -> Batch | None:
        return self._state.batches.get((workspace, session, digest))

    def keep_batch(self, batch: Batch, forget_before: int) -> None:
        self._state.batches = {
            place: known
            for place, known in self._state.batches.items()
            if place[:2] != (batch.workspace, batch.session) or known.at >= forget_before
        }
        self._state.batches[batch.workspace, batch.session, batch.digest] = batch

    def drop_batches(self, workspace: str, session: str) -> None:
        self._state.batches = {
            place: known for place, known in self._state.batches.items() if place[:2] != (workspace, session)
        }

    def remove_workspace(self, workspace: str) -> None:
        state = self._state
        state.entries = {place: one for place, one in state.entries.items() if place[0] != workspace}
        state.memberships = {place: one for place, one in state.memberships.items() if place[0] != workspace}
        state.batches = {place: one for place, one in state.batches.items() if place[0] != workspace}
