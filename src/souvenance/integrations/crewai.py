"""CrewAI: the memory of a crew, an agent or a flow."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from souvenance.domain.frame import defuse
from souvenance.domain.limits import RECALL_MOST
from souvenance.errors import NotFound, Unsupported
from souvenance.extras import importing
from souvenance.integrations.namespaces import labels_of, namespace_of
from souvenance.integrations.tools import alone
from souvenance.memory.results import Line
from souvenance.memory.sync import LineMethods

with importing("crewai"):
    from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo
    from crewai.memory.unified_memory import Memory
    from crewai.memory.utils import join_scope_paths

_RECORD = "record"
_SCALARS = (int, float, type(None))
_MORE = ("categories", "metadata", "importance", "source", "private")
"""What a record may have beside its content. Such a record is a line of JSON; others are lines of text."""


class SouvenanceCrewMemory(Memory):
    """The memory of `memory`, a `Memory` or a `Peer` of it: scope `/a/b` is the namespace `crew.a.b`.

    What is remembered is kept as it is said, and Souvenance searches it: neither asks `llm` or `embedder`.
    """

    def __init__(self, memory: LineMethods, *, namespace: str = "crew", **settings: Any) -> None:
        storage = SouvenanceStorage(memory, namespace)
        super().__init__(**{"storage": storage, "embedder": lambda texts: [], **settings})

    def remember(
        self, content: str, scope: str | None = None, *, root_scope: str | None = None, **more: Any
    ) -> MemoryRecord | None:
        """Keep a statement."""
        more.pop("agent_role", None)
        if self.read_only:
            return None
        given = {name: value for name, value in more.items() if value is not None}
        record = MemoryRecord(content=content, scope=self._path(scope, root_scope), **given)
        self._storage.save([record])
        return record

    def remember_many(self, contents: list[str], *args: Any, **more: Any) -> list[MemoryRecord]:
        """Keep statements."""
        kept = [self.remember(content, *args, **more) for content in contents]
        return [one for one in kept if one is not None]

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: str = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """What answers the query best, 20 records at most, for a prompt. `depth` makes no difference."""
        return [
            MemoryMatch(record=_shown(record, line.trust), score=line.score or 0.0)
            for line, record in self._storage.recall(query, self._path(scope), limit)
            if _is_of(record, categories)
            and (not record.private or include_private or (source and record.source == source))
        ]

    def _path(self, scope: str | None, root: str | None = None) -> str:
        return str(join_scope_paths(root or self.root_scope, scope))


class SouvenanceStorage:
    """A `StorageBackend` of CrewAI's, but for searches by a vector of the caller's."""

    def __init__(self, memory: LineMethods, namespace: str) -> None:
        self._memory = memory
        self._base = labels_of(namespace)

    def recall(self, query: str, scope: str, limit: int) -> list[tuple[Line, MemoryRecord]]:
        """What answers the query best, as it was kept."""
        names = self._namespaces(scope)
        if not names:
            return []
        lines = self._memory.get(query, namespaces=names, limit=min(limit, RECALL_MOST), floor=True)
        return [(line, self._record(line)) for line in lines]

    def save(self, records: list[MemoryRecord]) -> None:
        """Keep the records, and give each the id of its line."""
        for record in records:
            text, kind = _said(record)
            record.id = self._memory.put(text, namespace=self._namespace(record.scope), kind=kind)

    def update(self, record: MemoryRecord) -> None:
        """Correct the record. In another scope, or with more or less beside its content, it is a new one."""
        text, kind = _said(record)
        line = self._memory.line(record.id)
        if (line.namespace, line.kind) == (self._namespace(record.scope), kind):
            record.id = self._memory.correct(line.id, text)
        else:
            self.save([record])
            self._memory.correct(line.id)

    def search(self, query_embedding: list[float], *args: Any, **more: Any) -> list[Any]:
        """Raises: Unsupported."""
        raise Unsupported(
            "memory is not searched by a vector of the caller's", hint="Use SouvenanceCrewMemory."
        )

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erase the records that are all of this, and say how many they were."""
        gone = [
            record.id
            for record in self._records(scope_prefix)
            if _is_of(record, categories)
            and (record_ids is None or record.id in record_ids)
            and (older_than is None or record.created_at < older_than)
            and all(record.metadata.get(name) == value for name, value in (metadata_filter or {}).items())
        ]
        for id in gone:
            self._memory.forget(id)
        return len(gone)

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erase all records of the scope."""
        self.delete(scope_prefix)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """A record by its id."""
        try:
            line = self._memory.line(record_id)
        except NotFound:
            return None
        return None if line.replaced_by else self._record(line)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """The records of the scope, newest first."""
        found = sorted(self._records(scope_prefix), key=lambda one: one.created_at, reverse=True)
        return found[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """What is in the scope."""
        records = list(self._records(scope))
        times = [one.created_at for one in records]
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted(self.list_categories(scope)),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes right below."""
        above = self._labels(parent)
        below = {path[: len(above) + 1] for path in map(labels_of, self._namespaces(parent)) if path != above}
        return sorted(self._scope(path) for path in below)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """How many records have each category."""
        return dict(Counter(one for record in self._records(scope_prefix) for one in record.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """How many records the scope has."""
        return sum(1 for _ in self._records(scope_prefix))

    def _records(self, scope: str | None) -> Iterator[MemoryRecord]:
        if names := self._namespaces(scope or "/"):
            yield from map(self._record, self._memory.list(namespaces=names))

    def _record(self, line: Line) -> MemoryRecord:
        more = json.loads(line.text) if line.kind == _RECORD else {"content": line.text}
        when = line.created_at.replace(tzinfo=None)
        scope = self._scope(labels_of(line.namespace))
        return MemoryRecord(id=line.id, scope=scope, created_at=when, last_accessed=when, **more)

    def _labels(self, scope: str) -> tuple[str, ...]:
        return (*self._base, *filter(None, scope.split("/")))

    def _namespace(self, scope: str) -> str:
        return namespace_of(self._labels(scope))

    def _namespaces(self, scope: str) -> list[str]:
        """Those of the scope and of all below it."""
        above = self._labels(scope)
        return [one for one in self._memory.namespaces() if labels_of(one)[: len(above)] == above]

    def _scope(self, labels: tuple[str, ...]) -> str:
        return "/" + "/".join(labels[len(self._base) :])


def _said(record: MemoryRecord) -> tuple[str, str]:
    """The text of a record's line, and its kind."""
    plain = MemoryRecord(content=record.content)
    more = {name: getattr(record, name) for name in _MORE if getattr(record, name) != getattr(plain, name)}
    if not more:
        return record.content, "memory"
    return json.dumps({"content": record.content, **more}, ensure_ascii=False), _RECORD


def _shown(record: MemoryRecord, trust: str) -> MemoryRecord:
    """The record for a prompt: in one, CrewAI puts its text, its categories and its metadata."""
    safe = {
        "content": alone(record.content, trust),
        "categories": [*map(defuse, record.categories)],
        "metadata": {
            defuse(name): one if isinstance(one, _SCALARS) else defuse(str(one))
            for name, one in record.metadata.items()
        },
    }
    return record.model_copy(update=safe)


def _is_of(record: MemoryRecord, categories: list[str] | None) -> bool:
    return not categories or not set(categories).isdisjoint(record.categories)
