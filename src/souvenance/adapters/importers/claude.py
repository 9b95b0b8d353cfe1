"""Claude's data export: the zip that is sent by mail, or the conversations.json in it.

A message has its text in blocks. What the two said to each other is read, and nothing between: thinking,
calls of tools and their results, attachments and files. An export does not say which branch of a
conversation its owner saw last, so all of its messages are taken, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from souvenance.adapters.importers.json_files import ChatExport, mended
from souvenance.adapters.importers.source_files import clean, decoded, moment, names_in, shown
from souvenance.domain.imports import ImportedMessage, Record, Skipped

CLAUDE = "claude"
_KEPT = re.compile(r"(?:memories|projects)\.json")
_LEFT_OUT = {
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "tool_use": "messages of the system and of tools",
    "tool_result": "messages of the system and of tools",
}


class _Block(Struct):
    type: str = ""
    text: str | None = None


class _ClaudeMessage(Struct):
    uuid: str
    sender: str = ""
    text: str | None = None
    content: list[_Block] | None = None
    created_at: str | None = None
    attachments: list[dict[str, object]] | None = None
    files: list[dict[str, object]] | None = None


class _Chat(Struct):
    chat_messages: list[_ClaudeMessage]
    uuid: str | None = None
    name: str | None = None
    created_at: str | None = None


class Claude(ChatExport):
    kind = CLAUDE

    def records(self) -> Iterator[Record]:
        yield from super().records()
        for _ in names_in(self._path, _KEPT) if self._members else ():
            yield Skipped("files of projects and of what Claude kept in mind")

    def _records_of(self, raw: bytes, place: str) -> Iterator[Record]:
        chat = decoded(raw, _Chat, place)
        yield from self._told(chat.uuid, chat.name, list(self._said(chat, place)), place)

    def _said(self, chat: _Chat, place: str) -> Iterator[ImportedMessage | Skipped]:
        latest = chat.created_at
        for one in chat.chat_messages:
            latest = one.created_at or latest
            if one.sender not in ("human", "assistant"):
                yield Skipped("messages of the system and of tools")
                continue
            blocks = one.content or []
            for block in blocks:
                if block.type != "text":
                    yield Skipped(_LEFT_OUT.get(block.type, "blocks that are not text"))
            for _ in (*(one.attachments or ()), *(one.files or ())):
                yield Skipped("attachments and files in messages")
            text = "\n\n".join(block.text for block in blocks if block.type == "text" and block.text)
            text = text if blocks else one.text or ""
            if not text.strip():
                yield Skipped("empty messages")
                continue
            where = f"{place}, message {shown(one.uuid)}"
            yield ImportedMessage(
                self._session(chat.uuid),
                self._peer if one.sender == "human" else self.kind,
                clean(text),
                clean(one.uuid),
                where,
                moment(latest, where),
                origin={"conversation": clean(chat.uuid or ""), **mended(text)},
            )
