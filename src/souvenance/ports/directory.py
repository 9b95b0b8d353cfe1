"""The parts of a transaction that a conversation needs beside its lines: directory and work list.

Contract, which `contracts.directory_contract` and `contracts.jobs_contract` check on
every implementation: nothing crosses a workspace; names compare byte for byte; every change is
part of the transaction.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from msgspec import Struct

from souvenance.domain.directory import Entry, FailedJob, Job, Membership, Tally, Task


class Batch(Struct, frozen=True):
    """Messages that were added together, so that a retry can be told from a second saying."""

    workspace: str
    session: str
    digest: bytes
    at: int
    first: int
    last: int


class Directory(Protocol):
    def entry(self, workspace: str, kind: str, name: str) -> Entry | None: ...

    def named(self, workspace: str, kind: str, names: Collection[str]) -> list[Entry]:
        """Those of the entries that have one of the names, in order of name."""

    def add(self, entry: Entry) -> bool:
        """Enter it; False, and no change, if the name is taken in that workspace and kind."""

    def update(self, entry: Entry) -> None:
        """Replace metadata and configuration of the entry of that name; nothing else of it changes."""

    def remove(self, workspace: str, kind: str, name: str) -> bool: ...

    def entries(
        self,
        workspace: str | None,
        kind: str,
        *,
        namespaces: Collection[str] | None = None,
        newest_first: bool = False,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Entry]:
        """In order of uid. Workspace None: of all workspaces, which only makes sense for workspaces."""

    def count(self, workspace: str | None, kind: str, namespaces: Collection[str] | None = None) -> int: ...

    def namespaces(self, workspace: str, kind: str) -> list[str]:
        """Those of the entries of that kind, in order of name."""

    def add_membership(self, membership: Membership) -> None:
        """Add it, or replace `until` and `configuration` of the one with its ends, kind and `since`."""

    def memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> list[Membership]:
        """The memberships with these ends, in order of (since, holder, held)."""

    def sessions_with(
        self, workspace: str, peers: Collection[str], namespaces: Collection[str] | None = None
    ) -> list[str]:
        """The sessions that any of these peers is in now, in order of name: of these namespaces, or any."""

    def newest_sessions(
        self, workspace: str, peer: str, namespaces: Collection[str] | None, offset: int, limit: int
    ) -> list[Entry]:
        """A page of the sessions that the peer is in now, of these namespaces or any, newest first."""

    def remove_memberships(
        self, workspace: str, kind: str, *, holder: str | None = None, held: str | None = None
    ) -> int:
        """Remove the memberships with these ends, as if they had never been; how many there were."""

    def batch(self, workspace: str, session: str, digest: bytes) -> Batch | None: ...

    def keep_batch(self, batch: Batch, forget_before: int) -> None:
        """Keep the batch in place of an earlier one with its digest, and drop the session's older ones."""

    def drop_batches(self, workspace: str, session: str) -> None: ...

    def remove_workspace(self, workspace: str) -> None:
        """Every entry, membership and batch of the workspace."""


class Work(Protocol):
    def add(self, job: Job, due: int) -> None: ...

    def claim(self, holder: str, *, now: int, until: int, most: int, after: str = "") -> list[Task]:
        """Take the job due longest that nobody holds (or held too long), and those of its kind behind it,
        of the next workspace behind `after` that has any; behind the last one comes the first.

        All are of one workspace, session and kind, in order. A job of a session waits for every earlier
        one of that session, unless it goes along with one of its kind; jobs without a session wait for
        none, and come one at a time. The tasks come back with `holder` and `until` set and `attempts`
        increased.
        """

    def finish(self, task: Task) -> bool:
        """Take the task off the list and count its units as done; False, and no change, if it is not
        there or not held by `task.holder` any more."""

    def keep_failed(self, task: Task, reason: str, at: int) -> None:
        """Keep a task that was finished without success, to be shown and tried again.

        Of each workspace the newest `MOST_FAILED` are kept.
        """

    def failed(self, workspace: str, limit: int) -> list[FailedJob]:
        """The jobs that were given up, the newest first."""

    def retry(self, workspace: str, seq: int, due: int) -> bool:
        """Put a job that was given up on the list again, and take its units back; False if there is none."""

    def postpone(self, task: Task, due: int) -> bool:
        """Put the task back, not to be claimed before `due`; False as `finish`."""

    def defer(self, workspace: str, session: str | None, kind: str, due: int) -> int | None:
        """Have the jobs of that kind of the session, or of every session, fall due then, sooner or later,
        as far as nobody holds or tried them; the first turn among them, None if there are none."""

    def is_due(self, now: int) -> bool:
        """Whether `claim` may find something; that it does not is rare."""

    def next_due(self) -> int | None:
        """When the earliest job or lease falls due: the soonest that `claim` may find something."""

    def waiting(self, now: int) -> tuple[int, int | None]:
        """How many jobs are due and held by nobody, and when the first of them fell due."""

    def left(self, workspace: str, session: str | None, kinds: Collection[str], namespace: str) -> bool:
        """Whether there is a job of these kinds for the session, or for None, there, held by someone or
        not."""

    def owed(self, workspace: str, kinds: Collection[str], *, after: int = 0, limit: int) -> list[Task]:
        """The first jobs of these kinds behind that number, in their order, held or not."""

    def tallies(
        self, workspace: str, kinds: Collection[str], now: int, namespaces: Collection[str] | None = None
    ) -> list[Tally]:
        """By session and peer, in that order, of these namespaces or else of all. A lease that ran out is
        pending."""

    def drop(
        self, workspace: str, session: str | None = None, namespaces: Collection[str] | None = None
    ) -> None:
        """Forget the work, and what was done, of a session or of the whole workspace, as far as it lies in
        these namespaces, or else wherever it lies."""
