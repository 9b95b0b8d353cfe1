"""The end of the audit log, for whoever watches it grow: the rows that the token may read."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from souvenance.domain.policy import Need
from souvenance.gate import messages as m
from souvenance.gate.maintenance import list_rows
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome

NAME = "audit.tail"
MOST_ROWS = 200


class Tail(m.Request, frozen=True):
    first: Annotated[int, Meta(ge=0, le=(1 << 53) - 1)] | None = None
    """The number of the first row that is new; without it, the newest few are told."""
    newest: Annotated[int, Meta(ge=0, le=MOST_ROWS)] = 20


class TailAnswer(m.Answer, frozen=True):
    rows: list[m.AuditRow]
    following: int
    """The number of the next row that there will be."""


def tail(authorised: AuthorisedRequest, request: Tail) -> Outcome:
    """Rows that tell of somebody watching are left out: they would never end."""
    size = authorised.ctx.tx.audit.tree(authorised.ctx.scope.workspace).size
    first = size - request.newest if request.first is None else max(request.first, size - MOST_ROWS)
    listed = list_rows(authorised, m.AuditList(max(0, first), MOST_ROWS))
    assert isinstance(listed.answer, m.AuditListAnswer)  # noqa: S101 - it answers nothing else
    return Outcome(TailAnswer([row for row in listed.answer.rows if row.operation != NAME], size))


TAIL = Operation(NAME, Need("audit"), Tail, TailAnswer, tail)
