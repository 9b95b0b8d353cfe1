"""A memory of its own for each test that takes something in."""

import pytest

from importers.exports import memory


@pytest.fixture
def mine(tmp_path):
    with memory(tmp_path / "home") as found:
        yield found
