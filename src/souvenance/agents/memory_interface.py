"""What the provider asks of memory, in its own words: of the user, of the agent, of this session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from souvenance.domain.trust import Trust

USER = "user"
AI = "ai"


class RecalledPassage(Struct, frozen=True):
    """A message that was said."""

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
    """What memory has for a turn."""

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


class MemoryNote(Struct, frozen=True):
    """A conclusion."""

    id: str
    text: str
    at: datetime


class ConversationMemory(Protocol):
    """The memory of one conversation. `peer` is USER, AI or the name of another peer.

    Raises, all of it: SouvenanceError.
    """

    def known(self, message: str) -> Known:
        """What bears on the message, and what is known of who wrote it."""
        ...

    def ask(self, question: str, level: str, peer: str = USER) -> str:
        """An answer in words; empty if memory has none."""
        ...

    def search(self, query: str, peer: str, limit: int) -> Sequence[RecalledPassage]: ...

    def card(self, peer: str) -> Sequence[str]: ...

    def write_card(self, peer: str, entries: Sequence[str]) -> Sequence[str]:
        """The card as it then is."""
        ...

    def snapshot(self, peer: str) -> SessionSnapshot: ...

    def conclude(self, peer: str, text: str) -> MemoryNote: ...

    def conclusions(self, peer: str, query: str | None) -> Sequence[MemoryNote]:
        """Those that answer the query, or else the newest."""
        ...

    def stated(self, peer: str, query: str) -> Sequence[MemoryNote]:
        """What was stated of the peer, not concluded from what was said, and may answer the query."""
        ...

    def retract(self, note_id: str) -> None: ...
