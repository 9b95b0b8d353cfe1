"""The objects of lines: keys that can't collide or escape, and envelopes that open only in their place."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.objects import (
    KeyObject,
    LineObject,
    ReplacedObject,
    compartment_prefix,
    key_name,
    object_key,
    packed,
    packed_key,
    part,
    split_key,
    unpacked,
    unpacked_key,
)
from souvenance.errors import Tampered
from souvenance.ports.object_store import checked

ID, OTHER_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"
BLIND = bytes(range(32))
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=600)
COMPARTMENTS = st.builds(Compartment, NAMES, NAMES, NAMES)
LONGEST_KEY = 1024


HERE = Compartment("acme", "ann", "travel")


def line_of(compartment=HERE, **changes):
    plain = SealedLine(
        compartment=compartment,
        id=ID,
        kind="message",
        session="s",
        created_at=1_700_000_000_000,
        occurred_at=None,
        supersedes=None,
        cap="cap",
        turn=3,
        about="ben",
        metadata='{"a":1}',
        epoch=7,
        sealed=b"sealed",
        tokens=2,
        likeness=b"like",
        times=4,
    )
    return replace(plain, **changes)


@given(NAMES, NAMES)
def test_no_two_names_share_a_part_even_where_case_does_not_count(one, other):
    assert (part(one).casefold() == part(other).casefold()) == (one == other)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("ann", "ann"),
        ("Ann", "=41nn"),
        ("..", "=2e=2e"),
        (".", "=2e"),
        ("a/b", "a=2fb"),
        ("=41nn", "=3d41nn"),
        ("@sessions", "=40sessions"),
        ("ä", "=c3=a4"),
        ("keys", "keys"),
    ],
)
def test_a_part_reads_as_documented(name, wanted):
    assert part(name) == wanted


@given(COMPARTMENTS)
def test_a_key_is_one_of_its_compartment_and_of_no_other_place(compartment):
    key = object_key(compartment, "line", ID)
    checked(key)
    assert len(key.encode()) < LONGEST_KEY - 200
    assert re.fullmatch(r"[^/]+/[^/]+/[^/]+/", compartment_prefix(compartment))
    for kind, name in (("line", ID), ("replaced", ID), ("key", key_name("seal", 3))):
        assert split_key(object_key(compartment, kind, name)) == (compartment_prefix(compartment), kind, name)
    assert key_name("seal", 3) == "seal-3"


@pytest.mark.parametrize("key", ["a", "a/b/c", "a/b/c/d/e", "a/b/c/keys/d/e"])
def test_what_is_no_object_of_ours_is_told_from_one(key):
    assert split_key(key) is None


@given(COMPARTMENTS, st.lists(st.sampled_from([ID, OTHER_ID]), max_size=2))
def test_a_line_comes_back_as_it_was(compartment, sources):
    line = line_of(compartment)
    told = unpacked(object_key(compartment, "line", ID), packed(LineObject.of(line, sources), BLIND), BLIND)
    assert told.line == line
    assert list(told.sources) == sources


def test_a_moved_line_does_not_open():
    line = line_of()
    data = packed(LineObject.of(line, ()), BLIND)
    for compartment in (
        Compartment("acme", "ann", "home"),
        Compartment("acme", "bob", "travel"),
        Compartment("other", "ann", "travel"),
    ):
        with pytest.raises(Tampered):
            unpacked(object_key(compartment, "line", ID), data, BLIND)
    for key in (object_key(line.compartment, "line", OTHER_ID), object_key(line.compartment, "replaced", ID)):
        with pytest.raises(Tampered):
            unpacked(key, data, BLIND)


def test_a_line_opens_with_its_own_compartments_key_alone():
    data = packed(LineObject.of(line_of(), ()), BLIND)
    with pytest.raises(Tampered):
        unpacked(object_key(line_of().compartment, "line", ID), data, bytes(32))


def test_no_byte_of_an_object_can_be_altered():
    told = ReplacedObject("acme", "ann", "travel", ID, OTHER_ID)
    data = packed(told, BLIND)
    assert unpacked(told.key, data, BLIND) == told
    for place in range(len(data)):
        with pytest.raises(Tampered):
            unpacked(told.key, data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :], BLIND)
    for length in range(len(data)):
        with pytest.raises(Tampered):
            unpacked(told.key, data[:length], BLIND)


@given(st.binary(max_size=200))
def test_whatever_lies_in_the_bucket_is_refused_and_breaks_nothing(data):
    with pytest.raises(Tampered):
        unpacked(object_key(line_of().compartment, "line", ID), data, BLIND)
    with pytest.raises(Tampered):
        unpacked_key(object_key(line_of().compartment, "key", "seal-1"), data)


def test_a_wrapped_key_is_one_of_its_place():
    told = KeyObject("acme", "ann", "travel", "seal", 7, b"wrapped")
    assert unpacked_key(told.key, packed_key(told)) == told
    with pytest.raises(Tampered):
        unpacked_key(replace(told, epoch=8).key, packed_key(told))
    with pytest.raises(Tampered):
        unpacked_key(object_key(told.compartment, "line", ID), packed(LineObject.of(line_of(), ()), BLIND))


def test_the_format_is_the_documented_one():
    """Objects that are in buckets now must open in every later version."""
    told = ReplacedObject("acme", "Ann", "travel", ID, OTHER_ID)
    data = packed(told, BLIND)
    assert told.key == f"acme/=41nn/travel/replaced/{ID}"
    assert data.hex() == VECTOR
    assert unpacked(told.key, bytes.fromhex(VECTOR), BLIND) == told


VECTOR = (
    "01a638104a34073bea75ead854ec5027de0bcd7d1b0353baac580078582e9fc66b96a87265706c61636564a461"
    "636d65a3416e6ea674726176656cba303141525a334e44454b54535634525246465136394735464156ba303142"
    "58355a5a4b424b41435441563957455647454d4d56525a"
)
