"""What the contracts of the store play with: compartments, lines, and ways to fill, read and compare
books."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from souvenance.domain import audit, ulid
from souvenance.domain.audit import Event
from souvenance.domain.capability import Revocation
from souvenance.domain.change_feed import Saying, TermsChange
from souvenance.domain.directory import DERIVE, MEMBER, PEER, Entry, Job, Membership
from souvenance.domain.line import SealedLine
from souvenance.domain.names import ALL, Compartment
from souvenance.ports.directory import Batch
from souvenance.ports.store import (
    EVERYTHING,
    LineQuery,
    Store,
    Transaction,
    TurnQuery,
    Vector,
    ViewQuery,
    WrappedKey,
)

WORKSPACE = "acme"
OWNER = "ann"
COMPARTMENT = Compartment(WORKSPACE, OWNER, "work")
TRAVEL = COMPARTMENT._replace(namespace="travel")
ELSEWHERE = (
    COMPARTMENT._replace(workspace="other"),
    COMPARTMENT._replace(owner="bob"),
    TRAVEL,
)
"""Rooms that differ from COMPARTMENT in one coordinate."""

SPACE = "space"
IDS = [ulid.compose(ms, bytes(ulid.ENTROPY_BYTES)) for ms in range(8)]
"""Ids in order, the oldest first."""

TWINS = ("Ann", "ann ", "a\N{LATIN SMALL LETTER N WITH TILDE}n", "an\u0303n", "a" * 512, "a" * 511 + "b")
"""Names that some databases would take for the same as another."""

THREADS = 8
_WRITES_PER_THREAD = 12
PATIENCE_SECONDS = 30


class GiveUp(Exception):
    """Raised inside a write to have it rolled back."""


def sealed_line(line_id: str = IDS[0], compartment: Compartment = COMPARTMENT, **changes: Any) -> SealedLine:
    """A line as a store keeps it. What is sealed does not matter here."""
    plain = SealedLine(
        compartment=compartment,
        id=line_id,
        kind="memory",
        session=None,
        created_at=1,
        occurred_at=None,
        supersedes=None,
        cap="cap",
        metadata="{}",
        epoch=1,
        sealed=b"sealed " + line_id.encode(),
    )
    return replace(plain, **changes)


def span(*namespaces: str, **changes: Any) -> LineQuery:
    """All of one owner's lines in those namespaces, oldest first, unless told otherwise."""
    return replace(
        LineQuery(WORKSPACE, OWNER, namespaces or (COMPARTMENT.namespace,), newest_first=False), **changes
    )


def event(detail: str = "") -> Event:
    return Event(1, OWNER, "cap", "put", audit.OK, (COMPARTMENT.namespace,), (IDS[0],), detail)


def append(store: Store, *lines: SealedLine) -> None:
    with store.write() as tx:
        for line in lines:
            assert tx.lines.append(line)


def walked(store: Store, asked: LineQuery) -> list[tuple[str, str]]:
    with store.read() as tx:
        return [(line.id, line.compartment.namespace) for line in tx.lines.walk(asked)]


def changes_since(store: Store, seq: int, compartment: Compartment = COMPARTMENT) -> list[TermsChange]:
    with store.read() as tx:
        return list(tx.terms.since(compartment, seq))


def vectors_since(
    store: Store, seq: int, compartment: Compartment = COMPARTMENT, space: str = SPACE
) -> list[Vector]:
    with store.read() as tx:
        return tx.terms.vectors(compartment, space, seq)


def log(store: Store, workspace: str = WORKSPACE) -> list[audit.Row]:
    with store.read() as tx:
        return tx.audit.rows(workspace, 0, EVERYTHING)


def fill(tx: Transaction, compartment: Compartment = COMPARTMENT) -> None:
    """Leave something of every kind in a compartment and its workspace."""
    tx.lines.append(sealed_line(IDS[0], compartment))
    tx.lines.append(sealed_line(IDS[1], compartment, supersedes=IDS[0], session="s"))
    tx.lines.invalidate(compartment, IDS[0], IDS[1])
    tx.terms.add(compartment, IDS[0], b"tokens 1", b"\x01")
    tx.terms.remove(compartment, (IDS[0],))
    tx.terms.add(compartment, IDS[1], b"tokens 2", b"\x02", Saying("s", 1, 9))
    tx.terms.lie(compartment, SPACE, [(IDS[0], b"dropped"), (IDS[1], b"vector")])
    tx.keys.add(WrappedKey(compartment, "seal", tx.keys.next_epoch(compartment.workspace), b"wrapped"))
    tx.caps.revoke(Revocation(compartment.workspace, "jti", "cap", 1))
    tx.audit.append(compartment.workspace, event())
    tx.touch(compartment.workspace, caps=True, compartments=True)
    tx.owe_scrub()
    _fill_talk(tx, compartment)


