"""What is no filter, or too much of one, and what is said about it."""

from __future__ import annotations

import pytest
from filtering import FIELDS, found, matches, refusal, row

from souvenance.domain import filters
from souvenance.domain.filters import OPERATORS, Column, Field, predicate
from souvenance.errors import InvalidInput

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
