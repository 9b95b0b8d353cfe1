"""What people see on a terminal, and what they are asked before something is gone."""

from __future__ import annotations

import re
import stat

import pytest

from surfaces.door import souvenance
from surfaces.terminal import on_terminal

pytestmark = pytest.mark.embedded("it looks at a screen, wherever the store is")

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def walks(home):
    """The ids of five lines in a namespace, oldest first."""
    return [souvenance("put", f"walk {number}", "-n", "travel", home=home).out.strip() for number in range(5)]


def left(home):
    return len(souvenance("--json", "list", home=home).json()["lines"])


def test_forget_shows_the_count_and_the_three_newest_lines_and_asks(home, walks):
    ended, seen = on_terminal("forget", "-n", "travel", home=home, answer="n\n")
    assert ended == 130
    assert "The newest of 5 lines:" in seen
    assert [line in seen for line in walks] == [False, False, True, True, True]
    assert all(f"walk {number}" in seen for number in (2, 3, 4))
    assert "Erase 5 lines in travel for good? [y/N]" in seen
    assert "Nothing was changed." in seen
    assert left(home) == 5


def test_a_yes_on_the_terminal_erases_and_an_end_of_input_does_not(home, walks):
    assert on_terminal("forget", walks[0], home=home, answer="\x04")[0] == 130
    assert left(home) == 5
    ended, seen = on_terminal("forget", walks[0], home=home, answer="y\n")
    assert (ended, "forgot 1 line" in seen) == (0, True)
    assert left(home) == 4


@pytest.mark.parametrize("what", [("-n", "travel"), ("--owner", "owner")], ids="".join)
def test_without_a_terminal_nothing_is_erased_unless_yes_is_said(home, walks, what):
    refused = souvenance("forget", *what, home=home, exit_code=3)
    assert refused.err.startswith("confirmation_needed: there is no terminal on which to ask you: ")
    assert "erase 5 lines in travel for good?" in refused.err
    assert "--yes" in refused.err
    assert left(home) == 5
    souvenance("forget", *what, "--yes", home=home)
    assert left(home) == 0


def test_a_dry_run_shows_what_would_go_and_erases_nothing(home, walks):
    seen = souvenance("forget", "-n", "travel", "--dry-run", home=home).out.splitlines()
    assert seen[:2] == ["would erase 5 lines in travel", "The newest of 5 lines:"]
    assert [row.split()[0] for row in seen[2:]] == walks[:1:-1]
    told = souvenance("forget", walks[0], "--dry-run", "--yes", "--json", home=home).json()
    assert (told["lines"], told["dry_run"], told["newest"][0]["text"]) == (1, True, "walk 0")
    assert left(home) == 5


def test_a_receipt_is_written_to_a_new_private_file(home, walks, tmp_path):
    file = tmp_path / "receipt"
    told = souvenance("forget", walks[0], "--yes", "--receipt", str(file), "--json", home=home).json()
    assert file.read_text() == told["receipt"] + "\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_nothing_is_erased_if_the_receipt_has_no_place_and_no_receipt_stays_of_nothing(home, walks, tmp_path):
    file = tmp_path / "receipt"
    file.write_text("mine")
    souvenance("forget", walks[0], "--yes", "--receipt", str(file), home=home, exit_code=3)
    assert (left(home), file.read_text()) == (5, "mine")
    gone = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"
    souvenance("forget", gone, "--yes", "--receipt", str(tmp_path / "other"), home=home, exit_code=6)
    assert not (tmp_path / "other").exists()


def test_making_two_peers_one_is_asked_about_and_another_name_is_not(home):
    for name in ("ann", "anna"):
        cap = souvenance("cap", "mint", "--sub", name, "--ops", "put", "--namespaces", "*", home=home).out
        souvenance("put", f"{name} was here", "--cap", cap.strip(), home=home)
    refused = souvenance("rename", "ann", "anna", home=home, exit_code=3)
    assert refused.err.startswith("confirmation_needed: there is no terminal on which to ask you: ")
    assert "make ann and anna one" in refused.err
    ended, seen = on_terminal("rename", "ann", "anna", home=home, answer="n\n")
    assert (ended, "Make ann and anna one" in seen) == (130, True)
    souvenance("rename", "ann", "annika", home=home)
    souvenance("rename", "annika", "anna", "--yes", home=home)
    assert len(souvenance("list", "--peer", "anna", home=home).out.splitlines()) == 2


