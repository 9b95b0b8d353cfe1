"""The book's contract as tests, for any implementation of `mnemon.ports.book`.

A book of one's own is held to it like this:

    class TestMyBook(BookContract):
        @pytest.fixture
        def book(self) -> Iterator[Book]:
            book = MyBook()
            yield book
            book.close()

A book that keeps files, or talks to a server that does, is held to `StoredBookContract` of
`mnemon.testing.stored_book_contract`, which adds what must outlive a process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import product
from typing import Any

import pytest
from msgspec.structs import replace

from mnemon.domain import audit, merkle, ulid
from mnemon.domain.audit import Event
from mnemon.domain.cap import Revocation
from mnemon.domain.line import PROFILE, TOMBSTONE, SealedLine
from mnemon.domain.names import ALL, Room
from mnemon.ports.book import ALL_BEFORE, Book, Span, TermsChange, Transaction, WrappedKey

WORKSPACE = "acme"
OWNER = "ann"
ROOM = Room(WORKSPACE, OWNER, "work")
TRAVEL = ROOM._replace(namespace="travel")
ELSEWHERE = (
    ROOM._replace(workspace="other"),
    ROOM._replace(owner="bob"),
    TRAVEL,
)
"""Rooms that differ from ROOM in one coordinate."""

IDS = [ulid.compose(ms, bytes(ulid.ENTROPY_BYTES)) for ms in range(8)]
"""Ids in order, the oldest first."""

THREADS = 8
_WRITES_PER_THREAD = 12
_SWITCH_SECONDS = 1e-5
_PATIENCE_SECONDS = 30
EVERYTHING = 1 << 31


class GiveUp(Exception):
    """Raised inside a write to have it rolled back."""


def sealed_line(line_id: str = IDS[0], room: Room = ROOM, **changes: Any) -> SealedLine:
    """A line as a book keeps it. What is sealed does not matter here."""
    plain = SealedLine(
        room=room,
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


def span(*namespaces: str, **changes: Any) -> Span:
    """All of one owner's lines in those namespaces, oldest first, unless told otherwise."""
    return replace(Span(WORKSPACE, OWNER, namespaces or (ROOM.namespace,), newest_first=False), **changes)


def event(detail: str = "") -> Event:
    return Event(1, OWNER, "cap", "put", audit.OK, (ROOM.namespace,), (IDS[0],), detail)


def append(book: Book, *lines: SealedLine) -> None:
    with book.write() as tx:
        for line in lines:
            assert tx.lines.append(line)


def walked(book: Book, asked: Span) -> list[tuple[str, str]]:
    with book.read() as tx:
        return [(line.id, line.room.namespace) for line in tx.lines.walk(asked)]


def changes_since(book: Book, seq: int, room: Room = ROOM) -> list[TermsChange]:
    with book.read() as tx:
        return list(tx.terms.since(room, seq))


def log(book: Book, workspace: str = WORKSPACE) -> list[audit.Row]:
    with book.read() as tx:
        return tx.audit.rows(workspace, 0, EVERYTHING)


def fill(tx: Transaction, room: Room = ROOM) -> None:
    """Leave something of every kind in a room and its workspace."""
    tx.lines.append(sealed_line(IDS[0], room))
    tx.lines.append(sealed_line(IDS[1], room, supersedes=IDS[0], session="s"))
    tx.lines.invalidate(room, IDS[0], IDS[1])
    tx.terms.add(room, IDS[0], b"tokens 1", b"\x01")
    tx.terms.remove(room, IDS[0])
    tx.terms.add(room, IDS[1], b"tokens 2", b"\x02")
    tx.keys.add(WrappedKey(room, "seal", tx.keys.next_epoch(room.workspace), b"wrapped"))
    tx.caps.revoke(Revocation(room.workspace, "jti", "cap", 1))
    tx.audit.append(room.workspace, event())
    tx.touch(room.workspace, caps=True, rooms=True)
    tx.owe_scrub()


def contents(book: Book, rooms: Sequence[Room] = (ROOM, *ELSEWHERE)) -> dict[object, object]:
    """Everything that a book tells about those rooms and their workspaces, to a reader and a writer alike."""
    with book.read() as tx:
        found = _told(tx, rooms)
    with book.write() as tx:
        assert _told(tx, rooms) == found
    found["scrub"] = book.scrub_pending()
    return found


def _told(tx: Transaction, rooms: Sequence[Room]) -> dict[object, object]:
    found: dict[object, object] = {
        "keys": tx.keys.every(),
        "rooms": tx.lines.rooms(),
        "workspaces": list(tx.workspaces()),
    }
    for room in rooms:
        whole = Span(room.workspace, room.owner, (room.namespace,), history=True)
        found[room] = (
            tx.lines.walk(whole),
            list(tx.terms.since(room, 0)),
            tx.keys.of(room.workspace, room.owner, (room.namespace,)),
            tx.keys.of(room.workspace, room.owner),
        )
        found[room.workspace] = (
            tx.marks(room.workspace),
            sorted(tx.caps.revocations(room.workspace), key=repr),
            tx.audit.rows(room.workspace, 0, EVERYTHING),
            tx.audit.tree(room.workspace).root(),
        )
    return found


