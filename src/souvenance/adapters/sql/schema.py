"""Schemas compared: what is in a database, and what the migrations make."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from souvenance.ports.store import Difference


class Object(NamedTuple):
    """Something that a schema has: its kind, its name, and the table it belongs to, if that is needed."""

    kind: str
    name: str
    table: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name!a}" + (f" of table {self.table!a}" if self.table else "")


Schema = Mapping[Object, str | None]
"""The definition of each object."""

_OF_TABLE = {"trigger", "rule", "policy"}
_PARTS = {"column", "constraint"}


def differences(expected: Schema, found: Schema, harmless: Collection[str] = ()) -> list[Difference]:
    """How what was found differs from what was expected; things of these kinds can't keep copies of rows."""
    missing = sorted(expected.keys() - found.keys())
    return [
        *_foreign(expected, found, harmless),
        *(Difference(f"{one} is missing", "", foreign=False) for one in missing),
    ]


def _foreign(expected: Schema, found: Schema, harmless: Collection[str]) -> Iterator[Difference]:
    for one, definition in sorted(found.items()):
        if one not in expected:
            remedy = _removal(one)
            yield Difference(f"{one} is not part of this store", remedy, foreign=one.kind not in harmless)
        elif definition != expected[one]:
            yield Difference(f"{one} was altered", "", foreign=one.kind not in harmless)


def _removal(one: Object) -> str:
    """The statement that removes it."""
    name, table = _quoted(one.name), _quoted(one.table)
    if one.kind in _PARTS:
        return f"ALTER TABLE {table} DROP {one.kind.upper()} {name}"
    return f"DROP {one.kind.upper()} {name}" + (f" ON {table}" if one.kind in _OF_TABLE and one.table else "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
