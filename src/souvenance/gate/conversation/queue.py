"""The queue: how far the work behind the messages is, and dreams that are put on it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Literal

import msgspec

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import compartments_of, everywhere, reading
from souvenance.domain.directory import DERIVE, DREAM, MEMBER, PEER, REASONING, SESSION, Job
from souvenance.domain.reasoning_settings import dreams
from souvenance.errors import Disabled
from souvenance.gate.conversation import resource as r
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, Rights


class QueueStatus(r.WorkspaceRequest, frozen=True, kw_only=True):
    observer_id: r.PeerName | None = None
    sender_id: r.PeerName | None = None
    session_id: r.AnyName | None = None


class ScheduleDream(r.WorkspaceRequest, frozen=True, kw_only=True):
    observer: r.PeerName
    observed: r.PeerName | None = None
    dream_type: Literal["omni", "card_refresh"]
    session_id: r.AnyName | None = None
    rebuild: bool = False


class QueueCounts(Answer, frozen=True):
    total_work_units: int
    completed_work_units: int
    in_progress_work_units: int
    pending_work_units: int


class SessionQueue(QueueCounts, frozen=True, kw_only=True):
    session_id: str | None


class Queue(QueueCounts, frozen=True, kw_only=True):
    sessions: dict[str, SessionQueue] | None


def _may_read(rights: Rights, request: QueueStatus) -> None:
    if request.session_id is None:
        rights.workspace()
    else:
        rights.reads(request.session_id)


def _settled(call: AuthorisedRequest, request: QueueStatus) -> Outcome | None:
    """The status, unless work waits for its session to be quiet: then the request makes it due now."""
    found = _counted(call, request)
    waits = found.pending_work_units and call.ctx.services.model_for(DERIVE) is not None
    return None if waits else Outcome(found, reading(everywhere(call.ctx)))


def _hurried(call: AuthorisedRequest, request: QueueStatus) -> Outcome:
    """The status, once what it counts is due."""
    ctx = call.ctx
    ctx.tx.work.defer(ctx.scope.workspace, request.session_id, DERIVE, ctx.now)
    return Outcome(_counted(call, request), reading(everywhere(ctx)))


def _counted(call: AuthorisedRequest, request: QueueStatus) -> Queue:
    ctx = call.ctx
    heard = None if request.observer_id is None else _sessions_observed(call, request.observer_id)
    counts: dict[str | None, Counter[str]] = defaultdict(Counter)
    for tally in ctx.tx.work.tallies(ctx.scope.workspace, REASONING, ctx.now, ctx.scope.namespaces):
        if request.session_id not in (None, tally.session):
            continue
        asked = [
            tally.peer == request.sender_id if request.sender_id is not None else None,
            None if heard is None else (tally.peer == request.observer_id or tally.session in heard),
        ]
        if any(one is not None for one in asked) and not any(asked):
            continue
        counts[tally.session] += Counter(done=tally.done, claimed=tally.claimed, pending=tally.pending)
    sessions = {
        session or "": SessionQueue(*_units(counted), session_id=session)
        for session, counted in counts.items()
    }
    every = sum(counts.values(), Counter())
    return Queue(*_units(every), sessions=sessions if sessions and request.session_id is None else None)


def _units(counted: Counter[str]) -> tuple[int, int, int, int]:
    return counted.total(), counted["done"], counted["claimed"], counted["pending"]


def _sessions_observed(call: AuthorisedRequest, observer: str) -> set[str]:
    """The sessions in which that peer observes the others."""
    memberships = call.ctx.tx.directory.memberships(call.ctx.scope.workspace, MEMBER, held=observer)
    return {
        stay.holder
        for stay in memberships
        if stay.until is None and directory.member_habits(stay).observe_others is True
    }


def _schedule_dream(call: AuthorisedRequest, request: ScheduleDream) -> Outcome:
    ctx = call.ctx
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
        job = Job(
            ctx.scope.workspace,
            DREAM,
            session=request.session_id,
            peer=observed,
            payload=payload,
            namespace=namespace,
        )
        ctx.tx.work.add(job, ctx.now)
    return Outcome(r.Done(), reading(namespaces))


QUEUE_STATUS = r.operation("queue.status", "list", Queue, _hurried, _may_read, rings=True, peek=_settled)
SCHEDULE_DREAM = r.operation("dreams.schedule", "put", r.Done, _schedule_dream, rings=True)
