"""The gate's decision told a second time, from the design's prose and in plain dictionaries.

What only keys can tell comes with the question. No line has an id that a request names.
"""

SKEW = PROOF_AGE = 60
RIGHTS = {f"memory.{op}": op for op in ("put", "get", "list", "snapshot", "invalidate", "forget")}
RIGHTS |= {f"audit.{part}": "audit" for part in ("list", "checkpoint", "proof")}
RIGHTS |= {"receipt.verify": "audit"}
RIGHTS |= {"memory.line": "get", "status": "list", "caps.mint": "grant", "caps.revoke": "revoke"}
RIGHTS |= {"chat": "chat", "reindex": "put", "signin.list": "revoke", "signin.withdraw": "revoke"}
IMPORTS = tuple(f"import.{part}" for part in ("begin", "page", "finish"))
RIGHTS |= dict.fromkeys(IMPORTS, "put")
RULES = {"retention.list": "list", "retention.set": "forget", "retention.remove": "forget"}
RIGHTS |= RULES
OF_A_WORKSPACE = (*IMPORTS, *RULES)
ONE_OF = {
    "memory.forget": ({"id"}, {"id", "owner"}, {"namespace"}, {"owner"}),
    "caps.revoke": ({"jti"}, {"sub"}, {"kid"}),
}
NAMES_ACTOR = {
    "memory.forget": "owner",
    "memory.invalidate": "owner",
    "caps.mint": "sub",
    "caps.revoke": "sub",
}


def decide(cap, request, state):
    """The code of the answer; `cap` is None or a dict, `state` is what the installation knows by now."""
    order = (admission, rights, reading, scope, work)
    return next(filter(None, (check(cap, request, state) for check in order)))


def admission(cap, request, state):
    if cap is None or not cap["readable"]:
        return "cap_missing" if cap is None else "cap_malformed"
    blocks, now = cap["blocks"], state["now"] // 1000
    foreign = any({block["iss"], block["aud"]} != {state["installation"]} for block in blocks)
    if not cap["signed"] or foreign or any(map(wider, blocks[1:], blocks)):
        return "cap_sig_invalid"
    if any(b["exp"] <= now or max(b["nbf"], b["iat"]) > now + SKEW for b in blocks):
        return "cap_expired"
    if any(withdrawn(cap, one) for one in state["revocations"]):
        return "cap_revoked"
    proof = request["proof"]
    proved = proof and proof["by_holder"] and proof["of_this_request"] and not proof["burned"]
    proved = proved and abs(proof["at"] - now) <= PROOF_AGE
    return None if cap["bearer"] or proved else "cap_pop_invalid"


def rights(cap, request, state):
    said, right = cap["blocks"][-1], RIGHTS.get(request["operation"])
    if right and right not in said.get("ops", ()):
        return "cap_op_mismatch"
    if said.get("data_class") not in ("memory", "*"):
        return "cap_data_class_mismatch"
    return "cap_scope_mismatch" if request["operation"] == "reindex" and not operates(said) else None


def operates(said):
    """Whether it is the installation's own."""
    return said["wid"] == "*" and "*" in reach(said) and "*" in said.get("namespaces_allowed", ())


def reading(cap, request, state):
    body, choices = request["body"], ONE_OF.get(request["operation"])
    if request["size"] > state["body_bytes"]:
        return "body_too_large"
    named = None if body is None or choices is None else body.keys() & set().union(*choices)
    return "invalid_input" if body is None or (choices and named not in choices) else None


def scope(cap, request, state):
    said, body, operation = cap["blocks"][-1], request["body"], request["operation"]
    putting, forgetting = operation == "memory.put", operation == "memory.forget" and "id" not in body
    actor, sessions = body.get(NAMES_ACTOR.get(operation)), said.get("sessions")
    elsewhere = operation == "caps.mint" and "wid" in body and said["wid"] not in ("*", body["wid"])
    stranger = actor is not None and not {actor, "*"} & reach(said)
    whole = forgetting or operation in ("status", "chat", *OF_A_WORKSPACE)
    walled = sessions is not None and (whole or (putting and body.get("session") not in sessions))
    if elsewhere or stranger or walled:
        return "cap_scope_mismatch"
    ruling = operation == "retention.set"
    if operation in OF_A_WORKSPACE and not ruling and not said.get("namespaces_allowed"):
        return "namespace_denied"
    asked = body.get("namespaces", ())
    if putting or forgetting or ruling:
        asked = [body.get("namespace", "personal" if putting else "*")]
    return None if within(asked, said.get("namespaces_allowed", ())) else "namespace_denied"


