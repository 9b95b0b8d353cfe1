"""What is remembered as people read it: a workspace or one person as JSON or Markdown.

It holds what an archive holds, in plain words and without what only a machine needs. To move memory to
another installation, take an archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import msgspec
from msgspec import Struct, field

from souvenance.decoders import settled
from souvenance.domain.archive_records import LineRecord, PeerRecord, Record
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.line import CARD, CONCLUSIONS, DOCUMENT, MESSAGE, RELAYED, SUMMARY, TOMBSTONE

_SAID = frozenset((MESSAGE, DOCUMENT, RELAYED))
_CONCLUDED = frozenset(CONCLUSIONS.values())


class SavedText(Struct, omit_defaults=True):
    """Something that was said or noted: when, whose it is, and what it says."""

    at: str
    who: str
    text: str
    namespace: str
    about: str | None = None
    session: str | None = None
    replaced: bool = False
    """Whether something else was put in its place."""


class SavedCard(Struct, omit_defaults=True):
    kept_by: str
    about: str
    facts: list[str]


class SavedSession(Struct, omit_defaults=True):
    name: str
    messages: list[SavedText] = field(default_factory=list)
    summaries: list[SavedText] = field(default_factory=list)


class ReadableExport(Struct, omit_defaults=True):
    workspace: str
    person: str | None
    """None if it is everybody's."""
    made_at: str
    people: list[str] = field(default_factory=list)
    cards: list[SavedCard] = field(default_factory=list)
    conclusions: list[SavedText] = field(default_factory=list)
    sessions: list[SavedSession] = field(default_factory=list)
    notes: list[SavedText] = field(default_factory=list)


class _Card(Struct):
    entries: list[CardEntry] | None = None


def readable(
    records: Iterable[Record], *, workspace: str, person: str | None, made_at: str
) -> ReadableExport:
    export = ReadableExport(workspace, person, made_at)
    sessions: dict[str, SavedSession] = {}
    lines = [record for record in _noted(records, export) if record.kind != TOMBSTONE]
    for line in sorted(lines, key=lambda line: (line.session or "", line.turn or 0, line.id)):
        if line.kind == CARD:
            if line.invalidated_by is None:
                export.cards.append(SavedCard(line.owner, line.about or line.owner, _facts(line)))
        elif line.kind in _CONCLUDED:
            export.conclusions.append(_saved(line))
        elif line.session is not None and (line.kind in _SAID or line.kind == SUMMARY):
            session = sessions.setdefault(line.session, SavedSession(line.session))
            (session.summaries if line.kind == SUMMARY else session.messages).append(_saved(line))
        else:
            export.notes.append(_saved(line))
    export.sessions = list(sessions.values())
    return export


def _noted(records: Iterable[Record], export: ReadableExport) -> Iterator[LineRecord]:
    for record in records:
        if isinstance(record, LineRecord):
            yield record
        elif isinstance(record, PeerRecord) and not record.former:
            export.people.append(record.name)


def _facts(line: LineRecord) -> list[str]:
    return [entry.text for entry in msgspec.json.decode(line.text, type=settled(_Card)).entries or ()]


def _saved(line: LineRecord) -> SavedText:
    at = line.created_at if line.occurred_at is None else line.occurred_at
    about = None if line.about == line.owner else line.about
    session = None if line.turn is not None else line.session
    replaced = line.invalidated_by is not None
    return SavedText(_moment(at), line.owner, line.text, line.namespace, about, session, replaced)


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")


def as_json(export: ReadableExport) -> bytes:
    return msgspec.json.format(msgspec.json.encode(export), indent=2) + b"\n"


def as_markdown(export: ReadableExport) -> bytes:
    return ("\n".join(_markdown(export)) + "\n").encode()


def _markdown(export: ReadableExport) -> Iterator[str]:
    yield f"# What is remembered {f'of {export.person}' if export.person else f'in {export.workspace}'}"
    yield f"\nWorkspace {export.workspace}, as it was on {export.made_at}."
    for card in export.cards:
        yield f"\n## What {card.kept_by} knows of {card.about}\n"
        yield from (f"- {fact}" for fact in card.facts)
    if export.conclusions:
        yield "\n## Conclusions\n"
        yield from (_item(one, _of(one)) for one in export.conclusions)
    for session in export.sessions:
        yield f"\n## Session {session.name}\n"
        yield from (_item(one, one.who) for one in session.messages)
        yield from (_item(one, "Summary") for one in session.summaries)
    if export.notes:
        yield "\n## Notes\n"
        yield from (_item(one, f"{one.who}, {one.namespace}") for one in export.notes)


def _of(one: SavedText) -> str:
    return f"{one.who} of {one.about}" if one.about else one.who


def _item(one: SavedText, who: str) -> str:
    text = one.text.replace("\n", "\n  ")
    return f"- **{who}**, {one.at[:16].replace('T', ' ')}{' (replaced)' if one.replaced else ''}: {text}"
