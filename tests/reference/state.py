"""What the reference store remembers."""

from __future__ import annotations

from dataclasses import dataclass, field

from souvenance.domain.audit import Row
from souvenance.domain.capability import Revocation, Revoker
from souvenance.domain.change_feed import TermsChange
from souvenance.domain.directory import Entry, FailedJob, Membership, Task
from souvenance.domain.line import SealedLine
from souvenance.domain.names import Compartment
from souvenance.domain.sign_ins import Client, SignIn, Slip
from souvenance.ports.directory import Batch
from souvenance.ports.object_store import ChangeNote
from souvenance.ports.store import Vector, WrappedKey


@dataclass
class State:
    """Everything in the store, in plain collections whose values never change."""

    lines: dict[Compartment, dict[str, SealedLine]] = field(default_factory=dict)
    citations: set[tuple[Compartment, str, str]] = field(default_factory=set)
    terms: dict[Compartment, list[TermsChange]] = field(default_factory=dict)
    vectors: dict[tuple[Compartment, str, str], Vector] = field(default_factory=dict)
    analysis: set[str] = field(default_factory=set)
    renewals: dict[Compartment, int] = field(default_factory=dict)
    keys: dict[tuple[Compartment, str, int], WrappedKey] = field(default_factory=dict)
    revocations: dict[tuple[str, str, str, Revoker], Revocation] = field(default_factory=dict)
    burned: dict[tuple[str, str], int] = field(default_factory=dict)
    audit: dict[str, list[Row]] = field(default_factory=dict)
    counters: dict[tuple[str, str], int] = field(default_factory=dict)
    entries: dict[tuple[str, str, str], Entry] = field(default_factory=dict)
    memberships: dict[tuple[str, str, str, str, int], Membership] = field(default_factory=dict)
    batches: dict[tuple[str, str, bytes], Batch] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    failed_jobs: dict[tuple[str, int], FailedJob] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)
    signins: dict[str, SignIn] = field(default_factory=dict)
    slips: dict[tuple[str, bytes], Slip] = field(default_factory=dict)
    replication: dict[tuple[Compartment, str, str], tuple[ChangeNote, int]] = field(default_factory=dict)
    worked: dict[tuple[str, str, str | None, str | None, str], int] = field(default_factory=dict)

    def increase(self, workspace: str, name: str) -> int:
        value = self.counters.get((workspace, name), 0) + 1
        self.counters[workspace, name] = value
        return value

    def copied(self) -> State:
        copied = State(**{name: part.copy() for name, part in vars(self).items()})
        copied.lines = {compartment: dict(lines) for compartment, lines in self.lines.items()}
        copied.terms = {compartment: list(changes) for compartment, changes in self.terms.items()}
        copied.audit = {workspace: list(rows) for workspace, rows in self.audit.items()}
        return copied
