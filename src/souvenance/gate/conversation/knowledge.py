"""The gate's operations on what is known of peers: representations, cards, conclusions and dreams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from souvenance.core.conversation import cards, conclusions, directory, erase
from souvenance.core.conversation.compartments import Changes, compartments_of, everywhere, reading
from souvenance.core.conversation.context import MOST_CONCLUSIONS, Picture, PictureQuery, narrowed, picture
from souvenance.core.conversation.messages import find_message
from souvenance.core.request_context import Trace
from souvenance.domain.content import check_text
from souvenance.domain.current_facts import CardEntry
from souvenance.domain.directory import MEMBER, PEER, SESSION
from souvenance.domain.filters import equals, predicate
from souvenance.domain.jobs import DERIVE, DREAM, REASONING, Errand
from souvenance.domain.line import SealedLine
from souvenance.domain.reasoning_settings import dreams
from souvenance.errors import CapOpMismatch, CapScopeMismatch, Disabled, InvalidInput, NotFound
from souvenance.gate.conversation import requests as q
from souvenance.gate.conversation import responses as a
from souvenance.gate.conversation import serialisers
from souvenance.gate.conversation.messages import moment_ms
from souvenance.gate.operation import AuthorisedRequest, Outcome


def represent(case: AuthorisedRequest, request: q.Represent) -> Outcome:
    observed = request.target or request.peer_id
    sessions = sessions_asked(case, request.session_id, request.filters, request.scope)
    found = picture(
        case.ctx,
        PictureQuery(
            observer=request.peer_id,
            observed=observed,
            query=request.search_query,
            top_k=request.search_top_k,
            distance=request.search_max_distance,
            frequent=bool(request.include_most_frequent),
            most=request.max_conclusions or MOST_CONCLUSIONS,
            sessions=narrowed(sessions, case.rights.looks(request.peer_id, observed)),
        ),
    )
    return Outcome(a.Representation(found.text), _seen(case, found))


def sessions_asked(
    case: AuthorisedRequest, session: str | None, filters: Mapping[str, Any] | None, scope: q.Scopes | None
) -> frozenset[str] | None:
    """The sessions that a question is limited to; None if to none.

    Raises: InvalidInput for any other filter than one on session_id; CapScopeMismatch for a scope and a cap
    that does not reach the whole workspace; NotFound for an unknown scope.
    """
    if sum(one is not None for one in (session, filters, scope)) > 1:
        raise InvalidInput("name only one of session_id, filters and scope")
    if session is not None:
        return directory.in_reach(case.ctx, (session,))
    if scope is not None:
        case.rights.workspace()
        return directory.scope_sessions(case.ctx, (scope,) if isinstance(scope, str) else scope)
    return directory.in_reach(case.ctx, _allowed(filters)) if filters else None


def _allowed(filters: Mapping[str, Any]) -> frozenset[str]:
    if set(filters) != {"session_id"}:
        raise InvalidInput("filters may only name session_id here")
    named = filters["session_id"]
    if isinstance(named, Mapping) and set(named) == {"in"}:
        named = named["in"]
    found = [named] if isinstance(named, str) else named
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found) or len(found) > 1000:
        raise InvalidInput("filters.session_id must be an id, a list of up to 1000 ids, or {'in': [ids]}")
    return frozenset(found)


def _seen(case: AuthorisedRequest, found: Picture) -> Trace:
    return _read(case, [line.id for line in found.lines])


def _read(case: AuthorisedRequest, lines: Sequence[str] = ()) -> Trace:
    return reading(everywhere(case.ctx), lines)


def peer_context(case: AuthorisedRequest, request: q.PeerContext) -> Outcome:
    target = request.target or request.peer_id
    found = picture(
        case.ctx,
        PictureQuery(
            observer=request.peer_id,
            observed=target,
            query=request.search_query,
            top_k=request.search_top_k,
            distance=request.search_max_distance,
            frequent=request.include_most_frequent,
            most=request.max_conclusions or MOST_CONCLUSIONS,
            sessions=case.rights.looks(request.peer_id, target),
            unasked=request.floor,
        ),
    )
    return Outcome(a.PeerContextAnswer(request.peer_id, target, found.text, found.card), _seen(case, found))


def read_card(case: AuthorisedRequest, request: q.ReadCard) -> Outcome:
    entries = cards.read_card(case.ctx, request.peer_id, request.target or request.peer_id)
    card = None if entries is None else [entry.text for entry in entries]
    return Outcome(a.PeerCard(card), _read(case))


def write_card(case: AuthorisedRequest, request: q.WriteCard) -> Outcome:
    changes = Changes()
    target = request.target or request.peer_id
    namespace = directory.namespace_for(case.ctx, None, request.namespace)
    directory.ensure(case.ctx, PEER, request.peer_id, namespace=namespace)
    if case.rights.reaches(target):
        directory.ensure(case.ctx, PEER, target, namespace=namespace)
    entries = [CardEntry(check_text(text, "peer_card")) for text in request.peer_card]
    cards.write_card(case.ctx, request.peer_id, target, namespace, entries, changes)
    return Outcome(a.PeerCard(list(request.peer_card)), changes.trace())


def add_conclusions(case: AuthorisedRequest, request: q.AddConclusions) -> Outcome:
    changes = Changes()
    stated = [
        conclusions.Stated(
            one.observer_id,
            one.observed_id,
            one.content,
            one.session_id,
            _sources(case, one),
            moment_ms(one.created_at),
            serialisers.bag(one.metadata) or "{}",
            one.quoted,
            one.key,
        )
        for one in request.conclusions
    ]
    views, known = conclusions.state(case.ctx, stated, request.namespace)
    for view in views:
        if view.line.id not in known:
            changes.add(view.line)
    repeated = sum(view.line.id in known for view in views)
    return Outcome(a.Conclusions([serialisers.conclusion(view) for view in views], repeated), changes.trace())


def _sources(case: AuthorisedRequest, stated: q.NewConclusion) -> list[SealedLine]:
    """The lines that it is said to follow from.

    Raises: CapOpMismatch for a cap that reads nothing, NotFound for what it may not read or is not there.
    """
    if stated.source_ids and "get" not in case.chain.grant.ops:
        raise CapOpMismatch("the cap does not grant 'get', and sources are read")
    return [_source(case, stated, line_id) for line_id in stated.source_ids or ()]


def _source(case: AuthorisedRequest, stated: q.NewConclusion, line_id: str) -> SealedLine:
    """A message of the session, or of either peer where the cap may read it, or else a conclusion."""
    try:
        if stated.session_id is not None:
            return find_message(case.ctx, stated.session_id, line_id)
    except NotFound:
        pass  # It may be of another session, or concluded.
    for peer in filter(case.rights.reaches, dict.fromkeys((stated.observed_id, stated.observer_id))):
        for compartment in compartments_of(case.ctx, peer):
            line = case.ctx.tx.lines.get(compartment, line_id)
            if line is not None and line.turn is not None and _reads(case, line.session):
                return line
    return _reached(case, line_id).line


def _reads(case: AuthorisedRequest, session: str | None) -> bool:
    try:
        case.rights.reads(session or "")
    except CapScopeMismatch:
        return False
    return True


def list_conclusions(case: AuthorisedRequest, request: q.ListConclusions) -> Outcome:
    found, total = conclusions.list_views(
        case.ctx,
        _whose(case, request.filters),
        predicate(request.filters, conclusions.FIELDS),
        oldest_first=request.reverse,
        offset=request.offset,
        limit=request.size,
    )
    items = [serialisers.conclusion(view) for view in found]
    trace = _read(case, [view.line.id for view in found])
    return Outcome(serialisers.page(a.ConclusionPage, items, total, request.page, request.size), trace)


def query_conclusions(case: AuthorisedRequest, request: q.QueryConclusions) -> Outcome:
    found = conclusions.query_views(
        case.ctx,
        _whose(case, request.filters),
        request.query,
        request.top_k,
        distance=request.distance,
        wanted=predicate(request.filters, conclusions.FIELDS),
    )
    trace = _read(case, [view.line.id for view in found])
    return Outcome(a.Conclusions([serialisers.conclusion(view) for view in found]), trace)


def _whose(case: AuthorisedRequest, filters: Mapping[str, Any] | None) -> list[conclusions.Whose]:
    """As much of the filter as the store can use, within what the cap may read."""
    observer = equals(filters, "observer_id") or equals(filters, "observer")
    observed = equals(filters, "observed_id") or equals(filters, "observed")
    found = [whose.narrowed(observer, observed) for whose in case.rights.views()]
    return [whose for whose in found if whose is not None]


def read_conclusion(case: AuthorisedRequest, request: q.OfConclusion) -> Outcome:
    view = _reached(case, request.conclusion_id)
    return Outcome(serialisers.conclusion(view), reading((view.line.compartment.namespace,), (view.line.id,)))


def _reached(case: AuthorisedRequest, line_id: str) -> conclusions.View:
    """The conclusion, if the cap may read it.

    Raises: NotFound, whether it does not exist or is not for this cap to know.
    """
    view = conclusions.read_view(case.ctx, line_id)
    if not any(whose.includes(view.line) for whose in case.rights.views()):
        raise NotFound("there is no such conclusion")
    return view


def delete_conclusion(case: AuthorisedRequest, request: q.OfConclusion) -> Outcome:
    line = _reached(case, request.conclusion_id).line
    case.rights.holds(line.compartment.owner, line.about or "")
    changes = erase.erase_conclusion(case.ctx, request.conclusion_id)
    return serialisers.erased(case, changes, a.Done())


def settled_queue(case: AuthorisedRequest, request: q.QueueStatus) -> Outcome | None:
    """The status, unless work waits for its session to be quiet: then whoever asks does not wait for that."""
    found = queue_status(case, request)
    assert isinstance(found.answer, a.Queue)  # noqa: S101 - it is what the status is
    waits = found.answer.pending_work_units and case.ctx.tools.model_for(DERIVE) is not None
    return None if waits else found


def hurried_queue(case: AuthorisedRequest, request: q.QueueStatus) -> Outcome:
    """The status, once what it counts is due."""
    ctx = case.ctx
    ctx.tx.work.defer(ctx.scope.workspace, request.session_id, DERIVE, ctx.now)
    return queue_status(case, request)


def queue_status(case: AuthorisedRequest, request: q.QueueStatus) -> Outcome:
    ctx = case.ctx
    heard = None if request.observer_id is None else _sessions_observed(case, request.observer_id)
    sessions: dict[str, a.SessionQueue] = {}
    for tally in ctx.tx.work.tallies(ctx.scope.workspace, REASONING, ctx.now, ctx.scope.namespaces):
        if request.session_id not in (None, tally.session):
            continue
        asked = [
            tally.peer == request.sender_id if request.sender_id is not None else None,
            None if heard is None else (tally.peer == request.observer_id or tally.session in heard),
        ]
        if any(one is not None for one in asked) and not any(asked):
            continue
        key = tally.session or ""
        known = sessions.get(key, a.SessionQueue(0, 0, 0, 0, session_id=tally.session))
        sessions[key] = a.SessionQueue(
            known.total_work_units + tally.done + tally.claimed + tally.pending,
            known.completed_work_units + tally.done,
            known.in_progress_work_units + tally.claimed,
            known.pending_work_units + tally.pending,
            session_id=tally.session,
        )
    counts = sessions.values()
    answer = a.Queue(
        sum(one.total_work_units for one in counts),
        sum(one.completed_work_units for one in counts),
        sum(one.in_progress_work_units for one in counts),
        sum(one.pending_work_units for one in counts),
        sessions=None if request.session_id is not None or not sessions else sessions,
    )
    return Outcome(answer, _read(case))


def _sessions_observed(case: AuthorisedRequest, observer: str) -> set[str]:
    """The sessions in which that peer observes the others."""
    ties = case.ctx.tx.register.ties(case.ctx.scope.workspace, MEMBER, held=observer)
    return {
        tie.holder
        for tie in ties
        if tie.until is None and directory.member_habits(tie).observe_others is True
    }


def schedule_dream(case: AuthorisedRequest, request: q.ScheduleDream) -> Outcome:
    ctx = case.ctx
    observed = request.observed or request.observer
    for peer in (request.observer, observed):
        directory.need(ctx, PEER, peer)
    if request.session_id is not None:
        namespaces = [directory.need(ctx, SESSION, request.session_id).namespace]
    else:
        held = [compartment.namespace for compartment in compartments_of(ctx, request.observer)]
        namespaces = held or [directory.home(ctx)]
    if not dreams(*directory.habits(ctx, request.session_id)):
        raise Disabled("dreams are disabled here", hint="Set dream.enabled in the configuration.")
    payload = msgspec.json.encode({"observer": request.observer}).decode()
    for namespace in namespaces:
        errand = Errand(
            ctx.scope.workspace,
            DREAM,
            session=request.session_id,
            peer=observed,
            payload=payload,
            namespace=namespace,
        )
        ctx.tx.work.add(errand, ctx.now)
    return Outcome(a.Done(), reading(namespaces))
