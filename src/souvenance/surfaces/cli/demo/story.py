"""The story that the demo plays, step by step.

A step says what it saw: in captured answers and in files, never in the program's own word. A refusal
is held against a request like it that is granted, so that it can't be refused for another reason.
"""

from __future__ import annotations

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from souvenance.domain import capability as caps
from souvenance.domain.capability import Claims
from souvenance.domain.encoding import unb64
from souvenance.surfaces.cli.demo.stage import (
    DATABASE,
    DemoStep,
    Stage,
    answered,
    complained,
    edit,
    expect,
    printed,
    refused,
    same,
)
from souvenance.surfaces.cli.session import fresh_ulid

TRIP = "trip to Chengdu, May 25–29"
ALLERGY = "allergic to penicillin"
QUESTION = "where am I going this weekend?"
_RARE_WORDS = ("Chengdu", "25–29", "allergic", "penicillin")
_GET = "/v1/memory/get"
_PIECE = 16


def serve(stage: Stage) -> str:
    stage.serve()
    health = answered(stage.ask("GET", "/health", cap=""))
    expect(health.get("status") == "ok", f"its health is {health}")
    owner = stage.home / "owner.cap"
    expect(owner.stat().st_mode & 0o777 == 0o600, "others can read owner.cap")
    stage.caps["owner"] = owner.read_text("utf-8").strip()
    return f"a server process answers at {stage.url}"


def learn(stage: Stage) -> str:
    stage.caps["alice"] = _minted(stage, ops="put,get,list,forget", namespaces="travel,personal")
    for name, text, namespace in (("trip", TRIP, "travel"), ("allergy", ALLERGY, "personal")):
        put = stage.souvenance("put", text, "-n", namespace, "--session", "1", cap=stage.caps["alice"])
        stage.lines[name] = printed(put)["id"]
    return "session 1 put a trip into travel and an allergy into personal, with its actor's own cap"


def pin(stage: Stage) -> str:
    answer = stage.souvenance("audit", "checkpoint", cap=stage.caps["owner"])
    size = printed(answer)["size"]
    (stage.folder / "checkpoint.json").write_text(answer.out, "utf-8")
    expect(size > 0, "the log is empty")
    return f"a checkpoint over {size} audit rows is saved outside the data folder"


def sealed(stage: Stage) -> str:
    where = stage.holding([stage.lines["trip"].encode()])
    expect(any(DATABASE in name for name in where), f"the line's id is in {where}: looked in the wrong place")
    found = stage.holding(text.encode() for text in (TRIP, ALLERGY, *_RARE_WORDS))
    expect(not found, f"readable in {found}")
    return f"{where[0]} holds the line's id; no file holds its sentence or a rare word of it"


def recall(stage: Stage) -> str:
    lines = printed(stage.souvenance("get", QUESTION, cap=stage.caps["alice"]))["lines"]
    found = [line["text"] for line in lines if line["id"] == stage.lines["trip"]]
    expect(found == [TRIP], f"it got {lines}")
    return f"a fresh process asked “{QUESTION}” and got “{found[0]}”"


def narrow(stage: Stage) -> str:
    stage.caps["travel"] = _minted(stage, ops="get", namespaces="travel")
    lines = printed(stage.souvenance("get", QUESTION, cap=stage.caps["travel"]))["lines"]
    expect([line["text"] for line in lines] == [TRIP], f"it got {lines}")
    return "a cap for travel alone gets the trip and nothing else"


def denied(stage: Stage) -> str:
    holds, empty = (
        stage.ask("POST", _GET, {"query": "allergic", "namespaces": [name]}, cap=stage.caps["travel"])
        for name in ("personal", "nothing-here")
    )
    seen = refused(holds, status=403, code="namespace_denied")
    same(holds, empty)
    allowed = answered(stage.ask("POST", _GET, {"namespaces": ["personal"]}, cap=stage.caps["alice"]))
    expect([line["text"] for line in allowed["lines"]] == [ALLERGY], f"its owner got {allowed}")
    return f"{seen} for the allergy, {len(holds.body)} bytes, the same for a namespace that holds nothing"


def data_class(stage: Stage) -> str:
    token = _minted(stage, "--data-class", "credentials", ops="get", namespaces="travel")
    seen = refused(
        stage.ask("POST", _GET, {"query": QUESTION}, cap=token), status=403, code="cap_data_class_mismatch"
    )
    return f"{seen} for a cap of data class credentials"


def attenuate(stage: Stage) -> str:
    made = stage.souvenance("cap", "attenuate", "--ttl", "5m", "--ops", "get", cap=stage.caps["travel"])
    child = printed(made)["cap"]
    answered(stage.ask("POST", _GET, {}, cap=child))
    wider = stage.souvenance("cap", "attenuate", "--namespaces", "travel,personal", cap=child)
    seen = complained(wider, exit_code=5, code="cap_scope_mismatch")
    return f"a narrower cap made offline works; a wider one can't be made: {seen}"


