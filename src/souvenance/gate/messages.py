"""What may be asked at the gate, and what it answers: the one vocabulary of every door."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, MsgspecError, Struct, convert, to_builtins
from msgspec.structs import astuple

from souvenance.core.explanations import Explanation as Explanation
from souvenance.core.explanations import SignalValue as SignalValue
from souvenance.domain import receipt as receipts
from souvenance.domain.audit import Event, Row
from souvenance.domain.capability import MAX_TOKEN_CHARS, Confirmation
from souvenance.domain.embedding import SEALED
from souvenance.domain.limits import LIST_DEFAULT, LIST_MOST, RECALL_DEFAULT, RECALL_MOST
from souvenance.domain.line import GivenFields
from souvenance.domain.names import DEFAULT_KIND, DEFAULT_NAMESPACE, Kind, Name, Namespace
from souvenance.domain.ulid import LineId
from souvenance.errors import BrokenAuditChain, InvalidInput

Moment = Annotated[datetime, Meta(tz=True)]
Namespaces = Annotated[tuple[Namespace, ...], Meta(max_length=64)]
Names = Annotated[tuple[Name, ...], Meta(max_length=64)]
Ops = Annotated[tuple[str, ...], Meta(max_length=16)]
Grants = Annotated[tuple[Name, ...], Meta(max_length=64)]
"""Names that a cap opens; '*' for all."""
Ttl = Annotated[int, Meta(ge=1, le=10 * 366 * 24 * 3600)]
Counted = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of what is asked; a field that is not known is refused by name."""


class Nothing(Request, frozen=True):
    """The operation says it all."""


class Answer(Struct, frozen=True):
    """Base of what is answered."""


class Done(Answer, frozen=True):
    """Nothing to tell but that it is done."""


def checked(request: Request) -> Request:
    """A request made in this process, checked like one that was read. Raises: InvalidInput."""
    try:
        return convert(to_builtins(request), type(request))
    except (MsgspecError, TypeError) as error:
        raise InvalidInput(f"the request is not well formed: {error}") from None


class Put(Request, GivenFields, frozen=True):
    text: str
    namespace: Namespace = DEFAULT_NAMESPACE
    id: LineId | None = None
    kind: Kind = DEFAULT_KIND
    metadata: dict[str, Any] = {}
    occurred_at: Moment | None = None
    expires_at: Moment | None = None
    """From when on nobody is shown the line any more, and a worker removes it."""


class PutAnswer(Answer, frozen=True):
    id: str
    namespace: str
    duplicate: bool


class Get(Request, frozen=True):
    query: Annotated[str, Meta(max_length=8192)] | None = None
    namespaces: Namespaces | None = None
    k: Annotated[int, Meta(ge=1, le=RECALL_MOST)] = RECALL_DEFAULT
    since: Moment | None = None
    until: Moment | None = None
    at: Moment | None = None
    """When the question is asked, if not now: "last week" is the week before that."""
    floor: bool = False
    """Hide weak matches. Nothing may be left then."""
    explain: bool = False
    """Whether each line says why it came."""


class LineFacts(Answer, GivenFields, frozen=True, kw_only=True):
    """What every answer says of a line. The fields that its writer gave are among them."""

    id: str
    namespace: str
    kind: str
    created_at: datetime
    occurred_at: datetime | None
    expires_at: datetime | None = None
    """When the line is over, if its writer said so."""
    trust: str = ""
    """'said', 'quoted' or 'suspect': whose word it is, and whether it reads like orders to a model."""


class RecalledLine(LineFacts, frozen=True, kw_only=True, omit_defaults=True):
    text: str
    cap: str
    """The id of the token that put it."""
    score: float | None
    matched: bool
    explanation: Explanation | None = None


class GetAnswer(Answer, frozen=True):
    lines: list[RecalledLine]


class GetLine(Request, frozen=True):
    id: LineId


class LineAnswer(LineFacts, frozen=True, kw_only=True):
    text: str
    cap: str
    """The id of the token that put it."""
    metadata: dict[str, Any]
    supersedes: str | None
    invalidated_by: str | None


class List(Request, frozen=True):
    namespaces: Namespaces | None = None
    since: Moment | None = None
    cursor: Annotated[str, Meta(max_length=128)] | None = None
    limit: Annotated[int, Meta(ge=1, le=LIST_MOST)] = LIST_DEFAULT
    history: bool = False
    texts: bool = False
    """Whether lines come with their text. The token must grant `get` too; a page may hold fewer lines."""


