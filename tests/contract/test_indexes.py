from __future__ import annotations

from random import Random

import pytest

import stores
from contracts.index_contract import IndexContract
from contracts.index_scenes import (
    BOB,
    EAST,
    EVERYTHING,
    IDS,
    SPACE,
    TEA,
    TO_EAST,
    TRAVEL,
    WORK,
    about,
    add,
    hits,
    index_lines,
    lie,
    meaning,
    search,
)
from reference.index import ReferenceIndex
from reference.store import MemoryBook
from souvenance.adapters.index.compartment import RoomIndex
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.domain import relevance
from souvenance.domain.change_feed import Saying
from souvenance.ports import index as index_port
from souvenance.ports.index import IndexQuery, Inquiry


class Contract(IndexContract):
    @pytest.fixture
    def reference(self):
        return ReferenceIndex()

    @pytest.fixture
    def book(self):
        return MemoryBook()


class TestReferenceIndex(Contract):
    test_generated_rooms_are_searched_as_the_reference_searches_them = None
    """It is the reference: held against itself it could not fail."""

    @pytest.fixture
    def index(self):
        return ReferenceIndex()


class TestRankedIndex(Contract):
    @pytest.fixture
    def index(self):
        return RankedIndex()


class TestRankedIndexOverSqlite(Contract):
    @pytest.fixture
    def index(self):
        return RankedIndex()

    @pytest.fixture
    def book(self, tmp_path):
        book = stores.in_a_file(tmp_path / "book.db")
        yield book
        book.close()


class TestRankedIndexThatCanCacheNothing(Contract):
    @pytest.fixture
    def index(self):
        return RankedIndex(cache_bytes=0)


class Followed:
    """A transaction that notes which rooms are read from their beginning, and how much of them."""

    def __init__(self, tx):
        self._tx = tx
        self.marks = tx.marks
        self.terms = self
        self.comparing = None
        self.loaded = []
        self.followed = 0
        self.opened = 0

    def since(self, room, seq):
        if seq <= 0:
            self.loaded.append(room)
        feed = self._tx.terms.since(room, seq)
        self.followed += len(feed)
        return feed

    def vectors(self, room, space, seq):
        found = self._tx.terms.vectors(room, space, seq)
        self.opened += len(found)
        return found


def test_the_room_asked_about_longest_ago_is_the_first_to_be_dropped():
    book = MemoryBook()
    rooms = [WORK, TRAVEL, BOB]
    for room in rooms:
        index_lines(book, room, *[{TEA: 1}] * 8)
        lie(book, dict.fromkeys(IDS, EAST), room)

    def loaded(cache_bytes, *order):
        index = RankedIndex(cache_bytes=cache_bytes)
        with book.read() as tx:
            following = Followed(tx)
            for asked in order:
                index.search(following, meaning(TO_EAST, TEA, rooms=(rooms[asked],)), 20)
        return following.loaded

    room_for_two = next(size for size in range(0, 1 << 16, 64) if loaded(size, 0, 1, 0, 1) == rooms[:2])
    assert loaded(room_for_two, 0, 1, 0, 2, 0, 2) == rooms


def test_rooms_that_were_too_large_together_take_no_place_from_those_that_are_not():
    book, index = MemoryBook(), RankedIndex(cache_bytes=20_000)
    large, small = (WORK, TRAVEL), (BOB, BOB._replace(owner="eve"))
    for room, lines in (*((room, 200) for room in large), *((room, 2) for room in small)):
        with book.write() as tx:
            for number in range(lines):
                add(tx, room, f"{number:026}", {TEA: 1})
        lie(book, {f"{number:026}": EAST for number in range(lines)}, room)

    def loaded(*rooms):
        with book.read() as tx:
            following = Followed(tx)
            index.search(following, meaning(TO_EAST, TEA, rooms=rooms), 20)
        return following.loaded

    for _ in range(20):
        assert loaded(*large)
    loaded(*small)
    assert loaded(*small) == []


def test_while_a_question_s_vector_is_awaited_its_rooms_are_read_and_others_may_ask():
    book, index = MemoryBook(), RankedIndex()
    index_lines(book, WORK, {TEA: 1})
    lie(book, {IDS[0]: EAST})
    meanwhile = []
    with book.read() as tx:
        following = Followed(tx)

        def awaited():
            meanwhile.append(list(following.loaded))
            meanwhile.append(search(book, index, about(TEA)))
            return TO_EAST()

        [hit] = index.search(following, meaning(awaited, TEA), 20)
    assert meanwhile == [[WORK], [IDS[0]]]
    assert hit.signals[relevance.MEANING] == 1


