"""The renewal of tokens in SQL."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from souvenance.adapters.sql.change_feed import SqlFeed
from souvenance.adapters.sql.engine import COMPARTMENT, SqlSession, Vectors
from souvenance.domain.names import Compartment
from souvenance.ports.reindexing import Debt, Renewed

_OWE = """INSERT INTO reindexing (workspace, owner, namespace, seq) VALUES (?, ?, ?, 0)
    ON CONFLICT (workspace, owner, namespace) DO NOTHING"""
_NEXT = "SELECT workspace, owner, namespace, seq FROM reindexing WHERE seq >= 0"
_FIRST = " ORDER BY workspace, owner, namespace LIMIT 1"
_LINES = (
    f"SELECT seq, id FROM terms WHERE {COMPARTMENT} AND seq > ? AND tokens IS NOT NULL ORDER BY seq LIMIT ?"
)
_RENEW = f"""UPDATE terms SET tokens = ?, counts = ?
    WHERE {COMPARTMENT} AND seq = ? AND id = ? AND tokens IS NOT NULL"""
_REACH = f"UPDATE reindexing SET seq = ? WHERE {COMPARTMENT} AND seq < ?"
_OWED = """SELECT COUNT(*) FROM reindexing r JOIN terms t ON t.workspace = r.workspace AND t.owner = r.owner
    AND t.namespace = r.namespace AND t.seq > r.seq WHERE t.tokens IS NOT NULL"""
_LACKING = """SELECT COUNT(*) FROM terms t WHERE t.tokens IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM vectors v WHERE v.workspace = t.workspace AND v.owner = t.owner
    AND v.namespace = t.namespace AND v.id = t.id AND v.space = ?{kept})"""
_PLACES = ("workspace", "owner", "namespace")


class SqlRenewal:
    def __init__(self, session: SqlSession, vectors: Vectors) -> None:
        self._session = session
        self._vectors = vectors

    def analysis(self) -> str:
        found = self._session.row("SELECT version FROM analysis")
        return "" if found is None else str(found[0])

    def analyse_by(self, analysis: str) -> None:
        self._session.run("DELETE FROM analysis")
        self._session.run("INSERT INTO analysis (version) VALUES (?)", (analysis,))

    def owe(self, compartments: Collection[Compartment]) -> None:
        for compartment in compartments:
            self._session.run(_OWE, compartment)
            self._session.run(f"DELETE FROM embedded WHERE {COMPARTMENT}", compartment)

    def next(self, *within: str) -> Debt | None:
        found = self._session.row(_NEXT + _narrowed(within) + _FIRST, within)
        return None if found is None else Debt(Compartment(*found[:3]), found[3])

    def lines(self, debt: Debt, most: int) -> list[tuple[int, str]]:
        return [
            (seq, line_id) for seq, line_id in self._session.rows(_LINES, (*debt.compartment, debt.seq, most))
        ]

    def renew(self, compartment: Compartment, lines: Sequence[Renewed]) -> None:
        for line in lines:
            self._session.run(_RENEW, (line.tokens, line.counts, *compartment, line.seq, line.id))
        SqlFeed(self._session).mend(compartment, [line.seq for line in lines])

    def reach(self, debt: Debt) -> None:
        self._session.run(_REACH, (debt.seq, *debt.compartment, debt.seq))

    def settle(self, compartment: Compartment) -> None:
        self._session.run(f"DELETE FROM reindexing WHERE {COMPARTMENT}", compartment)

    def owed(self, *within: str) -> int:
        return self._counted(_OWED, (), within)

    def lacking(self, space: str, *within: str) -> int:
        return self._counted(_LACKING.format(kept=self._vectors.kept), (space,), within)

    def _counted(self, sql: str, values: tuple[str, ...], within: tuple[str, ...]) -> int:
        found = self._session.row(sql + _narrowed(within, "t."), (*values, *within))
        return 0 if found is None else int(found[0])


def _narrowed(within: tuple[str, ...], table: str = "") -> str:
    return "".join(f" AND {table}{place} = ?" for place, _ in zip(_PLACES, within, strict=False))
