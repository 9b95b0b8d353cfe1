"""The line: one appended record, and the only thing that is ever stored as content."""

from __future__ import annotations

from msgspec import Struct

from souvenance.domain import content, names, ulid
from souvenance.domain.limits import Limits
from souvenance.domain.names import Compartment
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

_MAX_TIME_MS = 253_402_300_799_999
_MIN_TIME_MS = -62_135_596_800_000


class LinePlace(Struct, frozen=True, gc=False):
    """Everything about a line but what it says. The seal binds all of it except the cap.

    `turn` is the line's number in its session, `about` the peer that it says something about.
    """

    compartment: Compartment
    id: str
    kind: str
    session: str | None
    created_at: int
    occurred_at: int | None
    supersedes: str | None
    cap: str
    turn: int | None = None
    about: str | None = None

    @property
    def of_another(self) -> bool:
        """Whether it says something about another than its owner, and so rests on what another said."""
        return self.about not in (None, self.compartment.owner)


class Line(LinePlace, frozen=True, kw_only=True):
    """A line as its owner may read it."""

    text: str
    metadata: content.Metadata

    def says_the_same_as(self, other: Line) -> bool:
        """Whether a retry under this id carries what was stored the first time."""
        return (self.kind, self.text, self.session, self.occurred_at, self.supersedes) == (
            other.kind,
            other.text,
            other.session,
            other.occurred_at,
            other.supersedes,
        )


class SealedLine(LinePlace, frozen=True, kw_only=True):
    """A line as the store keeps it: its place in the open, its text sealed.

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


def check_line(line: Line, *, chosen_id: bool, now: int, limits: Limits) -> Line:
    """The same line, if the domain admits it.

    Raises: InvalidInput, LineTooLong.
    """
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
    if line.occurred_at is not None and not _MIN_TIME_MS <= line.occurred_at <= _MAX_TIME_MS:
        raise InvalidInput("occurred_at lies outside the years 1 to 9999")
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
