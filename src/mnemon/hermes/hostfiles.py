"""What the host keeps itself: the files of its own memory, taken into ours, and its transcript."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from mnemon.hermes.letters import Page, Statement
from mnemon.turns.memory import AI, USER
from mnemon.turns.seat import Seat
from mnemon.turns.secrets import redact

_MOST_BYTES = 200_000
_FILES = (("memories/MEMORY.md", AI), ("memories/USER.md", USER), ("SOUL.md", AI))
_SAID = """
    SELECT NOT active, content FROM messages
    WHERE session_id = ? AND role = 'user' AND NOT compacted ORDER BY id
"""
_JSON = "\x00json:"
"""What the host puts before content in parts."""


def pages(home: Path, seat: Seat) -> list[Page]:
    """What the host has written down of its owner and of itself."""
    found = []
    for name, peer in _FILES:
        try:
            with open(home / name, "rb") as file:
                text = file.read(_MOST_BYTES).decode(errors="ignore").strip()
        except OSError:
            continue
        if text and text != _template(name):
            found.append(Page(seat, peer, Path(name).name, redact(text)))
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


def said_and_undone(home: Path, session_id: str) -> tuple[list[Any], list[Any]]:
    """What the user said in a session by the host's own transcript, oldest first, and what they took back.

    Neither if the transcript can't be read.
    """
    import sqlite3

    path = home / "state.db"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.2)) as found:
            rows = found.execute(_SAID, (session_id,)).fetchall()
    except sqlite3.Error:
        return [], []
    said = [_content(text) for undone, text in rows if not undone]
    return said, [_content(text) for undone, text in rows if undone]


def _content(text: object) -> Any:
    if isinstance(text, str) and text.startswith(_JSON):
        try:
            return json.loads(text.removeprefix(_JSON))
        except ValueError:
            return text
    return text


def statement(
    seat: Seat, action: str, target: str, content: str, metadata: Mapping[str, Any] | None
) -> Statement | None:
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
            return Statement(seat, peer, text)
        case "replace" if text:
            return Statement(seat, peer, text, instead_of=gone)
        case "remove" if gone or text:
            return Statement(seat, peer, None, instead_of=gone or text)
        case _:
            return None
