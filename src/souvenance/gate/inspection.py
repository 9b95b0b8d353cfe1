"""What the inspector asks of people beyond the other doors: who there is, a card with its history, who knows.

Each operation answers a part of one page from counts and pages of the store, and never reads everything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import dropwhile
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from souvenance.core.conversation import cards, directory
from souvenance.core.conversation.compartments import (
    Changes,
    Opener,
    compartment_of,
    compartments_of,
    everywhere,
    reading,
)
from souvenance.core.request_context import RequestContext, said_at
from souvenance.domain import ulid
from souvenance.domain.content import check_text
from souvenance.domain.current_facts import CardEntry, Stand, label_of, one_at_a_time, value_of
from souvenance.domain.directory import DELIVER, PEER, REASONING
from souvenance.domain.names import Name
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import Conflict, InvalidInput
from souvenance.gate import messages as m
from souvenance.gate.conversation.resource import Page, UpTo100
from souvenance.gate.health import budget_left, namespaces_of
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights, operation
from souvenance.ports.store import TurnQuery

DAY_MS = 24 * 3600 * 1000
WEEK_MS = 7 * DAY_MS
WEEKS = 26
MONTHS = 24
_MOST_JOBS = 1000
_MOST_ORDERED = 500
"""Of more people than that, those who were first met last come first."""


class Asked(Request, frozen=True, kw_only=True):
    """Base of what is asked about one workspace."""

    workspace_id: Name


def anyone(rights: Rights, asked: Asked) -> None:
    """The scope of the token is enough."""


# People, and how the installation is.


class People(Asked, frozen=True, kw_only=True):
    page: Page = 1
    size: UpTo100 = 40


class Activity(Answer, frozen=True):
    """What one peer said: how often, when last, and in each of the last weeks, oldest first."""

    peer: str
    messages: int
    lines: int
    """All lines that the peer holds: messages, notes and what it concluded."""
    last: datetime | None
    weeks: list[int]


class PeopleAnswer(Answer, frozen=True):
    people: list[Activity]
    """A page of them. Who spoke last comes first."""
    total: int


class ServerHealth(Answer, frozen=True, kw_only=True):
    """None where the token does not open the whole workspace."""

    scrub_pending: bool
    embedder: str
    embedder_trouble: str
    loaded: bool | None
    """Whether the embedder is in memory: the first question loads it. None if there is none."""
    waiting: int | None
    """How many lines are found by words alone, for they have no vector yet."""
    model: str
    model_trouble: str
    left: m.Budget | None
    jobs: int | None
    """How many jobs wait or are under way, up to a thousand, and how many were given up."""
    failed: int | None
    audit_rows: int | None


def people(request: AuthorisedRequest, asked: People) -> Outcome:
    ctx, workspace = request.ctx, request.ctx.scope.workspace
    entries = ctx.tx.directory.entries(workspace, PEER, newest_first=True)
    names = [entry.name for entry in entries if directory.knows_peer(ctx, entry)]
    if len(names) <= _MOST_ORDERED:
        newest = ctx.tx.lines.newest_ids(workspace, ctx.scope.namespaces)
        names.sort(key=lambda name: newest.get(name, ""), reverse=True)
    first = (asked.page - 1) * asked.size
    shown = names[first : first + asked.size]
    since = ctx.now - WEEKS * WEEK_MS
    weeks: dict[str, list[int]] = defaultdict(lambda: [0] * WEEKS)
    said: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    last: dict[str, int] = {}
    for owner, week, count, newest_at in ctx.tx.lines.activity(
        workspace, ctx.scope.namespaces, since, WEEK_MS, shown
    ):
        lines[owner] += count
        if week is None:
            continue
        said[owner] += count
        last[owner] = max(newest_at, last.get(owner, newest_at))
        if week >= 0:
            weeks[owner][min(week, WEEKS - 1)] += count
    found = [
        Activity(
            name,
            said[name],
            lines[name],
            to_datetime(last[name]) if name in last else None,
            weeks[name],
        )
        for name in sorted(shown, key=lambda name: (-last.get(name, -1), name))
    ]
    return Outcome(PeopleAnswer(found, len(names)), reading(everywhere(ctx)))


def health(request: AuthorisedRequest, asked: Asked) -> Outcome:
    ctx, workspace = request.ctx, request.ctx.scope.workspace
    everything = request.rights.everywhere and ctx.scope.namespaces is None
    meaning, model = ctx.services.meaning, ctx.services.model
    standing = None if model is None else model.standing(workspace)
    lacking = ctx.tx.renewal.lacking(meaning.space, workspace) if meaning.space and everything else 0
    jobs = ctx.tx.work.owed(workspace, (*REASONING, DELIVER), limit=_MOST_JOBS) if everything else []
    answer = ServerHealth(
        scrub_pending=request.store.scrub_pending(),
        embedder=meaning.description,
        embedder_trouble=meaning.trouble,
        loaded=None if meaning.embedder is None else meaning.loaded.is_set(),
        waiting=lacking if everything else None,
        model="" if model is None else model.name,
        model_trouble="" if standing is None else standing.trouble,
        left=budget_left(standing.allowance_here, standing.spent_here) if standing and everything else None,
        jobs=len(jobs) if everything else None,
        failed=len(ctx.tx.work.failed(workspace, _MOST_JOBS)) if everything else None,
        audit_rows=ctx.tx.audit.tree(workspace).size if everything else None,
    )
    return Outcome(answer)


class NamespacesAnswer(Answer, frozen=True):
    """What the token's own subject has in each namespace."""

    namespaces: list[m.CompartmentStatus]


