"""OpenAI's Agents SDK: a session, and memory as tools."""

from __future__ import annotations

import asyncio
from typing import Any

from souvenance.domain.names import DEFAULT_NAMESPACE
from souvenance.errors import SouvenanceError
from souvenance.extras import importing
from souvenance.integrations.tools import memory_tools
from souvenance.integrations.transcript import SessionTranscript, TranscriptEntry
from souvenance.memory.sync import LineMethods, Session

with importing("openai-agents"):
    from agents import (
        FunctionTool,
        RunContextWrapper,
        SessionSettings,
        TResponseInputItem,
        default_tool_error_function,
        function_tool,
    )


class SouvenanceSession:
    """A `Session` of the SDK. `session` is `memory.peer(USER).session(NAME)`.

    What the user says is remembered of the user.
    """

    def __init__(self, session: Session, *, agent: str = "assistant") -> None:
        self.session_id = session.name
        self.session_settings: SessionSettings | None = None
        self._transcript = SessionTranscript(session, agent)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest `limit` items, or all, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = await asyncio.to_thread(lambda: [_item(one) for one in self._transcript.entries()])
        return items if limit is None else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end."""
        await asyncio.to_thread(self._transcript.add, [_entry(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Erase the newest item and return it."""
        newest = await asyncio.to_thread(self._transcript.pop)
        return None if newest is None else _item(newest)

    async def clear_session(self) -> None:
        """Erase all items."""
        await asyncio.to_thread(self._transcript.clear)


def agent_tools(memory: LineMethods, *, namespace: str = DEFAULT_NAMESPACE) -> list[FunctionTool]:
    """The tools `recall` and `remember` for an agent. `memory` is `memory.peer(USER)`."""
    return [
        function_tool(one, failure_error_function=_failure)
        for one in memory_tools(memory, namespace=namespace)
    ]


def _failure(context: RunContextWrapper[Any], error: Exception) -> str:
    """What the model is told: why, so that it does not try in vain."""
    if isinstance(error, SouvenanceError):
        return f"{error.detail}. {error.hint}"
    return str(default_tool_error_function(context, error))


def _entry(item: Any) -> TranscriptEntry:
    match item:
        case {"role": "user" | "assistant" as role, "content": str(text), **rest}:
            pass
        case {
            "role": "assistant" as role,
            "content": [{"type": "output_text", "text": str(text), **part}],
            **rest,
        }:
            if any(part.values()):
                return TranscriptEntry.whole("message", item)
            rest["parts"] = [*part]
        case {"role": role, **_rest}:
            return TranscriptEntry.whole(role, item)
        case _:
            return TranscriptEntry.whole(item["type"], item)
    return TranscriptEntry(role == "user", text, {"role": role, "item": rest})


def _item(entry: TranscriptEntry) -> Any:
    if entry.document is not None:
        return entry.document
    rest = dict(entry.metadata.get("item", {}))
    names, role = rest.pop("parts", None), "user" if entry.by_user else "assistant"
    if names is None:
        return {"role": role, "content": entry.text, **rest}
    part = {"type": "output_text", "text": entry.text, **{name: [] for name in names}}
    return {"role": role, "content": [part], **rest}
