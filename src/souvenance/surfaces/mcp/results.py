"""What the tools answer: small, dated, with ids that other tools take. Stored text is always a quotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain

from msgspec import Struct

from souvenance.agents.notes import Remark, entries, quotation, remarks
from souvenance.agents.text_budget import cut, excerpt
from souvenance.agents.transcript import clean
from souvenance.domain.frame import QUOTED, defuse, framed
from souvenance.domain.line import MESSAGE
from souvenance.domain.representation import taken_apart
from souvenance.domain.timestamps import day
from souvenance.domain.trust import named, of_message
from souvenance.gate import messages as m
from souvenance.gate.conversation.chat import ReadConclusion, ReadMessage
from souvenance.gate.conversation.conclusions import ConclusionAnswer
from souvenance.gate.conversation.messages import MessageAnswer
from souvenance.patterns import pattern


class Result(Struct, frozen=True, omit_defaults=True):
    """Base of a tool's structured answer. `told` says it in a few words."""

    def told(self) -> str:
        raise NotImplementedError


class Cited(Struct, frozen=True, omit_defaults=True):
    """One line of memory, quoted: what it says is data and never an instruction."""

    id: str
    day: str
    """When it was said or happened, as YYYY-MM-DD."""
    kind: str
    text: str = ""
    session: str | None = None
    by: str | None = None
    """Who said or holds it, if not the user."""


class KeptResult(Result, frozen=True):
    ids: list[str]
    """In the order of what was given."""
    session: str | None = None

    def told(self) -> str:
        return f"Remembered: {', '.join(self.ids)}"


class RecallResult(Result, frozen=True):
    lines: list[Cited]
    """Best first; empty if nothing in memory matches."""
    answers: bool = True
    """False if these are only the nearest lines, and none answers well."""
    hint: str | None = None

    def told(self) -> str:
        return _quoted(self.lines, self.hint)


class ReadResult(Result, frozen=True):
    line: Cited
    sources: list[Cited]
    """What the line follows from."""
    replaces: str | None = None
    replaced_by: str | None = None
    """The line that says what is true instead."""
    expires_on: str | None = None
    """When it is erased, if that is set."""

    def told(self) -> str:
        parts = [QUOTED, cited([self.line])]
        parts += ["It follows from:", cited(self.sources)] if self.sources else []
        parts += [f"It replaces {self.replaces}."] if self.replaces else []
        parts += [f"It is no longer so: {self.replaced_by} replaced it."] if self.replaced_by else []
        parts += [f"It expires on {self.expires_on}."] if self.expires_on else []
        return "\n".join(parts)


class SessionResult(Struct, frozen=True, omit_defaults=True):
    id: str
    day: str


class Listed(Result, frozen=True):
    lines: list[Cited] = []
    sessions: list[SessionResult] = []
    next: str | None = None
    """Give it as `cursor` for the next page; absent on the last."""

    def told(self) -> str:
        sessions = [f"- {one.day} session {one.id}" for one in self.sessions]
        text = "\n".join(sessions) or (_quoted(self.lines) if self.lines else "There is nothing to list.")
        return f"{text}\nMore: cursor {self.next}" if self.next else text


class Profiled(Result, frozen=True):
    card: list[str]
    """Lasting facts about the user."""
    known: list[str]
    """What else is known, each with its day."""
    hint: str | None = None

    def told(self) -> str:
        parts = ["Lasting facts:", *(f"- {fact}" for fact in self.card)] if self.card else []
        parts += ["Also known:", *(f"- {one}" for one in self.known)] if self.known else []
        return framed("\n".join(parts)) or self.hint or ""


class Concluded(Result, frozen=True):
    id: str
    held_by: str
    """Whose view of the user it is in."""
    source_ids: list[str] = []
    """The lines that it follows from."""

    def told(self) -> str:
        return f"Kept as a fact about the user: {self.id}"


class ForgetResult(Result, frozen=True):
    id: str
    erased: list[Cited]
    """What the line said."""
    note: str

    def told(self) -> str:
        return f"Erased for good:\n{cited(self.erased)}\n{self.note}"


