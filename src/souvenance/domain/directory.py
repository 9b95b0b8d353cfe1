"""The directory: what a workspace knows by name, and who belongs to what.

Names, times, metadata and configuration are in the open, like those of a line; nothing said is here.
"""

from __future__ import annotations

from msgspec import Struct

from souvenance.domain.names import COMMON_NAMESPACE

WORKSPACE = "workspace"
PEER = "peer"
FORMER = "former"
"""A peer that was deleted and whose messages were kept."""

SESSION = "session"
SCOPE = "scope"
WEBHOOK = "webhook"

MEMBER = "member"
"""The membership of a peer (held) in a session (holder); `since` and `until` are turns of the session."""

PICK = "pick"
"""The membership of a session (held) in a scope (holder); `since` is when it was picked."""


class Entry(Struct, frozen=True):
    """Something with a name. A workspace is an entry of itself, under its own name.

    `namespace` is where a session lies, and where a peer came into being; other kinds lie in none.
    """

    workspace: str
    kind: str
    name: str
    uid: str
    created_at: int
    metadata: str = "{}"
    configuration: str = "{}"
    namespace: str = COMMON_NAMESPACE


class Membership(Struct, frozen=True):
    """That one belongs to another, from some point on and perhaps up to one (exclusive)."""

    workspace: str
    kind: str
    holder: str
    held: str
    since: int
    until: int | None = None
    configuration: str = "{}"
