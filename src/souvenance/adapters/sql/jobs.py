"""The work list in SQL.

A job that waits for an earlier one of its session is 'blocked'. So that a claim need not pass
over all that wait, whoever takes a job off the list frees the next one of its session. Claims go round
the workspaces, so that one with much to do keeps none waiting (see `NextJobs`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import takewhile

from msgspec.structs import replace

from souvenance.adapters.sql.engine import NO_LIMIT, SqlRow, SqlSession, marks
from souvenance.domain.jobs import MOST_FAILED, FailedJob, Job, Tally, Task

_PAGE = 20
_TRUTH = """SELECT MIN(due) FROM (
    SELECT MIN(due) AS due FROM jobs WHERE workspace = ? AND blocked = 0 AND holder IS NULL
    UNION ALL
    SELECT MIN(until) FROM jobs WHERE workspace = ? AND blocked = 0 AND holder IS NOT NULL) AS times"""
_RECKON = f"""INSERT INTO next_jobs (workspace, due) VALUES (?, ({_TRUTH}))
    ON CONFLICT (workspace) DO UPDATE SET due = excluded.due
    WHERE next_jobs.due <> excluded.due OR (next_jobs.due IS NULL) <> (excluded.due IS NULL)"""
_NO_LATER = """INSERT INTO next_jobs (workspace, due) VALUES (?, ?)
    ON CONFLICT (workspace) DO UPDATE SET due = excluded.due
    WHERE next_jobs.due IS NULL OR next_jobs.due > excluded.due"""
_NEXT = "SELECT workspace FROM next_jobs WHERE workspace > ? AND due <= ?{upto} ORDER BY workspace LIMIT 1"
_LATER_NAMES, _EARLIER_NAMES = (_NEXT.format(upto=upto) for upto in ("", " AND workspace <= ?"))
_IN_TIME = """SELECT due, workspace FROM next_jobs WHERE due IS NOT NULL AND (due, workspace) > (?, ?)
    ORDER BY due, workspace LIMIT ?"""


class NextJobs:
    """When each workspace has work that can be claimed, so that a claim need not look into all of them.

    What the table says of a workspace is never later than the truth. Whoever adds work or puts it back writes
    the workspace, and so is alone there; whoever claims is not, and makes that later only behind a lock on
    the row, before it looks.
    """

    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._added: dict[str, int] = {}
        """Until when the agenda is known to name a workspace, by what was added."""

    def add(self, workspace: str, due: int) -> None:
        """Note that something may be claimed there from then on."""
        if self._added.get(workspace, due + 1) > due:
            self._session.run(_NO_LATER, (workspace, due))
            self._added[workspace] = due

    def reckon(self, workspace: str) -> None:
        """Note when the workspace has anything to be claimed, however that changed."""
        self._added.pop(workspace, None)
        self._session.run(_RECKON, (workspace, workspace, workspace))

    def remove(self, workspace: str) -> None:
        self._added.pop(workspace, None)
        self._session.run("DELETE FROM next_jobs WHERE workspace = ?", (workspace,))

    def is_due(self, now: int) -> bool:
        return self._session.row("SELECT 1 FROM next_jobs WHERE due <= ? LIMIT 1", (now,)) is not None

    def round(self, after: str, now: int) -> Iterator[tuple[str, bool]]:
        """The workspaces that may have something due, beginning behind that one, and whether each may be
        reckoned: first those that nobody else is at."""
        seen: set[str] = set()
        for taking in dict.fromkeys((self._session.taking, "")):
            for sql, last, upto in ((_LATER_NAMES, after, ()), (_EARLIER_NAMES, "", (after,))):
                while row := self._session.row(sql + taking, (last, now, *upto)):
                    (last,) = row
                    if last not in seen:
                        seen.add(last)
                        yield last, taking == self._session.taking

    def first(self) -> int | None:
        """When the first workspace has anything to be claimed: what is noted too early is looked up."""
        found: int | None = None
        noted, workspace = -NO_LIMIT, ""
        while page := self._session.rows(_IN_TIME, (noted, workspace, _PAGE)):
            for noted, workspace in page:
                if found is not None and noted >= found:
                    return found
                truth = self._session.row(_TRUTH, (workspace, workspace))
                if truth is not None and truth[0] is not None:
                    found = truth[0] if found is None else min(found, truth[0])
        return found


_NOBODY = ""
"""In the table of what was done, no session or no peer: a key has no empty columns."""

_ADD = """INSERT INTO jobs (workspace, kind, session, peer, first_turn, last_turn, units, payload,
    namespace, attempts, due, blocked)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?,
    CASE WHEN EXISTS (SELECT 1 FROM jobs WHERE workspace = ? AND session = ?) THEN 1 ELSE 0 END)"""
_TASK = """SELECT workspace, kind, session, peer, first_turn, last_turn, units, payload, namespace,
    seq, attempts, due, holder, until FROM jobs"""
_SEQ = 9
_FREE = f"""{_TASK} WHERE workspace = ? AND blocked = 0 AND holder IS NULL AND due <= ?
    ORDER BY due, seq LIMIT 1"""
_EXPIRED = f"""{_TASK} WHERE workspace = ? AND blocked = 0 AND holder IS NOT NULL AND until <= ? AND due <= ?
    ORDER BY due, seq LIMIT 1"""
_BEHIND = f"""{_TASK} WHERE workspace = ? AND session = ? AND kind = ? AND seq > ? ORDER BY seq LIMIT ?"""
_HOLD = """UPDATE jobs SET holder = ?, until = ?, attempts = attempts + 1
    WHERE workspace = ? AND seq = ?"""
_HELD = "workspace = ? AND seq = ? AND holder = ?"
_FINISH = f"DELETE FROM jobs WHERE {_HELD} RETURNING session, peer, kind, namespace, units"
_UNBLOCK = """UPDATE jobs SET blocked = 0
    WHERE workspace = ? AND seq = (SELECT MIN(seq) FROM jobs WHERE workspace = ? AND session = ?)
    RETURNING holder"""
_UNBLOCK_ALL = """UPDATE jobs SET blocked = 0 WHERE workspace = ? AND blocked = 1 AND seq =
    (SELECT MIN(w.seq) FROM jobs w WHERE w.workspace = jobs.workspace AND w.session = jobs.session)"""
_COUNT = """INSERT INTO finished_jobs (workspace, session, peer, kind, namespace, units)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, session, peer, kind, namespace)
    DO UPDATE SET units = finished_jobs.units + excluded.units"""
_POSTPONE = f"UPDATE jobs SET holder = NULL, until = NULL, due = ? WHERE {_HELD}"
_TALLY = """SELECT namespace, session, peer,
    CAST(SUM(CASE WHEN until > ? THEN 0 ELSE units END) AS BIGINT),
    CAST(SUM(CASE WHEN until > ? THEN units ELSE 0 END) AS BIGINT)
    FROM jobs WHERE workspace = ? AND kind = ? GROUP BY peer, namespace, session"""
"""In the order of an index that holds all that is asked."""
_JOB = "workspace, kind, session, peer, first_turn, last_turn, units, payload, namespace"
_KEEP_FAILED = f"""INSERT INTO failed_jobs ({_JOB}, seq, attempts, reason, at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_DROP_OLDEST = """DELETE FROM failed_jobs WHERE workspace = ? AND seq <=
    (SELECT seq FROM failed_jobs WHERE workspace = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)"""
_FAILED = f"""SELECT {_JOB}, seq, attempts, reason, at FROM failed_jobs WHERE workspace = ?
    ORDER BY seq DESC LIMIT ?"""
_TAKE_FAILED = f"DELETE FROM failed_jobs WHERE workspace = ? AND seq = ? RETURNING {_JOB}"
_TAKE_BACK = """UPDATE finished_jobs SET units = units - ?
    WHERE workspace = ? AND session = ? AND peer = ? AND kind = ? AND namespace = ?"""
_WAITING = "SELECT COUNT(*), MIN(due) FROM jobs WHERE due <= ? AND (holder IS NULL OR until <= ?)"


class SqlJobs:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._next = NextJobs(session)

    def add(self, job: Job, due: int) -> None:
        one = job
        values = (one.workspace, one.kind, one.session, one.peer, one.first, one.last, one.units)
        self._session.run(_ADD, (*values, one.payload, one.namespace, due, one.workspace, one.session))
        self._next.add(one.workspace, due)

    def claim(self, holder: str, *, now: int, until: int, most: int, after: str = "") -> list[Task]:
        for workspace, reckons in self._next.round(after, now) if most > 0 else ():
            head = self._head(workspace, now)
            taken = [] if head is None else [head, *self._behind(head, now, most - 1)]
            for task in taken:
                self._session.run(_HOLD, (holder, until, workspace, task.seq))
            if reckons:
                self._next.reckon(workspace)
            if taken:
                return [
                    replace(task, holder=holder, until=until, attempts=task.attempts + 1) for task in taken
                ]
        return []

    def _head(self, workspace: str, now: int) -> Task | None:
        taking = self._session.taking
        rows = (
            self._session.row(_FREE + taking, (workspace, now)),
            self._session.row(_EXPIRED + taking, (workspace, now, now)),
        )
        found = (Task(*row) for row in rows if row is not None)
        return min(found, key=lambda task: (task.due, task.seq), default=None)

    def _behind(self, head: Task, now: int, most: int) -> list[Task]:
        if head.session is None or most == 0:
            return []

        def goes_along(task: Task) -> bool:
            free = task.holder is None or task.until is None or task.until <= now
            return task.due <= now and free

        asked = (head.workspace, head.session, head.kind, head.seq, most)
        order = [row[_SEQ] for row in self._session.rows(_BEHIND, asked)]
        taken = [Task(*row) for row in self._session.rows(_BEHIND + self._session.taking, asked)]
        in_order = takewhile(lambda pair: pair[0] == pair[1].seq, zip(order, taken, strict=False))
        return list(takewhile(goes_along, (task for _, task in in_order)))

    def finish(self, task: Task) -> bool:
        removed = self._session.rows(_FINISH, (task.workspace, task.seq, task.holder))
        for session, peer, kind, namespace, units in removed:
            done = (task.workspace, session or _NOBODY, peer or _NOBODY, kind, namespace, units)
            self._session.run(_COUNT, done)
            if not self._goes_on(task.workspace, session):
                self._next.reckon(task.workspace)
        return bool(removed)

    def _goes_on(self, workspace: str, session: str | None) -> bool:
        """Free the next job of the session; whether someone holds that already, as one of several."""
        if session is None:
            return False
        freed = self._session.row(_UNBLOCK, (workspace, workspace, session))
        return freed is not None and freed[0] is not None

    def keep_failed(self, task: Task, reason: str, at: int) -> None:
        one = task
        values = (one.workspace, one.kind, one.session, one.peer, one.first, one.last, one.units, one.payload)
        self._session.run(_KEEP_FAILED, (*values, one.namespace, one.seq, one.attempts, reason, at))
        self._session.run(_DROP_OLDEST, (one.workspace, one.workspace, MOST_FAILED))

    def failed(self, workspace: str, limit: int) -> list[FailedJob]:
        return [FailedJob(*row) for row in self._session.rows(_FAILED, (workspace, limit))]

    def retry(self, workspace: str, seq: int, due: int) -> bool:
        taken = [Job(*row) for row in self._session.rows(_TAKE_FAILED, (workspace, seq))]
        for job in taken:
            place = (workspace, job.session or _NOBODY, job.peer or _NOBODY, job.kind, job.namespace)
            self._session.run(_TAKE_BACK, (job.units, *place))
            self.add(job, due)
        return bool(taken)

    def postpone(self, task: Task, due: int) -> bool:
        back = self._session.run(_POSTPONE, (due, task.workspace, task.seq, task.holder)) == 1
        if back:
            self._next.reckon(task.workspace)
        return back

    def defer(self, workspace: str, session: str | None, kind: str, due: int) -> int | None:
        where, values = "workspace = ? AND kind = ? AND holder IS NULL AND attempts = 0", [workspace, kind]
        if session is not None:
            where += " AND session = ?"
            values.append(session)
        row = self._session.row(f"SELECT MIN(first_turn) FROM jobs WHERE {where}", values)
        if row is None or row[0] is None:
            return None
        self._session.run(f"UPDATE jobs SET due = ? WHERE {where}", (due, *values))
        self._next.reckon(workspace)
        first: int = row[0]
        return first

    def is_due(self, now: int) -> bool:
        return self._next.is_due(now)

    def next_due(self) -> int | None:
        return self._next.first()

    def waiting(self, now: int) -> tuple[int, int | None]:
        row = self._session.row(_WAITING, (now, now))
        return (0, None) if row is None else (row[0], row[1])

    def left(self, workspace: str, session: str | None, kinds: Collection[str], namespace: str) -> bool:
        of, values = ("session IS NULL", []) if session is None else ("session = ?", [session])
        # Of the job itself, or SQLite would rather go through all of a kind, in the index of the tallies.
        sql = (
            f"SELECT due FROM jobs WHERE workspace = ? AND {of} AND namespace = ? AND kind IN {marks(kinds)}"
        )
        return self._session.row(f"{sql} LIMIT 1", (workspace, *values, namespace, *kinds)) is not None

    def owed(self, workspace: str, kinds: Collection[str], *, after: int = 0, limit: int) -> list[Task]:
        sql = f"{_TASK} WHERE workspace = ? AND kind IN {marks(kinds)} AND seq > ? ORDER BY seq LIMIT ?"
        return [Task(*row) for row in self._session.rows(sql, (workspace, *kinds, after, limit))]

    def tallies(
        self, workspace: str, kinds: Collection[str], now: int, namespaces: Collection[str] | None = None
    ) -> list[Tally]:
        counts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
        for kind in kinds:
            for namespace, session, peer, free, held in self._session.rows(
                _TALLY, (now, now, workspace, kind)
            ):
                if namespaces is None or namespace in namespaces:
                    tally = counts[session or _NOBODY, peer or _NOBODY]
                    tally[:2] = tally[0] + free, tally[1] + held
        for session, peer, done in self._done(workspace, kinds, namespaces):
            counts[session, peer][2] = done
        return [Tally(place[0] or None, place[1] or None, *counts[place]) for place in sorted(counts)]

    def _done(
        self, workspace: str, kinds: Collection[str], namespaces: Collection[str] | None
    ) -> list[SqlRow]:
        where, values = f"workspace = ? AND kind IN {marks(kinds)}", [workspace, *kinds]
        if namespaces is not None:
            where += f" AND namespace IN {marks(namespaces)}"
            values.extend(namespaces)
        sql = f"""SELECT session, peer, CAST(SUM(units) AS BIGINT) FROM finished_jobs
            WHERE {where} GROUP BY session, peer"""
        return self._session.rows(sql, values)

    def drop(
        self, workspace: str, session: str | None = None, namespaces: Collection[str] | None = None
    ) -> None:
        where, values = "workspace = ?", [workspace]
        if session is not None:
            where += " AND session = ?"
            values.append(session)
        if namespaces is not None:
            where += f" AND namespace IN {marks(namespaces)}"
            values.extend(namespaces)
        for table in ("jobs", "finished_jobs", "failed_jobs"):
            self._session.run(f"DELETE FROM {table} WHERE {where}", values)
        if namespaces is not None:
            self._session.run(_UNBLOCK_ALL, (workspace,))
        if session is None and namespaces is None:
            self._next.remove(workspace)
        else:
            self._next.reckon(workspace)
