"""What filters match, sentence by sentence; the differential test beside them asks the same of SQL."""

from __future__ import annotations

import pytest
from filtering import FIELDS, at, found, matches, nested, refusal, row

from souvenance.domain.filters import equals, predicate

# No condition


@pytest.mark.parametrize(
    "condition",
    [
        None,
        {},
        {"AND": []},
        {"NOT": []},
        {"AND": [{}, {}]},
        {"OR": [{}]},
        {"OR": [{"id": "a"}, {}]},
        {"metadata": {}},
        {"metadata": {"type": "*"}},
        {"metadata": {"type": {"in": ["a", "*"]}}},
        {"session_id": ["a", "*"]},
        {"session_id": {"in": ["*"]}},
        {"token_count": [1, "*"]},
        *({name: "*"} for name in FIELDS),
    ],
)
def test_a_filter_that_asks_for_nothing_is_no_predicate(condition):
    assert predicate(condition, FIELDS) is None


@pytest.mark.parametrize(
    "condition", [{"id": []}, {"id": {"in": []}}, {"OR": []}, {"NOT": [{}]}, {"NOT": [{"id": "*"}]}]
)
def test_no_choice_no_alternative_and_not_anything_match_nothing(condition):
    assert not matches(condition)
    assert not matches({"id": "a", "AND": [condition]})


def test_a_wildcard_beside_other_conditions_leaves_them_standing():
    assert found({"session_id": "*", "id": "b"}, row("a"), row("b")) == "b"
    assert found({"metadata": {"type": "*", "n": 1}}, row("a"), row("b", metadata={"n": 1})) == "b"


# Joining


def test_all_entries_of_a_filter_must_hold():
    rows = row("a", session_id="s"), row("b", session_id="s"), row("c", session_id="t")
    assert found({"session_id": "s", "NOT": [{"id": "a"}]}, *rows) == "b"
    assert found({"AND": [{"session_id": "s"}, {"id": "a"}]}, *rows) == "a"
    assert found({"session_id": "s", "id": ["a", "b", "c"], "token_count": None}, *rows) == "ab"


def test_one_alternative_is_enough():
    rows = row("a"), row("b"), row("c")
    assert found({"OR": [{"id": "a"}, {"id": "c"}]}, *rows) == "ac"
    assert found({"OR": [{"id": "a"}, {"id": "c"}], "id": {"ne": "a"}}, *rows) == "c"


def test_not_excludes_what_any_of_its_elements_matches():
    assert found({"NOT": [{"id": "a"}, {"id": "b"}]}, row("a"), row("b"), row("c")) == "c"


def test_not_counts_unknown_as_not_matching():
    rows = row("a", session_id="s"), row("b", session_id=None)
    assert found({"NOT": [{"session_id": "s"}]}, *rows) == "b"
    assert found({"NOT": [{"session_id": {"gt": "s"}}]}, *rows) == "ab"
    assert found({"NOT": [{"NOT": [{"session_id": "s"}]}]}, *rows) == "a"


@pytest.mark.parametrize("word", ["AND", "OR", "NOT"])
def test_words_stand_five_deep_and_no_deeper(word):
    assert predicate(nested(5, word), FIELDS) is not None
    assert "more than 5 deep" in refusal(nested(6, word))


def test_a_filter_nested_for_ever_is_refused():
    bomb = {}
    bomb["AND"] = [bomb]
    assert "more than 5 deep" in refusal(bomb)


# Columns


def test_a_value_is_compared_as_it_is():
    assert found({"session_id": "S"}, row("a", session_id="s"), row("b", session_id="S")) == "b"
    assert found({"token_count": 5.0}, row("a", token_count=5), row("b", token_count=6)) == "a"
    assert found({"is_active": False}, row("a", is_active=True), row("b", is_active=False)) == "b"


def test_a_list_is_a_choice():
    rows = row("a", token_count=1), row("b", token_count=2), row("c", token_count=None)
    assert found({"id": ["a", "c"]}, *rows) == "ac"
    assert found({"token_count": {"in": [2, 3]}}, *rows) == "b"
    assert found({"is_active": [True, False]}, *rows) == "abc"


