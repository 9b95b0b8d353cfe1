"""Filters, sentence by sentence; the differential test beside them asks the same of SQL."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemon.domain import filters
from mnemon.domain.filters import OPERATORS, Column, Field, equals, predicate
from mnemon.domain.moments import to_ms
from mnemon.errors import InvalidInput

FIELDS = {
    "id": Field(Column.TEXT),
    "session_id": Field(Column.TEXT),
    "level": Field(Column.TEXT, frozenset({"explicit", "deductive"})),
    "token_count": Field(Column.NUMBER),
    "created_at": Field(Column.TIME),
    "is_active": Field(Column.FLAG),
    "source_ids": Field(Column.LIST),
    "metadata": Field(Column.METADATA),
}


def at(*moment):
    return to_ms(datetime(*moment, tzinfo=UTC))


def row(id, **values):
    nothing = dict.fromkeys(FIELDS)
    return nothing | {"id": id, "level": "explicit", "is_active": True, "metadata": {}} | values


def matches(condition, **values):
    wanted = predicate(condition, FIELDS)
    return wanted is None or wanted(row("a", **values))


def found(condition, *rows):
    wanted = predicate(condition, FIELDS)
    return "".join(one["id"] for one in rows if wanted is None or wanted(one))


def refusal(condition):
    with pytest.raises(InvalidInput) as caught:
        predicate(condition, FIELDS)
    assert caught.value.hint.endswith(".")
    assert caught.value.hint != InvalidInput.default_hint
    f"{caught.value.detail} {caught.value.hint}".encode()
    return caught.value.detail


def nested(levels, word="AND"):
    inner = {"id": "a"}
    for _ in range(levels):
        inner = {word: [inner]}
    return inner


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
        {"NOT": [{"id": []}]},
        {"NOT": [{"OR": []}]},
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


# Refusals


@pytest.mark.parametrize("filters", [[], "x", 1, True, [{"id": "a"}]])
def test_a_filter_is_an_object(filters):
    assert refusal(filters) == "filters: an object is needed here"
    assert refusal({"OR": [{"id": "a"}, filters]}) == "filters.OR[1]: an object is needed here"


def test_null_is_a_filter_only_at_the_top():
    assert refusal({"AND": [None]}) == "filters.AND[0]: an object is needed here"


@pytest.mark.parametrize("key", ["nope", "and", "Or", "not", "ID", "metadata.k", "", "gte", "*"])
def test_an_unknown_field_is_named(key):
    assert refusal({key: "x"}).startswith(f"filters.{key}: there is no such field")
    assert refusal({"NOT": [{key: "*"}]}).startswith(f"filters.NOT[0].{key}: ")


def test_the_fields_there_are_stand_in_the_hint():
    with pytest.raises(InvalidInput) as caught:
        predicate({"nope": 1}, {"b": Field(Column.TEXT), "a": Field(Column.TEXT)})
    assert caught.value.hint == "Filter by: a, b."


@pytest.mark.parametrize("word", ["AND", "OR", "NOT"])
@pytest.mark.parametrize("elements", [{"id": "a"}, "x", None, 1, "*"])
def test_a_word_takes_a_list(word, elements):
    assert refusal({word: elements}) == f"filters.{word}: a list of filters is needed here"


@pytest.mark.parametrize("name", ["id", "level", "token_count", "created_at", "is_active", "source_ids"])
@pytest.mark.parametrize("op", ["eq", "GTE", "", "not", "AND", "like", "*"])
def test_an_unknown_operator_is_named(name, op):
    assert refusal({name: {op: "x"}}) == f"filters.{name}.{op}: this operator does not exist"


ALLOWED = {
    "id": OPERATORS,
    "level": {"ne", "in"},
    "token_count": OPERATORS - {"contains", "icontains"},
    "created_at": OPERATORS - {"contains", "icontains"},
    "is_active": {"ne", "in"},
    "source_ids": {"contains", "ne"},
}


@pytest.mark.parametrize(
    ("name", "op"), [(name, op) for name, ops in ALLOWED.items() for op in sorted(OPERATORS - ops)]
)
def test_an_operator_that_makes_no_sense_on_a_field_is_refused(name, op):
    assert refusal({name: {op: "x"}}) == f"filters.{name}.{op}: this operator does not work on this field"


@pytest.mark.parametrize("op", sorted(OPERATORS))
def test_an_operator_on_metadata_as_a_whole_is_refused(op):
    assert "no operator works on metadata as a whole" in refusal({"metadata": {op: {"a": 1}}})


@pytest.mark.parametrize(
    ("name", "op"), [(name, op) for name, ops in ALLOWED.items() for op in sorted(ops - {"ne"})]
)
def test_null_is_no_operand_but_for_ne(name, op):
    assert refusal({name: {op: None}}).startswith(f"filters.{name}.{op}: null has no order")


@pytest.mark.parametrize("op", sorted(OPERATORS - {"ne"}))
def test_null_is_no_operand_on_a_metadata_key_but_for_ne(op):
    assert refusal({"metadata": {"k": {op: None}}}).startswith(f"filters.metadata.k.{op}: null has no order")


@pytest.mark.parametrize("name", ["id", "level", "token_count", "created_at", "is_active", "source_ids"])
def test_an_empty_object_is_no_condition_on_a_column(name):
    assert refusal({name: {}}) == f"filters.{name}: an empty object is no condition"


@pytest.mark.parametrize(
    "condition", [{"id": [None]}, {"id": {"in": ["a", None]}}, {"metadata": {"k": {"in": [None]}}}]
)
def test_null_can_not_stand_in_a_list(condition):
    assert "null can't stand in a list" in refusal(condition)


@pytest.mark.parametrize("operand", ["a", {}, {"a": 1}, 1, True])
def test_in_takes_a_list(operand):
    assert refusal({"id": {"in": operand}}) == "filters.id.in: a list is needed here"
    assert refusal({"metadata": {"k": {"in": operand}}}) == "filters.metadata.k.in: a list is needed here"


@pytest.mark.parametrize(
    ("name", "operands", "fault"),
    [
        ("id", (1, 1.5, True), "a string is needed here"),
        ("level", ("bogus", "Explicit", ""), "this value can't occur"),
        ("level", (1, True), "a string is needed here"),
        ("token_count", ("5", "", True, False), "a number is needed here"),
        ("token_count", (float("nan"), float("inf"), 1 << 63, -(10**400)), "not finite or beyond 64 bits"),
        ("is_active", ("true", 1, 0, 1.0), "true or false is needed here"),
        ("created_at", (0, 1.5, True, "", "now", "2026", "20261115", "2026-W01-1"), "a date is needed here"),
        (
            "created_at",
            ("2026-11-15T", "2026-11-15x10:00", " 2026-11-15", "2026-11-15\n"),
            "a date is needed",
        ),
        ("created_at", ("２０２６-11-15", "2026-11-15\ud80010:00", "10:00:00"), "a date is needed"),
        ("created_at", ("2026-13-01", "2026-02-30", "0000-01-01", "2026-01-01T24:00:01"), "no such date"),
        ("created_at", ("2026-01-01T10:00+24:00", "2026-01-01T10:60"), "no such date"),
    ],
)
def test_an_operand_has_the_type_of_its_column(name, operands, fault):
    for operand in operands:
        assert fault in refusal({name: operand})
        assert fault in refusal({name: {"ne": operand}})
        assert refusal({name: [operand]}).startswith(f"filters.{name}[0]: ")
        assert refusal({name: {"in": ["*", operand]}}).startswith(f"filters.{name}.in[1]: ")


@pytest.mark.parametrize("name", ["id", "level", "token_count", "created_at", "is_active"])
def test_an_object_or_a_list_is_no_operand_of_a_column(name):
    for operand in ({"a": 1}, [1], {}, []):
        assert refusal({name: {"ne": operand}}).startswith(f"filters.{name}.ne: ")
        assert refusal({name: [operand]}).startswith(f"filters.{name}[0]: ")


@pytest.mark.parametrize("operand", [1, True, {}, [], ["a"]])
def test_a_substring_is_a_string(operand):
    for op in ("contains", "icontains"):
        assert refusal({"id": {op: operand}}) == f"filters.id.{op}: a string is needed here"
        assert refusal({"metadata": {"k": {op: operand}}}).endswith("a string is needed here")


@pytest.mark.parametrize("cond", ["x", 1, True, ["x"], []])
def test_a_stored_list_is_not_compared_as_a_whole(cond):
    assert refusal({"source_ids": cond}) == "filters.source_ids: a list is not compared as a whole"


def test_a_stored_list_differs_only_from_null_and_contains_only_strings():
    assert refusal({"source_ids": {"ne": ["x"]}}).endswith("a list is only compared with null")
    for operand in (1, True, {}, [1], [None], ["a", []]):
        assert refusal({"source_ids": {"contains": operand}}).endswith("a string is needed here")


@pytest.mark.parametrize("cond", ["x", 1, True, [], ["*"]])
def test_metadata_takes_an_object(cond):
    assert refusal({"metadata": cond}) == "filters.metadata: an object is needed here"


def test_operators_and_other_metadata_keys_do_not_mix():
    assert refusal({"metadata": {"k": {"gte": 1, "x": 2}}}).startswith(
        "filters.metadata.k: operators and other"
    )


@pytest.mark.parametrize("op", ["gte", "lte", "gt", "lt"])
def test_true_and_false_have_no_order(op):
    assert (
        refusal({"metadata": {"k": {op: True}}}) == f"filters.metadata.k.{op}: true and false have no order"
    )


@pytest.mark.parametrize("operand", [{}, [], {"a": 1}, ["a"]])
def test_a_metadata_operator_takes_one_plain_value(operand):
    for cond in ({"gt": operand}, {"ne": operand}, {"in": [operand]}):
        assert refusal({"metadata": {"k": cond}}).endswith("one plain value is needed here")


@pytest.mark.parametrize(
    "number", [float("nan"), float("-inf"), 1 << 63, 10**5000], ids=["nan", "inf", "65 bits", "huge"]
)
def test_a_number_that_no_store_keeps_is_refused_everywhere(number):
    for wanted in (
        number,
        [number],
        {"a": [{"b": number}]},
        {"gt": number},
        {"ne": number},
        {"in": [number]},
    ):
        assert "not finite or beyond 64 bits" in refusal({"metadata": {"k": wanted}})


@pytest.mark.parametrize(("text", "fault"), [("a\ud800", "a lone surrogate"), ("a\0b", "a NUL character")])
def test_text_that_no_store_keeps_is_refused_everywhere(text, fault):
    for cond in (text, [text], {"ne": text}, {"in": [text]}, {"contains": text}):
        assert fault in refusal({"id": cond})
        assert fault in refusal({"metadata": {"k": cond}})
    assert fault in refusal({"source_ids": {"contains": text}})
    assert fault in refusal({"metadata": {text: 1}})
    assert fault in refusal({"metadata": {"k": {text: 1}}})
    assert "there is no such field" in refusal({text: 1})
    assert "this operator does not exist" in refusal({"id": {text: 1}})


def test_a_key_is_shown_short_and_printable():
    assert refusal({"x" * 5000: 1}).startswith("filters." + "x" * 64 + "...: ")
    assert refusal({"a\n\u202eb": 1}).startswith("filters.a\\n\\u202eb: ")
    assert refusal({"\ud800": 1}).startswith("filters.\\ud800: ")


def test_a_key_that_is_no_string_is_refused():
    assert refusal({1: "x"}).startswith("filters.int: there is no such field")
    assert refusal({"metadata": {None: "x"}}) == "filters.metadata.NoneType: a string is needed here"
    assert refusal({"metadata": {"k": {"a": {2: 1}}}}) == "filters.metadata.k.a.int: a string is needed here"
    assert refusal({"id": {1: "x"}}) == "filters.id.int: this operator does not exist"


def test_what_is_not_json_is_refused():
    for thing in (object(), b"x", {1}, (1, 2)):
        for condition in (
            {"id": thing},
            {"token_count": [thing]},
            {"metadata": {"k": thing}},
            {"AND": thing},
        ):
            refusal(condition)


# Bounds


def test_a_thousand_conditions_are_read_and_no_more():
    most = filters.MAX_CONDITIONS
    assert found({"OR": [{"id": str(n)} for n in range(most - 1)]}, row("7"), row("x")) == "7"
    for bomb in (
        {"OR": [{"id": "x"}] * most},
        {"AND": [{}] * most},
        {"AND": [{"AND": []}] * (most // 2), "OR": [{"metadata": {}}] * (most // 2)},
        {"metadata": {str(n): 1 for n in range(most + 1)}},
        {"AND": [{"metadata": {"k": {"gt": 1, "lt": 5}}}] * (most // 2)},
        {"AND": [{"id": {"gt": "a", "lt": "b"}}] * (most // 2)},
    ):
        assert "more than 1000 conditions" in refusal(bomb)


def test_a_substring_counts_for_ten_conditions():
    for name, cond in (("id", {"contains": "7"}), ("metadata", {"k": {"icontains": "7"}})):
        assert predicate({"OR": [{name: cond}] * 99}, FIELDS) is not None
        assert "more than 1000 conditions" in refusal({"OR": [{name: cond}] * 100})


def test_ten_thousand_values_are_read_and_no_more():
    most = filters.MAX_VALUES
    assert found({"id": [str(n) for n in range(most)]}, row("7"), row("x")) == "7"
    for bomb in (
        {"id": ["x"] * (most + 1)},
        {"OR": [{"id": ["x"] * most}, {"id": ["x"]}]},
        {"source_ids": {"contains": ["x"] * (most + 1)}},
        {"metadata": {"k": {"in": [1] * (most + 1)}}},
        {"metadata": {"k": [1] * (most + 1)}},
        {"metadata": {"k": {str(n): 1 for n in range(most + 1)}}},
    ):
        assert "more than 10000 values" in refusal(bomb)


def test_a_plain_value_is_as_deep_as_metadata_can_be_and_no_deeper():
    deep = 1
    for _ in range(filters.MAX_PLAIN_DEPTH):
        deep = {"a": deep}
    assert matches({"metadata": {"k": deep}}, metadata={"k": deep})
    assert "nested more than 8 deep" in refusal({"metadata": {"k": {"a": deep}}})
    loop = []
    loop.append(loop)
    assert "nested more than 8 deep" in refusal({"metadata": {"k": loop}})


def test_a_plain_list_holds_few_lists_and_objects():
    assert matches({"metadata": {"k": [[1]] * 32}}, metadata={"k": [[1]]})
    assert "more than 32 lists and objects stand in lists" in refusal({"metadata": {"k": [[1]] * 33}})
    assert "more than 32 lists" in refusal({"metadata": {"k": [[[], []]] * 16}})


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