class _TransactionContract:
    @pytest.mark.parametrize("failure", [GiveUp, KeyboardInterrupt])
    def test_a_write_that_raises_changes_nothing(self, book: Book, failure: type[BaseException]) -> None:
        with book.write() as tx:
            fill(tx)
        before = contents(book)
        with pytest.raises(failure), book.write() as tx:
            for room in ELSEWHERE:
                fill(tx, room)
            tx.lines.delete(ROOM, IDS[0])
            tx.lines.append(sealed_line(IDS[2]))
            tx.terms.add(ROOM, IDS[2], b"tokens 3", b"\x03")
            tx.terms.delete_room(ROOM)
            tx.keys.rewrap(tx.keys.every()[0]._replace(wrapped=b"other"))
            tx.caps.revoke(Revocation(ALL, "jti", "other", 2))
            tx.touch(ALL, caps=True, rooms=True)
            raise failure
        assert contents(book) == before

    def test_a_proof_burned_in_a_write_that_raises_is_not_burned(self, book: Book) -> None:
        with suppress(GiveUp), book.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 0, 9)
            raise GiveUp
        with book.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 0, 9)

    def test_a_book_can_be_written_after_a_write_that_raised(self, book: Book) -> None:
        with suppress(GiveUp), book.write():
            raise GiveUp
        append(book, sealed_line())
        assert walked(book, span()) == [(IDS[0], "work")]

    def test_a_write_sees_its_own_changes(self, book: Book) -> None:
        with book.write() as tx:
            tx.lines.append(sealed_line())
            tx.audit.append(WORKSPACE, event())
            assert tx.lines.get(ROOM, IDS[0]) == sealed_line()
            assert tx.audit.tree(WORKSPACE).size == 1

    def test_a_read_sees_nothing_of_a_write_that_is_still_open(self, book: Book) -> None:
        with book.write() as tx:
            fill(tx)
            with book.read() as reading:
                assert reading.lines.count(ROOM) == 0
                assert list(reading.workspaces()) == []

    def test_a_read_keeps_its_view_while_others_write(self, book: Book) -> None:
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

    def test_nothing_of_a_room_is_seen_from_another(self, book: Book) -> None:
        with book.write() as tx:
            fill(tx)
        with book.read() as tx:
            for room in ELSEWHERE:
                there = Span(room.workspace, room.owner, (room.namespace,), history=True)
                assert tx.lines.get(room, IDS[0]) is None
                assert tx.lines.walk(there) == []
                assert tx.lines.ids(there) == []
                assert tx.lines.count(room) == 0
                assert list(tx.terms.since(room, 0)) == []
                assert tx.keys.of(room.workspace, room.owner, (room.namespace,)) == []

    def test_nothing_of_a_workspace_is_seen_from_another(self, book: Book) -> None:
        with book.write() as tx:
            untouched = tx.marks("other")
            fill(tx)
            tx.caps.burn(WORKSPACE, "proof", 0, 9)
            assert tx.marks("other") == untouched
            assert tx.caps.revocations("other") == []
            assert tx.audit.rows("other", 0, 9) == []
            assert tx.audit.tree("other").size == 0
            assert tx.caps.burn("other", "proof", 0, 9)

    def test_what_is_deleted_in_other_rooms_stays_here(self, book: Book) -> None:
        with book.write() as tx:
            fill(tx)
            kept = (tx.lines.walk(span(history=True)), list(tx.terms.since(ROOM, 0)), tx.keys.every())
            for room in ELSEWHERE:
                assert not tx.lines.delete(room, IDS[0])
                assert tx.lines.delete_room(room) == 0
                tx.terms.remove(room, IDS[1])
                tx.terms.delete_room(room)
                assert tx.keys.delete_room(room) == 0
            assert (tx.lines.walk(span(history=True)), list(tx.terms.since(ROOM, 0)), tx.keys.every()) == kept


