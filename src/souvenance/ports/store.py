"""The store: lines, keys, revocations, sign-ins, the directory, the work list and the audit log, under one
transaction.

Contract, which `contracts.store_contract` checks on every implementation:

- `read()` gives one consistent view; `write()` gives the only writer a view of its own changes.
  A `write()` block that ends normally is durable before it returns; one that raises changes nothing.
  With `lasting=False` it outlives the process at once, and a loss of power, or of the database's server,
  from the next durable write on; no later change can outlive an earlier one.
- Nothing crosses a workspace: every method is asked about one.
- A transaction that names a workspace touches nothing but that and what belongs to all ('*') or to none
  (clients and slips of sign-ins), and of what belongs to all changes only what is counted. A store may
  hide the rest, and may let writers of several workspaces write at once; one that names none writes alone.
- Compartments and ids compare byte for byte. Lines of a compartment are ordered by id.
- Foreign errors arrive as `StorageUnavailable` and its kind.
- After `scrub()` returns True, no byte of a deleted row is left in any file of a store that is its own files.
  A database's server keeps such bytes in its log and its free pages until it writes over them; what makes
  them unreadable there is that a forgotten compartment's keys are gone.
- One store may be used from several threads, and one set of files from several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from souvenance.domain.audit import Event, Row
from souvenance.domain.capability import Revocation
from souvenance.domain.change_feed import UNSAID, Feed, Saying
from souvenance.domain.line import LinePlace, SealedLine
from souvenance.domain.merkle import Tree
from souvenance.domain.names import ALL, Compartment
from souvenance.domain.retention import Aged, Hidden
from souvenance.domain.sign_ins import Client, SignIn, Slip

if TYPE_CHECKING:
    from souvenance.ports.directory import Directory, Work
    from souvenance.ports.index import Renewal
    from souvenance.ports.object_store import Replication


class SignIns(Protocol):
    """The clients that registered, what was granted to them, and the slips that are under way.

    Contract, which `contracts.sign_ins_contract` checks on every store. A slip is one of its kind and
    hash; `spend` succeeds once, in whatever thread or process. Secrets never come here: hashes and
    sealed caps do.
    """

    def add_client(self, client: Client) -> None: ...

    def client(self, client_id: str) -> Client | None: ...

    def use_client(self, client_id: str, now: int) -> None:
        """Note that it was let in; what was noted first stays."""

    def strangers(self) -> int:
        """How many clients registered that nobody let in."""

    def add(self, signin: SignIn) -> None: ...

    def get(self, signin_id: str) -> SignIn | None: ...

    def of_cap(self, jti: str) -> SignIn | None:
        """The sign-in whose sealed cap has that id."""

    def every(self) -> list[SignIn]:
        """All of them, in order of id."""

    def use(self, signin_id: str, now: int) -> None:
        """Note that a token was fetched now, the last time so far."""

    def reseal(self, signin_id: str, sealed: bytes) -> None: ...

    def end(self, signin_id: str) -> None:
        """Forget the sign-in and its slips."""

    def keep(self, slip: Slip) -> None:
        """Remember the slip, in place of what was known of it."""

    def slip(self, kind: str, hashed: bytes) -> Slip | None: ...

    def slips(self, kind: str) -> list[Slip]:
        """All of that kind, in order of hash."""

    def spend(self, kind: str, hashed: bytes, now: int) -> bool:
        """Mark the slip as spent; False, and no change, if it was already or is not there."""

    def drop(self, kind: str, hashed: bytes) -> None: ...

    def drop_all(self, kind: str) -> None: ...

    def count(self, kind: str) -> int:
        """How many slips of that kind there are."""

    def sweep(self, now: int) -> None:
        """Forget what is over: slips past their time, those spent long ago, ended and never fetched sign-ins,
        and clients that nobody let in for a day."""


class ChangeMarks(Struct, frozen=True):
    """Counters that change whenever what a process may have cached is stale."""

    caps: int
    compartments: int


class WrappedKey(NamedTuple):
    compartment: Compartment
    purpose: str
    epoch: int
    wrapped: bytes


class Vector(NamedTuple):
    """Where a line lies in a space of meaning, sealed. `seq` counts on from the compartment's other ones."""

    seq: int
    id: str
    sealed: bytes


class Difference(NamedTuple):
    """Something in the store's schema that is not as this version makes it."""

    text: str
    remedy: str
    """The SQL statement that removes it; empty if there is none."""
    foreign: bool = True
    """Whether it was added or altered, and so may keep copies of rows; else something is missing."""


