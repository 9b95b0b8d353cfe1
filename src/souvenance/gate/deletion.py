"""A deletion at its end: what went is looked for once more, and a receipt is signed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import asdict

from souvenance.core.request_context import RequestContext
from souvenance.domain import receipt as receipts
from souvenance.domain.audit import Row
from souvenance.domain.names import Compartment
from souvenance.domain.receipt import Receipt
from souvenance.errors import Tampered
from souvenance.gate.operation import AuthorisedRequest


class Deletion(Struct, frozen=True, kw_only=True):
    """What was asked for and what went, as in `Receipt`."""

    namespaces: Sequence[str]
    lines: int
    keys: int = 0
    also: int = 0
    owner: str | None = None
    line: str | None = None
    session: str | None = None
    moved_to: str | None = None


def check_gone(
    ctx: RequestContext, compartments: Iterable[Compartment], line_ids: Collection[str] | None = None
) -> None:
    """Look whether anything is left of these lines, or of the whole compartments. Raises: Tampered."""
    tx = ctx.tx
    for compartment in compartments:
        if line_ids is None:
            keys = tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,))
            left = tx.lines.count(compartment) + len(keys)
        else:
            left = len(tx.lines.get_all(compartment, line_ids))
        if left or tx.terms.indexed(compartment, line_ids):
            raise Tampered(
                "the store still has what was just deleted",
                hint="Nothing was deleted. Run 'souvenance doctor'.",
            )


def signed(
    authorised: AuthorisedRequest, row: Row, what: Deletion, owners: Iterable[str], *, scrubbed: bool
) -> str:
    """The receipt of a deletion that this row records. `owners`: whose lines went."""
    with authorised.store.read(row.workspace) as tx:
        root = tx.audit.tree(row.workspace).root(row.seq + 1)
        mirrored = tx.replication.mirrored()
        waiting = mirrored and any(tx.replication.waiting(row.workspace, owner) for owner in owners)
    verified = [receipts.SCHEMA, receipts.LINES, receipts.INDEX]
    verified += [receipts.KEYS] if what.line is None and what.session is None else []
    pending: list[str] = []
    (verified if scrubbed else pending).append(receipts.FILES)
    if mirrored:
        (pending if waiting else verified).append(receipts.BUCKET)
    kid, key = authorised.keyring.signer()
    receipt = Receipt(
        iss=authorised.keyring.instance,
        at=row.event.at,
        actor=row.event.actor,
        token=row.event.cap,
        workspace=row.workspace,
        row=row.seq,
        leaf=row.leaf.hex(),
        root=root.hex(),
        verified=verified,
        pending=pending,
        **asdict(what),
    )
    return receipts.sign(receipt, key, kid)
