"""How a database becomes a store, and when it is refused."""

from __future__ import annotations

import sys

import pytest

from contracts.store_scenes import append, log, sealed_line
from contracts.threads import in_many_threads
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.schema import shipped
from souvenance.adapters.sql.store import SqlStore
from souvenance.config import settings_from
from souvenance.errors import Misconfigured
from souvenance.installation import open_installation

KNOWN = [migration.name for migration in shipped()]


def applied(server, database):
    with server.connected(database) as connection:
        return [
            name for (name,) in connection.execute("SELECT name FROM migrations ORDER BY number").fetchall()
        ]


def test_processes_that_open_an_empty_database_at_once_migrate_it_once(server, bare):
    def open_it(url, thread):
        store = SqlStore(PostgresEngine(url))
        append(store, sealed_line(f"line {thread}"))
        store.close()

    in_many_threads([server.url(bare)] * 4, open_it)
    assert applied(server, bare) == KNOWN
    store = SqlStore(PostgresEngine(server.url(bare)))
    with store.read() as tx:
        assert len(tx.lines.compartments()) == 1
    store.close()


def test_a_database_of_a_newer_version_is_refused_and_left_alone(server, bare):
    SqlStore(PostgresEngine(server.url(bare))).close()
    with server.connected(bare) as connection:
        connection.execute("INSERT INTO migrations VALUES (99, '0099_from_tomorrow.sql', 'hash')")
    with pytest.raises(Misconfigured, match="0099_from_tomorrow"):
        SqlStore(PostgresEngine(server.url(bare)))
    assert applied(server, bare) == [*KNOWN, "0099_from_tomorrow.sql"]


def test_a_migration_that_fails_leaves_nothing_behind(server, bare):
    with server.connected(bare) as connection:
        connection.execute("CREATE TABLE vectors (somebody_elses TEXT)")
    with pytest.raises(Exception, match="vectors"):
        SqlStore(PostgresEngine(server.url(bare)))
    with server.connected(bare) as connection:
        assert server.tables(connection) == {"vectors"}


def test_a_store_keeps_what_it_has_when_it_is_opened_again(url):
    for n in range(2):
        store = SqlStore(PostgresEngine(url))
        append(store, sealed_line(f"line {n}"))
        assert log(store) == []
        store.close()


def test_a_database_without_the_driver_is_refused_with_what_to_install(monkeypatch, home):
    for name in [
        name for name in sys.modules if name.startswith(("psycopg", "souvenance.adapters.sql.postgres"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Misconfigured) as refused:
        open_installation(settings_from({"SOUVENANCE_STORE": "postgresql://h/b"}, str(home)))
    assert "souvenance[postgres]" in refused.value.hint
