"""Retention: removes what is over, a few lines at a time: by a line's own time or by a rule.

Each step is a transaction of its own: the lines go as if they were forgotten, and the audit log has a row, or
nothing happens. So a crash loses no step and doubles none, and several workers take turns. Readers see
nothing of what is over from its time on, whenever a worker comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from souvenance.core.conversation import directory
from souvenance.core.conversation.compartments import Changes
from souvenance.core.conversation.erase import erase_lines, erase_words
from souvenance.core.conversation.summarise import covered_turn, summaries
from souvenance.core.request_context import ACTOR, RequestContext, Services, own_event
from souvenance.core.retention_rules import ENTRY, rules_of
from souvenance.domain import reasoning_settings as h
from souvenance.domain.directory import SESSION, Job
from souvenance.domain.directory import SUMMARISE as SUMMARISE_JOB
from souvenance.domain.line import SealedLine
from souvenance.domain.policy import Scope
from souvenance.domain.retention import DAY_MS, FADE, FORGET, SUMMARISE, RetentionRule
from souvenance.ports.clock import Clock
from souvenance.ports.store import Store, Transaction, TurnQuery

AT_ONCE = 100
EVERY_MS = 60_000
"""How often the rules are looked at."""
_SESSIONS_AT_ONCE = 20
_SCRUB_SHARE = 100
"""After a scrub, so many times as long as it took nothing is scrubbed: it rewrites all files of a store."""
_SCRUB_BLOCKED_MS = 60_000


class Retention:
    """What one worker removes. For one thread."""

    def __init__(self, store: Store, services: Services, clock: Clock) -> None:
        self._store = store
        self._services = services
        self._clock = clock
        self._rules: list[tuple[str, RetentionRule]] = []
        """Those that are still to be looked at, this time."""
        self._rules_due = self._due = 0
        self._after = ""
        """The session that the first of them was looked at up to."""
        self._owes_scrub = True
        """Whether something may have been removed whose bytes are still there."""
        self._scrub_due = 0

    def remove_some(self) -> bool:
        """Remove some lines; whether there may be more. Raises: SouvenanceError."""
        now = self._clock.now()
        if now < self._due or not (self._remove_expired(now) or self._apply_rules(now)):
            return False
        self._owes_scrub = True
        return True

    def postpone(self) -> None:
        """Remove nothing for a while, after something failed."""
        self._due = self._clock.now() + EVERY_MS

    def scrub(self) -> None:
        """Take the bytes of removed lines out of all files, if it is time to. Raises: Unavailable."""
        now = self._clock.now()
        if not self._owes_scrub or now < self._scrub_due:
            return
        done = not self._store.scrub_pending() or self._services.scrub(self._store)
        took = self._clock.now() - now
        self._scrub_due = now + (_SCRUB_SHARE * took if done else _SCRUB_BLOCKED_MS)
        self._owes_scrub = not done

    def _remove_expired(self, now: int) -> bool:
        with self._store.read() as tx:
            workspace = tx.lines.expiring(now)
        if workspace is None:
            return False
        with self._store.write(workspace) as tx:
            _remove(_context(tx, self._services, workspace, now), tx.lines.over(workspace, now, AT_ONCE))
        return True

    def _apply_rules(self, now: int) -> bool:
        if not self._rules and now >= self._rules_due:
            self._rules, self._rules_due, self._after = self._removing(), now + EVERY_MS, ""
        while self._rules:
            workspace, rule = self._rules[0]
            apply = self._forget if rule.then == FORGET else self._forget_summarised
            if apply(workspace, rule, now):
                return True
            self._after = ""
            del self._rules[0]
        return False

    def _removing(self) -> list[tuple[str, RetentionRule]]:
        with self._store.read() as tx:
            workspaces = sorted({entry.workspace for entry in tx.directory.entries(None, ENTRY)})
            return [
                (one, rule)
                for one in workspaces
                for rule in rules_of(tx, self._services.memo, one, tx.marks(one).compartments)
                if rule.then != FADE
            ]

    def _forget(self, workspace: str, rule: RetentionRule, now: int) -> bool:
        with self._store.read(workspace) as tx:
            if not tx.lines.aged(workspace, rule.aged(now), 1):
                return False
        with self._store.write(workspace) as tx:
            ctx = _context(tx, self._services, workspace, now)
            if rule not in ctx.rules:
                return False
            _remove(ctx, tx.lines.aged(workspace, rule.aged(now), AT_ONCE), rule.name)
        return True

    def _forget_summarised(self, workspace: str, rule: RetentionRule, now: int) -> bool:
        """Look at some sessions: what a summary covers goes, and what none covers yet gets one."""
        if waits_for(self._services, rule):
            return False
        with self._store.read(workspace) as tx:
            ctx = _context(tx, self._services, workspace, now)
            sessions = tx.lines.aged_sessions(workspace, rule.aged(now), self._after, _SESSIONS_AT_ONCE)
            due = [one for one in sessions if _summarised(ctx, rule, one) or _lacks_summary(ctx, rule, one)]
        for session in due:
            with self._store.write(workspace) as tx:
                ctx = _context(tx, self._services, workspace, now)
                if rule not in ctx.rules:
                    return False
                if lines := _summarised(ctx, rule, session):
                    changes = Changes()
                    erase_words(ctx, session, lines, changes)
                    _record(ctx, changes, rule.name)
                elif job := _lacks_summary(ctx, rule, session):
                    tx.work.add(job, now)
        self._after = sessions[-1] if sessions else ""
        return bool(sessions)


def waits_for(services: Services, rule: RetentionRule) -> str:
    """Why the rule removes nothing for now, if that is so."""
    waits = rule.then == SUMMARISE and services.model_for(SUMMARISE_JOB) is None
    return "no model writes summaries" if waits else ""


def _context(tx: Transaction, services: Services, workspace: str, now: int) -> RequestContext:
    """Of work in the whole workspace, from which nothing is hidden."""
    ctx = RequestContext(tx, Scope(workspace, ACTOR, None, None), ACTOR, now, services)
    tx.lines.hide(None)
    return ctx


def _remove(ctx: RequestContext, lines: Sequence[SealedLine], rule: str = "expires_at") -> None:
    if lines:
        changes = Changes()
        erase_lines(ctx, lines, changes)
        _record(ctx, changes, rule)


def _record(ctx: RequestContext, changes: Changes, rule: str) -> None:
    ctx.tx.audit.append(ctx.scope.workspace, own_event(ctx.now, "work.retain", changes.trace(rule=rule)))


def _aged(ctx: RequestContext, rule: RetentionRule, session: str) -> Iterable[SealedLine]:
    before = rule.aged(ctx.now).before
    for line in ctx.tx.lines.turns(TurnQuery(ctx.scope.workspace, session)):
        if line.id < before and rule.covers(line.compartment.namespace, line.kind):
            yield line


def _summarised(ctx: RequestContext, rule: RetentionRule, session: str) -> list[SealedLine]:
    """What has come to its age and is covered by a summary."""
    upto = covered_turn(ctx, session)
    return [line for line in _aged(ctx, rule, session) if (line.turn or 0) <= upto]


def _lacks_summary(ctx: RequestContext, rule: RetentionRule, session: str) -> Job | None:
    """The summary that is to be made, unless it is on the list, or nobody wants summaries of the session."""
    entry = directory.find(ctx, SESSION, session)
    last = max((line.turn or 0 for line in _aged(ctx, rule, session)), default=0)
    if entry is None or last <= covered_turn(ctx, session) or not h.rhythm(*directory.habits(ctx, session)):
        return None
    if any(
        one.long and one.created_at > ctx.now - DAY_MS and one.turn >= last for one in summaries(ctx, session)
    ):
        return None  # It was quoted just now, because the model failed.
    workspace, namespace, long = entry.workspace, entry.namespace, '{"long":true}'
    if ctx.tx.work.left(workspace, session, (SUMMARISE_JOB,), namespace):
        return None
    return Job(workspace, SUMMARISE_JOB, session, last=last, payload=long, namespace=namespace)