class _LinesContract:
    def test_a_line_is_read_back_as_it_was_stored(self, book: Book) -> None:
        full = sealed_line(
            IDS[1],
            kind="card",
            session="Gespräch 会议 🗂",
            created_at=(1 << 48) - 1,
            occurred_at=-62_135_596_800_000,
            supersedes=IDS[0],
            cap="01ARZ3NDEKTSV4RRFFQ69G5FAV",
            metadata='{"naïve":"日本"}',
            epoch=(1 << 32) - 1,
            sealed=bytes(range(256)),
        )
        append(book, sealed_line(IDS[0]), full)
        with book.read() as tx:
            assert tx.lines.get(ROOM, IDS[1]) == full
            assert tx.lines.walk(span()) == [sealed_line(IDS[0]), full]

    def test_an_id_that_is_taken_is_not_stored_again(self, book: Book) -> None:
        first = sealed_line()
        append(book, first)
        with book.write() as tx:
            assert not tx.lines.append(first)
            assert not tx.lines.append(sealed_line())
            assert not tx.lines.append(sealed_line(sealed=b"another", kind="card", session="s"))
        with book.read() as tx:
            assert tx.lines.walk(span()) == [first]

    def test_the_same_id_in_another_room_is_another_line(self, book: Book) -> None:
        append(book, sealed_line())
        append(book, *(sealed_line(room=room, sealed=repr(room).encode()) for room in ELSEWHERE))
        with book.read() as tx:
            assert tx.lines.get(ROOM, IDS[0]) == sealed_line()
            for room in ELSEWHERE:
                assert tx.lines.get(room, IDS[0]) == sealed_line(room=room, sealed=repr(room).encode())

    @pytest.mark.parametrize("twin", ["Ann", "ann ", "a\N{LATIN SMALL LETTER N WITH TILDE}n", "an\u0303n"])
    def test_owners_and_workspaces_compare_byte_for_byte(self, book: Book, twin: str) -> None:
        append(book, sealed_line())
        for room in (ROOM._replace(owner=twin), ROOM._replace(workspace=twin)):
            with book.read() as tx:
                assert tx.lines.count(room) == 0
            append(book, sealed_line(room=room))
        with book.read() as tx:
            assert tx.lines.count(ROOM) == 1

    def test_ids_compare_byte_for_byte(self, book: Book) -> None:
        written = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        append(book, sealed_line(written))
        with book.read() as tx:
            assert tx.lines.get(ROOM, written.lower()) is None

    def test_a_walk_is_in_order_of_id_then_namespace(self, book: Book) -> None:
        append(book, *(sealed_line(IDS[n], room) for n in (2, 0, 1) for room in (ROOM, TRAVEL)))
        upward = [(line_id, namespace) for line_id in IDS[:3] for namespace in ("travel", "work")]
        assert walked(book, span("work", "travel")) == upward
        assert walked(book, span("travel", "work", newest_first=True)) == upward[::-1]

    def test_both_bounds_of_a_walk_are_exclusive(self, book: Book) -> None:
        append(book, *(sealed_line(line_id) for line_id in IDS[:5]))
        bounded = span(after=(IDS[0], "work"), before=IDS[4])
        assert walked(book, bounded) == [(line_id, "work") for line_id in IDS[1:4]]
        assert walked(book, replace(bounded, newest_first=True)) == [
            (line_id, "work") for line_id in IDS[3:0:-1]
        ]

    def test_a_walk_goes_on_behind_a_namespace_of_the_same_id(self, book: Book) -> None:
        append(book, *(sealed_line(line_id, room) for line_id in IDS[:2] for room in (ROOM, TRAVEL)))
        both = span("travel", "work")
        assert walked(book, replace(both, after=(IDS[0], "travel"))) == [
            (IDS[0], "work"),
            (IDS[1], "travel"),
            (IDS[1], "work"),
        ]
        assert walked(book, replace(both, after=(IDS[0], "work")))[0] == (IDS[1], "travel")
        assert walked(book, replace(both, after=(IDS[0], ALL_BEFORE)))[0] == (IDS[1], "travel")

    @pytest.mark.parametrize("page", [1, 2, 3, 5, 100])
    def test_pages_of_any_size_give_every_line_once(self, book: Book, page: int) -> None:
        append(book, *(sealed_line(line_id, room) for line_id in IDS[:4] for room in (ROOM, TRAVEL)))
        asked = span("travel", "work", limit=page)
        expected = walked(book, replace(asked, limit=100))
        found: list[tuple[str, str]] = []
        for _ in range(len(expected) + 1):
            following = walked(book, replace(asked, after=found[-1] if found else None))
            assert len(following) <= page
            found.extend(following)
        assert found == expected
        assert len(set(found)) == 8

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_a_limit_holds_over_all_namespaces_together(self, book: Book, newest_first: bool) -> None:
        append(book, *(sealed_line(line_id, room) for line_id in IDS[:3] for room in (ROOM, TRAVEL)))
        asked = span("travel", "work", newest_first=newest_first)
        whole = walked(book, asked)
        for limit in range(8):
            assert walked(book, replace(asked, limit=limit)) == whole[:limit]

    def test_lines_that_are_passed_over_do_not_count_towards_the_limit(self, book: Book) -> None:
        append(book, *(sealed_line(line_id, session="s") for line_id in IDS[:4]), sealed_line(IDS[4]))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[0], IDS[4])
        assert walked(book, span(limit=2)) == [(IDS[1], "work"), (IDS[2], "work")]
        assert walked(book, span(limit=2, sessions={"s"}, newest_first=True))[0] == (IDS[3], "work")

    def test_a_walk_of_some_sessions_gives_only_their_lines(self, book: Book) -> None:
        append(
            book,
            sealed_line(IDS[0], session="one"),
            sealed_line(IDS[1], session="two"),
            sealed_line(IDS[2], session="three"),
            sealed_line(IDS[3]),
        )
        assert walked(book, span(sessions={"one", "three"})) == [(IDS[0], "work"), (IDS[2], "work")]
        assert walked(book, span(sessions={"ONE"})) == []

    def test_no_sessions_and_no_namespaces_are_not_all_of_them(self, book: Book) -> None:
        append(book, sealed_line(session="one"))
        assert walked(book, span(sessions=())) == []
        assert walked(book, Span(WORKSPACE, OWNER, ())) == []

    def test_a_walk_passes_over_invalidated_lines_and_tombstones(self, book: Book) -> None:
        append(book, *(sealed_line(line_id) for line_id in IDS[:3]), sealed_line(IDS[3], kind=TOMBSTONE))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[0], IDS[3])
        assert walked(book, span()) == [(IDS[1], "work"), (IDS[2], "work")]

    def test_history_shows_what_was_replaced_and_by_what(self, book: Book) -> None:
        append(book, sealed_line(IDS[0]), sealed_line(IDS[1], kind=TOMBSTONE, supersedes=IDS[0]))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[0], IDS[1])
        with book.read() as tx:
            old, tombstone = tx.lines.walk(span(history=True))
            assert old == tx.lines.get(ROOM, IDS[0]) == sealed_line(IDS[0], invalidated_by=IDS[1])
            assert tombstone.kind == TOMBSTONE

    def test_a_walk_of_the_profile_gives_only_its_lines(self, book: Book) -> None:
        kinds = (PROFILE, "memory", PROFILE, TOMBSTONE, PROFILE)
        append(book, *(sealed_line(IDS[n], kind=kind) for n, kind in enumerate(kinds)))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[2], IDS[3])
        assert walked(book, span(profile=True)) == [(IDS[0], "work"), (IDS[4], "work")]
        assert walked(book, span(profile=True, limit=1, newest_first=True)) == [(IDS[4], "work")]
        assert walked(book, span(profile=True, history=True)) == [(IDS[n], "work") for n in (0, 2, 4)]

    def test_ids_are_those_that_a_walk_gives(self, book: Book) -> None:
        append(
            book,
            *(sealed_line(IDS[n], room, session="ab"[n % 2]) for n in range(4) for room in (ROOM, TRAVEL)),
            sealed_line(IDS[5], kind=PROFILE, session="a"),
            sealed_line(IDS[4], kind=TOMBSTONE),
        )
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[1], IDS[4])
        choices = product(
            [("work",), ("travel", "work")],
            [None, (IDS[0], "travel"), (IDS[1], ALL_BEFORE)],
            [None, IDS[3]],
            [None, ("a",)],
            [False, True],
            [False, True],
            [1, 3, 100],
            [False, True],
        )
        with book.read() as tx:
            for choice in choices:
                asked = Span(WORKSPACE, OWNER, *choice)
                assert tx.lines.ids(asked) == [line.id for line in tx.lines.walk(asked)], asked

    def test_a_line_is_replaced_once(self, book: Book) -> None:
        append(book, *(sealed_line(line_id) for line_id in IDS[:3]), sealed_line(IDS[0], TRAVEL))
        with book.write() as tx:
            assert tx.lines.invalidate(ROOM, IDS[0], IDS[1])
            assert not tx.lines.invalidate(ROOM, IDS[0], IDS[2])
        with book.read() as tx:
            assert tx.lines.get(ROOM, IDS[0]) == sealed_line(IDS[0], invalidated_by=IDS[1])
            assert tx.lines.get(TRAVEL, IDS[0]) == sealed_line(IDS[0], TRAVEL)

    def test_a_line_that_is_not_there_can_not_be_replaced(self, book: Book) -> None:
        with book.write() as tx:
            assert not tx.lines.invalidate(ROOM, IDS[0], IDS[1])
        append(book, sealed_line())
        assert walked(book, span()) == [(IDS[0], "work")]

    def test_a_deleted_line_is_gone(self, book: Book) -> None:
        append(book, sealed_line(IDS[0]), sealed_line(IDS[1]))
        with book.write() as tx:
            assert tx.lines.delete(ROOM, IDS[0])
            assert not tx.lines.delete(ROOM, IDS[0])
        with book.read() as tx:
            assert tx.lines.get(ROOM, IDS[0]) is None
            assert tx.lines.walk(span(history=True)) == [sealed_line(IDS[1])]
            assert tx.lines.count(ROOM) == 1

    def test_with_a_deleted_line_the_note_of_what_replaced_it_goes(self, book: Book) -> None:
        append(book, sealed_line(IDS[0]), sealed_line(IDS[1]))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[0], IDS[1])
            tx.lines.delete(ROOM, IDS[0])
        append(book, sealed_line(IDS[0]))
        assert walked(book, span()) == [(IDS[0], "work"), (IDS[1], "work")]

    def test_what_a_deleted_line_replaced_stays_invalidated(self, book: Book) -> None:
        append(book, sealed_line(IDS[0]), sealed_line(IDS[1], supersedes=IDS[0]))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[0], IDS[1])
            tx.lines.delete(ROOM, IDS[1])
        assert walked(book, span()) == []
        with book.read() as tx:
            assert tx.lines.walk(span(history=True)) == [sealed_line(IDS[0], invalidated_by=IDS[1])]

    def test_a_deleted_room_is_empty_and_says_how_many_lines_it_had(self, book: Book) -> None:
        append(book, *(sealed_line(line_id) for line_id in IDS[:3]), sealed_line(IDS[0], TRAVEL))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[0], IDS[1])
            tx.lines.invalidate(TRAVEL, IDS[0], IDS[1])
            assert tx.lines.delete_room(ROOM) == 3
            assert tx.lines.delete_room(ROOM) == 0
        append(book, sealed_line(IDS[0]))
        assert walked(book, span("travel", "work")) == [(IDS[0], "work")]
        with book.read() as tx:
            assert tx.lines.get(TRAVEL, IDS[0]) == sealed_line(IDS[0], TRAVEL, invalidated_by=IDS[1])

    def test_a_count_is_of_every_line_of_the_room(self, book: Book) -> None:
        append(book, sealed_line(IDS[0]), sealed_line(IDS[1], kind=TOMBSTONE), sealed_line(IDS[0], TRAVEL))
        with book.write() as tx:
            tx.lines.invalidate(ROOM, IDS[0], IDS[1])
        with book.read() as tx:
            assert tx.lines.count(ROOM) == 2

    def test_rooms_and_namespaces_are_told_in_order_while_they_hold_a_line(self, book: Book) -> None:
        names = ("work", "a", "travel", "a.b", "a-b")
        rooms = [ROOM._replace(namespace=name) for name in names]
        rooms += [*ELSEWHERE[:2], ROOM._replace(owner="bob", namespace="a")]
        append(book, *(sealed_line(room=room) for room in rooms))
        with book.write() as tx:
            assert tx.lines.namespaces(WORKSPACE, OWNER) == sorted(names)
            assert tx.lines.rooms() == sorted(rooms)
            assert tx.lines.namespaces("other", "bob") == []
            tx.lines.invalidate(ROOM, IDS[0], IDS[1])
            tx.lines.delete(TRAVEL, IDS[0])
            tx.lines.delete_room(rooms[1])
        with book.read() as tx:
            assert tx.lines.namespaces(WORKSPACE, OWNER) == ["a-b", "a.b", "work"]
            assert tx.lines.rooms() == sorted(room for room in rooms if room not in (TRAVEL, rooms[1]))


