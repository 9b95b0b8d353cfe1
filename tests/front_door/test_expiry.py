"""A line that expires, in a folder and on a server, from blocking and from asynchronous programs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from souvenance.errors import InvalidInput, NotFound


def test_a_line_expires_at_the_time_that_was_given(memory):
    end = datetime.now(UTC) + timedelta(days=30)
    line = memory.line(memory.put("The code is 4711", expires_at=end))
    assert abs(line.expires_at - end) < timedelta(milliseconds=1)
    assert memory.get("code")[0].expires_at == line.expires_at
    assert memory.line(memory.put("It stays")).expires_at is None


def test_a_line_that_is_over_is_not_told(memory):
    end = datetime.now(UTC) + timedelta(seconds=2)
    line = memory.put("The code is 4711", expires_at=end)
    memory.put("It stays")
    while datetime.now(UTC) < end:
        memory.get("code")
    assert [one.text for one in memory.get("code")] == ["It stays"]
    assert [one.text for one in memory.list(history=True)] == ["It stays"]
    with pytest.raises(NotFound):
        memory.line(line)


def test_a_time_that_is_over_is_refused(memory):
    with pytest.raises(InvalidInput, match="not in the future"):
        memory.put("late", expires_at=datetime.now(UTC) - timedelta(hours=1))
