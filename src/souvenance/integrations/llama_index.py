"""LlamaIndex: a block of its `Memory`."""

from __future__ import annotations

import asyncio
from typing import Any

from souvenance.domain.frame import framed
from souvenance.extras import importing
from souvenance.integrations.tools import shown
from souvenance.integrations.transcript import SessionTranscript, TranscriptEntry
from souvenance.memory.sync import Peer

with importing("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import BaseMemoryBlock


class SouvenanceMemoryBlock(BaseMemoryBlock[str]):
    """Recalls what answers the newest message, and keeps the messages that leave the short-term memory.

    `peer` is `memory.peer(USER)`. Messages are kept in the session that `Memory` names.
    """

    name: str = "souvenance"
    peer: Any
    agent: str = "assistant"
    limit: int = 5

    def __init__(self, peer: Peer, **settings: Any) -> None:
        super().__init__(peer=peer, **settings)

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        asked = [one.content for one in messages or () if one.role == MessageRole.USER and one.content]
        if not asked:
            return ""
        lines = await asyncio.to_thread(self.peer.get, asked[-1], limit=self.limit, floor=True)
        return framed(shown(lines))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        said: dict[str, list[TranscriptEntry]] = {}
        for one in messages:
            if one.content:
                session = one.additional_kwargs.get("session_id", self.name)
                entry = TranscriptEntry(one.role == MessageRole.USER, one.content, {"role": one.role.value})
                said.setdefault(session, []).append(entry)
        for session, entries in said.items():
            transcript = SessionTranscript(self.peer.session(session), self.agent)
            await asyncio.to_thread(transcript.add, entries)
