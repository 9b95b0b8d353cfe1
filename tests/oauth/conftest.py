from __future__ import annotations

import pytest

from oauth.browser import Place


@pytest.fixture
def place():
    return Place()
