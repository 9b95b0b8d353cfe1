"""The line: one appended record, and the only thing that is ever stored as content."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any, TypeVar, cast

from msgspec import Meta, Struct

from souvenance.domain import content, names, ulid
from souvenance.domain.limits import Limits
from souvenance.domain.names import Compartment, Kind, Name
from souvenance.domain.timestamps import FIRST_MS, LAST_MS, Milliseconds
from souvenance.domain.ulid import LineId
from souvenance.errors import InvalidInput, LineTooLong

TOMBSTONE = "tombstone"
"""Kind of a line that only invalidates another and says nothing itself."""

PROFILE = "profile"
"""Kind of a line that a snapshot carries first."""

MESSAGE = "message"
"""Kind of a line that was said in a session; it has a turn there, and may be empty."""

DOCUMENT = "document"
"""Kind of a message that is part of a file: its peer carried it, and did not say it."""

RELAYED = "relayed"
"""Kind of a message that came with metadata that names another source: a tool, a page, an import."""

SUMMARY = "summary"
CARD = "card"
DIGESTS = frozenset([SUMMARY, CARD])
"""What is made of other lines for a purpose of its own, and is no memory by itself."""
CONCLUSIONS = {
    "explicit": "conclusion",
    "deductive": "deduction",
    "inductive": "induction",
    "contradiction": "contradiction",
}
"""The kind of a line that says something about a peer, by how it was reached."""

STATEMENT = "statement"
"""Kind of an explicit conclusion that is part of a message, word for word. Where messages are quoted it says
nothing more."""

_Turn = Annotated[int, Meta(ge=1, le=(1 << 53) - 1)]


_Kind = TypeVar("_Kind", bound=Struct)


class GivenFields(Struct, frozen=True, kw_only=True, gc=False):
    """What the writer of a line may say of it. `put` takes these fields, and every answer has them.

    A field that you add here or to `LineFields` is stored in the column of its name, bound by the seal,
    copied to the object store, exported and imported. It needs a default, and a migration for the column.
    """

    session: Name | None = None
    """The conversation that it was put in."""


class LineFields(GivenFields, frozen=True, kw_only=True, gc=False):
    """What is stored of a line in the open. Times are milliseconds.

    From `expires_at` on nobody is shown the line, and a worker removes it. `turn` is its number in its
    session, `about` the peer that it says something about.
    """

    id: LineId
    kind: Kind
    created_at: Milliseconds
    cap: Annotated[str, Meta(max_length=128)]
    """The id of the cap that put it: where it came from, not a right."""
    occurred_at: Milliseconds | None = None
    expires_at: Milliseconds | None = None
    supersedes: LineId | None = None
    turn: _Turn | None = None
    about: Name | None = None


class LinePlace(LineFields, frozen=True, kw_only=True, gc=False):
    """Everything about a line but what it says. The seal binds all of it except the cap."""

    compartment: Compartment

    @property
    def of_another(self) -> bool:
        """Whether it says something about another than its owner, and so rests on what another said."""
        return self.about not in (None, self.compartment.owner)


place_of = attrgetter(*LinePlace.__struct_fields__)
"""The values of the fields of a line's place."""


class OpenLine(LinePlace, frozen=True, kw_only=True):
    text: str
    metadata: content.Metadata

    def says_the_same_as(self, other: OpenLine) -> bool:
        """Whether a retry under this id carries what was stored the first time."""
        return all(getattr(self, name) == getattr(other, name) for name in _SAID)


_SAID = (*GivenFields.__struct_fields__, "kind", "text", "occurred_at", "expires_at", "supersedes")


class SealedLine(LinePlace, frozen=True, kw_only=True):
    """A line as the store keeps it: its place in the open, its text sealed. A row has these fields.

    `tokens` is the text's length in a model's tokens, `likeness` a keyed hash by which the same
    conclusion is known again, `times` how often it was concluded.
    """

    metadata: str
    epoch: int
    sealed: bytes
    tokens: int | None = None
    likeness: bytes | None = None
    times: int = 1
    invalidated_by: str | None = None


def shared_fields(kind: type[Struct], line: Struct) -> dict[str, Any]:
    """The fields of that kind, as this line has them: what another one is made of."""
    return {name: getattr(line, name) for name in kind.__struct_fields__}


def maker(kind: type[_Kind], *names: str) -> Callable[..., _Kind]:
    """A function that makes a struct of the values of these fields, in this order. It is ten times as quick
    as `shared_fields`, which counts where thousands of lines are read."""
    named = ", ".join(f"{name}={name}" for name in names)
    return cast(Callable[..., _Kind], eval(f"lambda {', '.join(names)}: _kind({named})", {"_kind": kind}))  # noqa: S307 - names of fields


def check_line(line: OpenLine, *, chosen_id: bool, now: int, limits: Limits) -> OpenLine:
    """The same line, if the domain admits it. Raises: InvalidInput, LineTooLong."""
    names.namespace(line.compartment.namespace)
    names.kind(line.kind)
    ulid.check(line.id)
    if chosen_id:
        _check_id_time(line.id, now, limits)
    if line.kind != TOMBSTONE:
        content.check_text(line.text)
    elif line.text or line.supersedes is None:
        raise InvalidInput(f"a line of kind {TOMBSTONE!r} says nothing and replaces another")
    if len(line.text.encode()) > limits.line_bytes:
        raise LineTooLong(f"the text is longer than {limits.line_bytes} bytes")
    if line.session is not None:
        names.name(line.session, "session")
    if line.occurred_at is not None and not FIRST_MS <= line.occurred_at <= LAST_MS:
        raise InvalidInput("occurred_at lies outside the years 1 to 9999")
    if line.expires_at is not None and not now < line.expires_at <= LAST_MS:
        raise InvalidInput(
            "expires_at is not in the future, or after the year 9999",
            hint="Check the time, and this machine's clock.",
        )
    return line


def _check_id_time(line_id: str, now: int, limits: Limits) -> None:
    at = ulid.milliseconds(line_id)
    if at > now + limits.ulid_future_ms:
        raise InvalidInput("id carries a time in the future", hint="Check this machine's clock.")
    if at < now - limits.ulid_past_ms:
        raise InvalidInput(
            "id carries a time too far in the past",
            hint="Take a fresh id, and say when it happened with occurred_at.",
        )
