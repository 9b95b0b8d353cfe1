"""The book in SQL and the book in memory, told the same things, must always say the same.

Names, ids and times come from tiny sets, so that they collide.
"""

from __future__ import annotations

import tempfile
from itertools import product
from operator import attrgetter
from pathlib import Path

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mnemon.adapters.inmemory.book import MemoryBook
from mnemon.adapters.sql.book import SqlBook
from mnemon.adapters.sql.sqlite import SqliteEngine
from mnemon.domain import audit, ulid
from mnemon.domain.audit import Event
from mnemon.domain.cap import Revocation
from mnemon.domain.line import PROFILE, TOMBSTONE, SealedLine
from mnemon.domain.names import ALL, Room
from mnemon.ports.book import ALL_BEFORE, Span, WrappedKey

WORKSPACES = ("acme", "other")
OWNERS = ("ann", "bob")
NAMESPACES = ("travel", "work")
IDS = tuple(ulid.compose(ms, bytes(10)) for ms in range(3))
SESSIONS = ("s", "t")
TIMES = (0, 1, 2)
ROOMS = tuple(Room(*place) for place in product(WORKSPACES, OWNERS, NAMESPACES))

rooms = st.sampled_from((*ROOMS, *ROOMS[:2] * 4))
workspaces = st.sampled_from(WORKSPACES)
everywhere = st.sampled_from((*WORKSPACES, ALL))
ids = st.sampled_from(IDS)
times = st.sampled_from(TIMES)
sessions = st.none() | st.sampled_from(SESSIONS)
blobs = st.sampled_from((b"", b"\0", b"one", b"two"))

lines = st.builds(
    SealedLine,
    room=rooms,
    id=ids,
    kind=st.sampled_from(("memory", "memory", PROFILE, TOMBSTONE)),
    session=sessions,
    created_at=times,
    occurred_at=st.none() | times,
    supersedes=st.none() | ids,
    cap=st.just("cap"),
    metadata=st.sampled_from(("{}", '{"a":1}')),
    epoch=times,
    sealed=blobs,
)
events = st.builds(
    Event,
    at=times,
    actor=st.sampled_from(OWNERS),
    cap=st.just("cap"),
    operation=st.sampled_from(("put", "get")),
    outcome=st.just(audit.OK),
    namespaces=st.sampled_from(((), ("work",), NAMESPACES)),
    lines=st.sampled_from(((), IDS[:1], IDS)),
)
revocations = st.builds(
    Revocation,
    workspace=everywhere,
    kind=st.sampled_from(("jti", "sub", "kid")),
    value=st.sampled_from(("a", "b")),
    at=times,
    subject=st.sampled_from((ALL, "ann")),
)


def step(name, *arguments, **named):
    return st.tuples(st.just(name), st.tuples(*arguments), st.fixed_dictionaries(named))


steps = st.one_of(
    step("lines.append", lines),
    step("lines.append", lines),
    step("lines.append", lines),
    step("lines.invalidate", rooms, ids, ids),
    step("lines.delete", rooms, ids),
    step("lines.delete_room", rooms),
    step("terms.add", rooms, ids, blobs, blobs),
    step("terms.add", rooms, ids, blobs, blobs),
    step("terms.remove", rooms, ids),
    step("terms.delete_room", rooms),
    step("keys.next_epoch", workspaces),
    step("keys.of", workspaces, st.sampled_from(OWNERS)),
    step("keys.delete_room", rooms),
    step("new_key", rooms, st.sampled_from(("blind", "seal")), blobs),
    step("rewrap", st.integers(0, 3), blobs),
    step("keys.rewrap", st.builds(WrappedKey, rooms, st.just("seal"), st.integers(1, 3), blobs)),
    step("caps.revoke", revocations),
    step("caps.burn", workspaces, st.sampled_from(("p", "q")), times, times),
    step("audit.append", workspaces, events),
    step("audit.append", workspaces, events),
    step("marks", workspaces),
    step("touch", everywhere, caps=st.booleans(), rooms=st.booleans()),
    step("owe_scrub"),
)

SPANS = tuple(
    Span(workspace, owner, namespaces, *how)
    for (workspace, owner), namespaces, how in product(
        product(WORKSPACES, OWNERS),
        (NAMESPACES[1:], NAMESPACES),
        (
            (None, None, None, True, False, 100),
            (None, None, None, False, True, 100),
            (None, None, None, False, True, 2),
            ((IDS[0], "travel"), None, None, False, False, 2),
            ((IDS[0], "work"), IDS[2], None, True, True, 1),
            ((IDS[0], ALL_BEFORE), None, SESSIONS[:1], False, False, 100),
            (None, IDS[1], SESSIONS, True, True, 100),
            (None, None, None, False, True, 100, True),
        ),
    )
)


