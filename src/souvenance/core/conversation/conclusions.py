"""Conclusions: what one peer (observer) holds to be true of another (observed), or of itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation import directory
from souvenance.core.conversation.cards import outdated_of
from souvenance.core.conversation.compartments import Opener, room_of, rooms_of, write_line
from souvenance.core.conversation.search import ranked
from souvenance.core.request_context import RequestContext
from souvenance.core.search import understand
from souvenance.domain import trust
from souvenance.domain.content import check_text, decode_metadata
from souvenance.domain.directory import PEER, SESSION
from souvenance.domain.encoding import frame
from souvenance.domain.filters import Column, Field, Predicate
from souvenance.domain.line import CONCLUSIONS, SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.trust import Trust
from souvenance.errors import InvalidInput, NotFound
from souvenance.language import terms
from souvenance.language.questions import Question, asks
from souvenance.language.wording import gist, plain
from souvenance.ports.index import Hit
from souvenance.ports.store import Views

EXPLICIT = frozenset(trust.KINDS.values())
KINDS = EXPLICIT | frozenset(CONCLUSIONS.values())
LEVELS = {**dict.fromkeys(EXPLICIT, "explicit"), **{kind: level for level, kind in CONCLUSIONS.items()}}
_SPARE = 20
"""How many more lines are looked at than are told, to tell others in the place of what is outdated."""

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


TOGETHER = '{"together":true}'
"""The metadata of what follows from several messages together, and goes with any of them."""

_MOST_LACKING = 0.5
"""What share of the query's terms a quotation may lack."""

_TELL_OF_ALL = frozenset((CONCLUSIONS["deductive"], CONCLUSIONS["inductive"]))
"""What tells in one text what several conclusions say: it is outdated with any of them."""


class View(Struct, frozen=True):
    """One conclusion as it is read; what is not its peer's own word is told as a quotation."""

    line: SealedLine
    text: str
    sources: Sequence[str]
    outdated_by: str | None = None
    """The conclusion that says what is so now, if this is no longer so."""

    @property
    def trust(self) -> Trust:
        return trust.of_conclusion(self.line.kind)

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
    desk: RequestContext,
    observer: str,
    observed: str,
    text: str,
    *,
    line_id: str,
    namespace: str,
    session: str | None,
    said_at: int | None,
    likeness: bytes | None,
    kind: str,
    metadata: str,
    supersedes: str | None = None,
) -> SealedLine:
    """Store one conclusion."""
    keys = desk.tools.vault.room(desk.tx, room_of(desk, observer, namespace))
    return write_line(
        desk,
        keys,
        line_id,
        kind,
        text,
        session=session,
        about=observed,
        said_at=said_at,
        metadata=metadata,
        tokens=desk.tools.tokenizer.count(text),
        likeness=likeness,
        supersedes=supersedes,
    )


def likeness(blind: bytes, session: str, text: str, kind: str = CONCLUSIONS["explicit"]) -> bytes:
    """By what a statement of a session is known again; keyed, as it lies in the open.

    What was said and what was only quoted are never the same.
    """
    more = () if kind == CONCLUSIONS["explicit"] else (kind,)
    return blake2b(frame(session, plain(text), *more), key=blind, digest_size=16).digest()


class Stated(Struct, frozen=True):
    """A conclusion that a caller states."""

    observer: str
    observed: str
    text: str
    session: str | None
    sources: Sequence[SealedLine] = ()
    """What it follows from: messages and conclusions of the workspace."""
    said_at: int | None = None
    metadata: str = "{}"
    quoted: bool = False
    """Whether it is somebody else's word than the observed peer's own."""
    key: str | None = None
    """What it is known again by."""


