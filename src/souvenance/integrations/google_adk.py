"""Google's Agent Development Kit: a memory service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from souvenance.errors import NotFound
from souvenance.extras import importing
from souvenance.integrations.namespaces import namespace_of
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
        """Keep the text of those of these events that are not kept yet."""
        await asyncio.to_thread(self._add, app_name, user_id, session_id, events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep these statements as lines of the user."""
        peer, namespace = self._memory.peer(user_id), namespace_of([app_name])
        for text in filter(None, (_text(one.content) for one in memories)):
            await asyncio.to_thread(peer.put, text, namespace=namespace)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What the user said or was told in the app that answers the query, best first."""
        lines = await asyncio.to_thread(
            self._memory.peer(user_id).get,
            query,
            namespaces=namespace_of([app_name]),
            limit=self._limit,
            floor=True,
        )
        return SearchMemoryResponse(memories=[_entry(app_name, line) for line in lines])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase what `search_memory` found, by its id. What is not there is no error."""
        if memory_id:
            await asyncio.to_thread(self._forget, user_id, memory_id)

    def _add(self, app: str, user: str, session: str | None, events: Iterable[Event]) -> None:
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
                    kind="memory" if event.author == _USER else _REPLY,
                    session=session,
                    occurred_at=_when(event),
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


def _entry(app: str, line: Line) -> MemoryEntry:
    author, role = (app, "model") if line.kind == _REPLY else (_USER, _USER)
    when = line.occurred_at or line.created_at
    content = Content(role=role, parts=[Part(text=line.text)])
    return MemoryEntry(id=line.id, author=author, timestamp=when.isoformat(), content=content)