def namespaces(request: AuthorisedRequest, asked: Asked) -> Outcome:
    return Outcome(NamespacesAnswer(namespaces_of(request.ctx)), reading(everywhere(request.ctx)))


# A person.


class Facts(Asked, frozen=True, kw_only=True):
    """The card that `observer` keeps of `peer`."""

    peer: Name
    observer: Name


class EarlierFact(Answer, frozen=True):
    value: str
    until: datetime | None
    """When the next value was said; None for the last one, if somebody wrote the next."""


class Fact(Answer, frozen=True):
    text: str
    by_hand: bool
    """Whether somebody wrote or pinned it: then it stays until they change it."""
    said_at: datetime | None
    """None, as the next two, for what nobody said."""
    session: str | None
    message: str | None
    speaker: str | None
    stated: str | None
    """The conclusion that it comes from, word for word."""
    earlier: list[EarlierFact]
    """The values that this one replaced, newest first."""
    corrected: bool = False
    """Whether somebody wrote the conclusion in place of another."""


class FactsAnswer(Answer, frozen=True):
    facts: list[Fact]


class AmendCard(Facts, frozen=True, kw_only=True):
    """Change one fact: `before` alone takes it off, `after` alone adds it, both the same pin it."""

    before: str | None = None
    after: Annotated[str, Meta(max_length=10_000)] | None = None
    others: bool = False
    """Whether to change `before`, too, on every other card of the peer that has it and that the cap holds."""
    dry_run: bool = False
    """Only say on whose cards `before` would change."""


class AmendedAnswer(Answer, frozen=True):
    cards: list[str]
    """Who keeps the cards that changed, or would."""


class AskPerson(Asked, frozen=True, kw_only=True):
    peer: Name
    page: Page = 1
    size: UpTo100 = 50


class KnowsPerson(Answer, frozen=True):
    """Who knows something of the person: how much, and since when the newest of it."""

    name: str
    lines: int
    newest: datetime


class SessionSpan(Answer, frozen=True):
    """A session: how many messages it has, and when the first and the last of them were said."""

    name: str
    messages: int
    first: datetime | None
    last: datetime | None


class PersonAnswer(Answer, frozen=True):
    months: list[tuple[str, int]]
    """What the person said in each of the last months, oldest first; from the first in which there was
    something."""
    namespaces: list[m.CompartmentStatus]
    observers: list[KnowsPerson]
    sessions: list[SessionSpan]
    """A page of them, newest first."""
    total: int


