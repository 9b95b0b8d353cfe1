"""The receipt of a deletion: what was asked, what went, what was checked, and the audit row that records it.

It is a JWS of a type of its own, signed with the key that signs capability tokens. With the rows of the audit
log, anybody can check later that the log still records the deletion as the receipt says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Meta, Struct

from souvenance.decoders import UNREADABLE, settled
from souvenance.domain import jws
from souvenance.domain.audit import OK, Event
from souvenance.domain.names import Compartment, grouped
from souvenance.errors import BrokenAuditChain, ReceiptInvalid

TYPE = "souvenance-receipt+jws"
OPERATION = "memory.forget"
BY_INSPECTOR = (
    "inspect.move",
    "inspect.forget_message",
    "inspect.forget_conclusion",
    "inspect.forget_from",
    "inspect.forget_session",
    "inspect.move_session",
)
MAX_CHARS = 1 << 16

SCHEMA, LINES, INDEX, KEYS, FILES, BUCKET = "schema", "lines", "index", "keys", "files", "bucket"
"""What can be checked: the store has no table, trigger or index that is not ours; no row of the lines is
left, nor of their words and vectors; the keys are destroyed; the store's files were rewritten without the
deleted bytes; the bucket has no object of them."""


class Receipt(Struct, frozen=True, forbid_unknown_fields=True):
    iss: str
    at: int
    """When, in milliseconds since 1970 (UTC)."""
    actor: str
    token: str
    """The id of the capability token that asked for it."""
    workspace: str
    owner: str | None
    """None if lines of a session were asked for, whoever's they are."""
    namespaces: Sequence[str]
    line: str | None
    """The one line that was asked for, or the first of a session's; None if everything was."""
    lines: int
    keys: int
    also: int
    """How many lines rested on these alone, and went with them; the audit row has their ids."""
    row: Annotated[int, Meta(ge=0)]
    """The number of the audit row."""
    leaf: str
    """The hash of the audit row."""
    root: Annotated[str, Meta(pattern="^[0-9a-f]{64}$(?!\n)")]
    """The Merkle root of the log up to that row, and with it."""
    verified: Sequence[str]
    pending: Sequence[str]
    """What could not be done yet."""
    session: str | None = None
    """The session that was asked for, as a whole or from a line on."""
    moved_to: str | None = None
    """The namespace that the lines were stored in instead; None if they went for good."""


GoneRun = tuple[str, str, tuple[str, ...]]
"""An owner, a namespace, and the ids of lines that are gone there."""


def gone_runs(gone: Iterable[tuple[Compartment, str]]) -> tuple[GoneRun, ...]:
    """Lines that are gone, by where they were, as the audit log tells it."""
    by_place = grouped(((place.owner, place.namespace), line_id) for place, line_id in sorted(gone))
    return tuple((*place, tuple(ids)) for place, ids in by_place.items())


def gone_places(workspace: str, runs: Iterable[GoneRun]) -> set[tuple[Compartment, str]]:
    """The lines that the audit log tells so."""
    return {
        (Compartment(workspace, owner, namespace), line_id)
        for owner, namespace, ids in runs
        for line_id in ids
    }


class Detail(Struct, frozen=True, omit_defaults=True):
    """What the audit row tells of a deletion beside its places."""

    owner: str
    lines: int = 0
    keys: int = 0
    gone: tuple[GoneRun, ...] = ()
    """Lines of others that rested on these alone, and went too."""
    dry_run: bool = False
    """Whether it was only asked what would go."""
    epoch: int = 0
    """The newest epoch of the keys that were destroyed. A key that is not newer was put back."""

    def text(self) -> str:
        return msgspec.json.encode(self, order="sorted").decode()


class InspectorDetail(Struct, frozen=True):
    """What the audit row of the inspector tells of a deletion, beside all that changed."""

    lines: int
    also: int = 0
    owner: str | None = None
    line: str | None = None
    session: str | None = None
    moved_to: str | None = None


def sign(receipt: Receipt, key: Ed25519PrivateKey, kid: str) -> str:
    return jws.sign(msgspec.json.encode(receipt), key, typ=TYPE, kid=kid)


def read(text: str, issuers: Callable[[str], Mapping[str, Ed25519PublicKey]], issuer: str) -> Receipt:
    """What a genuine receipt of that installation says. Raises: ReceiptInvalid."""
    try:
        kid = jws.header(text, jws.Header, typ=TYPE).kid
        jws.check(text, issuers(kid)[kid])
        receipt = read_unverified(text)
    except (KeyError, *UNREADABLE):
        raise ReceiptInvalid("the receipt was altered, or this installation did not sign it") from None
    if receipt.iss != issuer:
        raise ReceiptInvalid("the receipt is of another installation")
    return receipt


def read_unverified(text: str) -> Receipt:
    """What a receipt says; its signature is not checked. Raises: ReceiptInvalid."""
    try:
        jws.header(text, jws.Header, typ=TYPE)
        return msgspec.json.decode(jws.payload(text), type=settled(Receipt))
    except UNREADABLE:
        raise ReceiptInvalid("this is not a receipt") from None


def hold_against(receipt: Receipt, event: Event, leaf: bytes) -> None:
    """Compare the receipt with the audit row of its number. Raises: BrokenAuditChain."""
    claimed = (receipt.at, receipt.actor, receipt.token, list(receipt.namespaces))
    recorded = (event.at, event.actor, event.cap, list(event.namespaces))
    if leaf.hex() != receipt.leaf or claimed != recorded or not _is_recorded(receipt, event):
        raise BrokenAuditChain(f"audit row {receipt.row} does not record what the receipt says")


def _is_recorded(receipt: Receipt, event: Event) -> bool:
    claimed = InspectorDetail(**{name: getattr(receipt, name) for name in InspectorDetail.__struct_fields__})
    try:
        return event.outcome == OK and _recorded(event) == (claimed, receipt.keys)
    except UNREADABLE:
        return False


def _recorded(event: Event) -> tuple[InspectorDetail, int] | None:
    """What went, what was asked for, and how many keys went; None if nothing did."""
    if event.operation in BY_INSPECTOR:
        return msgspec.json.decode(event.detail, type=settled(InspectorDetail)), 0
    detail = msgspec.json.decode(event.detail, type=settled(Detail))
    if event.operation != OPERATION or detail.dry_run:
        return None
    also = sum(len(ids) for *_, ids in detail.gone)
    return InspectorDetail(detail.lines, also, detail.owner, "".join(event.lines) or None), detail.keys
