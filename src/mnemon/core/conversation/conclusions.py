"""Conclusions: what one peer (observer) holds to be true of another (observed), or of itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mnemon.core.conversation import directory
from mnemon.core.conversation.place import Opener, room_of, rooms_of, write_line
from mnemon.core.conversation.search import search_lines, session_marks
from mnemon.core.desk import Desk
from mnemon.domain import words
from mnemon.domain.content import check_text, decode_metadata
from mnemon.domain.filters import Column, Field, Predicate
from mnemon.domain.framing import frame
from mnemon.domain.line import CONCLUSIONS, SealedLine
from mnemon.domain.register import PEER, SESSION
from mnemon.errors import NotFound
from mnemon.ports.book import Views

KINDS = frozenset(CONCLUSIONS.values())
LEVELS = {kind: level for level, kind in CONCLUSIONS.items()}
FIELDS = {
    "id": Field(Column.TEXT),
    "content": Field(Column.TEXT),
    "observer_id": Field(Column.TEXT),
    "observer": Field(Column.TEXT),
    "observed_id": Field(Column.TEXT),
    "observed": Field(Column.TEXT),
    "session_id": Field(Column.TEXT),
    "workspace_id": Field(Column.TEXT),
    "level": Field(Column.TEXT, frozenset(CONCLUSIONS)),
    "created_at": Field(Column.TIME),
    "times_derived": Field(Column.NUMBER),
    "source_ids": Field(Column.LIST),
    "metadata": Field(Column.METADATA),
}


class View(Struct, frozen=True):
    """One conclusion as it is read."""

    line: SealedLine
    text: str
    sources: Sequence[str]

    @property
    def level(self) -> str:
        return LEVELS[self.line.kind]

    @property
    def at(self) -> int:
        """When what it rests on was said."""
        return self.line.created_at if self.line.occurred_at is None else self.line.occurred_at


class Whose(Struct, frozen=True):
    """Which conclusions: those of some observers, about some peer, from some sessions; None means any."""

    observers: Collection[str] | None = None
    observed: str | None = None
    sessions: Collection[str] | None = None
    kinds: Collection[str] = KINDS

    def narrowed(self, observer: str | None, observed: str | None) -> Whose | None:
        """Those of them that the observer holds, about the observed, where one is named; None if none are."""
        observers = self.observers
        if observer is not None and observers is not None and observer not in observers:
            return None
        if observed is not None and self.observed not in (None, observed):
            return None
        return replace(
            self,
            observers=observers if observer is None else (observer,),
            observed=self.observed if observed is None else observed,
        )

    def includes(self, line: SealedLine) -> bool:
        return (
            line.about is not None
            and line.kind in self.kinds
            and (self.observers is None or line.room.owner in self.observers)
            and (self.observed is None or line.about == self.observed)
            and (self.sessions is None or line.session in self.sessions)
        )


def conclude(
    desk: Desk,
    observer: str,
    observed: str,
    text: str,
    *,
    line_id: str,
    namespace: str,
    session: str | None,
    said_at: int | None = None,
    likeness: bytes | None = None,
) -> SealedLine:
    """Store one conclusion that was said or stated as such."""
    keys = desk.tools.vault.room(desk.tx, room_of(desk, observer, namespace))
    return write_line(
        desk,
        keys,
        line_id,
        CONCLUSIONS["explicit"],
        text,
        session=session,
        about=observed,
        said_at=said_at,
        tokens=desk.tools.tokenizer.count(text),
        likeness=likeness,
    )


def likeness(blind: bytes, session: str, text: str) -> bytes:
    """By what a statement of a session is known again; keyed, as it lies in the open."""
    return blake2b(frame(session, plain(text)), key=blind, digest_size=16).digest()


def plain(text: str) -> str:
    """The text without what makes no difference: case and spacing."""
    return " ".join(text.casefold().split())


class Stated(Struct, frozen=True):
    """A conclusion that a caller states."""

    observer: str
    observed: str
    text: str
    session: str | None


def state(desk: Desk, stated: Sequence[Stated], namespace: str | None) -> list[View]:
    """The conclusions as they are kept, each of them, even if the same is known already.

    One that names a session lies where that does; another in the namespace, or else in the common one.

    Raises: InvalidInput, NotFound if a peer or a session does not exist, NamespaceDenied, Conflict.
    """
    views: list[View] = []
    for one, line_id in zip(stated, desk.fresh_ids(len(stated)), strict=True):
        check_text(one.text, "content")
        for peer in (one.observer, one.observed):
            directory.need(desk, PEER, peer)
        if one.session is not None:
            directory.need(desk, SESSION, one.session)
        line = conclude(
            desk,
            one.observer,
            one.observed,
            one.text,
            line_id=line_id,
            namespace=directory.namespace_for(desk, one.session, namespace),
            session=one.session,
        )
        views.append(View(line, one.text, ()))
    return views


def list_views(
    desk: Desk,
    whose: Sequence[Whose],
    wanted: Predicate | None,
    *,
    oldest_first: bool,
    offset: int,
    limit: int,
) -> tuple[list[View], int]:
    """A page of all these conclusions, newest first unless asked otherwise, and how many there are in all.

    Raises: Tampered.
    """
    lines = [line for some in whose for line in _lines(desk, some)]
    if len(whose) > 1 or oldest_first:
        lines.sort(key=lambda line: (line.id, line.room), reverse=not oldest_first)
    if wanted is not None:
        opener = Opener(desk)
        lines = [line for line in lines if wanted(_Row(desk, opener, line))]
    return _views(desk, lines[offset : offset + limit]), len(lines)


def query_views(
    desk: Desk,
    whose: Sequence[Whose],
    query: str,
    limit: int,
    *,
    distance: float | None = None,
    wanted: Predicate | None = None,
) -> list[View]:
    """Those of all these conclusions that answer a question best.

    `distance` is the share of the question's terms that a conclusion may lack.

    Raises: Tampered.
    """
    owners = dict.fromkeys(owner for some in whose for owner in _observers(desk, some))
    rooms = [room for owner in owners for room in rooms_of(desk, owner)]
    opener = Opener(desk)

    def passes(line: SealedLine) -> bool:
        if not any(some.includes(line) for some in whose):
            return False
        if distance is not None and _distance(query, opener.text(line)) > distance:
            return False
        return wanted is None or wanted(_Row(desk, opener, line))

    marks = _marks(whose[0]) if len(whose) == 1 else []
    return _views(desk, search_lines(desk, rooms, query, passes, limit, marks))


def _observers(desk: Desk, whose: Whose) -> Collection[str]:
    if whose.observers is not None:
        return whose.observers
    return [entry.name for entry in desk.tx.register.entries(desk.scope.workspace, PEER)]


def _marks(whose: Whose) -> list[str]:
    marks = session_marks(whose.sessions)
    if whose.observed is not None:
        marks.append(words.mark("about", whose.observed))
    return marks


def newest_views(desk: Desk, whose: Whose, most: int) -> list[View]:
    """Raises: Tampered."""
    return _views(desk, _lines(desk, whose, most))


def read_view(desk: Desk, line_id: str) -> View:
    """Raises: NotFound, Tampered."""
    line = desk.tx.lines.view(desk.scope.workspace, line_id, desk.scope.namespaces)
    if line is None or line.kind not in KINDS or line.invalidated_by is not None:
        raise NotFound("there is no such conclusion")
    return _views(desk, [line])[0]


def representation(
    desk: Desk,
    whose: Whose,
    *,
    query: str | None,
    top_k: int | None,
    distance: float | None,
    frequent: bool,
    most: int,
) -> list[View]:
    """What answers the question, what was concluded most often, and the newest: at most so many together.

    What was concluded in several sessions is told once, with the latest of them.

    Raises: Tampered.
    """
    found: dict[str, View] = {}
    if query:
        for view in query_views(desk, (whose,), query, top_k or max(1, most // 3), distance=distance):
            found[view.line.id] = view
    lines = _lines(desk, whose, limit=None if frequent else most)
    if frequent:
        often = sorted((line for line in lines if line.times > 1), key=lambda line: -line.times)
        lines = [*often[: max(1, most // 3)], *lines[:most]]
    wanted = [line for line in dict.fromkeys(lines) if line.id not in found]
    for view in _views(desk, wanted[: max(0, most - len(found))]):
        found[view.line.id] = view
    told = sorted(list(found.values())[:most], key=lambda view: (view.at, view.line.id))
    return list({plain(view.text): view for view in told}.values())


def _span(desk: Desk, whose: Whose, owner: str | None, limit: int | None = None) -> Views:
    scope = desk.scope
    return Views(scope.workspace, whose.kinds, owner, whose.observed, whose.sessions, limit, scope.namespaces)


def _lines(desk: Desk, whose: Whose, limit: int | None = None) -> list[SealedLine]:
    if whose.observers is None:
        return desk.tx.lines.views(_span(desk, whose, None, limit))
    found = [
        line for owner in whose.observers for line in desk.tx.lines.views(_span(desk, whose, owner, limit))
    ]
    if len(whose.observers) > 1:
        found.sort(key=lambda line: line.id, reverse=True)
    return found if limit is None else found[:limit]


def _views(desk: Desk, lines: Sequence[SealedLine]) -> list[View]:
    opener = Opener(desk)
    sources = desk.tx.lines.cited(desk.scope.workspace, [line.id for line in lines])
    return [View(line, opener.text(line), sources.get(line.id, ())) for line in lines]


class _Row(Mapping[str, Any]):
    """The conclusion as a filter sees it: what must be opened or looked up only if it is asked for."""

    def __init__(self, desk: Desk, opener: Opener, line: SealedLine) -> None:
        self._desk = desk
        self._opener = opener
        self._line = line

    def __getitem__(self, name: str) -> Any:
        line = self._line
        match name:
            case "content":
                return self._opener.text(line)
            case "source_ids":
                return self._desk.tx.lines.cited(line.room.workspace, (line.id,)).get(line.id, [])
            case "metadata":
                return decode_metadata(line.metadata)
            case "level":
                return LEVELS[line.kind]
            case _:
                return _COLUMNS[name](line)

    def __iter__(self) -> Iterator[str]:
        return iter(FIELDS)

    def __len__(self) -> int:
        return len(FIELDS)


_COLUMNS: dict[str, Callable[[SealedLine], Any]] = {
    "id": lambda line: line.id,
    "observer_id": lambda line: line.room.owner,
    "observer": lambda line: line.room.owner,
    "observed_id": lambda line: line.about,
    "observed": lambda line: line.about,
    "session_id": lambda line: line.session,
    "workspace_id": lambda line: line.room.workspace,
    "created_at": lambda line: line.created_at,
    "times_derived": lambda line: line.times,
}


def _distance(query: str, text: str) -> float:
    asked = words.terms(query)
    held = words.terms(text)
    return 1 - sum(term in held for term in asked) / len(asked) if asked else 0.0
