"""The schema of a PostgreSQL store, and the one that the migrations, the wall, the bell and pgvector make.

What the migrations make is told by SQLite, which makes the same tables, columns and indexes in memory.
What belongs to an extension is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from souvenance.adapters.sql import postgres_notify as bell
from souvenance.adapters.sql import row_security
from souvenance.adapters.sql.engine import SqlSession
from souvenance.adapters.sql.schema import Object, Schema
from souvenance.adapters.sql.schema import differences as compared
from souvenance.adapters.sql.sqlite_schema import made
from souvenance.patterns import pattern
from souvenance.ports.store import Difference

_TYPES = {"TEXT": "text", "BIGINT": "bigint", "BLOB": "bytea", "INTEGER": "bigint"}
_NEAR = pattern(r"vectors_near_(\d+)")
_WORKSPACE = "workspace"
_POLICY, _ROWS = "policy", "row security"
_PRIMARY_KEY = "primary key"

_SERIAL = "INTEGER"
"""The type of a number that counts up. SQLite needs it to be the key; PostgreSQL does not."""
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
_OBJECTS = f"""WITH ours AS (
    SELECT c.oid, c.relname::text AS name, c.relkind::text AS kind,
        c.relrowsecurity AND c.relforcerowsecurity AS walled
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')),
tables AS (SELECT * FROM ours WHERE kind IN ('r', 'p'))
SELECT CASE kind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence'
    WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'type' END, name, '', kind
    FROM ours WHERE kind NOT IN ('i', 'I')
UNION ALL SELECT 'column', a.attname::text, t.name, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text)
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
UNION ALL SELECT 'index', CASE WHEN i.indisprimary THEN '{_PRIMARY_KEY}' ELSE c.relname::text END, t.name,
    concat_ws(' ', m.amname, CASE WHEN i.indisunique THEN 'unique' END,
    (SELECT string_agg(pg_get_indexdef(i.indexrelid, part, true), ', ' ORDER BY part)
        FROM generate_series(1, i.indnatts) AS part),
    'where ' || pg_get_expr(i.indpred, i.indrelid, true))
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am m ON m.oid = c.relam
UNION ALL SELECT 'trigger', g.tgname::text, t.name,
    concat_ws(' ', g.tgenabled::text, g.tgtype, g.tgqual::text, l.lanname, p.prosrc)
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
    JOIN pg_proc p ON p.oid = g.tgfoid JOIN pg_language l ON l.oid = p.prolang
UNION ALL SELECT 'rule', r.rulename::text, t.name, '' FROM tables t JOIN pg_rewrite r ON r.ev_class = t.oid
UNION ALL SELECT 'constraint', k.conname::text, t.name, '' FROM tables t JOIN pg_constraint k
    ON k.conrelid = t.oid AND k.contype NOT IN ('p', 'n')
UNION ALL SELECT 'table', h.inhrelid::regclass::text, '', 'child' FROM tables t
    JOIN pg_inherits h ON h.inhparent = t.oid
UNION ALL SELECT DISTINCT CASE v.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END,
    v.oid::regclass::text, '', 'reader'
    FROM tables t JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
    AND d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid
    JOIN pg_class v ON v.oid = r.ev_class WHERE v.relnamespace <> current_schema()::regnamespace
UNION ALL SELECT '{_POLICY}', p.policyname::text, p.tablename::text,
    concat_ws(' ', p.permissive, p.roles::text, p.cmd, p.qual, 'check ' || p.with_check)
    FROM pg_policies p WHERE p.schemaname = current_schema()
UNION ALL SELECT '{_ROWS}', 'on', name, '' FROM tables WHERE walled"""


def differences(session: SqlSession) -> list[Difference]:
    """How the schema of this database differs from the one that this version makes."""
    expected, found = _expected(), _found(session)
    tables = {one.name for one in expected if one.kind == "table"}
    found = {one: told for one, told in found.items() if not one.table or one.table in tables}
    return compared({**expected, **dict(_optional(found))}, found, (_POLICY, _ROWS))


def _found(session: SqlSession) -> dict[Object, str | None]:
    return {
        Object(kind, name, table): _plain(told) if kind == _POLICY else told.replace("::text", "").strip()
        for kind, name, table, told in session.rows(_OBJECTS)
    }


@lru_cache(1)
def _expected() -> Schema:
    return {
        **dict(made(lambda session: list(_migrated(session)))),
        Object("sequence", "jobs_seq_seq"): "S",
        Object("trigger", bell.TRIGGER, "jobs"): f"O 4 plpgsql {bell.BODY}".strip(),
    }


def _migrated(session: SqlSession) -> Iterator[tuple[Object, str]]:
    for (table,) in session.rows(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ):
        yield Object("table", table), "r"
        columns = session.rows("SELECT name, type, dflt_value, pk FROM pragma_table_info(?)", (table,))
        for name, kind, default, _ in columns:
            yield Object("column", name, table), " ".join(filter(None, (_TYPES[kind], default)))
        keyed = sorted((place, name) for name, kind, _, place in columns if place and kind != _SERIAL)
        if keyed:
            yield Object("index", _PRIMARY_KEY, table), f"btree unique {', '.join(name for _, name in keyed)}"
        yield from _indexes(session, table)
        if _WORKSPACE in {name for name, *_ in columns}:
            yield Object(_ROWS, "on", table), ""
            for name, told in row_security.policies(table):
                yield Object(_POLICY, name, table), _plain(told)


def _indexes(session: SqlSession, table: str) -> Iterator[tuple[Object, str]]:
    for name, unique, sql in session.rows(
        """SELECT l.name, l."unique", m.sql FROM pragma_index_list(?) l
        JOIN sqlite_master m ON m.name = l.name WHERE l.origin = 'c'""",
        (table,),
    ):
        parts = session.rows("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,))
        _, _, where = " ".join(sql.split()).partition(" WHERE ")
        told = ["btree", *(["unique"] if unique else []), ", ".join(part for (part,) in parts)]
        yield Object("index", name, table), " ".join([*told, *([f"where {where}"] if where else [])])


def _optional(found: Schema) -> Iterator[tuple[Object, str]]:
    """What is there only where vectors are in the clear."""
    place = Object("column", "place", "vectors")
    if place in found:
        yield place, "vector"
    for one in found:
        near = _NEAR.fullmatch(one.name)
        if near is not None and (one.kind, one.table) == ("index", "vectors"):
            size = near[1]
            yield one, f"hnsw (place::vector({size})) where vector_dims(place) = {size}"


def _plain(told: str) -> str:
    """A policy without what PostgreSQL adds when it tells one: casts, parentheses, names and spaces."""
    for added in ("::text", "AS current_setting", "(", ")", " ", "\n"):
        told = told.replace(added, "")
    return told
