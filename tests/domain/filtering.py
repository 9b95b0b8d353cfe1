"""A table's fields, its rows, and what a filter makes of them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from souvenance.domain.filters import Column, Field, predicate
from souvenance.domain.timestamps import to_ms
from souvenance.errors import InvalidInput

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