class _TermsContract:
    def test_changes_come_in_the_order_they_were_made(self, book: Book) -> None:
        with book.write() as tx:
            for n in range(3):
                tx.terms.add(ROOM, IDS[2 - n], bytes(8 * n), bytes(n))
        changes = changes_since(book, 0)
        assert [(change.id, change.tokens, change.counts) for change in changes] == [
            (IDS[2 - n], bytes(8 * n), bytes(n)) for n in range(3)
        ]
        assert changes[0].seq < changes[1].seq < changes[2].seq

    def test_only_what_came_after_is_told(self, book: Book) -> None:
        with book.write() as tx:
            for line_id in IDS[:4]:
                tx.terms.add(ROOM, line_id, b"", b"")
        changes = changes_since(book, 0)
        for n, change in enumerate(changes):
            assert changes_since(book, change.seq) == changes[n + 1 :]

    def test_a_removed_line_has_no_tokens_left(self, book: Book) -> None:
        with book.write() as tx:
            tx.terms.add(ROOM, IDS[0], b"tokens 0", b"\x01")
            tx.terms.add(ROOM, IDS[1], b"tokens 1", b"\x01")
            tx.terms.remove(ROOM, IDS[0])
        assert [(change.id, change.tokens) for change in changes_since(book, 0)] == [
            (IDS[1], b"tokens 1"),
            (IDS[0], None),
        ]

    @pytest.mark.parametrize("removed", IDS[:3])
    def test_whoever_followed_to_the_end_is_told_of_a_removal(self, book: Book, removed: str) -> None:
        with book.write() as tx:
            for line_id in IDS[:3]:
                tx.terms.add(ROOM, line_id, b"tokens", b"\x01")
        followed = changes_since(book, 0)[-1].seq
        with book.write() as tx:
            tx.terms.remove(ROOM, removed)
        assert [(change.id, change.tokens) for change in changes_since(book, followed)] == [(removed, None)]

    def test_whoever_followed_to_the_end_is_told_of_everything_after_it(self, book: Book) -> None:
        known: set[str] = set()
        followed = 0
        steps = [("add", 0), ("remove", 0), ("add", 0), ("add", 1), ("remove", 1), ("remove", 0), ("add", 2)]
        present: set[str] = set()
        for step, n in steps:
            with book.write() as tx:
                if step == "add":
                    tx.terms.add(ROOM, IDS[n], b"tokens", b"\x01")
                    present.add(IDS[n])
                else:
                    tx.terms.remove(ROOM, IDS[n])
                    present.discard(IDS[n])
            for change in changes_since(book, followed):
                followed = change.seq
                known = known - {change.id} if change.tokens is None else known | {change.id}
            assert known == present, (step, n)

    def test_removing_what_is_not_there_changes_nothing(self, book: Book) -> None:
        with book.write() as tx:
            tx.terms.add(ROOM, IDS[0], b"tokens", b"\x01")
        before = changes_since(book, 0)
        with book.write() as tx:
            tx.terms.remove(ROOM, IDS[1])
            tx.terms.remove(TRAVEL, IDS[0])
        assert changes_since(book, 0) == before
        assert changes_since(book, 0, TRAVEL) == []

    def test_a_line_without_tokens_is_not_a_removed_line(self, book: Book) -> None:
        with book.write() as tx:
            tx.terms.add(ROOM, IDS[0], b"", b"")
        assert [change.tokens for change in changes_since(book, 0)] == [b""]

    def test_a_deleted_room_has_no_changes(self, book: Book) -> None:
        with book.write() as tx:
            for room in (ROOM, TRAVEL):
                tx.terms.add(room, IDS[0], b"tokens", b"\x01")
            tx.terms.delete_room(ROOM)
        assert changes_since(book, 0) == []
        assert [change.id for change in changes_since(book, 0, TRAVEL)] == [IDS[0]]


