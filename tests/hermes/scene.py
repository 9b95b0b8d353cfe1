"""A memory that holds what a test put there, and a profile's configuration to play with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from souvenance.agents.recalled import (
    USER,
    Known,
    Portrait,
    RecalledPassage,
    SessionSnapshot,
)
from souvenance.domain.trust import Trust
from souvenance.errors import NotFound, SouvenanceError
from souvenance.gate.conversation.conclusions import ConclusionAnswer
from souvenance.hermes.configuration import Configuration

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
HOME = Path("/home/ann/.hermes")


def configured(**keys: Any) -> Configuration:
    """What a profile has that sets these keys and nothing else."""
    return Configuration(
        **{
            "home": HOME,
            "host": "hermes",
            "workspace": "hermes",
            "ai_peer": "hermes",
            "store": HOME / "souvenance",
        }
        | keys
    )


def said(
    text: str,
    *,
    peer: str = "ann",
    session: str = "trip",
    on: str = "2026-05-03",
    trust: Trust = Trust.SAID,
) -> RecalledPassage:
    at = datetime.fromisoformat(f"{on}T10:00:00+00:00")
    return RecalledPassage(f"{peer}-{text[:8]}", peer, session, text, at, trust)


def a_note(note_id: str, text: str) -> ConclusionAnswer:
    return ConclusionAnswer(note_id, text, "hermes", "ann", None, None, NOW)


class Shelf:
    """Memory as a test furnished it. It notes in `asked` what was wanted of it."""

    def __init__(self) -> None:
        self.now_known = Known()
        self.answer = ""
        self.passages: list[RecalledPassage] = []
        self.cards: dict[str, list[str]] = {}
        self.summary = ""
        self.views: dict[str, str] = {}
        self.recent: list[RecalledPassage] = []
        self.notes: dict[str, ConclusionAnswer] = {}
        self.broken: SouvenanceError | None = None
        self.asked: list[tuple[Any, ...]] = []

    def _note(self, *asked: Any) -> None:
        self.asked.append(asked)
        if self.broken is not None:
            raise self.broken

    def known(self, message: str, *, shown: str = "", room: int | None = None) -> Known:
        self._note("known", message)
        return self.now_known

    def ask(self, question: str, level: str, peer: str = USER) -> str:
        self._note("ask", question, level, peer)
        return self.answer

    def search(self, query: str, peer: str, limit: int) -> Sequence[RecalledPassage]:
        self._note("search", query, peer, limit)
        return self.passages[:limit]

    def card(self, peer: str) -> Sequence[str]:
        self._note("card", peer)
        return self.cards.get(peer, [])

    def write_card(self, peer: str, entries: Sequence[str]) -> Sequence[str]:
        self._note("write_card", peer, tuple(entries))
        self.cards[peer] = list(entries)
        return self.cards[peer]

    def snapshot(self, peer: str) -> SessionSnapshot:
        self._note("snapshot", peer)
        portrait = Portrait(self.views.get(peer, ""), tuple(self.cards.get(peer, ())))
        return SessionSnapshot(self.summary, portrait, tuple(self.recent))

    def conclude(self, peer: str, text: str) -> ConclusionAnswer:
        self._note("conclude", peer, text)
        note = a_note(f"note-{len(self.notes) + 1}", text)
        self.notes[note.id] = note
        return note

    def stated(self, peer: str, query: str) -> Sequence[ConclusionAnswer]:
        self._note("stated", peer, query)
        return list(self.notes.values())

    def conclusions(self, peer: str, query: str | None) -> Sequence[ConclusionAnswer]:
        self._note("conclusions", peer, query)
        return [note for note in self.notes.values() if query is None or query in note.content]

    def retract(self, note_id: str) -> None:
        self._note("retract", note_id)
        if self.notes.pop(note_id, None) is None:
            raise NotFound("no such conclusion")
