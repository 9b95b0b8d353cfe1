"""Every key and index of what belongs to workspaces begins with the workspace, in both databases.

So a database that is spread over machines can keep each workspace in one place. One does not: a sign-in
is looked up before it is known which workspace it is for.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing

from contracts.store_scenes import COMPARTMENT, fill
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.embedding import PGVECTOR

TABLES = """SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'workspace'"""
INDEXES = """SELECT t.relname, x.relname, (SELECT attname FROM pg_attribute
        WHERE attrelid = t.oid AND attnum = i.indkey[0])
    FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    WHERE t.relnamespace = 'public'::regnamespace"""


def not_by_workspace(indexes):
    """The indexes that begin with another column, by table and name."""
    return {(table, index) for table, index, first in indexes if first != "workspace"}


def test_in_postgresql_all_but_sign_ins_begin_with_the_workspace(server, bare):
    store = SqlStore(PostgresEngine(server.url(bare), vectors=PGVECTOR))
    with store.write() as tx:
        fill(tx, COMPARTMENT)
    store.close()
    with server.connected(bare) as connection:
        tables = {table for (table,) in connection.execute(TABLES)}
        indexes = [row for row in connection.execute(INDEXES) if row[0] in tables]
    assert {table for table, *_ in indexes} == tables
    assert {table for table, _ in not_by_workspace(indexes)} == {"signins"}


def test_in_sqlite_all_but_sign_ins_begin_with_the_workspace(tmp_path):
    SqlStore(SqliteEngine(tmp_path / "book.db")).close()
    with closing(sqlite3.connect(tmp_path / "book.db")) as store:
        tables = store.execute(
            """SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND c.name = 'workspace'"""
        ).fetchall()
        indexes = [
            (table, index, store.execute(f"PRAGMA index_info({index})").fetchone()[2])
            for (table,) in tables
            for _, index, *_ in store.execute(f"PRAGMA index_list({table})").fetchall()
        ]
    assert {table for table, *_ in indexes} == {table for (table,) in tables}
    assert {table for table, _ in not_by_workspace(indexes)} == {"signins"}
