"""One gate on four kinds of store, told the same things: they must always say the same, and log the same.

The reference in memory, a file, a database, and a database whose lines are kept in a bucket as well. Clock
and chance are the same for all, so that not even an id may differ. In the end the bucket has what its book
has.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from conversation.twins import CHANGES, COMMON, IDS, READS, SPACES
from conversation.world import Stage
from gate.world import SeededEntropy, World
from objects.mended import mending
from objects.seaweed import BUCKET
from pace import examples
from reference.index import ReferenceIndex
from reference.store import MemoryStore
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.adapters.object_stores import open_objects
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.adapters.system_clock import SystemEntropy
from souvenance.core.store_wrapper import mirrored
from souvenance.domain import audit
from souvenance.errors import SouvenanceError
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES
from souvenance.gate.conversation.workspaces import ADD_WEBHOOK, DELETE_WEBHOOK, TRY_WEBHOOKS
from souvenance.gate.replication import RepairReport

WORKSPACES = ("default", "w")
TEXTS = ("The wombat is mine.", "The quoll is tame.", "I live in Bonn.", "I live in Berlin now.")
PLACEHOLDERS = IDS[:2]
PATIENCE_SECONDS = 30.0
HOUR = 3600
FIRST = [
    *(
        (ADD_MESSAGES, {"session_id": session, "messages": [{"peer_id": who, "content": TEXTS[2]}]})
        for session, who in (("trip", "alice"), ("salary", "bob"))
    ),
    (o.PUT, {"text": TEXTS[0], "namespace": "travel"}),
]
"""What everybody is told before anything else."""

BY_COURIER = {ADD_WEBHOOK, DELETE_WEBHOOK, TRY_WEBHOOKS}
"""Couriers are threads of their own, and nobody says which of them is first."""
changes = [
    *(one for one in CHANGES.items() if one[0] not in BY_COURIER),
    (
        ADD_MESSAGES,
        {
            "session_id": ("trip", "salary"),
            "messages": tuple(
                [{"peer_id": who, "content": text}] for who in ("alice", "bob") for text in TEXTS
            ),
        },
    ),
    (o.PUT, {"text": TEXTS, "namespace": SPACES}),
    (o.PUT, {"text": TEXTS, "namespace": SPACES, "session": ("trip",)}),
    (o.INVALIDATE, {"id": IDS, "text": (None, *TEXTS)}),
    (o.FORGET, {"id": IDS}),
    (o.FORGET, {"namespace": ("travel", "work")}),
    (o.FORGET, {"owner": ("alice", "owner")}),
]
reads = [
    *READS.items(),
    (o.GET, {"query": (None, COMMON, *TEXTS)}),
    (o.LINE, {"id": IDS}),
    (o.LIST, {"history": (False, True)}),
    (o.SNAPSHOT, {}),
    (o.STATUS, {}),
    (o.CHECKPOINT, {}),
    (o.COMPARTMENTS, {}),
    (o.RECONCILE, {"workspace": WORKSPACES}),
]
OPERATIONS = {operation.name: operation for operation, _ in (*changes, *reads)}


def requests(table):
    """One of them, by its name, with some of its choices."""

    def filled(one):
        operation, axes = one
        return st.tuples(
            st.just(operation.name),
            st.fixed_dictionaries({name: st.sampled_from(values) for name, values in axes.items()}),
        )

    return st.sampled_from(table).flatmap(filled)


def plain(answer):
    """As the wire has it."""
    return msgspec.json.decode(msgspec.json.encode(answer))


told_in_a_row = st.deferred(
    lambda: st.lists(
        st.tuples(requests(changes) | requests(changes) | requests(reads), st.integers(0, 30)),
        min_size=4,
        max_size=16,
    )
)


class Kept:
    """One kind of store, and the gate on it."""

    def __init__(self, open_store, index):
        self._open_store = open_store
        self._index = index
        self._parts = {"entropy": SeededEntropy()}
        self.open()
        self._parts |= {"keyring": self.world.keyring, "clock": self.world.clock}

    def open(self):
        """Open it, as a new process would."""
        self.world = World(store=self._open_store(), index=self._index(), **self._parts)
        self.stage = Stage(self.world)

    def close(self):
        self.stage.close()
        self.world.store.close()

    def told(self, operation, fields):
        """What is answered or refused, to the letter."""
        place = {"workspace_id": "w"} if "workspace_id" in operation.request.__struct_fields__ else {}
        try:
            request = msgspec.convert({**place, **fields}, operation.request)
            answer = self.world.call(operation, self.stage.owner_cap, request)
        except SouvenanceError as error:
            return error.code, error.detail, error.hint
        told = plain(answer)
        if operation is o.STATUS:
            told.pop("uncarried")  # Only who has a bucket has something to tell.
        return told

    def logged(self, workspace):
        rows = self.world.rows(workspace)
        audit.verify(workspace, rows)
        return plain([row.event for row in rows])


class Gates(RuleBasedStateMachine):
    server = seaweed = None
    template = ""

    @initialize()
    def begin(self):
        self.left = ExitStack()
        folder = Path(self.left.enter_context(tempfile.TemporaryDirectory()))
        databases = [self.server.create(self.template) for _ in range(2)]
        for name in databases:
            self.left.callback(self.server.drop, name)
        self.url = self.server.url(databases[1])
        self.bucket = open_objects(f"s3://{BUCKET}/machine-{token_hex(6)}?endpoint={self.seaweed.url}")
        memory = MemoryStore()
        self.all = {
            "memory": Kept(lambda: memory, ReferenceIndex),
            "sqlite": Kept(lambda: SqlStore(SqliteEngine(folder / "book.db")), RankedIndex),
            "postgres": Kept(lambda: SqlStore(PostgresEngine(self.server.url(databases[0]))), RankedIndex),
            "postgres+s3": Kept(self.opened_twice, RankedIndex),
        }
        self.ids = [IDS[-1]]
        for operation, fields in FIRST:
            self.do(operation, fields, 0)
        self.work(1)

    def opened_twice(self):
        return mirrored(SqlStore(PostgresEngine(self.url)), SystemEntropy(), self.bucket)

    def same(self, ask):
        """What all say."""
        said = {name: ask(one) for name, one in self.all.items()}
        for name, answer in said.items():
            assert _without_receipt(answer) == _without_receipt(said["memory"]), name
        return said["memory"]

    def do(self, operation, fields, which):
        chosen = {
            name: self.ids[which % len(self.ids)] if value in PLACEHOLDERS else value
            for name, value in fields.items()
            if value is not None
        }
        told = self.same(lambda one: one.told(operation, chosen))
        self.ids += [one for one in _ids(told) if one not in self.ids]

    @rule(todo=told_in_a_row)
    def ask(self, todo):
        for (name, fields), which in todo:
            self.do(OPERATIONS[name], fields, which)

    @rule(todo=told_in_a_row, seconds=st.sampled_from((0, 1, HOUR + 1)))
    def ask_and_work(self, todo, seconds):
        self.ask(todo)
        self.work(seconds)

    @rule(seconds=st.sampled_from((0, 1, HOUR + 1)))
    def work(self, seconds):
        for one in self.all.values():
            one.world.clock.advance(seconds=seconds)
            one.stage.rest()
            assert one.stage.complaints == []

    @rule()
    def reopen(self):
        for one in self.all.values():
            one.close()
            one.open()

    @rule()
    def carry(self):
        with self.mending() as mender:
            mender.worker.carry_all(PATIENCE_SECONDS)

    @invariant()
    def all_log_the_same(self):
        for workspace in WORKSPACES:
            self.same(lambda one, workspace=workspace: one.logged(workspace))

    def mending(self):
        store, services = SqlStore(PostgresEngine(self.url)), self.all["postgres+s3"].world.services
        return mending(store, self.bucket, services)

    def teardown(self):
        with self.left:
            with self.mending() as mender:
                assert mender.repair() == RepairReport()
            for one in self.all.values():
                one.close()


def _without_receipt(answer):
    """A receipt is signed, and tells of a bucket only where there is one."""
    return (
        {name: value for name, value in answer.items() if name != "receipt"}
        if isinstance(answer, dict)
        else answer
    )


def _ids(told):
    """The ids of lines in an answer."""
    match told:
        case {"id": str(found), **rest} if len(found) == len(IDS[-1]):
            yield found
            yield from _ids(rest)
        case dict():
            for part in told.values():
                yield from _ids(part)
        case list() | tuple():
            for part in told:
                yield from _ids(part)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
class TestGates(Gates.TestCase):
    settings = settings(
        max_examples=examples(12),
        stateful_step_count=20,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )

    @pytest.fixture(autouse=True)
    def _on_the_servers(self, server, database, seaweed, credentials):
        Gates.server, Gates.template, Gates.seaweed = server, database, seaweed