class ListedLine(LineFacts, frozen=True, kw_only=True, omit_defaults=True):
    """`trust` is there if the text is."""

    supersedes: str | None
    invalidated_by: str | None
    text: str | None = None
    """If it was asked for. Null for a line that does not open."""


class ListAnswer(Answer, frozen=True):
    lines: list[ListedLine]
    cursor: str | None


class Snapshot(Request, frozen=True):
    namespaces: Namespaces | None = None


class SnapshotAnswer(Answer, frozen=True):
    profile: str
    as_of: datetime
    lines: list[str] = []
    """The ids of the lines in the profile: one for each of its rows, in order."""


class Invalidate(Request, frozen=True):
    """Mark a line as no longer true; with `text`, say what is true instead."""

    id: LineId
    text: str | None = None
    new_id: LineId | None = None
    owner: Name | None = None
    """Whose line it is, if not your own."""


class InvalidateAnswer(Answer, frozen=True):
    id: str
    namespace: str
    invalidates: str
    duplicate: bool


class Forget(Request, frozen=True):
    """Exactly one of: a line by id, with its owner if it is not your own; a namespace; all of an owner."""

    id: LineId | None = None
    namespace: Namespace | None = None
    owner: Name | None = None
    dry_run: bool = False
    """Only say what would go. Nothing is deleted."""


class NewestLine(Answer, frozen=True):
    """One of the newest lines that would go."""

    id: str
    namespace: str
    created_at: datetime
    text: str | None
    """None if the token does not grant `get`, or the line does not open."""


class ForgetAnswer(Answer, frozen=True, omit_defaults=True):
    lines: int
    keys: int
    namespaces: list[str]
    scrubbed: bool
    receipt: str = ""
    """Signed text (a compact JWS) that says what went and what was checked. Keep it: `souvenance audit verify
    --receipt` holds it against the log. Empty for a dry run."""
    dry_run: bool = False
    newest: list[NewestLine] = []
    """For a dry run, the three newest lines that would go."""


class Mint(Request, frozen=True):
    sub: Name
    ops: Ops
    namespaces_allowed: Grants
    data_class: str = "memory"
    ttl_seconds: Ttl = 3600
    wid: Name | None = None
    cnf: Confirmation | None = None
    peers: Grants = ()
    sessions: Names | None = None
    via: Names = ()
    """Peers through whose eyes it may look at those it reaches."""


class Attenuate(Request, frozen=True):
    """Narrower claims for `cap`, or for the cap that makes the request; what is left out stays as it is."""

    sub: Name | None = None
    ops: Ops | None = None
    namespaces_allowed: Grants | None = None
    data_class: str | None = None
    ttl_seconds: Ttl | None = None
    wid: Name | None = None
    cnf: Confirmation | None = None
    peers: Grants | None = None
    sessions: Names | None = None
    via: Names | None = None
    cap: Annotated[str, Meta(max_length=MAX_TOKEN_CHARS)] | None = None


class CapAnswer(Answer, frozen=True):
    cap: str
    jti: str
    exp: int


class Revoke(Request, frozen=True):
    """Exactly one of: a token, all tokens of an actor so far, all tokens of a signing key. What was made from
    them ends with them; what the caller was made from, or what opens more than the caller, does not."""

    jti: Name | None = None
    sub: Name | None = None
    kid: Name | None = None


class RevokeAnswer(Answer, frozen=True):
    revoked: str
    kind: str


class WhoAmIAnswer(Answer, frozen=True):
    sub: str
    wid: str
    ops: list[str]
    data_class: str
    namespaces_allowed: list[str]
    peers: list[str]
    sessions: list[str] | None
    via: list[str]
    jti: str
    exp: int
    bound: bool


class AuditList(Request, frozen=True):
    first: Counted = 0
    limit: Annotated[int, Meta(ge=1, le=LIST_MOST)] = LIST_DEFAULT


class AuditRow(Answer, frozen=True):
    seq: int
    at: int
    actor: str
    cap: str
    operation: str
    outcome: str
    namespaces: Sequence[str]
    lines: Sequence[str]
    detail: str
    leaf: str

    def row(self, workspace: str) -> Row:
        """The row as the log is verified with. Raises: BrokenAuditChain."""
        _, *event, _ = astuple(self)
        try:
            return Row(workspace, self.seq, Event(*event), bytes.fromhex(self.leaf))
        except ValueError:
            raise BrokenAuditChain(f"audit row {self.seq} has a leaf that is no hash") from None


class AuditListAnswer(Answer, frozen=True):
    workspace: str
    rows: list[AuditRow]
    next: int | None


