"""Honcho's filters: a JSON object compiled once into a question that is asked of every row.

    filter   := {"AND": [filter...], "OR": [filter...], "NOT": [filter...], field: cond, ...}
    cond     := value | null | "*" | [value...] | {operator: operand, ...}
    operator := gte lte gt lt ne in contains icontains
    metadata := {key: plain JSON | "*" | {operator: operand, ...}, ...}

docs/reference/honcho.md says what each compares, and the bounds. `NOT` asks of each element whether it
is not true, so that no third value outlives an element and a plain bool carries the logic.
"""

from __future__ import annotations

import enum
import json
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any, NoReturn

from msgspec import Struct

from souvenance.domain.content import MAX_INT, MIN_INT
from souvenance.domain.timestamps import to_ms
from souvenance.errors import InvalidInput
from souvenance.patterns import pattern

MAX_DEPTH = 5
MAX_CONDITIONS = 1000
MAX_VALUES = 10_000
MAX_PLAIN_DEPTH = 8
MAX_NESTED_IN_LISTS = 32

SUBSTRING_COST = 10
"""Conditions that one contains or icontains counts for: it reads the whole of a long text."""

ANYTHING = "*"


class Column(enum.Enum):
    """What a field holds: str, int or float, milliseconds since 1970, bool, list of str, dict; or None."""

    TEXT = "text"
    NUMBER = "number"
    TIME = "time"
    FLAG = "flag"
    LIST = "list"
    METADATA = "metadata"


class Field(Struct, frozen=True):
    """A field that may be filtered by; `values` closes the set of texts it can hold."""

    column: Column
    values: frozenset[str] | None = None


Fields = Mapping[str, Field]
Row = Mapping[str, Any]
Predicate = Callable[[Row], bool]
Test = Callable[[Any], bool]


def predicate(filters: Mapping[str, Any] | None, fields: Fields) -> Predicate | None:
    """Whether a row is wanted; None if every row is. It never raises for a row of these fields. Raises:
    InvalidInput, naming the path of what is at fault."""
    return None if filters is None else _FilterReader(fields).filter(filters, "filters", 0)


def equals(filters: Mapping[str, Any] | None, field: str) -> str | None:
    """The one string that the filter's outermost entries demand of a field, if they demand one.

    A help for picking rows: it checks nothing, and the predicate still has to be asked.
    """
    cond = filters.get(field) if isinstance(filters, Mapping) else None
    if isinstance(cond, str):
        cond = [cond]
    elif isinstance(cond, Mapping):
        cond = cond.get("in")
    match cond:
        case [str(only)] if only != ANYTHING:
            return only
    return None


# Refusals and operands


def _refuse(at: str, fault: str, hint: str) -> NoReturn:
    raise InvalidInput(f"{at}: {fault}", hint=hint)


def _below(at: str, key: object) -> str:
    """The path of a key, as an answer can carry it: short, and nothing that can't be printed or encoded."""
    text = key if isinstance(key, str) else type(key).__name__
    text = text if len(text) <= 64 else text[:64] + "..."
    return f"{at}.{text if text.isprintable() else ascii(text)[1:-1]}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


