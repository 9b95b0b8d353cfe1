"""The jobs of a workspace: those that wait, are under way or were given up, and trying one again."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.request_context import Trace
from souvenance.domain.jobs import DELIVER, MOST_FAILED, REASONING, FailedJob, Task
from souvenance.domain.names import Name
from souvenance.domain.policy import Need, Reach
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import NotFound
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome
from souvenance.gate.rights import Rights

MOST_JOBS = 100
_KINDS = (*REASONING, DELIVER)


class Jobs(Request, frozen=True):
    workspace_id: Name


class RetryJob(Request, frozen=True):
    workspace_id: Name
    seq: Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]


class JobAnswer(Answer, frozen=True):
    seq: int
    kind: str
    session: str | None
    peer: str | None
    namespace: str
    units: int
    attempts: int
    at: datetime
    """When it is due, until when it is claimed, or when it was given up."""
    reason: str = ""
    """Why it was given up."""


class JobsAnswer(Answer, frozen=True):
    waiting: list[JobAnswer]
    running: list[JobAnswer]
    failed: list[JobAnswer]
    more: bool
    """Whether there are more than these."""


class RetryAnswer(Answer, frozen=True):
    """Nothing but that it waits again."""


def jobs(authorised: AuthorisedRequest, request: Jobs) -> Outcome:
    ctx = authorised.ctx
    tasks = ctx.tx.work.owed(ctx.scope.workspace, _KINDS, limit=MOST_JOBS + 1)
    failed = ctx.tx.work.failed(ctx.scope.workspace, MOST_JOBS + 1)
    opened = [task for task in tasks[:MOST_JOBS] if ctx.scope.opens(task.namespace)]
    running = [task for task in opened if task.until is not None and task.until > ctx.now]
    return Outcome(
        JobsAnswer(
            [_told(task, task.due) for task in opened if task not in running],
            [_told(task, task.until or task.due) for task in running],
            [_told(job, job.at, job.reason) for job in failed[:MOST_JOBS] if ctx.scope.opens(job.namespace)],
            max(len(tasks), len(failed)) > MOST_JOBS,
        ),
        reading(everywhere(ctx)),
    )


def _told(job: Task | FailedJob, at: int, reason: str = "") -> JobAnswer:
    return JobAnswer(
        job.seq,
        job.kind,
        job.session,
        job.peer,
        job.namespace,
        job.units,
        job.attempts,
        to_datetime(at),
        reason,
    )


def retry(authorised: AuthorisedRequest, request: RetryJob) -> Outcome:
    ctx = authorised.ctx
    failed = ctx.tx.work.failed(ctx.scope.workspace, MOST_FAILED)
    found = next((job for job in failed if job.seq == request.seq and ctx.scope.opens(job.namespace)), None)
    if found is None or not ctx.tx.work.retry(ctx.scope.workspace, request.seq, ctx.now):
        raise NotFound("there is no such job that failed")
    detail = msgspec.json.encode({"job": found.kind}).decode()
    return Outcome(RetryAnswer(), Trace((found.namespace,), (), detail))


def _whole(rights: Rights, request: Jobs | RetryJob) -> None:
    rights.workspace()


def _reach(request: Jobs | RetryJob) -> Reach:
    return Reach(workspace=request.workspace_id, some_compartment=True)


JOBS = Operation("jobs.list", Need("list"), Jobs, JobsAnswer, jobs, _reach, admit=_whole)
RETRY_JOB = Operation(
    "jobs.retry",
    Need("put"),
    RetryJob,
    RetryAnswer,
    retry,
    _reach,
    writes=True,
    within=True,
    admit=_whole,
    rings=True,
)
