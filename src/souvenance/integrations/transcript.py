"""The messages of a framework, kept in a session and given back as they were."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from souvenance.domain.line import MESSAGE
from souvenance.domain.trust import is_carried
from souvenance.errors import InvalidInput, NotFound
from souvenance.memory.results import Message
from souvenance.memory.sync import Session

_MOST_CHARS = 20_000
"""A longer text is kept as several messages."""
_MOST_MESSAGES = 100
_CONTINUED = "continued"
_JSON = "json"


class TranscriptEntry(NamedTuple):
    """Metadata is not encrypted, so nothing that was said belongs into `metadata`."""

    by_user: bool
    text: str
    metadata: Mapping[str, Any]

    @classmethod
    def whole(cls, kind: str, document: Any) -> TranscriptEntry:
        """What is more than the text of a person or an agent. `kind` says what, as the framework calls it."""
        return cls(False, json.dumps(document, ensure_ascii=False), {"type": kind, _JSON: True})

    @property
    def document(self) -> Any:
        """What `whole` was made of; None for another entry."""
        return json.loads(self.text) if self.metadata.get(_JSON) else None


class SessionTranscript:
    """What a person and an agent say in a session."""

    def __init__(self, session: Session, agent: str) -> None:
        """Raises: InvalidInput."""
        if session.peer is None:
            raise InvalidInput(
                "nobody says whose conversation it is", hint="Use memory.peer(NAME).session(NAME)."
            )
        self._session = session
        self._user = session.peer
        self._agent = agent

    def add(self, entries: Iterable[TranscriptEntry]) -> None:
        """Up to 100 messages are stored at once, or none of them."""
        said = [
            (self._user if one.by_user else self._agent, piece, metadata)
            for one in entries
            for piece, metadata in _pieces(one)
        ]
        for first in range(0, len(said), _MOST_MESSAGES):
            self._session.add_all(said[first : first + _MOST_MESSAGES])

    def entries(self) -> Iterator[TranscriptEntry]:
        """From the oldest on."""
        text = ""
        for message in self._messages():
            text += message.text
            if not message.metadata.get(_CONTINUED):
                yield TranscriptEntry(message.peer == self._user, text, message.metadata)
                text = ""

    def pop(self) -> TranscriptEntry | None:
        """Erase the newest and return it."""
        messages = self._messages()
        taken: list[Message] = []
        while messages and (not taken or messages[-1].metadata.get(_CONTINUED)):
            taken.insert(0, messages.pop())
        for message in reversed(taken):
            self._session.forget(message.id)
        if not taken:
            return None
        text = "".join(one.text for one in taken)
        return TranscriptEntry(taken[-1].peer == self._user, text, taken[-1].metadata)

    def clear(self) -> None:
        """Erase all."""
        try:
            self._session.delete()
        except NotFound:
            return

    def _messages(self) -> list[Message]:
        """What the two said. None of a session that nobody has begun."""
        try:
            return [one for one in self._session.messages() if self._has(one)]
        except NotFound:
            return []

    def _has(self, message: Message) -> bool:
        """Whether one of the two said it, and did not only carry it, as a file."""
        whole = bool(message.metadata.get(_JSON))
        return message.peer in (self._user, self._agent) and (
            whole or not is_carried(MESSAGE, message.metadata)
        )


def _pieces(entry: TranscriptEntry) -> Iterator[tuple[str, Mapping[str, Any]]]:
    text = entry.text
    while len(text) > _MOST_CHARS:
        yield text[:_MOST_CHARS], {**entry.metadata, _CONTINUED: True}
        text = text[_MOST_CHARS:]
    yield text, entry.metadata
