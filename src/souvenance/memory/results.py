"""What the methods of a memory return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from souvenance.domain.line import GivenFields, shared_fields
from souvenance.gate import messages as m
from souvenance.gate.conversation.conclusions import ConclusionAnswer
from souvenance.gate.conversation.context import PeerContextAnswer, SessionContextAnswer
from souvenance.gate.conversation.messages import MessageAnswer


class Line(GivenFields, frozen=True, kw_only=True):
    """A line of memory."""

    id: str
    text: str
    """Empty if the token may list lines and not read them."""
    namespace: str
    kind: str
    created_at: datetime
    occurred_at: datetime | None = None
    """When it happened, if that is not when it was stored."""
    score: float | None = None
    """How well it answers the question. `None` if there was no question."""
    matched: bool = True
    """False for a line that `get` returned only because it is new."""
    trust: str = ""
    """`said`, `quoted` or `suspect`: whose word it is, and whether it reads like an order to a model."""
    metadata: Mapping[str, Any] | None = None
    """Only `line` returns it."""
    replaces: str | None = None
    """The id of the line that this one corrects."""
    replaced_by: str | None = None
    """The id of the line that corrects this one."""

    @classmethod
    def of(cls, found: m.RecalledLine | m.LineAnswer | m.ListedLine) -> Line:
        return cls(
            **shared_fields(GivenFields, found),
            id=found.id,
            text=found.text or "",
            namespace=found.namespace,
            kind=found.kind,
            created_at=found.created_at,
            occurred_at=found.occurred_at,
            score=getattr(found, "score", None),
            matched=getattr(found, "matched", True),
            trust=found.trust,
            metadata=getattr(found, "metadata", None),
            replaces=getattr(found, "supersedes", None),
            replaced_by=getattr(found, "invalidated_by", None),
        )


class Forgotten(Struct, frozen=True, kw_only=True):
    """What `forget` erased, or would erase."""

    lines: int
    namespaces: Sequence[str]
    scrubbed: bool
    """Whether the bytes are gone from the disk. If not, they go once no other process uses the store."""
    receipt: str
    """Signed proof of what was erased. `souvenance audit verify --receipt` checks it. Empty for a dry run."""

    @classmethod
    def of(cls, found: m.ForgetAnswer) -> Forgotten:
        return cls(
            lines=found.lines,
            namespaces=found.namespaces,
            scrubbed=found.scrubbed,
            receipt=found.receipt,
        )


class Message(Struct, frozen=True, kw_only=True):
    """A message of a session."""

    id: str
    text: str
    peer: str
    """Who said it."""
    session: str
    created_at: datetime
    metadata: Mapping[str, Any]

    @classmethod
    def of(cls, found: MessageAnswer) -> Message:
        return cls(
            id=found.id,
            text=found.content,
            peer=found.peer_id,
            session=found.session_id,
            created_at=found.created_at,
            metadata=found.metadata,
        )


class Conclusion(Struct, frozen=True, kw_only=True):
    """A fact about a peer."""

    id: str
    text: str
    observer: str
    """Who knows it."""
    about: str
    """The peer that it is about."""
    level: str
    """How it was found: `explicit` if it was said, `deductive` or `inductive` if it was reasoned."""
    session: str | None
    created_at: datetime

    @classmethod
    def of(cls, found: ConclusionAnswer) -> Conclusion:
        return cls(
            id=found.id,
            text=found.content,
            observer=found.observer_id,
            about=found.observed_id,
            level=found.level,
            session=found.session_id,
            created_at=found.created_at,
        )


class Context(Struct, frozen=True, kw_only=True):
    """What a model should be shown before it answers."""

    representation: str
    """What is known of the peer, as text for a prompt."""
    card: Sequence[str]
    """The most important facts about the peer."""
    summary: str = ""
    """The session so far, before `messages`. Empty for a short session."""
    messages: Sequence[Message] = ()
    """The newest messages of the session, oldest first."""

    @classmethod
    def of(cls, found: SessionContextAnswer | PeerContextAnswer) -> Context:
        if isinstance(found, PeerContextAnswer):
            return cls(representation=found.representation or "", card=found.peer_card or ())
        return cls(
            representation=found.peer_representation or "",
            card=found.peer_card or (),
            summary="" if found.summary is None else found.summary.content,
            messages=[Message.of(one) for one in found.messages],
        )
