"""What the capability token of a profile grants: read from the token itself, so that no server is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from souvenance.agents.conversation_scope import Agent, Namespaces
from souvenance.domain.names import ALL, COMMON_NAMESPACE, mint_command

if TYPE_CHECKING:
    from souvenance.domain.capability import Claims

NEEDED = {
    "put": "nothing is saved",
    "get": "nothing is recalled",
    "forget": "what you undo or delete stays in memory",
}
"""The rights that memory in Hermes uses, and what is missing without each."""


class Token(Struct, frozen=True):
    claims: Claims
    bound: bool
    """Whether it needs a proof by a key that Hermes does not have."""

    @property
    def everybody(self) -> bool:
        return ALL in self.claims.peers

    def reaches(self, peer: str) -> bool:
        return self.everybody or peer in (self.claims.sub, *self.claims.peers)

    def agent(self, peer: str) -> Agent:
        """What the agent of that name may do with it."""
        return "speaks" if self.reaches(peer) else "looks" if peer in self.claims.via else "absent"

    def opens(self, namespace: str) -> bool:
        return ALL in self.claims.namespaces_allowed or namespace in self.claims.namespaces_allowed

    def people(self, person: str | None, ai: str) -> tuple[str | None, str]:
        """The person and the agent that it speaks for: those given, if it names them, or else its own."""
        if self.everybody:
            return person, ai
        named = dict.fromkeys((self.claims.sub, *self.claims.peers, *self.claims.via))
        person = person or next((one for one in named if one != ai), None)
        others = [one for one in named if one != person]
        return person, others[0] if ai not in named and len(others) == 1 else ai

    def usual_namespaces(self) -> Namespaces:
        """All that it opens, and the one to write to: the common one, or else the first."""
        opened, common = self.claims.namespaces_allowed, self.opens(COMMON_NAMESPACE)
        if common and len(opened) == 1:
            return Namespaces()
        return Namespaces(opened, COMMON_NAMESPACE if common else next(iter(opened), None))

    def granted(self, wanted: Namespaces) -> Namespaces:
        """Of the namespaces that are wanted, those that it may read and write."""
        ops, write = self.claims.ops, wanted.write
        read = tuple(filter(self.opens, wanted.read)) if "get" in ops else ()
        return Namespaces(read, write if write and self.opens(write) and "put" in ops else None)

    def unfit(self, workspace: str, person: str | None) -> Iterator[str]:
        if self.claims.data_class not in ("memory", ALL):
            yield f"it is of the data class {self.claims.data_class!r}, not 'memory'"
        if self.bound:
            yield "it is bound to a key, and Hermes has no such key"
        if self.claims.sessions is not None:
            yield "it is limited to sessions"
        if self.claims.wid not in (workspace, ALL):
            yield f"it is of the workspace {self.claims.wid!r}, not {workspace!r}"
        if person is not None and not self.reaches(person):
            yield f"it does not speak for {person!r}"
        if not self.claims.namespaces_allowed:
            yield "it opens no namespace"
        if not {"put", "get"}.intersection(self.claims.ops):
            yield "it grants neither 'put' nor 'get'"

    def lacks(self, wanted: Namespaces, ai: str) -> Iterator[str]:
        """What Hermes has to do without."""
        missing = {op: then for op, then in NEEDED.items() if op not in self.claims.ops}
        yield from (f"it does not grant {op!r}: {then}" for op, then in missing.items())
        named = dict.fromkeys((*wanted.read, *filter(None, (wanted.write,))))
        yield from (f"it does not open the namespace {one!r}" for one in named if not self.opens(one))
        if self.agent(ai) != "speaks":
            yield f"it does not speak for the agent {ai!r}: what the agent says is not saved"


def token_of(key: str | None) -> Token | None:
    """What the key says of itself; None if it is no capability token."""
    if not key or "." not in key:
        return None
    from souvenance.domain import capability
    from souvenance.errors import CapMalformed

    try:
        blocks, bound = capability.read_unverified(key)
    except CapMalformed:
        return None
    return Token(blocks[-1], bound)


def minting(person: str | None, ai: str, workspace: str, namespaces: Namespaces) -> str:
    """The command that mints the narrowest token with which nothing is missing."""
    opened = (*namespaces.read, *filter(None, (namespaces.write,))) or (COMMON_NAMESPACE,)
    sub, peers = (person, ai) if person else (ai, ALL)
    return mint_command(sub=[sub], peers=[peers], wid=[workspace], ops=NEEDED, namespaces=opened)