def work(cap, request, state):
    said, body, operation = cap["blocks"][-1], request["body"], request["operation"]
    if state["asked"] >= state["per_minute"]:
        return "rate_limited"
    if operation == "memory.put":
        long = len(body["text"].encode()) > state["line_bytes"]
        return "invalid_input" if not body["text"].strip() else "line_too_long" if long else "ok"
    if operation in OF_A_WORKSPACE and "*" not in said.get("peers", ()):
        return "cap_scope_mismatch"
    if operation in ("import.finish", "retention.remove"):
        return "not_found"
    if operation == "receipt.verify":
        return "receipt_invalid"
    if operation == "caps.revoke":
        above = lineage(cap)[:-1]
        if "kid" in body:
            taken = "conflict" if body["kid"] == state["kid"] else "ok"
            return taken if operates(said) and not above else "cap_scope_mismatch"
        mine = any(one[kind] == value for one in above for kind, value in body.items())
        return "cap_scope_mismatch" if mine else "ok"
    if operation in ("caps.mint", "caps.attenuate"):
        made = asked_for(said, body, mint=operation == "caps.mint")
        unknown = set(made.get("ops", ())) - set(RIGHTS.values())
        if unknown or (operation == "caps.attenuate" and not cap["bearer"]):
            return "invalid_input"
        opens = operation == "caps.mint" and opens_more(made, cap["blocks"])
        return "cap_scope_mismatch" if opens or wider(made, said) else "ok"
    return "not_found" if "id" in body else "ok"


def asked_for(parent, body, *, mint):
    time, home = {name: parent[name] for name in ("exp", "nbf")}, parent["wid"].replace("*", "default")
    peers = {} if body.get("sub", parent["sub"]) == parent["sub"] else {"peers": (), "via": ()}
    return {"wid": home, "data_class": "memory", **time, **body} if mint else {**parent, **peers, **body}


def wider(child, parent):
    """Whether the child grants anything that its parent does not."""
    return not (
        (child["exp"] <= parent["exp"] and child["nbf"] >= parent["nbf"])
        and set(child.get("ops", ())) <= set(parent.get("ops", ()))
        and inside(child, parent)
        and within(child.get("via", ()), reach(parent) | set(parent.get("via", ())))
    )


def inside(one, other):
    """Whether the one opens nobody's memory, and no place, that the other does not."""
    limit, sessions = other.get("sessions"), one.get("sessions")
    return (
        all(other.get(name) in ("*", one.get(name)) for name in ("wid", "data_class"))
        and (limit is None or (sessions is not None and set(sessions) <= set(limit)))
        and within(one.get("namespaces_allowed", ()), other.get("namespaces_allowed", ()))
        and within(reach(one), reach(other))
    )


def opens_more(minted, blocks):
    """Whether the minted cap names sessions that its maker's own chain does not open.

    A block that reaches everyone and names none leaves all open; the first other one opens what it names.
    """
    limits = [set(block.get("sessions") or ()) for block in blocks if not whole(block)]
    return bool(limits) and not set(minted.get("sessions") or ()) <= set.intersection(*limits)


def whole(block):
    return "*" in reach(block) and block.get("sessions") is None


def reach(claims):
    return {claims["sub"], *claims.get("peers", ())}


def within(asked, allowed):
    return "*" in allowed or set(asked) <= set(allowed)


def lineage(cap):
    """What the cap came from and itself, the first one first."""
    before = []
    for jti, sub, kid, at, (wid, data_class, actors, namespaces, sessions) in cap["blocks"][0].get("par", ()):
        opens = {"wid": wid, "data_class": data_class, "peers": actors, "namespaces_allowed": namespaces}
        before.append({"jti": jti, "sub": sub, "sessions": sessions, "kid": kid, "at": at, **opens})
    return before + [{**block, "kid": cap["kid"], "at": cap["issued"]} for block in cap["blocks"]]


def withdrawn(cap, revocation):
    """Whether a revocation meets the cap or one that it came from, where whoever made it had a say."""
    line, kind, by = lineage(cap), revocation["kind"], revocation["by"]
    for one in line:
        named = one[kind] == revocation["value"] and (kind != "sub" or one["at"] <= revocation["at"])
        barred = one is line[0] and not revocation["first"]
        if named and (kind == "kid" or by is None or (inside(one, by) and not barred)):
            return revocation["workspace"] in ("*", cap["blocks"][-1]["wid"])
    return False
