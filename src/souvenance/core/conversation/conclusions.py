"""Conclusions: what one peer (observer) holds to be true of another (observed), or of itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.core.conversation.cards import outdated_of
from souvenance.core.conversation.compartments import Opener, compartments_of
from souvenance.core.request_context import RequestContext, said_at
from souvenance.core.search import Test, lacking_share, ranked, understand
from souvenance.domain import trust
from souvenance.domain.content import decode_metadata
from souvenance.domain.directory import PEER
from souvenance.domain.encoding import frame
from souvenance.domain.filters import Column, Field, Predicate
from souvenance.domain.line import CONCLUSIONS, STATEMENT, SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.representation import WrittenConclusion
from souvenance.domain.retention import SUMMARISE
from souvenance.domain.trust import Trust
from souvenance.language import terms
from souvenance.language.questions import Question, asks
from souvenance.language.wording import gist, plain
from souvenance.ports.index import Hit
from souvenance.ports.store import ViewQuery

EXPLICIT = frozenset((STATEMENT, *trust.KINDS.values()))
KINDS = EXPLICIT | frozenset(CONCLUSIONS.values())
LEVELS = {**dict.fromkeys(EXPLICIT, "explicit"), **{kind: level for level, kind in CONCLUSIONS.items()}}
_SPARE = 20
"""How many more lines are read than are returned: others take the place of outdated ones."""

TOGETHER = '{"together":true}'
"""The metadata of what follows from several messages together, and goes with any of them."""

_AT_ONCE = 8
"""How many lines are opened at a time, as far as there may be room for them."""

_MOST_REPEATING = 1_000
"""Of how many conclusions of a pair it is remembered that they repeat their messages, more or less."""

_MOST_LACKING = 0.5
"""What share of the query's terms a quotation may lack."""

_TELL_OF_ALL = frozenset((CONCLUSIONS["deductive"], CONCLUSIONS["inductive"]))
"""One text that says what several conclusions say: it is outdated with any of them."""


class View(Struct, frozen=True):
    """One conclusion as it is read; what is not its peer's own word is marked as a quotation."""

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
        return said_at(self.line)


class Whose(Struct, frozen=True):
    """Which conclusions: those of some observers, about some peer, from some sessions; None means any."""

    observers: Collection[str] | None = None
    observed: str | None = None
    sessions: Collection[str] | None = None
    kinds: Collection[str] = KINDS

    def narrowed(self, observer: str | None, observed: str | None) -> Whose | None:
        """Those of them that the observer holds, about the observed, where one is named; None if none are."""
        if self.observers is not None and observer not in (None, *self.observers):
            return None
        if observed is not None and self.observed not in (None, observed):
            return None
        observers = self.observers if observer is None else (observer,)
        return replace(self, observers=observers, observed=self.observed if observed is None else observed)

    def includes(self, line: SealedLine) -> bool:
        return (
            line.about is not None
            and line.kind in self.kinds
            and (self.observers is None or line.compartment.owner in self.observers)
            and (self.observed is None or line.about == self.observed)
            and (self.sessions is None or line.session in self.sessions)
        )


def written(ctx: RequestContext, view: View) -> WrittenConclusion:
    return WrittenConclusion(view.level, view.text, ctx.services.local(view.at))


def likeness(blind: bytes, session: str, text: str, kind: str = CONCLUSIONS["explicit"]) -> bytes:
    """By what a statement of a session is known again: a keyed hash. Quotations never equal statements."""
    more = () if kind in (STATEMENT, CONCLUSIONS["explicit"]) else (kind,)
    return blake2b(frame(session, plain(text), *more), key=blind, digest_size=16).digest()


def list_views(
    ctx: RequestContext,
    whose: Sequence[Whose],
    wanted: Predicate | None,
    *,
    oldest_first: bool,
    offset: int,
    limit: int,
) -> tuple[list[View], int]:
    """A page of these conclusions, and how many there are. Raises: Tampered."""
    lines = [line for some in whose for line in _lines(ctx, some)]
    if len(whose) > 1 or oldest_first:
        lines.sort(key=lambda line: (line.id, line.compartment), reverse=not oldest_first)
    outdating = _Outdating(ctx, _common_sessions(whose))
    if wanted is not None:
        opener = Opener(ctx)
        lines = [line for line in lines if wanted(_Row(ctx, opener, outdating, line))]
    return views_of(ctx, lines[offset : offset + limit], outdating), len(lines)


def query_views(
    ctx: RequestContext,
    whose: Sequence[Whose],
    query: str,
    limit: int,
    *,
    distance: float | None = None,
    wanted: Predicate | None = None,
) -> list[View]:
    """Those that answer best; `distance` is the share of terms that one may lack. Raises: Tampered."""
    outdating = _Outdating(ctx, _common_sessions(whose))
    return views_of(ctx, _query_lines(ctx, whose, query, limit, distance, wanted, outdating), outdating)


