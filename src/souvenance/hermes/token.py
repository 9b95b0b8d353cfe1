"""What the capability token of a profile grants: read from the token itself, so that no server is asked."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from souvenance.agents.conversation_scope import Agent, Namespaces
from souvenance.domain.names import ALL, COMMON_NAMESPACE

NEEDED = {
    "put": "nothing is saved",
    "get": "nothing is recalled",
    "forget": "what you undo or delete stays in memory",
}
"""The rights that memory in Hermes uses, and what is missing without each."""


class Token(Struct, frozen=True):
    actor: str
    workspace: str
    data_class: str
    ops: frozenset[str]
    namespaces: tuple[str, ...]
    peers: tuple[str, ...]
    via: tuple[str, ...]
    limited: bool
    """Whether it is limited to sessions."""
    bound: bool
    """Whether it needs a proof by a key that Hermes does not have."""

    @property
    def everybody(self) -> bool:
        return ALL in self.peers

    def reaches(self, peer: str) -> bool:
        return self.everybody or peer in (self.actor, *self.peers)

    def agent(self, peer: str) -> Agent:
        """What the agent of that name may do with it."""
        return "speaks" if self.reaches(peer) else "looks" if peer in self.via else "absent"

    def opens(self, namespace: str) -> bool:
        return ALL in self.namespaces or namespace in self.namespaces

    def people(self, person: str | None, ai: str) -> tuple[str | None, str]:
        """The person and the agent that it speaks for: those given, if it names them, or else its own."""
        if self.everybody:
            return person, ai
        named = dict.fromkeys((self.actor, *self.peers, *self.via))
        person = person or next((one for one in named if one != ai), None)
        others = [one for one in named if one != person]
        return person, others[0] if ai not in named and len(others) == 1 else ai

    def usual_namespaces(self) -> Namespaces:
        """All that it opens, and the one to write to: the common one, or else the first."""
        if self.opens(COMMON_NAMESPACE) and len(self.namespaces) == 1:
            return Namespaces()
        write = COMMON_NAMESPACE if self.opens(COMMON_NAMESPACE) else next(iter(self.namespaces), None)
        return Namespaces(self.namespaces, write)

    def granted(self, wanted: Namespaces) -> Namespaces:
        """Of the namespaces that are wanted, those that it may read and write."""
        read = tuple(filter(self.opens, wanted.read)) if "get" in self.ops else ()
        write = wanted.write if wanted.write and self.opens(wanted.write) and "put" in self.ops else None
        return Namespaces(read, write)

    def unfit(self, workspace: str, person: str | None) -> Iterator[str]:
        """Why Hermes can't have any memory with it."""
        if self.data_class not in ("memory", ALL):
            yield f"it is of the data class {self.data_class!r}, not 'memory'"
        if self.bound:
            yield "it is bound to a key, and Hermes has no such key"
        if self.limited:
            yield "it is limited to sessions"
        if self.workspace not in (workspace, ALL):
            yield f"it is of the workspace {self.workspace!r}, not {workspace!r}"
        if person is not None and not self.reaches(person):
            yield f"it does not speak for {person!r}"
        if not self.namespaces:
            yield "it opens no namespace"
        if not self.ops & {"put", "get"}:
            yield "it grants neither 'put' nor 'get'"

    def lacks(self, wanted: Namespaces, ai: str) -> Iterator[str]:
        """What Hermes has to do without."""
        yield from (f"it does not grant {op!r}: {then}" for op, then in NEEDED.items() if op not in self.ops)
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
    last = blocks[-1]
    return Token(
        actor=last.sub,
        workspace=last.wid,
        data_class=last.data_class,
        ops=frozenset(last.ops),
        namespaces=last.namespaces_allowed,
        peers=last.peers,
        via=last.via,
        limited=last.sessions is not None,
        bound=bound,
    )


def minting(person: str | None, ai: str, workspace: str, namespaces: Namespaces) -> str:
    """The command that mints the narrowest token with which nothing is missing."""
    opened = (
        ",".join(dict.fromkeys((*namespaces.read, *filter(None, (namespaces.write,))))) or COMMON_NAMESPACE
    )
    who = f"--sub {person} --peers {ai}" if person else f"--sub {ai} --peers '*'"
    what = f"--ops {','.join(NEEDED)} --namespaces {opened} --ttl 90d"
    return f"souvenance cap mint {who} --wid {workspace} {what}"
