"""One server for each file of tests; the tests keep apart by acting for different people."""

from __future__ import annotations

from uuid import uuid4

import pytest

from mcp_door.served import hosted


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with hosted(tmp_path_factory.mktemp("served") / "home") as server:
        yield server


@pytest.fixture
def name():
    """The name of a person that no other test knows."""
    return f"person-{uuid4().hex[:12]}"


@pytest.fixture
def other():
    return f"other-{uuid4().hex[:12]}"