def _query_lines(
    ctx: RequestContext,
    whose: Sequence[Whose],
    query: str,
    limit: int,
    distance: float | None,
    wanted: Predicate | None,
    outdating: _Outdating,
) -> list[SealedLine]:
    opener = Opener(ctx)

    def passes(line: SealedLine) -> bool:
        if distance is not None and lacking_share(query, opener.text(line)) > distance:
            return False
        return wanted is None or wanted(_Row(ctx, opener, outdating, line))

    question = understand(ctx, query)
    found: dict[tuple[Compartment, str], tuple[SealedLine, Hit]] = {}
    for some in whose:
        for line, hit in _answering(ctx, some, question, passes, limit):
            found.setdefault((line.compartment, line.id), (line, hit))
    best = sorted(found.values(), key=lambda one: (one[1].score, one[0].id), reverse=True)[:limit]
    return _latest_first([line for line, _ in best], outdating)


def nearest(
    ctx: RequestContext, whose: Whose, query: str, limit: int
) -> list[tuple[View, Mapping[str, float]]]:
    """What was noted that answers the query best, best first, each with the signals that it was found by.
    What only repeats its message's own words is left out, and so is what is no longer so.
    Raises: Tampered."""
    whose = _noted(ctx, whose)
    best = _answering(ctx, whose, understand(ctx, query), lambda line: True, limit)
    signals = {line.id: hit.signals for line, hit in best}
    views = [view for view in views_of(ctx, [line for line, _ in best]) if view.outdated_by is None]
    return [(view, signals[view.line.id]) for view in _not_quoted(ctx, views)]


def nearest_and_newest(
    ctx: RequestContext, whose: Whose, query: str, limit: int
) -> list[tuple[View, Mapping[str, float]]]:
    """The same, and behind it the newest others, without signals. Raises: Tampered."""
    found = nearest(ctx, whose, query, limit)
    known = _ids([view for view, _ in found])
    newest = newest_views(ctx, _noted(ctx, whose), limit)
    others = [one for one in newest if one.outdated_by is None and one.line.id not in known]
    return [*found, *((view, {}) for view in _not_quoted(ctx, others))][:limit]


def _answering(
    ctx: RequestContext, whose: Whose, question: Question, passes: Test, limit: int
) -> list[tuple[SealedLine, Hit]]:
    """The best of these conclusions. Others in the same compartments have no part in it."""
    mark = "about" if STATEMENT in whose.kinds else "noted"
    return ranked(
        ctx,
        [compartment for owner in _observers(ctx, whose) for compartment in compartments_of(ctx, owner)],
        question,
        lambda line: whose.includes(line) and passes(line),
        limit,
        marks=[] if whose.observed is None else [terms.mark(mark, whose.observed)],
        sessions=whose.sessions,
    )


def _latest_first(lines: Sequence[SealedLine], outdating: _Outdating) -> list[SealedLine]:
    """In their order, but for what is outdated by another of them: that comes right before."""
    by_id = {line.id: line for line in lines}
    ordered: dict[str, SealedLine] = {}
    for line, outdated_by in zip(lines, outdating.of_all(lines), strict=True):
        latest = by_id.get(outdated_by or "")
        for one in (line,) if latest is None else (latest, line):
            ordered.setdefault(one.id, one)
    return list(ordered.values())


def _observers(ctx: RequestContext, whose: Whose) -> Collection[str]:
    if whose.observers is not None:
        return whose.observers
    return [entry.name for entry in ctx.tx.directory.entries(ctx.scope.workspace, PEER)]


def newest_views(ctx: RequestContext, whose: Whose, most: int) -> list[View]:
    """Raises: Tampered."""
    return views_of(ctx, _lines(ctx, whose, most), _Outdating(ctx, whose.sessions))


