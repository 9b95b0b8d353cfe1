"""Redaction: no text costs much more than another of its length, and none hides a secret behind its bulk."""

from __future__ import annotations

import pytest

from growth import is_within, keeps_to_length, repeated
from souvenance.agents.redaction import redact

LENGTH = 20_000
PROSE = "Ann met Ben in Porto on Monday. They walked along the river and spoke of boats. "
TIMES_PROSE = 20
"""Nearly half as much again as the dearest text costs: it finds a rule that reads a text again and again."""
PIECES = """
    key= key: key-= token: пароль: 密码: --key= AGE-SECRET-KEY-: sb_secret_: github_pat_= key='a= key:\\/
    eyJaaaaa.aaaaa.aaaaa~ ~eyJaaaaa.aaaaa.aaaaa- ya29.aaaaaaaaaaaaaaaaaaaaa. ://a:b@c ://a: a-b= monkey= a=
    authorization: bearer= xoxb-aaaaaaaaaa. SG.aaaaaaaaaaaaaaaa. dp.pt. sk-proj- hch-a. M-aaaaaaaaaaaaaaaaaaa.
"""
SPACED = (
    *("a", " ", "\n", "_", "a.", "password", "password ", "password: x ", 'password="', 'password=\\"\\'),
    *("bearer ", "token\t\t\t\t", "&token=a", "1234567890:", "iVBORw0KGgoAAAANSUhEUg+/", "ghp_sk-AKIA"),
    *("eyJ", "~eyJ", "eyJaaaaaa.eyJaaaaaa.", "[redacted: ", "-----BEGIN PRIVATE KEY-----\n"),
    "key ",
    "key = ",
    "--key ",
    "the password is (x) ",
    'password="\\ ',
    "token aB3dE5fG7hI9jK1lM3 ",
    "AKIAAAAAAAAAAAAAAAAA ",
    "-----BEGIN PRIVATE KEY-----\naaaaaaaaaaaaaaaa\n",
    "[redacted: aws key]",
    "Private-Lines: 1\naaaaaaaaaaaaaaaa ",
)


@pytest.mark.parametrize("piece", [*PIECES.split(), *SPACED])
def test_no_text_costs_much_more_than_prose_of_its_length(piece):
    assert is_within(redact, repeated(piece, LENGTH), TIMES_PROSE, repeated(PROSE, LENGTH))


@pytest.mark.parametrize("piece", [*PIECES.split(), *SPACED])
def test_the_time_it_takes_grows_with_the_text_alone(piece):
    assert keeps_to_length(redact, piece, short=LENGTH, times=10)


@pytest.mark.parametrize("filling", ["key=x ", "my key is old. ", "--key x ", "://a:$b@c ", "password: $x\n"])
@pytest.mark.parametrize(
    "secret",
    [
        "DB_PASSWORD=hunter22x",
        "the token is aB3dE5fG7hI9jK1lM3nO5",
        "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "https://ann:hunter22x@example.com",
        "--password hunter22x",
    ],
)
def test_a_secret_behind_very_many_places_that_are_none_is_redacted_still(filling, secret):
    said = secret.rpartition("=")[2].rpartition(" ")[2].removeprefix("https://ann:").partition("@")[0]
    told = redact(f"{repeated(filling, 100_000)} {secret} ")
    assert said not in told
    assert "[redacted:" in told
