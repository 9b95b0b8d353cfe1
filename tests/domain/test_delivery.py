"""Webhook signatures and the pauses between attempts."""

from __future__ import annotations

import pytest

from souvenance.domain.webhooks import retry_after_ms, sign


def test_a_signature_is_the_hmac_sha256_of_the_body_in_hex():
    """The second test case of RFC 4231."""
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert sign(b"Jefe", b"what do ya want for nothing?") == expected


def test_another_secret_or_another_body_gives_another_signature():
    made = {sign(b"a", b"body"), sign(b"b", b"body"), sign(b"a", b"bodY"), sign(b"", b"body")}
    assert len(made) == 4


def test_the_pauses_grow_for_about_an_hour_and_then_end():
    pauses = [retry_after_ms(attempt) for attempt in range(1, 9)]
    assert pauses == [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000, None, None]


@pytest.mark.parametrize("attempt", [0, -1])
def test_attempts_are_counted_from_one(attempt):
    with pytest.raises(ValueError, match="from 1"):
        retry_after_ms(attempt)