_NUMERAL = pattern(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*\Z", re.ASCII | re.IGNORECASE)
_MAX_NUMERAL = 400
_INTEGER = pattern(r"\s*[+-]?\d{1,40}\s*\Z", re.ASCII)
_MOMENT = pattern(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?\Z", re.ASCII
)
_MOMENT_HINT = "Write 2026-11-15, 2026-11-15 08:30:00 or 2026-11-15T08:30:00.250+01:00."

Read = Callable[[object, str], Any]
"""Checks an operand and makes it comparable; the second argument is its path."""


def _text(operand: object, at: str) -> str:
    if not isinstance(operand, str):
        _refuse(at, "a string is needed here", "Put the value in quotes.")
    if "\0" in operand:
        _refuse(at, "the string holds a NUL character", "Remove it.")
    try:
        operand.encode()
    except UnicodeEncodeError:
        _refuse(at, "the string holds a lone surrogate", "Send well-formed Unicode.")
    return operand


def _number(operand: object, at: str) -> int | float:
    if isinstance(operand, bool) or not isinstance(operand, int | float):
        _refuse(at, "a number is needed here", "Write it without quotes; true and false are no numbers.")
    if not math.isfinite(operand) if isinstance(operand, float) else not MIN_INT <= operand <= MAX_INT:
        _refuse(at, "the number is not finite or beyond 64 bits", "Send a smaller number.")
    return operand


def _flag(operand: object, at: str) -> bool:
    if not isinstance(operand, bool):
        _refuse(at, "true or false is needed here", "Write it without quotes.")
    return operand


def _moment(operand: object, at: str) -> int | float:
    """Milliseconds since 1970; a moment between two of them is halfway, where it equals no row's."""
    if not isinstance(operand, str) or not _MOMENT.match(operand):
        _refuse(at, "a date is needed here", _MOMENT_HINT)
    try:
        moment = datetime.fromisoformat(operand)
    except ValueError:
        _refuse(at, "there is no such date", _MOMENT_HINT)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return to_ms(moment) + (0.5 if moment.microsecond % 1000 else 0)


def _one_of(values: frozenset[str]) -> Read:
    def member(operand: object, at: str) -> str:
        if (text := _text(operand, at)) not in values:
            _refuse(at, "this value can't occur", f"Use one of: {_listed(values)}.")
        return text

    return member


def _plain(operand: object, at: str) -> object:
    if operand is None or isinstance(operand, bool):
        return operand
    return _number(operand, at) if isinstance(operand, int | float) else _text(operand, at)


# What operators see of a metadata value


def _spelled(text: str) -> int | float | None:
    """The number that a text spells; infinity for one beyond a float's range."""
    if len(text) > _MAX_NUMERAL:
        return None
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _NUMERAL.match(text) else None


def _number_of(value: object) -> int | float | None:
    if isinstance(value, str):
        return _spelled(value)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text_of(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


_View = Callable[[object], Any]
_Operation = Callable[[str, object, str], Test | None]
"""Makes a test of an operator, its operand and its path."""


def _viewed(operand: object, at: str) -> tuple[_View, Any]:
    """How a stored value is looked at for this operand, and what is looked for."""
    if isinstance(operand, bool):
        return _text_of, _text_of(operand)
    if isinstance(operand, int | float):
        return _number_of, _number(operand, at)
    if not isinstance(operand, str):
        _refuse(at, "one plain value is needed here", "Ask for lists and objects without an operator.")
    return _text_of, _text(operand, at)


# Tests of one value; None is NULL, and what NULL makes unknown is False

_ORDERS: dict[str, Callable[[Any], Test]] = {
    "gte": lambda edge: lambda value: value is not None and value >= edge,
    "lte": lambda edge: lambda value: value is not None and value <= edge,
    "gt": lambda edge: lambda value: value is not None and value > edge,
    "lt": lambda edge: lambda value: value is not None and value < edge,
}
_CHOICES = frozenset({"ne", "in"})
_SUBSTRINGS = frozenset({"contains", "icontains"})
OPERATORS = _CHOICES | _SUBSTRINGS | _ORDERS.keys()


def _known(value: object) -> bool:
    return value is not None


def _seen(view: _View, test: Test) -> Test:
    return lambda value: test(view(value))


def _at_key(key: str, test: Test | None) -> Test | None:
    return None if test is None else lambda row: test(row.get(key))


def _equal_to(plain: object) -> Test:
    if isinstance(plain, str):
        return partial(operator.eq, plain)
    if plain is None or isinstance(plain, bool):
        return partial(operator.is_, plain)
    return lambda value: value == plain and not isinstance(value, bool)


_ABSENT = object()


def _holds(inner: Mapping[str, Test]) -> Test:
    """Whether a stored object has these keys, with values that pass."""
    return lambda value: (
        isinstance(value, dict) and all(test(value.get(key, _ABSENT)) for key, test in inner.items())
    )


def _token(scalar: object) -> tuple[bool, object]:
    """A scalar that equals another only as in JSON: 1 and 1.0, but never 1 and true."""
    return (isinstance(scalar, bool), scalar)


def _lists(scalars: Iterable[object], nested: list[Test]) -> Test:
    """Whether a stored list has these scalars, and for each test an element that passes."""
    wanted = frozenset(map(_token, scalars))

    def test(value: object) -> bool:
        if not isinstance(value, list):
            return False
        found = {_token(each) for each in value if not isinstance(each, dict | list)} if wanted else wanted
        return wanted <= found and all(any(inner(each) for each in value) for inner in nested)

    return test


# Joining; None stands for no condition


def _all(parts: Iterable[Test | None]) -> Test | None:
    tests = [part for part in parts if part is not None]
    if len(tests) < 2:
        return tests[0] if tests else None
    return lambda row: all(test(row) for test in tests)


def _any(parts: list[Test | None]) -> Test | None:
    tests = [part for part in parts if part is not None]
    return None if len(tests) < len(parts) else lambda row: any(test(row) for test in tests)


def _none(parts: list[Test | None]) -> Test | None:
    if not parts:
        return None
    found = _any(parts)
    return (lambda row: False) if found is None else lambda row: not found(row)


_JOINS = {"AND": _all, "OR": _any, "NOT": _none}


_KINDS: dict[Column, tuple[Read, frozenset[str]]] = {
    Column.TEXT: (_text, OPERATORS),
    Column.NUMBER: (_number, _CHOICES | _ORDERS.keys()),
    Column.TIME: (_moment, _CHOICES | _ORDERS.keys()),
    Column.FLAG: (_flag, _CHOICES),
}
"""How a scalar column reads operands, and which operators make sense on it."""


class _FilterReader:
    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self._conditions = 0
        self._values = 0
        self._nested = 0

    def filter(self, filters: object, at: str, depth: int) -> Predicate | None:
        if not isinstance(filters, Mapping):
            _refuse(at, "an object is needed here", 'Write {"field": value}.')
        self._count(max(1, len(filters)), at)
        return _all([self._entry(key, value, _below(at, key), depth) for key, value in filters.items()])

    def _entry(self, key: object, value: object, at: str, depth: int) -> Predicate | None:
        if key in _JOINS:
            return self._group(str(key), value, at, depth)
        if not isinstance(key, str) or (field := self._fields.get(key)) is None:
            fault = "there is no such field; AND, OR and NOT are written in capitals"
            _refuse(at, fault, f"Filter by: {_listed(self._fields)}.")
        if value == ANYTHING:
            return None
        if value is None:
            return lambda row: row.get(key) is None
        if field.column is Column.METADATA:
            return self._metadata(key, value, at)
        read = self._list if field.column is Column.LIST else partial(self._scalar, field)
        return _at_key(key, read(value, at))

    def _group(self, word: str, elements: object, at: str, depth: int) -> Predicate | None:
        if depth == MAX_DEPTH:
            _refuse(at, f"AND, OR and NOT stand more than {MAX_DEPTH} deep", "Flatten the filter.")
        if not isinstance(elements, list):
            _refuse(at, "a list of filters is needed here", f'Write {{"{word}": [{{...}}, {{...}}]}}.')
        return _JOINS[word]([self.filter(each, f"{at}[{i}]", depth + 1) for i, each in enumerate(elements)])

    def _operations(
        self, cond: Mapping[Any, object], at: str, allowed: frozenset[str], test: _Operation
    ) -> Test | None:
        """What the operators of a condition ask for. Every one must be allowed here and have an operand."""
        if not cond:
            _refuse(at, "an empty object is no condition", f"Name an operator: {_listed(allowed)}.")
        self._count(len(cond) - 1, at)
        found = []
        for op, operand in cond.items():
            where = _below(at, op)
            if op not in allowed:
                fault = "does not work on this field" if op in OPERATORS else "does not exist"
                _refuse(where, f"this operator {fault}", f"Use one of: {_listed(allowed)}.")
            if operand is None and op != "ne":
                _refuse(where, "null has no order, no parts and no members", "Use null alone, or with ne.")
            found.append((op, operand, where))
        return _all([test(*operation) for operation in found])

    def _members(self, values: object, at: str, read: Read) -> list[Any] | None:
        """The values of an `in`, read; None if one of them stands for anything."""
        if not isinstance(values, list):
            _refuse(at, "a list is needed here", 'Write {"in": [value, ...]}.')
        self._hold(len(values), at)
        if None in values:
            _refuse(at, "null can't stand in a list", 'Add {"field": null} with OR.')
        found = [read(value, f"{at}[{i}]") for i, value in enumerate(values) if value != ANYTHING]
        return found if len(found) == len(values) else None

    def _has_text(self, part: str, at: str) -> Test:
        self._count(SUBSTRING_COST - 1, at)
        folded = part.casefold()
        return lambda value: value is not None and folded in value.casefold()

    # Columns

    def _scalar(self, field: Field, cond: object, at: str) -> Test | None:
        read, operators = _KINDS[field.column]
        if field.values is not None:
            read, operators = _one_of(field.values), _CHOICES
        if isinstance(cond, list):
            return self._operator(read, "in", cond, at)
        if not isinstance(cond, Mapping):
            return partial(operator.eq, read(cond, at))
        return self._operations(cond, at, operators, partial(self._operator, read))

    def _operator(self, read: Read, op: str, operand: object, at: str) -> Test | None:
        if op == "in":
            members = self._members(operand, at, read)
            return None if members is None else frozenset(members).__contains__
        if operand is None:
            return _known
        if op == "ne":
            return partial(operator.ne, read(operand, at))
        return self._has_text(read(operand, at), at) if op in _SUBSTRINGS else _ORDERS[op](read(operand, at))

    def _list(self, cond: object, at: str) -> Test | None:
        if not isinstance(cond, Mapping):
            _refuse(at, "a list is not compared as a whole", 'Write {"contains": "one of its strings"}.')
        return self._operations(cond, at, frozenset({"contains", "ne"}), self._list_operator)

    def _list_operator(self, op: str, operand: object, at: str) -> Test:
        if op == "ne":
            if operand is not None:
                _refuse(at, "a list is only compared with null", 'Use NOT and {"contains": ...}.')
            return _known
        members = operand if isinstance(operand, list) else [operand]
        self._hold(len(members), at)
        wanted = frozenset([_text(member, at) for member in members])
        return lambda value: value is not None and wanted.issubset(value)

    # Metadata

    def _metadata(self, name: str, cond: object, at: str) -> Predicate | None:
        if not isinstance(cond, Mapping):
            _refuse(at, "an object is needed here", 'Write {"metadata": {"key": value}}.')
        self._count(max(0, len(cond) - 1), at)
        test = _all([self._metadata_key(key, wanted, _below(at, key)) for key, wanted in cond.items()])
        return None if test is None else lambda row: test(row.get(name) or {})

    def _metadata_key(self, name: object, wanted: object, at: str) -> Test | None:
        key = _text(name, at)
        if key in OPERATORS:
            _refuse(at, "no operator works on metadata as a whole", f'Write {{"key": {{"{key}": ...}}}}.')
        if wanted == ANYTHING:
            return None
        if not isinstance(wanted, Mapping) or OPERATORS.isdisjoint(wanted):
            return _holds({key: self._containing(wanted, at, MAX_PLAIN_DEPTH)})
        if not OPERATORS.issuperset(wanted):
            _refuse(at, "operators and other keys are mixed", "Ask for them in two filters of an AND.")
        return _at_key(key, self._operations(wanted, at, OPERATORS, self._metadata_operator))

    def _metadata_operator(self, op: str, operand: object, at: str) -> Test | None:
        if op == "in":
            return self._metadata_in(operand, at)
        if operand is None:
            return _known
        if op in _SUBSTRINGS:
            return _seen(_text_of, self._has_text(_text(operand, at), at))
        view, wanted = _viewed(operand, at)
        if op == "ne":
            return _seen(view, partial(operator.ne, wanted))
        if isinstance(operand, bool):
            _refuse(at, "true and false have no order", "Use the value alone, ne or in.")
        if view is _text_of and (number := _spelled(wanted)) is not None:
            view, wanted = _number_of, number
        return _seen(view, _ORDERS[op](wanted))

    def _metadata_in(self, values: object, at: str) -> Test | None:
        members = self._members(values, at, _viewed)
        if members is None:
            return None
        wanted: dict[_View, list[Any]] = {}
        for view, member in members:
            wanted.setdefault(view, []).append(member)
        return _any([_seen(view, frozenset(found).__contains__) for view, found in wanted.items()])

    def _containing(self, plain: object, at: str, depth: int) -> Test:
        """Whether a stored JSON value contains this one, as jsonb's `@>` has it inside an object."""
        if not isinstance(plain, Mapping | list):
            return _equal_to(_plain(plain, at))
        if depth == 0:
            _refuse(at, f"the value is nested more than {MAX_PLAIN_DEPTH} deep", "Ask for less of it.")
        self._hold(len(plain), at)
        if isinstance(plain, Mapping):
            keys = [_text(key, _below(at, key)) for key in plain]
            return _holds({key: self._containing(plain[key], _below(at, key), depth - 1) for key in keys})
        inner = [(f"{at}[{i}]", each) for i, each in enumerate(plain)]
        nested = [(where, each) for where, each in inner if isinstance(each, Mapping | list)]
        self._nested += len(nested)
        if self._nested > MAX_NESTED_IN_LISTS:
            _refuse(at, f"more than {MAX_NESTED_IN_LISTS} lists and objects stand in lists", "Ask for less.")
        scalars = [_plain(each, where) for where, each in inner if not isinstance(each, Mapping | list)]
        return _lists(scalars, [self._containing(each, where, depth - 1) for where, each in nested])

    # Bounds

    def _count(self, conditions: int, at: str) -> None:
        self._conditions += conditions
        if self._conditions > MAX_CONDITIONS:
            _refuse(at, f"the filter holds more than {MAX_CONDITIONS} conditions", "Use in, or ask in parts.")

    def _hold(self, values: int, at: str) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            _refuse(at, f"the filter holds more than {MAX_VALUES} values", "Ask in parts.")