class _KeysContract:
    def test_keys_come_by_room_with_the_oldest_epoch_first(self, book: Book) -> None:
        made = [WrappedKey(room, "seal", epoch, b"k") for epoch in (10, 9, 2) for room in (ROOM, TRAVEL)]
        with book.write() as tx:
            for key in made:
                tx.keys.add(key)
        with book.read() as tx:
            assert [(key.room, key.epoch) for key in tx.keys.of(WORKSPACE, OWNER)] == [
                (room, epoch) for room in (TRAVEL, ROOM) for epoch in (2, 9, 10)
            ]

    def test_a_key_is_read_back_as_it_was_added(self, book: Book) -> None:
        keys = [
            WrappedKey(ROOM, "blind", 1, bytes(range(256))),
            WrappedKey(ROOM, "seal", (1 << 32) - 1, b"\0wrapped\0"),
        ]
        with book.write() as tx:
            for key in keys:
                tx.keys.add(key)
        with book.read() as tx:
            assert tx.keys.of(WORKSPACE, OWNER, ("work",)) == keys

    def test_keys_are_asked_for_by_owner_and_namespace(self, book: Book) -> None:
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

    def test_an_epoch_is_never_given_twice(self, book: Book) -> None:
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

    def test_a_rewrapped_key_keeps_its_place(self, book: Book) -> None:
        with book.write() as tx:
            for epoch in (1, 2):
                tx.keys.add(WrappedKey(ROOM, "seal", epoch, b"old"))
            tx.keys.rewrap(WrappedKey(ROOM, "seal", 1, b"new"))
        with book.read() as tx:
            assert [(key.epoch, key.wrapped) for key in tx.keys.every()] == [(1, b"new"), (2, b"old")]

    def test_whoever_asks_again_is_told_of_every_change(self, book: Book) -> None:
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

    def test_a_key_that_is_gone_does_not_come_back_by_rewrapping(self, book: Book) -> None:
        key = WrappedKey(ROOM, "seal", 1, b"k")
        with book.write() as tx:
            tx.keys.add(key)
            tx.keys.delete_room(ROOM)
            tx.keys.rewrap(key)
        with book.read() as tx:
            assert tx.keys.every() == []

    def test_a_deleted_room_loses_its_keys_and_says_how_many(self, book: Book) -> None:
        with book.write() as tx:
            for room in (ROOM, *ELSEWHERE):
                for purpose in ("blind", "seal"):
                    tx.keys.add(WrappedKey(room, purpose, 1, b"k"))
            assert tx.keys.delete_room(ROOM) == 2
            assert tx.keys.delete_room(ROOM) == 0
        with book.read() as tx:
            assert {key.room for key in tx.keys.every()} == set(ELSEWHERE)