ALL_BEFORE = "\x7f"
"""In `LineQuery.after`, a namespace behind all others: everything up to that id is passed over."""


EVERYTHING = 1 << 31
"""A limit that leaves out nothing."""


class LineQuery(Struct, frozen=True):
    """Which lines of one owner to walk, in order of (id, namespace); both bounds are exclusive."""

    workspace: str
    owner: str
    namespaces: Collection[str]
    after: tuple[str, str] | None = None
    before: str | None = None
    sessions: Collection[str] | None = None
    history: bool = False
    newest_first: bool = True
    limit: int = 100
    profile: bool = False
    """Only lines of kind 'profile'."""


class ViewQuery(Struct, frozen=True):
    """Which lines about peers to walk, newest id first; without owner or `about`, anyone's or of anyone.

    Without namespaces or sessions, of all of them.
    """

    workspace: str
    kinds: Collection[str]
    owner: str | None = None
    about: str | None = None
    sessions: Collection[str] | None = None
    limit: int | None = None
    namespaces: Collection[str] | None = None


class TurnQuery(Struct, frozen=True):
    """Which turns of a session to walk, in order; both bounds are inclusive."""

    workspace: str
    session: str
    first: int = 0
    last: int | None = None
    owner: str | None = None
    newest_first: bool = False
    offset: int = 0
    limit: int | None = None


