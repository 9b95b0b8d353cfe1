"""A store moved to another database is the same store, or is no store yet."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from conversation.test_doctor import Life
from conversation.world import staged
from souvenance.adapters import backup
from souvenance.adapters.backup import PAGE, copy_store
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.errors import Conflict, InvalidInput, Misconfigured
from surfaces.door import souvenance

pytestmark = pytest.mark.embedded("it moves the file")


class Interrupted(Exception):
    """What a kill would be."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A book after a while of everything, with more rows of a table than a page has."""
    folder = tmp_path_factory.mktemp("lived")
    with staged(folder) as stage:
        Life(stage.owner, 12).live(60)
        stage.rest()
        for first in range(0, PAGE + 100, 100):
            stage.owner.say("long", *[f"Message {number}." for number in range(first, first + 100)])
    return folder / "book.db"


@pytest.fixture
def store(lived, tmp_path):
    shutil.copy2(lived, tmp_path / "source.db")
    return tmp_path / "source.db"


def tables(path):
    """Every row of every table."""
    with sqlite3.connect(path) as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {
            name: sorted(map(repr, database.execute(f"SELECT * FROM {name}")))
            for name in names
            if not name.startswith("sqlite_")
        }
    database.close()
    return found


def moved(source, target, report=lambda rows: None):
    one, other = SqliteEngine(source), SqliteEngine(target)
    try:
        return copy_store(one, other, watching(report))
    finally:
        one.close()
        other.close()


def watching(report):
    """Gives the report how many rows each step copied."""
    return lambda table, rows: nullcontext(SimpleNamespace(update=report))


def interrupting(after):
    """A report that ends the copy after so many steps."""
    seen = []

    def report(rows):
        seen.append(rows)
        if len(seen) == after:
            raise Interrupted

    return report


def is_open(path):
    engine = SqliteEngine(path)
    try:
        SqlStore(engine)
    except Misconfigured:
        return False
    finally:
        engine.close()
    return True


def test_every_row_of_every_table_is_there(store, tmp_path):
    counts = moved(store, tmp_path / "target.db")
    found = tables(tmp_path / "target.db")
    assert found == tables(store)
    assert counts == {name: len(rows) for name, rows in found.items() if name != "migrations"}
    assert counts["lines"] > PAGE


@pytest.mark.parametrize("after", [1, 3, 8, 13])
def test_an_interrupted_copy_is_no_store_and_is_gone_on_with(store, tmp_path, after):
    target = tmp_path / "target.db"
    with pytest.raises(Interrupted):
        moved(store, target, interrupting(after))
    assert not is_open(target)
    steps = []
    moved(store, target, steps.append)
    assert tables(target) == tables(store)
    assert is_open(target)


def test_what_was_copied_before_is_not_copied_again(store, tmp_path):
    target = tmp_path / "target.db"
    whole, rest = [], []
    moved(store, tmp_path / "other.db", whole.append)
    with pytest.raises(Interrupted):
        moved(store, target, interrupting(len(whole) - 2))
    moved(store, target, rest.append)
    assert len(rest) <= 3


def test_what_changed_in_the_source_meanwhile_is_copied_anew(store, tmp_path):
    target = tmp_path / "target.db"
    with pytest.raises(Interrupted):
        moved(store, target, interrupting(12))
    with sqlite3.connect(store) as database:
        database.execute("UPDATE audit SET outcome = 'ok' WHERE seq > 0")
        database.execute("UPDATE entries SET metadata = '{\"a\":1}'")
        database.execute("DELETE FROM citations WHERE id = (SELECT MIN(id) FROM citations)")
    database.close()
    moved(store, target)
    assert tables(target) == tables(store)


def test_a_source_that_is_written_to_meanwhile_is_told_of(store, tmp_path):
    target, written = tmp_path / "target.db", []

    def write(step):
        if not written:
            written.append(step)
            with sqlite3.connect(store, timeout=10) as database:
                database.execute(
                    "INSERT INTO audit SELECT workspace, 100000, at, actor, cap, operation, outcome,"
                    " namespaces, lines, detail, leaf FROM audit ORDER BY seq LIMIT 1"
                )
            database.close()

    with pytest.raises(Conflict, match="written to"):
        moved(store, target, write)
    assert not is_open(target)
    moved(store, target)
    assert tables(target) == tables(store)


def test_another_store_is_not_written_over(store, tmp_path):
    with staged(tmp_path) as stage:
        stage.owner.say("talk", "Mine.")
    before = tables(tmp_path / "book.db")
    with pytest.raises(Conflict, match="a store at the target"):
        moved(store, tmp_path / "book.db")
    assert tables(tmp_path / "book.db") == before
    assert is_open(tmp_path / "book.db")


def test_an_unfinished_copy_of_another_store_is_not_gone_on_with(store, tmp_path):
    with staged(tmp_path, seed=9) as stage:
        stage.owner.say("talk", "Mine.")
    target = tmp_path / "target.db"
    with pytest.raises(Interrupted):
        moved(store, target, interrupting(5))
    with pytest.raises(Conflict, match="another store"):
        moved(tmp_path / "book.db", target)


def test_a_folder_moves_with_its_keys(home, tmp_path):
    souvenance("put", "The boat is red.", home=home)
    there = tmp_path / "there"
    told = souvenance("migrate", str(home), str(there), home=home)
    assert "copied and verified, 1 line" in told.out
    assert "The boat is red." in souvenance("get", "boat", home=there).out
    assert souvenance("doctor", home=there).exit_code == 0
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in there.iterdir())
    assert souvenance("migrate", str(home), str(there), home=home, exit_code=7).out == ""


def test_a_store_moves_by_url(home, tmp_path):
    souvenance("put", "The boat is red.", home=home)
    target = tmp_path / "other.db"
    souvenance("migrate", f"sqlite:///{home / 'souvenance.db'}", f"sqlite:///{target}", home=home)
    assert tables(target) == tables(home / "souvenance.db")


@pytest.mark.parametrize("place", ["nowhere", "sqlite:///nowhere.db", "mysql://host/db"])
def test_a_place_without_a_store_is_told_of(tmp_path, place):
    with pytest.raises(InvalidInput):
        backup.move(place if "://" in place else str(tmp_path / place), str(tmp_path / "to"))
