"""What another memory holds, in the few shapes that every reader of one tells it in, and files as sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Protocol

from msgspec import Struct

from souvenance.domain.reasoning_settings import MemberReasoning


class Upload(Struct, frozen=True):
    """A file that somebody sent. It is in memory, and nowhere else."""

    name: str
    content: bytes

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0] or self.name

    @property
    def suffix(self) -> str:
        before, dot, ending = self.name.rpartition(".")
        return dot + ending if before else ""


PROVENANCE = "imported"
"""The key of metadata under which it stands where something was imported from."""

OWN_WORDS = "own_words"
"""The key under that which is true if the importing user vouched for it as its speaker's own words."""


class ImportedWorkspace(Struct, frozen=True):
    """The workspace that all records after this one belong to, until the next."""

    name: str
    metadata: Mapping[str, Any] = {}
    configuration: Mapping[str, Any] = {}


class ImportedPeer(Struct, frozen=True):
    """Somebody who speaks, or whom something is known of; told before anything of theirs is. Told again, it
    says nothing new; so it is with sessions."""

    name: str
    id: str
    metadata: Mapping[str, Any] = {}
    observed: bool | None = None
    """Whether anything is to be concluded of the peer; None if nothing is said of that."""


class ImportedSession(Struct, frozen=True):
    """A conversation; told before its messages are."""

    name: str
    id: str
    members: Mapping[str, MemberReasoning]
    metadata: Mapping[str, Any] = {}
    configuration: Mapping[str, Any] = {}
    origin: Mapping[str, Any] = {}


class ImportedMessage(Struct, frozen=True):
    session: str
    peer: str
    text: str
    id: str
    """What it is known again by in its session, whenever the same source is read."""
    place: str
    """Where in the source it stands, for people."""
    at: datetime | None = None
    metadata: Mapping[str, Any] = {}
    origin: Mapping[str, Any] = {}
    """What else is to be remembered of where it comes from."""


class ImportedStatement(Struct, frozen=True):
    """Something that the other memory holds to be true of a peer."""

    observer: str
    observed: str
    text: str
    id: str
    place: str
    at: datetime | None = None
    session: str | None = None
    metadata: Mapping[str, Any] = {}
    origin: Mapping[str, Any] = {}


class ImportedCard(Struct, frozen=True):
    observer: str
    observed: str
    entries: tuple[str, ...]


class Skipped(Struct, frozen=True):
    """Something that is left out: on purpose, or because nobody here knows what it is."""

    why: str
    place: str
    """Where in the source it stands and, if need be, what it is called there."""


Record = (
    ImportedWorkspace
    | ImportedPeer
    | ImportedSession
    | ImportedMessage
    | ImportedStatement
    | ImportedCard
    | Skipped
)


class ImportReader(Protocol):
    """Another memory, or what it left behind."""

    @property
    def kind(self) -> str:
        """What it is: honcho, mem0, chatgpt, jsonl or markdown."""

    @property
    def again(self) -> bool:
        """Whether all of it can be looked through before anything is written."""

    def records(self) -> Iterator[Record]:
        """All that it holds, from its beginning. Raises: ImportUnreadable, Unavailable."""


class Wanted(Struct, frozen=True):
    """How a source is to be read."""

    peer: str
    """Whose words and notes they are, where the source does not name anybody."""
    renamed: bool = False
    """Whether the one person that the source tells of is to be called `peer`, whatever the name there."""
    workspace: str | None = None
    """The workspace of the source, where it has several; None for all of them."""
    key: str | None = None
    """What the source is opened with."""
