"""A summary without a model: quotations of the most telling messages, each behind its day."""

from __future__ import annotations

import pytest

from souvenance.core.conversation.summarise import by_quotes
from souvenance.ports.model import Turn

MARCH_1 = 1_709_294_400_000
DAY = 86_400_000


def count(text):
    """Tokens, as these tests count them: words."""
    return len(text.split())


def turns(*texts, peer="ann"):
    return [Turn(str(at), peer, text, MARCH_1 + at * DAY) for at, text in enumerate(texts)]


def test_each_message_is_quoted_whole_in_order_behind_its_day_and_speaker():
    said = turns("I moved to Lisbon.", "My dog is called Rex.")
    assert by_quotes(None, said, 100, count) == (
        "[2024-03-01] ann: I moved to Lisbon.\n[2024-03-02] ann: My dog is called Rex."
    )


def test_where_not_all_fit_what_tells_most_is_kept():
    said = turns("thanks!", "ok", "I breed alpacas near Cusco.", "What time is it?")
    assert by_quotes(None, said, 8, count) == "[2024-03-03] ann: I breed alpacas near Cusco."


def test_what_the_earlier_summary_says_comes_first_and_its_oldest_lines_go_first():
    earlier = "\n".join(f"[2024-02-0{day}] ann: I walked {day} miles." for day in range(1, 8))
    told = by_quotes(earlier, turns("I moved to Lisbon.", "I bought a red bicycle."), 40, count).splitlines()
    assert told[-2:] == ["[2024-03-01] ann: I moved to Lisbon.", "[2024-03-02] ann: I bought a red bicycle."]
    assert told[:-2] == earlier.splitlines()[-len(told) + 2 :]
    assert 2 < len(told) < 9


def test_a_message_of_several_lines_is_kept_whole_or_not_at_all():
    first = by_quotes(None, turns("I like:\nferns\nherons\nowls\ncoots"), 100, count)
    assert first == "[2024-03-01] ann: I like:\n    ferns\n    herons\n    owls\n    coots"
    moved = "[2024-03-01] ann: I moved to Lisbon today."
    assert by_quotes(first, turns("I moved to Lisbon today."), 14, count) == moved
    assert by_quotes(first, turns("I moved to Lisbon today."), 16, count) == f"{first}\n{moved}"


@pytest.mark.parametrize("most", [0, 1, 5, 10, 30, 200])
def test_it_keeps_to_its_tokens(most):
    said = turns(*(f"I counted {number} sheep on hill {number}." for number in range(30)))
    earlier = by_quotes(None, said[:15], most, count)
    assert count(earlier) <= most
    assert count(by_quotes(earlier, said[15:], most, count)) <= most


def test_of_nothing_there_is_no_summary_and_of_a_greeting_there_is_one():
    assert by_quotes(None, [], 100, count) == ""
    assert by_quotes(None, turns("hello"), 100, count) == "[2024-03-01] ann: hello"
