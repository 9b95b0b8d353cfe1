"""Erase: a message, a conclusion, a session, a peer or a workspace, with everything that rests on it alone.

Readers find nothing from the commit on; the scrub that follows takes the bytes out of the store's
files. What rests on an erased line and on others too stays, and no longer names it.

What was concluded rests on messages, and goes with the last of them, or with any if it follows from all of
them together. What was reasoned further says in one text what several conclusions say, so it goes with any of
them. A line put by hand, whose id its maker may choose, is no ground of anything, even if it goes under the
id of a message or a conclusion.

Only what lies in open namespaces goes. A peer, a scope or a workspace that others hold something of
stays in the directory for them; a peer that does is no longer listed here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from souvenance.core.conversation import cards, directory
from souvenance.core.conversation.compartments import Changes, everywhere, is_of_conversation
from souvenance.core.conversation.conclusions import EXPLICIT, KINDS, TOGETHER
from souvenance.core.conversation.messages import find_message, owe_summaries
from souvenance.core.conversation.summarise import telling_of
from souvenance.core.request_context import RequestContext
from souvenance.domain.directory import (
    DREAM,
    FORMER,
    MEMBER,
    PEER,
    PICK,
    SCOPE,
    SESSION,
    WORKSPACE,
    Entry,
    Job,
)
from souvenance.domain.line import CARD, LinePlace, SealedLine
from souvenance.domain.names import SESSIONS, Compartment, grouped
from souvenance.errors import Conflict, NotFound
from souvenance.ports.store import EVERYTHING, LineQuery, TurnQuery, ViewQuery

_VIEWS = (*KINDS, CARD)


def erase_message(
    ctx: RequestContext, session: str, message_id: str, *, with_empty_session: bool = False
) -> Changes:
    """`with_empty_session`: the session goes too, if it then holds nothing. Raises: NotFound."""
    line = find_message(ctx, session, message_id)
    ctx.tx.lines.hide(None)  # What is over and still there counts too.
    changes = Changes()
    erase_lines(ctx, [line], changes)
    entry = directory.need(ctx, SESSION, session)
    bare = (entry.metadata, entry.configuration) == ("{}", "{}")
    if with_empty_session and bare and not lines_of(ctx, entry):
        changes.gone_session = session
        _strike_session(ctx, session)
    return changes


def erase_session(ctx: RequestContext, session: str) -> Changes:
    """Erase the messages and conclusions of the session. Its name can be used again. Raises: NotFound."""
    entry = directory.need(ctx, SESSION, session)
    ctx.tx.lines.hide(None)  # What is over and still there goes too.
    lines = lines_of(ctx, entry)
    changes = Changes({entry.namespace}, gone_session=session)
    erase_lines(ctx, lines.values(), changes)
    changes.gone -= {place for place, line in lines.items() if is_of_conversation(line)}
    _strike_session(ctx, session)
    return changes


def lines_of(ctx: RequestContext, session: Entry) -> dict[tuple[Compartment, str], LinePlace]:
    """What was said in the session and concluded in it, by compartment and id."""
    workspace, namespace = session.workspace, session.namespace
    owners = dict.fromkeys((SESSIONS, *(stay.held for stay in directory.stays(ctx, session.name))))
    said = [
        line
        for owner in owners
        for line in ctx.tx.lines.of_session(workspace, owner, session.name)
        if line.compartment.namespace == namespace
    ]
    held = ctx.tx.lines.views(ViewQuery(workspace, KINDS, sessions=(session.name,), namespaces=(namespace,)))
    return {(line.compartment, line.id): line for line in (*said, *held)}


def _strike_session(ctx: RequestContext, session: str) -> None:
    """Take the session off the directory."""
    workspace, stored = ctx.scope.workspace, ctx.tx.directory
    stored.remove_memberships(workspace, MEMBER, holder=session)
    stored.remove_memberships(workspace, PICK, held=session)
    stored.drop_batches(workspace, session)
    stored.remove(workspace, SESSION, session)
    ctx.tx.work.drop(workspace, session)


def erase_peer(ctx: RequestContext, peer: str, *, keep_messages: bool) -> Changes:
    """Erase what the peer holds, what others hold of it and, unless kept, what it said. Raises: NotFound."""
    entry = directory.need(ctx, PEER, peer)
    if not directory.knows_peer(ctx, entry):
        raise NotFound("there is no such peer")
    ctx.tx.lines.hide(None)  # What is over and still there goes too.
    workspace = ctx.scope.workspace
    compartments = compartments_held(ctx, peer)
    namespaces = [compartment.namespace for compartment in compartments]
    span = LineQuery(workspace, peer, namespaces, history=True, limit=EVERYTHING)
    own = [line for line in ctx.tx.lines.walk(span) if not (keep_messages and line.turn is not None)]
    of_it = ctx.tx.lines.views(ViewQuery(workspace, _VIEWS, about=peer, namespaces=ctx.scope.namespaces))
    changes = Changes()
    memberships = ctx.tx.directory.memberships(workspace, MEMBER, held=peer)
    sessions = directory.in_reach(ctx, (stay.holder for stay in memberships))
    erase_lines(ctx, {(line.compartment, line.id): line for line in (*own, *of_it)}.values(), changes)
    if keep_messages:
        for session in sorted(sessions):
            directory.leave(ctx, session, (peer,))
        directory.ensure(ctx, FORMER, peer)
    else:
        changes.gone -= {(line.compartment, line.id) for line in own}
        changes.gone_owner = peer
        changes.gone_in = namespaces
        changes.namespaces.update(namespaces)
        delete_compartments(ctx, compartments, changes)
        for session in sessions:
            ctx.tx.directory.remove_memberships(workspace, MEMBER, holder=session, held=peer)
    _strike_off(ctx, entry, keep_former=keep_messages)
    return changes


def compartments_held(ctx: RequestContext, owner: str) -> list[Compartment]:
    """The owner's compartments that may be looked into, also one that has lost its keys or its lines."""
    workspace = ctx.scope.workspace
    keyed = {key.compartment.namespace for key in ctx.tx.keys.of(workspace, owner, ctx.scope.namespaces)}
    found = sorted(keyed.union(filter(ctx.scope.opens, ctx.tx.lines.namespaces(workspace, owner))))
    return [Compartment(workspace, owner, namespace) for namespace in found]


