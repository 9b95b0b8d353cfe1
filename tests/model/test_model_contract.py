"""The model keeps the contract of every reasoner, as far as its model is honest."""

from __future__ import annotations

import pytest

from mnemon.testing.reasoner_contract import ReasonerContract
from model.brain import honest


class TestModel(ReasonerContract):
    @pytest.fixture
    def reasoner(self, thinker, endpoint):
        endpoint.plays(honest)
        return thinker.engaged
