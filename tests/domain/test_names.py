from __future__ import annotations

import pytest

from souvenance.domain import names
from souvenance.errors import InvalidInput


@pytest.mark.parametrize("name", ["a", "7", "personal", "work.2024", "a-b_c.d", "0day", "a" * 64])
def test_a_namespace_of_plain_letters_and_digits_is_a_namespace(name):
    assert names.namespace(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "*",
        "Work",
        "WORK",
        "wörk",
        "работа",
        "two words",
        " work",
        "work ",
        "work\n",
        "work\0",
        ".hidden",
        "-dash",
        "_low",
        "a/b",
        "a\\b",
        "..",
        "a" * 65,
        "\N{FULLWIDTH LATIN SMALL LETTER A}",
        "ａ",
        "٣",
        "\ud800",
        "\x7f",
    ],
)
def test_anything_else_is_no_namespace(name):
    with pytest.raises(InvalidInput, match="namespace must be"):
        names.namespace(name)


@pytest.mark.parametrize("name", ["a", "memory", "profile", "tool-call", "x_1", "a" * 32])
def test_a_kind_of_plain_letters_is_a_kind(name):
    assert names.kind(name) == name


@pytest.mark.parametrize(
    "name", ["", "*", "Memory", "1st", "-x", "_x", "a.b", "a b", "é", "a" * 33, "a\n", "a\0"]
)
def test_anything_else_is_no_kind(name):
    with pytest.raises(InvalidInput, match="kind must be"):
        names.kind(name)


@pytest.mark.parametrize(
    "name", ["a", "Ann", "ann@corp.io", "Ünal 会", "two words", "**", "🗂", "👩\u200d💻", "a" * 512]
)
def test_people_sessions_and_workspaces_are_named_as_they_like(name):
    assert names.name(name, "sub") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "*",
        " ann",
        "ann ",
        "\N{NO-BREAK SPACE}ann",
        "ann\N{IDEOGRAPHIC SPACE}",
        "\n",
        "a\0b",
        "a\nb",
        "a\x1bb",
        "a\x7fb",
        "a\x85b",
        "a\N{LINE SEPARATOR}b",
        "a\N{PARAGRAPH SEPARATOR}b",
        "a\ud800b",
        "ann\N{ZERO WIDTH SPACE}",
        "\N{ZERO WIDTH NO-BREAK SPACE}ann",
        "ann\N{WORD JOINER}",
        "a" * 513,
    ],
)
def test_a_name_that_could_hide_or_pad_something_is_refused(name):
    with pytest.raises(InvalidInput, match="sub "):
        names.name(name, "sub")


def test_names_are_never_folded():
    spellings = ["Ann", "ann", "ANN", "a\N{LATIN SMALL LETTER N WITH TILDE}n", "an\N{COMBINING TILDE}n"]
    assert [names.name(one, "sub") for one in spellings] == spellings
