"""The directory in SQL: entries, memberships, batches of messages that came, sign-ins, and the work list.

A job that waits for an earlier one of its session is 'blocked'. So that a claim need not pass over all that
wait, taking a job off the list frees the next one of its session. Claims go round the workspaces, so that one
with much to do keeps none waiting.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import takewhile
from operator import attrgetter
from typing import TypeVar

import msgspec
from msgspec.structs import asdict, astuple, replace

from souvenance.adapters.sql.engine import (
    NO_LIMIT,
    SqlRow,
    SqlSession,
    as_bytes,
    condition,
    insert,
    listed,
    marks,
)
from souvenance.domain.directory import (
    MEMBER,
    MOST_FAILED,
    SESSION,
    WORKSPACE,
    Entry,
    FailedJob,
    Job,
    Membership,
    Tally,
    Task,
)
from souvenance.domain.sign_ins import SPENT_KEPT_MS, UNUSED_MS, Client, SignIn, Slip
from souvenance.ports.directory import Batch

_COLUMNS = "workspace, kind, name, uid, created_at, metadata, configuration, namespace"
_ENTRY = f"SELECT {_COLUMNS} FROM entries"
_OF_SOME = f"""SELECT {_COLUMNS}
    FROM (SELECT workspace AS w, kind AS k, name AS n FROM entries {{some}}) AS those
    CROSS JOIN entries WHERE workspace = w AND kind = k AND name = n ORDER BY {{order}}"""
_WORKSPACES = f"kind = '{WORKSPACE}'"
_NAMED = "workspace = ? AND kind = ? AND name = ?"
_KIND = "workspace = ? AND kind IN (?)"
"""With `=` SQLite looks at the value, for the sake of the index of workspaces, and plans anew each time."""
_ADD = insert("entries", _COLUMNS, conflict="ON CONFLICT DO NOTHING")
_NEXT_NAMESPACE = f"""SELECT namespace FROM entries
    WHERE {_KIND} AND namespace > ? ORDER BY namespace LIMIT 1"""
_UPDATE = f"UPDATE entries SET metadata = ?, configuration = ? WHERE {_NAMED}"
_MEMBERSHIP = "workspace, kind, holder, held, since"
_MEMBERSHIPS = f"SELECT {_MEMBERSHIP}, until, configuration FROM memberships"
_ADD_MEMBERSHIP = insert("memberships", f"{_MEMBERSHIP}, until, configuration", _MEMBERSHIP)
_BATCHES = "workspace, session, digest, at, first_turn, last_turn"
_BATCH = f"SELECT {_BATCHES} FROM batches WHERE workspace = ? AND session = ? AND digest = ?"
_KEEP_BATCH = insert("batches", _BATCHES, "workspace, session, digest")
_FORGET_BATCHES = "DELETE FROM batches WHERE workspace = ? AND session = ? AND at < ?"
_PRESENT = """FROM memberships t JOIN entries e
    ON e.workspace = t.workspace AND e.name = t.holder
    WHERE t.workspace = ? AND t.kind = ? AND t.until IS NULL AND e.kind IN (?)"""
_JOINED = f"SELECT t.holder {_PRESENT}"
_IN_ORDER = "ORDER BY t.since"
"""So that the index by what is held is preferred to the key, by which all of the workspace's are read."""


