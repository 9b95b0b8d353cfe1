"""Plain JSONL: a message on each line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.exports import ANN
from souvenance.adapters.importers.json_files import Jsonl
from souvenance.adapters.importers.source_files import Counted, name_of
from souvenance.agents.names import is_plain
from souvenance.domain.imports import ImportedMessage, ImportedPeer, ImportedSession, Skipped
from souvenance.errors import ImportUnreadable


def read(tmp_path, *lines, name="talk.jsonl"):
    path = tmp_path / name
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts), "utf-8")
    return list(Jsonl(path, ANN).records())


def messages(records):
    return [one for one in records if isinstance(one, ImportedMessage)]


def test_roles_and_peers_speak_in_their_sessions(tmp_path):
    found = read(
        tmp_path,
        {"role": "user", "content": "hello", "created_at": "2024-01-01T10:00:00+02:00"},
        {"role": "assistant", "content": "hi"},
        "",
        {"peer": "bob", "content": "me too", "session": "team", "metadata": {"mood": "good"}},
    )
    assert [(one.session, one.peer, one.text) for one in messages(found)] == [
        ("jsonl-talk", "ann", "hello"),
        ("jsonl-talk", "assistant", "hi"),
        ("team", "bob", "me too"),
    ]
    assert messages(found)[0].at.isoformat() == "2024-01-01T08:00:00+00:00"
    assert messages(found)[2].metadata == {"mood": "good"}
    assert ImportedPeer("assistant", "assistant", observed=False) in found
    assert {one.name for one in found if isinstance(one, ImportedSession)} == {"jsonl-talk", "team"}


def test_times_may_be_seconds_since_1970(tmp_path):
    found = read(tmp_path, {"role": "user", "content": "x", "created_at": 1_700_000_000.5})
    assert messages(found)[0].at.timestamp() == 1_700_000_000.5


def test_what_tools_and_the_system_say_is_left_out(tmp_path):
    found = read(
        tmp_path, {"role": "system", "content": "be nice"}, {"role": "tool", "peer": "ann", "content": "{}"}
    )
    assert [one.why for one in found if isinstance(one, Skipped)] == [
        "messages of the system and of tools"
    ] * 2


def test_the_same_words_twice_are_two_messages_and_the_same_two_when_read_again(tmp_path):
    lines = [{"role": "user", "content": "ok"}] * 3
    first = [one.id for one in messages(read(tmp_path, *lines))]
    assert len(set(first)) == 3
    assert (
        first == [one.id for one in messages(read(tmp_path, *lines, {"role": "user", "content": "more"}))][:3]
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"role": "user"', "line 2: Input data was truncated"),
        ('{"role": "user"}', "line 2: Object missing required field `content`"),
        ('{"content": "x"}', "line 2: it says neither peer nor role"),
        ('{"role": "wizard", "content": "x"}', "line 2: there is no role wizard"),
        ('{"role": "user", "content": 7}', "line 2: Expected `str`, got `int`"),
        ("[1]", "line 2: Expected `object`"),
        ('{"role": "user", "content": "x", "created_at": "yesterday"}', "line 2: 'yesterday' is not a time"),
        ('{"role": "user", "content": "x", "created_at": 1e300}', "line 2: '1e+300' is not a time"),
        ('{"role": "user", "content": "x", "created_at": 1e999}', "line 2: "),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, complaint):
    with pytest.raises(ImportUnreadable) as caught:
        read(tmp_path, {"role": "user", "content": "fine"}, line)
    assert f"talk.jsonl, {complaint}" in caught.value.detail
    assert caught.value.code == "import_unreadable" and caught.value.hint


@given(st.text(min_size=1), st.text(min_size=1))
def test_no_two_names_become_one(first, second):
    assert (name_of(first) == name_of(second)) == (first == second)


@given(st.text(min_size=1, max_size=300))
def test_every_name_becomes_one_that_can_be_had(text):
    found = name_of(text, "p-")
    assert found.startswith("p-") and len(found) < 110
    assert is_plain(text) == (found == f"p-{text}")


@given(st.lists(st.sampled_from(["a", "b", "c"])))
def test_ids_by_content_are_never_given_twice(said):
    ids = Counted()
    assert len({ids.id_of(one) for one in said}) == len(said)
