"""The book's contract as tests, for any implementation of `souvenance.ports.store`.

A store of one's own is held to it like this:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def book(self) -> Iterator[Store]:
            book = MyStore()
            yield book
            book.close()

A store that keeps files, or talks to a server that does, is held to `PersistentStoreContract` of
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
from contracts.retention_contract import RetentionContract
from contracts.sign_ins_contract import SignInsContract
from contracts.store_scenes import (
    COMPARTMENT,
    ELSEWHERE,
    IDS,
    OWNER,
    PATIENCE_SECONDS,
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
from souvenance.ports.store import LineQuery, Store, Transaction, WantedRows, WrappedKey


class _TransactionContract:
    @pytest.mark.parametrize("failure", [GiveUp, KeyboardInterrupt])
    def test_a_write_that_raises_changes_nothing(self, store: Store, failure: type[BaseException]) -> None:
        with store.write() as tx:
            fill(tx)
        before = contents(store)
        with pytest.raises(failure), store.write() as tx:
            for compartment in ELSEWHERE:
                fill(tx, compartment)
            tx.lines.delete(COMPARTMENT, (IDS[0],))
            tx.lines.append(sealed_line(IDS[2]))
            tx.terms.add(COMPARTMENT, IDS[2], b"tokens 3", b"\x03")
            tx.terms.lie(COMPARTMENT, SPACE, [(IDS[2], b"another"), (IDS[1], b"new")])
            tx.terms.leave(SPACE, 2)
            tx.terms.delete_compartment(COMPARTMENT)
            tx.keys.rewrap(tx.keys.every()[0]._replace(wrapped=b"other"))
            tx.caps.revoke(Revocation(ALL, "jti", "other", 2))
            tx.touch(ALL, caps=True, compartments=True)
            raise failure
        assert contents(store) == before

    def test_a_proof_burned_in_a_write_that_raises_is_not_burned(self, store: Store) -> None:
        with suppress(GiveUp), store.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 0, 9)
            raise GiveUp
        with store.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 0, 9)

    def test_a_store_can_be_written_after_a_write_that_raised(self, store: Store) -> None:
        with suppress(GiveUp), store.write():
            raise GiveUp
        append(store, sealed_line())
        assert walked(store, span()) == [(IDS[0], "work")]

    def test_a_write_sees_its_own_changes(self, store: Store) -> None:
        with store.write() as tx:
            tx.lines.append(sealed_line())
            tx.audit.append(WORKSPACE, event())
            assert tx.lines.get(COMPARTMENT, IDS[0]) == sealed_line()
            assert tx.audit.tree(WORKSPACE).size == 1

    def test_a_read_sees_nothing_of_a_write_that_is_still_open(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx)
            with store.read() as reading:
                assert reading.lines.count(COMPARTMENT) == 0
                assert list(reading.workspaces()) == []

    def test_a_read_keeps_its_view_while_others_write(self, store: Store) -> None:
        append(store, sealed_line(IDS[0]))
        with store.read() as tx:
            assert tx.lines.count(COMPARTMENT) == 1
            append(store, sealed_line(IDS[1]))
            with store.write() as writing:
                fill(writing, TRAVEL)
            assert tx.lines.count(COMPARTMENT) == 1
            assert tx.lines.get(COMPARTMENT, IDS[1]) is None
            assert tx.keys.every() == []
            assert tx.audit.tree(WORKSPACE).size == 0

    def test_nothing_of_a_compartment_is_seen_from_another(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx)
        with store.read() as tx:
            for compartment in ELSEWHERE:
                there = LineQuery(
                    compartment.workspace, compartment.owner, (compartment.namespace,), history=True
                )
                assert tx.lines.get(compartment, IDS[0]) is None
                assert tx.lines.walk(there) == []
                assert tx.lines.ids(there) == []
                assert tx.lines.count(compartment) == 0
                assert list(tx.terms.since(compartment, 0)) == []
                assert tx.terms.vectors(compartment, SPACE, 0) == []
                assert tx.keys.of(compartment.workspace, compartment.owner, (compartment.namespace,)) == []

    def test_nothing_of_a_workspace_is_seen_from_another(self, store: Store) -> None:
        with store.write() as tx:
            untouched = tx.marks("other")
            fill(tx)
            tx.caps.burn(WORKSPACE, "proof", 0, 9)
            assert tx.marks("other") == untouched
            assert tx.caps.revocations("other") == []
            assert tx.audit.rows("other", 0, 9) == []
            assert tx.audit.tree("other").size == 0
            assert tx.caps.burn("other", "proof", 0, 9)

    def test_what_is_deleted_in_other_compartments_stays_here(self, store: Store) -> None:
        def kept(tx: Transaction) -> tuple[object, ...]:
            found = (list(tx.terms.since(COMPARTMENT, 0)), tx.terms.vectors(COMPARTMENT, SPACE, 0))
            return (tx.lines.walk(span(history=True)), *found, tx.keys.every())

        with store.write() as tx:
            fill(tx)
            before = kept(tx)
            for compartment in ELSEWHERE:
                assert tx.lines.delete(compartment, IDS) == 0
                assert tx.lines.delete_compartment(compartment) == 0
                tx.terms.remove(compartment, IDS)
                tx.terms.delete_compartment(compartment)
                assert tx.keys.delete_compartment(compartment) == 0
            assert kept(tx) == before


class KeysContract:
    def test_keys_come_by_compartment_with_the_oldest_epoch_first(self, store: Store) -> None:
        made = [
            WrappedKey(compartment, "seal", epoch, b"k")
            for epoch in (10, 9, 2)
            for compartment in (COMPARTMENT, TRAVEL)
        ]
        with store.write() as tx:
            for key in made:
                tx.keys.add(key)
        with store.read() as tx:
            assert [(key.compartment, key.epoch) for key in tx.keys.of(WORKSPACE, OWNER)] == [
                (compartment, epoch) for compartment in (TRAVEL, COMPARTMENT) for epoch in (2, 9, 10)
            ]

    def test_a_key_is_read_back_as_it_was_added(self, store: Store) -> None:
        keys = [
            WrappedKey(COMPARTMENT, "blind", 1, bytes(range(256))),
            WrappedKey(COMPARTMENT, "seal", (1 << 32) - 1, b"\0wrapped\0"),
        ]
        with store.write() as tx:
            for key in keys:
                tx.keys.add(key)
        with store.read() as tx:
            assert tx.keys.of(WORKSPACE, OWNER, ("work",)) == keys

    def test_keys_are_asked_for_by_owner_and_namespace(self, store: Store) -> None:
        compartments = (COMPARTMENT, *ELSEWHERE)
        with store.write() as tx:
            for compartment in compartments:
                tx.keys.add(WrappedKey(compartment, "seal", 1, b"k"))
        with store.read() as tx:
            assert {key.compartment for key in tx.keys.of(WORKSPACE, OWNER)} == {COMPARTMENT, TRAVEL}
            assert [key.compartment for key in tx.keys.of(WORKSPACE, OWNER, ("work",))] == [COMPARTMENT]
            assert tx.keys.of(WORKSPACE, OWNER, ("family",)) == []
            assert tx.keys.of(WORKSPACE, OWNER, ()) == []
            assert {key.compartment for key in tx.keys.every()} == set(compartments)

    def test_an_epoch_is_never_given_twice(self, store: Store) -> None:
        given: list[int] = []
        for _ in range(4):
            with store.write() as tx:
                given.append(tx.keys.next_epoch(WORKSPACE))
                tx.keys.add(WrappedKey(COMPARTMENT, "seal", given[-1], b"k"))
                given.append(tx.keys.next_epoch(WORKSPACE))
                tx.keys.next_epoch("other")
            with store.write() as tx:
                tx.keys.delete_compartment(COMPARTMENT)
        assert given == sorted(set(given))

    def test_a_rewrapped_key_keeps_its_place(self, store: Store) -> None:
        with store.write() as tx:
            for epoch in (1, 2):
                tx.keys.add(WrappedKey(COMPARTMENT, "seal", epoch, b"old"))
            tx.keys.rewrap(WrappedKey(COMPARTMENT, "seal", 1, b"new"))
        with store.read() as tx:
            assert [(key.epoch, key.wrapped) for key in tx.keys.every()] == [(1, b"new"), (2, b"old")]

    def test_whoever_asks_again_is_told_of_every_change(self, store: Store) -> None:
        key = WrappedKey(COMPARTMENT, "seal", 1, b"old")
        steps: list[tuple[Callable[[Transaction], object], list[WrappedKey]]] = [
            (lambda tx: tx.keys.add(key), [key]),
            (lambda tx: tx.keys.rewrap(key._replace(wrapped=b"new")), [key._replace(wrapped=b"new")]),
            (lambda tx: tx.keys.delete_compartment(COMPARTMENT), []),
        ]
        for change, expected in steps:
            with store.write() as tx:
                for namespaces in (None, ("work",), ("travel", "work")):
                    tx.keys.of(WORKSPACE, OWNER, namespaces)
                change(tx)
                for namespaces in (None, ("work",), ("travel", "work")):
                    assert tx.keys.of(WORKSPACE, OWNER, namespaces) == expected
            with store.write() as tx:
                assert tx.keys.of(WORKSPACE, OWNER) == expected

    def test_a_key_that_is_gone_does_not_come_back_by_rewrapping(self, store: Store) -> None:
        key = WrappedKey(COMPARTMENT, "seal", 1, b"k")
        with store.write() as tx:
            tx.keys.add(key)
            tx.keys.delete_compartment(COMPARTMENT)
            tx.keys.rewrap(key)
        with store.read() as tx:
            assert tx.keys.every() == []

    def test_a_deleted_compartment_loses_its_keys_and_says_how_many(self, store: Store) -> None:
        with store.write() as tx:
            for compartment in (COMPARTMENT, *ELSEWHERE):
                for purpose in ("blind", "seal"):
                    tx.keys.add(WrappedKey(compartment, purpose, 1, b"k"))
            assert tx.keys.delete_compartment(COMPARTMENT) == 2
            assert tx.keys.delete_compartment(COMPARTMENT) == 0
        with store.read() as tx:
            assert {key.compartment for key in tx.keys.every()} == set(ELSEWHERE)


_ANN = Revoker(Extent(WORKSPACE, "memory", ("ann",), ("*",), None), first=False)


class _CapsContract:
    def test_a_workspace_hears_of_its_own_revocations_and_of_those_that_hold_everywhere(
        self, store: Store
    ) -> None:
        own = Revocation(WORKSPACE, "jti", "a", 5, _ANN)
        everywhere = Revocation(ALL, "kid", "b", 6)
        with store.write() as tx:
            for one in (own, everywhere, Revocation("other", "sub", "c", 7)):
                tx.caps.revoke(one)
        with store.read() as tx:
            assert sorted(tx.caps.revocations(WORKSPACE), key=repr) == sorted([own, everywhere], key=repr)
            assert tx.caps.revocations("third") == [everywhere]

    def test_revocations_that_differ_in_anything_but_time_stand_side_by_side(self, store: Store) -> None:
        first = Revocation(WORKSPACE, "jti", "a", 5, _ANN)
        others = [
            replace(first, kind="sub"),
            replace(first, value="b"),
            replace(first, by=replace(_ANN, first=True)),
        ]
        with store.write() as tx:
            for one in (first, *others):
                tx.caps.revoke(one)
        with store.read() as tx:
            assert sorted(tx.caps.revocations(WORKSPACE), key=repr) == sorted([first, *others], key=repr)

    @pytest.mark.parametrize("times", [(5, 9), (9, 5)])
    def test_of_two_revocations_of_the_same_the_later_time_holds(
        self, store: Store, times: tuple[int, int]
    ) -> None:
        for at in times:
            with store.write() as tx:
                tx.caps.revoke(Revocation(WORKSPACE, "sub", "ann", at))
        with store.read() as tx:
            assert tx.caps.revocations(WORKSPACE) == [Revocation(WORKSPACE, "sub", "ann", 9)]

    def test_a_proof_is_burned_once(self, store: Store) -> None:
        with store.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 10, 20)
            assert not tx.caps.burn(WORKSPACE, "proof", 11, 21)
            assert tx.caps.burn(WORKSPACE, "another", 11, 21)
            assert tx.caps.burn("other", "proof", 11, 21)
        with store.write() as tx:
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 30)

    def test_a_proof_is_remembered_until_its_time_and_no_longer(self, store: Store) -> None:
        with store.write() as tx:
            tx.caps.burn(WORKSPACE, "proof", 10, 20)
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 40)
            tx.caps.burn("other", "proof", 100, 200)
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 40)
            assert tx.caps.burn(WORKSPACE, "proof", 21, 41)
            assert not tx.caps.burn(WORKSPACE, "proof", 22, 42)


class _AuditContract:
    def test_rows_arenumbered_from_zero_and_read_back_as_they_were_appended(self, store: Store) -> None:
        events = [
            Event(5, "ann", "cap", "put", audit.OK, ("a", "b"), (IDS[0], IDS[1]), '{"x":1}'),
            Event(4, "Ünal 会", "", "get", "namespace_denied"),
            Event(-1, "ann", "cap", "get", audit.OK, ('quo"ted\\',), (), "\N{SNOWMAN}\n"),
        ]
        with store.write() as tx:
            appended = [tx.audit.append(WORKSPACE, one) for one in events]
        assert log(store) == appended
        assert [(row.workspace, row.seq, row.event) for row in appended] == [
            (WORKSPACE, seq, one) for seq, one in enumerate(events)
        ]

    def test_the_log_of_each_workspace_is_a_chain_of_its_own(self, store: Store) -> None:
        for n in range(3):
            for workspace in (WORKSPACE, "other"):
                with store.write() as tx:
                    tx.audit.append(workspace, event(str(n)))
        for workspace in (WORKSPACE, "other"):
            found = audit.verify(workspace, log(store, workspace))
            with store.read() as tx:
                tree = tx.audit.tree(workspace)
                assert (tree.size, tree.root()) == (found.size, found.root) == (3, found.root)

    def test_rows_are_read_in_pages(self, store: Store) -> None:
        with store.write() as tx:
            for n in range(5):
                tx.audit.append(WORKSPACE, event(str(n)))
            for first, limit in product(range(7), range(7)):
                found = [row.seq for row in tx.audit.rows(WORKSPACE, first, limit)]
                assert found == list(range(5))[first : first + limit]

    def test_rows_of_the_log_are_found_by_what_they_say_newest_first(self, store: Store) -> None:
        events = [
            Event(10, "ann", "cap", "memory.put", audit.OK, ("a",), (IDS[0],)),
            Event(20, "bob", "cap", "memory.get", "cap_expired"),
            Event(30, "ann", "cap", "memory.get", audit.OK, ("a",), (IDS[1], IDS[0])),
            Event(40, "ann", "cap", "status", audit.OK),
        ]
        with store.write() as tx:
            for one in events:
                tx.audit.append(WORKSPACE, one)

        every = WantedRows(0, 4)
        for wanted, seqs in (
            (every, [3, 2, 1, 0]),
            (replace(every, first=1, before=3), [2, 1]),
            (replace(every, actor="ann"), [3, 2, 0]),
            (replace(every, operations=("memory.get", "memory.put")), [2, 1, 0]),
            (replace(every, operations=()), []),
            (replace(every, allowed=True), [3, 2, 0]),
            (replace(every, allowed=False), [1]),
            (replace(every, since=20, until=40), [2, 1]),
            (replace(every, line=IDS[0]), [2, 0]),
            (replace(every, line=IDS[0], actor="bob"), []),
        ):
            with store.read() as tx:
                found = tx.audit.find(WORKSPACE, wanted, 9)
                assert [row.seq for row in found] == seqs
                assert [row.event for row in found] == [events[seq] for seq in seqs]
                assert [row.seq for row in tx.audit.find(WORKSPACE, wanted, 1)] == seqs[:1]
                assert tx.audit.find("other", wanted, 9) == []

    def test_an_empty_log_has_an_empty_tree(self, store: Store) -> None:
        with store.read() as tx:
            tree = tx.audit.tree(WORKSPACE)
            assert (tree.size, tree.root()) == (0, merkle.EMPTY_ROOT)
            assert list(tx.workspaces()) == []

    def test_the_tree_proves_every_row_and_every_earlier_tree(self, store: Store) -> None:
        sizes = [1, 2, 3, 255, 256, 257, 511, 512, 513, 600]
        with store.write() as tx:
            leaves = [tx.audit.append(WORKSPACE, event(str(n))).leaf for n in range(sizes[-1])]
        with store.read() as tx:
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

    def test_the_tree_is_the_same_however_the_rows_were_written(self, store: Store) -> None:
        for first, end in ((0, 250), (250, 256), (256, 260), (260, 520)):
            with store.write() as tx:
                for n in range(first, end):
                    tx.audit.append(WORKSPACE, event(str(n)))
        rows = log(store)
        found = audit.verify(WORKSPACE, rows)
        with store.read() as tx:
            assert tx.audit.tree(WORKSPACE).root() == found.root
            assert tx.audit.tree(WORKSPACE).leaves(0, len(rows)) == [row.leaf for row in rows]

    def test_a_row_of_a_write_that_raised_leaves_no_gap(self, store: Store) -> None:
        for n in range(300):
            with suppress(GiveUp), store.write() as tx:
                tx.audit.append(WORKSPACE, event(str(n)))
                if n % 50 == 5:
                    tx.audit.append(WORKSPACE, event("never"))
                    raise GiveUp
        found = audit.verify(WORKSPACE, log(store))
        assert found.size == 294
        with store.read() as tx:
            assert tx.audit.tree(WORKSPACE).root() == found.root

    def test_workspaces_with_a_log_are_told_in_order(self, store: Store) -> None:
        with store.write() as tx:
            for workspace in ("b", "a", "c", "a"):
                tx.audit.append(workspace, event())
            tx.lines.append(sealed_line())
        with store.read() as tx:
            assert list(tx.workspaces()) == ["a", "b", "c"]


class _MarksContract:
    def test_a_touch_changes_the_mark_it_names_and_no_other(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx)
            before, other = tx.marks(WORKSPACE), tx.marks("other")
            tx.touch(WORKSPACE, caps=True)
            assert tx.marks(WORKSPACE).caps != before.caps
            assert tx.marks(WORKSPACE).compartments == before.compartments
            tx.touch(WORKSPACE, compartments=True)
            assert tx.marks(WORKSPACE).compartments != before.compartments
            assert tx.marks("other") == other

    def test_a_touch_of_nothing_changes_nothing(self, store: Store) -> None:
        with store.write() as tx:
            before = tx.marks(WORKSPACE)
            tx.touch(WORKSPACE)
            assert tx.marks(WORKSPACE) == before

    def test_a_touch_of_all_workspaces_changes_the_marks_of_each(self, store: Store) -> None:
        with store.write() as tx:
            tx.touch(WORKSPACE, caps=True, compartments=True)
            before = [tx.marks(workspace) for workspace in (WORKSPACE, "other", "never seen")]
            tx.touch(ALL, caps=True, compartments=True)
            after = [tx.marks(workspace) for workspace in (WORKSPACE, "other", "never seen")]
        for old, new in zip(before, after, strict=True):
            assert old.caps != new.caps
            assert old.compartments != new.compartments

    def test_a_mark_never_takes_an_old_value_again(self, store: Store) -> None:
        seen = []
        for n in range(12):
            with store.write() as tx:
                tx.touch(ALL if n % 3 else WORKSPACE, caps=True, compartments=True)
            with store.read() as tx:
                seen.append(tx.marks(WORKSPACE))
        assert len({mark.caps for mark in seen}) == len({mark.compartments for mark in seen}) == 12


class _ScrubContract:
    def test_a_scrub_is_pending_from_a_deletion_until_it_was_done(self, store: Store) -> None:
        assert not store.scrub_pending()
        append(store, sealed_line())
        with store.write() as tx:
            tx.lines.delete(COMPARTMENT, (IDS[0],))
            tx.owe_scrub()
        assert store.scrub_pending()
        assert store.scrub()
        assert not store.scrub_pending()

    def test_a_scrub_that_is_not_owed_may_be_asked_for(self, store: Store) -> None:
        with store.write() as tx:
            fill(tx)
        assert store.scrub()
        before = contents(store)
        assert store.scrub()
        assert contents(store) == before

    def test_a_scrub_beside_an_open_read_is_done_or_stays_pending(self, store: Store) -> None:
        append(store, sealed_line(IDS[0]), sealed_line(IDS[1]))
        with store.write() as tx:
            tx.lines.delete(COMPARTMENT, (IDS[0],))
            tx.owe_scrub()
        with store.read() as tx:
            assert tx.lines.count(COMPARTMENT) == 1
            assert store.scrub() is not store.scrub_pending()
            assert tx.lines.count(COMPARTMENT) == 1
        assert store.scrub()
        assert not store.scrub_pending()


class _ThreadsContract:
    def test_many_threads_lose_nothing(self, store: Store) -> None:
        in_many_threads([store] * THREADS, write_and_log)
        expect_all_written(store)

    def test_a_writer_waits_for_the_one_before_it(self, store: Store) -> None:
        begun = threading.Event()

        def write_next() -> int:
            begun.set()
            with store.write() as tx:
                return tx.lines.count(COMPARTMENT)

        with often_interrupted(), ThreadPoolExecutor(1) as pool:
            with store.write() as tx:
                following = pool.submit(write_next)
                assert begun.wait(PATIENCE_SECONDS)
                for n in range(500):
                    tx.lines.append(sealed_line(numbered(0, n)))
            assert following.result() == 500

    def test_a_reader_never_sees_half_of_a_write(self, store: Store) -> None:
        done = threading.Event()

        def watch() -> int:
            looked = 0
            while not done.is_set() or not looked:
                with store.read() as tx:
                    assert tx.lines.count(COMPARTMENT) == tx.audit.tree(WORKSPACE).size
                looked += 1
            return looked

        with ThreadPoolExecutor(2) as pool:
            watching = [pool.submit(watch) for _ in range(2)]
            try:
                in_many_threads([store] * 2, write_and_log)
            finally:
                done.set()
            assert all(one.result() for one in watching)


class StoreContract(
    _TransactionContract,
    LinesContract,
    TermsContract,
    VectorsContract,
    TurnsContract,
    ViewsContract,
    CitationsContract,
    RetentionContract,
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
    """What every store promises. Override `book`."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        """An empty book, for one test."""
        raise NotImplementedError("override the fixture 'store': it gives each test an empty store")
