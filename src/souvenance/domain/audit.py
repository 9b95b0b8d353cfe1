"""The audit log's rows, how they are linked, and how a copy of the log is checked.

Each row's bytes include the leaf hash of the row before it, so the rows form a chain, and the
same leaf hashes form the Merkle tree whose root a checkpoint pins. A row names who did what
where and how it ended; it never holds text, a query or a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from souvenance.domain import merkle
from souvenance.domain.encoding import frame
from souvenance.errors import BrokenAuditChain

GENESIS = b"\0" * 32
OK = "ok"
MAKES_TOKENS = ("caps.mint", "caps.attenuate", "keys.new")
"""The operations that make tokens for others to hold; those of sign-ins are listed with these. There is an
index of their rows alone, for each row of an index costs every request that writes one."""


class Event(Struct, frozen=True, gc=False):
    """What the gate saw, before it has a place in the log. The hash of a row has its fields in this order."""

    at: int
    actor: str
    cap: str
    operation: str
    outcome: str
    namespaces: Sequence[str] = ()
    lines: Sequence[str] = ()
    detail: str = ""


class Row(Struct, frozen=True, gc=False):
    """An event at its place in the log of its workspace."""

    workspace: str
    seq: int
    event: Event
    leaf: bytes


class Checkpoint(Struct, frozen=True):
    """The log's size and root at one moment: keep it elsewhere, and the past can't change unnoticed."""

    workspace: str
    size: int
    root: bytes


def leaf_of(workspace: str, seq: int, event: Event, previous: bytes) -> bytes:
    """The leaf hash of an event at that place, linked to the row before it."""
    return merkle.leaf_hash(frame("souvenance.audit.v1", previous, workspace, seq, *astuple(event)))


def verify(workspace: str, rows: Iterable[Row], checkpoint: Checkpoint | None = None) -> Checkpoint:
    """The log's present checkpoint, if every row is in its place and an older checkpoint still holds. Raises:
    BrokenAuditChain, naming the first row that is wrong."""
    leaves: list[bytes] = []
    previous = GENESIS
    for expected, row in enumerate(rows):
        if row.seq != expected:
            raise BrokenAuditChain(f"audit row {expected} is missing: row {row.seq} stands in its place")
        try:
            previous = leaf_of(workspace, row.seq, row.event, previous)
        except (OverflowError, TypeError, ValueError):
            raise BrokenAuditChain(f"audit row {row.seq} holds what no row can hold") from None
        if previous != row.leaf:
            raise BrokenAuditChain(f"audit row {row.seq} was altered, or the row before it was")
        leaves.append(previous)
    if checkpoint is not None:
        _hold_against(checkpoint, workspace, leaves)
    return Checkpoint(workspace, len(leaves), merkle.root_of(leaves))


def _hold_against(checkpoint: Checkpoint, workspace: str, leaves: Sequence[bytes]) -> None:
    if checkpoint.workspace != workspace:
        raise BrokenAuditChain(f"the checkpoint is of workspace {checkpoint.workspace!r}")
    if checkpoint.size > len(leaves):
        raise BrokenAuditChain(
            f"the log was truncated: the checkpoint saw {checkpoint.size} rows, {len(leaves)} are left"
        )
    if merkle.root_of(leaves[: checkpoint.size]) != checkpoint.root:
        raise BrokenAuditChain(f"the first {checkpoint.size} rows are not those of the checkpoint")