def test_null_is_asked_for_by_null():
    rows = row("a", session_id="s", source_ids=[]), row("b")
    assert found({"session_id": None}, *rows) == "b"
    assert found({"session_id": {"ne": None}}, *rows) == "a"
    assert found({"source_ids": None}, *rows) == "b"
    assert found({"source_ids": {"ne": None}}, *rows) == "a"
    assert found({"metadata": None}, *rows) == ""


def test_null_differs_from_every_value():
    rows = row("a", session_id="s", token_count=1), row("b"), row("c", session_id="t", token_count=2)
    assert found({"session_id": {"ne": "s"}}, *rows) == "bc"
    assert found({"token_count": {"ne": 1}}, *rows) == "bc"


@pytest.mark.parametrize(
    ("op", "ids"), [("gte", "bc"), ("gt", "c"), ("lte", "ab"), ("lt", "a"), ("ne", "acd"), ("in", "b")]
)
@pytest.mark.parametrize(
    ("name", "values", "operand"),
    [
        ("token_count", (1, 2, 3), 2),
        ("session_id", ("A", "a", "é"), "a"),
        ("created_at", (at(2026, 1, 1), at(2026, 1, 2), at(2026, 1, 3)), "2026-01-02"),
    ],
)
def test_order_is_that_of_the_column_and_null_has_none(op, ids, name, values, operand):
    rows = [row(id, **{name: value}) for id, value in zip("abcd", (*values, None), strict=True)]
    assert found({name: {op: [operand] if op == "in" else operand}}, *rows) == ids


def test_operators_on_one_field_must_all_hold():
    rows = [row(str(n), token_count=n) for n in range(6)]
    assert found({"token_count": {"gte": 1, "lt": 5, "ne": 3}}, *rows) == "124"


@pytest.mark.parametrize("op", ["contains", "icontains"])
def test_both_substring_operators_ignore_case(op):
    rows = row("a", session_id="Straße nach ΟΔΟΣ"), row("b", session_id="100% _x"), row("c")
    for part, ids in [("STRASSE", "a"), ("οδος", "a"), ("% _X", "b"), ("%x", ""), ("*", ""), ("", "ab")]:
        assert found({"session_id": {op: part}}, *rows) == ids


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-15 08:30:00",
        "2026-11-15T08:30:00",
        "2026-11-15T08:30",
        "2026-11-15T08:30:00Z",
        "2026-11-15 08:30:00.000000",
        "2026-11-15T10:00:00.000+01:30",
        "2026-11-15T06:30:00-0200",
    ],
)
def test_a_moment_may_be_written_in_these_ways_and_is_utc_unless_it_says_otherwise(written):
    assert matches({"created_at": written}, created_at=at(2026, 11, 15, 8, 30))
    assert not matches({"created_at": written}, created_at=at(2026, 11, 15, 8, 30) + 1)


def test_a_day_is_its_first_moment():
    assert matches({"created_at": "2026-11-15"}, created_at=at(2026, 11, 15))
    assert not matches({"created_at": {"lte": "2026-11-15"}}, created_at=at(2026, 11, 15, 8))


def test_a_moment_between_two_milliseconds_is_after_the_one_and_before_the_other():
    early, late = row("a", created_at=1), row("b", created_at=2)
    between = "1970-01-01T00:00:00.001500Z"
    assert found({"created_at": {"gte": between}}, early, late) == "b"
    assert found({"created_at": {"lte": between}}, early, late) == "a"
    assert found({"created_at": between}, early, late) == ""
    assert found({"created_at": {"lt": "1969-12-31T23:59:59.999999Z"}}, row("a", created_at=-1)) == "a"