class _CapsContract:
    def test_a_workspace_hears_of_its_own_revocations_and_of_those_that_hold_everywhere(
        self, book: Book
    ) -> None:
        own = Revocation(WORKSPACE, "jti", "a", 5, subject="ann")
        everywhere = Revocation(ALL, "kid", "b", 6)
        with book.write() as tx:
            for one in (own, everywhere, Revocation("other", "sub", "c", 7)):
                tx.caps.revoke(one)
        with book.read() as tx:
            assert sorted(tx.caps.revocations(WORKSPACE), key=repr) == sorted([own, everywhere], key=repr)
            assert tx.caps.revocations("third") == [everywhere]

    def test_revocations_that_differ_in_anything_but_time_stand_side_by_side(self, book: Book) -> None:
        first = Revocation(WORKSPACE, "jti", "a", 5, subject="ann")
        others = [replace(first, kind="sub"), replace(first, value="b"), replace(first, subject=ALL)]
        with book.write() as tx:
            for one in (first, *others):
                tx.caps.revoke(one)
        with book.read() as tx:
            assert sorted(tx.caps.revocations(WORKSPACE), key=repr) == sorted([first, *others], key=repr)

    @pytest.mark.parametrize("times", [(5, 9), (9, 5)])
    def test_of_two_revocations_of_the_same_the_later_time_holds(
        self, book: Book, times: tuple[int, int]
    ) -> None:
        for at in times:
            with book.write() as tx:
                tx.caps.revoke(Revocation(WORKSPACE, "sub", "ann", at))
        with book.read() as tx:
            assert tx.caps.revocations(WORKSPACE) == [Revocation(WORKSPACE, "sub", "ann", 9)]

    def test_a_proof_is_burned_once(self, book: Book) -> None:
        with book.write() as tx:
            assert tx.caps.burn(WORKSPACE, "proof", 10, 20)
            assert not tx.caps.burn(WORKSPACE, "proof", 11, 21)
            assert tx.caps.burn(WORKSPACE, "another", 11, 21)
            assert tx.caps.burn("other", "proof", 11, 21)
        with book.write() as tx:
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 30)

    def test_a_proof_is_remembered_until_its_time_and_no_longer(self, book: Book) -> None:
        with book.write() as tx:
            tx.caps.burn(WORKSPACE, "proof", 10, 20)
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 40)
            tx.caps.burn("other", "proof", 100, 200)
            assert not tx.caps.burn(WORKSPACE, "proof", 20, 40)
            assert tx.caps.burn(WORKSPACE, "proof", 21, 41)
            assert not tx.caps.burn(WORKSPACE, "proof", 22, 42)


