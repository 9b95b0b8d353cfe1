"""What the inspector asks of the server's own work: its jobs, how much it stores, and the end of the log."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.core.request_context import Trace
from souvenance.domain.directory import DELIVER, MOST_FAILED, REASONING, FailedJob, Task
from souvenance.domain.line import shared_fields
from souvenance.domain.names import Name
from souvenance.domain.policy import Reach
from souvenance.domain.timestamps import to_datetime
from souvenance.errors import NotFound
from souvenance.gate import messages as m
from souvenance.gate.inspection import Asked
from souvenance.gate.maintenance import list_rows
from souvenance.gate.messages import Answer
from souvenance.gate.operation import AuthorisedRequest, Outcome, declare, operation, whole_or_owner

MOST_JOBS = 100
MOST_ROWS = 200
_KINDS = (*REASONING, DELIVER)
_TAIL = "audit.tail"


# Jobs: those that wait, are under way or were given up, and trying one again.


class RetryJob(Asked, frozen=True, kw_only=True):
    seq: m.Counted


class JobFacts(Answer, frozen=True, kw_only=True):
    seq: int
    kind: str
    session: str | None
    peer: str | None
    namespace: str
    units: int
    attempts: int


class JobAnswer(JobFacts, frozen=True, kw_only=True):
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


def jobs(request: AuthorisedRequest, asked: Asked) -> Outcome:
    ctx = request.ctx
    tasks = ctx.tx.work.owed(ctx.scope.workspace, _KINDS, limit=MOST_JOBS + 1)
    failed = ctx.tx.work.failed(ctx.scope.workspace, MOST_JOBS + 1)
    opened = [task for task in tasks[:MOST_JOBS] if ctx.scope.opens(task.namespace)]
    running = [task for task in opened if task.until is not None and task.until > ctx.now]
    answer = JobsAnswer(
        [_job(task, task.due) for task in opened if task not in running],
        [_job(task, task.until or task.due) for task in running],
        [_job(job, job.at, job.reason) for job in failed[:MOST_JOBS] if ctx.scope.opens(job.namespace)],
        max(len(tasks), len(failed)) > MOST_JOBS,
    )
    return Outcome(answer, reading(everywhere(ctx)))


def _job(job: Task | FailedJob, at: int, reason: str = "") -> JobAnswer:
    return JobAnswer(at=to_datetime(at), reason=reason, **shared_fields(JobFacts, job))


def retry(request: AuthorisedRequest, asked: RetryJob) -> Outcome:
    ctx = request.ctx
    failed = ctx.tx.work.failed(ctx.scope.workspace, MOST_FAILED)
    found = next((job for job in failed if job.seq == asked.seq and ctx.scope.opens(job.namespace)), None)
    if found is None or not ctx.tx.work.retry(ctx.scope.workspace, asked.seq, ctx.now):
        raise NotFound("there is no such job that failed")
    detail = msgspec.json.encode({"job": found.kind}).decode()
    return Outcome(m.Done(), Trace((found.namespace,), (), detail))


# How much is stored: by owner and namespace, or by kind of line.


class Storage(Asked, frozen=True, kw_only=True):
    owner: Name | None = None
    """Only what is this peer's own."""

    by_kind: bool = False


class Stored(Answer, frozen=True):
    names: list[str]
    """An owner and a namespace, or a kind."""
    lines: int
    bytes: int
    """Of their sealed texts."""


class StorageAnswer(Answer, frozen=True):
    stored: list[Stored]


def storage(request: AuthorisedRequest, asked: Storage) -> Outcome:
    ctx = request.ctx
    lines = ctx.tx.lines
    count = lines.storage_by_kind if asked.by_kind else lines.storage
    found = count(ctx.scope.workspace, asked.owner, ctx.scope.namespaces)
    answer = StorageAnswer([Stored(names, count, size) for *names, count, size in found])
    return Outcome(answer, reading(everywhere(ctx)))


# The end of the audit log, as it grows: the rows that the token may read.


class Tail(m.Request, frozen=True):
    first: m.Counted | None = None
    """The number of the first row that is new; without it, the newest few are given."""
    newest: Annotated[int, Meta(ge=0, le=MOST_ROWS)] = 20


class TailAnswer(Answer, frozen=True):
    rows: list[m.AuditRow]
    following: int
    """The number of the next row that there will be."""


def tail(request: AuthorisedRequest, asked: Tail) -> Outcome:
    """Rows that tell of somebody watching are left out: they would never end."""
    size = request.ctx.tx.audit.tree(request.ctx.scope.workspace).size
    first = size - asked.newest if asked.first is None else max(asked.first, size - MOST_ROWS)
    listed = list_rows(request, m.AuditList(max(0, first), MOST_ROWS))
    assert isinstance(listed.answer, m.AuditListAnswer)  # noqa: S101 - it answers nothing else
    return Outcome(TailAnswer([row for row in listed.answer.rows if row.operation != _TAIL], size))


JOBS = operation("jobs.list", "list", JobsAnswer, jobs)
RETRY_JOB = operation("jobs.retry", "put", m.Done, retry, rings=True)
STORAGE = operation(
    "storage",
    "list",
    StorageAnswer,
    storage,
    whole_or_owner,
    reach=lambda asked: Reach(
        workspace=asked.workspace_id, actor=asked.owner, whole_compartments=True, some_compartment=True
    ),
    waits=True,
)
"""It waits for the store to count every line, and must not keep others from searching meanwhile."""
TAIL = declare(_TAIL, "audit", TailAnswer, tail)
