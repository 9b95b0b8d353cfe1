"""Writes the test vectors of the stored formats, from fixed keys and nonces: always the same bytes.

    python tests/domain/make_vectors.py

The vectors are for whoever reads these formats with other code. Every value is hexadecimal unless it
is a name, a text or a number of the format itself.
"""

from __future__ import annotations

import json
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from souvenance.adapters import key_files
from souvenance.domain import capability, merkle, seal, ulid
from souvenance.domain.audit import GENESIS, Event, leaf_of, verify
from souvenance.domain.audit import Row as AuditRow
from souvenance.domain.line import MESSAGE, TOMBSTONE, OpenLine
from souvenance.domain.names import Compartment
from souvenance.errors import SouvenanceError
from souvenance.language import terms

FOLDER = Path(__file__).parent / "vectors"


def counted(first: int, size: int) -> bytes:
    """Bytes that count up: recognisable, and never taken for a real key."""
    return bytes((first + n) % 256 for n in range(size))


COMPARTMENT = Compartment("default", "ann", "travel")
ID = ulid.compose(1_700_000_000_000, counted(0, 10))
OLDER_ID = ulid.compose(1_600_000_000_000, counted(16, 10))
LINES = {
    "a line with all its optional fields": {
        "session": "Tuesday",
        "occurred_at": 1_716_595_200_000,
        "supersedes": OLDER_ID,
    },
    "a line with none of them": {},
    "text and names beyond ASCII": {
        "compartment": Compartment("Büro", "Ünal 会", "travel"),
        "session": "旅行 🗂",
        "text": "五月去成都 — naïve café 🎉",
    },
    "a time before 1970 and the largest epoch": {"occurred_at": -62_135_596_800_000, "epoch": (1 << 32) - 1},
    "a tombstone": {"kind": TOMBSTONE, "text": "", "supersedes": OLDER_ID},
    "a message with its turn": {"kind": MESSAGE, "session": "Tuesday", "turn": 300},
    "an empty message": {"kind": MESSAGE, "session": "Tuesday", "turn": 1, "text": ""},
    "a conclusion about a peer": {"kind": "conclusion", "about": "Ünal 会", "text": "Travels in May"},
    "a turn about a peer": {"kind": MESSAGE, "session": "Tuesday", "turn": 2, "about": "ann"},
}


def line_of(
    *,
    compartment: Compartment = COMPARTMENT,
    kind: str = "memory",
    text: str = "Trip to Chengdu, May 25-29",
    session: str | None = None,
    occurred_at: int | None = None,
    supersedes: str | None = None,
    turn: int | None = None,
    about: str | None = None,
) -> OpenLine:
    return OpenLine(
        compartment=compartment,
        id=ID,
        kind=kind,
        text=text,
        session=session,
        created_at=1_700_000_000_123,
        occurred_at=occurred_at,
        supersedes=supersedes,
        cap="",
        turn=turn,
        about=about,
        metadata={},
    )


def seal_vectors() -> list[dict[str, object]]:
    made = []
    for n, (name, fields) in enumerate(LINES.items()):
        epoch = fields.get("epoch", n + 1)
        line = line_of(**{key: value for key, value in fields.items() if key != "epoch"})
        key, nonce = counted(n, 32), counted(128 + n, 12)
        said = line.turn is not None or line.about is not None
        made.append(
            {
                "name": name,
                "key": key.hex(),
                "nonce": nonce.hex(),
                "data_class": seal.DATA_CLASS,
                "workspace": line.compartment.workspace,
                "owner": line.compartment.owner,
                "namespace": line.compartment.namespace,
                "kind": line.kind,
                "session": line.session,
                "id": line.id,
                "created_at": line.created_at,
                "occurred_at": line.occurred_at,
                "supersedes": line.supersedes,
                "epoch": epoch,
                **({"turn": line.turn, "about": line.about} if said else {}),
                "text": line.text,
                "associated_data": seal.place(line, epoch).hex(),
                "envelope": seal.seal(line, key=AESGCM(key), epoch=epoch, nonce=nonce).hex(),
            }
        )
    return made