class _AuditContract:
    def test_rows_arenumbered_from_zero_and_read_back_as_they_were_appended(self, book: Book) -> None:
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

    def test_the_log_of_each_workspace_is_a_chain_of_its_own(self, book: Book) -> None:
        for n in range(3):
            for workspace in (WORKSPACE, "other"):
                with book.write() as tx:
                    tx.audit.append(workspace, event(str(n)))
        for workspace in (WORKSPACE, "other"):
            found = audit.verify(workspace, log(book, workspace))
            with book.read() as tx:
                tree = tx.audit.tree(workspace)
                assert (tree.size, tree.root()) == (found.size, found.root) == (3, found.root)

    def test_rows_are_read_in_pages(self, book: Book) -> None:
        with book.write() as tx:
            for n in range(5):
                tx.audit.append(WORKSPACE, event(str(n)))
            for first, limit in product(range(7), range(7)):
                found = [row.seq for row in tx.audit.rows(WORKSPACE, first, limit)]
                assert found == list(range(5))[first : first + limit]

    def test_an_empty_log_has_an_empty_tree(self, book: Book) -> None:
        with book.read() as tx:
            tree = tx.audit.tree(WORKSPACE)
            assert (tree.size, tree.root()) == (0, merkle.EMPTY_ROOT)
            assert list(tx.workspaces()) == []

    def test_the_tree_proves_every_row_and_every_earlier_tree(self, book: Book) -> None:
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

    def test_the_tree_is_the_same_however_the_rows_were_written(self, book: Book) -> None:
        for first, end in ((0, 250), (250, 256), (256, 260), (260, 520)):
            with book.write() as tx:
                for n in range(first, end):
                    tx.audit.append(WORKSPACE, event(str(n)))
        rows = log(book)
        found = audit.verify(WORKSPACE, rows)
        with book.read() as tx:
            assert tx.audit.tree(WORKSPACE).root() == found.root
            assert tx.audit.tree(WORKSPACE).leaves(0, len(rows)) == [row.leaf for row in rows]

    def test_a_row_of_a_write_that_raised_leaves_no_gap(self, book: Book) -> None:
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

    def test_workspaces_with_a_log_are_told_in_order(self, book: Book) -> None:
        with book.write() as tx:
            for workspace in ("b", "a", "c", "a"):
                tx.audit.append(workspace, event())
            tx.lines.append(sealed_line())
        with book.read() as tx:
            assert list(tx.workspaces()) == ["a", "b", "c"]


class _MarksContract:
    def test_a_touch_changes_the_mark_it_names_and_no_other(self, book: Book) -> None:
        with book.write() as tx:
            fill(tx)
            before, other = tx.marks(WORKSPACE), tx.marks("other")
            tx.touch(WORKSPACE, caps=True)
            assert tx.marks(WORKSPACE).caps != before.caps
            assert tx.marks(WORKSPACE).rooms == before.rooms
            tx.touch(WORKSPACE, rooms=True)
            assert tx.marks(WORKSPACE).rooms != before.rooms
            assert tx.marks("other") == other

    def test_a_touch_of_nothing_changes_nothing(self, book: Book) -> None:
        with book.write() as tx:
            before = tx.marks(WORKSPACE)
            tx.touch(WORKSPACE)
            assert tx.marks(WORKSPACE) == before

    def test_a_touch_of_all_workspaces_changes_the_marks_of_each(self, book: Book) -> None:
        with book.write() as tx:
            tx.touch(WORKSPACE, caps=True, rooms=True)
            before = [tx.marks(workspace) for workspace in (WORKSPACE, "other", "never seen")]
            tx.touch(ALL, caps=True, rooms=True)
            after = [tx.marks(workspace) for workspace in (WORKSPACE, "other", "never seen")]
        for old, new in zip(before, after, strict=True):
            assert old.caps != new.caps
            assert old.rooms != new.rooms

    def test_a_mark_never_takes_an_old_value_again(self, book: Book) -> None:
        seen = []
        for n in range(12):
            with book.write() as tx:
                tx.touch(ALL if n % 3 else WORKSPACE, caps=True, rooms=True)
            with book.read() as tx:
                seen.append(tx.marks(WORKSPACE))
        assert len({mark.caps for mark in seen}) == len({mark.rooms for mark in seen}) == 12


