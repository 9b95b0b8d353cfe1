"""What the bucket must still be told, in the reference store."""

from __future__ import annotations

from collections.abc import Collection

from reference.state import State
from souvenance.domain.names import ALL
from souvenance.domain.objects import key_name
from souvenance.ports.object_store import KEY, LINE, REPLACED, ChangeNote


class MemoryReplication:
    def __init__(self, state: State) -> None:
        self._state = state

    def note(self, replication: Collection[ChangeNote]) -> None:
        for one in replication:
            self._state.replication[one[:3]] = (one._replace(tries=0), 0)

    def note_everything(self, stamp: str) -> None:
        for compartment, lines in self._state.lines.items():
            self.note([ChangeNote(compartment, LINE, line_id, stamp) for line_id in lines])
            replaced = [line.id for line in lines.values() if line.invalidated_by is not None]
            self.note([ChangeNote(compartment, REPLACED, line_id, stamp) for line_id in replaced])
        for key in self._state.keys.values():
            self.note([ChangeNote(key.compartment, KEY, key_name(key.purpose, key.epoch), stamp)])

    def due(self, now: int) -> bool:
        return any(due <= now for _, due in self._state.replication.values())

    def claim(self, stamp: str, *, now: int, until: int, most: int) -> list[ChangeNote]:
        due = [one for _, (one, due) in sorted(self._state.replication.items()) if due <= now][:most]
        taken = [one._replace(stamp=stamp, tries=one.tries + 1) for one in due]
        self._state.replication.update({one[:3]: (one, until) for one in taken})
        return taken

    def done(self, replication: ChangeNote) -> None:
        found = self._state.replication.get(replication[:3])
        if found is not None and found[0].stamp == replication.stamp:
            del self._state.replication[replication[:3]]
        else:
            self.note([replication])

    def postpone(self, replication: ChangeNote, due: int) -> None:
        found = self._state.replication.get(replication[:3])
        if found is not None and found[0].stamp == replication.stamp:
            self._state.replication[replication[:3]] = (found[0], due)

    def waiting(self, workspace: str | None = None, owner: str | None = None) -> int:
        compartments = [compartment for compartment, *_ in self._state.replication]
        return sum(
            workspace in (None, compartment.workspace) and owner in (None, compartment.owner)
            for compartment in compartments
        )

    def mirrored(self) -> bool:
        return (ALL, "mirrored") in self._state.counters

    def begin(self) -> None:
        self._state.increase(ALL, "mirrored")
