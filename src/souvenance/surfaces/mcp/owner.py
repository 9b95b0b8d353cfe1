"""Whose memory this door works on, and how it asks the gate for them. The token says so, and no argument can.

Each call to the gate is for a task, with a token that is good for that task and that person alone.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from souvenance.agents.names import MOST_CHARS, escalated, is_plain, sanitised
from souvenance.domain.names import ALL, COMMON_NAMESPACE, DEFAULT_WORKSPACE
from souvenance.gate import messages as m
from souvenance.gate.messages import Request, WhoAmIAnswer
from souvenance.gate.operation import Operation

Task = Literal["read", "speak", "note", "erase"]
"""To look, to say something in the session, to keep something that is in none, to forget."""


Asks = Callable[[Task, Operation, Request], Awaitable[Any]]
"""Asks the gate. Raises: SouvenanceError."""


_PEER = re.compile(r"[a-zA-Z0-9_-]{1,512}\Z")


class MemoryOwner(Struct, frozen=True):
    """Whose memory it is, which agents' views of the person belong to it, and where it is written to."""

    workspace: str
    name: str
    ops: frozenset[str]
    namespace: str
    """Where what is remembered lies."""
    agents: tuple[str, ...] = ()
    """Agents whose view of the person belongs to this memory."""
    session: str | None = None
    """Where what the person says is stored; None for a cap that can't speak in any session."""

    @property
    def is_peer(self) -> bool:
        """Whether the name is one that a peer can have; other people have lines, and no conversations."""
        return _PEER.match(self.name) is not None

    @property
    def observer(self) -> str:
        """Who holds the view that facts about the person are stated in: an agent, if any, as in Hermes."""
        return self.agents[0] if self.agents else self.name


def person_of(cap: WhoAmIAnswer, *, session: str | None = None, namespace: str | None = None) -> MemoryOwner:
    """The person of a cap; `session` and `namespace` are those to write to, where an operator chose them."""
    return MemoryOwner(
        workspace=DEFAULT_WORKSPACE if cap.wid == ALL else cap.wid,
        name=cap.sub,
        ops=frozenset(cap.ops),
        namespace=namespace or _home(cap.namespaces_allowed),
        agents=tuple(agent for agent in cap.via if agent != cap.sub),
        session=session or _session(cap),
    )


def session_for(person: str) -> str:
    """The session of what a person says through this door; no two people have the same."""
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


TASKS: dict[Task, tuple[str, ...]] = {
    "read": ("get", "list", "snapshot"),
    "speak": ("put", "list"),
    "note": ("put", "list", "get"),
    "erase": ("get", "forget"),
}
"""The rights that each task takes."""


def narrower(
    person: MemoryOwner,
    task: Task,
    *,
    read: tuple[str, ...] | None = None,
    write: str | None = None,
) -> m.Attenuate:
    """What the token of a task says; `read` and `write` are the namespaces, where an operator chose some."""
    written = None if write is None else (write,)
    session = person.session if task == "speak" else None
    return m.Attenuate(
        sub=person.name,
        wid=person.workspace,
        data_class="memory",
        ops=tuple(op for op in TASKS[task] if op in person.ops),
        namespaces_allowed=read if task == "read" else written,
        peers=(person.name,),
        via=person.agents,
        sessions=None if session is None else (session,),
    )
