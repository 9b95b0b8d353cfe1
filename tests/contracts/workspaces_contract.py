"""What a book promises of transactions that name their workspace: a part of `BookContract`."""

from __future__ import annotations

from contracts.store_scenes import (
    ELSEWHERE,
    ROOM,
    THREADS,
    WORKSPACE,
    contents,
    event,
    fill,
    log,
    numbered,
    sealed_line,
)
from contracts.threads import in_many_threads
from souvenance.domain import audit
from souvenance.domain.capability import Revocation
from souvenance.domain.names import ALL
from souvenance.ports.store import Store

_WRITES = 8


class WorkspacesContract:
    def test_whoever_names_a_workspace_does_all_that_belongs_to_it(self, book: Store) -> None:
        for room in (ROOM, ELSEWHERE[0]):
            with book.write(room.workspace) as tx:
                fill(tx, room)
        assert contents(book)[ROOM] != ([], [])
        for room in (ROOM, ELSEWHERE[0]):
            with book.read(room.workspace) as tx, book.read() as everything:
                assert tx.lines.count(room) == everything.lines.count(room) > 0
                assert tx.keys.of(*room[:2]) == everything.keys.of(*room[:2])
                assert tx.marks(room.workspace) == everything.marks(room.workspace)
                assert list(tx.terms.since(room, 0)) == list(everything.terms.since(room, 0))
        assert book.scrub_pending()

    def test_what_belongs_to_all_is_seen_from_every_workspace(self, book: Store) -> None:
        with book.write() as tx:
            tx.caps.revoke(Revocation(ALL, "jti", "cap", 1))
            tx.touch(ALL, caps=True)
        for workspace in (WORKSPACE, "other"):
            with book.read(workspace) as tx:
                assert [one.value for one in tx.caps.revocations(workspace)] == ["cap"]
                assert tx.marks(workspace).caps == 1

    def test_writers_of_many_workspaces_lose_nothing_and_break_no_log(self, book: Store) -> None:
        def write(one: Store, thread: int) -> None:
            room = ROOM._replace(workspace=f"w{thread % 4}")
            for n in range(_WRITES):
                with one.write(ALL if n == _WRITES // 2 else room.workspace, lasting=n % 2 == 0) as tx:
                    assert tx.lines.append(sealed_line(numbered(thread, n), room))
                    tx.terms.add(room, numbered(thread, n), b"tokens", b"\x01")
                    tx.audit.append(room.workspace, event(numbered(thread, n)))
                    tx.owe_scrub()

        in_many_threads([book] * THREADS, write)
        for number in range(4):
            room = ROOM._replace(workspace=f"w{number}")
            rows = log(book, room.workspace)
            assert audit.verify(room.workspace, rows).size == _WRITES * THREADS // 4
            with book.read(room.workspace) as tx:
                assert tx.lines.count(room) == len(rows)
                assert [change.seq for change in tx.terms.since(room, 0)] == list(range(1, len(rows) + 1))