def wrapped_key_vectors() -> list[dict[str, object]]:
    made = []
    places = [
        (COMPARTMENT, "seal", 1),
        (COMPARTMENT, "blind", 1),
        (Compartment("Büro", "Ünal 会", "personal"), "seal", (1 << 32) - 1),
    ]
    for n, (compartment, purpose, epoch) in enumerate(places):
        root_id, root, nonce, key = (
            counted(64 + n, 8),
            counted(32 + n, 32),
            counted(160 + n, 12),
            counted(200 + n, 32),
        )
        context = seal.key_place(compartment, purpose, epoch)
        wrapped = key_files.wrap(key, root_id=root_id, root=root, context=context, nonce=nonce)
        made.append(
            {
                "root_id": root_id.hex(),
                "root": root.hex(),
                "nonce": nonce.hex(),
                "data_class": seal.DATA_CLASS,
                "workspace": compartment.workspace,
                "owner": compartment.owner,
                "namespace": compartment.namespace,
                "purpose": purpose,
                "epoch": epoch,
                "key": key.hex(),
                "associated_data": context.hex(),
                "wrapped": wrapped.hex(),
            }
        )
    return made


def audit_vectors() -> dict[str, object]:
    workspace = "Büro"
    events = [
        Event(1_700_000_000_000, "ann", ID, "put", "ok", ("travel",), (ID,), '{"duplicate":false}'),
        Event(1_700_000_000_001, "Ünal 会", OLDER_ID, "get", "namespace_denied", ("personal", "work")),
        Event(1_700_000_000_002, "ann", ID, "get", "ok", ("*",), (ID, OLDER_ID)),
        Event(-1, "ann", "", "forget", "ok", detail="x" * 40),
        Event(1_700_000_000_003, "ann", ID, "audit", "ok"),
    ]
    rows: list[AuditRow] = []
    for seq, event in enumerate(events):
        previous = rows[-1].leaf if rows else GENESIS
        rows.append(AuditRow(workspace, seq, event, leaf_of(workspace, seq, event, previous)))
    leaves = [row.leaf for row in rows]
    tree = merkle.Tree(
        size=len(leaves), leaves=lambda first, end: leaves[first:end], tiles=lambda first, end: []
    )
    return {
        "workspace": workspace,
        "genesis": GENESIS.hex(),
        "rows": [
            {
                "seq": row.seq,
                "at": row.event.at,
                "actor": row.event.actor,
                "cap": row.event.cap,
                "operation": row.event.operation,
                "outcome": row.event.outcome,
                "namespaces": list(row.event.namespaces),
                "lines": list(row.event.lines),
                "detail": row.event.detail,
                "leaf": row.leaf.hex(),
            }
            for row in rows
        ],
        "roots": [verify(workspace, rows[:size]).root.hex() for size in range(len(rows) + 1)],
        "inclusion": [
            {"seq": seq, "size": 5, "path": [step.hex() for step in tree.inclusion(seq, 5)]}
            for seq in range(5)
        ],
        "consistency": [
            {"old": old, "size": 5, "path": [step.hex() for step in tree.consistency(old, 5)]}
            for old in range(1, 6)
        ],
    }


def blinded_token_vectors() -> list[dict[str, object]]:
    made = []
    texts = [
        "Trip to Chengdu, May 25-29: the trip of the year",
        "bob@corp.io said: don't",
        "Naïve CAFÉ, Straße",
        "五月去成都",
        "한국어",
        "the who",
        "tea " * 300,
        "On 2023-05-07 at 7:30pm Melanie's parties cost $1,200.50",
        "user_name, userName and C++ in src/words.py",
        "ฉันไปเชียงใหม่",
    ]
    for n, text in enumerate(texts):
        key = counted(n, 32)
        found = terms.terms(text)
        made.append(
            {
                "key": key.hex(),
                "text": text,
                "terms": list(found),
                "tokens": terms.blind(key, found).tobytes().hex(),
                "counts": bytes(found.values()).hex(),
            }
        )
    return made