class Noted:
    """What somebody or a model noted of the peer, best first: what answers the query, what was concluded most
    often, and the newest. Without what repeats its message's words, is outdated, or was noted in another
    session too. Each is read and opened once there may be room for it. Raises, all of it: Tampered."""

    def __init__(
        self,
        ctx: RequestContext,
        whose: Whose,
        *,
        query: str | None,
        top_k: int,
        distance: float | None,
        frequent: bool,
        most: int,
    ) -> None:
        self._ctx = ctx
        self._whose = whose = _noted(ctx, whose)
        self._query = query
        self._frequent = frequent
        self._most = most
        self._outdating = _Outdating(ctx)
        erased = ctx.tx.marks(ctx.scope.workspace).compartments  # Until then neither text changes.
        self._key = (Noted, ctx.scope.workspace, erased, tuple(whose.observers or ()), whose.observed)
        self._repeating: frozenset[str] = ctx.services.memo.get(self._key) or frozenset()
        self._seen: set[str] = set()
        self._left: list[SealedLine] = []
        wider = replace(whose, kinds=[*whose.kinds, trust.KINDS[Trust.QUOTED]])
        some = bool(_lines(ctx, wider, 1))
        self._others_are_read = not some  # Most people have none, and to look for them takes a search.
        self._gists: set[tuple[str, str]] = set()
        if query and some:
            outdating = self._outdating if whose.sessions is None else _Outdating(ctx, whose.sessions)
            asked = (wider if asks(query) else whose,)  # What is only quoted, if it asks for something.
            self._add(_query_lines(ctx, asked, query, top_k, distance, None, outdating), outdating)

    def next(self, most_tokens: int) -> list[View] | None:
        """Some of the next that are no longer; None if there is none. The rest stays for later."""
        if most_tokens <= 0 or len(self._gists) >= self._most:
            return None
        some = self._short(most_tokens)
        if not some and not self._others_are_read:
            self._others_are_read = True
            self._add(self._others(), self._outdating)
            some = self._short(most_tokens)
        taken = {line.id for line in some}
        self._left = [line for line in self._left if line.id not in taken]
        return self._passing(views_of(self._ctx, some, self._outdating)) if some else None

    def _short(self, most_tokens: int) -> list[SealedLine]:
        return list(islice((line for line in self._left if (line.tokens or 1) <= most_tokens), _AT_ONCE))

    def _add(self, lines: Sequence[SealedLine], outdating: _Outdating) -> None:
        """Those that were not there, are not outdated and are not known to repeat their messages."""
        for line, outdated_by in zip(lines, outdating.of_all(lines), strict=True):
            if line.id not in self._seen and outdated_by is None and line.id not in self._repeating:
                self._left.append(line)
            self._seen.add(line.id)

    def _others(self) -> list[SealedLine]:
        """What was noted, whether or not it answers the query."""
        further = max(1, self._most // 3)
        if not self._frequent:
            return _newest(self._ctx, self._whose, self._most + _SPARE, further)
        every = _lines(self._ctx, self._whose)
        often = sorted((line for line in every if line.times > 1), key=lambda line: -line.times)
        return _with_room_for_explicit([*often[:further], *every[: self._most + _SPARE]], further)

    def _passing(self, views: Sequence[View]) -> list[View]:
        """Without what is only quoted and has little of the query."""
        views = [
            view
            for view in views
            if view.trust == Trust.SAID or lacking_share(self._query or "", view.text) <= _MOST_LACKING
        ]
        more = _not_quoted(self._ctx, views)
        if repeating := _ids(views).difference(_ids(more)):
            known = self._repeating if len(self._repeating) < _MOST_REPEATING else frozenset()
            self._repeating = known | repeating
            self._ctx.services.memo.keep(self._key, self._repeating)
        distinct = []
        for view in more:
            said = view.level, gist(view.text)
            if said not in self._gists and len(self._gists) < self._most:
                self._gists.add(said)
                distinct.append(view)
        return distinct


def _noted(ctx: RequestContext, whose: Whose) -> Whose:
    """What somebody or a model noted, without statements: their messages have them. A rule may leave what was
    said in statements alone."""
    if any(rule.then == SUMMARISE for rule in ctx.rules):
        return whose
    return replace(whose, kinds=[kind for kind in whose.kinds if kind != STATEMENT])


def _ids(views: Sequence[View]) -> frozenset[str]:
    return frozenset(view.line.id for view in views)


def _not_quoted(ctx: RequestContext, views: Sequence[View]) -> list[View]:
    """Those that say more than one of the messages that they follow from has in the same words."""
    opener = Opener(ctx)
    by_compartment: dict[Compartment, set[str]] = {}
    for view in views:
        if view.level == "explicit" and view.sources:
            compartment = view.line.compartment._replace(owner=view.line.about or "")
            by_compartment.setdefault(compartment, set()).update(view.sources)
    said = {
        line.id: _flat(opener.text(line))
        for compartment, ids in by_compartment.items()
        for line in ctx.tx.lines.get_all(compartment, ids)
    }
    return [
        view for view in views if not any(_flat(view.text) in said.get(source, "") for source in view.sources)
    ]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _newest(ctx: RequestContext, whose: Whose, explicit: int, further: int) -> list[SealedLine]:
    """The newest of what was said outright and of what was reasoned further, so many of each."""
    said, reasoned = (
        replace(whose, kinds=[kind for kind in whose.kinds if (kind in EXPLICIT) is outright])
        for outright in (True, False)
    )
    lines = _lines(ctx, said, explicit) + _lines(ctx, reasoned, further)
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


def _lines(ctx: RequestContext, whose: Whose, limit: int | None = None) -> list[SealedLine]:
    scope, views = ctx.scope, ctx.tx.lines.views
    span = ViewQuery(
        scope.workspace, whose.kinds, None, whose.observed, whose.sessions, limit, scope.namespaces
    )
    if whose.observers is None:
        return views(span)
    found = [line for owner in whose.observers for line in views(replace(span, owner=owner))]
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


def times_said(ctx: RequestContext, lines: Collection[SealedLine]) -> dict[str, int]:
    """When what each of these rests on was said, by id: as it says itself, or else its newest message of the
    observed or the observer. Nothing for one that rests on no message."""
    known = {line.id: line.occurred_at for line in lines if line.occurred_at is not None}
    others = [line for line in lines if line.id not in known]
    cited = ctx.tx.lines.cited(ctx.scope.workspace, [line.id for line in others])
    for line in others:
        held = line.compartment
        sources = [
            source
            for owner in {held.owner, line.about or held.owner}
            for source in ctx.tx.lines.get_all(held._replace(owner=owner), cited.get(line.id, ()))
        ]
        if sources:
            known[line.id] = max(map(said_at, sources))
    return known


def views_of(
    ctx: RequestContext, lines: Sequence[SealedLine], outdating: _Outdating | None = None
) -> list[View]:
    opener, outdating = Opener(ctx), outdating or _Outdating(ctx)
    sources = ctx.tx.lines.cited(ctx.scope.workspace, [line.id for line in lines])
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

    def __init__(self, ctx: RequestContext, sessions: Collection[str] | None = None) -> None:
        self._ctx = ctx
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
            cited = self._ctx.tx.lines.cited(self._ctx.scope.workspace, unknown)
            self._rests_on.update((line_id, cited.get(line_id, ())) for line_id in unknown)
        return [self._outdated_by(line) for line in lines]

    def _outdated_by(self, line: SealedLine) -> str | None:
        known = self._among(line)
        if not known or line.kind not in _TELL_OF_ALL:
            return known.get(line.id)
        return next((known[source] for source in self._rests_on[line.id] if source in known), None)

    def _among(self, line: SealedLine) -> Mapping[str, str]:
        """All that is outdated of what its observer knows of its peer."""
        ends = line.compartment.owner, line.about or ""
        if ends not in self._known:
            self._known[ends] = outdated_of(self._ctx, *ends, self._sessions)
        return self._known[ends]


class _Row(Mapping[str, Any]):
    """The conclusion as a filter sees it: what must be opened or looked up only if it is asked for."""

    def __init__(self, ctx: RequestContext, opener: Opener, outdating: _Outdating, line: SealedLine) -> None:
        self.ctx = ctx
        self.opener = opener
        self.outdating = outdating
        self.line = line

    def __getitem__(self, name: str) -> Any:
        return _COLUMNS[name][1](self)

    def __iter__(self) -> Iterator[str]:
        return iter(_COLUMNS)

    def __len__(self) -> int:
        return len(_COLUMNS)

    def sources(self) -> list[str]:
        line = self.line
        return self.ctx.tx.lines.cited(line.compartment.workspace, (line.id,)).get(line.id, [])

    def metadata(self) -> dict[str, Any]:
        trusted = trust.of_conclusion(self.line.kind).name.lower()
        outdated_by = self.outdating.of(self.line)
        return {**decode_metadata(self.line.metadata), "trust": trusted, "outdated_by": outdated_by}


_COLUMNS: dict[str, tuple[Field, Callable[[_Row], Any]]] = {
    "id": (Field(Column.TEXT), lambda row: row.line.id),
    "content": (Field(Column.TEXT), lambda row: row.opener.text(row.line)),
    "observer_id": (Field(Column.TEXT), lambda row: row.line.compartment.owner),
    "observer": (Field(Column.TEXT), lambda row: row.line.compartment.owner),
    "observed_id": (Field(Column.TEXT), lambda row: row.line.about),
    "observed": (Field(Column.TEXT), lambda row: row.line.about),
    "session_id": (Field(Column.TEXT), lambda row: row.line.session),
    "workspace_id": (Field(Column.TEXT), lambda row: row.line.compartment.workspace),
    "level": (Field(Column.TEXT, frozenset(CONCLUSIONS)), lambda row: LEVELS[row.line.kind]),
    "created_at": (Field(Column.TIME), lambda row: row.line.created_at),
    "times_derived": (Field(Column.NUMBER), lambda row: row.line.times),
    "source_ids": (Field(Column.LIST), _Row.sources),
    "metadata": (Field(Column.METADATA), _Row.metadata),
}
FIELDS = {name: field for name, (field, _) in _COLUMNS.items()}
"""What conclusions may be filtered by."""
