"""Stages in this process, and servers in processes of their own."""

from __future__ import annotations

import pytest

from conversation.world import staged


@pytest.fixture
def stage(tmp_path):
    """A stage on a real file."""
    with staged(tmp_path) as stage:
        yield stage


@pytest.fixture
def owner(stage):
    """Whoever may do everything, in the workspace 'w'."""
    return stage.owner