@pytest.mark.parametrize("far", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00"])
def test_the_ends_of_time_can_be_asked_for(far):
    assert not matches({"created_at": far}, created_at=0)


def test_a_closed_set_is_asked_for_by_its_members():
    rows = row("a", level="explicit"), row("b", level="deductive")
    assert found({"level": "deductive"}, *rows) == "b"
    assert found({"level": {"ne": "deductive"}}, *rows) == "a"
    assert found({"level": ["explicit", "deductive"]}, *rows) == "ab"


def test_a_stored_list_is_asked_for_its_members_letter_by_letter():
    rows = (
        row("a", source_ids=["x", "y"]),
        row("b", source_ids=["xy", "X", "*"]),
        row("c", source_ids=[]),
        row("d"),
    )
    for operand, ids in [
        ("x", "a"),
        ("X", "b"),
        (["x", "y"], "a"),
        (["x", "X"], ""),
        ([], "abc"),
        ("*", "b"),
    ]:
        assert found({"source_ids": {"contains": operand}}, *rows) == ids
    assert found({"NOT": [{"source_ids": {"contains": "x"}}]}, *rows) == "bcd"


def test_a_field_that_a_row_lacks_is_null():
    wanted = predicate({"session_id": None, "metadata": {"k": {"ne": 1}}}, FIELDS)
    assert wanted({"id": "a"})


# Metadata: plain values


@pytest.mark.parametrize(
    ("wanted", "stored", "held"),
    [
        ("x", "x", True),
        ("x", "X", False),
        ("x", ["x"], False),
        ("*", ["anything"], True),
        (1, 1.0, True),
        (1, True, False),
        (1, "1", False),
        (True, True, True),
        (True, 1, False),
        (True, "true", False),
        (None, None, True),
        (None, False, False),
        ({}, {}, True),
        ({}, {"a": 1}, True),
        ({}, [], False),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"a": None}, {}, False),
        ({"a": None, "b": 1}, {"b": 1}, False),
        ({"a": {"b": [1]}}, {"a": {"b": [2, 1], "c": 0}}, True),
        ({"a": {"gte": 1}}, {"a": 5}, False),
        ({"a": {"gte": 1}}, {"a": {"gte": 1}}, True),
        ({"a": "*"}, {"a": "x"}, False),
        ({"between": [1, 2]}, {"between": [2, 1]}, True),
        ([], [], True),
        ([], {}, False),
        ([], [1], True),
        ([1, 1], [1], True),
        ([1, "a"], ["a", 2, 1.0], True),
        ([1], [True], False),
        ([True], [1], False),
        ([None], [None], True),
        ([None], [], False),
        ([1], [[1]], False),
        ([[1]], [[2, 1]], True),
        ([[1], [2]], [[2, 1]], True),
        ([[1, 2]], [[1], [2]], False),
        ([{"a": 1}], [3, {"a": 1, "b": 2}], True),
        ([{"a": 1}], {"a": 1}, False),
        ([{}], [[]], False),
        (["*"], ["x"], False),
        (["*"], ["*"], True),
    ],
)
def test_a_plain_metadata_value_is_asked_for_by_containment(wanted, stored, held):
    assert matches({"metadata": {"k": wanted}}, metadata={"k": stored, "other": 0}) is held


def test_a_metadata_key_that_is_missing_holds_nothing():
    assert not matches({"metadata": {"k": None}}, metadata={})
    assert not matches({"metadata": {"k": {}}}, metadata={})
    assert not matches({"metadata": {"k": "x"}}, metadata=None)


def test_every_metadata_key_of_the_filter_must_hold():
    both = {"metadata": {"a": 1, "b": {"gt": 1}}}
    assert matches(both, metadata={"a": 1, "b": 2})
    assert not matches(both, metadata={"a": 1, "b": 1})
    assert not matches(both, metadata={"b": 2})


# Metadata: operators