INSTALLATION = "urn:souvenance:0011223344556677"
MATES = {"peers": ["hermes"]}
ONE = {"sub": "ann", "peers": ["ann"]}
CHAINS: dict[str, list[dict[str, object]]] = {
    "a cap without `via`, as all were before there was one": [ONE],
    "a cap that looks through the eyes of an agent": [{**ONE, "via": ["hermes"]}],
    "a child that keeps `via`": [{**ONE, "via": ["hermes", "zeus"]}, {**ONE, "via": ["hermes"]}],
    "a child that only looks through whom its parent reaches": [MATES, {"peers": [], "via": ["hermes"]}],
    "a child of a cap of everyone": [{"peers": ["*"]}, {**ONE, "via": ["hermes"]}],
    "a child that looks through whom its parent did not": [ONE, {**ONE, "via": ["hermes"]}],
    "a child that reaches whom its parent only looked through": [{**ONE, "via": ["hermes"]}, MATES],
    "sessions that a cap opens": [{**ONE, "sessions": ["s", "t"]}],
    "sessions that a child of a workspace's cap opens": [{"peers": ["*"]}, {**ONE, "sessions": ["s"]}],
    "sessions that a child of a peer's cap is only limited to": [ONE, {**ONE, "sessions": ["s"]}],
    "one of the sessions that its parent opens": [{"sessions": ["s", "t"]}, {"sessions": ["t"]}],
}
"""What the blocks of a chain say, beside what all say."""


def cap_vectors() -> dict[str, object]:
    """Chains of blocks, and what each grants if it is believed."""
    seeds = [counted(32 * n, 32) for n in range(3)]
    keys = [Ed25519PrivateKey.from_private_bytes(seed) for seed in seeds]
    holders = [capability.HolderKey.of(key.public_key()) for key in keys]
    kids = [holder.thumbprint() for holder in holders]
    made = []
    for name, chain in CHAINS.items():
        blocks = []
        for n, fields in enumerate(chain):
            said = {"sub": "ann", "peers": [], **fields}
            told = {key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}
            claims = capability.Claims(
                iss=INSTALLATION,
                aud=INSTALLATION,
                jti=ulid.compose(1_700_000_000_000 + n, counted(n, 10)),
                iat=1_700_000_000,
                nbf=1_700_000_000,
                exp=1_700_003_600,
                wid="default",
                cnf=capability.Confirmation(holders[n + 1]),
                data_class="memory",
                ops=("get",),
                namespaces_allowed=("travel",),
                **told,
            )
            blocks.append(capability.sign(claims, key=keys[n], kid=kids[n]))
        token = capability.bearer("~".join(blocks), keys[len(blocks)])
        made.append({"name": name, "cap": token, "grants": _granted(token, kids[0], keys[0])})
    return {"installation": INSTALLATION, "issuer": seeds[0].hex(), "caps": made}


def _granted(token: str, kid: str, issuer: Ed25519PrivateKey) -> dict[str, object] | str:
    """What the cap grants, or the code that it is refused with."""
    try:
        chain = capability.authenticate(token, keys={kid: issuer.public_key()}, audience=INSTALLATION)
    except SouvenanceError as error:
        return error.code
    grant = chain.grant
    return {
        "reaches": sorted({grant.actor, *grant.peers}),
        "looks_through": sorted(grant.via),
        "sessions": None if grant.sessions is None else sorted(grant.sessions),
        "opened": None if grant.opened is None else sorted(grant.opened),
    }


def vectors() -> dict[str, str]:
    """The content of every file, by its name."""
    made = {
        "seal.json": seal_vectors(),
        "wrapped-key.json": wrapped_key_vectors(),
        "audit.json": audit_vectors(),
        "blinded-tokens.json": blinded_token_vectors(),
        "cap.json": cap_vectors(),
    }
    return {name: json.dumps(content, indent=2, ensure_ascii=False) + "\n" for name, content in made.items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in vectors().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