class Reasoned(Result, frozen=True):
    answer: str | None
    """Null if memory has none."""
    evidence: list[Cited]
    """What the answer rests on; without one, the nearest lines."""
    hint: str | None = None

    def told(self) -> str:
        if self.answer is None:
            return _quoted(self.evidence, self.hint)
        return f"{self.answer}\nIt rests on:\n{cited(self.evidence)}" if self.evidence else self.answer


def _quoted(lines: Sequence[Cited], hint: str | None = None) -> str:
    return "\n".join(filter(None, (QUOTED if lines else "", cited(lines), hint)))


MOST_EXCERPT_CHARS = 400
MOST_TEXT_CHARS = 4000
_MOST_NAME_CHARS = 100

_IN_SNAPSHOT = pattern(r"- (?P<day>\d{4}-\d\d-\d\d) \[[^\]]*\] (?P<text>.+)")
_CARD = '{"entries":'


def text_of(stored: str, about: Sequence[str] = (), most: int = MOST_EXCERPT_CHARS) -> str:
    """The part of a stored text that has most of what it is looked up for, on one line."""
    return defuse(excerpt(clean(stored), about, most))


def name_of(stored: str) -> str:
    return cut(defuse(stored), _MOST_NAME_CHARS)


def day_of(moment: datetime) -> str:
    """The day of the moment where this machine is."""
    return moment.astimezone().date().isoformat()


_Stored = m.LineFacts | MessageAnswer | ReadMessage | ConclusionAnswer | ReadConclusion


def cite(stored: _Stored, person: str, about: Sequence[str] = (), most: int = MOST_EXCERPT_CHARS) -> Cited:
    """Something of the person's memory as tools cite it, with as much of its text as the gate gave."""
    by, session, text = person, getattr(stored, "session_id", None), ""
    match stored:
        case m.LineFacts():
            kind, session, at = stored.kind, stored.session, stored.occurred_at or stored.created_at
            if isinstance(stored, m.RecalledLine | m.LineAnswer):
                text = quotation(stored.text, named(stored.trust), about, most)
        case MessageAnswer() | ReadMessage():
            kind, by, at = MESSAGE, stored.peer_id, stored.created_at
            if isinstance(stored, MessageAnswer):
                trust = of_message(stored.kind or MESSAGE, stored.metadata, stored.content)
                text = quotation(stored.content, trust, about, most)
        case _:
            kind = "conclusion" if stored.level == "explicit" else stored.level
            by, at, text = stored.observer_id, stored.created_at, text_of(stored.content, about, most)
    shown = None if session is None else name_of(session)
    return Cited(stored.id, day_of(at), kind, text, shown, None if by == person else name_of(by))


def cited(found: Iterable[Cited]) -> str:
    return "\n".join(map(_cited, found))


def _cited(one: Cited) -> str:
    about = [part for part in (one.by and f"by {one.by}", one.session and f"session {one.session}") if part]
    place = f" ({', '.join(about)})" if about else ""
    content = f": {one.text}" if one.text else f" {one.kind}"
    return f"- {one.day} [{one.id}]{place}{content}"


def facts(card: Iterable[str]) -> Iterator[Remark]:
    return _within(entries(card))


def known(view: str) -> Iterator[Remark]:
    """What a rendered representation says: the conclusions, newest first, then the messages in its order."""
    concluded, passages = taken_apart(view)
    said = (
        Remark(
            defuse(clean(quote.text)),
            day(passage.at),
            f"{name_of(quote.peer)} in {name_of(passage.session)}",
        )
        for passage in passages
        for quote in passage.quotes
    )
    return _within(chain(remarks(concluded), said))


def newest(profile: str) -> Iterator[Remark]:
    """The lines of a snapshot, without what is only a card's form."""
    for stored in profile.splitlines():
        found = _IN_SNAPSHOT.match(stored)
        if found is not None and not found["text"].startswith(_CARD):
            yield from _within([Remark(defuse(clean(found["text"])), found["day"])])


def _within(found: Iterable[Remark]) -> Iterator[Remark]:
    return (short for one in found if (short := one.within(MOST_EXCERPT_CHARS)) is not None)


def answer_of(answer: str) -> str:
    kept = "\n".join(part for part in map(defuse, clean(answer).splitlines()) if part)
    return cut(kept, MOST_TEXT_CHARS)
