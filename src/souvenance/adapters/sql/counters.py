"""Named counters in SQL, of one workspace or, under '*', of all."""

from __future__ import annotations

from souvenance.adapters.sql.engine import SqlSession
from souvenance.domain.names import ALL

_INCREASE = """INSERT INTO counters (workspace, name, value) VALUES (?, ?, 1)
    ON CONFLICT (workspace, name) DO UPDATE SET value = counters.value + 1 RETURNING value"""


class SqlCounters:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._seen: dict[str, dict[str, int]] = {}

    def increase(self, workspace: str, name: str) -> int:
        self._seen.clear()
        value: int = self._session.rows(_INCREASE, (workspace, name))[0][0]
        return value

    def reset(self, workspace: str, name: str) -> None:
        self._seen.clear()
        self._session.run("DELETE FROM counters WHERE workspace = ? AND name = ?", (workspace, name))

    def values(self, workspace: str) -> dict[str, int]:
        """The counters of the workspace, each with what was counted for all workspaces added."""
        if workspace in self._seen:
            return self._seen[workspace]
        found = self._seen[workspace] = {}
        sql = "SELECT name, value FROM counters WHERE workspace = ? OR workspace = ?"
        for name, value in self._session.rows(sql, (workspace, ALL)):
            found[name] = found.get(name, 0) + value
        return found
