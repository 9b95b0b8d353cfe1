"""The index of a house on a book in PostgreSQL."""

from __future__ import annotations

import pytest

from mnemon.adapters.index.ranked import RankedIndex
from mnemon.adapters.inmemory.index import ReferenceIndex
from mnemon.adapters.sql.book import SqlBook
from mnemon.adapters.sql.postgres import PostgresEngine
from mnemon.testing.index_contract import IndexContract


class TestRankedIndexOverPostgres(IndexContract):
    @pytest.fixture
    def reference(self):
        return ReferenceIndex()

    @pytest.fixture
    def index(self):
        return RankedIndex()

    @pytest.fixture
    def book(self, url):
        book = SqlBook(PostgresEngine(url))
        yield book
        book.close()
