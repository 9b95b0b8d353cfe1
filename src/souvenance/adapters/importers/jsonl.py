"""Plain JSONL, a message a line: `{"peer" or "role", "content", "created_at", "session", "metadata"}`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from souvenance.adapters.importers.source_files import (
    Counted,
    bag,
    clean,
    decoded,
    moment,
    name_of,
    opened,
    shown,
)
from souvenance.adapters.private_files import SourceFile
from souvenance.domain.imports import ImportedMessage, ImportedPeer, ImportedSession, Record, Skipped, Wanted
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.errors import ImportUnreadable

KIND = "jsonl"
ASSISTANT = "assistant"
MOST_LINE_BYTES = 16 * 1024 * 1024

_PERSON = frozenset({"user", "human"})
_MACHINE = frozenset({"assistant", "ai", "model", "bot"})
_UNSPOKEN = frozenset({"system", "developer", "tool", "function"})


class _JsonLine(Struct):
    content: str
    peer: str | None = None
    role: str | None = None
    session: str | None = None
    id: str | int | None = None
    created_at: str | float | None = None
    metadata: dict[str, Any] | None = None


class Jsonl:
    """The reader of such a file."""

    kind = KIND
    again = True

    def __init__(self, path: SourceFile, wanted: Wanted) -> None:
        self._path = path
        self._peer = wanted.peer
        self._session = name_of(path.stem, f"{KIND}-")
        """Of lines that name none."""

    def records(self) -> Iterator[Record]:
        ids = Counted()
        met: set[str] = set()
        begun: set[str] = set()
        for number, raw in self._lines():
            place = f"{self._path.name}, line {number}"
            line = decoded(raw, _JsonLine, place)
            if line.role in _UNSPOKEN:
                yield Skipped("messages of the system and of tools")
                continue
            if not line.content.strip():
                yield Skipped("empty messages")
                continue
            peer = self._speaker(line, place)
            if peer not in met:
                met.add(peer)
                machine = line.role in _MACHINE
                yield ImportedPeer(peer, clean(line.peer or peer), observed=False if machine else None)
            session = self._session if line.session is None else name_of(line.session)
            if session not in begun:
                begun.add(session)
                yield ImportedSession(session, clean(line.session or session), {peer: MemberReasoning()})
            yield self._message(line, peer, session, ids, place)

    def _message(self, line: _JsonLine, peer: str, session: str, ids: Counted, place: str) -> ImportedMessage:
        said = (session, peer, line.content, str(line.created_at))
        known = ids.id_of(*said) if line.id is None else clean(str(line.id))
        mended = {"mended": True} if clean(line.content) != line.content else {}
        return ImportedMessage(
            session,
            peer,
            clean(line.content),
            known,
            place,
            moment(line.created_at, place),
            bag(line.metadata, place),
            mended,
        )

    def _speaker(self, line: _JsonLine, place: str) -> str:
        if line.peer is not None:
            return name_of(line.peer)
        if line.role in _PERSON:
            return self._peer
        if line.role in _MACHINE:
            return ASSISTANT
        told = (
            "it says neither peer nor role" if line.role is None else f"there is no role {shown(line.role)}"
        )
        raise ImportUnreadable(f"{place}: {told}")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        number = 0
        with opened(self._path) as file:
            while raw := file.readline(MOST_LINE_BYTES + 1):
                number += 1
                if len(raw) > MOST_LINE_BYTES:
                    raise ImportUnreadable(
                        f"{self._path.name}, line {number}: it is longer than {MOST_LINE_BYTES} bytes"
                    )
                text = raw.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else raw.strip()
                if text:
                    yield number, text
        if number == 0:
            raise ImportUnreadable(f"{self._path.name} is empty")
