"""What a store promises of its work list: a part of `StoreContract`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from msgspec.structs import replace

from contracts.store_scenes import THREADS, TWINS, GiveUp
from contracts.threads import in_many_threads
from souvenance.domain.directory import (
    DELIVER,
    DERIVE,
    DREAM,
    MOST_FAILED,
    REASONING,
    SUMMARISE,
    Job,
    Tally,
    Task,
)
from souvenance.ports.store import Store, Transaction

HOME = "acme"
NOW = 100
UNTIL = 200


def job(n: int = 0, session: str | None = "s", **changes: Any) -> Job:
    """A job that can be told by its first turn."""
    return replace(Job(HOME, DERIVE, session, "ann", n, n), **changes)


def add(store: Store, *jobs: Job, due: int = NOW) -> None:
    with store.write() as tx:
        for one in jobs:
            tx.work.add(one, due)


def claim(
    tx: Transaction, holder: str = "h", *, now: int = NOW, until: int = UNTIL, most: int = 9
) -> list[Task]:
    return tx.work.claim(holder, now=now, until=until, most=most)


def claimed(store: Store, holder: str = "h", **how: int) -> list[int]:
    """The first turns of what a claim gives."""
    with store.write() as tx:
        return [task.first for task in claim(tx, holder, **how)]


def worked_for(store: Store, after: str) -> str | None:
    """The workspace that a claim is of which comes after one of that workspace."""
    with store.write() as tx:
        tasks = tx.work.claim("h", now=NOW, until=UNTIL, most=9, after=after)
        return tasks[0].workspace if tasks else None


class ClaimsContract:
    def test_a_task_says_what_its_errand_said_and_who_holds_it(self, store: Store) -> None:
        asked = Job("Büro", SUMMARISE, "会", "Ünal", 3, 5, 2, '{"naïve":"日本"}', "travel")
        bare = Job(HOME, DELIVER)
        add(store, asked, bare)
        with store.write() as tx:
            (task,), (other,) = claim(tx), claim(tx, "i", until=300)
            for one, said, holder, until in ((task, asked, "h", UNTIL), (other, bare, "i", 300)):
                assert all(getattr(one, name) == getattr(said, name) for name in Job.__struct_fields__)
                assert (one.attempts, one.due, one.holder, one.until) == (1, NOW, holder, until)
            assert task.seq < other.seq

    def test_an_empty_list_has_nothing_to_claim(self, store: Store) -> None:
        assert claimed(store) == []
        with store.read() as tx:
            assert tx.work.next_due() is None

    def test_the_errand_that_is_due_longest_comes_first(self, store: Store) -> None:
        for n, due in enumerate((30, 10, 20, 10)):
            add(store, job(n, session=None), due=due)
        assert [claimed(store) for _ in range(5)] == [[1], [3], [2], [0], []]

    def test_claims_go_round_the_workspaces_so_that_none_waits_for_all_of_another(self, store: Store) -> None:
        for workspace, count in (("b", 3), ("a", 1), ("c", 2), ("later", 1)):
            due = NOW + 1 if workspace == "later" else NOW - count
            add(store, *(job(n, None, workspace=workspace) for n in range(count)), due=due)
        last: str | None = ""
        found = []
        while last is not None:
            last = worked_for(store, last)
            found.append(last)
        assert found == ["a", "b", "c", "b", "c", "b", None]

    def test_a_workspace_that_is_not_there_is_gone_on_behind(self, store: Store) -> None:
        add(store, job(0, workspace="a"), job(1, workspace="c"))
        assert [worked_for(store, "b") for _ in range(3)] == ["c", "a", None]

    def test_whether_anything_is_due_is_told(self, store: Store) -> None:
        with store.read() as tx:
            assert not tx.work.is_due(NOW)
        add(store, job(0), due=NOW + 1)
        with store.write() as tx:
            assert not tx.work.is_due(NOW)
            assert tx.work.is_due(NOW + 1)
            (task,) = claim(tx, now=NOW + 1)
            assert not tx.work.is_due(UNTIL - 1)
            assert tx.work.is_due(UNTIL)
            assert tx.work.finish(task)
            assert not tx.work.is_due(UNTIL)

    def test_what_is_owed_is_told_in_order_whoever_holds_it(self, store: Store) -> None:
        add(store, job(1), job(2, kind=SUMMARISE), job(3, workspace="other"), job(4, kind=DELIVER))
        assert claimed(store) == [1]
        with store.read() as tx:
            both = tx.work.owed(HOME, (DERIVE, SUMMARISE), limit=9)
            assert [(task.first, task.due) for task in both] == [(1, NOW), (2, NOW)]
            assert tx.work.owed(HOME, (DERIVE, SUMMARISE), limit=1) == both[:1]
            assert tx.work.owed(HOME, (DERIVE, SUMMARISE), after=both[0].seq, limit=9) == both[1:]

    def test_what_is_due_and_held_by_nobody_is_counted(self, store: Store) -> None:
        with store.read() as tx:
            assert tx.work.waiting(NOW) == (0, None)
        for n, due in enumerate((NOW - 20, NOW - 10, NOW + 10)):
            add(store, job(n, session=None), due=due)
        with store.read() as tx:
            assert tx.work.waiting(NOW) == (2, NOW - 20)
        assert claimed(store) == [0]
        with store.read() as tx:
            assert tx.work.waiting(NOW) == (1, NOW - 10)
            assert tx.work.waiting(UNTIL) == (3, NOW - 20)

    def test_an_errand_is_not_claimed_before_it_is_due(self, store: Store) -> None:
        add(store, job(0, "later"), due=NOW + 1)
        assert claimed(store) == []
        add(store, job(1, "now"))
        assert claimed(store) == [1]
        assert claimed(store, now=NOW + 1) == [0]

    def test_what_is_held_is_not_claimed_again_until_it_was_held_too_long(self, store: Store) -> None:
        add(store, job())
        assert claimed(store) == [0]
        assert claimed(store, "i") == claimed(store, "h") == []
        assert claimed(store, "i", now=UNTIL - 1) == []
        with store.write() as tx:
            (task,) = claim(tx, "i", now=UNTIL, until=400)
            assert (task.attempts, task.holder, task.until) == (2, "i", 400)
        assert claimed(store, now=UNTIL) == []

    def test_errands_of_one_session_and_kind_come_together_and_in_order(self, store: Store) -> None:
        add(store, *(job(n, peer="ann" if n % 2 else "bob") for n in range(5)))
        assert claimed(store, most=3) == [0, 1, 2]

    def test_a_claim_takes_at_most_so_many(self, store: Store) -> None:
        add(store, *(job(n) for n in range(4)))
        assert claimed(store, most=0) == []
        assert claimed(store, most=1) == [0]

    def test_errands_of_another_kind_are_left_out_of_what_comes_together(self, store: Store) -> None:
        kinds = (DERIVE, DERIVE, DREAM, DERIVE, DREAM)
        add(store, *(job(n, kind=kind) for n, kind in enumerate(kinds)))
        found = []
        for _ in range(3):
            with store.write() as tx:
                tasks = claim(tx)
                found.append([task.first for task in tasks])
                assert claim(tx, "i") == []
                assert all(tx.work.finish(task) for task in tasks)
        assert found == [[0, 1, 3], [2, 4], []]

    def test_errands_of_a_kind_fall_due_together_when_they_are_deferred(self, store: Store) -> None:
        add(store, job(3), job(4), job(5, kind=SUMMARISE), job(6, "t"))
        with store.write() as tx:
            assert tx.work.defer(HOME, "s", DERIVE, NOW + 50) == 3
            assert tx.work.defer(HOME, "nowhere", DERIVE, NOW + 50) is None
            assert tx.work.next_due() == NOW
        assert [claimed(store), claimed(store), claimed(store, now=NOW + 50)] == [[6], [], [3, 4]]

    def test_what_is_deferred_can_be_made_due_at_once_in_every_session(self, store: Store) -> None:
        add(store, job(1), job(2, "t"), job(3, workspace="other"), due=NOW + 50)
        with store.write() as tx:
            assert tx.work.defer(HOME, None, DERIVE, NOW) == 1
            assert tx.work.next_due() == NOW
        assert [claimed(store) for _ in range(3)] == [[1], [2], []]

    def test_what_is_held_or_was_tried_is_not_deferred(self, store: Store) -> None:
        add(store, job(1), job(2, "t"))
        with store.write() as tx:
            [held] = claim(tx)
            [tried] = claim(tx, "i")
            assert tx.work.postpone(tried, NOW + 10)
            assert tx.work.defer(HOME, None, DERIVE, NOW) is None
            assert tx.work.next_due() == NOW + 10
            assert tx.work.finish(held)

    def test_errands_of_other_sessions_and_workspaces_are_left_for_other_claims(self, store: Store) -> None:
        for n, (session, workspace) in enumerate((("s", HOME), ("t", HOME), ("s", "other"), ("s", HOME))):
            add(store, job(n, session, workspace=workspace))
        assert [claimed(store) for _ in range(4)] == [[0, 3], [1], [2], []]

    @pytest.mark.parametrize("twin", TWINS)
    def test_sessions_compare_byte_for_byte(self, store: Store, twin: str) -> None:
        add(store, job(0, "ann"), job(1, twin), job(2, "ann", workspace=twin))
        assert [claimed(store) for _ in range(3)] == [[0], [1], [2]]

    def test_what_is_not_due_yet_ends_what_comes_together(self, store: Store) -> None:
        add(store, job(0))
        add(store, job(1), due=NOW + 1)
        add(store, job(2))
        assert claimed(store) == [0]

    def test_an_errand_waits_for_every_earlier_one_of_its_session(self, store: Store) -> None:
        add(store, job(0, kind=DREAM), due=NOW + 50)
        add(store, job(1), job(2, kind=SUMMARISE))
        assert claimed(store) == []
        assert claimed(store, now=NOW + 50) == [0]
        assert claimed(store, now=NOW + 51) == []

    def test_an_errand_that_comes_while_its_session_is_held_waits(self, store: Store) -> None:
        add(store, job(0))
        assert claimed(store) == [0]
        add(store, job(1), job(2, "t"))
        assert [claimed(store, "i") for _ in range(2)] == [[2], []]

    def test_the_next_of_a_session_is_free_when_those_before_it_are_finished(self, store: Store) -> None:
        add(store, *(job(n) for n in range(4)))
        with store.write() as tx:
            first, second = claim(tx, most=2)
        with store.write() as tx:
            assert claim(tx, "i") == []
            assert tx.work.finish(second)
            assert claim(tx, "i") == []
            assert tx.work.finish(first)
            assert [task.first for task in claim(tx, "i")] == [2, 3]

    def test_a_session_whose_holder_is_gone_goes_on_where_it_was(self, store: Store) -> None:
        add(store, *(job(n) for n in range(3)))
        with store.write() as tx:
            first, *_ = claim(tx)
            assert tx.work.finish(first)
        assert claimed(store, "i", now=UNTIL - 1) == []
        assert claimed(store, "i", now=UNTIL) == [1, 2]

    def test_what_someone_still_holds_ends_what_comes_together(self, store: Store) -> None:
        add(store, *(job(n) for n in range(3)))
        with store.write() as tx:
            first, *_ = claim(tx)
            assert tx.work.postpone(first, NOW)
            assert [task.first for task in claim(tx, "i")] == [0]

    def test_errands_without_a_session_wait_for_none_and_come_one_at_a_time(self, store: Store) -> None:
        add(store, *(job(n, None) for n in range(3)))
        with store.write() as tx:
            tasks = [claim(tx, most=9) for _ in range(4)]
            assert [[task.first for task in some] for some in tasks] == [[0], [1], [2], []]
            assert tx.work.finish(tasks[1][0])
            assert tx.work.postpone(tasks[0][0], NOW)
            assert [task.first for task in claim(tx)] == [0]

    def test_a_claim_that_was_undone_holds_nothing(self, store: Store) -> None:
        add(store, job(0), job(1))
        with suppress(GiveUp), store.write() as tx:
            first, _ = claim(tx)
            tx.work.finish(first)
            raise GiveUp
        with store.write() as tx:
            assert [(task.first, task.attempts) for task in claim(tx, "i")] == [(0, 1), (1, 1)]

    def test_numbers_are_not_given_again_while_anything_waits(self, store: Store) -> None:
        add(store, job(0, "waiting"), due=NOW + 1)
        seen = set()
        for _ in range(4):
            add(store, job(1))
            with store.write() as tx:
                (task,) = claim(tx)
                assert tx.work.finish(task)
            seen.add(task.seq)
        assert len(seen) == 4

    def test_many_threads_never_claim_the_same_and_leave_nothing(self, store: Store) -> None:
        add(store, *(job(n, (None, "s", "t", "u")[n % 4]) for n in range(60)))
        done: list[list[Task]] = [[] for _ in range(THREADS)]

        def work(store: Store, thread: int) -> None:
            done[thread] = work_off(store, f"worker {thread}")

        in_many_threads([store] * THREADS, work)
        expect_each_once(done, 60)


def work_off(store: Store, holder: str) -> list[Task]:
    """Claim and finish until nothing is left, each in a write of its own; what was done, in order."""
    done: list[Task] = []
    while True:
        with store.write() as tx:
            tasks = claim(tx, holder, most=3)
        with store.write() as tx:
            assert all(tx.work.finish(task) for task in tasks)
            if not tasks and tx.work.next_due() is None:
                return done
        done.extend(tasks)


def expect_each_once(done: list[list[Task]], count: int) -> None:
    assert sorted(task.first for some in done for task in some) == list(range(count))
    assert {task.attempts for some in done for task in some} == {1}


class WorkContract(ClaimsContract):
    def test_a_finished_task_is_off_the_list(self, store: Store) -> None:
        add(store, job())
        with store.write() as tx:
            (task,) = claim(tx)
            assert tx.work.finish(task)
            assert not tx.work.finish(task)
            assert not tx.work.postpone(task, NOW)
            assert tx.work.next_due() is None
            assert claim(tx, now=1000) == []

    def test_a_task_is_finished_or_put_back_only_by_who_holds_it(self, store: Store) -> None:
        add(store, job())
        with store.write() as tx:
            (task,) = claim(tx)
            (taken_over,) = claim(tx, "i", now=UNTIL, until=300)
            nobody = replace(task, holder=None)
            elsewhere = replace(taken_over, workspace="other")
            for stranger in (task, nobody, elsewhere, replace(taken_over, seq=task.seq + 1)):
                assert not tx.work.finish(stranger)
                assert not tx.work.postpone(stranger, 0)
            assert tx.work.tallies(HOME, REASONING, UNTIL) == [Tally("s", "ann", 0, 1, 0)]
            assert tx.work.next_due() == 300
            assert tx.work.postpone(taken_over, 250)
            assert not tx.work.finish(replace(task, holder=None))
            assert not tx.work.finish(taken_over)
            assert tx.work.next_due() == 250

    def test_who_held_too_long_may_still_finish_while_nobody_took_over(self, store: Store) -> None:
        add(store, job())
        with store.write() as tx:
            (task,) = claim(tx, until=NOW)
            assert tx.work.finish(task)

    def test_a_task_that_was_put_back_is_claimed_from_then_on(self, store: Store) -> None:
        add(store, job())
        with store.write() as tx:
            (task,) = claim(tx)
            assert tx.work.postpone(task, 150)
            assert claim(tx, now=149) == []
            (again,) = claim(tx, "i", now=150, until=300)
            assert again == replace(task, attempts=2, due=150, holder="i", until=300)

    def test_a_job_that_was_given_up_is_kept_and_can_be_tried_again(self, store: Store) -> None:
        add(store, job(0), job(1, "t"), job(2, None, kind=DELIVER, payload="{1}"))
        with store.write() as tx:
            for number, reason in enumerate(("internal_error: KeyError", "", "undelivered")):
                (task,) = claim(tx)
                assert tx.work.finish(task)
                if reason:
                    tx.work.keep_failed(task, reason, 300 + number)
            delivery, first = tx.work.failed(HOME, 9)
            assert (delivery.kind, delivery.payload, delivery.reason) == (DELIVER, "{1}", "undelivered")
            assert (first.first, first.attempts, first.reason, first.at) == (
                0,
                1,
                "internal_error: KeyError",
                300,
            )
            assert tx.work.failed(HOME, 1) == [delivery]
            assert tx.work.failed("other", 9) == []
            assert tx.work.tallies(HOME, (DERIVE,), NOW)[0].done == 1
            assert not tx.work.retry("other", first.seq, NOW)
            assert tx.work.retry(HOME, first.seq, NOW)
            assert not tx.work.retry(HOME, first.seq, NOW)
            assert tx.work.failed(HOME, 9) == [delivery]
            assert tx.work.tallies(HOME, (DERIVE,), NOW)[0] == Tally("s", "ann", 1, 0, 0)
            assert [task.first for task in claim(tx)] == [0]

    def test_a_job_that_was_given_up_goes_with_its_session(self, store: Store) -> None:
        add(store, job(0), job(1, "t"))
        with store.write() as tx:
            for _ in range(2):
                (task,) = claim(tx)
                assert tx.work.finish(task)
                tx.work.keep_failed(task, "undelivered", 300)
            tx.work.drop(HOME, "s")
            assert [one.session for one in tx.work.failed(HOME, 9)] == ["t"]
            tx.work.drop(HOME)
            assert tx.work.failed(HOME, 9) == []

    def test_of_the_jobs_that_were_given_up_the_newest_are_kept(self, store: Store) -> None:
        add(store, job())
        with store.write() as tx:
            (task,) = claim(tx)
            for seq in range(1, MOST_FAILED + 3):
                tx.work.keep_failed(replace(task, seq=seq), "undelivered", 300)
            kept = tx.work.failed(HOME, MOST_FAILED + 9)
            assert [one.seq for one in kept] == list(range(MOST_FAILED + 2, 2, -1))

    def test_the_next_due_is_when_a_claim_may_find_something(self, store: Store) -> None:
        add(store, job(0, "s"), due=50)
        add(store, job(1, "t"), due=40)
        add(store, job(2, "s"), due=10)
        due: list[tuple[int, list[int]]] = []
        for _ in range(4):
            with store.write() as tx:
                now = tx.work.next_due()
                assert now is not None
                assert claim(tx, now=now - 1) == []
                due.append((now, [task.first for task in claim(tx, now=now, until=60 + len(due))]))
        assert due == [(40, [1]), (50, [0, 2]), (60, [1]), (61, [0, 2])]

    def test_what_waits_for_another_is_not_due_before_it(self, store: Store) -> None:
        add(store, job(0), job(1))
        with store.write() as tx:
            first, _ = claim(tx, until=200)
            assert tx.work.postpone(first, 500)
            assert tx.work.next_due() == 500
            assert claim(tx, now=499) == []

    @pytest.mark.parametrize("session", ["s", None])
    def test_work_is_left_in_a_session_until_it_is_finished(self, store: Store, session: str | None) -> None:
        add(store, job(0, session, namespace="travel"))
        asked = (HOME, session, (DERIVE, DREAM), "travel")
        others = (
            ("other", *asked[1:]),
            (HOME, "t", *asked[2:]),
            (HOME, "S", *asked[2:]),
            (HOME, "s" if session is None else None, *asked[2:]),
            (HOME, session, (SUMMARISE, DREAM), "travel"),
            (HOME, session, (), "travel"),
            (HOME, session, (DERIVE,), "work"),
        )
        with store.write() as tx:
            assert tx.work.left(*asked)
            (task,) = claim(tx)
            assert tx.work.left(*asked)
            assert not any(tx.work.left(*other) for other in others)
            assert tx.work.finish(task)
            assert not tx.work.left(*asked)

    def test_tallies_tell_what_waits_what_is_held_and_what_is_done(self, store: Store) -> None:
        add(
            store,
            job(0, "t", units=2),
            job(1, "t", units=3),
            job(2, "t", peer="bob", units=5),
            job(3, "s", peer="bob", kind=DREAM),
            job(4, None, peer=None, kind=DREAM),
            job(5, "s", kind=DELIVER),
            job(6, "t", workspace="other"),
        )
        with store.write() as tx:
            first, _ = claim(tx, most=2)
            assert tx.work.finish(first)
            assert tx.work.tallies(HOME, REASONING, UNTIL - 1) == [
                Tally(None, None, 1, 0, 0),
                Tally("s", "bob", 1, 0, 0),
                Tally("t", "ann", 0, 3, 2),
                Tally("t", "bob", 5, 0, 0),
            ]
            assert tx.work.tallies(HOME, (DERIVE,), UNTIL) == [
                Tally("t", "ann", 3, 0, 2),
                Tally("t", "bob", 5, 0, 0),
            ]
            assert tx.work.tallies(HOME, (DELIVER,), NOW) == [Tally("s", "ann", 1, 0, 0)]
            assert tx.work.tallies("other", REASONING, NOW) == [Tally("t", "ann", 1, 0, 0)]
            assert tx.work.tallies(HOME, (), NOW) == tx.work.tallies("nowhere", REASONING, NOW) == []

    def test_what_is_done_is_counted_together_over_kinds_and_claims(self, store: Store) -> None:
        for kind in (DERIVE, SUMMARISE, DERIVE, DELIVER):
            add(store, job(kind=kind, units=2), job(kind=kind, session=None, peer=None))
        with store.write() as tx:
            while tasks := claim(tx):
                assert all(tx.work.finish(task) for task in tasks)
            assert tx.work.tallies(HOME, REASONING, NOW) == [
                Tally(None, None, 0, 0, 3),
                Tally("s", "ann", 0, 0, 6),
            ]
            assert tx.work.tallies(HOME, (SUMMARISE, SUMMARISE), NOW)[1] == Tally("s", "ann", 0, 0, 2)

    def test_dropped_work_of_a_session_is_forgotten_with_what_was_done(self, store: Store) -> None:
        add(store, *(job(n, session) for n, session in enumerate(("s", "s", "t", None))))
        add(store, job(4, "s", workspace="other"))
        with store.write() as tx:
            first, second = claim(tx)
            assert tx.work.finish(first)
            tx.work.drop(HOME, "s")
            assert not tx.work.finish(second)
            assert tx.work.tallies(HOME, REASONING, NOW) == [
                Tally(None, "ann", 1, 0, 0),
                Tally("t", "ann", 1, 0, 0),
            ]
            assert [[task.first for task in claim(tx)] for _ in range(4)] == [[2], [3], [4], []]
        add(store, job(5, "s"))
        assert claimed(store) == [5]

    def test_tallies_of_some_namespaces_count_what_lies_there(self, store: Store) -> None:
        add(
            store,
            job(0, "s", units=2, namespace="travel"),
            job(1, "t", units=3, namespace="work"),
            job(2, None, units=5, namespace="travel"),
            job(3, None, units=7, namespace="work"),
            job(4, None, units=11, namespace="work"),
        )
        with store.write() as tx:
            for _ in range(4):
                (task,) = claim(tx)
                assert tx.work.finish(task)
            expected = {
                ("travel",): [Tally(None, "ann", 0, 0, 5), Tally("s", "ann", 0, 0, 2)],
                ("work",): [Tally(None, "ann", 11, 0, 7), Tally("t", "ann", 0, 0, 3)],
                ("nowhere",): [],
                (): [],
            }
            for namespaces, told in expected.items():
                assert tx.work.tallies(HOME, REASONING, NOW, namespaces) == told
            both = tx.work.tallies(HOME, REASONING, NOW, ("travel", "work"))
            assert both == tx.work.tallies(HOME, REASONING, NOW)
            assert both[0] == Tally(None, "ann", 11, 0, 12)

    def test_dropped_work_of_some_namespaces_leaves_that_of_the_others(self, store: Store) -> None:
        places = (("s", "travel"), ("t", "work"), (None, "travel"), (None, "work"))
        add(store, *(job(n, session, namespace=name) for n, (session, name) in enumerate(places)))
        with store.write() as tx:
            (first,) = claim(tx)
            assert tx.work.finish(first)
            tx.work.drop(HOME, namespaces=())
            assert len(tx.work.tallies(HOME, REASONING, NOW)) == 3
            tx.work.drop(HOME, namespaces=("travel", "nowhere"))
            assert tx.work.tallies(HOME, REASONING, NOW, ("travel",)) == []
            assert tx.work.tallies(HOME, REASONING, NOW) == [
                Tally(None, "ann", 1, 0, 0),
                Tally("t", "ann", 1, 0, 0),
            ]

    def test_what_waited_for_dropped_work_of_its_session_waits_no_longer(self, store: Store) -> None:
        add(store, job(1, namespace="travel"), job(2, namespace="work"))
        with store.write() as tx:
            tx.work.drop(HOME, namespaces=("travel",))
            assert tx.work.next_due() == NOW
            assert [task.first for task in claim(tx)] == [2]

    def test_dropped_work_of_a_workspace_is_all_of_it(self, store: Store) -> None:
        add(store, *(job(n, session) for n, session in enumerate(("s", "t", None))))
        add(store, job(3, "s", workspace="other"))
        with store.write() as tx:
            (first,) = claim(tx)
            assert tx.work.finish(first)
            tx.work.drop(HOME)
            assert tx.work.tallies(HOME, (*REASONING, DELIVER), NOW) == []
            assert [task.first for task in claim(tx)] == [3]