def facts(request: AuthorisedRequest, asked: Facts) -> Outcome:
    ctx = request.ctx
    entries = cards.read_card(ctx, asked.observer, asked.peer) or []
    by_namespace = cards.stands_of(ctx, asked.observer, asked.peer)
    stands = [one for some in by_namespace.values() for one in some]
    newest = [_newest_stand(entry, stands) for entry in entries]
    sources = {one.source for one in newest if one is not None}
    opener = Opener(ctx)
    lines = [
        line
        for namespace in by_namespace
        for line in ctx.tx.lines.get_all(compartment_of(ctx, asked.observer, namespace), sources)
    ]
    texts = {line.id: opener.text(line) for line in lines}
    corrected = {line.id for line in lines if line.supersedes is not None}
    found = [
        Fact(
            entry.text,
            entry.source is None,
            None if said is None else to_datetime(said.at),
            None if said is None else said.session,
            None if said is None else said.said,
            None if said is None else asked.peer,
            None if said is None else texts.get(said.source),
            list(_earlier(entry, entries, stands)),
            said is not None and said.source in corrected,
        )
        for entry, said in zip(entries, newest, strict=True)
    ]
    said_in = [fact.message for fact in found if fact.message is not None]
    return Outcome(FactsAnswer(found), reading(everywhere(ctx), [*said_in, *texts]))


def _newest_stand(entry: CardEntry, stands: Iterable[Stand]) -> Stand | None:
    """Where what the entry says was said last."""
    stating = [one for one in stands if entry.source in (None, one.source) and one.text == entry.text]
    return max(stating, key=lambda one: one.when, default=None)


def _earlier(entry: CardEntry, entries: Sequence[CardEntry], stands: list[Stand]) -> Iterator[EarlierFact]:
    """Where there is one value at a time: those before this one, each with the time of the next."""
    label = label_of(entry.text)
    if not one_at_a_time(label):
        return
    said = sorted((one for one in stands if label_of(one.text) == label), key=lambda one: one.when)
    until: int | None = None
    seen = {value_of(one.text) for one in entries if label_of(one.text) == label}
    for one in reversed(said):
        old = value_of(one.text)
        if old not in seen and (until is not None or entry.source is None):
            seen.add(old)
            yield EarlierFact(old, None if until is None else to_datetime(until))
        until = one.at


def preview_amend(request: AuthorisedRequest, asked: AmendCard) -> Outcome | None:
    """On whose cards it would change, if that is all that was asked."""
    if not asked.dry_run:
        return None
    ctx = request.ctx
    cards_of = {name: cards.read_card(ctx, name, asked.peer) or () for name in _keepers(request, asked)}
    found = [name for name, card in cards_of.items() if asked.before in [one.text for one in card]]
    if asked.observer not in found:
        raise _changed()
    return Outcome(AmendedAnswer(found), reading(everywhere(ctx)))


def amend(request: AuthorisedRequest, asked: AmendCard) -> Outcome:
    if asked.before is None and asked.after is None:
        raise InvalidInput("name the fact to change, or what is true")
    ctx, changes = request.ctx, Changes()
    if asked.after is not None:
        check_text(asked.after, "after")
    if asked.before is None:
        directory.ensure(ctx, PEER, asked.observer, namespace=directory.home(ctx))
    amended = [
        one for one in _keepers(request, asked) if _amended(ctx, replace(asked, observer=one), changes)
    ]
    if asked.observer not in amended:
        raise _changed()
    return Outcome(AmendedAnswer(amended), changes.trace())


def _keepers(request: AuthorisedRequest, asked: AmendCard) -> list[str]:
    """Whose cards may change: the observer's first."""
    others = _observers(request, asked.peer) if asked.others and asked.before is not None else ()
    return list(dict.fromkeys((asked.observer, *(one.name for one in others))))


def _changed() -> Conflict:
    return Conflict("the card has changed meanwhile", hint="Look at the person again.")


