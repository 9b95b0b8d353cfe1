"""What still stands of what was said about a peer."""

from __future__ import annotations

import pytest

from souvenance.domain.current_facts import Correction, Stand, corrected


@pytest.mark.parametrize(
    ("trait", "before", "after", "expected"),
    [
        ("Lives in: Berlin", "alice lives in Berlin", "alice lives in Paris", "Lives in: Paris"),
        ("Lives in: Berlin", "alice lives in Berlin", "Alice lives in Paris.", "Lives in: Paris"),
        ("Pet: Rex (dog)", "alice has a dog, Rex", "alice has a dog, Max", "alice has a dog, Max"),
        ("Lives in: Berlin", "alice lives in Berlin", "Lives in: Paris", "Lives in: Paris"),
        ("Age: 30", "alice is 30 years old", "alice is 31 years old", "Age: 31"),
        ("Age: 30", "alice is 30 years old", "alice retired", "alice retired"),
        ("likes tea", "alice likes tea", "alice likes coffee", "alice likes coffee"),
    ],
)
def test_a_correction_puts_its_value_into_the_trait_or_else_its_sentence(trait, before, after, expected):
    stand = Stand(trait, "old", "m", "s", 1, 5)
    right = corrected(stand, Correction("new", before, after))
    assert (right.text, right.source, right.when[:3]) == (expected, "new", stand.when[:3])