class Undone(Exception):
    pass


def apply(tx, name, arguments, named):
    """Do one step, and give back what it answered."""
    if name == "new_key":
        room, purpose, wrapped = arguments
        return tx.keys.add(WrappedKey(room, purpose, tx.keys.next_epoch(room.workspace), wrapped))
    if name == "rewrap":
        number, wrapped = arguments
        return [tx.keys.rewrap(key._replace(wrapped=wrapped)) for key in tx.keys.every()[number::4]]
    return attrgetter(name)(tx)(*arguments, **named)


def apply_all(book, todo, undone):
    try:
        with book.write() as tx:
            answers = [apply(tx, *one) for one in todo]
            seen = {"answers": answers, **told(tx)}
            if undone:
                raise Undone
    except Undone:
        pass
    return seen


def told(tx):
    """Everything that can be asked of a transaction without changing it."""
    return {
        "walks": [tx.lines.walk(span) for span in SPANS],
        "ids": [tx.lines.ids(span) for span in SPANS[::3]],
        "lines": [
            (tx.lines.get(room, line_id), tx.lines.count(room)) for room, line_id in product(ROOMS, IDS)
        ],
        "terms": [list(tx.terms.since(room, seq)) for room, seq in product(ROOMS, (0, 1, 3))],
        "keys": [tx.keys.every(), *(tx.keys.of(*place) for place in product(WORKSPACES, OWNERS))],
        "keys of a namespace": [tx.keys.of(*place, ("work",)) for place in product(WORKSPACES, OWNERS)],
        "revocations": [sorted(tx.caps.revocations(workspace), key=repr) for workspace in WORKSPACES],
        "audit": [tx.audit.rows(workspace, 0, 1000) for workspace in WORKSPACES],
        "audit pages": [tx.audit.rows(workspace, 1, 2) for workspace in WORKSPACES],
        "roots": [tx.audit.tree(workspace).root() for workspace in WORKSPACES],
        "marks": [tx.marks(workspace) for workspace in WORKSPACES],
        "workspaces": list(tx.workspaces()),
        "rooms": tx.lines.rooms(),
        "namespaces": [tx.lines.namespaces(*place) for place in product(WORKSPACES, OWNERS)],
    }


class Books(RuleBasedStateMachine):
    @initialize()
    def open(self):
        self.folder = tempfile.TemporaryDirectory()
        self.stored = self.opened()
        self.beside = self.opened()
        self.plain = MemoryBook()

    def opened(self):
        return SqlBook(SqliteEngine(Path(self.folder.name) / "book.db"))

    def compare(self, found, expected):
        for part, said in expected.items():
            assert found[part] == said, part

    @rule(todo=st.lists(steps, min_size=2, max_size=12), undone=st.sampled_from((False, False, True)))
    def write(self, todo, undone):
        self.compare(apply_all(self.stored, todo, undone), apply_all(self.plain, todo, undone))

    @rule(todo=st.lists(steps, min_size=1, max_size=6), undone=st.sampled_from((False, False, True)))
    def write_from_another_process(self, todo, undone):
        self.compare(apply_all(self.beside, todo, undone), apply_all(self.plain, todo, undone))

    @rule()
    def reopen(self):
        self.stored.close()
        self.stored = self.opened()

    @rule()
    def scrub(self):
        assert self.stored.scrub() is self.plain.scrub() is True

    @invariant()
    def both_say_the_same(self):
        assert self.stored.scrub_pending() == self.plain.scrub_pending()
        with self.plain.read() as tx:
            expected = told(tx)
        with self.stored.read() as tx:
            self.compare(told(tx), expected)

    @invariant()
    def the_log_verifies(self):
        with self.stored.read() as tx:
            for workspace in WORKSPACES:
                rows = tx.audit.rows(workspace, 0, 1000)
                found = audit.verify(workspace, rows)
                assert found.root == tx.audit.tree(workspace).root()

    def teardown(self):
        self.stored.close()
        self.beside.close()
        self.folder.cleanup()


TestBooks = Books.TestCase
TestBooks.settings = settings(
    max_examples=50,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
)
