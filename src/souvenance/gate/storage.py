"""How much is stored: by owner, namespace and kind of line."""

from __future__ import annotations

from souvenance.core.conversation.compartments import everywhere, reading
from souvenance.domain.names import Name
from souvenance.domain.policy import Need, Reach
from souvenance.gate.messages import Answer, Request
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome
from souvenance.gate.rights import Rights


class Storage(Request, frozen=True):
    workspace_id: Name
    owner: Name | None = None
    """Only what is this peer's own."""


class Stored(Answer, frozen=True):
    owner: str
    namespace: str
    kind: str
    lines: int
    bytes: int
    """Of their sealed texts."""


class StorageAnswer(Answer, frozen=True):
    stored: list[Stored]


def storage(authorised: AuthorisedRequest, request: Storage) -> Outcome:
    ctx = authorised.ctx
    found = ctx.tx.lines.storage(ctx.scope.workspace, request.owner, ctx.scope.namespaces)
    return Outcome(StorageAnswer([Stored(*one) for one in found]), reading(everywhere(ctx)))


def _may_look(rights: Rights, request: Storage) -> None:
    if request.owner is None:
        rights.workspace()
    else:
        rights.peer(request.owner)


def _reach(request: Storage) -> Reach:
    return Reach(
        workspace=request.workspace_id, actor=request.owner, whole_compartments=True, some_compartment=True
    )


STORAGE = Operation(
    "storage", Need("list"), Storage, StorageAnswer, storage, _reach, admit=_may_look, waits=True
)
"""It waits for the store to count every line, and must not keep others from searching meanwhile."""