def _amended(ctx: RequestContext, asked: AmendCard, changes: Changes) -> bool:
    """Whether the observer's card had the fact. What holds instead is written once."""
    new, amended = asked.before is None, False
    known = cards.stands_of(ctx, asked.observer, asked.peer)
    for namespace in [directory.home(ctx)] if new else known:
        card = cards.Card(ctx, asked.observer, asked.peer, namespace)
        amended |= card.amend(asked.before, None if amended else asked.after, changes)
    return amended


def person(request: AuthorisedRequest, asked: AskPerson) -> Outcome:
    ctx, workspace, register = request.ctx, request.ctx.scope.workspace, request.ctx.tx.directory
    directory.need(ctx, PEER, asked.peer)
    first, namespaces = (asked.page - 1) * asked.size, ctx.scope.namespaces
    newest = register.newest_sessions(workspace, asked.peer, namespaces, first, asked.size)
    answer = PersonAnswer(
        _months(ctx, asked.peer),
        [
            m.CompartmentStatus(one.namespace, ctx.tx.lines.count(one))
            for one in compartments_of(ctx, asked.peer)
        ],
        _observers(request, asked.peer),
        [_span(ctx, entry.name) for entry in newest],
        len(register.sessions_with(workspace, (asked.peer,), namespaces)),
    )
    return Outcome(answer, reading(everywhere(ctx)))


def _span(ctx: RequestContext, session: str) -> SessionSpan:
    asked = TurnQuery(ctx.scope.workspace, session, limit=1)
    ends = [ctx.tx.lines.turns(replace(asked, newest_first=newest)) for newest in (False, True)]
    first, last = (to_datetime(said_at(end[0])) if end else None for end in ends)
    return SessionSpan(session, ctx.tx.lines.count_turns(ctx.scope.workspace, session), first, last)


def _months(ctx: RequestContext, peer: str) -> list[tuple[str, int]]:
    today = to_datetime(ctx.now)
    end = today.year * 12 + today.month
    months = [f"{at // 12}-{at % 12 + 1:02d}" for at in range(end - MONTHS, end)]
    since = ctx.now - ctx.now % DAY_MS - (MONTHS * 31 + 1) * DAY_MS
    counts: Counter[str] = Counter()
    for _, step, count, _ in ctx.tx.lines.activity(
        ctx.scope.workspace, ctx.scope.namespaces, since, DAY_MS, (peer,)
    ):
        if step is not None and step >= 0:
            counts[f"{to_datetime(since + step * DAY_MS):%Y-%m}"] += count
    found = [(month, counts[month]) for month in months]
    return list(dropwhile(lambda one: not one[1], found))


def _observers(request: AuthorisedRequest, peer: str) -> list[KnowsPerson]:
    """Those whose view of the person the token may look at."""
    ctx, views = request.ctx, request.rights.views()
    found = ctx.tx.lines.observers(ctx.scope.workspace, peer, ctx.scope.namespaces)
    open_to = [whose.observers for whose in views if whose.observed in (None, peer) and not whose.sessions]
    return [
        KnowsPerson(name, lines, to_datetime(ulid.milliseconds(newest)))
        for name, lines, newest in found
        if any(names is None or name in names for names in open_to)
    ]


def _holds(rights: Rights, asked: Facts) -> None:
    rights.holds(asked.observer, asked.peer)


PEOPLE = operation("inspect.people", "list", PeopleAnswer, people, waits=True)
"""It waits for the store to count lines, and must not keep others from searching meanwhile."""
HEALTH = operation("inspect.health", "list", ServerHealth, health, anyone)
NAMESPACES = operation("inspect.namespaces", "list", NamespacesAnswer, namespaces, anyone)
FACTS = operation("inspect.facts", "get", FactsAnswer, facts, _holds)
AMEND = operation("inspect.amend", "put", AmendedAnswer, amend, _holds, peek=preview_amend)
PERSON = operation(
    "inspect.person", "list", PersonAnswer, person, lambda rights, asked: rights.peer(asked.peer)
)
