"""Of what a capable model says of typed chat, true statements are kept, and few false ones are."""

from __future__ import annotations

from statements import counted


def test_true_statements_are_kept_and_few_false_ones_are():
    counts = counted()
    assert counts["true"] >= 150
    assert counts["false"] >= 50
    assert counts["true kept"] >= 0.93 * counts["true"]
    assert counts["false kept"] <= 0.3 * counts["false"]
