"""Memories of mem0 in JSON: what `get_all` answers, a list of memories or one page of them.

A memory is a sentence that mem0's model made of a conversation. It is told as a statement about its user, or,
without one, about its agent; what it was made of is not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from souvenance.adapters.importers.source_files import (
    Counted,
    bag,
    clean,
    decoded,
    elements,
    moment,
    name_of,
    opened,
    shown,
)
from souvenance.adapters.private_files import SourceFile
from souvenance.domain.imports import ImportedPeer, ImportedStatement, Record, Skipped, Wanted
from souvenance.errors import ImportUnreadable

KIND = "mem0"


class _Memory(Struct):
    memory: str | None = None
    id: str | int | None = None
    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None
    created_at: str | float | None = None
    updated_at: str | float | None = None
    metadata: dict[str, Any] | None = None
    categories: list[str] | None = None


class _MemoryPage(Struct):
    results: list[_Memory]
    next: str | None = None


class Mem0:
    """The reader of a file of memories."""

    kind = KIND
    again = True

    def __init__(self, path: SourceFile, wanted: Wanted) -> None:
        self._path = path
        self._wanted = wanted

    def records(self) -> Iterator[Record]:
        """All memories. Raises: ImportUnreadable, also if several people would have to be called the same."""
        met: set[str] = set()
        ids, owners = Counted(), set()
        for one, place in self._memories():
            if isinstance(one, Skipped):
                yield one
                continue
            if not (one.memory or "").strip():
                yield Skipped("memories without a text")
                continue
            owner = one.user_id or one.agent_id
            owners.add(owner)
            if self._wanted.renamed and len(owners) > 1:
                raise ImportUnreadable(
                    f"{place}: it is of {shown(owner or 'nobody')}, and not all memories are of one",
                    hint="Leave --peer out: each keeps the name that it has there.",
                )
            peer = self._peer(owner)
            if peer not in met:
                met.add(peer)
                yield ImportedPeer(peer, clean(owner or peer))
            yield _statement(one, peer, ids, place)

    def _memories(self) -> Iterator[tuple[_Memory | Skipped, str]]:
        name, number = self._path.name, 0
        with opened(self._path) as file:
            for raw in elements(file, name):
                number += 1
                if number > 1 or not _is_page(raw):
                    yield decoded(raw, _Memory, f"{name}, memory {number}"), f"{name}, memory {number}"
                    continue
                page = decoded(raw, _MemoryPage, name)
                for nth, one in enumerate(page.results, 1):
                    yield one, f"{name}, memory {nth}"
                if page.next:
                    yield Skipped("further pages, which the file names and does not hold"), name

    def _peer(self, owner: str | None) -> str:
        return self._wanted.peer if owner is None or self._wanted.renamed else name_of(owner)


class _Results(Struct):
    results: Any = None


def _is_page(raw: bytes) -> bool:
    try:
        return decoded(raw, _Results, "").results is not None
    except ImportUnreadable:
        return False


def _statement(one: _Memory, peer: str, ids: Counted, place: str) -> ImportedStatement:
    text = one.memory or ""
    told = {
        "user": one.user_id,
        "agent": one.agent_id,
        "app": one.app_id,
        "run": one.run_id,
        "created_at": None if one.created_at is None else str(one.created_at),
        "categories": one.categories or None,
        "mended": True if clean(text) != text else None,
    }
    return ImportedStatement(
        peer,
        peer,
        clean(text).strip(),
        clean(str(one.id)) if one.id is not None else ids.id_of(peer, text),
        place,
        moment(one.updated_at, place) or moment(one.created_at, place),
        metadata=bag(one.metadata, place),
        origin=bag({key: value for key, value in told.items() if value is not None}, place),
    )
