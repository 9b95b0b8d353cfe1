"""LangGraph: a store."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from msgspec import Struct, field

from souvenance.domain.limits import RECALL_MOST
from souvenance.errors import Conflict, Denied, InvalidInput, NotFound
from souvenance.extras import importing
from souvenance.integrations.namespaces import labels_of, namespace_of
from souvenance.memory.results import Line
from souvenance.memory.sync import LineMethods

with importing("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
    )

_ITEM = "item"
"""The kind of the lines that hold what a store was given. Another line is an item with the line's id as key
and its text as `text`."""
_MOST_NAMESPACES = 64
_OVERLAP = timedelta(seconds=5)
"""How long a line that another process stores may take until it can be listed."""
_COMPARISONS = {"$eq": eq, "$ne": ne, "$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


class _Keys(Struct):
    """Which line has which key in a namespace, of the lines stored until some time."""

    ids: dict[str, str] = field(default_factory=dict)
    until: datetime | None = None


class SouvenanceStore(BaseStore):
    """The lines of one owner as items: `("users", "ann")` is the namespace `users.ann`.

    `memory` is a `Memory`, or a `Peer` of it. An item is one line of JSON, and all of it is searched. `ttl`
    says how long items live by default, and whether reading one lets it live as long again.
    """

    supports_ttl = True

    def __init__(self, memory: LineMethods, *, ttl: TTLConfig | None = None) -> None:
        self.ttl_config = ttl
        self._memory = memory
        self._keys: defaultdict[str, _Keys] = defaultdict(_Keys)
        self._lock = threading.RLock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations, one after the other."""
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        match op:
            case GetOp():
                line = self._find(namespace_of(op.namespace), op.key)
                if line is not None and op.refresh_ttl:
                    self._prolong(line)
                return None if line is None else Item(**_fields(line))
            case PutOp(value=None):
                return self._delete(namespace_of(op.namespace), op.key)
            case PutOp():
                return self._put(op)
            case SearchOp():
                found = (
                    line for line in self._lines(op) if _passes(_document(line)["value"], op.filter or {})
                )
                chosen = list(islice(found, op.offset, op.offset + op.limit))
                for line in chosen if op.refresh_ttl else ():
                    self._prolong(line)
                return [SearchItem(**_fields(line), score=line.score) for line in chosen]
            case ListNamespacesOp():
                return self._list(op)

    def _find(self, namespace: str, key: str) -> Line | None:
        """The line that holds the key now."""
        id = self._refreshed(namespace).ids.get(key)
        while id is not None:
            try:
                line = self._memory.line(id)
            except NotFound:
                return None
            if line.replaced_by is None:
                return line if _key(line) == key else None
            id = line.replaced_by
        return None

    def _refreshed(self, namespace: str) -> _Keys:
        with self._lock:
            keys = self._keys[namespace]
            since = keys.until and keys.until - _OVERLAP
            for line in self._memory.list(namespaces=namespace, since=since):
                keys.ids[_key(line)] = line.id
                keys.until = line.created_at if keys.until is None else max(keys.until, line.created_at)
            return keys

    def _put(self, op: PutOp) -> None:
        namespace = namespace_of(op.namespace)
        with self._lock:
            before = self._find(namespace, op.key)
            document = {"key": op.key, "value": dict(op.value or {})}
            if op.index is not None and not op.index:
                document["index"] = False
            if op.ttl is not None:
                document["ttl"] = op.ttl
            if before is not None:
                document["created"] = _time(before, "created").timestamp()
            try:
                self._store(namespace, document, before)
            except Conflict:  # Another process was quicker: what is put last counts.
                self._put(op)

    def _store(self, namespace: str, document: dict[str, Any], before: Line | None) -> None:
        """Raises: Conflict if `before` was replaced meanwhile."""
        ttl = document.get("ttl")
        if before is not None and before.kind == _ITEM and ttl is None and before.expires_at is None:
            id = self._memory.correct(before.id, _text(document))
        else:  # A correction ends when its line ends. So this is no correction, and names the line before it.
            expires = None if ttl is None else datetime.now(UTC) + timedelta(minutes=ttl)
            text = _text(document if before is None else {**document, "before": before.id})
            id = self._memory.put(text, namespace=namespace, kind=_ITEM, expires_at=expires)
            if before is not None:
                self._memory.correct(before.id)
        self._keys[namespace].ids[document["key"]] = id

    def _prolong(self, line: Line) -> None:
        """Let an item that is read live as long again, if the token may write."""
        document = _document(line)
        if "ttl" in document:
            document |= {name: _time(line, name).timestamp() for name in ("created", "updated")}
            with self._lock, suppress(Conflict, Denied):
                self._store(line.namespace, document, line)

    def _delete(self, namespace: str, key: str) -> None:
        """Erase the item, with what it was before. The oldest goes first, so that none comes back."""
        line, ids = self._find(namespace, key), []
        while line is not None:
            ids.append(line.id)
            try:
                earlier = line.replaces or _document(line).get("before")
                line = self._memory.line(earlier) if earlier else None
            except NotFound:
                break
        for id in reversed(ids):
            self._memory.forget(id)

    def _lines(self, op: SearchOp) -> Iterator[Line]:
        """What answers the query best, or is newest, and then all others, newest first."""
        prefix = op.namespace_prefix
        names = [one for one in self._memory.namespaces() if labels_of(one)[: len(prefix)] == prefix]
        parts = [names[at : at + _MOST_NAMESPACES] for at in range(0, len(names), _MOST_NAMESPACES)]
        best = [
            line
            for part in parts
            for line in self._memory.get(op.query, namespaces=part, limit=RECALL_MOST)
            if not op.query or (line.matched and _document(line).get("index") is not False)
        ]
        best.sort(key=lambda line: (line.score or 0.0) if op.query else line.id, reverse=True)
        yield from best
        known = {line.id for line in best}
        others = chain.from_iterable(self._memory.list(namespaces=part) for part in parts)
        for line in sorted(others, key=lambda line: line.id, reverse=True):
            if line.id not in known:
                yield line

    def _list(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        paths = map(labels_of, self._memory.namespaces())
        conditions = op.match_conditions or ()
        found = {path[: op.max_depth] for path in paths if all(_matches(one, path) for one in conditions)}
        return sorted(found)[op.offset : op.offset + op.limit]


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False)


