"""LangChain: the history of a chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from souvenance.extras import importing
from souvenance.integrations.transcript import SessionTranscript, TranscriptEntry
from souvenance.memory.sync import Session

with importing("langchain"):
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        message_to_dict,
        messages_from_dict,
    )

_BESIDE_TEXT = ("additional_kwargs", "tool_calls", "invalid_tool_calls")
_KEPT = ("id", "name")


class SouvenanceChatHistory(BaseChatMessageHistory):
    """The messages of a session. `session` is `memory.peer(USER).session(NAME)`.

    What the user says is remembered of the user. Of a message that is only text the text, the id and the name
    are kept; of others all.
    """

    def __init__(self, session: Session, *, agent: str = "assistant") -> None:
        super().__init__()
        self._transcript = SessionTranscript(session, agent)

    @property
    def messages(self) -> list[BaseMessage]:
        """All of them, oldest first."""
        return [_message(one) for one in self._transcript.entries()]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end."""
        self._transcript.add(map(_entry, messages))

    def clear(self) -> None:
        """Erase all messages."""
        self._transcript.clear()


def _entry(message: BaseMessage) -> TranscriptEntry:
    document: dict[str, Any] = message_to_dict(message)
    kind, data = document["type"], document["data"]
    text = data["content"]
    if kind not in ("human", "ai") or not isinstance(text, str) or any(map(data.get, _BESIDE_TEXT)):
        return TranscriptEntry.whole(kind, document)
    kept = {name: data[name] for name in _KEPT if data.get(name)}
    return TranscriptEntry(kind == "human", text, {"type": kind, **kept})


def _message(entry: TranscriptEntry) -> BaseMessage:
    if entry.document is not None:
        return messages_from_dict([entry.document])[0]
    kept = {name: entry.metadata[name] for name in _KEPT if name in entry.metadata}
    return (HumanMessage if entry.by_user else AIMessage)(entry.text, **kept)