def delete_compartments(
    ctx: RequestContext, compartments: Iterable[Compartment], changes: Changes
) -> tuple[int, int]:
    """Delete everything in these compartments; how many lines and keys there were."""
    lines = keys = 0
    for compartment in compartments:
        held = ctx.tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
        changes.epoch = max([changes.epoch, *(key.epoch for key in held)])
        lines += ctx.tx.lines.delete_compartment(compartment)
        ctx.tx.terms.delete_compartment(compartment)
        keys += ctx.tx.keys.delete_compartment(compartment)
    ctx.tx.touch(ctx.scope.workspace, compartments=True)
    return lines, keys


def _strike_off(ctx: RequestContext, entry: Entry, *, keep_former: bool = False) -> None:
    """Take the peer off the directory, or leave it to the other namespaces that hold something of it."""
    stored = ctx.tx.directory
    others = _elsewhere(ctx, entry.name)
    stored.remove(entry.workspace, PEER, entry.name)
    if others:
        namespace = min(others) if ctx.scope.opens(entry.namespace) else entry.namespace
        stored.add(replace(entry, namespace=namespace))
    elif not keep_former:
        stored.remove(entry.workspace, FORMER, entry.name)


def _elsewhere(ctx: RequestContext, peer: str) -> set[str]:
    """The namespaces out of reach in which the peer is or was in a session, holds something or is held."""
    if ctx.scope.namespaces is None:
        return set()
    workspace, stored = ctx.scope.workspace, ctx.tx.directory
    held = [
        line.compartment.namespace
        for span in (ViewQuery(workspace, _VIEWS, owner=peer), ViewQuery(workspace, _VIEWS, about=peer))
        for line in ctx.tx.lines.views(span)
    ]
    entries = [
        stored.entry(workspace, SESSION, stay.holder)
        for stay in stored.memberships(workspace, MEMBER, held=peer)
    ]
    found = {*held, *(entry.namespace for entry in entries if entry is not None)}
    return {namespace for namespace in found if not ctx.scope.opens(namespace)}