def test_what_was_read_once_is_not_read_again():
    book, index = MemoryBook(), RankedIndex()
    for room in (WORK, TRAVEL):
        index_lines(book, room, *[{TEA: 1}] * 4)
        lie(book, dict.fromkeys(IDS[:4], EAST), room)
    inquiry = meaning(TO_EAST, TEA, rooms=(WORK, TRAVEL))
    for opened in (8, 0):
        with book.read() as tx:
            following = Followed(tx)
            index.search(following, inquiry, 20)
        assert following.opened == opened
    assert following.loaded == []
    lie(book, {IDS[2]: EAST})
    with book.read() as tx:
        following = Followed(tx)
        index.search(following, inquiry, 20)
    assert following.opened == 1


class Reading:
    """A room whose lines have vectors, read behind an index."""

    def __init__(self, *, lines=2):
        self.book, self.index, self.opened = MemoryBook(), RankedIndex(), []
        index_lines(self.book, WORK, *[{TEA: 1}] * 4)
        lie(self.book, dict.fromkeys(IDS[:lines], EAST))

    def ask(self, vector=TO_EAST):
        """How many are near in meaning, and how many vectors had to be read for that."""
        with self.book.read() as tx:
            following = Followed(tx)
            found = self.index.search(following, meaning(vector, TEA), 20)
        return sum(relevance.MEANING in hit.signals for hit in found), following.opened

    def keep_up(self, meanwhile=lambda: None, space=SPACE):
        def opened(line_id, sealed):
            meanwhile()
            self.opened.append(line_id)
            return sealed

        self.index.keep_up(self.book, lambda tx, room: index_port.Reading(space, opened))


def test_what_a_question_without_a_vector_left_unread_is_read_before_the_next():
    room = Reading()
    assert room.ask(lambda: None) == (0, 0)
    room.keep_up()
    assert room.opened == list(IDS[:2])
    assert room.ask() == (2, 0)


def test_vectors_that_came_are_read_before_somebody_asks_again():
    room = Reading()
    assert room.ask() == (2, 2)
    lie(room.book, {IDS[2]: EAST})
    room.index.touch(WORK, vectors=True)
    room.keep_up()
    assert room.opened == [IDS[2]]
    assert room.ask() == (3, 0)


def test_who_asks_while_vectors_are_read_does_not_wait_and_none_is_lost():
    room, asked = Reading(), []
    room.ask(lambda: None)
    room.keep_up(lambda: asked.append(room.ask()) if not asked else None)
    assert asked == [(2, 2)]
    assert room.ask() == (2, 0)


def test_a_line_that_goes_while_vectors_are_read_leaves_none_behind():
    room = Reading()
    room.ask(lambda: None)

    def forget_one():
        if not room.opened:
            with room.book.write() as tx:
                tx.terms.remove(WORK, IDS[:1])
            room.ask(lambda: None)

    room.keep_up(forget_one)
    assert room.ask() == (1, 1)


def test_vectors_of_a_room_that_nobody_asked_about_are_not_read():
    room = Reading()
    room.index.touch(WORK, vectors=True)
    room.keep_up()
    assert room.opened == []


class Writing:
    """A room that is written to behind an index, line by line."""

    def __init__(self):
        self.book, self.index = MemoryBook(), RankedIndex()
        self._ids = iter(IDS)

    def write(self, room=WORK, session="talk"):
        line_id = next(self._ids)
        with self.book.write() as tx:
            add(tx, room, line_id, {TEA: 1}, Saying(session, IDS.index(line_id) + 1))
            self.index.touch(room)
        return line_id

    def keep_up(self):
        self.index.keep_up(self.book, lambda tx, room: None)

    def ask(self, **bounds):
        """What is found, and how many lines had to be read for it."""
        with self.book.read() as tx:
            following = Followed(tx)
            found = self.index.search(following, about(TEA, **bounds), 20)
        return [hit.id for hit in found], following.followed


