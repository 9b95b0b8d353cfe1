"""The object store: bytes under keys, in a bucket or a folder, where lines are kept a second time.

Contract, which `contracts.object_store_contract` checks on every implementation:

- A key is one or more segments joined by '/'; a segment holds letters, digits, '=', '_', '-' and '.',
  and does not begin with '.'. Another key is a defect of the caller: `ValueError`.
- Of any number of writers that put one key if it is absent, at most one is told True.
- What was put is there, whole, when the call returns; a reader sees all of an object or none of it.
- What may pass is tried again a few times; what remains arrives as `StorageUnavailable`. Whether a
  change that failed so was made is not known: it may be made again.
- One store may be used from several threads and processes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from souvenance.domain.names import Compartment
from souvenance.patterns import pattern

MOST_LISTED = 1000
"""The most keys that one call of `keys` gives, and that one call of `delete` takes."""

_KEY = pattern(r"[A-Za-z0-9=_-][A-Za-z0-9=_.-]*(/[A-Za-z0-9=_-][A-Za-z0-9=_.-]*)*\Z")


class Objects(Protocol):
    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Store the object; False, and no change, if there is one: someone else's, or that of an earlier try.

        Raises: StorageUnavailable.
        """

    def replace(self, key: str, data: bytes) -> None:
        """Store the object, in place of any that is there. Raises: StorageUnavailable."""

    def get(self, key: str) -> bytes | None:
        """Raises: StorageUnavailable."""

    def keys(self, prefix: str = "", after: str = "") -> list[str]:
        """The next keys under a prefix (whole segments, ending with '/', or empty), up to `MOST_LISTED`.

        Called again with the last key of the page before, until there are none. Keys of one folder come
        together, in byte order; which of two folders comes first is the store's affair.
        Raises: StorageUnavailable.
        """

    def delete(self, keys: Sequence[str]) -> None:
        """Remove the objects; one that is not there is no error. Raises: StorageUnavailable."""


def checked(key: str) -> str:
    """The same key. Raises: ValueError."""
    if not _KEY.match(key):
        raise ValueError(f"{key!r} is not the key of an object")
    return key


LINE = "line"
REPLACED = "replaced"
KEY = "key"
COMPARTMENT = "room"
"""Everything of the compartment that the bucket has."""


class ChangeNote(NamedTuple):
    """Something of a compartment that must be looked at. `stamp` is that of the last note or claim."""

    compartment: Compartment
    what: str
    name: str
    stamp: str = ""
    tries: int = 0


class Replication(Protocol):
    """What the bucket does not have yet, or has and should not.

    Contract, which `contracts.replication_contract` checks on every implementation: a note says only that
    something must be looked at; what is then done is decided by what the store says at that moment. It is
    made in the transaction that changes the store. The worker that replicated it takes it away, and only if
    nothing was noted meanwhile; if another worker took it away or noted it anew, it is noted (again), so
    that the last change of a slow worker is looked at once more.
    """

    def note(self, replication: Collection[ChangeNote]) -> None:
        """Note them, each due at once, and in place of an earlier note of the same."""

    def note_everything(self, stamp: str) -> None:
        """Note every line, replacement and key of the store."""

    def due(self, now: int) -> bool:
        """Whether there is any to claim."""

    def claim(self, stamp: str, *, now: int, until: int, most: int) -> Sequence[ChangeNote]:
        """Take some that are due, by compartment, and stamp them; until then nobody else is given them."""

    def done(self, replication: ChangeNote) -> None:
        """Take the note away; if it does not bear that stamp any more, make it anew."""

    def postpone(self, replication: ChangeNote, due: int) -> None:
        """Let it be claimed from then on."""

    def waiting(self, workspace: str | None = None, owner: str | None = None) -> int:
        """How many there are, in all, of a workspace or of one owner there."""

    def mirrored(self) -> bool:
        """Whether changes of this store are noted."""

    def begin(self) -> None:
        """From now on, changes of this store are to be noted, in every process."""
