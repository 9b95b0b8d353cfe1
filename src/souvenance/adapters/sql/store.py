"""The book in SQL: one set of statements, any engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from souvenance.adapters.sql.audit import SqlAudit
from souvenance.adapters.sql.caps import SqlCaps
from souvenance.adapters.sql.counters import SqlCounters
from souvenance.adapters.sql.directory import SqlRegister
from souvenance.adapters.sql.engine import Engine, SqlSession
from souvenance.adapters.sql.keys import SqlKeys
from souvenance.adapters.sql.lines import SqlLines
from souvenance.adapters.sql.migrations import migrate
from souvenance.adapters.sql.replication import SqlReplication
from souvenance.adapters.sql.terms import SqlTerms
from souvenance.domain.names import ALL
from souvenance.errors import SchemaUnknown
from souvenance.ports.store import ChangeMarks, Difference

if TYPE_CHECKING:
    from souvenance.adapters.sql.jobs import SqlWork
    from souvenance.adapters.sql.reindexing import SqlRenewal
    from souvenance.adapters.sql.sign_ins import SqlSignIns

_SCRUB = "scrub"
_NEXT_WORKSPACE = "SELECT workspace FROM audit WHERE workspace > ? ORDER BY workspace LIMIT 1"
_SETTLE = """INSERT INTO installation (instance)
    SELECT CAST(? AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM installation)"""
_MOST_USES = 1000
"""After so many transactions what one remembers is dropped, so that it stays small."""


class SqlTransaction:
    """What only some transactions need is loaded when it is first asked for."""

    def __init__(self, session: SqlSession, engine: Engine) -> None:
        self.uses = 0
        self._session = session
        self._engine = engine
        self._vectors = vectors = engine.vectors(session)
        self._counters = SqlCounters(session)
        self.lines = SqlLines(session)
        self.terms = SqlTerms(session, vectors)
        self.keys = SqlKeys(session, self._counters)
        self.caps = SqlCaps(session)
        self.audit = SqlAudit(session)
        self.register = SqlRegister(session)
        self.replication = SqlReplication(session, self._counters)

    @cached_property
    def work(self) -> SqlWork:
        from souvenance.adapters.sql.jobs import SqlWork

        return SqlWork(self._session)

    @cached_property
    def renewal(self) -> SqlRenewal:
        from souvenance.adapters.sql.reindexing import SqlRenewal

        return SqlRenewal(self._session, self._vectors)

    @cached_property
    def signins(self) -> SqlSignIns:
        from souvenance.adapters.sql.sign_ins import SqlSignIns

        return SqlSignIns(self._session)

    def marks(self, workspace: str) -> ChangeMarks:
        values = self._counters.values(workspace)
        return ChangeMarks(values.get("caps", 0), values.get("compartments", 0))

    def touch(self, workspace: str, *, caps: bool = False, compartments: bool = False) -> None:
        if caps:
            self._counters.increase(workspace, "caps")
        if compartments:
            self._counters.increase(workspace, "compartments")

    def workspaces(self) -> Sequence[str]:
        found: list[str] = []
        while row := self._session.row(_NEXT_WORKSPACE, (found[-1] if found else "",)):
            found.append(row[0])
        return found

    def differences(self) -> list[Difference]:
        return self._engine.differences(self._session)

    def owe_scrub(self) -> None:
        for found in self.differences():
            if found.foreign:
                raise _unknown(found)
        self._counters.increase(ALL, _SCRUB)

    def owed_scrubs(self) -> int:
        return self._counters.values(ALL).get(_SCRUB, 0)

    def settle_scrub(self, owed: int) -> None:
        """Nothing is owed any more, unless something was deleted meanwhile."""
        if self.owed_scrubs() == owed:
            self._counters.reset(ALL, _SCRUB)


def _unknown(found: Difference) -> SchemaUnknown:
    remedy = f" If it is not yours, remove it: {found.remedy}" if found.remedy else ""
    return SchemaUnknown(
        f"the store may keep copies of what is deleted: {found.text}",
        hint=f"Nothing was deleted. Run 'souvenance doctor' and look at what it names.{remedy}",
    )


class _Opened:
    """A transaction over an engine's session."""

    __slots__ = ("_engine", "_managed")

    def __init__(self, managed: AbstractContextManager[SqlSession], engine: Engine) -> None:
        self._managed = managed
        self._engine = engine

    def __enter__(self) -> SqlTransaction:
        session = self._managed.__enter__()
        tx: SqlTransaction | None = session.attached
        if tx is None or not session.unchanged or tx.uses == _MOST_USES:
            tx = session.attached = SqlTransaction(session, self._engine)
        tx.uses += 1
        return tx

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._managed.__exit__(kind, error, trace)


class SqlStore:
    def __init__(self, engine: Engine) -> None:
        """Raises: Misconfigured if the store belongs to another version."""
        self._engine = engine
        with ExitStack() as otherwise:
            otherwise.callback(engine.close)
            migrate(engine)
            otherwise.pop_all()

    def read(self, workspace: str = ALL) -> _Opened:
        return _Opened(self._engine.read(workspace), self._engine)

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> _Opened:
        return _Opened(self._engine.write(workspace, lasting=lasting), self._engine)

    def claim(self) -> _Opened:
        return _Opened(self._engine.claim(), self._engine)

    def listening(self, heard: Callable[[], None]) -> AbstractContextManager[bool]:
        """Call back meanwhile when another process may have added work; whether the database can tell."""
        return self._engine.listening(heard)

    def instance(self) -> str | None:
        """The installation that the store belongs to; None if it is nobody's yet."""
        with self._engine.read() as session:
            found = session.row("SELECT instance FROM installation")
        return None if found is None else str(found[0])

    def settle(self, instance: str) -> str:
        """Let a store that is nobody's yet belong to the installation; whose it is now."""
        with self._engine.write() as session:
            session.run(_SETTLE, (instance,))
            found = session.row("SELECT instance FROM installation")
        return instance if found is None else str(found[0])

    def scrub(self) -> bool:
        owed = self._owed()
        if not self._engine.reclaim():
            return False
        with self.write() as tx:
            tx.settle_scrub(owed)
        return True

    def scrub_pending(self) -> bool:
        return self._owed() > 0

    def _owed(self) -> int:
        with self.read() as tx:
            return tx.owed_scrubs()

    def close(self) -> None:
        self._engine.close()
