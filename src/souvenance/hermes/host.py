"""What the host says about a conversation when it starts one."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

PERSONAL = frozenset({"cli", "tui", "acp", "desktop", "local"})
"""The platforms whose only user is who runs them."""


class HostConversation(Struct, frozen=True, kw_only=True):
    session_id: str
    platform: str = "cli"
    home: Path
    profile: str = "default"
    directory: Path
    user_id: str | None = None
    user_id_alt: str | None = None
    user_name: str | None = None
    chat_id: str | None = None
    chat_name: str | None = None
    chat_type: str | None = None
    thread_id: str | None = None
    gateway_session_key: str | None = None
    session_title: str | None = None
