"""Putting, correcting, listing and the snapshot."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from frames import inside
from gate.world import KINDS, each_kind
from souvenance.gate import messages as m
from souvenance.gate import operations as o


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def put(world, cap, text, namespace="travel", **fields):
    return world.call(o.PUT, cap, m.Put(text=text, namespace=namespace, **fields))


def test_putting_the_same_line_twice_stores_it_once(world):
    cap, line_id = world.issue(), world.ulid()
    first = put(world, cap, "Trip to Chengdu", id=line_id)
    world.clock.advance(seconds=5)
    second = put(world, cap, "Trip to Chengdu", id=line_id)
    assert (first.duplicate, second.duplicate) == (False, True)
    assert first.id == second.id == line_id
    assert world.texts(cap) == ["Trip to Chengdu"]


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "Trip to Xi'an"},
        {"kind": "profile"},
        {"session": "s1"},
        {"occurred_at": datetime(2025, 5, 25, tzinfo=UTC)},
    ],
)
def test_the_same_id_with_another_content_is_a_conflict(world, changed):
    cap, line_id = world.issue(), world.ulid()
    said = {"text": "Trip to Chengdu", "namespace": "travel", "id": line_id}
    world.call(o.PUT, cap, m.Put(**said))
    assert world.code(o.PUT, cap, m.Put(**{**said, **changed})) == "conflict"
    assert world.texts(cap) == ["Trip to Chengdu"]


def test_the_same_id_in_two_namespaces_is_two_lines(world):
    cap, line_id = world.issue(), world.ulid()
    assert not put(world, cap, "Trip to Chengdu", "travel", id=line_id).duplicate
    assert not put(world, cap, "Allergic to peanuts", "personal", id=line_id).duplicate
    for namespace, text in (("travel", "Trip to Chengdu"), ("personal", "Allergic to peanuts")):
        one_compartment = world.issue(namespaces_allowed=[namespace])
        assert world.call(o.LINE, one_compartment, m.GetLine(line_id)).text == text
        assert world.texts(one_compartment, "trip allergic") == [text]


def test_the_same_id_of_two_owners_is_two_lines(world):
    line_id = world.ulid()
    for actor in ("alice", "bob"):
        assert not put(world, world.issue(sub=actor), f"of {actor}", id=line_id).duplicate
    assert world.texts(world.issue(sub="bob")) == ["of bob"]


def test_a_line_belongs_to_the_actor_of_the_cap_that_put_it(world):
    cap = world.issue(sub="bob", peers=["alice"])
    line = world.put(cap, "Trip to Chengdu", session="s1")
    told = world.call(o.LINE, world.issue(sub="bob"), m.GetLine(line))
    assert (told.cap, told.session) == (cap.jti, "s1")
    assert world.texts(world.issue(sub="alice")) == []


def test_what_was_put_comes_back_as_it_was(world):
    cap = world.issue()
    text = "  São Paulo — 成都\n\tand 🍜  "
    said = {"kind": "note", "metadata": {"mood": ["good", 7, None]}, "session": "s1"}
    line = put(world, cap, text, occurred_at=datetime(1999, 12, 31, 23, 59, tzinfo=UTC), **said).id
    told = world.call(o.LINE, cap, m.GetLine(line))
    assert (told.text, told.kind, told.metadata) == (text, "note", {"mood": ["good", 7, None]})
    assert told.occurred_at == datetime(1999, 12, 31, 23, 59, tzinfo=UTC)


UNFIT = {
    "empty": {"text": ""},
    "blank": {"text": " \n\t"},
    "NUL": {"text": "a\0b"},
    "lone surrogate": {"text": "a\ud800b"},
    "kind": {"kind": "Note"},
    "session": {"session": "s\x001"},
    "padded session": {"session": " s1"},
    "NUL in metadata": {"metadata": {"a": "\0"}},
    "number beyond 64 bits": {"metadata": {"a": 1 << 63}},
    "number that is none": {"metadata": {"a": float("nan")}},
    "tombstone": {"kind": "tombstone", "text": "a\0b"},
    "tombstone with a lone surrogate": {"kind": "tombstone", "text": "a\ud800b"},
}


@pytest.mark.parametrize("name", UNFIT)
def test_what_no_backend_keeps_alike_is_refused(world, name):
    cap = world.issue()
    said = {"text": "Trip to Chengdu", "namespace": "travel", **UNFIT[name]}
    assert world.code(o.PUT, cap, m.Put(**said)) == "invalid_input"
    assert world.ids(cap, history=True) == []


def test_a_line_that_was_put_is_told(world):
    cap = world.issue()
    code = world.code(o.PUT, cap, m.Put(text="Trip to Chengdu", namespace="travel", kind="tombstone"))
    assert (code, world.texts(cap)) in [("ok", ["Trip to Chengdu"]), ("invalid_input", [])]


@pytest.mark.parametrize(("days", "code"), [(6, "ok"), (8, "invalid_input"), (-1, "invalid_input")])
def test_a_caller_s_id_must_be_of_about_now(world, days, code):
    line_id = world.ulid(world.clock.ms - days * 24 * 3600 * 1000)
    said = m.Put(text="Trip to Chengdu", namespace="travel", id=line_id)
    assert world.code(o.PUT, world.issue(), said) == code


def test_a_correction_takes_the_place_of_what_it_corrects(world):
    cap = world.issue()
    old = world.put(cap, "Trip to Chengdu", session="s1", kind="profile")
    answer = world.call(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Xi'an"))
    told = world.call(o.LINE, cap, m.GetLine(answer.id))
    assert (answer.invalidates, answer.namespace, answer.duplicate) == (old, "travel", False)
    assert (told.kind, told.session, told.supersedes) == ("profile", "s1", old)
    assert world.texts(cap) == ["Trip to Xi'an"]


def test_a_correction_without_a_text_only_takes_the_line_away(world):
    cap = world.issue()
    old = world.put(cap, "Trip to Chengdu")
    world.call(o.INVALIDATE, cap, m.Invalidate(old))
    assert world.texts(cap, "Chengdu") == []
    assert world.ids(cap) == []
    assert len(world.ids(cap, history=True)) == 2


def test_a_line_can_be_corrected_once(world):
    cap = world.issue()
    old = world.put(cap, "Trip to Chengdu")
    world.call(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Xi'an"))
    assert world.code(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Porto")) == "conflict"
    assert world.code(o.INVALIDATE, cap, m.Invalidate(old)) == "conflict"
    assert world.texts(cap) == ["Trip to Xi'an"]


def test_a_correction_can_itself_be_corrected(world):
    cap = world.issue()
    line = world.put(cap, "Trip to Chengdu")
    for city in ("Xi'an", "Porto", "Graz"):
        line = world.call(o.INVALIDATE, cap, m.Invalidate(line, f"Trip to {city}")).id
    assert world.texts(cap) == ["Trip to Graz"]
    assert len(world.ids(cap, history=True)) == 4


def test_a_line_that_was_taken_away_can_be_brought_back_by_a_correction(world):
    cap = world.issue()
    gone = world.call(o.INVALIDATE, cap, m.Invalidate(world.put(cap, "Trip to Chengdu"))).id
    world.call(o.INVALIDATE, cap, m.Invalidate(gone, "Trip to Chengdu after all"))
    assert world.texts(cap, "Chengdu") == ["Trip to Chengdu after all"]


def test_a_correction_sent_again_under_its_id_is_a_duplicate(world):
    cap, new_id = world.issue(), world.ulid()
    old = world.put(cap, "Trip to Chengdu")
    correction = m.Invalidate(old, "Trip to Xi'an", new_id)
    answers = [world.call(o.INVALIDATE, cap, correction) for _ in range(3)]
    assert [answer.duplicate for answer in answers] == [False, True, True]
    assert {answer.id for answer in answers} == {new_id}
    assert world.code(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Porto", new_id)) == "conflict"


def test_a_correction_can_not_take_the_id_of_a_line_that_corrects_nothing(world):
    cap = world.issue()
    old, other = world.put(cap, "Trip to Chengdu"), world.put(cap, "Trip to Xi'an")
    for taken in (other, old):
        assert world.code(o.INVALIDATE, cap, m.Invalidate(old, "Trip to Xi'an", taken)) == "conflict"
    assert sorted(world.texts(cap)) == ["Trip to Chengdu", "Trip to Xi'an"]


def test_a_list_tells_no_text_and_comes_page_by_page(world):
    cap = world.issue()
    ids = []
    for number in range(5):
        ids.append(world.put(cap, f"note {number}", ("travel", "family")[number % 2]))
        world.clock.advance(seconds=1)
    seen, cursor, pages = [], None, 0
    while pages < 5:
        page = world.call(o.LIST, cap, m.List(limit=2, cursor=cursor))
        seen += [line.id for line in page.lines]
        pages, cursor = pages + 1, page.cursor
        if cursor is None:
            break
    assert (seen, pages) == (ids, 3)
    assert "note" not in repr(world.call(o.LIST, cap, m.List()))


def test_a_list_loses_no_line_of_an_id_that_two_compartments_share(world):
    cap, line_id = world.issue(), world.ulid()
    for namespace in ("a", "b", "c"):
        put(world, cap, f"in {namespace}", namespace, id=line_id)
    seen, cursor = [], None
    for _ in range(3):
        page = world.call(o.LIST, cap, m.List(limit=1, cursor=cursor))
        seen += [line.namespace for line in page.lines]
        cursor = page.cursor
    assert (seen, cursor) == (["a", "b", "c"], None)


@pytest.mark.parametrize(
    "cursor", ["", "x", "01JD7Y8Q2W3E4R5T6Y7V8J9K0", "01jd7y8q2w3e4r5t6y7v8j9k0m.travel"]
)
def test_a_cursor_that_is_not_ours_is_refused(world, cursor):
    assert world.code(o.LIST, world.issue(), m.List(cursor=cursor)) == "invalid_input"


def snapshot(world, cap, **fields):
    return inside(world.call(o.SNAPSHOT, cap, m.Snapshot(**fields)).profile)


def test_a_snapshot_tells_the_profile_first_and_then_the_newest(world):
    cap = world.issue()
    for text, kind in (("old note", "memory"), ("Likes tea", "profile"), ("new note", "memory")):
        world.put(cap, text, "personal", kind=kind)
        world.clock.advance(seconds=1)
    told = [entry.rsplit("] ", 1)[1] for entry in snapshot(world, cap).splitlines()]
    assert told == ["Likes tea", "new note", "old note"]


def test_a_snapshot_says_the_day_and_the_compartment(world):
    cap = world.issue()
    world.put(cap, "Flew\nto Porto", occurred_at=datetime(2024, 2, 29, 12, tzinfo=UTC))
    world.put(cap, "Likes tea", "personal")
    assert snapshot(world, cap).splitlines() == [
        "- 2025-06-15 [personal] Likes tea",
        "- 2024-02-29 [travel] Flew to Porto",
    ]


def test_a_snapshot_knows_the_first_day_of_1970(world):
    cap = world.issue()
    world.put(cap, "Somebody was born", "family", occurred_at=datetime(1970, 1, 1, tzinfo=UTC))
    assert snapshot(world, cap) == "- 1970-01-01 [family] Somebody was born"


def test_a_snapshot_is_at_most_eight_kibibytes_of_whole_lines(world):
    cap = world.issue()
    texts = {f"{number:03} " + "é" * 200 for number in range(60)}
    for text in texts:
        world.put(cap, text, "personal")
    told = world.call(o.SNAPSHOT, cap, m.Snapshot()).profile
    assert 7 * 1024 < len(told.encode()) <= 8 * 1024
    assert {entry.rsplit("] ", 1)[1] for entry in inside(told).splitlines()} < texts


def test_a_line_too_long_for_the_snapshot_is_left_out_and_the_next_told(world):
    cap = world.issue()
    world.put(cap, "Likes tea", "personal")
    world.put(cap, "x" * 9000, "personal")
    assert snapshot(world, cap).splitlines() == ["- 2025-06-15 [personal] Likes tea"]


def test_the_profile_is_told_however_many_newer_lines_there_are(world):
    cap = world.issue()
    world.put(cap, "Likes tea", "personal", kind="profile")
    for number in range(250):
        world.clock.advance(seconds=1)
        world.put(cap, f"note {number}", "personal")
    assert snapshot(world, cap).splitlines()[0].endswith("Likes tea")


def test_a_snapshot_leaves_out_what_was_invalidated_and_what_the_cap_does_not_open(world):
    cap = world.issue()
    old = world.put(cap, "Likes coffee", "personal", kind="profile")
    world.call(o.INVALIDATE, cap, m.Invalidate(old, "Likes tea"))
    world.put(cap, "Trip to Chengdu", "travel")
    assert (
        snapshot(world, world.issue(namespaces_allowed=["personal"])) == "- 2025-06-15 [personal] Likes tea"
    )
    assert snapshot(world, cap, namespaces=("travel",)) == "- 2025-06-15 [travel] Trip to Chengdu"
