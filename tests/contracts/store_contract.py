"""The book's contract as tests, for any implementation of `souvenance.ports.store`.

A book of one's own is held to it like this:

    class TestMyBook(BookContract):
        @pytest.fixture
        def book(self) -> Iterator[Book]:
            book = MyBook()
            yield book
            book.close()

A book that keeps files, or talks to a server that does, is held to `StoredBookContract` of
`contracts.persistent_store_contract`, which adds what must outlive a process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product

import pytest
from msgspec.structs import replace

from contracts.directory_contract import RegisterContract
from contracts.jobs_contract import WorkContract
from contracts.lines_contract import LinesContract, TermsContract
from contracts.reindexing_contract import RenewalContract
from contracts.sign_ins_contract import SignInsContract
from contracts.store_scenes import (
    ELSEWHERE,
    IDS,
    OWNER,
    PATIENCE_SECONDS,
    ROOM,
    SPACE,
    THREADS,
    TRAVEL,
    WORKSPACE,
    GiveUp,
    append,
    contents,
    event,
    expect_all_written,
    fill,
    log,
    numbered,
    sealed_line,
    span,
    walked,
    write_and_log,
)
from contracts.threads import in_many_threads, often_interrupted
from contracts.turns_contract import TurnsContract
from contracts.vectors_contract import VectorsContract
from contracts.views_contract import CitationsContract, ViewsContract
from contracts.workspaces_contract import WorkspacesContract
from souvenance.domain import audit, merkle
from souvenance.domain.audit import Event
from souvenance.domain.capability import Extent, Revocation, Revoker
from souvenance.domain.names import ALL
from souvenance.ports.store import Store, Transaction, TurnSpan, WrappedKey


class _TransactionContract:
    @pytest.mark.parametrize("failure", [GiveUp, KeyboardInterrupt])
    def test_a_write_that_raises_changes_nothing(self, book: Store, failure: type[BaseException]) -> None:
        with book.write() as tx:
            fill(tx)
        before = contents(book)
        with pytest.raises(failure), book.write() as tx:
            for room in ELSEWHERE:
                fill(tx, room)
            tx.lines.delete(ROOM, (IDS[0],))
            tx.lines.append(sealed_line(IDS[2]))
            tx.terms.add(ROOM, IDS[2], b"tokens 3", b"\x03")
            tx.terms.lie(ROOM, SPACE, [(IDS[2], b"another"), (IDS[1], b"new")])
            tx.terms.leave(SPACE, 2)
            tx.terms.delete_room(ROOM)
            tx.keys.rewrap(tx.keys.every()[0]._replace(wrapped=b"other"))
            tx.caps.revoke(Revocation(ALL, "jti", "other", 2))
            tx.touch(ALL, caps=True, rooms=True)
            raise failure
        assert contents(book) == before

    def test_a_proof_burned_in_a_write_that_raises_is_not_burned(self, book: Store) -> None:
        with suppress(GiveUp), book.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 0, 9)
            raise GiveUp
        with book.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 0, 9)

    def test_a_book_can_be_written_after_a_write_that_raised(self, book: Store) -> None:
        with suppress(GiveUp), book.write():
            raise GiveUp
        append(book, sealed_line())
        assert walked(book, span()) == [(IDS[0], "work")]

    def test_a_write_sees_its_own_changes(self, book: Store) -> None:
        with book.write() as tx:
            tx.lines.append(sealed_line())
            tx.audit.append(WORKSPACE, event())
            assert tx.lines.get(ROOM, IDS[0]) == sealed_line()
            assert tx.audit.tree(WORKSPACE).size == 1

    def test_a_read_sees_nothing_of_a_write_that_is_still_open(self, book: Store) -> None:
        with book.write() as tx:
            fill(tx)
            with book.read() as reading:
                assert reading.lines.count(ROOM) == 0
                assert list(reading.workspaces()) == []

    def test_a_read_keeps_its_view_while_others_write(self, book: Store) -> None:
        append(book, sealed_line(IDS[0]))
        with book.read() as tx:
            assert tx.lines.count(ROOM) == 1
            append(book, sealed_line(IDS[1]))
            with book.write() as writing:
                fill(writing, TRAVEL)
            assert tx.lines.count(ROOM) == 1
            assert tx.lines.get(ROOM, IDS[1]) is None
            assert tx.keys.every() == []
            assert tx.audit.tree(WORKSPACE).size == 0

    def test_nothing_of_a_room_is_seen_from_another(self, book: Store) -> None:
        with book.write() as tx:
            fill(tx)
        with book.read() as tx:
            for room in ELSEWHERE:
                there = TurnSpan(room.workspace, room.owner, (room.namespace,), history=True)
                assert tx.lines.get(room, IDS[0]) is None
                assert tx.lines.walk(there) == []
                assert tx.lines.ids(there) == []
                assert tx.lines.count(room) == 0
                assert list(tx.terms.since(room, 0)) == []
                assert tx.terms.vectors(room, SPACE, 0) == []
                assert tx.keys.of(room.workspace, room.owner, (room.namespace,)) == []

    def test_nothing_of_a_workspace_is_seen_from_another(self, book: Store) -> None:
        with book.write() as tx:
            untouched = tx.marks("other")
            fill(tx)
            tx.caps.burn(WORKSPACE, "proof", 0, 9)
            assert tx.marks("other") == untouched
            assert tx.caps.revocations("other") == []
            assert tx.audit.rows("other", 0, 9) == []
            assert tx.audit.tree("other").size == 0
            assert tx.caps.burn("other", "proof", 0, 9)

    def test_what_is_deleted_in_other_rooms_stays_here(self, book: Store) -> None:
        def kept(tx: Transaction) -> tuple[object, ...]:
            found = (list(tx.terms.since(ROOM, 0)), tx.terms.vectors(ROOM, SPACE, 0))
            return (tx.lines.walk(span(history=True)), *found, tx.keys.every())

        with book.write() as tx:
            fill(tx)
            before = kept(tx)
            for room in ELSEWHERE:
                assert tx.lines.delete(room, IDS) == 0
                assert tx.lines.delete_room(room) == 0
                tx.terms.remove(room, IDS)
                tx.terms.delete_room(room)
                assert tx.keys.delete_room(room) == 0
            assert kept(tx) == before


class KeysContract:
    def test_keys_come_by_room_with_the_oldest_epoch_first(self, book: Store) -> None:
        made = [WrappedKey(room, "seal", epoch, b"k") for epoch in (10, 9, 2) for room in (ROOM, TRAVEL)]
        with book.write() as tx:
            for key in made:
                tx.keys.add(key)
        with book.read() as tx:
            assert [(key.room, key.epoch) for key in tx.keys.of(WORKSPACE, OWNER)] == [
                (room, epoch) for room in (TRAVEL, ROOM) for epoch in (2, 9, 10)
            ]

    def test_a_key_is_read_back_as_it_was_added(self, book: Store) -> None:
        keys = [
            WrappedKey(ROOM, "blind", 1, bytes(range(256))),
            WrappedKey(ROOM, "seal", (1 << 32) - 1, b"\0wrapped\0"),
        ]
        with book.write() as tx:
            for key in keys:
                tx.keys.add(key)
        with book.read() as tx:
            assert tx.keys.of(WORKSPACE, OWNER, ("work",)) == keys

    def test_keys_are_asked_for_by_owner_and_namespace(self, book: Store) -> None:
        rooms = (ROOM, *ELSEWHERE)
        with book.write() as tx:
            for room in rooms:
                tx.keys.add(WrappedKey(room, "seal", 1, b"k"))
        with book.read() as tx:
            assert {key.room for key in tx.keys.of(WORKSPACE, OWNER)} == {ROOM, TRAVEL}
            assert [key.room for key in tx.keys.of(WORKSPACE, OWNER, ("work",))] == [ROOM]
            assert tx.keys.of(WORKSPACE, OWNER, ("family",)) == []
            assert tx.keys.of(WORKSPACE, OWNER, ()) == []
            assert {key.room for key in tx.keys.every()} == set(rooms)

    def test_an_epoch_is_never_given_twice(self, book: Store) -> None:
        given: list[int] = []
        for _ in range(4):
            with book.write() as tx:
                given.append(tx.keys.next_epoch(WORKSPACE))
                tx.keys.add(WrappedKey(ROOM, "seal", given[-1], b"k"))
                given.append(tx.keys.next_epoch(WORKSPACE))
                tx.keys.next_epoch("other")
            with book.write() as tx:
                tx.keys.delete_room(ROOM)
        assert given == sorted(set(given))

    def test_a_rewrapped_key_keeps_its_place(self, book: Store) -> None:
        with book.write() as tx:
            for epoch in (1, 2):
                tx.keys.add(WrappedKey(ROOM, "seal", epoch, b"old"))
            tx.keys.rewrap(WrappedKey(ROOM, "seal", 1, b"new"))
        with book.read() as tx:
            assert [(key.epoch, key.wrapped) for key in tx.keys.every()] == [(1, b"new"), (2, b"old")]

    def test_whoever_asks_again_is_told_of_every_change(self, book: Store) -> None:
        key = WrappedKey(ROOM, "seal", 1, b"old")
        steps: list[tuple[Callable[[Transaction], object], list[WrappedKey]]] = [
            (lambda tx: tx.keys.add(key), [key]),
            (lambda tx: tx.keys.rewrap(key._replace(wrapped=b"new")), [key._replace(wrapped=b"new")]),
            (lambda tx: tx.keys.delete_room(ROOM), []),
        ]
        for change, expected in steps:
            with book.write() as tx:
                for namespaces in (None, ("work",), ("travel", "work")):
                    tx.keys.of(WORKSPACE, OWNER, namespaces)
                change(tx)
                for namespaces in (None, ("work",), ("travel", "work")):
                    assert tx.keys.of(WORKSPACE, OWNER, namespaces) == expected
            with book.write() as tx:
                assert tx.keys.of(WORKSPACE, OWNER) == expected

    def test_a_key_that_is_gone_does_not_come_back_by_rewrapping(self, book: Store) -> None:
        key = WrappedKey(ROOM, "seal", 1, b"k")
        with book.write() as tx:
            tx.keys.add(key)
            tx.keys.delete_room(ROOM)
            tx.keys.rewrap(key)
        with book.read() as tx:
            assert tx.keys.every() == []

    def test_a_deleted_room_loses_its_keys_and_says_how_many(self, book: Store) -> None:
        with book.write() as tx:
            for room in (ROOM, *ELSEWHERE):
                for purpose in ("blind", "seal"):
                    tx.keys.add(WrappedKey(room, purpose, 1, b"k"))
            assert tx.keys.delete_room(ROOM) == 2
            assert tx.keys.delete_room(ROOM) == 0
        with book.read() as tx:
            assert {key.room for key in tx.keys.every()} == set(ELSEWHERE)


_ANN = Revoker(Extent(WORKSPACE, "memory", ("ann",), ("*",), None), first=False)


class _CapsContract:
    def test_a_workspace_hears_of_its_own_revocations_and_of_those_that_hold_everywhere(
        self, book: Store
    ) -> None:
        own = Revocation(WORKSPACE, "jti", "a", 5, _ANN)
        everywhere = Revocation(ALL, "kid", "b", 6)
        with book.write() as tx:
            for one in (own, everywhere, Revocation("other", "sub", "c", 7)):
                tx.caps.revoke(one)
        with book.read() as tx:
            assert sorted(tx.caps.revocations(WORKSPACE), key=repr) == sorted([own, everywhere], key=repr)
            assert tx.caps.revocations("third") == [everywhere]

    def test_revocations_that_differ_in_anything_but_time_stand_side_by_side(self, book: Store) -> None:
        first = Revocation(WORKSPACE, "jti", "a", 5, _ANN)
        others = [
            replace(first, kind="sub"),
            replace(first, value="b"),
            replace(first, by=replace(_ANN, first=True)),
        ]
        with book.write() as tx:
            for one in (first, *others):
                tx.caps.revoke(one)
        with book.read() as tx:
            assert sorted(tx.caps.revocations(WORKSPACE), key=repr) == sorted([first, *others], key=repr)

    @pytest.mark.parametrize("times", [(5, 9), (9, 5)])
    def test_of_two_revocations_of_the_same_the_later_time_holds(
        self, book: Store, times: tuple[int, int]
    ) -> None:
        for at in times:
            with book.write() as tx:
                tx.caps.revoke(Revocation(WORKSPACE, "sub", "ann", at))
        with book.read() as tx:
            assert tx.caps.revocations(WORKSPACE) == [Revocation(WORKSPACE, "sub", "ann", 9)]

    def test_a_proof_is_burned_once(self, book: Store) -> None:
        with book.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 10, 20)
            assert not tx.caps.burn(WORKSPACE, "proof", 11, 21)
            assert tx.caps.burn(WORKSPACE, "another", 11, 21)
            assert tx.caps.burn("other", "proof", 11, 21)
        with book.write() as tx:
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 30)

    def test_a_proof_is_remembered_until_its_time_and_no_longer(self, book: Store) -> None:
        with book.write() as tx:
            tx.caps.burn(WORKSPACE, "proof", 10, 20)
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 40)
            tx.caps.burn("other", "proof", 100, 200)
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 40)
            assert tx.caps.burn(WORKSPACE, "proof", 21, 41)
            assert not tx.caps.burn(WORKSPACE, "proof", 22, 42)


class _AuditContract:
    def test_rows_arenumbered_from_zero_and_read_back_as_they_were_appended(self, book: Store) -> None:
        events = [
            Event(5, "ann", "cap", "put", audit.OK, ("a", "b"), (IDS[0], IDS[1]), '{"x":1}'),
            Event(4, "Ünal 会", "", "get", "namespace_denied"),
            Event(-1, "ann", "cap", "get", audit.OK, ('quo"ted\\',), (), "\N{SNOWMAN}\n"),
        ]
        with book.write() as tx:
            appended = [tx.audit.append(WORKSPACE, one) for one in events]
        assert log(book) == appended
        assert [(row.workspace, row.seq, row.event) for row in appended] == [
            (WORKSPACE, seq, one) for seq, one in enumerate(events)
        ]

    def test_the_log_of_each_workspace_is_a_chain_of_its_own(self, book: Store) -> None:
        for n in range(3):
            for workspace in (WORKSPACE, "other"):
                with book.write() as tx:
                    tx.audit.append(workspace, event(str(n)))
        for workspace in (WORKSPACE, "other"):
            found = audit.verify(workspace, log(book, workspace))
            with book.read() as tx:
                tree = tx.audit.tree(workspace)
                assert (tree.size, tree.root()) == (found.size, found.root) == (3, found.root)

    def test_rows_are_read_in_pages(self, book: Store) -> None:
        with book.write() as tx:
            for n in range(5):
                tx.audit.append(WORKSPACE, event(str(n)))
            for first, limit in product(range(7), range(7)):
                found = [row.seq for row in tx.audit.rows(WORKSPACE, first, limit)]
                assert found == list(range(5))[first : first + limit]

    def test_an_empty_log_has_an_empty_tree(self, book: Store) -> None:
        with book.read() as tx:
            tree = tx.audit.tree(WORKSPACE)
            assert (tree.size, tree.root()) == (0, merkle.EMPTY_ROOT)
            assert list(tx.workspaces()) == []

    def test_the_tree_proves_every_row_and_every_earlier_tree(self, book: Store) -> None:
        sizes = [1, 2, 3, 255, 256, 257, 511, 512, 513, 600]
        with book.write() as tx:
            leaves = [tx.audit.append(WORKSPACE, event(str(n))).leaf for n in range(sizes[-1])]
        with book.read() as tx:
            tree = tx.audit.tree(WORKSPACE)
            assert tree.size == len(leaves)
            for size in sizes:
                root = merkle.root_of(leaves[:size])
                assert tree.root(size) == root
                for seq in {0, size // 2, size - 1, min(255, size - 1), min(256, size - 1)}:
                    path = tree.inclusion(seq, size)
                    assert merkle.verify_inclusion(leaves[seq], seq, size, path, root), (seq, size)
                for old in (one for one in sizes if one <= size):
                    path = tree.consistency(old, size)
                    assert merkle.verify_consistency(old, tree.root(old), size, root, path), (old, size)

    def test_the_tree_is_the_same_however_the_rows_were_written(self, book: Store) -> None:
        for first, end in ((0, 250), (250, 256), (256, 260), (260, 520)):
            with book.write() as tx:
                for n in range(first, end):
                    tx.audit.append(WORKSPACE, event(str(n)))
        rows = log(book)
        found = audit.verify(WORKSPACE, rows)
        with book.read() as tx:
            assert tx.audit.tree(WORKSPACE).root() == found.root
            assert tx.audit.tree(WORKSPACE).leaves(0, len(rows)) == [row.leaf for row in rows]

    def test_a_row_of_a_write_that_raised_leaves_no_gap(self, book: Store) -> None:
        for n in range(300):
            with suppress(GiveUp), book.write() as tx:
                tx.audit.append(WORKSPACE, event(str(n)))
                if n % 50 == 5:
                    tx.audit.append(WORKSPACE, event("never"))
                    raise GiveUp
        found = audit.verify(WORKSPACE, log(book))
        assert found.size == 294
        with book.read() as tx:
            assert tx.audit.tree(WORKSPACE).root() == found.root

    def test_workspaces_with_a_log_are_told_in_order(self, book: Store) -> None:
        with book.write() as tx:
            for workspace in ("b", "a", "c", "a"):
                tx.audit.append(workspace, event())
            tx.lines.append(sealed_line())
        with book.read() as tx:
            assert list(tx.workspaces()) == ["a", "b", "c"]


class _MarksContract:
    def test_a_touch_changes_the_mark_it_names_and_no_other(self, book: Store) -> None:
        with book.write() as tx:
            fill(tx)
            before, other = tx.marks(WORKSPACE), tx.marks("other")
            tx.touch(WORKSPACE, caps=True)
            assert tx.marks(WORKSPACE).caps != before.caps
            assert tx.marks(WORKSPACE).rooms == before.rooms
            tx.touch(WORKSPACE, rooms=True)
            assert tx.marks(WORKSPACE).rooms != before.rooms
            assert tx.marks("other") == other

    def test_a_touch_of_nothing_changes_nothing(self, book: Store) -> None:
        with book.write() as tx:
            before = tx.marks(WORKSPACE)
            tx.touch(WORKSPACE)
            assert tx.marks(WORKSPACE) == before

    def test_a_touch_of_all_workspaces_changes_the_marks_of_each(self, book: Store) -> None:
        with book.write() as tx:
            tx.touch(WORKSPACE, caps=True, rooms=True)
            before = [tx.marks(workspace) for workspace in (WORKSPACE, "other", "never seen")]
            tx.touch(ALL, caps=True, rooms=True)
            after = [tx.marks(workspace) for workspace in (WORKSPACE, "other", "never seen")]
        for old, new in zip(before, after, strict=True):
            assert old.caps != new.caps
            assert old.rooms != new.rooms

    def test_a_mark_never_takes_an_old_value_again(self, book: Store) -> None:
        seen = []
        for n in range(12):
            with book.write() as tx:
                tx.touch(ALL if n % 3 else WORKSPACE, caps=True, rooms=True)
            with book.read() as tx:
                seen.append(tx.marks(WORKSPACE))
        assert len({mark.caps for mark in seen}) == len({mark.rooms for mark in seen}) == 12


class _ScrubContract:
    def test_a_scrub_is_pending_from_a_deletion_until_it_was_done(self, book: Store) -> None:
        assert not book.scrub_pending()
        append(book, sealed_line())
        with book.write() as tx:
            tx.lines.delete(ROOM, (IDS[0],))
            tx.owe_scrub()
        assert book.scrub_pending()
        assert book.scrub()
        assert not book.scrub_pending()

    def test_a_scrub_that_is_not_owed_may_be_asked_for(self, book: Store) -> None:
        with book.write() as tx:
            fill(tx)
        assert book.scrub()
        before = contents(book)
        assert book.scrub()
        assert contents(book) == before

    def test_a_scrub_beside_an_open_read_is_done_or_stays_pending(self, book: Store) -> None:
        append(book, sealed_line(IDS[0]), sealed_line(IDS[1]))
        with book.write() as tx:
            tx.lines.delete(ROOM, (IDS[0],))
            tx.owe_scrub()
        with book.read() as tx:
            assert tx.lines.count(ROOM) == 1
            assert book.scrub() is not book.scrub_pending()
            assert tx.lines.count(ROOM) == 1
        assert book.scrub()
        assert not book.scrub_pending()


class _ThreadsContract:
    def test_many_threads_lose_nothing(self, book: Store) -> None:
        in_many_threads([book] * THREADS, write_and_log)
        expect_all_written(book)

    def test_a_writer_waits_for_the_one_before_it(self, book: Store) -> None:
        begun = threading.Event()

        def write_next() -> int:
            begun.set()
            with book.write() as tx:
                return tx.lines.count(ROOM)

        with often_interrupted(), ThreadPoolExecutor(1) as pool:
            with book.write() as tx:
                following = pool.submit(write_next)
                assert begun.wait(PATIENCE_SECONDS)
                for n in range(500):
                    tx.lines.append(sealed_line(numbered(0, n)))
            assert following.result() == 500

    def test_a_reader_never_sees_half_of_a_write(self, book: Store) -> None:
        done = threading.Event()

        def watch() -> int:
            looked = 0
            while not done.is_set() or not looked:
                with book.read() as tx:
                    assert tx.lines.count(ROOM) == tx.audit.tree(WORKSPACE).size
                looked += 1
            return looked

        with ThreadPoolExecutor(2) as pool:
            watching = [pool.submit(watch) for _ in range(2)]
            try:
                in_many_threads([book] * 2, write_and_log)
            finally:
                done.set()
            assert all(one.result() for one in watching)


class BookContract(
    _TransactionContract,
    LinesContract,
    TermsContract,
    VectorsContract,
    TurnsContract,
    ViewsContract,
    CitationsContract,
    RegisterContract,
    WorkContract,
    RenewalContract,
    SignInsContract,
    KeysContract,
    _CapsContract,
    _AuditContract,
    _MarksContract,
    _ScrubContract,
    _ThreadsContract,
    WorkspacesContract,
):
    """What every book promises. Override `book`."""

    @pytest.fixture
    def book(self) -> Iterator[Store]:
        """An empty book, for one test."""
        raise NotImplementedError("override the fixture 'book': it gives each test an empty book")