class CheckpointAnswer(Answer, frozen=True):
    """The log's size and Merkle root. Keep it away from this machine."""

    workspace: str
    size: int
    root: str
    at: datetime


class AuditProof(Request, frozen=True):
    """With `seq`, that this row is in the log of `size` rows; with `old`, that the log only grew."""

    size: Counted | None = None
    seq: Counted | None = None
    old: Counted | None = None


class ProofAnswer(Answer, frozen=True):
    workspace: str
    size: int
    root: str
    path: list[str]
    leaf: str | None = None
    old_root: str | None = None


class VerifyReceipt(Request, frozen=True):
    """Check the signature of a receipt of `forget`, and hold it against the log."""

    receipt: Annotated[str, Meta(max_length=receipts.MAX_CHARS)]


class VerifyReceiptAnswer(Answer, frozen=True):
    """What the receipt says, which the log confirms."""

    receipt: receipts.Receipt


class CompartmentStatus(Answer, frozen=True):
    namespace: str
    lines: int


class Budget(Answer, frozen=True):
    """What is left of what may be spent on models."""

    calls_this_hour: int
    calls_today: int
    tokens_this_hour: int
    tokens_today: int


class ModelStatus(Answer, frozen=True):
    """The model of each task, what may still be spent, and why it is not asked for now, if it is not."""

    tasks: dict[str, str]
    left: Budget | None
    """None, as the next, for a token that does not open the whole workspace."""
    left_here: Budget | None
    """What is left for the workspace alone."""
    trouble: str = ""


class StatusAnswer(Answer, frozen=True):
    workspace: str
    owner: str
    namespaces: list[CompartmentStatus]
    audit_rows: int | None
    """None for a token that does not open the whole workspace."""
    scrub_pending: bool
    reasoner: str = ""
    model: ModelStatus | None = None
    embedder: str = ""
    """What meanings are compared by, in words."""
    waiting: int = 0
    """How many lines wait for their vectors, and are found by words meanwhile: of the owner's namespaces that
    the token opens, or for a token that opens everything, those of the whole workspace."""
    renewing: int = 0
    """How many of them wait to be indexed anew."""
    embedder_trouble: str = ""
    """Why the embedder does not work for now, if it does not."""
    vectors: str = SEALED
    """How they are kept: one of `souvenance.domain.embedding.VECTORS`."""
    conclusions: int = 0
    """What those that the token reaches hold of peers; of more than 2000, so many are counted."""
    unfinished_imports: int | None = None
    """None for a token that does not open the whole workspace."""
    uncarried: int | None = None
    """Of how many of the owner's objects the bucket must still be told; None without a bucket, and for a
    token that does not open all namespaces."""


class RotateKeys(Request, frozen=True):
    """`signing` makes a new key for caps; otherwise every compartment gets a new epoch and the root is
    replaced."""

    signing: bool = False


class RotateAnswer(Answer, frozen=True):
    compartments: int
    rewrapped: int
    kid: str | None
    kept: bool = False
    """Whether the old root key is kept, because the bucket could not be told of the new one yet."""


class CompartmentAnswer(Answer, frozen=True):
    workspace: str
    owner: str
    namespace: str
    lines: int


class CompartmentsAnswer(Answer, frozen=True):
    workspaces: list[str]
    compartments: list[CompartmentAnswer]
    scrub_pending: bool
    findings: list[str] = []
    """What the store's schema has that it should not, or lacks."""


class Examine(Request, frozen=True):
    """Open every line of a compartment and follow every link from it."""

    workspace: str
    owner: str
    namespace: str


class ExamineAnswer(Answer, frozen=True):
    lines: int
    findings: list[str]


class Reconcile(Request, frozen=True):
    """Hold the lines of a workspace against what its audit log says was put and forgotten."""

    workspace: str


class Reindex(Request, frozen=True):
    """Make again what lines are found by, everywhere or in one workspace. It is done behind the request:
    asked without `begin`, it says how far that has come."""

    workspace: Name | None = None
    begin: bool = True


class ReindexAnswer(Answer, frozen=True):
    """What is left to do."""

    lines: int
    """Lines whose tokens are to be made anew."""
    vectors: int
    """Lines that have no vector of the embedder's."""
    old_vectors: int
    """Vectors of other embedders."""
    done: bool
    """Whether nothing is under way any more."""
    trouble: str = ""
    """What keeps the embedder from its work."""


class ScrubAnswer(Answer, frozen=True):
    scrubbed: bool
