"""Of what a capable model says of typed chat, true statements are kept, and few false ones are."""

from __future__ import annotations

from collections import Counter

import pytest

from model.statements import scenes


@pytest.fixture
def kept(thinker, endpoint):
    """How many true and false statements there are, and how many of each are kept."""
    counts = Counter()
    for scene in scenes():
        endpoint.plays(scene.reply)
        found = {one.text for one in thinker.engaged.revise(scene.reading)}
        for one in scene.stated:
            kind = "true" if one.true else "false"
            counts[kind] += 1
            counts[f"{kind} kept"] += one.text in found
    return counts


def test_true_statements_are_kept_and_false_ones_are_not(kept):
    assert kept["true"] >= 150
    assert kept["false"] >= 50
    assert kept["true kept"] >= 0.93 * kept["true"]
    assert kept["false kept"] <= 0.25 * kept["false"]