def state(
    desk: RequestContext, stated: Sequence[Stated], namespace: str | None
) -> tuple[list[View], frozenset[str]]:
    """The conclusions as they are kept, and the ids of those that were there already, by their keys.

    Without a key each of them is kept, even if the same is known already. One that names a session lies where
    that does; another in the namespace, or else in the common one. One that follows from others is a
    deduction, and no more to be trusted than they are.

    Raises: InvalidInput, also if a source lies in another namespace, NotFound if a peer or a session does not
    exist, NamespaceDenied, Conflict, Tampered.
    """
    views: list[View] = []
    known: set[str] = set()
    for one, line_id in zip(stated, desk.fresh_ids(len(stated)), strict=True):
        check_text(one.text, "content")
        for peer in (one.observer, one.observed):
            directory.need(desk, PEER, peer)
        if one.session is not None:
            directory.need(desk, SESSION, one.session)
        where = directory.namespace_for(desk, one.session, namespace)
        if any(source.room.namespace != where for source in one.sources):
            raise InvalidInput(
                "a source lies in another namespace", hint="Name its session, or leave it out."
            )
        mark, there = _known(desk, one, where)
        if there is not None:
            known.add(there.id)
            views += _views(desk, [there])
            continue
        line = conclude(
            desk,
            one.observer,
            one.observed,
            one.text,
            line_id=line_id,
            namespace=where,
            session=one.session,
            said_at=one.said_at,
            likeness=mark,
            metadata=one.metadata,
            kind=_stated_as(desk, one),
        )
        sources = sorted({source.id for source in one.sources})
        if sources:
            desk.tx.lines.cite(line.room, line.id, sources)
        views.append(View(line, one.text, sources))
    return views, frozenset(known)


def _known(desk: RequestContext, one: Stated, namespace: str) -> tuple[bytes | None, SealedLine | None]:
    """By what the statement is known again, and the one that is there by it."""
    if one.key is None:
        return None, None
    room = room_of(desk, one.observer, namespace)
    blind = desk.tools.vault.room(desk.tx, room).blind
    mark = blake2b(frame("key", one.observed, one.key), key=blind, digest_size=16).digest()
    return mark, desk.tx.lines.alike(room, one.observed, mark)


def _stated_as(desk: RequestContext, stated: Stated) -> str:
    """The kind of a conclusion that somebody states. Raises: Tampered."""
    told, opener = Trust.QUOTED if stated.quoted else Trust.SAID, Opener(desk)
    own = min(told, trust.of_statement(stated.text))
    if not stated.sources:
        return trust.KINDS[own]
    read = [(source, opener.text(source)) for source in stated.sources]
    least = min(own, trust.of_fact(stated.text, [(_class_of(line, text), text) for line, text in read]))
    return CONCLUSIONS["deductive"] if least is Trust.SAID else trust.KINDS[least]


def _class_of(line: SealedLine, text: str) -> Trust:
    return trust.of_line(line.kind, decode_metadata(line.metadata), text)