class SqlDirectory:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._seen: dict[tuple[str, str, str], Entry | None] = {}
        self._namespaces: dict[tuple[str, str], list[str]] = {}

    def entry(self, workspace: str, kind: str, name: str) -> Entry | None:
        asked = (workspace, kind, name)
        if asked not in self._seen:
            row = self._session.row(f"{_ENTRY} WHERE {_NAMED}", asked)
            self._seen[asked] = None if row is None else Entry(*row)
        return self._seen[asked]

    def named(self, workspace: str, kind: str, names: Collection[str]) -> list[Entry]:
        unseen = [name for name in names if (workspace, kind, name) not in self._seen]
        self._seen.update(((workspace, kind, name), None) for name in unseen)
        for asked, some in listed(unseen):
            sql = f"{_ENTRY} WHERE {_KIND} AND name IN {asked}"
            for entry in (Entry(*row) for row in self._session.rows(sql, (workspace, kind, *some))):
                self._seen[workspace, kind, entry.name] = entry
        found = (self._seen[workspace, kind, name] for name in sorted(set(names)))
        return [entry for entry in found if entry is not None]

    def add(self, entry: Entry) -> bool:
        self._seen.pop((entry.workspace, entry.kind, entry.name), None)
        self._namespaces.clear()
        return self._session.run(_ADD, astuple(entry)) == 1

    def update(self, entry: Entry) -> None:
        place = (entry.workspace, entry.kind, entry.name)
        self._seen.pop(place, None)
        self._session.run(_UPDATE, (entry.metadata, entry.configuration, *place))

    def remove(self, workspace: str, kind: str, name: str) -> bool:
        place = (workspace, kind, name)
        self._seen.pop(place, None)
        self._namespaces.clear()
        return self._session.run(f"DELETE FROM entries WHERE {_NAMED}", place) == 1

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
        way, end = "DESC" if newest_first else "ASC", None if limit is None else offset + limit
        order, found = f"uid {way}, workspace {way}, name {way}", list[Entry]()
        for where, values in _kinds(workspace, kind, namespaces):
            sql = f"{_ENTRY} WHERE {where} ORDER BY {order} LIMIT ?"
            if where == _WORKSPACES:  # No index has this order: they are sorted before more of them is read.
                sql = _OF_SOME.format(some=f"WHERE {where} ORDER BY {order} LIMIT ?", order=order)
            rows = self._session.rows(sql, (*values, NO_LIMIT if end is None else end))
            found.extend(Entry(*row) for row in rows)
        if namespaces is not None and len(namespaces) > 1:
            found.sort(key=lambda entry: (entry.uid, entry.workspace, entry.name), reverse=newest_first)
        return found[offset:end]

    def count(self, workspace: str | None, kind: str, namespaces: Collection[str] | None = None) -> int:
        return sum(
            self._session.value(f"SELECT count(*) FROM entries WHERE {where}", values)
            for where, values in _kinds(workspace, kind, namespaces)
        )

    def namespaces(self, workspace: str, kind: str) -> list[str]:
        asked = (workspace, kind)
        if asked not in self._namespaces:
            self._namespaces[asked] = self._session.each_next(_NEXT_NAMESPACE, asked)
        return self._namespaces[asked]

    def add_membership(self, membership: Membership) -> None:
        self._session.run(_ADD_MEMBERSHIP, astuple(membership))

    def memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> list[Membership]:
        where, values = condition({"workspace": workspace, "kind": kind, "holder": holder, "held": held})
        sql = f"{_MEMBERSHIPS} WHERE {where} ORDER BY since, holder, held"
        return [Membership(*row) for row in self._session.rows(sql, values)]

    def sessions_with(
        self, workspace: str, peers: Collection[str], namespaces: Collection[str] | None = None
    ) -> list[str]:
        found: set[str] = set()
        for asked, some in listed(peers):
            among, values = condition({"e.namespace": namespaces})
            sql = f"{_JOINED} AND t.held IN {asked} AND {among} {_IN_ORDER}"
            rows = self._session.rows(sql, (workspace, MEMBER, SESSION, *some, *values))
            found.update(row[0] for row in rows)
        return sorted(found)

    def newest_sessions(
        self, workspace: str, peer: str, namespaces: Collection[str] | None, offset: int, limit: int
    ) -> list[Entry]:
        among, values = condition({"e.namespace": namespaces})
        sql = f"""SELECT e.name {_PRESENT} AND t.held IN (?) AND {among}
            GROUP BY e.name, e.uid ORDER BY e.uid DESC LIMIT ? OFFSET ?"""
        rows = self._session.rows(sql, (workspace, MEMBER, SESSION, peer, *values, limit, offset))
        names = [row[0] for row in rows]
        return sorted(self.named(workspace, SESSION, names), key=lambda one: one.uid, reverse=True)

    def remove_memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> int:
        where, values = condition({"workspace": workspace, "kind": kind, "holder": holder, "held": held})
        return self._session.run(f"DELETE FROM memberships WHERE {where}", values)

    def batch(self, workspace: str, session: str, digest: bytes) -> Batch | None:
        row = self._session.row(_BATCH, (workspace, session, digest))
        return None if row is None else Batch(row[0], row[1], as_bytes(row[2]), *row[3:])

    def keep_batch(self, batch: Batch, forget_before: int) -> None:
        self._session.run(_FORGET_BATCHES, (batch.workspace, batch.session, forget_before))
        self._session.run(_KEEP_BATCH, astuple(batch))

    def drop_batches(self, workspace: str, session: str) -> None:
        self._session.run("DELETE FROM batches WHERE workspace = ? AND session = ?", (workspace, session))

    def remove_workspace(self, workspace: str) -> None:
        self._seen.clear()
        self._namespaces.clear()
        for table in ("entries", "memberships", "batches"):
            self._session.run(f"DELETE FROM {table} WHERE workspace = ?", (workspace,))