def erase_workspace(ctx: RequestContext) -> Changes:
    """Erase the workspace but for its audit log. Raises: NotFound, Conflict while there are sessions."""
    workspace, stored = ctx.scope.workspace, ctx.tx.directory
    directory.need(ctx, WORKSPACE, workspace)
    if stored.count(workspace, SESSION, ctx.scope.namespaces):
        raise Conflict(
            "the workspace still has sessions", hint="Delete its sessions first; nothing was changed."
        )
    every = {*ctx.tx.lines.compartments(), *(key.compartment for key in ctx.tx.keys.every())}
    mine = sorted(one for one in every if one.workspace == workspace and ctx.scope.opens(one.namespace))
    namespaces = everywhere(ctx)
    changes = Changes(set(namespaces), gone_workspace=True, gone_in=namespaces)
    delete_compartments(ctx, mine, changes)
    ctx.tx.work.drop(workspace, namespaces=ctx.scope.namespaces)
    if _is_used_elsewhere(ctx):
        for entry in stored.entries(workspace, PEER, namespaces=ctx.scope.namespaces):
            _strike_off(ctx, entry)
    else:
        stored.remove_workspace(workspace)
        ctx.tx.work.drop(workspace)
    ctx.tx.owe_scrub()
    return changes


def _is_used_elsewhere(ctx: RequestContext) -> bool:
    """Whether a namespace out of reach holds a session, a conclusion or a card of the workspace."""
    if ctx.scope.namespaces is None:
        return False
    workspace, lines = ctx.scope.workspace, ctx.tx.lines
    held = (
        lines.views(ViewQuery(workspace, _VIEWS, one.owner, limit=1, namespaces=(one.namespace,)))
        for one in lines.compartments()
        if one.workspace == workspace and not ctx.scope.opens(one.namespace)
    )
    return bool(ctx.tx.directory.count(workspace, SESSION)) or any(held)


def erase_scope(ctx: RequestContext, scope: str) -> None:
    """The scope, or, where it has sessions out of reach, only the others in it."""
    workspace, stored = ctx.scope.workspace, ctx.tx.directory
    picked = {one.held for one in stored.memberships(workspace, PICK, holder=scope)}
    mine = directory.in_reach(ctx, picked)
    if any(stored.entry(workspace, SESSION, session) for session in picked - mine):
        for session in mine:
            stored.remove_memberships(workspace, PICK, holder=scope, held=session)
    else:
        stored.remove_memberships(workspace, PICK, holder=scope)
        stored.remove(workspace, SCOPE, scope)


def erase_lines(ctx: RequestContext, lines: Iterable[LinePlace], changes: Changes) -> None:
    """Erase the lines, what rests on them alone, their entries on cards, and summaries of them."""
    falling = fall(ctx, lines)
    going = falling.lines.values()
    _unsay(ctx, going, changes)
    struck: dict[tuple[Compartment, str], set[str]] = {place: set() for place in falling.weakened}
    for line in going:
        if line.kind in KINDS and line.about is not None:
            struck.setdefault((line.compartment, line.about), set()).add(line.id)
    _delete(ctx, going, changes)
    ctx.tx.lines.uncite(ctx.scope.workspace, falling.unsaid)
    anew = set(falling.reasoned)
    for (compartment, observed), sources in struck.items():
        card = cards.Card(ctx, compartment.owner, observed, compartment.namespace)
        if card.strike(sources, changes, messages=falling.unsaid):
            anew.add((compartment, observed))
    for compartment, observed in sorted(anew):
        owe_card(ctx, compartment, observed)
    ctx.tx.owe_scrub()


class Fall(Struct):
    lines: dict[tuple[Compartment, str], LinePlace] = field(default_factory=dict)
    """These lines, and those that rest on them alone."""
    unsaid: set[str] = field(default_factory=set)
    """The messages among them."""
    weakened: set[tuple[Compartment, str]] = field(default_factory=set)
    """Who concluded of whom from them and from others too."""
    reasoned: set[tuple[Compartment, str]] = field(default_factory=set)
    """Who reasoned of whom from conclusions among them."""


def fall(ctx: RequestContext, lines: Iterable[LinePlace]) -> Fall:
    """What goes with these lines. Nothing is changed."""
    found, going = Fall(), list(lines)
    while going:
        found.lines.update(((line.compartment, line.id), line) for line in going)
        said = [line.id for line in going if line.turn is not None]
        concluded = [line.id for line in going if line.kind in KINDS and line.about is not None]
        found.unsaid.update(said)
        reasoned = _reasoned_from(ctx, concluded)
        found.reasoned.update((line.compartment, line.about or "") for line in reasoned)
        resting = _resting_on(ctx, said, found.unsaid, found.weakened)
        going = [one for one in (*resting, *reasoned) if (one.compartment, one.id) not in found.lines]
    return found


