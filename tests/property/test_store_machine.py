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

from pace import examples
from reference.store import MemoryStore
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.domain import audit, ulid
from souvenance.domain.audit import Event
from souvenance.domain.capability import INSTALLATION, Extent, Revocation, Revoker
from souvenance.domain.change_feed import Saying
from souvenance.domain.directory import DERIVE, DREAM, MEMBER, PEER, Entry, Job, Membership, Task
from souvenance.domain.directory import WORKSPACE as WORKSPACE_ENTRY
from souvenance.domain.line import PROFILE, TOMBSTONE, SealedLine
from souvenance.domain.names import ALL, Compartment
from souvenance.domain.retention import Aged, Hidden
from souvenance.ports.directory import Batch
from souvenance.ports.store import ALL_BEFORE, LineQuery, TurnQuery, ViewQuery, WrappedKey

WORKSPACES = ("acme", "other")
OWNERS = ("ann", "bob")
NAMESPACES = ("travel", "work")
IDS = tuple(ulid.compose(ms, bytes(10)) for ms in range(3))
SESSIONS = ("s", "t")
SPACES = ("old", "new")
TIMES = (0, 1, 2)
TURNS = (1, 2, 3)
HOLDERS = ("h", "i")
COMPARTMENTS = tuple(Compartment(*place) for place in product(WORKSPACES, OWNERS, NAMESPACES))

compartments = st.sampled_from((*COMPARTMENTS, *COMPARTMENTS[:2] * 4))
workspaces = st.sampled_from(WORKSPACES)
mostly_acme = st.sampled_from(("acme", "acme", "acme", "other"))
everywhere = st.sampled_from((*WORKSPACES, ALL))
ids = st.sampled_from(IDS)
times = st.sampled_from(TIMES)
owners = st.sampled_from(OWNERS)
named_sessions = st.sampled_from(SESSIONS)
sessions = st.none() | named_sessions
some_ids = st.lists(ids, max_size=3)
turns = st.none() | st.sampled_from(TURNS)
few_compartments = st.sampled_from(COMPARTMENTS[:2])
spaces = st.sampled_from(SPACES)
blobs = st.sampled_from((b"", b"\0", b"one", b"two"))
sayings = st.builds(Saying, sessions, turns, times)
some_vectors = st.lists(st.tuples(ids, blobs.filter(len)), max_size=4)

lines = st.builds(
    SealedLine,
    compartment=compartments,
    id=ids,
    kind=st.sampled_from(("memory", "conclusion", "conclusion", PROFILE, TOMBSTONE)),
    session=sessions,
    created_at=times,
    occurred_at=st.none() | times,
    expires_at=st.none() | times,
    supersedes=st.none() | ids,
    cap=st.just("cap"),
    metadata=st.sampled_from(("{}", '{"a":1}')),
    epoch=times,
    sealed=blobs,
    turn=turns,
    about=st.none() | owners,
    tokens=st.none() | times,
    likeness=st.none() | st.sampled_from((b"", b"one")),
    times=st.sampled_from((1, 2)),
)
entries = st.builds(
    Entry,
    workspace=workspaces,
    kind=st.sampled_from((PEER, WORKSPACE_ENTRY)),
    name=st.sampled_from(("a", "A")),
    uid=st.sampled_from(IDS),
    created_at=times,
    metadata=st.sampled_from(("{}", '{"a":1}')),
    configuration=st.sampled_from(("{}", '{"b":2}')),
    namespace=st.sampled_from(NAMESPACES),
)
ties = st.builds(
    Membership,
    workspace=workspaces,
    kind=st.sampled_from((MEMBER, "pick")),
    holder=named_sessions,
    held=owners,
    since=times,
    until=st.none() | times,
    configuration=st.sampled_from(("{}", '{"a":1}')),
)
batches = st.builds(
    Batch,
    workspace=workspaces,
    session=named_sessions,
    digest=blobs,
    at=times,
    first=times,
    last=times,
)
jobs = st.builds(
    Job,
    workspace=mostly_acme,
    kind=st.sampled_from((DERIVE, DERIVE, DERIVE, DREAM)),
    session=st.sampled_from(("s", "s", "t", None)),
    peer=st.none() | owners,
    first=times,
    last=times,
    units=times,
    payload=st.sampled_from(("{}", '{"a":1}')),
    namespace=st.sampled_from(NAMESPACES),
)
tasks = st.builds(
    Task,
    workspace=mostly_acme,
    kind=st.just(DERIVE),
    seq=st.integers(0, 12),
    holder=st.none() | st.sampled_from(HOLDERS),
)
ends = {"holder": sessions, "held": st.none() | owners}
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
    by=st.sampled_from((INSTALLATION, Revoker(Extent("w", "memory", ("ann",), (), None), first=False))),
)