def _kinds(
    workspace: str | None, kind: str, namespaces: Collection[str] | None
) -> list[tuple[str, tuple[str, ...]]]:
    """What each list of entries is limited by: one in the order of its index for every namespace."""
    values: tuple[str, ...] = (kind,) if workspace is None else (workspace, kind)
    where = "kind IN (?)" if workspace is None else _KIND
    if workspace is None and kind == WORKSPACE:
        where, values = _WORKSPACES, ()
    if namespaces is None:
        return [(where, values)]
    return [(f"{where} AND namespace = ?", (*values, one)) for one in sorted(set(namespaces))]


_Kept = TypeVar("_Kept", bound=msgspec.Struct)

_CLIENT, _SIGN_IN, _SLIP_FIELDS = (", ".join(one.__struct_fields__) for one in (Client, SignIn, Slip))
"""Each field of these is a column of its name."""
_LISTS = ("redirects", "grants")
_ADD_CLIENT = insert("signin_clients", _CLIENT)
_ADD_SIGN_IN = insert("signins", _SIGN_IN)
_KEEP = insert("signin_slips", _SLIP_FIELDS, "kind, hash")
_SLIP = f"SELECT {_SLIP_FIELDS} FROM signin_slips WHERE kind = ?"
_SPEND = "UPDATE signin_slips SET spent_at = ? WHERE kind = ? AND hash = ? AND spent_at IS NULL"
_OVER = "SELECT id FROM signins WHERE until <= ? OR (used_at IS NULL AND created_at <= ?)"
_SWEEP = """DELETE FROM signin_slips
    WHERE until <= ? AND (signin IS NULL OR spent_at IS NULL) OR spent_at <= ?"""


class SqlSignIns:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add_client(self, client: Client) -> None:
        lists = {name: msgspec.json.encode(getattr(client, name)).decode() for name in _LISTS}
        self._session.run(_ADD_CLIENT, tuple({**asdict(client), **lists}.values()))

    def client(self, client_id: str) -> Client | None:
        row = self._session.row(f"SELECT {_CLIENT} FROM signin_clients WHERE id = ?", (client_id,))
        if row is None:
            return None
        found = _read(Client, row)
        lists = {name: msgspec.json.decode(getattr(found, name), type=tuple[str, ...]) for name in _LISTS}
        return replace(found, **lists, secret=None if found.secret is None else as_bytes(found.secret))

    def use_client(self, client_id: str, now: int) -> None:
        self._session.run(
            "UPDATE signin_clients SET used_at = ? WHERE id = ? AND used_at IS NULL", (now, client_id)
        )

    def strangers(self) -> int:
        return int(self._session.value("SELECT COUNT(*) FROM signin_clients WHERE used_at IS NULL"))

    def add(self, signin: SignIn) -> None:
        self._session.run(_ADD_SIGN_IN, astuple(signin))

    def get(self, signin_id: str) -> SignIn | None:
        return next(iter(self._sign_ins("WHERE id = ?", signin_id)), None)

    def of_cap(self, jti: str) -> SignIn | None:
        return next(iter(self._sign_ins("WHERE jti = ?", jti)), None)

    def every(self) -> list[SignIn]:
        return self._sign_ins("ORDER BY id")

    def _sign_ins(self, which: str, *values: str) -> list[SignIn]:
        rows = self._session.rows(f"SELECT {_SIGN_IN} FROM signins {which}", values)
        return [_read(SignIn, row, "sealed") for row in rows]

    def use(self, signin_id: str, now: int) -> None:
        self._session.run("UPDATE signins SET used_at = ? WHERE id = ?", (now, signin_id))

    def reseal(self, signin_id: str, sealed: bytes) -> None:
        self._session.run("UPDATE signins SET sealed = ? WHERE id = ?", (sealed, signin_id))

    def end(self, signin_id: str) -> None:
        self._session.run("DELETE FROM signin_slips WHERE signin = ?", (signin_id,))
        self._session.run("DELETE FROM signins WHERE id = ?", (signin_id,))

    def keep(self, slip: Slip) -> None:
        self._session.run(_KEEP, astuple(slip))

    def slip(self, kind: str, hashed: bytes) -> Slip | None:
        row = self._session.row(f"{_SLIP} AND hash = ?", (kind, hashed))
        return None if row is None else _read(Slip, row, "hash", "content")

    def slips(self, kind: str) -> list[Slip]:
        rows = self._session.rows(f"{_SLIP} ORDER BY hash", (kind,))
        return [_read(Slip, row, "hash", "content") for row in rows]

    def spend(self, kind: str, hashed: bytes, now: int) -> bool:
        return self._session.run(_SPEND, (now, kind, hashed)) == 1

    def drop(self, kind: str, hashed: bytes) -> None:
        self._session.run("DELETE FROM signin_slips WHERE kind = ? AND hash = ?", (kind, hashed))

    def drop_all(self, kind: str) -> None:
        self._session.run("DELETE FROM signin_slips WHERE kind = ?", (kind,))

    def count(self, kind: str) -> int:
        return int(self._session.value("SELECT COUNT(*) FROM signin_slips WHERE kind = ?", (kind,)))

    def sweep(self, now: int) -> None:
        for (signin_id,) in self._session.rows(_OVER, (now, now - UNUSED_MS)):
            self.end(signin_id)
        self._session.run(_SWEEP, (now, now - SPENT_KEPT_MS))
        self._session.run(
            "DELETE FROM signin_clients WHERE used_at IS NULL AND created_at <= ?", (now - UNUSED_MS,)
        )


