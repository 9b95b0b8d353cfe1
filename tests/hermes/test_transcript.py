"""Which letters are taken back, from what the host tells of a conversation."""

import pytest

from souvenance.hermes.delivery import HeardMessages, Transcript


def conversation(said):
    """One in which each letter of the alphabet was said, and brought by a letter of the same name."""
    made = Transcript(HeardMessages(b"salt"))
    for place, text in enumerate(said):
        assert made.goes_on(said[:place]) == []
        made.wrote((f"{text}{place}",), text)
    return made


def test_nothing_is_gone_from_a_conversation_that_goes_on():
    assert conversation("abc").goes_on("abc") == []


@pytest.mark.parametrize("undone", [None, "abcxyz"])
@pytest.mark.parametrize(
    "said, left, gone",
    [
        ("abc", "ab", ["c2"]),
        ("abc", "a", ["b1", "c2"]),
        ("abc", "", ["a0", "b1", "c2"]),
        ("aba", "ab", ["a2"]),
        ("aaa", "aa", ["a2"]),
        ("aaa", "a", ["a1", "a2"]),
    ],
)
def test_what_is_cut_off_is_gone_if_the_host_tells_of_an_undo_or_has_it_down_as_undone(
    said, left, gone, undone
):
    talk = conversation(said)
    if undone is None:
        talk.rewind()
    assert talk.goes_on(left, lambda: undone) == gone
    assert talk.goes_on(left, lambda: undone) == []


def test_what_is_said_again_in_its_own_place_is_gone():
    talk = conversation("abc")
    assert talk.goes_on("ab", following="c") == ["c2"]
    talk.wrote(("again",), "c")
    assert talk.goes_on("ab", following="c") == ["again"]


@pytest.mark.parametrize(
    "said, left, following",
    [("abc", "ab", "d"), ("abc", "a", "c"), ("abc", "a", "b"), ("abb", "abb", "b"), ("abcd", "scd", "d")],
)
def test_what_is_said_again_elsewhere_or_in_place_of_something_else_takes_nothing_back(said, left, following):
    assert conversation(said).goes_on(left, following=following) == []


@pytest.mark.parametrize("said, left", [("abcd", "scd"), ("abcd", "ascd"), ("abcd", "s"), ("abcd", "cd")])
def test_what_was_compressed_is_not_gone(said, left):
    talk = conversation(said)
    assert talk.goes_on(left) == []
    assert talk.goes_on(left) == []


@pytest.mark.parametrize("undone", ["", "x", "b"])
@pytest.mark.parametrize("left", ["", "a", "ab"])
def test_what_is_cut_off_and_not_undone_is_not_gone(left, undone):
    assert conversation("abc").goes_on(left, lambda: undone) == []


@pytest.mark.parametrize(
    "said, left, gone",
    [
        ("abcd", "sc", ["d3"]),
        ("abcde", "ascd", ["e4"]),
        ("abcd", "s", ["d3"]),
        ("abb", "sb", ["b2"]),
        ("abc", "sbc", []),
        ("abc", "abcx", []),
        ("abc", "abx", ["c2"]),
    ],
)
def test_an_undo_after_a_compression_takes_back_the_end(said, left, gone):
    talk = conversation(said)
    talk.rewind()
    assert talk.goes_on(left) == gone


def test_a_compression_that_was_seen_does_not_blur_a_later_undo():
    talk = conversation("abb")
    assert talk.goes_on("sabb") == []
    talk.rewind()
    assert talk.goes_on("sab") == ["b2"]


def test_a_message_that_the_host_keeps_otherwise_than_it_was_said_can_be_taken_back():
    talk = conversation("ab")
    assert talk.goes_on("aB") == []
    talk.rewind()
    assert talk.goes_on("a") == ["b1"]


@pytest.mark.parametrize("left", ["", "abc"])
def test_at_the_end_an_undo_of_which_nothing_else_is_told_was_of_the_latest(left):
    talk = conversation("abc")
    talk.rewind()
    assert talk.is_over(left) == ["c2"]
    assert talk.is_over(left) == []


def test_at_the_end_what_the_host_tells_counts():
    talk = conversation("abc")
    talk.rewind()
    assert talk.is_over("a") == ["b1", "c2"]


@pytest.mark.parametrize("left", ["", "ab", "abc"])
def test_at_the_end_nothing_is_gone_without_an_undo(left):
    assert conversation("abc").is_over(left) == []


def test_two_undos_take_back_two():
    talk = conversation("abc")
    talk.rewind()
    talk.rewind()
    assert talk.is_over() == ["b1", "c2"]


def test_what_another_process_heard_can_be_taken_back():
    assert Transcript(conversation("abc").heard).goes_on("ab", lambda: "c") == ["c2"]


def test_of_a_very_long_conversation_the_end_can_be_taken_back():
    said = [f"message {n}" for n in range(700)]
    talk = Transcript(HeardMessages(b"salt"))
    for text in said:
        talk.wrote((text,), text)
    assert len(talk.heard.said) < 700
    talk.rewind()
    assert talk.goes_on(said[:-1]) == [said[-1]]


def test_nothing_that_was_said_is_kept():
    assert "Kim" not in repr(conversation(["My secret love is Kim."]).heard.said)
