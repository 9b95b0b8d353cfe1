"""The index of a house on a book in PostgreSQL."""

from __future__ import annotations

import pytest

from contracts.index_contract import IndexContract
from postgres.lasting import LastingConnections
from reference.index import ReferenceIndex
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.adapters.sql.store import SqlStore


class TestRankedIndexOverPostgres(IndexContract):
    @pytest.fixture
    def reference(self):
        return ReferenceIndex()

    @pytest.fixture
    def index(self):
        return RankedIndex()

    @pytest.fixture
    def store(self, url):
        store = SqlStore(LastingConnections(url))
        yield store
        store.close()