def _read(kind: type[_Kept], row: SqlRow, *blobs: str) -> _Kept:
    """What a row of all its fields says; what stands in place of bytes and is none is empty."""
    found = dict(zip(kind.__struct_fields__, row, strict=True))
    return kind(**{**found, **{name: as_bytes(found[name]) for name in blobs}})


_NOBODY = ""
"""In the table of what was done, no session or no peer: a key has no empty columns."""

_JOB = "workspace, kind, session, peer, first_turn, last_turn, units, payload, namespace"
_values = attrgetter(*Job.__struct_fields__)
"""The values of these columns."""
_ADD_JOB = f"""INSERT INTO jobs ({_JOB}, attempts, due, blocked) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?,
    CASE WHEN EXISTS (SELECT 1 FROM jobs WHERE workspace = ? AND session = ?) THEN 1 ELSE 0 END)"""
_TASK = f"SELECT {_JOB}, seq, attempts, due, holder, until FROM jobs"
_SEQ = 9
_FREE = f"""{_TASK} WHERE workspace = ? AND blocked = 0 AND holder IS NULL AND due <= ?
    ORDER BY due, seq LIMIT 1"""
_EXPIRED = f"""{_TASK} WHERE workspace = ? AND blocked = 0 AND holder IS NOT NULL AND until <= ? AND due <= ?
    ORDER BY due, seq LIMIT 1"""
_CLAIMABLE = {
    "due": "blocked = 0 AND holder IS NULL",
    "until": "blocked = 0 AND holder IS NOT NULL",
}
"""What may be claimed, and the column that says from when on: jobs that nobody holds, and leases."""
_NEXT_WORKSPACES = [
    f"SELECT workspace FROM jobs WHERE {which} AND {when} <= ? AND workspace > ? ORDER BY workspace LIMIT 1"
    for when, which in _CLAIMABLE.items()
]
_FIRST_TIMES = [f"SELECT MIN({when}) FROM jobs WHERE {which}" for when, which in _CLAIMABLE.items()]
_BEHIND = f"""{_TASK} WHERE workspace = ? AND session = ? AND kind = ? AND seq > ? ORDER BY seq LIMIT ?"""
_HOLD = """UPDATE jobs SET holder = ?, until = ?, attempts = attempts + 1
    WHERE workspace = ? AND seq = ?"""
_HELD = "workspace = ? AND seq = ? AND holder = ?"
_FINISH = f"DELETE FROM jobs WHERE {_HELD} RETURNING session, peer, kind, namespace, units"
_UNBLOCK = """UPDATE jobs SET blocked = 0
    WHERE workspace = ? AND seq = (SELECT MIN(seq) FROM jobs WHERE workspace = ? AND session = ?)"""
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
_FAILED_JOB = f"{_JOB}, seq, attempts, reason, at"
_KEEP_FAILED = insert("failed_jobs", _FAILED_JOB)
_DROP_OLDEST = """DELETE FROM failed_jobs WHERE workspace = ? AND seq <=
    (SELECT seq FROM failed_jobs WHERE workspace = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)"""
