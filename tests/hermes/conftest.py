"""Where people sign in."""

from __future__ import annotations

import pytest

from hermes.authority import Authority


@pytest.fixture
def authority():
    made = Authority()
    yield made
    made.close()
