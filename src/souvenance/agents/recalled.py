"""What memory knows for a conversation: about the user, about the agent, from this session."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from souvenance.domain.trust import Trust

USER = "user"
AI = "ai"


class RecalledPassage(Struct, frozen=True):
    id: str
    peer: str
    session: str
    text: str
    said_at: datetime
    trust: Trust = Trust.SAID
    beside: str = ""
    """What messages share that are quoted together, because one makes the other understood."""


class Portrait(Struct, frozen=True):
    """What is known of a peer: the conclusions, as they are rendered, the key facts, and what was said."""

    view: str = ""
    card: tuple[str, ...] = ()
    said: tuple[RecalledPassage, ...] = ()
    """Messages that bear on what was asked, or are central, best first."""


class Known(Struct, frozen=True):
    summary: str = ""
    user: Portrait = Portrait()
    ai: Portrait = Portrait()
    passages: tuple[RecalledPassage, ...] = ()
    """What was said before that bears on the current message, best first."""


class SessionSnapshot(Struct, frozen=True):
    summary: str
    portrait: Portrait
    recent: tuple[RecalledPassage, ...]
    """The newest messages of the session, oldest first."""
