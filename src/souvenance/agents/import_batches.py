"""What another memory held, as the gate takes it: in pieces that fit, with their times and where from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from souvenance.agents.names import digest
from souvenance.decoders import settled
from souvenance.domain import imports as r
from souvenance.domain.chunking import chunks
from souvenance.errors import ImportUnreadable, SouvenanceError
from souvenance.gate.conversation.conclusions import NewConclusion
from souvenance.gate.conversation.messages import MOST_MESSAGE_CHARS, NewMessage
from souvenance.gate.conversation.resource import NewName, encode_object

_MOST_BYTES = 60_000
"""Of one line, or the characters of a message: what is longer becomes several."""
_PIECE_CHARS = 12_000
"""So many fit into the bytes of a line in any script."""
_AHEAD = timedelta(days=1)


class ImportTerms(Struct, frozen=True):
    """How what is read is taken in."""

    kind: str
    """What the source is, as provenance says it."""
    now: datetime
    workspace: str | None
    """Where everything goes; None if each workspace of the source keeps its name."""
    namespace: str | None = None
    lenient: bool = False
    """Whether what can't be kept here is left out, and not a reason to stop: nobody can mend the source."""
    own_words: bool = False
    """Whether messages and statements are taken for their peer's own words, and cards as they are."""


class Wording:
    """Records in the gate's words."""

    def __init__(self, terms: ImportTerms) -> None:
        self._terms = terms

    def messages(self, record: r.ImportedMessage) -> Iterator[tuple[str, NewMessage]]:
        """The record as messages, several if it is long, each with what it is known again by.

        Raises: ImportUnreadable.
        """
        for part_id, text, part in _parts(record):
            metadata = self.told_from(record.metadata, part_id, {**record.origin, **part})
            told = {
                "content": text,
                "peer_id": record.peer,
                "metadata": metadata,
                "created_at": self._time(record.at, record.place),
            }
            yield part_id, self._made(told, NewMessage, record.place)

    def statements(self, record: r.ImportedStatement) -> Iterator[NewConclusion]:
        """Raises: ImportUnreadable."""
        terms = self._terms
        for part_id, text, part in _parts(record):
            key = digest(terms.kind, record.observer, record.observed, part_id, text)
            told = {
                "content": text,
                "observer_id": record.observer,
                "observed_id": record.observed,
                "session_id": record.session,
                "metadata": self.told_from(record.metadata, part_id, {**record.origin, **part}),
                "created_at": self._time(record.at, record.place),
                "quoted": not terms.own_words,
                "key": f"{terms.kind}-{key[:40]}",
            }
            yield self._made(told, NewConclusion, record.place)

    def _made(self, told: dict[str, Any], kind: type[Any], place: str) -> Any:
        try:
            encode_object(told["metadata"])
            return msgspec.convert(told, settled(kind))
        except (msgspec.ValidationError, SouvenanceError) as error:
            raise ImportUnreadable(f"{place}: {getattr(error, 'detail', error)}") from None

    def check(self, name: str, metadata: Mapping[str, Any], place: str, source_id: str) -> None:
        """Raises: ImportUnreadable if what has that name can't be kept."""
        try:
            msgspec.convert(name, settled(NewName))
            encode_object(self.told_from(metadata, source_id, {}))
        except (msgspec.ValidationError, SouvenanceError) as error:
            raise ImportUnreadable(f"{place}: {getattr(error, 'detail', error)}") from None

    def told_from(
        self, metadata: Mapping[str, Any], source_id: str, origin: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The metadata of something, with where it comes from."""
        told: dict[str, Any] = {
            "from": self._terms.kind,
            "id": source_id,
            "at": self._terms.now.isoformat(timespec="seconds"),
        }
        if self._terms.own_words:
            told[r.OWN_WORDS] = True
        before = metadata.get(r.PROVENANCE)
        earlier = {"before": _once(before)} if isinstance(before, Mapping) else {}
        return {**metadata, r.PROVENANCE: {**origin, **told, **earlier}}

    def _time(self, at: datetime | None, place: str) -> datetime | None:
        if at is not None and at > self._terms.now + _AHEAD:
            raise ImportUnreadable(f"{place}: its time lies in the future: {at.isoformat()}")
        return at


def _parts(record: r.ImportedMessage | r.ImportedStatement) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The text in pieces that each fit into a line: their ids, their texts and which piece it is."""
    text = record.text
    short = len(text) <= MOST_MESSAGE_CHARS and len(text.encode("utf-8", "replace")) <= _MOST_BYTES
    pieces = [text] if short else chunks(text, _PIECE_CHARS)
    if len(pieces) == 1:
        yield record.id, pieces[0], {}
        return
    for number, piece in enumerate(pieces, 1):
        yield f"{record.id}#{number}", piece, {"part": number, "parts": len(pieces)}


def _once(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Where it came from before that, without what was before that again."""
    return {key: value for key, value in provenance.items() if isinstance(value, str | int | float | bool)}