def forge(stage: Stage) -> str:
    honest = _forged(stage.caps["travel"], "travel")
    answered(stage.ask("POST", _GET, {"namespaces": ["travel"]}, cap=honest))
    wider = _forged(stage.caps["travel"], "travel", "personal")
    answer = stage.ask("POST", _GET, {"namespaces": ["personal"]}, cap=wider)
    seen = refused(answer, status=401, code="cap_sig_invalid")
    return f"{seen} for a wider block, forged by hand and signed with the right holder key"


def revoke(stage: Stage) -> str:
    parent = stage.caps["travel"]
    child = _forged(parent, "travel")
    for token in (parent, child):
        answered(stage.ask("POST", _GET, {}, cap=token))
    printed(stage.souvenance("cap", "revoke", parent, cap=stage.caps["owner"]))
    for token in (parent, child):
        seen = refused(stage.ask("POST", _GET, {}, cap=token), status=401, code="cap_revoked")
    return f"{seen} for a revoked cap and for the one made from it"


def audit(stage: Stage) -> str:
    checkpoint = stage.folder / "checkpoint.json"
    saved = msgspec.json.decode(checkpoint.read_bytes())["size"]
    verified = printed(
        stage.souvenance("audit", "verify", "--checkpoint", str(checkpoint), cap=stage.caps["owner"])
    )
    expect(verified["rows"] > saved, f"the checkpoint has {saved} rows, and it saw {verified}")
    return f"{verified['rows']} rows verify, and begin with the {saved} of the saved checkpoint"


def tamper(stage: Stage) -> str:
    checkpoint = str(stage.folder / "checkpoint.json")
    tampering = {
        "untouched": "",
        "edited": "UPDATE audit SET actor = 'mallory' WHERE seq = 1",
        "cut short": "DELETE FROM audit WHERE seq > 0",
    }
    seen = ""
    for name, sql in tampering.items():
        with stage.copied() as copy:
            expect(not sql or edit(copy, sql) > 0, f"there was no row to be {name}")
            verified = stage.souvenance_on(copy, "audit", "verify", "--checkpoint", checkpoint)
        if sql:
            seen = complained(verified, exit_code=10, code="broken_audit_chain")
        else:
            printed(verified)
    return f"an untouched copy verifies; one with a row edited, one cut short: {seen}"


def forget(stage: Stage) -> str:
    gone = stage.lines["allergy"]
    captured = [
        *stage.rows("SELECT sealed FROM lines WHERE id = ?", gone),
        *stage.rows("SELECT tokens FROM terms WHERE id = ?", gone),
    ]
    pieces = [blob[at : at + _PIECE] for (blob,) in captured for at in range(len(blob) - _PIECE + 1)]
    expect(bool(stage.holding(pieces)), "the sealed bytes are not where they should be before")
    printed(stage.souvenance("forget", gone, "--yes", cap=stage.caps["alice"]))
    seen = refused(
        stage.ask("GET", f"/v1/memory/lines/{gone}", cap=stage.caps["alice"]), status=404, code="not_found"
    )
    recalled = answered(stage.ask("POST", _GET, {"query": ALLERGY}, cap=stage.caps["alice"]))["lines"]
    expect([line["text"] for line in recalled] == [TRIP], f"a reader still got {recalled}")
    left = stage.holding(pieces)
    expect(not left, f"its bytes are still in {left}")
    size = sum(len(blob) for (blob,) in captured)
    return f"{seen} for the line; of the {size} bytes stored of it no file holds any"


STEPS = (
    DemoStep("serve", serve),
    DemoStep("learn", learn, ("serve",)),
    DemoStep("pin", pin, ("learn",)),
    DemoStep("sealed", sealed, ("learn",)),
    DemoStep("recall", recall, ("learn",)),
    DemoStep("narrow", narrow, ("learn",)),
    DemoStep("denied", denied, ("narrow",)),
    DemoStep("class", data_class, ("learn",)),
    DemoStep("attenuate", attenuate, ("narrow",)),
    DemoStep("forge", forge, ("narrow",)),
    DemoStep("revoke", revoke, ("narrow",)),
    DemoStep("audit", audit, ("pin",)),
    DemoStep("tamper", tamper, ("pin",)),
    DemoStep("forget", forget, ("learn",)),
)


def _minted(stage: Stage, *more: str, ops: str, namespaces: str) -> str:
    """A cap for alice, minted by the owner in a process of its own."""
    arguments = ("cap", "mint", "--sub", "alice", "--ops", ops, "--namespaces", namespaces, *more)
    token: str = printed(stage.souvenance(*arguments, cap=stage.caps["owner"]))["cap"]
    return token


def _forged(token: str, *namespaces: str) -> str:
    """A child of the cap as its holder could write it, with no program to refuse it."""
    *blocks, secret = token.split("~")
    parent: Claims = caps.read_unverified(token)[0][-1]
    claims = msgspec.structs.replace(parent, jti=fresh_ulid(), namespaces_allowed=namespaces)
    holder = Ed25519PrivateKey.from_private_bytes(unb64(secret))
    block = caps.sign(claims, key=holder, kid=parent.cnf.jwk.thumbprint())
    return "~".join((*blocks, block, secret))
