"""What the host keeps itself of people: the files of its own memory, taken into ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.memory_interface import AI, USER
from souvenance.agents.redaction import redact
from souvenance.hermes.queued_writes import QueuedPage, QueuedStatement

_MOST_BYTES = 200_000
_FILES = (("memories/MEMORY.md", AI), ("memories/USER.md", USER), ("SOUL.md", AI))


def pages(home: Path, seat: ConversationScope) -> list[QueuedPage]:
    """What the host has written down of its owner and of itself."""
    found = []
    for name, peer in _FILES:
        try:
            with open(home / name, "rb") as file:
                text = file.read(_MOST_BYTES).decode(errors="ignore").strip()
        except OSError:
            continue
        if text and text != _template(name):
            found.append(QueuedPage(seat, peer, Path(name).name, redact(text)))
    return found


def _template(name: str) -> str | None:
    """What the host itself puts into a file before its owner has written a word."""
    if name != "SOUL.md":
        return None
    try:
        from hermes_cli.default_soul import DEFAULT_SOUL_MD  # type: ignore[import-not-found]
    except ImportError:
        return None
    return str(DEFAULT_SOUL_MD).strip()


def statement(
    seat: ConversationScope, action: str, target: str, content: str, metadata: Mapping[str, Any] | None
) -> QueuedStatement | None:
    """What a change to the host's own memory means for ours; None if nothing.

    What the agent notes for itself is for all whom it serves: from one of many, it is not taken.
    """
    peer = USER if target == "user" else AI
    if peer == AI and not seat.personal:
        return None
    text = redact(content.strip()) or None
    gone = str((metadata or {}).get("old_text") or "").strip() or None
    match action:
        case "add" if text:
            return QueuedStatement(seat, peer, text)
        case "replace" if text:
            return QueuedStatement(seat, peer, text, instead_of=gone)
        case "remove" if gone or text:
            return QueuedStatement(seat, peer, None, instead_of=gone or text)
        case _:
            return None
