"""What can be taken along: the records of a workspace as an archive holds them, and the archive's manifest.

Ids and times are those of the store that gave the records. Times are milliseconds since 1970. Keys, caps,
vectors and tokens are not among them: the importing store makes its own.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta, Struct

from souvenance.decoders import settled
from souvenance.domain.line import LineFields
from souvenance.domain.names import COMMON_NAMESPACE, Name, Namespace
from souvenance.domain.retention import RetentionRule
from souvenance.domain.timestamps import Milliseconds
from souvenance.domain.ulid import LineId

FORMAT = 1
MEMORY = "memory"
"""Kind of an archive that holds a workspace's records in the open."""
BACKUP = "backup"
"""Kind of an archive that holds a whole store, sealed as it lay."""

ARCHIVE, MARKDOWN, JSON = "archive", "markdown", "json"
FORMS = (ARCHIVE, MARKDOWN, JSON)
"""What an export can be: one file for machines, pages for people, or one file for both."""

_Uid = Annotated[str, Meta(min_length=1, max_length=128)]
_Count = Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]
Digest = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]


class _Record(Struct, frozen=True, kw_only=True, tag_field="record", forbid_unknown_fields=True):
    """Base of every record; `record` says which one it is."""


class _EntryRecord(_Record, frozen=True, kw_only=True, omit_defaults=True):
    name: Name
    uid: _Uid
    created_at: Milliseconds
    metadata: dict[str, Any] = {}
    configuration: dict[str, Any] = {}


class WorkspaceRecord(_EntryRecord, frozen=True, kw_only=True, omit_defaults=True, tag="workspace"):
    """The workspace itself."""


class PeerRecord(_EntryRecord, frozen=True, kw_only=True, omit_defaults=True, tag="peer"):
    namespace: Namespace = COMMON_NAMESPACE
    former: bool = False
    """Whether it was deleted, and what it said was kept."""


class MembershipRecord(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """That a peer is in a session, from one turn on and up to another (exclusive) if it left; or that a
    session is in a scope, since a moment."""

    name: Name
    since: int
    until: int | None = None
    configuration: dict[str, Any] = {}


class SessionRecord(_EntryRecord, frozen=True, kw_only=True, omit_defaults=True, tag="session"):
    namespace: Namespace = COMMON_NAMESPACE
    turns: _Count = 0
    """The highest turn that was ever given out."""
    members: list[MembershipRecord] = []


class ScopeRecord(_EntryRecord, frozen=True, kw_only=True, omit_defaults=True, tag="scope"):
    members: list[MembershipRecord] = []


class WebhookRecord(_EntryRecord, frozen=True, kw_only=True, omit_defaults=True, tag="webhook"):
    """An address that hears of the workspace's events. The secret that signs them stays behind."""


class RuleRecord(_Record, RetentionRule, frozen=True, kw_only=True, omit_defaults=True, tag="rule"):
    """A retention rule of the workspace."""


class LineRecord(_Record, LineFields, frozen=True, kw_only=True, omit_defaults=True, tag="line"):
    owner: Name
    namespace: Namespace
    text: str
    invalidated_by: LineId | None = None
    metadata: dict[str, Any] = {}
    tokens: _Count | None = None
    times: Annotated[int, Meta(ge=1, le=(1 << 53) - 1)] = 1
    alike: bool = False
    """Whether the same statement is known again by its words."""
    cites: list[LineId] = []


Record = WorkspaceRecord | PeerRecord | SessionRecord | ScopeRecord | WebhookRecord | LineRecord | RuleRecord


class Member(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    size: _Count
    sha256: Digest


class Manifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an archive says of itself: what should be in it, byte by byte."""

    format: int
    kind: str
    made_at: str
    made_by: str
    about: dict[str, Any] = {}
    """Of a memory: the workspace, and the owner if it is one owner's alone."""
    counts: dict[str, _Count] = {}
    """How many records of each sort there are, or rows of each table."""
    members: list[Member] = []
    """In their order; the manifest itself is the last, and not among them."""


def count_name(record: Record) -> str:
    return str(type(record).__struct_config__.tag)


def encode(record: Record) -> bytes:
    """The record as a line of JSON; equal records have equal bytes."""
    return msgspec.json.encode(record, order="deterministic") + b"\n"


@cache
def _decoder() -> msgspec.json.Decoder[Record]:
    """Made when the first record is read."""
    return msgspec.json.Decoder(settled(Record))


def decode(line: bytes) -> Record:
    """Raises: msgspec.MsgspecError."""
    return _decoder().decode(line)


class KeptStore(Struct, frozen=True):
    rows: int
    lines: int
    files: tuple[str, ...]
    bytes: int


class Steps(Protocol):
    """The progress of one pass through an archive or a table."""

    def update(self, n_steps: int) -> None: ...


Watch = Callable[[str, int], AbstractContextManager[Steps]]
"""Shows a pass, which has a name and so many steps, while it is made."""
