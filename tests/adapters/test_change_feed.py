"""The changes of a long room in SQL: most are kept many to a row, and a room is read from those."""

import sqlite3

import pytest

from contracts.store_scenes import COMPARTMENT, changes_since, numbered
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.adapters.sql.terms import EVERY, SIZE

LINES = 1000


@pytest.fixture
def file(tmp_path):
    return tmp_path / "book.db"


@pytest.fixture
def store(file):
    store = SqlStore(SqliteEngine(file))
    yield store
    store.close()


def talk(store, lines=LINES):
    """Lines as a conversation brings them, each of which gets its vector soon after."""
    for n in range(lines):
        with store.write(lasting=False) as tx:
            tx.terms.add(COMPARTMENT, numbered(n, 0), b"tokens", b"\x01")
            tx.terms.lie(COMPARTMENT, "space", [(numbered(n, 0), b"vector")])


def ask(file, sql, *values):
    with sqlite3.connect(file) as connection:
        found = connection.execute(sql, values).fetchall()
    connection.close()
    return found


def test_all_but_the_last_changes_are_in_packs(store, file):
    talk(store)
    packs = [seq for (seq,) in ask(file, "SELECT seq FROM packs ORDER BY seq")]
    assert len(packs) == LINES // SIZE
    assert len([one for one in changes_since(store, 0) if one.seq > packs[-1]]) < SIZE + EVERY


def test_a_compartment_is_read_from_its_packs(store, file):
    talk(store)
    before = changes_since(store, 0)
    ask(file, "DELETE FROM terms WHERE seq <= (SELECT MAX(seq) FROM packs)")
    assert changes_since(store, 0) == before


def test_a_compartment_that_was_filled_before_there_were_packs_gets_them_little_by_little(store, file):
    talk(store)
    ask(file, "DELETE FROM packs")
    talk(store, EVERY)
    assert len(ask(file, "SELECT seq FROM packs")) == 2


@pytest.mark.parametrize("damage", [b"", b"\xc1", b"\x81\xa4seqs\xa1x", "text", 7])
def test_what_a_damaged_pack_said_is_read_from_the_rows(store, file, damage):
    talk(store)
    before = changes_since(store, 0)
    (_, second, *_) = (seq for (seq,) in ask(file, "SELECT seq FROM packs ORDER BY seq"))
    ask(file, "UPDATE packs SET changes = ? WHERE seq = ?", damage, second)
    assert changes_since(store, 0) == before