@pytest.mark.parametrize("bounds", [{}, {"sessions": {"talk"}}])
def test_who_asks_again_need_not_wait_for_what_was_kept_up_with(bounds):
    room = Writing()
    first = room.write()
    assert room.ask(**bounds) == ([first], 1)
    second = room.write()
    room.keep_up()
    assert room.ask(**bounds) == ([second, first], 0)


def test_what_is_not_committed_yet_is_kept_up_with_when_it_is():
    room = Writing()
    first = room.write()
    room.ask()
    room.index.touch(WORK)
    room.keep_up()
    second = room.write()
    room.keep_up()
    assert room.ask() == ([second, first], 0)


def test_nobody_keeps_up_for_whom_nobody_asked_since():
    room = Writing()
    lines = [room.write()]
    room.ask()
    for _ in range(3):
        lines.append(room.write())
        room.keep_up()
    assert room.ask() == (lines[::-1], 2)


def test_a_room_that_nobody_asked_about_is_not_read():
    room = Writing()
    room.write()
    room.keep_up()
    assert room.ask()[1] == 1


def test_a_session_changes_with_its_own_lines_and_not_with_those_of_others():
    book, index, codes = MemoryBook(), RoomIndex(mark=0), {"mine": 0, "theirs": 1}

    def change(write):
        before = {name: index.changed({code}) for name, code in codes.items()} | {"any": index.changed(None)}
        with book.write() as tx:
            write(tx)
        with book.read() as tx:
            index.follow(tx.terms.since(WORK, index.seq), codes.__getitem__)
        after = {name: index.changed({code}) for name, code in codes.items()} | {"any": index.changed(None)}
        return {name for name in after if after[name] > before[name]}

    assert change(lambda tx: add(tx, WORK, IDS[0], {TEA: 1}, Saying("mine", 1))) == {"mine", "any"}
    assert change(lambda tx: add(tx, WORK, IDS[1], {TEA: 1}, Saying("theirs", 1))) == {"theirs", "any"}
    assert change(lambda tx: add(tx, WORK, IDS[2], {TEA: 1}, Saying("mine", 2))) == {"mine", "any"}
    assert change(lambda tx: tx.terms.remove(WORK, (IDS[0],))) >= {"mine", "any"}


def test_a_room_larger_than_the_cache_is_searched_all_the_same():
    book, index = MemoryBook(), RankedIndex(cache_bytes=1)
    for room in (WORK, TRAVEL):
        index_lines(book, room, *[{TEA: 1}] * 8)
    for _ in range(2):
        assert len(search(book, index, about(TEA, rooms=(WORK, TRAVEL)))) == 16


@pytest.mark.parametrize("seed", range(8))
def test_the_few_best_are_the_first_of_all_that_are_found(seed):
    chance, book, index = Random(seed), MemoryBook(), RankedIndex()
    with book.write() as tx:
        for number in range(400):
            session, turn = divmod(number, 50)
            said = Saying(f"talk-{session}", turn + 1) if session else Saying(None, None)
            add(tx, WORK, f"{number:026}", dict.fromkeys(chance.sample(range(1, 40), 3), 1), said)
    tokens, groups = range(1, 13), [0, 1, 2, 3] * 3
    inquiry = Inquiry([IndexQuery(WORK, tokens)], groups, [1.0] * 4 + [0.5] * 4 + [0.8] * 4)
    every = [(hit.id, pytest.approx(hit.score)) for hit in hits(book, index, inquiry, EVERYTHING)]
    assert len(every) > 200
    for few in (1, 5, 30):
        assert [(hit.id, hit.score) for hit in hits(book, index, inquiry, few)] == every[:few]


def test_some_sessions_are_searched_as_they_are_now_whatever_was_looked_at_before():
    chance, book, index = Random(7), MemoryBook(), RankedIndex()
    for number in range(60):
        with book.write() as tx:
            said = Saying(f"talk-{number % 5}", number // 5 + 1)
            add(tx, WORK, f"{number:026}", dict.fromkeys(chance.sample(range(1, 12), 3), 1), said)
            if number % 7 == 6:
                tx.terms.remove(WORK, [f"{number - 5:026}"])
        for sessions in ({"talk-1"}, {"talk-1", "talk-3"}, {"nowhere"}, None):
            inquiry = about(1, 2, 3, sessions=sessions)
            assert hits(book, index, inquiry) == hits(book, RankedIndex(), inquiry)