def _fill_talk(tx: Transaction, compartment: Compartment) -> None:
    session = compartment.namespace
    tx.lines.append(sealed_line(IDS[6], compartment, kind="message", session=session, turn=1, tokens=3))
    tx.lines.append(sealed_line(IDS[7], compartment, kind="conclusion", about="bob", likeness=b"like"))
    tx.lines.reinforce(compartment, IDS[7], 1)
    tx.lines.cite(compartment, IDS[7], (IDS[6],))
    tx.directory.add(Entry(compartment.workspace, PEER, compartment.owner, IDS[0], 1))
    tx.directory.add_membership(Membership(compartment.workspace, MEMBER, session, compartment.owner, 1))
    tx.directory.keep_batch(Batch(compartment.workspace, session, b"digest", 1, 1, 1), 0)
    for _ in range(2):
        tx.work.add(Job(compartment.workspace, DERIVE, session, compartment.owner, 1, 1), 1)
    for task in tx.work.claim("worker", now=1, until=9, most=1):
        tx.work.finish(task)
    tx.work.claim("worker", now=1, until=9, most=1)


def contents(
    store: Store, compartments: Sequence[Compartment] = (COMPARTMENT, *ELSEWHERE)
) -> dict[object, object]:
    """Everything that a store tells about those compartments and their workspaces, to a reader and a writer
    alike."""
    with store.read() as tx:
        found = _told(tx, compartments)
    with store.write() as tx:
        assert _told(tx, compartments) == found
    found["scrub"] = store.scrub_pending()
    return found


def _told(tx: Transaction, compartments: Sequence[Compartment]) -> dict[object, object]:
    found: dict[object, object] = {
        "keys": tx.keys.every(),
        "rooms": tx.lines.compartments(),
        "workspaces": list(tx.workspaces()),
        "spaces": tx.terms.spaces(),
    }
    for compartment in compartments:
        whole = LineQuery(compartment.workspace, compartment.owner, (compartment.namespace,), history=True)
        found[compartment] = (
            tx.lines.walk(whole),
            list(tx.terms.since(compartment, 0)),
            tx.terms.vectors(compartment, SPACE, 0),
            tx.terms.lacking(compartment, SPACE, EVERYTHING),
            tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,)),
            tx.keys.of(compartment.workspace, compartment.owner),
        )
        found[compartment.workspace] = (
            tx.marks(compartment.workspace),
            sorted(tx.caps.revocations(compartment.workspace), key=repr),
            tx.audit.rows(compartment.workspace, 0, EVERYTHING),
            tx.audit.tree(compartment.workspace).root(),
        )
        found["talk", compartment] = _told_of_talk(tx, compartment)
    found["due"] = tx.work.next_due()
    return found


def _told_of_talk(tx: Transaction, compartment: Compartment) -> tuple[object, ...]:
    workspace, owner, session = compartment
    return (
        tx.lines.turns(TurnQuery(workspace, session)),
        tx.lines.last_turn(workspace, session),
        tx.lines.views(ViewQuery(workspace, ("conclusion",))),
        tx.lines.alike(compartment, "bob", b"like"),
        tx.lines.of_session(workspace, owner, session),
        tx.lines.cited(workspace, IDS),
        tx.lines.citing(workspace, IDS),
        tx.directory.entry(workspace, PEER, owner),
        tx.directory.entries(workspace, PEER),
        tx.directory.memberships(workspace, MEMBER),
        tx.directory.batch(workspace, session, b"digest"),
        tx.work.tallies(workspace, (DERIVE,), 5),
    )


def write_and_log(store: Store, thread: int) -> None:
    for n in range(_WRITES_PER_THREAD):
        with store.write((ALL, WORKSPACE)[n % 2]) as tx:
            tx.lines.append(sealed_line(numbered(thread, n)))
            tx.terms.add(COMPARTMENT, numbered(thread, n), b"tokens", b"\x01")
            tx.terms.lie(COMPARTMENT, SPACE, [(numbered(thread, n), b"vector")])
            tx.keys.add(WrappedKey(COMPARTMENT, "seal", tx.keys.next_epoch(WORKSPACE), b"k"))
            tx.audit.append(WORKSPACE, event(numbered(thread, n)))


def numbered(thread: int, n: int) -> str:
    return ulid.compose(n, thread.to_bytes(ulid.ENTROPY_BYTES, "big"))


def expect_all_written(store: Store) -> None:
    """Whatever `THREADS` threads wrote together is there, once, in one unbroken log."""
    expected = sorted(numbered(thread, n) for thread in range(THREADS) for n in range(_WRITES_PER_THREAD))
    with store.read() as tx:
        assert tx.lines.ids(span(limit=EVERYTHING)) == expected
        changes = list(tx.terms.since(COMPARTMENT, 0))
        assert sorted(change.id for change in changes) == expected
        assert len({change.seq for change in changes}) == len(expected)
        vectors = tx.terms.vectors(COMPARTMENT, SPACE, 0)
        assert sorted(vector.id for vector in vectors) == expected
        assert len({vector.seq for vector in vectors}) == len(expected)
        assert len({key.epoch for key in tx.keys.every()}) == len(expected)
    rows = log(store)
    assert audit.verify(WORKSPACE, rows).size == len(expected)
    assert sorted(row.event.detail for row in rows) == expected
