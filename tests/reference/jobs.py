"""The work list of the reference store."""

from __future__ import annotations

from collections.abc import Collection
from itertools import takewhile

from msgspec.structs import asdict, replace

from reference.state import State
from souvenance.domain.directory import MOST_FAILED, FailedJob, Job, Tally, Task
from souvenance.domain.names import ALL


class MemoryWork:
    def __init__(self, state: State) -> None:
        self._state = state

    def add(self, job: Job, due: int) -> None:
        seq = self._state.increase(ALL, "work")
        self._state.tasks[seq] = Task(**asdict(job), seq=seq, due=due)

    def claim(self, holder: str, *, now: int, until: int, most: int, after: str = "") -> list[Task]:
        def free(task: Task) -> bool:
            return task.due <= now and (task.until is None or task.until <= now)

        ready = [task for task in self._first_ones() if free(task)]
        if not ready or most < 1:
            return []
        head = min(ready, key=lambda task: (task.workspace <= after, task.workspace, task.due, task.seq))
        taken = takewhile(free, self._from(head))
        claimed = [
            replace(task, holder=holder, until=until, attempts=task.attempts + 1)
            for task in list(taken)[:most]
        ]
        self._state.tasks.update({task.seq: task for task in claimed})
        return claimed

    def _first_ones(self) -> list[Task]:
        """The tasks that wait for no earlier one."""
        return [
            task
            for task in self._state.tasks.values()
            if task.session is None or task == min(self._beside(task), key=lambda other: other.seq)
        ]

    def _from(self, head: Task) -> list[Task]:
        """The task, and those of its session and kind behind it."""
        if head.session is None:
            return [head]
        alike = (task for task in self._beside(head) if task.kind == head.kind)
        return sorted(alike, key=lambda task: task.seq)

    def _beside(self, one: Task) -> list[Task]:
        return [
            task
            for task in self._state.tasks.values()
            if (task.workspace, task.session) == (one.workspace, one.session)
        ]

    def finish(self, task: Task) -> bool:
        held = self._held(task)
        if held is None:
            return False
        del self._state.tasks[held.seq]
        place = (held.workspace, held.kind, held.session, held.peer, held.namespace)
        self._state.worked[place] = self._state.worked.get(place, 0) + held.units
        return True

    def keep_failed(self, task: Task, reason: str, at: int) -> None:
        told = {name: getattr(task, name) for name in (*Job.__struct_fields__, "seq", "attempts")}
        self._state.failed_jobs[task.workspace, task.seq] = FailedJob(**told, reason=reason, at=at)
        for one in self.failed(task.workspace, len(self._state.failed_jobs))[MOST_FAILED:]:
            del self._state.failed_jobs[one.workspace, one.seq]

    def failed(self, workspace: str, limit: int) -> list[FailedJob]:
        found = [one for one in self._state.failed_jobs.values() if one.workspace == workspace]
        return sorted(found, key=lambda one: -one.seq)[:limit]

    def retry(self, workspace: str, seq: int, due: int) -> bool:
        one = self._state.failed_jobs.pop((workspace, seq), None)
        if one is None:
            return False
        self._state.worked[workspace, one.kind, one.session, one.peer, one.namespace] -= one.units
        self.add(Job(**{name: getattr(one, name) for name in Job.__struct_fields__}), due)
        return True

    def postpone(self, task: Task, due: int) -> bool:
        held = self._held(task)
        if held is None:
            return False
        self._state.tasks[held.seq] = replace(held, holder=None, until=None, due=due)
        return True

    def _held(self, task: Task) -> Task | None:
        found = self._state.tasks.get(task.seq)
        if found is None or found.holder is None:
            return None
        return found if (found.workspace, found.holder) == (task.workspace, task.holder) else None

    def defer(self, workspace: str, session: str | None, kind: str, due: int) -> int | None:
        waiting = [
            task
            for task in self._state.tasks.values()
            if (task.workspace, task.kind, task.attempts) == (workspace, kind, 0)
            and task.holder is None
            and session in (None, task.session)
        ]
        self._state.tasks.update({task.seq: replace(task, due=due) for task in waiting})
        return min((task.first for task in waiting), default=None)

    def is_due(self, now: int) -> bool:
        due = self.next_due()
        return due is not None and due <= now

    def next_due(self) -> int | None:
        return min(
            (task.due if task.until is None else task.until for task in self._first_ones()), default=None
        )

    def waiting(self, now: int) -> tuple[int, int | None]:
        tasks = self._state.tasks.values()
        due = [task.due for task in tasks if task.due <= now and (task.until is None or task.until <= now)]
        return len(due), min(due, default=None)

    def left(self, workspace: str, session: str | None, kinds: Collection[str], namespace: str) -> bool:
        asked = (workspace, session, namespace)
        tasks = self._state.tasks.values()
        return any(
            (task.workspace, task.session, task.namespace) == asked and task.kind in kinds for task in tasks
        )

    def owed(self, workspace: str, kinds: Collection[str], *, after: int = 0, limit: int) -> list[Task]:
        found = [
            task
            for task in self._state.tasks.values()
            if task.workspace == workspace and task.kind in kinds and task.seq > after
        ]
        return sorted(found, key=lambda task: task.seq)[:limit]

    def tallies(
        self, workspace: str, kinds: Collection[str], now: int, namespaces: Collection[str] | None = None
    ) -> list[Tally]:
        def asked(where: str, kind: str, namespace: str) -> bool:
            return where == workspace and kind in kinds and (namespaces is None or namespace in namespaces)

        counts: dict[tuple[str | None, str | None], list[int]] = {}
        for task in self._state.tasks.values():
            if asked(task.workspace, task.kind, task.namespace):
                under_way = task.until is not None and task.until > now
                counts.setdefault((task.session, task.peer), [0, 0, 0])[under_way] += task.units
        for (where, kind, session, peer, namespace), units in self._state.worked.items():
            if asked(where, kind, namespace):
                counts.setdefault((session, peer), [0, 0, 0])[2] += units
        order = sorted(counts, key=lambda place: (place[0] or "", place[1] or ""))
        return [Tally(session, peer, *counts[session, peer]) for session, peer in order]

    def drop(
        self, workspace: str, session: str | None = None, namespaces: Collection[str] | None = None
    ) -> None:
        def stays(where: str, of: str | None, namespace: str) -> bool:
            elsewhere = namespaces is not None and namespace not in namespaces
            return where != workspace or session not in (None, of) or elsewhere

        state = self._state
        state.tasks = {
            seq: task
            for seq, task in state.tasks.items()
            if stays(task.workspace, task.session, task.namespace)
        }
        state.failed_jobs = {
            place: one
            for place, one in state.failed_jobs.items()
            if stays(one.workspace, one.session, one.namespace)
        }
        state.worked = {
            place: units for place, units in state.worked.items() if stays(place[0], place[2], place[4])
        }
