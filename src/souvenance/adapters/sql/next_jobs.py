"""When each workspace has work that can be claimed, so that a claim need not look into all of them.

An errand is found through its workspace alone; the agenda says which workspaces to ask. What it says of one
is never later than the truth. Whoever adds work or puts it back writes the workspace, and so is alone there;
whoever claims is not, and makes that later only behind a lock on the row, before it looks.
"""

from __future__ import annotations

from collections.abc import Iterator

from souvenance.adapters.sql.engine import NO_LIMIT, SqlSession

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
_BEHIND, _BEFORE = (_NEXT.format(upto=upto) for upto in ("", " AND workspace <= ?"))
_IN_TIME = """SELECT due, workspace FROM next_jobs WHERE due IS NOT NULL AND (due, workspace) > (?, ?)
    ORDER BY due, workspace LIMIT ?"""


class Agenda:
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
            for sql, last, upto in ((_BEHIND, after, ()), (_BEFORE, "", (after,))):
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