class StoredLines(Protocol):
    """A transaction begins with every line in view. What is hidden then is read by none of these, but that
    `last_turn`, `namespaces` and `compartments` count it; and it is changed and deleted like other lines."""

    def hide(self, hidden: Callable[[], Hidden] | None) -> None:
        """Hide these lines, and none but these, for the rest of the transaction. Which they are is asked
        when lines are first read."""

    def expiring(self, now: int, workspace: str | None = None) -> str | None:
        """The workspace, or of all the one, with the line whose time was over first, if there is one. It
        does not matter what is hidden."""

    def over(self, workspace: str, now: int, most: int) -> list[SealedLine]:
        """Lines of the workspace whose time is over, hidden or not, the longest first; the first `most`."""

    def aged(self, workspace: str, aged: Aged, most: int) -> list[SealedLine]:
        """Lines of the workspace that have come to that age, hidden or not; `most` of them, in no order.
        A compartment that has lost its keys is passed over, here and in the next two."""

    def aged_counted(self, workspace: str, aged: Aged) -> int: ...

    def aged_sessions(self, workspace: str, aged: Aged, after: str, most: int) -> list[str]:
        """Sessions with turns that have come to that age, in order of name, behind that one."""

    def append(self, line: SealedLine) -> bool:
        """Store the line; False, and no change, if its compartment has that id or its session that turn."""

    def get(self, compartment: Compartment, line_id: str) -> SealedLine | None: ...

    def get_all(self, compartment: Compartment, line_ids: Collection[str]) -> list[SealedLine]:
        """Those of the lines that are there, in order of id."""

    def walk(self, span: LineQuery) -> list[SealedLine]:
        """Without `history`, neither invalidated lines nor tombstones."""

    def ids(self, span: LineQuery) -> list[str]:
        """The ids that `walk` would give."""

    def invalidate(self, compartment: Compartment, target: str, by: str) -> bool:
        """Mark the target as replaced; False, and no change, if it already is or is not there."""

    def delete(self, compartment: Compartment, line_ids: Collection[str]) -> int:
        """Remove the lines, the notes of what replaced them and what they cite; how many there were.

        What they replaced stays invalidated.
        """

    def delete_compartment(self, compartment: Compartment) -> int:
        """Remove every line of the compartment; how many there were."""

    def count(self, compartment: Compartment) -> int: ...

    def namespaces(self, workspace: str, owner: str) -> list[str]:
        """The namespaces of an owner that hold any line, in order of name."""

    def compartments(self) -> list[Compartment]:
        """Every compartment of every workspace that holds any line, in order."""

    def storage(
        self, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> list[tuple[str, str, int, int]]:
        """By owner and namespace, in that order: how many lines there are, and their sealed bytes."""

    def storage_by_kind(
        self, workspace: str, owner: str | None, namespaces: Collection[str] | None
    ) -> list[tuple[str, int, int]]:
        """The same by kind, in order of kind. Asked apart, since to sort all lines takes longer."""

    def annotate(self, compartment: Compartment, line_id: str, metadata: str) -> bool:
        """Replace the line's metadata; False if there is no such line."""

    def turns(self, span: TurnQuery) -> list[SealedLine]:
        """Lines that have a turn in the session, of any owner."""

    def last_turn(self, workspace: str, session: str) -> int:
        """The highest turn of the session; 0 if it has none."""

    def count_turns(self, workspace: str, session: str) -> int: ...

    def activity(
        self,
        workspace: str,
        namespaces: Collection[str] | None,
        since: int,
        step: int,
        owners: Collection[str] | None = None,
    ) -> list[tuple[str, int | None, int, int]]:
        """Of each owner of lines, or of these: in which step of time after `since` (-1 before it, None for
        lines that are no turns), how many, when last."""

    def newest_ids(self, workspace: str, namespaces: Collection[str] | None) -> dict[str, str]:
        """The newest line of each owner, hidden or not. Compartments without keys are passed over."""

    def observers(
        self, workspace: str, about: str, namespaces: Collection[str] | None
    ) -> list[tuple[str, int, str]]:
        """Who holds lines about that peer that were not invalidated: how many, and the newest id."""

    def views(self, span: ViewQuery) -> list[SealedLine]:
        """Lines about peers, without those that were invalidated."""

    def view(
        self, workspace: str, line_id: str, namespaces: Collection[str] | None = None
    ) -> SealedLine | None:
        """The line about a peer of that id, of any holder, in these namespaces or else in any.

        Of several, the first by owner and namespace.
        """

    def alike(self, compartment: Compartment, about: str, likeness: bytes) -> SealedLine | None:
        """The oldest line of the compartment about that peer with this likeness that was not invalidated."""

    def reinforce(self, compartment: Compartment, line_id: str, times: int) -> None:
        """Count that the line was concluded so many times more."""

    def of_session(self, workspace: str, owner: str, session: str) -> list[LinePlace]:
        """Every line of that owner in the session, of any namespace and kind, in order of (namespace, id)."""

    def cite(self, compartment: Compartment, line_id: str, sources: Collection[str]) -> None:
        """Note that the line follows from these lines of its workspace; what is noted already stays so."""

    def cited(
        self, workspace: str, line_ids: Collection[str], *, compartment: Compartment | None = None
    ) -> dict[str, list[str]]:
        """For each of the lines that cites any, the ids of those it follows from, in order of id.

        With a compartment, of its lines alone: in another compartment there may be a line of the same id.
        """

    def citing(self, workspace: str, sources: Collection[str]) -> list[tuple[Compartment, str]]:
        """The lines that follow from any of these, in order of compartment and id, each once."""

    def uncite(self, workspace: str, sources: Collection[str]) -> None:
        """Forget that anything follows from these."""


class Comparing(Protocol):
    """A store that compares vectors itself, because it keeps them in the clear."""

    def near(
        self, compartment: Compartment, space: str, question: bytes, most: int | None = None
    ) -> list[tuple[str, float]]:
        """The lines of the compartment that lie on the question's side, by their ids, and how near: by the
        inner product with its vector of little-endian 32-bit floats.

        With `most`, only so many that lie nearest; in a very large compartment an index may miss a few.
        """

    def place(self, compartment: Compartment, space: str, line_id: str) -> bytes | None:
        """A line's vector of little-endian 32-bit floats, if it has one."""


class Terms(Protocol):
    """What lines are found by. A line that leaves takes its vectors along."""

    comparing: Comparing | None
    """Who compares vectors here; None where they are sealed, and compared by who can open them."""

    def add(
        self, compartment: Compartment, line_id: str, tokens: bytes, counts: bytes, said: Saying = UNSAID
    ) -> None: ...

    def remove(self, compartment: Compartment, line_ids: Collection[str]) -> None: ...

    def delete_compartment(self, compartment: Compartment) -> None: ...

    def indexed(self, compartment: Compartment, line_ids: Collection[str] | None = None) -> set[str]:
        """Those of the lines, or without them of all lines, that have tokens or a vector."""

    def since(self, compartment: Compartment, seq: int) -> Feed:
        """The changes after `seq`, in order. A line's tokens are gone once it was removed."""

    def lie(self, compartment: Compartment, space: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Give lines, by their ids, their vectors in that space, in place of any that they had: sealed, or
        packed (`souvenance.domain.seal`) for a store that compares them.

        What is given to a line that is not indexed is dropped.
        """

    def vectors(
        self, compartment: Compartment, space: str, seq: int, most: int | None = None
    ) -> list[Vector]:
        """Those given after `seq`, in order; the first `most` of them. A store that compares them is not
        asked."""

    def lacking(self, compartment: Compartment, space: str, most: int, beyond: int = 0) -> list[str]:
        """The ids of indexed lines that have no vector in that space, in the order in which they came.

        The first `beyond` of them are passed over.
        """

    def newest_lacking(self, compartment: Compartment, space: str, most: int) -> list[str]:
        """Which lines of the compartment's newest so many changes have no vector in that space, newest
        first."""

    def spaces(self) -> dict[str, int]:
        """How many vectors there are in each space."""

    def leave(self, space: str, most: int) -> int:
        """Drop up to so many vectors of a space that is no longer used; how many went.

        To use it again, touch the compartments first.
        """


class Keys(Protocol):
    def of(self, workspace: str, owner: str, namespaces: Collection[str] | None = None) -> list[WrappedKey]:
        """The keys of an owner's compartments (of all of them without `namespaces`), by compartment, oldest
        epoch first."""

    def add(self, key: WrappedKey) -> None: ...

    def rewrap(self, key: WrappedKey) -> None:
        """Replace the wrapped form of a key that is already there."""

    def next_epoch(self, workspace: str) -> int:
        """A number never given before in this workspace."""

    def every(self) -> list[WrappedKey]: ...

    def delete_compartment(self, compartment: Compartment) -> int: ...


class Caps(Protocol):
    def revoke(self, revocation: Revocation) -> None: ...

    def revocations(self, workspace: str) -> list[Revocation]:
        """Those of the workspace and those that hold everywhere."""

    def burn(self, workspace: str, proof: str, now: int, until: int) -> bool:
        """Remember a proof's id until then; False if it was used before."""


class WantedRows(Struct, frozen=True):
    """Which rows of a log to find, by number: from `first` up to and without `before`, newest first. What is
    left out does not matter; times are milliseconds, `since` inclusive and `until` exclusive."""

    first: int
    before: int
    actor: str | None = None
    operations: Collection[str] | None = None
    allowed: bool | None = None
    """Whether the request was answered."""
    since: int | None = None
    until: int | None = None
    line: str | None = None
    """The id of a line that the row names."""


class Audit(Protocol):
    def append(self, workspace: str, event: Event) -> Row: ...

    def rows(self, workspace: str, first: int, limit: int) -> list[Row]: ...

    def find(self, workspace: str, wanted: WantedRows, limit: int) -> list[Row]: ...

    def tree(self, workspace: str) -> Tree: ...


class Transaction(Protocol):
    """Everything that belongs together, read or changed at one moment."""

    lines: StoredLines
    terms: Terms
    keys: Keys
    caps: Caps
    audit: Audit
    directory: Directory
    replication: Replication

    @property
    def work(self) -> Work: ...

    @property
    def renewal(self) -> Renewal: ...

    @property
    def signins(self) -> SignIns: ...

    def marks(self, workspace: str) -> ChangeMarks: ...

    def touch(self, workspace: str, *, caps: bool = False, compartments: bool = False) -> None:
        """Tell every process that what it cached of this kind is stale."""

    def owe_scrub(self) -> None:
        """Remember that something was deleted whose bytes must still go.

        Raises: SchemaUnknown if something in the store may keep copies of deleted rows.
        """

    def differences(self) -> list[Difference]:
        """How the store's schema differs from the one that this version makes."""

    def workspaces(self) -> Sequence[str]:
        """Every workspace that has an audit log, in order of name."""


class Store(Protocol):
    def read(self, workspace: str = ALL) -> AbstractContextManager[Transaction]: ...

    def write(self, workspace: str = ALL, *, lasting: bool = True) -> AbstractContextManager[Transaction]: ...

    def claim(self) -> AbstractContextManager[Transaction]:
        """A write, as with `lasting=False`, in which nothing is done but `work.claim`.

        Where the store can, it waits for no other writer and passes over what others are claiming.
        """

    def scrub(self) -> bool:
        """Take deleted bytes out of every file; False if another process prevents it for now."""

    def scrub_pending(self) -> bool:
        """Whether something was deleted since the last complete scrub."""

    def close(self) -> None: ...


class LateRow(Struct, frozen=True):
    """A row that the audit log of a workspace lacks yet. The id tells it from every other."""

    id: str
    workspace: str
    event: Event
    proof: str = ""  # The one that was accepted with it.


class LateRows(Protocol):
    @property
    def waiting(self) -> bool:
        """Whether there may be any, of this process or another."""

    def add(self, row: LateRow) -> bool:
        """Keep the row: it outlives the process, and a loss of power. False if its proof came with another.

        Raises: StorageUnavailable."""

    def drain(self, append: Callable[[Sequence[LateRow]], None]) -> None:
        """Hand over all rows, and drop them once that has returned. What is handed over may come again.

        Raises: StorageUnavailable, and what `append` raises.
        """
