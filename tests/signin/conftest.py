from __future__ import annotations

import pytest

from signin.browser import Place


@pytest.fixture
def place():
    return Place()
