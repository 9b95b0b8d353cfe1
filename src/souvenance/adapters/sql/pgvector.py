"""Vectors in the clear in PostgreSQL, where pgvector compares them.

They lie in the table of the sealed ones, in a column of their own. A compartment is compared line by line,
and so exactly, however many vectors others have. Only for a compartment that is very large, and has a large
share of them all, the HNSW index over all compartments is quicker. It is read on in order of nearness until
it gave enough lines of the compartment; before that takes longer than to compare them all, they are compared.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import cast

from psycopg import errors

from souvenance.adapters.sql.engine import COMPARTMENT, SqlRow, SqlSession, Values, noted_form
from souvenance.domain.embedding import AUTO, PGVECTOR, SEALED
from souvenance.domain.names import Compartment
from souvenance.domain.seal import SCALE_BYTES, unpack
from souvenance.errors import Misconfigured

SEALED_ONLY = " AND length(v.sealed) > 0"
"""What finds the sealed vectors where there may be others."""

_OLDEST = (0, 8)
_UNAVAILABLE = (errors.FeatureNotSupported, errors.UndefinedFile, errors.InsufficientPrivilege)
_MOST_INDEXED = 2000
"""The most dimensions that the index takes; vectors of more are compared line by line."""
_DEARER = 100
"""To read one entry of the index takes as long as to compare so many lines: measured, 384 dimensions."""
_LOCK = 0x6D6E656D6F6E7631
"""The lock for making an index."""

_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
_HAS_TYPE = "SELECT 1 WHERE to_regtype('vector') IS NOT NULL"
_HAS_COLUMN = """SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('vectors') AND attname = 'place'
    AND NOT attisdropped"""
_HAS_SEALED = "SELECT 1 FROM vectors WHERE length(sealed) > 0 LIMIT 1"
_KEEP = """INSERT INTO vectors (workspace, owner, namespace, space, seq, id, sealed, place)
    VALUES (?, ?, ?, ?, ?, ?, '', CAST(? AS vector))"""
_IN_COMPARTMENT = f"{COMPARTMENT} AND space = ? AND vector_dims(place) = {{size}}"
_COMPARE = f"""SELECT id, near FROM (SELECT id, -(place <#> CAST(? AS vector)) AS near FROM vectors
    WHERE {_IN_COMPARTMENT} OFFSET 0) AS compared WHERE near > 0"""
_NEAREST = f"""SELECT id, -(CAST(place AS vector({{size}})) <#> CAST(? AS vector)) FROM vectors
    WHERE {_IN_COMPARTMENT} ORDER BY CAST(place AS vector({{size}})) <#> CAST(? AS vector) LIMIT ?"""
_PLACE = f"""SELECT CAST(place AS real[]) FROM vectors
    WHERE {COMPARTMENT} AND space = ? AND id = ? AND place IS NOT NULL"""
_SHARE = f"""SELECT (SELECT COUNT(*) FROM vectors WHERE {_IN_COMPARTMENT}),
    (SELECT reltuples FROM pg_class WHERE oid = to_regclass('vectors_near_{{size}}'))"""
_INDEX = """CREATE INDEX IF NOT EXISTS vectors_near_{size} ON vectors
    USING hnsw ((CAST(place AS vector({size}))) vector_ip_ops) WHERE vector_dims(place) = {size}"""
_SCANNING = {
    "hnsw.iterative_scan": "strict_order",
    "hnsw.ef_search": "1000",
    "hnsw.max_scan_tuples": "{entries}",
}
_SET = "SELECT set_config(?, ?, true)"


def settle(session: SqlSession, asked: str | None) -> str:
    """In which form vectors are kept from now on; the store notes what it was told, and goes by that later.

    Left to the store (`AUTO`), they stay sealed where they are, and go into the clear where there are none.
    Where none will be made (None) nothing is changed. Raises: Misconfigured.
    """
    noted = noted_form(session)
    if asked is None:
        return SEALED if noted == SEALED or session.row(_HAS_COLUMN) is None else PGVECTOR
    form = asked
    if form == AUTO:
        form = noted or (PGVECTOR if session.row(_HAS_SEALED) is None else SEALED)
    if form == PGVECTOR:
        _install(session)
    if form != noted:
        session.run("DELETE FROM vector_form")
        session.run("INSERT INTO vector_form (form) VALUES (?)", (form,))
    return form


def _install(session: SqlSession) -> None:
    """Make the extension and the column, as far as they are missing. Raises: Misconfigured."""
    found = session.row(_VERSION)
    if found is None:
        try:
            session.run("CREATE EXTENSION vector")
        except _UNAVAILABLE as error:
            raise Misconfigured(
                f"the database has no pgvector: {error.diag.message_primary}",
                hint="Install pgvector on its server and run CREATE EXTENSION vector there as a superuser; "
                "or set SOUVENANCE_VECTORS=sealed to have each server compare vectors that stay sealed, "
                "or SOUVENANCE_VECTORS=none to keep none.",
            ) from None
        found = session.row(_VERSION)
    version = "" if found is None else str(found[0])
    if tuple(int(part) for part in version.split(".")[:2] if part.isdigit()) < _OLDEST:
        raise Misconfigured(
            f"the database's pgvector is {version}; 0.8.0 is the oldest",
            hint="Install a newer one on its server and run ALTER EXTENSION vector UPDATE.",
        )
    if session.row(_HAS_TYPE) is None:
        raise Misconfigured(
            "pgvector is in a schema of the database that is not looked into",
            hint="Add its schema to the search_path of the role that connects.",
        )
    if session.row(_HAS_COLUMN) is None:
        session.run("ALTER TABLE vectors ADD COLUMN place vector")


class PlainVectors:
    """The vectors of one transaction, kept in the clear and compared there."""

    form = PGVECTOR
    kept = " AND v.place IS NOT NULL"

    def __init__(self, session: SqlSession, indexed: set[int], *, dearer: float = _DEARER) -> None:
        """`indexed` is where to note of which dimensions there is an index."""
        self._session = session
        self._indexed = indexed
        self._dearer = dearer

    @property
    def comparing(self) -> PlainVectors:
        return self

    def expect(self, vectors: Collection[bytes]) -> None:
        for size in {len(packed) - SCALE_BYTES for packed in vectors}:
            if size not in self._indexed and size <= _MOST_INDEXED:
                self._index(size)

    def _index(self, size: int) -> None:
        """Make the index, if nobody did; what was made here may be undone, and so is not noted."""
        if self._session.row("SELECT 1 WHERE to_regclass(?) IS NOT NULL", (f"vectors_near_{size}",)):
            self._indexed.add(size)
            return
        with self._set("role", "none"):
            self._session.rows("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
            self._session.run(_INDEX.format(size=size))

    def keep(self, place: Values, vector: bytes) -> None:
        self._session.run(_KEEP, (*place, _literal(unpack(vector))))

    def near(
        self, compartment: Compartment, space: str, question: bytes, most: int | None = None
    ) -> list[tuple[str, float]]:
        asked = array("f", question)
        sql, values = _COMPARE.format(size=len(asked)), (_literal(asked), *compartment, space)
        if most is None:
            return cast("list[tuple[str, float]]", self._session.rows(sql, values))
        found = self._nearest(compartment, space, asked, most)
        if found is None:
            found = self._session.rows(f"{sql} ORDER BY near DESC LIMIT ?", (*values, most))
        return [(line_id, near) for line_id, near in found if near > 0]

    def place(self, compartment: Compartment, space: str, line_id: str) -> bytes | None:
        found = self._session.row(_PLACE, (*compartment, space, line_id))
        return None if found is None else array("f", found[0]).tobytes()

    def _nearest(
        self, compartment: Compartment, space: str, asked: array[float], most: int
    ) -> list[SqlRow] | None:
        """What the index gives; None if it would not give it soon, or did not."""
        size = len(asked)
        share = self._session.row(_SHARE.format(size=size), (*compartment, space))
        if share is None or share[1] is None:
            return None
        lines, entries = share[0], max(share)
        if lines * lines < self._dearer * most * entries:
            return None
        literal = _literal(asked)
        for name, value in _SCANNING.items():
            self._session.row(_SET, (name, value.format(entries=round(lines / self._dearer))))
        with self._set("enable_sort", "off"):  # A plan that sorts would not ask the index.
            found = self._session.rows(
                _NEAREST.format(size=size), (literal, *compartment, space, literal, most)
            )
        return None if len(found) < min(most, lines) else found

    @contextmanager
    def _set(self, name: str, value: str) -> Iterator[None]:
        """Have the transaction so set meanwhile; one that fails there is over anyway."""
        (before,) = self._session.row("SELECT current_setting(?)", (name,)) or ("",)
        self._session.row(_SET, (name, value))
        yield
        self._session.row(_SET, (name, before))


def _literal(components: array[float]) -> str:
    return f"[{','.join(map(repr, components))}]"
