"""The page about work: jobs, what models cost, and what the server does while you watch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct
from starlette.responses import Response

from souvenance.domain.model_budget import DaySpent, Spent
from souvenance.errors import ServerBusy, SouvenanceError
from souvenance.gate import health, inspect_work, inspection
from souvenance.gate import messages as m
from souvenance.surfaces.http.inspector.audit_words import in_words
from souvenance.surfaces.http.inspector.places import workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, events, number, redirect, url

_KINDS = {
    "derive": "Draw conclusions",
    "summarise": "Summarise",
    "dream": "Tidy what is known",
    "deliver": "Deliver a webhook",
}
_REASONS = {
    "internal_error": "a defect in Souvenance",
    "undelivered": "it was not delivered",
}
_LOOK_SECONDS = 1.0
_IDLE_SECONDS = 15.0
"""Without a request the log is looked at so often: background work and other processes write to it, too."""
_STREAM_SECONDS = 60.0
"""A browser then asks again, and its session is judged anew."""
_MOST_TAILS = 16
_DAYS = 14


class WorkPages:
    """The pages and actions; they share who watches the server."""

    def __init__(self) -> None:
        self._tails = 0
        self._looks = 0
        """How many requests came of somebody watching: they are no news."""
        self.ENDPOINTS = {
            "GET /inspect/work": self.work,
            "GET /inspect/work/tail": self.tail,
            "POST /inspect/work/jobs/{seq}/retry": self.retry,
        }

    async def work(self, visit: Visit) -> Response:
        workspace = workspace_of(visit)
        found, use, newest, vitals, workspaces = await asyncio.gather(
            visit.ask(inspect_work.JOBS, inspection.Asked(workspace_id=workspace), of_all=True),
            visit.ask(health.MODEL_USE, m.Nothing()),
            visit.ask(inspect_work.TAIL, inspect_work.Tail(), workspace),
            visit.ask(health.HEALTH, m.Nothing()),
            workspaces_of(visit),
        )
        return visit.page(
            "work.html",
            workspace=workspace,
            workspaces=workspaces,
            jobs=found,
            waiting=_grouped(found.waiting) if found else [],
            running=_grouped(found.running, tried=-1) if found else [],
            use=use,
            days=_days(use.spent) if use and use.spent else [],
            price=use and _price(use),
            rows=newest and [in_words(row) for row in reversed(newest.rows)],
            following=newest.following if newest else 0,
            vitals=vitals,
            kinds=_KINDS,
            reason=_reason,
        )

    async def retry(self, visit: Visit) -> Response:
        fields = await visit.form()
        workspace = fields.get("w") or workspace_of(visit)
        seq = number(visit.path["seq"], 0)
        await visit.call(inspect_work.RETRY_JOB, inspect_work.RetryJob(workspace_id=workspace, seq=seq))
        return redirect(url("work", w=workspace))

    async def tail(self, visit: Visit) -> Response:
        """New rows of the log, as events."""
        workspace = workspace_of(visit)
        resumed = visit.request.headers.get("last-event-id", "") or visit.query.get("after", "")
        first = number(resumed, 0)
        answer = await self._look(visit, workspace, first)
        if self._tails >= _MOST_TAILS:
            raise ServerBusy("too many watch the server", retry_after=60)
        return events(self._events(visit, workspace, answer))

    async def _events(
        self, visit: Visit, workspace: str, answer: inspect_work.TailAnswer
    ) -> AsyncIterator[bytes]:
        self._tails += 1
        try:
            now = asyncio.get_running_loop().time
            ends, looked = now() + _STREAM_SECONDS, now()
            yield b"retry: 1000\n\n" + _event(answer)
            while now() < ends:
                seen = self._news(visit)
                await asyncio.sleep(_LOOK_SECONDS)
                if self._news(visit) == seen and now() - looked < _IDLE_SECONDS:
                    continue
                answer, looked = await self._look(visit, workspace, answer.following), now()
                if answer.rows:
                    yield _event(answer)
        except SouvenanceError as error:
            yield b"event: refused\ndata: " + msgspec.json.encode(error.detail) + b"\n\n"
        finally:
            self._tails -= 1

    def _news(self, visit: Visit) -> int:
        return visit.gate.idle.asked - self._looks

    async def _look(self, visit: Visit, workspace: str, first: int) -> inspect_work.TailAnswer:
        self._looks += 1
        answer: inspect_work.TailAnswer = await visit.call(
            inspect_work.TAIL, inspect_work.Tail(first), workspace
        )
        return answer


class JobGroup(Struct):
    """Jobs of one kind for one session and peer: the first of them, how many, and the most tries."""

    first: inspect_work.JobAnswer
    count: int = 0
    tries: int = 0


def _grouped(found: Iterable[inspect_work.JobAnswer], tried: int = 0) -> list[JobGroup]:
    """`tried` is added to how often each was tried: the try that goes on does not count."""
    groups: dict[tuple[str, str | None, str | None], JobGroup] = {}
    for job in found:
        group = groups.setdefault((job.kind, job.session, job.peer), JobGroup(job))
        group.count += 1
        group.tries = max(group.tries, job.attempts + tried)
    return list(groups.values())


def _event(answer: inspect_work.TailAnswer) -> bytes:
    rows = [in_words(row) for row in answer.rows]
    return f"id: {answer.following}\ndata: ".encode() + msgspec.json.encode(rows) + b"\n\n"


def _days(spent: Spent) -> list[tuple[str, int, int]]:
    """Calls and tokens of each of the last days, the oldest first."""
    known = {one.day: one for one in spent.earlier}
    known[spent.day] = DaySpent(spent.day, spent.calls_today, spent.tokens_today)
    first = datetime(1970, 1, 1, tzinfo=UTC)
    found = []
    for day in range(spent.day - _DAYS + 1, spent.day + 1):
        one = known.get(day, DaySpent(day, 0, 0))
        found.append((f"{first + timedelta(days=day):%-d %b}", one.calls, one.tokens))
    return found


def _price(use: health.ModelUse) -> tuple[float, str] | None:
    """What a token costs, and in which currency; None if no price is set."""
    price, _, currency = use.price.strip().partition(" ")
    try:
        return float(price) / 1_000_000, currency
    except ValueError:
        return None


def _reason(recorded: str) -> str:
    """Why a job failed, in words where there are any."""
    code, _, name = recorded.partition(": ")
    words = _REASONS.get(code, code.replace("_", " "))
    return f"{words} ({name})" if name else words
