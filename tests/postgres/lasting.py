"""An engine whose connections outlive it, for tests that open a store each.

A new connection learns of every table first, which is most of what a small test takes. A store that is closed
leaves its connections to the next one of the same database, as an engine leaves them to its next transaction.
"""

from __future__ import annotations

from collections import defaultdict

from souvenance.adapters.sql.postgres import PostgresEngine, PostgresSession

_left: defaultdict[str, list[PostgresSession]] = defaultdict(list)


class LastingConnections(PostgresEngine):
    """For stores that are opened with the usual patience."""

    def __init__(self, url: str, *, vectors: str | None = None) -> None:
        self._left = _left[url]
        super().__init__(url, vectors=vectors)

    def _take(self) -> tuple[bool, PostgresSession]:
        if self._left and not self._idle and not self._closed:
            return True, self._left.pop()
        return super()._take()

    def _keep(self, session: PostgresSession) -> None:
        if self._closed and not session.connection.closed:
            self._left.append(session)
        else:
            super()._keep(session)

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._left.append(self._idle.pop())


def left(url: str) -> list[int]:
    """The server's processes behind the connections that are left of that database."""
    return [session.connection.info.backend_pid for session in _left[url]]


def end() -> None:
    """End the connections that are left."""
    for sessions in _left.values():
        while sessions:
            sessions.pop().connection.close()
