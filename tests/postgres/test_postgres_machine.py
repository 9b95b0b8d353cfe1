"""The book in PostgreSQL and the book in memory, told the same things, must always say the same."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from msgspec.structs import replace

from pace import examples
from postgres.lasting import LastingConnections
from property.test_store_machine import Books
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain.directory import Task


def without_numbers(found):
    """The same without the numbers of tasks: in PostgreSQL those of an undone write are never given again."""
    if isinstance(found, Task):
        return replace(found, seq=0)
    if isinstance(found, dict):
        return {name: without_numbers(part) for name, part in found.items()}
    return [without_numbers(part) for part in found] if type(found) in (list, tuple) else found


class InPostgres(Books):
    server = None
    database = ""

    def opened(self):
        return SqlStore(LastingConnections(self.server.url(self.database)))

    def compare(self, found, expected):
        super().compare(without_numbers(found), without_numbers(expected))

    def teardown(self):
        super().teardown()
        self.server.empty(self.database)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
class TestBooksInPostgres(InPostgres.TestCase):
    settings = settings(
        max_examples=examples(8),
        stateful_step_count=8,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )

    @pytest.fixture(autouse=True)
    def _on_the_server(self, server, database):
        InPostgres.server, InPostgres.database = server, database