def list_views(
    desk: RequestContext,
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
    outdating = _Outdating(desk, _common_sessions(whose))
    if wanted is not None:
        opener = Opener(desk)
        lines = [line for line in lines if wanted(_Row(desk, opener, outdating, line))]
    return _views(desk, lines[offset : offset + limit], outdating), len(lines)


def query_views(
    desk: RequestContext,
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
    opener, outdating = Opener(desk), _Outdating(desk, _common_sessions(whose))

    def passes(line: SealedLine) -> bool:
        if distance is not None and _distance(query, opener.text(line)) > distance:
            return False
        return wanted is None or wanted(_Row(desk, opener, outdating, line))

    question = understand(desk, query)
    found: dict[tuple[Compartment, str], tuple[SealedLine, Hit]] = {}
    for some in whose:
        for line, hit in _answering(desk, some, question, passes, limit):
            found.setdefault((line.room, line.id), (line, hit))
    best = sorted(found.values(), key=lambda one: (one[1].score, one[0].id), reverse=True)[:limit]
    return _latest_first(_views(desk, [line for line, _ in best], outdating))


def nearest(
    desk: RequestContext, whose: Whose, query: str, limit: int
) -> list[tuple[View, Mapping[str, float]]]:
    """What was noted that answers the query best, best first, each with the signals that it was found by.

    What only repeats its message's own words is left out, and so is what is no longer so.

    Raises: Tampered.
    """
    best = _answering(desk, whose, understand(desk, query), lambda line: True, limit)
    signals = {line.id: hit.signals for line, hit in best}
    views = [view for view in _views(desk, [line for line, _ in best]) if view.outdated_by is None]
    return [(view, signals[view.line.id]) for view in _not_quoted(desk, views)]


def _answering(
    desk: RequestContext, whose: Whose, question: Question, passes: Callable[[SealedLine], bool], limit: int
) -> list[tuple[SealedLine, Hit]]:
    """The best of these conclusions. Others in the same rooms have no part in it."""
    return ranked(
        desk,
        [room for owner in _observers(desk, whose) for room in rooms_of(desk, owner)],
        question,
        lambda line: whose.includes(line) and passes(line),
        limit,
        marks=[] if whose.observed is None else [terms.mark("about", whose.observed)],
        sessions=whose.sessions,
    )


def _latest_first(views: Sequence[View]) -> list[View]:
    """In their order, but for what is outdated by another of them: that comes right before."""
    by_id = {view.line.id: view for view in views}
    ordered: dict[str, View] = {}
    for view in views:
        latest = by_id.get(view.outdated_by or "")
        for one in (view,) if latest is None else (latest, view):
            ordered.setdefault(one.line.id, one)
    return list(ordered.values())


def _observers(desk: RequestContext, whose: Whose) -> Collection[str]:
    if whose.observers is not None:
        return whose.observers
    return [entry.name for entry in desk.tx.register.entries(desk.scope.workspace, PEER)]


def newest_views(desk: RequestContext, whose: Whose, most: int) -> list[View]:
    """Raises: Tampered."""
    return _views(desk, _lines(desk, whose, most), _Outdating(desk, whose.sessions))


def read_view(desk: RequestContext, line_id: str) -> View:
    """Raises: NotFound, Tampered."""
    line = desk.tx.lines.view(desk.scope.workspace, line_id, desk.scope.namespaces)
    if line is None or line.kind not in KINDS or line.invalidated_by is not None:
        raise NotFound("there is no such conclusion")
    return _views(desk, [line])[0]


def count_outdated(desk: RequestContext, lines: Collection[SealedLine]) -> int:
    """How many of these conclusions state a replaced value. Raises: Tampered."""
    return sum(one is not None for one in _Outdating(desk).of_all(lines))


def noted(
    desk: RequestContext,
    whose: Whose,
    *,
    query: str | None,
    top_k: int | None,
    distance: float | None,
    frequent: bool,
    most: int,
) -> list[View]:
    """What somebody noted of the peer, or a model: what answers the query, what was concluded most often, and
    the newest, in this order and at most so many together.

    What only repeats its message's own words is left out, for the message itself is quoted; and so is what is
    no longer so. What was noted in several sessions is told once.

    Raises: Tampered.
    """
    further = max(1, most // 3)
    if frequent:
        every = _lines(desk, whose)
        often = sorted((line for line in every if line.times > 1), key=lambda line: -line.times)
        lines = _with_room_for_explicit([*often[:further], *every[: most + _SPARE]], further)
    else:
        lines = _newest(desk, whose, most + _SPARE, further)
    answers = _noted_on(desk, whose, query, top_k or further, distance) if query else []
    answered = {view.line.id for view in answers}
    views = [*answers, *_views(desk, [line for line in lines if line.id not in answered])]
    told: dict[tuple[str, str], View] = {}
    for view in _not_quoted(desk, [view for view in views if view.outdated_by is None]):
        told.setdefault((view.level, gist(view.text)), view)
    return list(told.values())[:most]


def _noted_on(
    desk: RequestContext, whose: Whose, query: str, limit: int, distance: float | None
) -> list[View]:
    """What answers the query; what is only quoted, if the query asks for something that it has most of."""
    kinds = [*whose.kinds, trust.KINDS[Trust.QUOTED]] if asks(query) else whose.kinds
    found = query_views(desk, (replace(whose, kinds=kinds),), query, limit, distance=distance)
    return [
        view for view in found if view.trust == Trust.SAID or _distance(query, view.text) <= _MOST_LACKING
    ]


def _not_quoted(desk: RequestContext, views: Sequence[View]) -> list[View]:
    """Those that say more than one of the messages that they follow from has in the same words."""
    opener = Opener(desk)
    by_room: dict[Compartment, set[str]] = {}
    for view in views:
        if view.level == "explicit" and view.sources:
            room = view.line.room._replace(owner=view.line.about or "")
            by_room.setdefault(room, set()).update(view.sources)
    said = {
        line.id: _flat(opener.text(line))
        for room, ids in by_room.items()
        for line in desk.tx.lines.get_all(room, ids)
    }
    return [
        view for view in views if not any(_flat(view.text) in said.get(source, "") for source in view.sources)
    ]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _newest(desk: RequestContext, whose: Whose, explicit: int, further: int) -> list[SealedLine]:
    """The newest of what was said outright and of what was reasoned further, so many of each."""
    said, reasoned = (
        replace(whose, kinds=[kind for kind in whose.kinds if (kind in EXPLICIT) is outright])
        for outright in (True, False)
    )
    lines = _lines(desk, said, explicit) + _lines(desk, reasoned, further)
    return sorted(lines, key=lambda line: line.id, reverse=True)


def _with_room_for_explicit(lines: Sequence[SealedLine], further: int) -> list[SealedLine]:
    """Each line once; of what was reasoned further, no more than so many."""
    kept: list[SealedLine] = []
    for line in dict.fromkeys(lines):
        if line.kind not in EXPLICIT:
            if further == 0:
                continue
            further -= 1
        kept.append(line)
    return kept


def _span(desk: RequestContext, whose: Whose, owner: str | None, limit: int | None) -> Views:
    scope = desk.scope
    return Views(scope.workspace, whose.kinds, owner, whose.observed, whose.sessions, limit, scope.namespaces)


def _lines(desk: RequestContext, whose: Whose, limit: int | None = None) -> list[SealedLine]:
    if whose.observers is None:
        return desk.tx.lines.views(_span(desk, whose, None, limit))
    found = [
        line for owner in whose.observers for line in desk.tx.lines.views(_span(desk, whose, owner, limit))
    ]
    if len(whose.observers) > 1:
        found.sort(key=lambda line: line.id, reverse=True)
    return found if limit is None else found[:limit]


def _common_sessions(whose: Sequence[Whose]) -> Collection[str] | None:
    """The sessions that may be looked into; None if any."""
    found: set[str] = set()
    for some in whose:
        if some.sessions is None:
            return None
        found.update(some.sessions)
    return found


def _views(
    desk: RequestContext, lines: Sequence[SealedLine], outdating: _Outdating | None = None
) -> list[View]:
    opener, outdating = Opener(desk), outdating or _Outdating(desk)
    sources = desk.tx.lines.cited(desk.scope.workspace, [line.id for line in lines])
    return [
        View(
            line,
            trust.quoted(trust.of_conclusion(line.kind), opener.text(line)),
            sources.get(line.id, ()),
            outdated_by,
        )
        for line, outdated_by in zip(lines, outdating.of_all(lines), strict=True)
    ]


class _Outdating:
    """What outdates a conclusion, as far as was said in sessions that may be looked into."""

    def __init__(self, desk: RequestContext, sessions: Collection[str] | None = None) -> None:
        self._desk = desk
        self._sessions = None if sessions is None else frozenset(sessions)
        self._known: dict[tuple[str, str], Mapping[str, str]] = {}
        self._rests_on: dict[str, Sequence[str]] = {}

    def of(self, line: SealedLine) -> str | None:
        """Raises: Tampered."""
        return self.of_all((line,))[0]

    def of_all(self, lines: Collection[SealedLine]) -> list[str | None]:
        """Of each line. Raises: Tampered."""
        several = [line.id for line in lines if line.kind in _TELL_OF_ALL and self._among(line)]
        if unknown := [line_id for line_id in several if line_id not in self._rests_on]:
            cited = self._desk.tx.lines.cited(self._desk.scope.workspace, unknown)
            self._rests_on.update((line_id, cited.get(line_id, ())) for line_id in unknown)
        return [self._outdated_by(line) for line in lines]

    def _outdated_by(self, line: SealedLine) -> str | None:
        known = self._among(line)
        if not known or line.kind not in _TELL_OF_ALL:
            return known.get(line.id)
        return next((known[source] for source in self._rests_on[line.id] if source in known), None)

    def _among(self, line: SealedLine) -> Mapping[str, str]:
        """All that is outdated of what its observer knows of its peer."""
        ends = line.room.owner, line.about or ""
        if ends not in self._known:
            self._known[ends] = outdated_of(self._desk, *ends, self._sessions)
        return self._known[ends]


class _Row(Mapping[str, Any]):
    """The conclusion as a filter sees it: what must be opened or looked up only if it is asked for."""

    def __init__(self, desk: RequestContext, opener: Opener, outdating: _Outdating, line: SealedLine) -> None:
        self._desk = desk
        self._opener = opener
        self._outdating = outdating
        self._line = line

    def __getitem__(self, name: str) -> Any:
        line = self._line
        match name:
            case "content":
                return self._opener.text(line)
            case "source_ids":
                return self._desk.tx.lines.cited(line.room.workspace, (line.id,)).get(line.id, [])
            case "metadata":
                return {
                    **decode_metadata(line.metadata),
                    "trust": trust.of_conclusion(line.kind).name.lower(),
                    "outdated_by": self._outdating.of(line),
                }
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
    asked = terms.asked(query)
    held = terms.terms(text)
    return 1 - sum(term in held for term in asked) / len(asked) if asked else 0.0
