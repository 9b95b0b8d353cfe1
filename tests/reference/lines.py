"""The lines of the reference store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from msgspec.structs import replace

from reference.state import State
from souvenance.domain.line import PROFILE, TOMBSTONE, LinePlace, SealedLine, shared_fields
from souvenance.domain.names import Compartment
from souvenance.domain.retention import Aged, Hidden
from souvenance.ports.store import EVERYTHING, LineQuery, TurnQuery, ViewQuery


class MemoryLines:
    def __init__(self, state: State) -> None:
        self._state = state
        self._hidden: Hidden | None = None

    def hide(self, hidden: Callable[[], Hidden] | None) -> None:
        self._hidden = hidden and hidden()

    def expiring(self, now: int, workspace: str | None = None) -> str | None:
        found = [
            (line.expires_at or 0, line)
            for line in self._every()
            if _is_over(line, now) and workspace in (None, line.compartment.workspace)
        ]
        return min(found, key=lambda one: one[0])[1].compartment.workspace if found else None

    def over(self, workspace: str, now: int, most: int) -> list[SealedLine]:
        found = [
            line for line in self._every() if line.compartment.workspace == workspace and _is_over(line, now)
        ]
        return sorted(found, key=lambda line: (line.expires_at, line.id))[:most]

    def aged(self, workspace: str, aged: Aged, most: int) -> list[SealedLine]:
        keyed = {compartment for compartment, *_ in self._state.keys}
        return [
            line
            for line in self._every()
            if line.compartment in keyed
            and line.compartment.workspace == workspace
            and _is_of_age(line, aged)
        ][:most]

    def aged_counted(self, workspace: str, aged: Aged) -> int:
        return len(self.aged(workspace, aged, EVERYTHING))

    def aged_sessions(self, workspace: str, aged: Aged, after: str, most: int) -> list[str]:
        lines = self.aged(workspace, aged, EVERYTHING)
        named = {line.session for line in lines if line.turn is not None and line.session is not None}
        return sorted(session for session in named if session > after)[:most]

    def _every(self) -> list[SealedLine]:
        return [line for lines in self._state.lines.values() for line in lines.values()]

    def _in(self, compartment: Compartment) -> dict[str, SealedLine]:
        """The lines of the compartment that are not hidden."""
        lines = self._state.lines.get(compartment, {})
        return {line_id: line for line_id, line in lines.items() if not self._is_hidden(line)}

    def _is_hidden(self, line: SealedLine) -> bool:
        hidden = self._hidden
        if hidden is None:
            return False
        aged = line.compartment.workspace == hidden.workspace and any(
            _is_of_age(line, one) for one in hidden.aged
        )
        return aged or _is_over(line, hidden.now)

    def append(self, line: SealedLine) -> bool:
        compartment = self._state.lines.setdefault(line.compartment, {})
        if line.id in compartment or self._turn_is_taken(line):
            return False
        compartment[line.id] = line
        return True

    def _turn_is_taken(self, line: SealedLine) -> bool:
        if line.turn is None or line.session is None:
            return False
        place = (line.compartment.workspace, line.session, line.turn)
        return place in {(one.compartment.workspace, one.session, one.turn) for one in self._every()}

    def get(self, compartment: Compartment, line_id: str) -> SealedLine | None:
        return self._in(compartment).get(line_id)

    def get_all(self, compartment: Compartment, line_ids: Collection[str]) -> list[SealedLine]:
        lines = self._in(compartment)
        return [lines[line_id] for line_id in sorted(set(line_ids)) if line_id in lines]

    def walk(self, span: LineQuery) -> list[SealedLine]:
        found = [
            line
            for namespace in span.namespaces
            for line in self._in(Compartment(span.workspace, span.owner, namespace)).values()
            if (span.after is None or (line.id, namespace) > span.after)
            and (span.before is None or line.id < span.before)
            and (span.sessions is None or line.session in span.sessions)
            and (not span.profile or line.kind == PROFILE)
            and (span.history or (line.invalidated_by is None and line.kind != TOMBSTONE))
        ]
        found.sort(key=lambda line: (line.id, line.compartment.namespace), reverse=span.newest_first)
        return found[: span.limit]

    def storage(
        self, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> list[tuple[str, str, int, int]]:
        found: dict[tuple[str, str], list[int]] = {}
        for compartment, line in self._stored(workspace, owner, namespaces):
            found.setdefault((compartment.owner, compartment.namespace), []).append(len(line.sealed))
        return [(*place, len(sizes), sum(sizes)) for place, sizes in sorted(found.items())]

    def storage_by_kind(
        self, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> list[tuple[str, int, int]]:
        found: dict[str, list[int]] = {}
        for _, line in self._stored(workspace, owner, namespaces):
            found.setdefault(line.kind, []).append(len(line.sealed))
        return [(kind, len(sizes), sum(sizes)) for kind, sizes in sorted(found.items())]

    def _stored(
        self, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> Iterator[tuple[Compartment, SealedLine]]:
        for compartment in self._state.lines:
            if (
                compartment.workspace == workspace
                and owner in (None, compartment.owner)
                and (namespaces is None or compartment.namespace in namespaces)
            ):
                yield from ((compartment, line) for line in self._in(compartment).values())

    def activity(
        self,
        workspace: str,
        namespaces: Collection[str] | None,
        since: int,
        step: int,
        owners: Collection[str] | None = None,
    ) -> list[tuple[str, int | None, int, int]]:
        found: dict[tuple[str, int], list[int]] = {}
        for compartment in self._state.lines:
            if (
                compartment.workspace == workspace
                and (owners is None or compartment.owner in owners)
                and (namespaces is None or compartment.namespace in namespaces)
            ):
                for line in self._in(compartment).values():
                    at = line.created_at if line.occurred_at is None else line.occurred_at
                    place = -2 if line.turn is None else max(-1, (at - since) // step)
                    found.setdefault((compartment.owner, place), []).append(at)
        return [
            (owner, None if place == -2 else place, len(times), max(times))
            for (owner, place), times in sorted(found.items())
        ]

    def newest_ids(self, workspace: str, namespaces: Collection[str] | None) -> dict[str, str]:
        keyed = {compartment for compartment, *_ in self._state.keys}
        found: dict[str, str] = {}
        for line in self._every():
            place = line.compartment
            opened = namespaces is None or place.namespace in namespaces
            if place in keyed and place.workspace == workspace and opened:
                found[place.owner] = max(line.id, found.get(place.owner, ""))
        return found

    def observers(
        self, workspace: str, about: str, namespaces: Collection[str] | None
    ) -> list[tuple[str, int, str]]:
        found: dict[str, list[str]] = {}
        for line in self._of(workspace):
            opened = namespaces is None or line.compartment.namespace in namespaces
            if line.about == about and line.invalidated_by is None and opened:
                found.setdefault(line.compartment.owner, []).append(line.id)
        return [(owner, len(ids), max(ids)) for owner, ids in sorted(found.items())]

    def ids(self, span: LineQuery) -> list[str]:
        return [line.id for line in self.walk(span)]

    def invalidate(self, compartment: Compartment, target: str, by: str) -> bool:
        line = self._state.lines.get(compartment, {}).get(target)
        if line is None or line.invalidated_by is not None:
            return False
        self._state.lines[compartment][target] = replace(line, invalidated_by=by)
        return True

    def annotate(self, compartment: Compartment, line_id: str, metadata: str) -> bool:
        line = self._state.lines.get(compartment, {}).get(line_id)
        if line is None:
            return False
        self._state.lines[compartment][line_id] = replace(line, metadata=metadata)
        return True

    def delete(self, compartment: Compartment, line_ids: Collection[str]) -> int:
        self._keep_citations(
            lambda there, citing, _: (there, citing) not in {(compartment, one) for one in line_ids}
        )
        lines = self._state.lines.get(compartment, {})
        return len([lines.pop(line_id) for line_id in set(line_ids) if line_id in lines])

    def delete_compartment(self, compartment: Compartment) -> int:
        self._keep_citations(lambda there, *_: there != compartment)
        return len(self._state.lines.pop(compartment, {}))

    def count(self, compartment: Compartment) -> int:
        return len(self._in(compartment))

    def namespaces(self, workspace: str, owner: str) -> list[str]:
        return [
            compartment.namespace
            for compartment in self.compartments()
            if compartment[:2] == (workspace, owner)
        ]

    def compartments(self) -> list[Compartment]:
        return sorted(compartment for compartment, lines in self._state.lines.items() if lines)

    def turns(self, span: TurnQuery) -> list[SealedLine]:
        found = [
            (line.turn, line)
            for line in self._of(span.workspace)
            if line.turn is not None
            and line.session == span.session
            and span.first <= line.turn
            and (span.last is None or line.turn <= span.last)
            and (span.owner is None or line.compartment.owner == span.owner)
        ]
        found.sort(key=lambda numbered: numbered[0], reverse=span.newest_first)
        return [line for _, line in found[span.offset :]][: span.limit]

    def last_turn(self, workspace: str, session: str) -> int:
        turns = (
            line.turn or 0
            for line in self._every()
            if (line.compartment.workspace, line.session) == (workspace, session)
        )
        return max(turns, default=0)

    def count_turns(self, workspace: str, session: str) -> int:
        return len(self.turns(TurnQuery(workspace, session)))

    def views(self, span: ViewQuery) -> list[SealedLine]:
        found = [
            line
            for line in self._of(span.workspace)
            if line.about is not None
            and line.invalidated_by is None
            and line.kind in span.kinds
            and (span.owner is None or line.compartment.owner == span.owner)
            and (span.about is None or line.about == span.about)
            and (span.sessions is None or line.session in span.sessions)
            and (span.namespaces is None or line.compartment.namespace in span.namespaces)
        ]
        found.sort(key=lambda line: (line.id, line.compartment), reverse=True)
        return found[: span.limit]

    def view(
        self, workspace: str, line_id: str, namespaces: Collection[str] | None = None
    ) -> SealedLine | None:
        found = [
            line
            for line in self._of(workspace)
            if line.id == line_id
            and line.about is not None
            and (namespaces is None or line.compartment.namespace in namespaces)
        ]
        return min(found, key=lambda line: line.compartment, default=None)

    def alike(self, compartment: Compartment, about: str, likeness: bytes) -> SealedLine | None:
        found = [
            line
            for line in self._in(compartment).values()
            if (line.about, line.likeness, line.invalidated_by) == (about, likeness, None)
        ]
        return min(found, key=lambda line: line.id, default=None)

    def reinforce(self, compartment: Compartment, line_id: str, times: int) -> None:
        line = self._state.lines.get(compartment, {}).get(line_id)
        if line is not None:
            self._state.lines[compartment][line_id] = replace(line, times=line.times + times)

    def of_session(self, workspace: str, owner: str, session: str) -> list[LinePlace]:
        found = [
            LinePlace(**shared_fields(LinePlace, line))
            for line in self._of(workspace)
            if line.compartment.owner == owner and line.session == session
        ]
        return sorted(found, key=lambda place: (place.compartment, place.id))

    def _of(self, workspace: str) -> list[SealedLine]:
        return [
            line
            for line in self._every()
            if line.compartment.workspace == workspace and not self._is_hidden(line)
        ]

    def cite(self, compartment: Compartment, line_id: str, sources: Collection[str]) -> None:
        self._state.citations.update((compartment, line_id, source) for source in sources)

    def cited(
        self, workspace: str, line_ids: Collection[str], *, compartment: Compartment | None = None
    ) -> dict[str, list[str]]:
        found = {
            line_id: {
                source
                for place, citing, source in self._state.citations
                if place.workspace == workspace and compartment in (None, place) and citing == line_id
            }
            for line_id in line_ids
        }
        return {line_id: sorted(sources) for line_id, sources in found.items() if sources}

    def citing(self, workspace: str, sources: Collection[str]) -> list[tuple[Compartment, str]]:
        return sorted(
            {
                (compartment, citing)
                for compartment, citing, source in self._state.citations
                if compartment.workspace == workspace and source in sources
            }
        )

    def uncite(self, workspace: str, sources: Collection[str]) -> None:
        self._keep_citations(
            lambda compartment, _, source: compartment.workspace != workspace or source not in sources
        )

    def _keep_citations(self, wanted: Callable[[Compartment, str, str], bool]) -> None:
        self._state.citations = {one for one in self._state.citations if wanted(*one)}


def _is_over(line: SealedLine, now: int) -> bool:
    return line.expires_at is not None and line.expires_at <= now


def _is_of_age(line: SealedLine, aged: Aged) -> bool:
    return (
        line.id < aged.before
        and aged.namespace in (None, line.compartment.namespace)
        and (aged.kinds is None or line.kind in aged.kinds)
        and (line.turn is not None or not aged.said)
    )
