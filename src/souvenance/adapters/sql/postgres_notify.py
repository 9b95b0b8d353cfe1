"""The bell of a PostgreSQL store: work that any process adds is heard in all others when it is committed."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable

import psycopg

from souvenance.adapters.sql.engine import SqlSession
from souvenance.errors import SouvenanceError

CHANNEL = "souvenance_work"
_RETRY_SECONDS = 1.0
TRIGGER = "souvenance_bell"
BODY = f" BEGIN NOTIFY {CHANNEL}; RETURN NULL; END "
_HANGS = f"SELECT 1 FROM pg_trigger WHERE tgname = '{TRIGGER}' AND tgrelid = 'jobs'::regclass"
_RING = f"CREATE OR REPLACE FUNCTION souvenance_ring() RETURNS trigger LANGUAGE plpgsql AS $${BODY}$$"
_HANG = f"""CREATE TRIGGER {TRIGGER} AFTER INSERT ON jobs
    FOR EACH STATEMENT EXECUTE FUNCTION souvenance_ring()"""


def hang(session: SqlSession) -> None:
    """Have every addition of work rung, if it is not yet."""
    if session.row(_HANGS) is None:
        session.run(_RING)
        session.run(_HANG)


class Listening:
    """Calls back whenever work may have been added anywhere, in a thread of its own, until it is left.

    A connection that is lost is made again, and then it calls too: something may have been missed.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection], heard: Callable[[], None]) -> None:
        self._connect = connect
        self._heard = heard

    def __enter__(self) -> bool:
        self._waking, self._wake = os.pipe()
        self._thread = threading.Thread(target=self._listen, name="souvenance-bell", daemon=True)
        self._thread.start()
        return True

    def __exit__(self, *raised: object) -> None:
        os.write(self._wake, b"\0")
        self._thread.join()
        os.close(self._waking)
        os.close(self._wake)

    def _listen(self) -> None:
        while True:
            try:
                if self._listened():
                    return
            except (SouvenanceError, psycopg.Error):
                if self._left(_RETRY_SECONDS):
                    return

    def _listened(self) -> bool:
        """Listen until it is left.

        Raises: psycopg.Error, SouvenanceError if the connection is lost or refused.
        """
        connection = self._connect()
        try:
            connection.execute(f"LISTEN {CHANNEL}".encode())
            self._heard()
            while True:
                readable, _, _ = select.select([connection.fileno(), self._waking], [], [])
                if self._waking in readable:
                    return True
                connection.pgconn.consume_input()
                if _taken(connection):
                    self._heard()
        finally:
            connection.close()

    def _left(self, seconds: float) -> bool:
        return bool(select.select([self._waking], [], [], seconds)[0])


def _taken(connection: psycopg.Connection) -> bool:
    """Whether anything was rung; all that was is taken."""
    rung = False
    while connection.pgconn.notifies() is not None:
        rung = True
    return rung