def _document(line: Line) -> dict[str, Any]:
    if line.kind == _ITEM:
        with suppress(ValueError):  # Somebody may have corrected it to a sentence.
            document = json.loads(line.text)
            if isinstance(document, dict) and document.keys() >= {"key", "value"}:
                return document
    return {"key": line.id, "value": {"text": line.text}}


def _key(line: Line) -> str:
    return str(_document(line)["key"])


def _time(line: Line, name: str) -> datetime:
    """When the item was created or updated."""
    time = _document(line).get(name)
    return line.created_at if time is None else datetime.fromtimestamp(time, UTC)


def _fields(line: Line) -> dict[str, Any]:
    """What an item is made of."""
    document = _document(line)
    return {
        "namespace": labels_of(line.namespace),
        "key": document["key"],
        "value": document["value"],
        "created_at": _time(line, "created"),
        "updated_at": _time(line, "updated"),
    }


def _matches(condition: MatchCondition, path: Sequence[str]) -> bool:
    wanted = condition.path
    part = path[: len(wanted)] if condition.match_type == "prefix" else path[len(path) - len(wanted) :]
    return len(path) >= len(wanted) and all(
        one in ("*", label) for one, label in zip(wanted, part, strict=True)
    )


def _passes(value: Any, wanted: Any) -> bool:
    """Whether the value has what a filter wants: the same values, or what its comparisons say.

    Raises: InvalidInput.
    """
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_compares(value, name, limit) for name, limit in wanted.items())
    return isinstance(value, dict) and all(_passes(value.get(name), one) for name, one in wanted.items())


def _compares(value: Any, name: str, limit: Any) -> bool:
    if name not in _COMPARISONS:
        raise InvalidInput(
            f"the filter compares with {name!r}", hint=f"Use one of {', '.join(_COMPARISONS)}."
        )
    try:
        return bool(_COMPARISONS[name](value, limit))
    except TypeError:
        return False
