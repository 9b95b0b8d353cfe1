"""Whose memory this door works on: the token says so, and no argument can."""

from __future__ import annotations

import re

from msgspec import Struct

from souvenance.agents.names import MOST_CHARS, escalated, is_plain, sanitised
from souvenance.domain.names import ALL, COMMON_NAMESPACE, DEFAULT_WORKSPACE
from souvenance.gate.messages import WhoAmIAnswer

_PEER = re.compile(r"[a-zA-Z0-9_-]{1,512}\Z")


class MemoryOwner(Struct, frozen=True):
    """Whose memory it is, through whose eyes it is looked at too, and where it is written to."""

    workspace: str
    name: str
    ops: frozenset[str]
    namespace: str
    """Where what is remembered lies."""
    eyes: tuple[str, ...] = ()
    """Agents whose view of the person belongs to this memory."""
    session: str | None = None
    """Where what the person tells is said; None for a cap that can't speak in any."""

    @property
    def is_peer(self) -> bool:
        """Whether the name is one that a peer can have; other people have lines, and no conversations."""
        return _PEER.match(self.name) is not None

    @property
    def observer(self) -> str:
        """Who holds the view that facts about the person are stated in: an agent, if any, as in Hermes."""
        return self.eyes[0] if self.eyes else self.name


def person_of(cap: WhoAmIAnswer, *, session: str | None = None, namespace: str | None = None) -> MemoryOwner:
    """The person of a cap; `session` and `namespace` are those to write to, where an operator chose them."""
    return MemoryOwner(
        workspace=DEFAULT_WORKSPACE if cap.wid == ALL else cap.wid,
        name=cap.sub,
        ops=frozenset(cap.ops),
        namespace=namespace or _home(cap.namespaces_allowed),
        eyes=tuple(eye for eye in cap.via if eye != cap.sub),
        session=session or _session(cap),
    )


def session_for(person: str) -> str:
    """The session of what a person tells through this door; no two people have the same."""
    name = f"mcp-{person}"
    return name if is_plain(name) else escalated(sanitised(name)[:MOST_CHARS], frozenset(), name)


def _home(namespaces: list[str]) -> str:
    """The common namespace if the cap opens it, as everywhere; else the first that it does."""
    opens_it = {ALL, COMMON_NAMESPACE}.intersection(namespaces)
    return COMMON_NAMESPACE if opens_it else min(namespaces, default=COMMON_NAMESPACE)


def _session(cap: WhoAmIAnswer) -> str | None:
    if cap.sessions is not None:
        return min(cap.sessions, default=None)
    return session_for(cap.sub) if ALL in cap.peers else None
