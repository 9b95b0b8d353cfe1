"""Google's Agent Development Kit: a memory service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from souvenance.domain.frame import defuse
from souvenance.errors import NotFound
from souvenance.extras import importing
from souvenance.integrations.namespaces import namespace_of
from souvenance.integrations.tools import alone
from souvenance.memory.results import Line
from souvenance.memory.sync import Memory

with importing("google-adk"):
    from google.adk.events import Event
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions import Session
    from google.genai.types import Content, Part

_USER = "user"
_SKEW = timedelta(hours=1)
"""How far apart the clocks of an app and of a server may be."""
_REPLY = "reply"
"""The kind of a line that an agent said to the user."""
_ENTRY = "entry"
"""The kind of a line of the user's that has metadata."""
_AUTHOR = "adk_author"
"""Who said a reply, in its metadata."""


class SouvenanceMemoryService(BaseMemoryService):
    """The memory of all users of all apps: a user is a peer, an app a namespace, an event a line."""

    def __init__(self, memory: Memory, *, limit: int = 10) -> None:
        self._memory = memory
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Keep the text of all events that are not kept yet."""
        await asyncio.to_thread(self._add, session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep the text of those of these events that are not kept yet, each with the metadata."""
        await asyncio.to_thread(self._add, app_name, user_id, session_id, events, custom_metadata)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep these statements, with author, time and metadata. Raises: ValueError, if a time is none."""
        put, namespace = self._memory.peer(user_id).put, namespace_of([app_name])
        for one, when in [(one, _parsed(one.timestamp)) for one in memories]:
            if text := _text(one.content):
                metadata = {**(custom_metadata or {}), **one.custom_metadata}
                fields = _fields(_author(app_name, user_id, one), metadata)
                await asyncio.to_thread(put, text, namespace=namespace, occurred_at=when, **fields)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What the user said or was told in the app that answers the query, best first, for a prompt."""
        found = await asyncio.to_thread(lambda: [*self._search(app_name, user_id, query)])
        return SearchMemoryResponse(memories=found)

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase what `search_memory` found, by its id. What is not there is no error."""
        if memory_id:
            await asyncio.to_thread(self._forget, user_id, memory_id)

    def _search(self, app: str, user: str, query: str) -> Iterator[MemoryEntry]:
        peer = self._memory.peer(user)
        found = peer.get(query, namespaces=namespace_of([app]), limit=self._limit, floor=True)
        for line in found:
            with suppress(NotFound):  # Somebody may have forgotten it meanwhile.
                more = dict(peer.line(line.id).metadata or {}) if line.kind in (_REPLY, _ENTRY) else {}
                author = defuse(str(more.pop(_AUTHOR, app))) if line.kind == _REPLY else _USER
                yield _entry(line, author, more)

    def _add(
        self,
        app: str,
        user: str,
        session: str | None,
        events: Iterable[Event],
        custom: Mapping[str, object] | None = None,
    ) -> None:
        said = [(event, text) for event in events if (text := _text(event.content))]
        if not said:
            return
        peer, namespace = self._memory.peer(user), namespace_of([app])
        first = min(_when(event) for event, _ in said) - _SKEW
        kept = {
            (line.session, line.occurred_at, line.text)
            for line in peer.list(namespaces=namespace, since=first, history=True)
        }
        for event, text in said:
            if (session, _when(event), text) not in kept:
                peer.put(
                    text,
                    namespace=namespace,
                    session=session,
                    occurred_at=_when(event),
                    **_fields(event.author, custom or {}),
                )

    def _forget(self, user: str, id: str) -> None:
        try:
            self._memory.peer(user).forget(id)
        except NotFound:
            return


def _when(event: Event) -> datetime:
    """To the millisecond, as lines have it."""
    return datetime.fromtimestamp(int(event.timestamp * 1000) / 1000, UTC)


def _text(content: Any) -> str:
    parts = content.parts if content and content.parts else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _author(app: str, user: str, entry: MemoryEntry) -> str:
    """The user is called `user`, as in events. An agent without a name is called by the app's."""
    author = entry.author or (app if entry.content.role == "model" else _USER)
    return _USER if author == user else author


def _parsed(timestamp: str | None) -> datetime | None:
    """In UTC if it names no time zone. Raises: ValueError."""
    when = datetime.fromisoformat(timestamp) if timestamp else None
    return when if when is None or when.tzinfo else when.replace(tzinfo=UTC)


def _fields(author: str, custom: Mapping[str, object]) -> dict[str, Any]:
    """The kind of a line and its metadata."""
    if author == _USER:
        return {"kind": _ENTRY, "metadata": custom} if custom else {}
    return {"kind": _REPLY, "metadata": {**custom, _AUTHOR: author}}


def _entry(line: Line, author: str, custom: dict[str, Any]) -> MemoryEntry:
    return MemoryEntry(
        id=line.id,
        author=author,
        timestamp=(line.occurred_at or line.created_at).isoformat(),
        content=Content(
            role="model" if line.kind == _REPLY else _USER, parts=[Part(text=alone(line.text, line.trust))]
        ),
        custom_metadata=custom,
    )
