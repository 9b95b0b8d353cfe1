"""The doors of a server: which there are, by what is configured and what is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from souvenance.domain.upstream import ChatSettings
from souvenance.gate.browser_sessions import BrowserSessions
from souvenance.gate.oauth_state import OAuthState
from souvenance.surfaces.http.door import Door
from souvenance.surfaces.http.inspector.door import InspectorDoor
from souvenance.surfaces.http.oauth.door import SignInDoor


def doors_of(
    chat: ChatSettings,
    reception: OAuthState,
    sessions: BrowserSessions,
    *,
    owner_cap: str,
    public_url: str | None,
    key: Callable[[str], str],
) -> list[Door]:
    """The doors beyond our own API and Honcho's. `key` reads a key from where the settings say it is.

    Raises: Misconfigured.
    """
    doors: list[Door] = [SignInDoor(reception, public_url), InspectorDoor(sessions, public_url)]
    if find_spec("mcp") is not None:
        from souvenance.surfaces.mcp.door import McpDoor

        doors.append(McpDoor(public_url=public_url))
    if chat.upstreams:
        from souvenance.surfaces.http.chat.door import ChatDoor

        doors.append(ChatDoor(chat, cap=owner_cap, key=key))
    return doors
