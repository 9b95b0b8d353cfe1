"""A model is asked once for a session, whether its messages come at once or one by one."""

from __future__ import annotations

from argparse import Namespace

import pytest

from model_cost import WAYS, measure
from people import SCENES, people


@pytest.mark.parametrize("way", WAYS[:2])
def test_a_session_costs_one_call(way):
    person = people(SCENES)[0]
    counts = measure(person, way, Namespace(url=None, name="stand-in"))
    assert counts["calls"] == len(person.sessions)
    assert counts["tokens in"] > 0