def step(name, *arguments, **named):
    return st.tuples(st.just(name), st.tuples(*arguments), st.fixed_dictionaries(named))


stored = st.one_of(
    step("lines.append", lines),
    step("lines.append", lines),
    step("lines.append", lines),
    step("lines.invalidate", compartments, ids, ids),
    step("lines.delete", compartments, some_ids),
    step("lines.delete_compartment", compartments),
    step("terms.add", compartments, ids, blobs, blobs, sayings),
    step("terms.add", compartments, ids, blobs, blobs),
    step("terms.remove", compartments, some_ids),
    step("terms.delete_compartment", compartments),
    step("terms.lie", compartments, spaces, some_vectors),
    step("keys.next_epoch", workspaces),
    step("keys.of", workspaces, st.sampled_from(OWNERS)),
    step("keys.delete_compartment", compartments),
    step("new_key", compartments, st.sampled_from(("blind", "seal")), blobs),
    step("rewrap", st.integers(0, 3), blobs),
    step("keys.rewrap", st.builds(WrappedKey, compartments, st.just("seal"), st.integers(1, 3), blobs)),
    step("caps.revoke", revocations),
    step("caps.burn", workspaces, st.sampled_from(("p", "q")), times, times),
    step("audit.append", workspaces, events),
    step("audit.append", workspaces, events),
    step("marks", workspaces),
    step("touch", everywhere, caps=st.booleans(), compartments=st.booleans()),
    step("owe_scrub"),
)
term_steps = st.one_of(
    step("terms.add", few_compartments, ids, blobs, blobs, sayings),
    step("terms.add", few_compartments, ids, blobs, blobs, sayings),
    step("terms.lie", few_compartments, spaces, some_vectors),
    step("terms.lie", few_compartments, spaces, some_vectors),
    step("terms.lie", few_compartments, spaces, some_vectors),
    step("terms.remove", few_compartments, some_ids),
    step("terms.delete_compartment", few_compartments),
    step("leave", spaces, st.integers(0, 3)),
)
talk_steps = st.one_of(
    step("lines.append", lines),
    step("lines.append", lines),
    step("lines.append", lines),
    step("lines.invalidate", compartments, ids, ids),
    step("lines.delete", compartments, some_ids),
    step("lines.delete_compartment", compartments),
    step("lines.annotate", compartments, ids, st.just('{"b":2}')),
    step("lines.last_turn", workspaces, named_sessions),
    step("lines.reinforce", compartments, ids, times),
    step("lines.cite", compartments, ids, some_ids),
    step("lines.cite", compartments, ids, some_ids),
    step("lines.uncite", workspaces, some_ids),
)
register_steps = st.one_of(
    step("directory.add", entries),
    step("directory.add", entries),
    step("directory.entry", workspaces, st.just(PEER), st.sampled_from(("a", "A"))),
    step("directory.update", entries),
    step("directory.remove", workspaces, st.just(PEER), st.sampled_from(("a", "A"))),
    step("directory.add_membership", ties),
    step("directory.add_membership", ties),
    step("directory.remove_memberships", workspaces, st.just(MEMBER), **ends),
    step("directory.keep_batch", batches, times),
    step("directory.keep_batch", batches, times),
    step("directory.drop_batches", workspaces, named_sessions),
    step("directory.remove_workspace", workspaces),
)
fates = st.lists(st.integers(0, 3), max_size=3)
last_ones = st.sampled_from(("", *WORKSPACES))
claims = step("claim", st.sampled_from(HOLDERS), times, times, st.integers(0, 3), last_ones, fates)
work_steps = st.one_of(
    step("work.add", jobs, times),
    step("work.add", jobs, times),
    step("work.add", jobs, times),
    claims,
    claims,
    claims,
    step("work.finish", tasks),
    step("work.postpone", tasks, times),
    step("work.drop", workspaces, sessions),
    step("work.drop", workspaces, sessions, st.sampled_from(((), NAMESPACES[:1], NAMESPACES))),
)
groups = (stored, term_steps, talk_steps, register_steps, work_steps)
focused = st.deferred(
    lambda: st.sampled_from(groups).flatmap(lambda some: st.lists(some, min_size=4, max_size=16))
)
mixed = st.deferred(lambda: st.lists(st.one_of(groups), min_size=1, max_size=6))
undoing = st.sampled_from((False, False, True))
afterwards = st.sampled_from((None, None, "reopen", "scrub"))

