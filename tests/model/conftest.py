"""A stand-in for a model, and a reasoner that asks it."""

from __future__ import annotations

import pytest

from model.stage import thinking_stage
from model.stand_in import a_stand_in
from model.world import Thinker


@pytest.fixture
def endpoint():
    with a_stand_in() as found:
        yield found


@pytest.fixture
def thinker(endpoint, tmp_path):
    """The reasoner that asks it, with everything else in the test's hands."""
    return Thinker(endpoint, tmp_path)


@pytest.fixture
def stage(thinker, tmp_path):
    with thinking_stage(tmp_path, thinker) as found:
        yield found


@pytest.fixture
def owner(stage):
    """Whoever may do everything, in the workspace 'w'."""
    return stage.owner
