"""What the methods of a memory return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from msgspec import Struct

from souvenance.domain import frame
from souvenance.domain.line import GivenFields
from souvenance.gate import messages as m
from souvenance.gate.conversation.context import PeerContextAnswer, SessionContextAnswer

_T = TypeVar("_T", bound=Struct)
_NAMES = {
    "text": "content",
    "peer": "peer_id",
    "session": "session_id",
    "observer": "observer_id",
    "about": "observed_id",
    "replaces": "supersedes",
    "replaced_by": "invalidated_by",
}
"""What a field is called in an answer that has none of its own name."""


def made(kind: type[_T], found: m.Answer) -> _T:
    """Of an answer. A field that it has nothing for has its default."""
    given = {name: name if hasattr(found, name) else _NAMES.get(name, "") for name in kind.__struct_fields__}
    values = {name: getattr(found, named, None) for name, named in given.items()}
    return kind(**{name: value for name, value in values.items() if value is not None})


def framed(*texts: str) -> str:
    """Texts of a memory as one block for a prompt, which says that they are quoted and hold no instructions.

    Each of their lines is on a line behind a dash, and can't end the block or pose as a speaker. What nobody
    sees in them is dropped. It is empty if they are.
    """
    lines = (frame.defuse(line) for text in texts for line in text.splitlines())
    return frame.framed("\n".join(f"- {line}" for line in lines if line))


class Line(GivenFields, frozen=True, kw_only=True):
    """A line of memory."""

    id: str
    text: str = ""
    """Empty if the token may list lines and not read them."""
    namespace: str
    kind: str
    created_at: datetime
    occurred_at: datetime | None = None
    """When it happened, if that is not when it was stored."""
    expires_at: datetime | None = None
    """When it is over: from then on nobody is shown it, and it is removed."""
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


class Forgotten(Struct, frozen=True, kw_only=True):
    """What `forget` erased, or would erase."""

    lines: int
    namespaces: Sequence[str]
    scrubbed: bool
    """Whether the bytes are gone from the disk. If not, they go once no other process uses the store."""
    receipt: str
    """Signed proof of what was erased. `souvenance audit verify --receipt` checks it. Empty for a dry run."""


class Message(Struct, frozen=True, kw_only=True):
    """A message of a session."""

    id: str
    text: str
    peer: str
    """Who said it."""
    session: str
    created_at: datetime
    metadata: Mapping[str, Any]


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
    session: str | None = None
    created_at: datetime


class Context(Struct, frozen=True, kw_only=True):
    """What a model needs before it answers, as it was said. For a prompt, pass it to `souvenance.framed`."""

    representation: str
    """What is known of the peer."""
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
            messages=[made(Message, one) for one in found.messages],
        )
