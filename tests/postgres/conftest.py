"""A server for the whole run of a test process, and a database of its own for each test."""

from __future__ import annotations

import pytest

from postgres.server import Server
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.store import SqlStore


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    shared = tmp_path_factory.getbasetemp().parent
    server = Server(shared)
    yield server
    server.remove()


@pytest.fixture(scope="session")
def migrated(server):
    """A database with a book, whichever test it was used by last."""
    name = server.create()
    SqlStore(PostgresEngine(server.url(name))).close()
    return name


@pytest.fixture
def database(server, migrated):
    """The name of a database with an empty book."""
    server.empty(migrated)
    return migrated


@pytest.fixture
def bare(server):
    """The name of a database with nothing in it."""
    name = server.create()
    yield name
    server.drop(name)


@pytest.fixture
def url(server, database):
    return server.url(database)