@pytest.mark.parametrize(
    ("cond", "stored", "held"),
    [
        ({"gte": 5}, 5, True),
        ({"gte": 5}, 4.5, False),
        ({"gt": 5, "lt": 10}, "7", True),
        ({"gt": 5}, " 1e1 ", True),
        ({"gt": 5}, "10", True),
        ({"gt": 5}, "1E+1", True),
        ({"gt": 5}, "6.", True),
        ({"lt": 5}, "-.5", True),
        ({"gt": "5"}, 10, True),
        ({"gt": "5"}, "10", True),
        ({"gt": "1e400"}, 10, False),
        ({"gte": 0}, "9" * 400, True),
        ({"gte": 0}, "9" * 401, False),
        ({"gte": 0}, "9" * 5000, False),
        ({"gte": 0}, "", False),
        ({"gte": 0}, "many", False),
        ({"gte": 0}, "1 2", False),
        ({"gte": 0}, "٣", False),
        ({"gte": 0}, "NaN", False),
        ({"gte": 0}, "0x10", False),
        ({"gte": 0}, "1_000", False),
        ({"gte": 0}, True, False),
        ({"gte": 0}, None, False),
        ({"gte": 0}, [5], False),
        ({"gte": 0}, {"a": 5}, False),
        ({"lt": 0}, "many", False),
        ({"gte": "2026-01-01"}, "2026-01-02T10:00:00Z", True),
        ({"gte": "2026-01-01"}, "2025-12-31", False),
        ({"gte": "b"}, "a", False),
        ({"gte": "a"}, 5, False),
        ({"lte": "a"}, 5, True),
        ({"gt": ""}, None, False),
        ({"ne": 5}, 5, False),
        ({"ne": 5}, 5.0, False),
        ({"ne": 5}, "5", False),
        ({"ne": 5}, "five", True),
        ({"ne": 5}, None, True),
        ({"ne": "5"}, 5, False),
        ({"ne": "5.0"}, 5, True),
        ({"ne": "a"}, "A", True),
        ({"ne": True}, True, False),
        ({"ne": True}, "true", False),
        ({"ne": True}, 1, True),
        ({"ne": None}, "", True),
        ({"ne": None}, False, True),
        ({"ne": None}, None, False),
        ({"in": ["a", "b"]}, "b", True),
        ({"in": ["a", "b"]}, ["b"], False),
        ({"in": ["007"]}, 7, False),
        ({"in": ["7"]}, 7, True),
        ({"in": [7, "x"]}, "7.0", True),
        ({"in": [7, "x"]}, "x", True),
        ({"in": [7, "x"]}, "y", False),
        ({"in": [True]}, True, True),
        ({"in": [1]}, True, False),
        ({"in": []}, None, False),
        ({"in": ["a"]}, None, False),
        ({"contains": "MPORT"}, "Important", True),
        ({"icontains": "mport"}, "IMPORTANT", True),
        ({"contains": "important"}, ["x", "important"], True),
        ({"contains": '"a": 1, "b"'}, {"b": 2, "a": 1}, True),
        ({"contains": "é"}, ["É"], True),
        ({"contains": "5"}, 1.5, True),
        ({"contains": "TRU"}, True, True),
        ({"contains": "null"}, None, False),
        ({"contains": ""}, None, False),
        ({"contains": "%"}, "x", False),
        ({"contains": "*"}, "x", False),
    ],
)
def test_a_metadata_operator_sees_the_text_of_a_value_and_the_number_it_spells(cond, stored, held):
    assert matches({"metadata": {"k": cond}}, metadata={"k": stored}) is held


@pytest.mark.parametrize("cond", [{"ne": "x"}, {"ne": 1}, {"ne": True}])
def test_a_missing_metadata_key_differs_from_every_value(cond):
    assert matches({"metadata": {"k": cond}}, metadata={})
    assert matches({"metadata": {"k": cond}}, metadata=None)


@pytest.mark.parametrize("cond", [{"ne": None}, {"gte": 1}, {"lt": "z"}, {"in": ["x"]}, {"contains": ""}])
def test_a_missing_metadata_key_matches_nothing_else(cond):
    assert not matches({"metadata": {"k": cond}}, metadata={})


# Help for picking rows


@pytest.mark.parametrize(
    ("condition", "only"),
    [
        ({"id": "a"}, "a"),
        ({"id": ["a"]}, "a"),
        ({"id": {"in": ["a"]}}, "a"),
        ({"id": {"in": ["a"], "ne": "b"}, "session_id": "s"}, "a"),
        (None, None),
        ({}, None),
        ([], None),
        ({"id": "*"}, None),
        ({"id": ["*"]}, None),
        ({"id": {"in": ["*"]}}, None),
        ({"id": None}, None),
        ({"id": 1}, None),
        ({"id": [1]}, None),
        ({"id": []}, None),
        ({"id": ["a", "b"]}, None),
        ({"id": {"in": "a"}}, None),
        ({"id": {"ne": "a"}}, None),
        ({"session_id": "a"}, None),
        ({"OR": [{"id": "a"}]}, None),
        ({"NOT": [{"id": "a"}]}, None),
    ],
)
def test_the_one_value_that_a_field_must_have_is_told(condition, only):
    assert equals(condition, "id") == only