def erase_words(ctx: RequestContext, session: str, lines: Iterable[LinePlace], changes: Changes) -> None:
    """Messages of the session alone. Its summaries stay, and what was concluded from them stays without
    its sources."""
    directory.spend_turns(ctx, session, directory.next_turn(ctx, session) - 1)
    gone = list(lines)
    _delete(ctx, gone, changes)
    ctx.tx.lines.uncite(ctx.scope.workspace, [line.id for line in gone])
    ctx.tx.owe_scrub()


def _delete(ctx: RequestContext, lines: Iterable[LinePlace], changes: Changes) -> None:
    """Take the lines themselves out of the store and its index."""
    for compartment, ids in grouped((line.compartment, line.id) for line in lines).items():
        ctx.tx.terms.remove(compartment, ids)
        ctx.tx.lines.delete(compartment, ids)
        changes.lose(compartment, ids)


def erase_resting(
    ctx: RequestContext, gone: Collection[str], sessions: Iterable[str], changes: Changes
) -> None:
    """What rested on these lines of the request context's owner in these sessions, which are about to go."""
    workspace, owner = ctx.scope.workspace, ctx.scope.owner
    said = [
        line
        for session in directory.in_reach(ctx, sessions)
        for line in ctx.tx.lines.turns(TurnQuery(workspace, session, owner=owner))
        if line.id in gone
    ]
    _unsay(ctx, said, changes)
    unsaid = {line.id for line in said}
    weakened: set[tuple[Compartment, str]] = set()
    resting = _resting_on(ctx, unsaid, unsaid, weakened)
    ctx.tx.lines.uncite(workspace, unsaid)
    for compartment, observed in weakened:
        card = cards.Card(ctx, compartment.owner, observed, compartment.namespace)
        card.strike((), changes, messages=unsaid)
    held = ctx.tx.lines.views(ViewQuery(workspace, KINDS, owner, namespaces=ctx.scope.namespaces))
    reasoned = _reasoned_from(ctx, {line.id for line in held}.intersection(gone))
    erase_lines(ctx, [*resting, *(line for line in reasoned if line.compartment.owner != owner)], changes)


def _unsay(ctx: RequestContext, lines: Iterable[LinePlace], changes: Changes) -> None:
    """Make ready for messages to go: their turns are spent, and summaries tell of them. A summary says in one
    text what several said: one that tells of any of them goes as a whole, and is made again without them."""
    first: dict[str, int] = {}
    for line in lines:
        if line.turn is not None and line.session:
            first[line.session] = min(line.turn, first.get(line.session, line.turn))
    for session, turn in first.items():
        entry = directory.find(ctx, SESSION, session)
        if entry is None:
            continue
        last = directory.next_turn(ctx, session) - 1
        directory.spend_turns(ctx, session, last)
        if told := telling_of(ctx, session, turn):
            _delete(ctx, told, changes)
            owe_summaries(ctx, entry, 1, last)


def _resting_on(
    ctx: RequestContext,
    said: Collection[str],
    unsaid: Collection[str],
    weakened: set[tuple[Compartment, str]],
) -> list[LinePlace]:
    """The lines that follow from what was `said`, and from nothing that is left once all of `unsaid` goes.
    Those that follow from more are noted in `weakened`. What follows from several messages together follows
    no longer without one of them."""
    workspace = ctx.scope.workspace
    resting = _citing(ctx, said)
    cited = ctx.tx.lines.cited(workspace, [line.id for line in resting])
    found: list[LinePlace] = []
    for line in resting:
        if line.metadata == TOGETHER or set(cited[line.id]).issubset(unsaid):
            found.append(line)
        elif line.about is not None:
            weakened.add((line.compartment, line.about))
    return found


def _reasoned_from(ctx: RequestContext, gone: Collection[str]) -> list[LinePlace]:
    """What was reasoned further from any of these conclusions."""
    return [line for line in _citing(ctx, gone) if line.kind in KINDS - EXPLICIT]


def _citing(ctx: RequestContext, sources: Collection[str]) -> list[SealedLine]:
    places = grouped(ctx.tx.lines.citing(ctx.scope.workspace, sources))
    return [line for place, ids in places.items() for line in ctx.tx.lines.get_all(place, ids)]


def owe_card(ctx: RequestContext, compartment: Compartment, observed: str) -> None:
    """Make the card of the compartment's owner again from the current conclusions."""
    payload = msgspec.json.encode({"observer": compartment.owner}).decode()
    job = Job(compartment.workspace, DREAM, peer=observed, payload=payload, namespace=compartment.namespace)
    ctx.tx.work.add(job, ctx.now)
