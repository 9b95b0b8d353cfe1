"""The compartments' blinded tokens and their vectors in SQL: feeds of changes that an index follows.

Up to which change all lines of a compartment have vectors is noted, so that to find those that lack one takes
as long as there are lines behind it, and not as many as there are in the compartment.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

import msgspec

from souvenance.adapters.sql.engine import (
    COMPARTMENT,
    PLACE,
    SqlRow,
    SqlSession,
    Vectors,
    as_bytes,
    insert,
    listed,
    marks,
)
from souvenance.decoders import settled
from souvenance.domain.change_feed import UNSAID, Feed, Saying, joined, packed
from souvenance.domain.names import Compartment
from souvenance.ports.index import Debt, Renewed
from souvenance.ports.store import Vector

SIZE = 256
"""How many changes a pack has."""
EVERY = 64
"""After this many changes the store checks whether a pack is full."""

_CHANGES = f"""SELECT seq, id, tokens, counts, session, turn, at FROM terms
    WHERE {COMPARTMENT} AND seq > ? AND seq <= ? ORDER BY seq"""
_LAST = (1 << 63) - 1
_PACKS = f"SELECT seq, changes FROM packs WHERE {COMPARTMENT} ORDER BY seq"
_BEFORE = f"SELECT MAX(seq) FROM packs WHERE {COMPARTMENT} AND seq < ?"
_WITH = f"SELECT MIN(seq) FROM packs WHERE {COMPARTMENT} AND seq >= ?"
_ENOUGH = f"SELECT seq FROM terms WHERE {COMPARTMENT} AND seq > ? ORDER BY seq LIMIT 1 OFFSET {SIZE - 1}"
_PACK = insert("packs", f"{PLACE}, seq, changes", f"{PLACE}, seq")


class SqlFeed:
    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def since(self, compartment: Compartment, seq: int) -> Feed:
        feeds = []
        if seq <= 0:
            with suppress(msgspec.DecodeError):  # What can't be read from a pack is read from the rows.
                for end, changes in self._session.rows(_PACKS, compartment):
                    feeds.append(msgspec.msgpack.decode(as_bytes(changes), type=settled(Feed)))
                    seq = end
        feeds.append(self._between(compartment, seq, _LAST))
        return joined(feeds)

    def extend(self, compartment: Compartment, seq: int) -> None:
        """Pack the next changes if change `seq` calls for a check and there are enough."""
        if seq % EVERY == 0:
            end = self._seq(_BEFORE, compartment, _LAST)
            last = self._session.value(_ENOUGH, (*compartment, end))
            if last is not None:
                self._pack(compartment, end, last)

    def mend(self, compartment: Compartment, changed: Collection[int]) -> None:
        """Bring the packs up to date with the rows of these changes."""
        for end in sorted({self._seq(_WITH, compartment, seq) for seq in changed} - {0}):
            self._pack(compartment, self._seq(_BEFORE, compartment, end), end)

    def _pack(self, compartment: Compartment, after: int, last: int) -> None:
        self._session.run(
            _PACK, (*compartment, last, msgspec.msgpack.encode(self._between(compartment, after, last)))
        )

    def _between(self, compartment: Compartment, after: int, last: int) -> Feed:
        return packed(self._session.rows(_CHANGES, (*compartment, after, last)))

    def _seq(self, sql: str, compartment: Compartment, seq: int) -> int:
        return self._session.value(sql, (*compartment, seq)) or 0


_TABLES = ("terms", "vectors")
_ADD = insert("terms", f"{PLACE}, seq, id, tokens, counts, session, turn, at")
_LACKING = f"""SELECT t.seq, t.id FROM terms t WHERE {COMPARTMENT} AND t.seq > ? AND t.tokens IS NOT NULL
    AND (SELECT v.seq FROM vectors v WHERE v.workspace = t.workspace AND v.owner = t.owner
    AND v.namespace = t.namespace AND v.id = t.id AND v.space = ?{{kept}}) IS NULL
    ORDER BY t.seq LIMIT ? OFFSET ?"""
_NEWEST = f"""SELECT {PLACE}, seq, id, tokens IS NOT NULL AS indexed FROM terms
    WHERE {COMPARTMENT} ORDER BY seq DESC LIMIT ?"""
_NEWEST_LACKING = f"""SELECT t.id FROM ({_NEWEST}) t WHERE t.indexed
    AND (SELECT v.seq FROM vectors v WHERE v.workspace = t.workspace AND v.owner = t.owner
    AND v.namespace = t.namespace AND v.id = t.id AND v.space = ?{{kept}}) IS NULL ORDER BY t.seq DESC"""
_PLACED = f"SELECT seq FROM embedded WHERE {COMPARTMENT} AND space = ? AND form = ?"
_REACH = insert("embedded", f"{PLACE}, space, form, seq", f"{PLACE}, space")
_INDEXED = f"SELECT id FROM terms WHERE {COMPARTMENT} AND seq > ? AND tokens IS NOT NULL AND id IN "
_NUMBERS = f"SELECT seq FROM terms WHERE {COMPARTMENT} AND id IN "
_TAKE_OUT = (
    f"DELETE FROM terms WHERE {COMPARTMENT} AND seq IN {{numbers}} AND tokens IS NOT NULL RETURNING id"
)
_WITH_ENTRIES = (
    f"SELECT id FROM terms WHERE {COMPARTMENT} AND tokens IS NOT NULL",
    f"SELECT id FROM vectors WHERE {COMPARTMENT}",
)
_VECTORS = f"""SELECT seq, id, sealed FROM vectors v
    WHERE {COMPARTMENT} AND space = ?{{kept}} AND seq > ? ORDER BY seq LIMIT ?"""
_SOME = f"SELECT {PLACE}, seq FROM vectors WHERE space = ? LIMIT ?"


class SqlTerms:
    def __init__(self, session: SqlSession, vectors: Vectors) -> None:
        self._session = session
        self._vectors = vectors
        self._feed = SqlFeed(session)
        self.comparing = vectors.comparing
        self._last: dict[Compartment, int] = {}

    def add(
        self,
        compartment: Compartment,
        line_id: str,
        tokens: bytes | None,
        counts: bytes,
        said: Saying = UNSAID,
    ) -> None:
        self._session.run(_ADD, (*compartment, self._next(compartment), line_id, tokens, counts, *said))

    def remove(self, compartment: Compartment, line_ids: Collection[str]) -> None:
        self._last[compartment] = self._end(compartment)
        for these, ids in listed(line_ids):
            numbers = [row[0] for row in self._session.rows(_NUMBERS + these, (*compartment, *ids))]
            sql = _TAKE_OUT.format(numbers=marks(numbers))
            taken = {row[0] for row in self._session.rows(sql, (*compartment, *numbers))}
            self._feed.mend(compartment, numbers)
            for removed in sorted(taken):
                self.add(compartment, removed, None, b"")
            gone = f"DELETE FROM vectors WHERE {COMPARTMENT} AND id IN {these}"
            self._session.run(gone, (*compartment, *ids))

    def delete_compartment(self, compartment: Compartment) -> None:
        self._last.pop(compartment, None)
        for table in (*_TABLES, "packs", "embedded", "reindexing"):
            self._session.run(f"DELETE FROM {table} WHERE {COMPARTMENT}", compartment)

    def _end(self, compartment: Compartment) -> int:
        """The number of the last change or vector, whatever was removed since it was looked up."""
        if compartment in self._last:
            return self._last[compartment]
        return max(self._last_of(table, compartment) for table in _TABLES)

    def _last_of(self, table: str, compartment: Compartment) -> int:
        return self._session.value(f"SELECT MAX(seq) FROM {table} WHERE {COMPARTMENT}", compartment) or 0

    def _next(self, compartment: Compartment) -> int:
        self._last[compartment] = self._end(compartment) + 1
        self._feed.extend(compartment, self._last[compartment])
        return self._last[compartment]

    def indexed(self, compartment: Compartment, line_ids: Collection[str] | None = None) -> set[str]:
        some = [(f" AND id IN {these}", ids) for these, ids in listed(line_ids or ())]
        every = [("", [])] if line_ids is None else some
        rows = (
            self._session.rows(sql + of, (*compartment, *ids)) for of, ids in every for sql in _WITH_ENTRIES
        )
        return {line_id for some in rows for (line_id,) in some}

    def since(self, compartment: Compartment, seq: int) -> Feed:
        return self._feed.since(compartment, seq)

    def lie(self, compartment: Compartment, space: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        given = dict(vectors)
        self._last[compartment] = self._end(compartment)
        for these, ids in listed(given):
            indexed = self._indexed(compartment, space, these, ids)
            sql = f"DELETE FROM vectors WHERE {COMPARTMENT} AND space = ? AND id IN {these}"
            self._session.run(sql, (*compartment, space, *ids))
            for line_id in (line_id for line_id in ids if line_id in indexed):
                self._vectors.keep((*compartment, space, self._next(compartment), line_id), given[line_id])
        lacking = self._lacking(compartment, space, 1)
        reached = lacking[0][0] - 1 if lacking else self._last_of("terms", compartment)
        self._session.run(_REACH, (*compartment, space, self._vectors.form, reached))

    def _indexed(self, compartment: Compartment, space: str, these: str, ids: Sequence[str]) -> set[str]:
        """Which of the lines are indexed. Usually all of them are among those that may lack a vector."""
        found: set[str] = set()
        for after in (self._reached(compartment, space), 0):
            if len(found) < len(ids):
                found = {row[0] for row in self._session.rows(_INDEXED + these, (*compartment, after, *ids))}
        return found

    def _reached(self, compartment: Compartment, space: str) -> int:
        """Up to which change every line has a vector, as far as that is noted."""
        return self._session.value(_PLACED, (*compartment, space, self._vectors.form)) or 0

    def vectors(
        self, compartment: Compartment, space: str, seq: int, most: int | None = None
    ) -> list[Vector]:
        sql = _VECTORS.format(kept=self._vectors.kept)
        rows = self._session.rows(sql, (*compartment, space, seq, _LAST if most is None else most))
        return [Vector(number, line_id, as_bytes(sealed)) for number, line_id, sealed in rows]

    def lacking(self, compartment: Compartment, space: str, most: int, beyond: int = 0) -> list[str]:
        return [line_id for _, line_id in self._lacking(compartment, space, most, beyond)]

    def _lacking(self, compartment: Compartment, space: str, most: int, beyond: int = 0) -> list[SqlRow]:
        sql = _LACKING.format(kept=self._vectors.kept)
        return self._session.rows(sql, (*compartment, self._reached(compartment, space), space, most, beyond))

    def newest_lacking(self, compartment: Compartment, space: str, most: int) -> list[str]:
        sql = _NEWEST_LACKING.format(kept=self._vectors.kept)
        return [row[0] for row in self._session.rows(sql, (*compartment, most, space))]

    def spaces(self) -> dict[str, int]:
        return dict(self._session.rows("SELECT space, COUNT(*) FROM vectors GROUP BY space"))

    def leave(self, space: str, most: int) -> int:
        going = self._session.rows(_SOME, (space, most))
        sql = f"DELETE FROM vectors WHERE {COMPARTMENT} AND space = ? AND seq = ?"
        for *compartment, seq in going:
            self._session.run(sql, (*compartment, space, seq))
        if going:
            self._session.run("DELETE FROM embedded WHERE space = ?", (space,))
        self._last.clear()
        return len(going)


_OWE_COMPARTMENT = insert("reindexing", f"{PLACE}, seq", conflict="ON CONFLICT DO NOTHING")
_NEXT_DEBT = f"SELECT {PLACE}, seq FROM reindexing WHERE seq >= 0"
_FIRST_DEBT = f" ORDER BY {PLACE} LIMIT 1"
_LINES_OF_DEBT = (
    f"SELECT seq, id FROM terms WHERE {COMPARTMENT} AND seq > ? AND tokens IS NOT NULL ORDER BY seq LIMIT ?"
)
_RENEW = f"""UPDATE terms SET tokens = ?, counts = ?
    WHERE {COMPARTMENT} AND seq = ? AND id = ? AND tokens IS NOT NULL"""
_RENEWED_UP_TO = f"UPDATE reindexing SET seq = ? WHERE {COMPARTMENT} AND seq < ?"
_OWED = """SELECT COUNT(*) FROM reindexing r JOIN terms t ON t.workspace = r.workspace AND t.owner = r.owner
    AND t.namespace = r.namespace AND t.seq > r.seq WHERE t.tokens IS NOT NULL"""
_COUNT_LACKING = f"""SELECT COUNT(*) FROM (SELECT DISTINCT {PLACE} FROM compartment_keys) k
    LEFT JOIN embedded e ON e.workspace = k.workspace AND e.owner = k.owner AND e.namespace = k.namespace
    AND e.space = ? AND e.form = ?
    JOIN terms t ON t.workspace = k.workspace AND t.owner = k.owner AND t.namespace = k.namespace
    AND t.seq > COALESCE(e.seq, 0) WHERE t.tokens IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM vectors v WHERE v.workspace = t.workspace AND v.owner = t.owner
    AND v.namespace = t.namespace AND v.id = t.id AND v.space = ?{{kept}})"""
_PLACES = ("workspace", "owner", "namespace")


class SqlReindexing:
    def __init__(self, session: SqlSession, vectors: Vectors) -> None:
        self._session = session
        self._vectors = vectors

    def analysis(self) -> str:
        return self._session.value("SELECT version FROM analysis") or ""

    def analyse_by(self, analysis: str) -> None:
        self._session.run("DELETE FROM analysis")
        self._session.run("INSERT INTO analysis (version) VALUES (?)", (analysis,))

    def owe(self, compartments: Collection[Compartment]) -> None:
        for compartment in compartments:
            self._session.run(_OWE_COMPARTMENT, (*compartment, 0))
            self._session.run(f"DELETE FROM embedded WHERE {COMPARTMENT}", compartment)

    def next(self, *within: str) -> Debt | None:
        found = self._session.row(_NEXT_DEBT + _narrowed(within) + _FIRST_DEBT, within)
        return None if found is None else Debt(Compartment(*found[:3]), found[3])

    def lines(self, debt: Debt, most: int) -> list[tuple[int, str]]:
        rows = self._session.rows(_LINES_OF_DEBT, (*debt.compartment, debt.seq, most))
        return [(seq, line_id) for seq, line_id in rows]

    def renew(self, compartment: Compartment, lines: Sequence[Renewed]) -> None:
        for line in lines:
            self._session.run(_RENEW, (line.tokens, line.counts, *compartment, line.seq, line.id))
        SqlFeed(self._session).mend(compartment, [line.seq for line in lines])

    def reach(self, debt: Debt) -> None:
        self._session.run(_RENEWED_UP_TO, (debt.seq, *debt.compartment, debt.seq))

    def settle(self, compartment: Compartment) -> None:
        self._session.run(f"DELETE FROM reindexing WHERE {COMPARTMENT}", compartment)

    def owed(self, *within: str) -> int:
        return self._counted(_OWED, (), within)

    def lacking(self, space: str, *within: str) -> int:
        sql, form = _COUNT_LACKING.format(kept=self._vectors.kept), self._vectors.form
        return self._counted(sql, (space, form, space), within)

    def _counted(self, sql: str, values: tuple[str, ...], within: tuple[str, ...]) -> int:
        return int(self._session.value(sql + _narrowed(within, "t."), (*values, *within)))


def _narrowed(within: tuple[str, ...], table: str = "") -> str:
    return "".join(f" AND {table}{place} = ?" for place, _ in zip(_PLACES, within, strict=False))
