"""What the bucket must still be told, in the reference book."""

from __future__ import annotations

from collections.abc import Collection

from reference.state import State
from souvenance.domain.names import ALL
from souvenance.domain.objects import key_name
from souvenance.ports.replication import KEY, LINE, REPLACED, Shipment


class MemoryShipments:
    def __init__(self, state: State) -> None:
        self._state = state

    def note(self, shipments: Collection[Shipment]) -> None:
        for one in shipments:
            self._state.shipments[one[:3]] = (one._replace(tries=0), 0)

    def note_everything(self, stamp: str) -> None:
        for room, lines in self._state.lines.items():
            self.note([Shipment(room, LINE, line_id, stamp) for line_id in lines])
            replaced = [line.id for line in lines.values() if line.invalidated_by is not None]
            self.note([Shipment(room, REPLACED, line_id, stamp) for line_id in replaced])
        for key in self._state.keys.values():
            self.note([Shipment(key.room, KEY, key_name(key.purpose, key.epoch), stamp)])

    def due(self, now: int) -> bool:
        return any(due <= now for _, due in self._state.shipments.values())

    def claim(self, stamp: str, *, now: int, until: int, most: int) -> list[Shipment]:
        due = [one for _, (one, due) in sorted(self._state.shipments.items()) if due <= now][:most]
        taken = [one._replace(stamp=stamp, tries=one.tries + 1) for one in due]
        self._state.shipments.update({one[:3]: (one, until) for one in taken})
        return taken

    def done(self, shipment: Shipment) -> None:
        found = self._state.shipments.get(shipment[:3])
        if found is not None and found[0].stamp == shipment.stamp:
            del self._state.shipments[shipment[:3]]
        else:
            self.note([shipment])

    def postpone(self, shipment: Shipment, due: int) -> None:
        found = self._state.shipments.get(shipment[:3])
        if found is not None and found[0].stamp == shipment.stamp:
            self._state.shipments[shipment[:3]] = (found[0], due)

    def waiting(self, workspace: str | None = None, owner: str | None = None) -> int:
        rooms = [room for room, *_ in self._state.shipments]
        return sum(workspace in (None, room.workspace) and owner in (None, room.owner) for room in rooms)

    def mirrored(self) -> bool:
        return (ALL, "mirrored") in self._state.counters

    def begin(self) -> None:
        self._state.increase(ALL, "mirrored")
