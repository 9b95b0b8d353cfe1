"""Records that no store ever gave are refused, and leave nothing behind."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given as whatever
from hypothesis import settings
from hypothesis import strategies as st

from gate.world import World
from pace import examples
from portable.journeys import given, manager
from souvenance.domain.archive_records import (
    LineRecord,
    MembershipRecord,
    SessionRecord,
    WebhookRecord,
    decode,
    encode,
)
from souvenance.errors import SouvenanceError
from souvenance.gate import archive as p
from souvenance.gate.messages import checked

ID = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"


def line(**changed):
    told = {
        "owner": "ann",
        "namespace": "default",
        "id": ID,
        "kind": "memory",
        "text": "Hello.",
        "created_at": 1,
        "cap": "c",
    }
    return LineRecord(**{**told, **changed})


def session(**changed):
    return SessionRecord(**{"name": "talk", "uid": "u", "created_at": 1, **changed})


def webhook(**configuration):
    return WebhookRecord(name="hook", uid="u", created_at=1, configuration=configuration)


BAD = {
    "a card that is none": line(kind="card", about="bo", text="hello"),
    "a card of nobody": line(kind="card", text='{"entries":[]}'),
    "a summary of nothing": line(owner="@sessions", kind="summary"),
    "a summary that is a memory": line(owner="@sessions", session="talk"),
    "a webhook to nowhere": webhook(),
    "a webhook to this machine": webhook(url="http://127.0.0.1/"),
    "a webhook that hears of what is no name": webhook(url="https://example.org/", namespaces=7),
    "a turn without a session": line(turn=1),
    "NUL": line(text="a\0b"),
    "nothing said": line(text=" "),
    "a tombstone that speaks": line(kind="tombstone", text="boo", supersedes=ID),
    "a tombstone of nothing": line(kind="tombstone", text=""),
    "an owner that is none": line(owner="@someone"),
    "a padded owner": line(owner=" ann"),
    "a session with a line break": line(session="a\nb"),
    "about nobody": line(about="*"),
    "metadata too deep": line(metadata={"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {}}}}}}}}}}),
    "metadata too large": line(metadata={"a": "x" * 70_000}),
    "a session's padded name": session(name="talk "),
    "a member without a name": session(members=[MembershipRecord(name="\t", since=1)]),
}


@pytest.mark.parametrize("record", BAD.values(), ids=BAD)
def test_a_record_that_no_store_gives_is_refused_whole(record):
    world = World()
    good = line(id="01JD7Y8Q2W3E4R5T6Y7V8J9K0N")
    assert world.code(p.IMPORT, manager(world), p.Import([good, record])) in (
        "invalid_input",
        "limit_exceeded",
    )
    assert given(world) == []


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"[]",
        b'{"record":"cap"}',
        b'{"record":"line"}',
        encode(line()).replace(b'"ann"', b"7"),
        encode(line()).replace(b'"created_at":1', b'"created_at":1e99'),
        encode(line()).replace(b'"memory"', b'"MEMORY"'),
        encode(line()).replace(b'"record"', b'"key":"k","record"'),
        encode(line())[:-5],
    ],
)
def test_a_line_that_is_no_record_is_not_read(text):
    with pytest.raises(msgspec.MsgspecError):
        decode(text)


def test_two_messages_can_not_have_one_turn():
    world = World()
    first = line(session="talk", turn=1, kind="message")
    second = line(session="talk", turn=1, kind="message", id="01JD7Y8Q2W3E4R5T6Y7V8J9K0N", owner="bo")
    answer = world.call(p.IMPORT, manager(world), p.Import([first, second]))
    assert (answer.new, answer.conflicts) == (1, [f"line {second.id}"])


def test_a_message_makes_the_session_that_its_archive_left_out():
    world = World()
    world.call(p.IMPORT, manager(world), p.Import([line(session="talk", turn=3, kind="message")]))
    found = next(one for one in given(world) if isinstance(one, SessionRecord))
    assert (found.name, found.turns, [stay.name for stay in found.members]) == ("talk", 3, ["ann"])


def test_a_line_that_comes_twice_is_there_once_however_its_sources_are_listed():
    world = World()
    twice = [line(cites=[ID, ID]), line(cites=[ID])]
    answer = world.call(p.IMPORT, manager(world), p.Import(twice))
    assert (answer.new, answer.same, answer.conflicts) == (1, 1, [])


_NAMES = st.sampled_from(["ann", "bo", "talk"]) | st.text(min_size=1, max_size=5)
_WHEN = st.integers(-62_135_596_800_000, 253_402_300_799_999)
_JSON = st.dictionaries(
    st.text(max_size=3), st.none() | st.booleans() | st.integers() | st.text(), max_size=2
)
_IDS = st.integers(0, 3).map(lambda number: f"{ID[:-1]}{number}")
_LINES = st.builds(
    line,
    owner=_NAMES,
    id=_IDS,
    kind=st.sampled_from(["memory", "message", "tombstone", "conclusion", "card"]),
    text=st.text(),
    created_at=_WHEN,
    session=st.none() | _NAMES,
    turn=st.none() | st.integers(1, 3),
    about=st.none() | _NAMES,
    supersedes=st.none() | _IDS,
    invalidated_by=st.none() | _IDS,
    metadata=_JSON,
    alike=st.booleans(),
    cites=st.lists(_IDS, max_size=2),
)
_SESSIONS = st.builds(
    session,
    name=_NAMES,
    metadata=_JSON,
    configuration=_JSON,
    turns=st.integers(0, 9),
    members=st.lists(st.builds(MembershipRecord, name=_NAMES, since=st.integers(1, 3)), max_size=2),
)


@settings(max_examples=examples(100), deadline=None)
@whatever(st.lists(_LINES | _SESSIONS, max_size=4))
def test_whatever_is_brought_in_is_taken_or_refused(records):
    world = World()
    try:
        request = checked(p.Import(records))
        answer = world.call(p.IMPORT, manager(world), request)
    except SouvenanceError:
        assert given(world) == []
        return
    assert answer.new + answer.same + len(answer.conflicts) == len(records)
    again = world.call(p.IMPORT, manager(world), request)
    assert (again.new, again.same) == (0, answer.new + answer.same)
    there = World(seed=2)
    world.call(p.IMPORT, manager(world), p.Import(records))
    found = given(world)
    there.call(p.IMPORT, manager(there), p.Import(found))
    assert given(there) == found
