from __future__ import annotations

import pytest

from mnemon.adapters.reason.extractive import Extractive
from mnemon.testing.reasoner_contract import WordForWordContract


class TestExtractive(WordForWordContract):
    @pytest.fixture
    def reasoner(self):
        return Extractive()
