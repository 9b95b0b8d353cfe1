"""Filters as predicates and filters as SQL must want the same rows; nonsense must be refused.

Names and values come from tiny sets, so that filters meet rows.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from filter_oracle import Oracle
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pace import examples
from souvenance.domain.filters import OPERATORS, Column, Field, predicate
from souvenance.errors import InvalidInput

LEVELS = ("deductive", "explicit")
FIELDS = {
    "id": Field(Column.TEXT),
    "peer_id": Field(Column.TEXT),
    "session_id": Field(Column.TEXT),
    "level": Field(Column.TEXT, frozenset(LEVELS)),
    "token_count": Field(Column.NUMBER),
    "created_at": Field(Column.TIME),
    "is_active": Field(Column.FLAG),
    "source_ids": Field(Column.LIST),
    "metadata": Field(Column.METADATA),
}
ORDERS = ("gte", "lte", "gt", "lt")
FILTERS = examples(900)


def steady(examples):
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


# Rows: many of them, made once from a fixed seed, so that every filter meets all of them

TEXTS = ("a", "A", "ab", "", "a%b会", "_", "\\", "*")
NUMBERS = (0, 1, 2, 10, 1.5, 2.0, -1)
MOMENTS = (0, 1, 250, 86_400_000, 86_400_001, -1, 1_793_000_000_000)
NUMERALS = (
    "1",
    "10",
    "2.0",
    "+1",
    "-1",
    ".5",
    "5.",
    " 1 ",
    "1e1",
    "1E+1",
    "1e",
    "e1",
    ".",
    "-",
    "1.5.1",
    "0x1",
)
WORDS = (*TEXTS, *NUMERALS, "true", "false", "null", "2026-01-01", "2026-01-02T10:00:00Z")
SCALARS = (None, True, False, *NUMBERS, *WORDS)
KEYS = ("k", 'o "p')
COMMON = (None, True, 1, 2.0, "1", "a", "A", "", [], ["a", 1], {}, {"a": 1}, {"a": ["a"], "b": None})
INNER_KEYS = ("a", "b", "gte")


def some(chance, values, most):
    return [chance.choice(values) for _ in range(chance.randrange(most + 1))]


def plain(chance, depth=3):
    """A JSON value, often nested."""
    shape = chance.choice(("scalar", "scalar", "list", "object")) if depth else "scalar"
    if shape == "list":
        return [plain(chance, depth - 1) for _ in range(chance.randrange(4))]
    if shape == "object":
        return {key: plain(chance, depth - 1) for key in some(chance, INNER_KEYS, 3)}
    return chance.choice(SCALARS)


def row(chance, id):
    return {
        "id": id,
        "peer_id": chance.choice((None, *TEXTS)),
        "session_id": chance.choice((None, *TEXTS)),
        "level": chance.choice((None, *LEVELS)),
        "token_count": chance.choice((None, *NUMBERS)),
        "created_at": chance.choice((None, *MOMENTS)),
        "is_active": chance.choice((None, True, False)),
        "source_ids": chance.choice((None, some(chance, TEXTS, 3))),
        "metadata": {key: chance.choice(COMMON) for key in some(chance, KEYS, 4)},
    }


CHANCE = Random(15)
ROWS = [row(CHANCE, str(number)) for number in range(80)]
STORED = [*SCALARS, *(plain(CHANCE) for _ in range(100))]
KEPT = [
    dict.fromkeys(FIELDS) | {"id": repr(number), "metadata": {"k": value}}
    for number, value in enumerate(STORED)
]
KEPT.append(dict.fromkeys(FIELDS) | {"id": "missing", "metadata": {}})

# Filters of the grammar

texts = st.sampled_from(TEXTS)
numbers = st.sampled_from(NUMBERS)
flags = st.booleans()
words = st.sampled_from(WORDS) | st.text("0123456789+-.eE _x", max_size=4)
scalars = st.sampled_from(SCALARS)
plains = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INNER_KEYS), inner, max_size=2)
    ),
    max_leaves=5,
)
keys = st.sampled_from(KEYS)
written = st.sampled_from(
    (
        "1970-01-01",
        "1970-01-02",
        "1970-01-01 00:00:00.001",
        "1970-01-01T00:00:00.250Z",
        "1970-01-02T01:00:00+01:00",
        "1970-01-01T23:00:00.001-01:00",
        "1969-12-31 23:59:59.999",
        "1970-01-01T00:00",
        "2026-10-26T00:53:20",
        "9999-12-31",
    )
)


def seldom(rare, usual):
    return st.integers(0, 15).flatmap(lambda number: rare if number == 11 else usual)


def choices(values):
    listed = st.lists(values, min_size=1, max_size=3)
    return seldom(st.just([]) | listed.map(lambda each: [*each, "*"]), listed)


def conditions(values, *, ordered=True, parts=None):
    """Conditions on a scalar column whose operands these are."""
    operators = {"ne": st.none() | values, "in": choices(values)}
    operators |= dict.fromkeys(ORDERS, values) if ordered else {}
    operators |= dict.fromkeys(("contains", "icontains"), parts) if parts is not None else {}
    return seldom(st.just("*"), st.none() | values | choices(values) | some_of(operators))


def some_of(operators):
    """An object of one or two operators with their operands."""
    one = st.sampled_from(sorted(operators)).flatmap(
        lambda op: operators[op].map(lambda operand: {op: operand})
    )
    return one | st.tuples(one, one).map(lambda two: two[0] | two[1])


operands = flags | numbers | words
edges = numbers | words
metadata_operators = some_of(
    {"ne": st.none() | operands, "in": choices(operands), "contains": words, "icontains": words}
    | dict.fromkeys(ORDERS, edges)
)
plain_conditions = (plains | st.sampled_from(STORED)).filter(
    lambda one: not isinstance(one, dict) or OPERATORS.isdisjoint(one)
)
metadata_conditions = st.dictionaries(
    keys,
    seldom(st.just("*"), st.sampled_from(COMMON) | plain_conditions | metadata_operators),
    min_size=1,
    max_size=2,
)

BY_FIELD = {
    "peer_id": conditions(texts, parts=texts),
    "session_id": conditions(texts),
    "level": conditions(st.sampled_from(LEVELS), ordered=False),
    "token_count": conditions(numbers),
    "created_at": conditions(written),
    "is_active": conditions(flags, ordered=False),
    "source_ids": seldom(
        st.just("*"), st.none() | some_of({"ne": st.none(), "contains": texts | st.lists(texts, max_size=2)})
    ),
    "metadata": seldom(st.sampled_from((None, "*", {})), metadata_conditions),
}
names = st.sampled_from((*BY_FIELD, "metadata"))
single = names.flatmap(lambda name: BY_FIELD[name].map(lambda cond: {name: cond}))
objects = seldom(
    st.sampled_from(({}, {"AND": []}, {"OR": []}, {"NOT": []})),
    single | st.tuples(single, single).map(lambda two: two[0] | two[1]),
)


def joined(inner):
    """One of the words over one to three filters, sometimes with a condition beside it."""
    lists = st.lists(inner, min_size=1, max_size=3)
    group = st.tuples(st.sampled_from(("AND", "OR", "OR", "NOT")), lists).map(lambda two: {two[0]: two[1]})
    return group | st.tuples(group, single).map(lambda two: two[0] | two[1])


filters = objects | joined(objects) | joined(joined(single))


def compared(rows, outcomes):
    """Asks a filter of all rows in both ways, and counts whether it told rows apart."""
    oracle = Oracle(rows)

    def compare(filters):
        expected = oracle.select(filters)
        outcomes["none" if not expected else "all" if len(expected) == len(rows) else "some"] += 1
        wanted = predicate(filters, FIELDS)
        assert {row["id"] for row in rows if wanted is None or wanted(row)} == expected

    return compare


def test_the_predicate_and_sql_want_the_same_rows():
    outcomes = Counter()
    steady(FILTERS)(given(filters)(compared(ROWS, outcomes)))()
    assert outcomes["some"] > FILTERS / 2, outcomes


def test_the_predicate_and_sql_see_metadata_alike():
    outcomes = Counter()
    asked = plain_conditions | metadata_operators
    steady(FILTERS)(given(asked.map(lambda cond: {"metadata": {"k": cond}}))(compared(KEPT, outcomes)))()
    assert outcomes["some"] > FILTERS / 2, outcomes


# Anything at all

strange_numbers = st.sampled_from((float("nan"), float("inf"), 1 << 63, -(1 << 64), 10**400, 1e308, -0.0))
strange_texts = st.sampled_from(("\ud800", "a\0", "*", "2026-02-30", "0000-01-01", "9" * 5000, "1e999", ""))
any_scalars = scalars | strange_numbers | strange_texts | written | st.text(max_size=3) | st.floats()
any_keys = st.sampled_from(
    (*FIELDS, *sorted(OPERATORS), "AND", "OR", "NOT", "and", "k", "a\0", "\ud800", "nope")
) | st.text(max_size=3)
anything = st.recursive(
    any_scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_keys, inner, max_size=4),
    max_leaves=12,
)
near_misses = st.dictionaries(
    st.sampled_from((*FIELDS, "AND", "OR", "NOT")),
    any_scalars
    | st.lists(anything, max_size=3)
    | st.dictionaries(st.sampled_from((*sorted(OPERATORS), "k")), anything, max_size=2),
    min_size=1,
    max_size=2,
)
strange_metadata = st.dictionaries(keys, anything, max_size=2).map(lambda cond: {"metadata": cond})

EMPTY = dict.fromkeys(FIELDS) | {"metadata": {}}
FULL = {
    "id": "0",
    "peer_id": "a",
    "session_id": "",
    "level": "explicit",
    "token_count": 10,
    "created_at": 86_400_000,
    "is_active": True,
    "source_ids": ["a", "*"],
}
METADATA = (
    None,
    True,
    1,
    1.5,
    "",
    "a",
    "9" * 5000,
    "1e999",
    [],
    [1, "a", None, [1]],
    {},
    {"a": {"gte": [1]}},
)
STRANGE_ROWS = [EMPTY, *(FULL | {"metadata": {"k": value, "a\0": value}} for value in METADATA)]


def test_a_filter_of_any_shape_is_a_question_for_every_row_or_is_refused():
    outcomes = Counter()

    @steady(FILTERS)
    @given(
        anything
        | near_misses
        | strange_metadata
        | st.lists(near_misses, max_size=2).map(lambda each: {"OR": each})
    )
    def ask(filters):
        try:
            wanted = predicate(filters, FIELDS)
        except InvalidInput as refused:
            outcomes["refused"] += 1
            assert refused.detail.startswith("filters")
            assert f"{refused.detail} {refused.hint}".encode().decode().isprintable()
        else:
            outcomes["asked"] += 1
            assert wanted is None or all(wanted(row) in (True, False) for row in STRANGE_ROWS)

    ask()
    assert min(outcomes.values()) > FILTERS / 8, outcomes
