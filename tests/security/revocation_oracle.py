"""Revocation told a second time, from the table in docs/reference/cap.md: tokens that know their parents.

It shares no code with the gate. A token here is an object; the gate sees only what the token itself says.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EVERYTHING = frozenset("*")


@dataclass(frozen=True, eq=False)
class Token:
    """What one token opens and what it was made from. The holder of a token gives what it narrows any id."""

    id: str
    parent: Token | None
    key: str
    born: int
    actor: str
    workspace: str
    data_class: str
    actors: frozenset[str]
    namespaces: frozenset[str]
    sessions: frozenset[str] | None
    eyes: frozenset[str]
    """Those through whose eyes it looks."""
    text: str = field(repr=False)

    def parents(self):
        """From the nearest to the first."""
        one = self.parent
        while one is not None:
            yield one
            one = one.parent


@dataclass(frozen=True)
class Revoked:
    caller: Token
    kind: str
    value: str
    at: int


def opens_more(one, other):
    """Whether the one opens anything that the other does not."""
    return (
        other.workspace not in ("*", one.workspace)
        or other.data_class not in ("*", one.data_class)
        or not (other.actors >= EVERYTHING or one.actors <= other.actors)
        or not (other.namespaces >= EVERYTHING or one.namespaces <= other.namespaces)
        or not (other.sessions is None or (one.sessions is not None and one.sessions <= other.sessions))
        or not (other.actors >= EVERYTHING or one.eyes <= other.eyes | other.actors | one.actors)
    )


def refusal(caller, kind, value, *, signing, revocations):
    """What the caller is told who asks for a revocation; "ok" if it is taken."""
    if ended(caller, revocations):
        return "cap_revoked"
    if kind == "kid":
        owners = caller.parent is None and caller.workspace == "*"
        owners = owners and caller.actors >= EVERYTHING and caller.namespaces >= EVERYTHING
        return "cap_scope_mismatch" if not owners else "conflict" if value == signing else "ok"
    if kind == "sub" and not (value in caller.actors or caller.actors >= EVERYTHING):
        return "cap_scope_mismatch"
    above = {one.id if kind == "jti" else one.actor for one in caller.parents()}
    return "cap_scope_mismatch" if value in above else "ok"


def ended(token, revocations):
    """Whether the token or any that it was made from is revoked."""
    return any(meets(revoked, one) for one in (token, *token.parents()) for revoked in revocations)


def meets(revoked, token):
    if revoked.kind == "kid":
        return token.key == revoked.value
    if revoked.kind == "jti" and token.id != revoked.value:
        return False
    if revoked.kind == "sub" and (token.actor != revoked.value or token.born > revoked.at):
        return False
    caller = revoked.caller
    first = token.parent is None and caller.parent is not None
    return not (first or token in caller.parents() or opens_more(token, caller))
