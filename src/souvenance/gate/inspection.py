"""What the inspector asks beyond the other doors: how active people are, and a card with its history."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from souvenance.core.conversation import cards
from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.domain.current_facts import CardEntry, Stand, label_of, one_at_a_time, value_of
from souvenance.domain.directory import PEER
from souvenance.domain.names import Name
from souvenance.domain.policy import Need, Reach
from souvenance.domain.timestamps import to_datetime
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome
from souvenance.gate.rights import Rights

WEEK_MS = 7 * 24 * 3600 * 1000
WEEKS = 26


class People(Request, frozen=True):
    workspace_id: Name


class Activity(Answer, frozen=True):
    """What one peer said: how often, when last, and in each of the last weeks, oldest first."""

    peer: str
    messages: int
    last: datetime | None
    weeks: list[int]


class PeopleAnswer(Answer, frozen=True):
    people: list[Activity]
    """Who spoke last comes first."""


class Facts(Request, frozen=True):
    """The card that `observer` keeps of `peer`."""

    workspace_id: Name
    peer: Name
    observer: Name


class EarlierFact(Answer, frozen=True):
    value: str
    said_at: datetime


class Fact(Answer, frozen=True):
    text: str
    said_at: datetime | None
    """None, as the next two, for what was written by hand."""
    session: str | None
    message: str | None
    earlier: list[EarlierFact]
    """The values that this one replaced, newest first."""


class FactsAnswer(Answer, frozen=True):
    facts: list[Fact]


def people(request: AuthorisedRequest, asked: People) -> Outcome:
    ctx = request.ctx
    now = ctx.now
    since = now - WEEKS * WEEK_MS
    weeks: dict[str, list[int]] = defaultdict(lambda: [0] * WEEKS)
    totals: dict[str, int] = defaultdict(int)
    last: dict[str, int] = {}
    for owner, week, count, newest in ctx.tx.lines.activity(
        ctx.scope.workspace, ctx.scope.namespaces, since, WEEK_MS
    ):
        totals[owner] += count
        last[owner] = max(newest, last.get(owner, newest))
        if week >= 0:
            weeks[owner][min(week, WEEKS - 1)] += count
    known = [entry.name for entry in ctx.tx.directory.entries(ctx.scope.workspace, PEER)]
    found = [
        Activity(name, totals[name], to_datetime(last[name]) if name in last else None, weeks[name])
        for name in sorted(known, key=lambda name: (-last.get(name, -1), name))
    ]
    return Outcome(PeopleAnswer(found), reading(everywhere(ctx)))


def facts(request: AuthorisedRequest, asked: Facts) -> Outcome:
    ctx = request.ctx
    entries = cards.read_card(ctx, asked.observer, asked.peer) or []
    stands = [one for some in cards.stands_of(ctx, asked.observer, asked.peer).values() for one in some]
    found = [_fact(entry, stands) for entry in entries]
    lines = [fact.message for fact in found if fact.message is not None]
    return Outcome(FactsAnswer(found), reading(everywhere(ctx), lines))


def _fact(entry: CardEntry, stands: list[Stand]) -> Fact:
    said = next((one for one in stands if entry.source is not None and one.source == entry.source), None)
    return Fact(
        entry.text,
        None if entry.at is None else to_datetime(entry.at),
        None if said is None else said.session,
        None if said is None else said.said,
        _earlier(entry, stands),
    )


def _earlier(entry: CardEntry, stands: list[Stand]) -> list[EarlierFact]:
    label, value = label_of(entry.text), value_of(entry.text)
    if entry.at is None or not one_at_a_time(label):
        return []
    before = [one for one in stands if label_of(one.text) == label and one.at < entry.at]
    values = {value_of(one.text): one.at for one in sorted(before, key=lambda one: one.at)}
    values.pop(value, None)
    return [EarlierFact(old, to_datetime(at)) for old, at in reversed(values.items())]


def _whole(rights: Rights, asked: People) -> None:
    rights.workspace()


def _holds(rights: Rights, asked: Facts) -> None:
    rights.holds(asked.observer, asked.peer)


def _reach(asked: People | Facts) -> Reach:
    return Reach(workspace=asked.workspace_id, some_compartment=True)


PEOPLE = Operation("inspect.people", Need("list"), People, PeopleAnswer, people, _reach, admit=_whole)
FACTS = Operation("inspect.facts", Need("get"), Facts, FactsAnswer, facts, _reach, admit=_holds)
