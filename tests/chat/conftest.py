"""One server for each file of tests; each test has a workspace of its own there."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from chat.stage import a_stage


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with a_stage(tmp_path_factory.mktemp("chat") / "home") as found:
        yield found


@pytest.fixture
def stage(served):
    served.model.asked.clear()
    return replace(served, workspace=f"w-{uuid4().hex[:12]}")


@pytest.fixture
def front(stage):
    """The cap of a front-end that serves everybody."""
    return stage.front()