SPANS = tuple(
    LineQuery(workspace, owner, namespaces, *how)
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
TURN_SPANS = tuple(
    TurnQuery(workspace, session, *how)
    for workspace, session, how in product(
        WORKSPACES,
        SESSIONS,
        ((), (2,), (1, 2), (0, None, "ann"), (0, None, None, True, 1, 1), (0, None, "bob", True)),
    )
)
VIEW_SPANS = tuple(
    ViewQuery(workspace, kinds, *how)
    for workspace, kinds, how in product(
        WORKSPACES,
        (("conclusion",), ("memory", "conclusion", PROFILE)),
        (
            (),
            (None, None, None, 2),
            ("ann",),
            ("ann", None, None, 1),
            (None, "bob"),
            ("ann", "bob"),
            ("ann", "ann", None, 1),
            ("ann", "ann", SESSIONS[:1], 1),
            (None, None, SESSIONS),
            (None, None, None, 1, NAMESPACES[:1]),
            ("ann", "ann", None, None, NAMESPACES[1:]),
        ),
    )
)


AGES = (
    Aged(IDS[2]),
    Aged(IDS[2], "work"),
    Aged(IDS[1], kinds=("conclusion", "statement")),
    Aged(IDS[2], "travel", ("memory",)),
)
HIDDEN = (None, lambda: Hidden(1, "acme", AGES[1:]))


class Undone(Exception):
    pass


def apply(tx, name, arguments, named):
    """Do one step, and give back what it answered."""
    if name == "new_key":
        compartment, purpose, wrapped = arguments
        return tx.keys.add(
            WrappedKey(compartment, purpose, tx.keys.next_epoch(compartment.workspace), wrapped)
        )
    if name == "rewrap":
        number, wrapped = arguments
        return [tx.keys.rewrap(key._replace(wrapped=wrapped)) for key in tx.keys.every()[number::4]]
    if name == "claim":
        return claimed(tx, *arguments)
    if name == "leave":
        return left(tx, *arguments)
    return attrgetter(name)(tx)(*arguments, **named)


def claimed(tx, holder, now, until, most, after, fates):
    """Claim, then do with each task as its number says: finish it, put it back, or hold on to it."""
    taken = tx.work.claim(holder, now=now, until=until, most=most, after=after)
    done = []
    for task, fate in zip(taken, fates, strict=False):
        if fate == 0:
            done.append(tx.work.finish(task))
        elif fate < 3:
            done.append(tx.work.postpone(task, fate))
    return taken, done


def left(tx, space, most):
    """Leave a space, in one step or some of it and then the rest: which vectors go first nobody promised."""
    before = tx.terms.spaces().get(space, 0)
    first = tx.terms.leave(space, most)
    after = tx.terms.spaces().get(space, 0)
    assert (first, after) == (min(most, before), before - first)
    return first, tx.terms.leave(space, 1000)


def apply_all(store, todo, undone):
    try:
        with store.write() as tx:
            answers = [(apply(tx, *one), last_turns(tx)) for one in todo]
            seen = {"answers": answers, **told(tx)}
            if undone:
                raise Undone
    except Undone:
        pass
    return seen


def told(tx):
    """Everything that can be asked of a transaction without changing it, whatever is hidden in it."""
    found = {}
    for at, hidden in enumerate(HIDDEN):
        tx.lines.hide(hidden)
        found |= {f"{part}, hidden {at}": said for part, said in told_of_lines(tx).items()}
    tx.lines.hide(None)
    return {**found, **told_of_the_rest(tx)}


def told_of_lines(tx):
    """What hiding may change."""
    talks = tuple(product(WORKSPACES, SESSIONS))
    return {
        "walks": [tx.lines.walk(span) for span in SPANS],
        "ids": [tx.lines.ids(span) for span in SPANS[::3]],
        "lines": [
            (tx.lines.get(compartment, line_id), tx.lines.count(compartment))
            for compartment, line_id in product(COMPARTMENTS, IDS)
        ],
        "turns": [tx.lines.turns(span) for span in TURN_SPANS],
        "all of a room": [tx.lines.get_all(compartment, IDS[1:]) for compartment in COMPARTMENTS],
        "last turns": [(tx.lines.last_turn(*talk), tx.lines.count_turns(*talk)) for talk in talks],
        "views": [tx.lines.views(span) for span in VIEW_SPANS],
        "view": [tx.lines.view(*line) for line in product(WORKSPACES, IDS, (None, NAMESPACES[1:]))],
        "alike": [
            tx.lines.alike(compartment, about, likeness)
            for compartment, about, likeness in product(COMPARTMENTS[:4], OWNERS, (b"", b"one"))
        ],
        "sessions": [tx.lines.of_session(*place) for place in product(WORKSPACES, OWNERS, SESSIONS)],
        "storage": [tx.lines.storage(workspace, None, None) for workspace in WORKSPACES],
        "activity": [tx.lines.activity(workspace, None, 1, 1) for workspace in WORKSPACES],
        "observers": [tx.lines.observers(*of, None) for of in product(WORKSPACES, OWNERS)],
    }


def told_of_age(tx):
    """What is over, and what has come to an age."""
    return {
        "expiring": [tx.lines.expiring(now) is None for now in TIMES],
        "over": [
            sorted(tx.lines.over(workspace, now, 1000), key=lambda line: (line.compartment, line.id))
            for workspace, now in product(WORKSPACES, TIMES)
        ],
        "aged": [
            (
                sorted(tx.lines.aged(workspace, aged, 1000), key=lambda line: (line.compartment, line.id)),
                len(tx.lines.aged(workspace, aged, 1)),
                tx.lines.aged_counted(workspace, aged),
                tx.lines.aged_sessions(workspace, aged, "", 1),
                tx.lines.aged_sessions(workspace, aged, "s", 9),
            )
            for workspace, aged in product(WORKSPACES, AGES)
        ],
    }


def told_of_the_rest(tx):
    return {
        **told_of_age(tx),
        "newest ids": [tx.lines.newest_ids(*of) for of in product(WORKSPACES, (None, NAMESPACES[1:]))],
        "terms": [
            list(tx.terms.since(compartment, seq)) for compartment, seq in product(COMPARTMENTS, (0, 1, 3))
        ],
        "vectors": [tx.terms.vectors(*of) for of in product(COMPARTMENTS[:4], SPACES, (0, 2), (None, 1))],
        "lacking": [tx.terms.lacking(*of) for of in product(COMPARTMENTS[:4], SPACES, (2,))],
        "spaces": tx.terms.spaces(),
        "keys": [tx.keys.every(), *(tx.keys.of(*place) for place in product(WORKSPACES, OWNERS))],
        "keys of a namespace": [tx.keys.of(*place, ("work",)) for place in product(WORKSPACES, OWNERS)],
        "revocations": [sorted(tx.caps.revocations(workspace), key=repr) for workspace in WORKSPACES],
        "audit": [tx.audit.rows(workspace, 0, 1000) for workspace in WORKSPACES],
        "audit pages": [tx.audit.rows(workspace, 1, 2) for workspace in WORKSPACES],
        "roots": [tx.audit.tree(workspace).root() for workspace in WORKSPACES],
        "marks": [tx.marks(workspace) for workspace in WORKSPACES],
        "workspaces": list(tx.workspaces()),
        "rooms": tx.lines.compartments(),
        "namespaces": [tx.lines.namespaces(*place) for place in product(WORKSPACES, OWNERS)],
        **told_of_talk(tx),
    }


def last_turns(tx):
    """Asked after every step, since a book may know them by heart."""
    return [tx.lines.last_turn(workspace, "s") for workspace in WORKSPACES]


def told_of_talk(tx):
    """What a transaction says of conversations, of what follows from them, and of what is to be done."""
    talks = tuple(product(WORKSPACES, SESSIONS))
    return {
        "cited": [tx.lines.cited(workspace, IDS) for workspace in WORKSPACES],
        "citing": [tx.lines.citing(workspace, IDS[:n]) for workspace, n in product(WORKSPACES, (1, 3))],
        "entries": [
            (
                tx.directory.entries(workspace, kind, newest_first=newest_first),
                tx.directory.entries(workspace, kind, newest_first=newest_first, offset=1, limit=1),
                tx.directory.entries(workspace, kind, namespaces=NAMESPACES, newest_first=newest_first),
                tx.directory.count(workspace, kind),
                tx.directory.count(workspace, kind, NAMESPACES[:1]),
            )
            for workspace, kind, newest_first in product(
                (None, *WORKSPACES), (PEER, WORKSPACE_ENTRY), (False, True)
            )
        ],
        "entry": [tx.directory.entry(*place) for place in product(WORKSPACES, (PEER,), "aA")],
        "namespaces of entries": [tx.directory.namespaces(workspace, PEER) for workspace in WORKSPACES],
        "ties": [
            tx.directory.memberships(workspace, MEMBER, holder=holder, held=held)
            for workspace, holder, held in product(WORKSPACES, (None, "s"), (None, "ann"))
        ],
        "batches": [
            tx.directory.batch(*talk, digest) for talk, digest in product(talks, (b"", b"one", b"two"))
        ],
        "due": tx.work.next_due(),
        "tallies": [
            tx.work.tallies(workspace, kinds, now)
            for workspace, kinds, now in product(WORKSPACES, ((DERIVE,), (DERIVE, DREAM)), TIMES)
        ],
        "left": [
            tx.work.left(workspace, session, (DERIVE, DREAM), NAMESPACES[0])
            for workspace, session in product(WORKSPACES, (None, *SESSIONS))
        ],
        "tallies of a namespace": [
            tx.work.tallies(workspace, (DERIVE, DREAM), 1, NAMESPACES[:1]) for workspace in WORKSPACES
        ],
    }


class Books(RuleBasedStateMachine):
    @initialize()
    def open(self):
        self.folder = tempfile.TemporaryDirectory()
        self.stored = self.opened()
        self.beside = self.opened()
        self.plain = MemoryStore()

    def opened(self):
        return SqlStore(SqliteEngine(Path(self.folder.name) / "book.db"))

    def compare(self, found, expected):
        for part, said in expected.items():
            assert found[part] == said, part

    @rule(todo=focused | mixed, undone=undoing, elsewhere=st.booleans(), then=afterwards)
    def write(self, todo, undone, elsewhere, then):
        """Here or in another process; and after that nothing, or a new process, or a scrub."""
        stored = self.beside if elsewhere else self.stored
        self.compare(apply_all(stored, todo, undone), apply_all(self.plain, todo, undone))
        if then == "reopen":
            self.stored.close()
            self.stored = self.opened()
        elif then == "scrub":
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
    max_examples=examples(32),
    stateful_step_count=16,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate, Phase.shrink),
)
