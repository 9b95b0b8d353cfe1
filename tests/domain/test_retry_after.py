"""Retry-After in its two forms, and in none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.http_client import seconds_to_wait

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        ("30", 30),
        ("0", 0),
        ("99999", 3600),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 61),
        ("Tue, 14 Nov 2023 20:00:00 GMT", 1),
        ("Wed, 14 Nov 2029 20:00:00 GMT", 3600),
        ("", 1),
        ("soon", 1),
        ("-5", 1),
        ("٣", 1),
    ],
)
def test_a_wait_is_read_and_bounded(told, seconds):
    assert seconds_to_wait(told, now=NOW, most=3600) == seconds


@given(st.text(max_size=40))
def test_whatever_is_told_is_a_bounded_wait(told):
    assert 0 <= seconds_to_wait(told, now=NOW, most=3600) <= 3600