class _ScrubContract:
    def test_a_scrub_is_pending_from_a_deletion_until_it_was_done(self, book: Book) -> None:
        assert not book.scrub_pending()
        append(book, sealed_line())
        with book.write() as tx:
            tx.lines.delete(ROOM, IDS[0])
            tx.owe_scrub()
        assert book.scrub_pending()
        assert book.scrub()
        assert not book.scrub_pending()

    def test_a_scrub_that_is_not_owed_may_be_asked_for(self, book: Book) -> None:
        with book.write() as tx:
            fill(tx)
        assert book.scrub()
        before = contents(book)
        assert book.scrub()
        assert contents(book) == before

    def test_a_scrub_beside_an_open_read_is_done_or_stays_pending(self, book: Book) -> None:
        append(book, sealed_line(IDS[0]), sealed_line(IDS[1]))
        with book.write() as tx:
            tx.lines.delete(ROOM, IDS[0])
            tx.owe_scrub()
        with book.read() as tx:
            assert tx.lines.count(ROOM) == 1
            assert book.scrub() is not book.scrub_pending()
            assert tx.lines.count(ROOM) == 1
        assert book.scrub()
        assert not book.scrub_pending()


class _ThreadsContract:
    def test_many_threads_lose_nothing(self, book: Book) -> None:
        in_many_threads([book] * THREADS, write_and_log)
        expect_all_written(book)

    def test_a_writer_waits_for_the_one_before_it(self, book: Book) -> None:
        begun = threading.Event()

        def write_next() -> int:
            begun.set()
            with book.write() as tx:
                return tx.lines.count(ROOM)

        with often_interrupted(), ThreadPoolExecutor(1) as pool:
            with book.write() as tx:
                following = pool.submit(write_next)
                assert begun.wait(_PATIENCE_SECONDS)
                for n in range(500):
                    tx.lines.append(sealed_line(numbered(0, n)))
            assert following.result() == 500

    def test_a_reader_never_sees_half_of_a_write(self, book: Book) -> None:
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


def in_many_threads(books: list[Book], work: Callable[[Book, int], None]) -> None:
    """Let one thread for each book do the work, all beginning together."""
    start = threading.Barrier(len(books))

    def run(book: Book, number: int) -> None:
        start.wait()
        work(book, number)

    with often_interrupted(), ThreadPoolExecutor(len(books)) as pool:
        for running in [pool.submit(run, book, number) for number, book in enumerate(books)]:
            running.result()


@contextmanager
def often_interrupted() -> Iterator[None]:
    """Have the interpreter switch between threads as often as it can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def write_and_log(book: Book, thread: int) -> None:
    for n in range(_WRITES_PER_THREAD):
        with book.write() as tx:
            tx.lines.append(sealed_line(numbered(thread, n)))
            tx.terms.add(ROOM, numbered(thread, n), b"tokens", b"\x01")
            tx.keys.add(WrappedKey(ROOM, "seal", tx.keys.next_epoch(WORKSPACE), b"k"))
            tx.audit.append(WORKSPACE, event(numbered(thread, n)))


def numbered(thread: int, n: int) -> str:
    return ulid.compose(n, thread.to_bytes(ulid.ENTROPY_BYTES, "big"))


def expect_all_written(book: Book) -> None:
    """Whatever `THREADS` threads wrote together is there, once, in one unbroken log."""
    expected = sorted(numbered(thread, n) for thread in range(THREADS) for n in range(_WRITES_PER_THREAD))
    with book.read() as tx:
        assert tx.lines.ids(span(limit=EVERYTHING)) == expected
        changes = list(tx.terms.since(ROOM, 0))
        assert sorted(change.id for change in changes) == expected
        assert len({change.seq for change in changes}) == len(expected)
        assert len({key.epoch for key in tx.keys.every()}) == len(expected)
    rows = log(book)
    assert audit.verify(WORKSPACE, rows).size == len(expected)
    assert sorted(row.event.detail for row in rows) == expected


class BookContract(
    _TransactionContract,
    _LinesContract,
    _TermsContract,
    _KeysContract,
    _CapsContract,
    _AuditContract,
    _MarksContract,
    _ScrubContract,
    _ThreadsContract,
):
    """What every book promises. Override `book`."""

    @pytest.fixture
    def book(self) -> Iterator[Book]:
        """An empty book, for one test."""
        raise NotImplementedError("override the fixture 'book': it gives each test an empty book")
