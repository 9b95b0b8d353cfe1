"""The table of the memory's own operations, of caps, of the audit log and of upkeep."""

from __future__ import annotations

from souvenance.core.remember import Upcoming
from souvenance.domain.names import ALL
from souvenance.domain.policy import Need, Reach
from souvenance.errors import InvalidInput
from souvenance.gate import maintenance, memory, tokens
from souvenance.gate import messages as m
from souvenance.gate.operation import Operation


def _one_compartment(request: m.Put) -> Reach:
    return Reach(namespaces=(request.namespace,), session=request.session, writes_line=True)


def _compartments(request: m.Get | m.List | m.Snapshot) -> Reach:
    return Reach(namespaces=request.namespaces)


def _forgotten(request: m.Forget) -> Reach:
    named = [field for field in (request.id, request.namespace, request.owner) if field is not None]
    if len(named) != 1:
        raise InvalidInput("name exactly one of id, namespace and owner")
    if request.id is not None:
        return Reach()
    if request.namespace is not None:
        return Reach(namespaces=(request.namespace,), whole_compartments=True)
    return Reach(namespaces=(ALL,), actor=request.owner, whole_compartments=True)


def _revoked(request: m.Revoke) -> Reach:
    if sum(field is not None for field in (request.jti, request.sub, request.kid)) != 1:
        raise InvalidInput("name exactly one of jti, sub and kid")
    return Reach(actor=request.sub)


PUT = Operation(
    "memory.put",
    Need("put"),
    m.Put,
    m.PutAnswer,
    memory.put,
    _one_compartment,
    writes=True,
    within=True,
    texts=memory.texts_put,
)
GET = Operation("memory.get", Need("get"), m.Get, m.GetAnswer, memory.get, _compartments)
LINE = Operation("memory.line", Need("get"), m.GetLine, m.LineAnswer, memory.get_line)
LIST = Operation("memory.list", Need("list"), m.List, m.ListAnswer, memory.list_, _compartments)
SNAPSHOT = Operation(
    "memory.snapshot", Need("snapshot"), m.Snapshot, m.SnapshotAnswer, memory.take_snapshot, _compartments
)
INVALIDATE = Operation(
    "memory.invalidate",
    Need("invalidate"),
    m.Invalidate,
    m.InvalidateAnswer,
    memory.invalidate,
    writes=True,
    within=True,
    texts=lambda request: [Upcoming(request.text or "")],
    rings=True,
)
FORGET = Operation(
    "memory.forget",
    Need("forget"),
    m.Forget,
    m.ForgetAnswer,
    memory.forget,
    _forgotten,
    writes=True,
    within=True,
    rings=True,
    peek=memory.preview,
)
STATUS = Operation(
    "status",
    Need("list"),
    m.Status,
    m.StatusAnswer,
    memory.status,
    lambda request: Reach(whole_compartments=True),
)
MINT = Operation(
    "caps.mint",
    Need("grant"),
    m.Mint,
    m.CapAnswer,
    tokens.mint,
    lambda request: Reach(actor=request.sub, workspace=request.wid),
)
ATTENUATE = Operation("caps.attenuate", Need(None), m.Attenuate, m.CapAnswer, tokens.attenuate)
REVOKE = Operation(
    "caps.revoke", Need("revoke"), m.Revoke, m.RevokeAnswer, tokens.revoke, _revoked, writes=True
)
WHOAMI = Operation("caps.whoami", Need(None), m.WhoAmI, m.WhoAmIAnswer, tokens.whoami, verdict=True)
CHAT = Operation(
    "chat",
    Need("chat"),
    m.WhoAmI,
    m.WhoAmIAnswer,
    tokens.whoami,
    lambda request: Reach(whole_compartments=True),
    verdict=True,
)
AUDIT = Operation("audit.list", Need("audit"), m.AuditList, m.AuditListAnswer, maintenance.list_rows)
CHECKPOINT = Operation(
    "audit.checkpoint", Need("audit"), m.AuditCheckpoint, m.CheckpointAnswer, maintenance.checkpoint
)
PROOF = Operation("audit.proof", Need("audit"), m.AuditProof, m.ProofAnswer, maintenance.prove)
VERIFY_RECEIPT = Operation(
    "receipt.verify", Need("audit"), m.VerifyReceipt, m.VerifyReceiptAnswer, memory.verify_receipt
)
ROTATE = Operation(
    "keys.rotate", Need("grant", operator=True), m.RotateKeys, m.RotateAnswer, maintenance.rotate, writes=True
)
COMPARTMENTS = Operation(
    "doctor.compartments",
    Need("audit", operator=True),
    m.Compartments,
    m.CompartmentsAnswer,
    maintenance.list_compartments,
)
EXAMINE = Operation(
    "doctor.examine", Need("audit", operator=True), m.Examine, m.ExamineAnswer, maintenance.examine
)
RECONCILE = Operation(
    "doctor.reconcile", Need("audit", operator=True), m.Reconcile, m.ExamineAnswer, maintenance.reconcile
)
SCRUB = Operation(
    "doctor.scrub", Need("forget", operator=True), m.Scrub, m.ScrubAnswer, maintenance.scrub, writes=True
)
REINDEX = Operation(
    "reindex",
    Need("put", operator=True),
    m.Reindex,
    m.ReindexAnswer,
    maintenance.reindex,
    writes=True,
    rings=True,
    peek=maintenance.watch,
)

EVERY: tuple[Operation, ...] = tuple(part for part in globals().values() if isinstance(part, Operation))