def test_the_owner_looks_at_a_peer_s_memory_without_minting_a_token(home):
    cap = souvenance(
        "cap", "mint", "--sub", "ann", "--ops", "put", "--namespaces", "*", home=home
    ).out.strip()
    line = souvenance("put", "Ann likes tea", "--kind", "profile", "--cap", cap, home=home).out.strip()
    for asked in (("get", "tea"), ("list",), ("snapshot",)):
        row = souvenance(*asked, "--peer", "ann", home=home).out
        assert row.startswith(f"{line}  ")
        assert row.endswith("Ann likes tea\n")
        assert souvenance(*asked, home=home).out in ("(nothing)\n", "")
    assert "Ann likes tea" in souvenance("line", line, "--peer", "ann", home=home).out
    souvenance("correct", line, "Ann likes coffee", "--peer", "ann", home=home)
    assert "coffee" in souvenance("get", "--peer", "ann", home=home).out


def test_a_token_of_one_peer_looks_at_no_other(home):
    mint = ("cap", "mint", "--ops", "put,get", "--namespaces", "*", "--sub")
    ann = souvenance(*mint, "ann", home=home).out.strip()
    souvenance("put", "Ann likes tea", "--cap", ann, home=home)
    bob = souvenance(*mint, "bob", home=home).out.strip()
    assert souvenance("get", "--peer", "ann", "--cap", bob, home=home, exit_code=5).out == ""


def test_a_token_that_does_not_grant_get_lists_lines_without_their_text(home, walks):
    cap = souvenance(
        "cap", "mint", "--sub", "owner", "--ops", "list", "--namespaces", "*", home=home
    ).out.strip()
    listed = souvenance("list", "--cap", cap, home=home).out
    assert "walk" not in listed
    assert [row.split()[0] for row in listed.splitlines()] == walks


def test_on_a_terminal_text_is_wrapped_to_its_width_and_in_colour(home):
    said = "a long walk " * 12 + "我五月二十五日到二十九日去成都旅行，打算去看大熊猫，吃火锅，喝茶。" * 2
    line = souvenance("put", said, home=home).out.strip()
    for asked in (("get", "walk"), ("list",), ("snapshot",)):
        _, seen = on_terminal(*asked, home=home, columns=50)
        assert COLOUR.search(seen)
        head, *rows = COLOUR.sub("", seen).splitlines()
        assert head.startswith(line)
        assert "".join(rows).replace(" ", "") == said.replace(" ", "")
        assert all(row.startswith("    ") for row in rows)
        assert max(len(row) + sum(one > "\u2e80" for one in row) for row in rows) <= 50


def test_no_color_is_heeded_and_a_pipe_gets_one_plain_row_for_each_line(home):
    souvenance("put", "first line\nsecond line", home=home)
    assert not COLOUR.search(on_terminal("get", home=home, NO_COLOR="1")[1])
    for asked in ("get", "list", "snapshot"):
        seen = souvenance(asked, home=home).out
        assert seen.count("\n") == 1
        assert "first line second line" in seen
        assert not COLOUR.search(seen)


@pytest.mark.parametrize("asked", ["get", "list", "snapshot"])
def test_what_a_line_says_commands_no_terminal(home, asked):
    souvenance("put", "red \x1b[31m and \x9b2J and \u202e turned", home=home)
    _, seen = on_terminal(asked, home=home, NO_COLOR="1")
    written_out = "red \\u001b[31m and \\u009b2J and \\u202e turned"
    expected = "red [31m and 2J and turned" if asked == "snapshot" else written_out
    assert expected in " ".join(seen.split())
    assert not {"\x1b", "\x9b", "\u202e"} & set(seen)


def test_get_takes_a_limit_up_to_what_the_gate_gives(home):
    for number in range(22):
        souvenance("put", f"walk {number}", home=home)
    assert len(souvenance("get", "--limit", "20", home=home).out.splitlines()) == 20
    assert "1<=x<=20" in souvenance("get", "--limit", "21", home=home, exit_code=2).err
    assert "up to 20" in souvenance("get", "--help", home=home).out