_FAILED = f"SELECT {_FAILED_JOB} FROM failed_jobs WHERE workspace = ? ORDER BY seq DESC LIMIT ?"
_TAKE_FAILED = f"DELETE FROM failed_jobs WHERE workspace = ? AND seq = ? RETURNING {_JOB}"
_TAKE_BACK = """UPDATE finished_jobs SET units = units - ?
    WHERE workspace = ? AND session = ? AND peer = ? AND kind = ? AND namespace = ?"""
_WAITING = "SELECT COUNT(*), MIN(due) FROM jobs WHERE due <= ? AND (holder IS NULL OR until <= ?)"


class SqlJobs:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def add(self, job: Job, due: int) -> None:
        self._session.run(_ADD_JOB, (*_values(job), due, job.workspace, job.session))

    def claim(self, holder: str, *, now: int, until: int, most: int, after: str = "") -> list[Task]:
        for workspace in self._round(after, now) if most > 0 else ():
            head = self._head(workspace, now)
            if head is not None:
                taken = [head, *self._behind(head, now, most - 1)]
                for task in taken:
                    self._session.run(_HOLD, (holder, until, workspace, task.seq))
                return [
                    replace(task, holder=holder, until=until, attempts=task.attempts + 1) for task in taken
                ]
        return []

    def _round(self, after: str, now: int) -> Iterator[str]:
        """The workspaces that have something to claim: those behind that one, then the others."""
        last = after
        while (found := self._next_workspace(last, now)) is not None:
            yield found
            last = found
        last = ""
        while (found := self._next_workspace(last, now)) is not None and found <= after:
            yield found
            last = found

    def _next_workspace(self, after: str, now: int) -> str | None:
        found = (self._session.value(sql, (now, after)) for sql in _NEXT_WORKSPACES)
        return min((workspace for workspace in found if workspace is not None), default=None)

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
            if session is not None:
                self._session.run(_UNBLOCK, (task.workspace, task.workspace, session))
        return bool(removed)

    def keep_failed(self, task: Task, reason: str, at: int) -> None:
        self._session.run(_KEEP_FAILED, (*_values(task), task.seq, task.attempts, reason, at))
        self._session.run(_DROP_OLDEST, (task.workspace, task.workspace, MOST_FAILED))

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
        return self._session.run(_POSTPONE, (due, task.workspace, task.seq, task.holder)) == 1

    def defer(self, workspace: str, session: str | None, kind: str, due: int) -> int | None:
        where, values = condition({"workspace": workspace, "kind": kind, "session": session})
        where += " AND holder IS NULL AND attempts = 0"
        first: int | None = self._session.value(f"SELECT MIN(first_turn) FROM jobs WHERE {where}", values)
        if first is not None:
            self._session.run(f"UPDATE jobs SET due = ? WHERE {where}", (due, *values))
        return first

    def is_due(self, now: int) -> bool:
        return self._next_workspace("", now) is not None

    def next_due(self) -> int | None:
        times = (self._session.value(sql) for sql in _FIRST_TIMES)
        return min((time for time in times if time is not None), default=None)

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
            rows = self._session.rows(_TALLY, (now, now, workspace, kind))
            for namespace, session, peer, free, held in rows:
                if namespaces is None or namespace in namespaces:
                    tally = counts[session or _NOBODY, peer or _NOBODY]
                    tally[:2] = tally[0] + free, tally[1] + held
        where, values = condition({"workspace": workspace, "kind": kinds, "namespace": namespaces})
        sql = f"""SELECT session, peer, CAST(SUM(units) AS BIGINT) FROM finished_jobs
            WHERE {where} GROUP BY session, peer"""
        for session, peer, done in self._session.rows(sql, values):
            counts[session, peer][2] = done
        return [Tally(place[0] or None, place[1] or None, *counts[place]) for place in sorted(counts)]

    def drop(
        self, workspace: str, session: str | None = None, namespaces: Collection[str] | None = None
    ) -> None:
        where, values = condition({"workspace": workspace, "session": session, "namespace": namespaces})
        for table in ("jobs", "finished_jobs", "failed_jobs"):
            self._session.run(f"DELETE FROM {table} WHERE {where}", values)
        if namespaces is not None:
            self._session.run(_UNBLOCK_ALL, (workspace,))
