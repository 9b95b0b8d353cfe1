from __future__ import annotations

import pytest

from mnemon.adapters.index.bm25 import Bm25Index
from mnemon.adapters.inmemory.book import MemoryBook
from mnemon.adapters.inmemory.index import ReferenceIndex
from mnemon.adapters.sql.book import SqlBook
from mnemon.adapters.sql.sqlite import SqliteEngine
from mnemon.testing.index_contract import TEA, TRAVEL, WORK, IndexContract, about, index_lines, search


class Contract(IndexContract):
    @pytest.fixture
    def reference(self):
        return ReferenceIndex()

    @pytest.fixture
    def book(self):
        return MemoryBook()


class TestReferenceIndex(Contract):
    @pytest.fixture
    def index(self):
        return ReferenceIndex()


class TestBm25Index(Contract):
    @pytest.fixture
    def index(self):
        return Bm25Index()


class TestBm25IndexOverSqlite(Contract):
    @pytest.fixture
    def index(self):
        return Bm25Index()

    @pytest.fixture
    def book(self, tmp_path):
        book = SqlBook(SqliteEngine(tmp_path / "book.db"))
        yield book
        book.close()


class TestBm25IndexThatCanCacheNothing(Contract):
    @pytest.fixture
    def index(self):
        return Bm25Index(cache_bytes=0)


class Followed:
    """A transaction that notes which rooms are read from their beginning."""

    def __init__(self, tx):
        self._tx = tx
        self.marks = tx.marks
        self.terms = self
        self.loaded = []

    def since(self, room, seq):
        if seq <= 0:
            self.loaded.append(room)
        return self._tx.terms.since(room, seq)


def test_the_room_asked_about_longest_ago_is_the_first_to_be_dropped():
    book = MemoryBook()
    rooms = [WORK, TRAVEL, WORK._replace(owner="bob")]
    for room in rooms:
        index_lines(book, room, *[{TEA: 1}] * 8)

    def loaded(cache_bytes, *order):
        index = Bm25Index(cache_bytes=cache_bytes)
        with book.read() as tx:
            following = Followed(tx)
            for asked in order:
                index.search(following, [about(TEA, room=rooms[asked])], 20)
        return following.loaded

    room_for_two = next(size for size in range(0, 1 << 16, 64) if loaded(size, 0, 1, 0, 1) == rooms[:2])
    assert loaded(room_for_two, 0, 1, 0, 2, 0, 2) == rooms


def test_a_room_larger_than_the_cache_is_searched_all_the_same():
    book, index = MemoryBook(), Bm25Index(cache_bytes=1)
    for room in (WORK, TRAVEL):
        index_lines(book, room, *[{TEA: 1}] * 8)
    for _ in range(2):
        assert len(search(book, index, about(TEA), about(TEA, room=TRAVEL))) == 16
