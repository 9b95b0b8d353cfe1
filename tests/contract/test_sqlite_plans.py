"""How SQLite goes about the questions that are asked often or of much: each by an index made for it."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from contracts.store_scenes import COMPARTMENT, IDS, OWNER, WORKSPACE, numbered
from souvenance.adapters.sql.engine import SqlSession
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore, SqlTransaction
from souvenance.adapters.sql.terms import SIZE
from souvenance.domain.audit import MAKES_TOKENS
from souvenance.domain.directory import DERIVE, MEMBER, PEER, REASONING, Job
from souvenance.domain.directory import WORKSPACE as WORKSPACE_ENTRY
from souvenance.domain.retention import Aged, Hidden
from souvenance.ports.store import LineQuery, TurnQuery, ViewQuery, WantedRows


class ExplainingEngine(SqlSession):
    """SQLite, remembering for each statement how the database goes about it."""

    def __init__(self, engine):
        super().__init__()
        self._engine = engine
        self.types = engine.types
        self.fortify = engine.fortify
        self.vectors = engine.vectors
        self.plans = []

    @contextmanager
    def write(self, *of, **how):
        with self._engine.write(*of, **how) as session:
            self._session = session
            yield self

    def close(self):
        self._engine.close()

    def rows(self, sql, values=()):
        self._explain(sql, values)
        return self._session.rows(sql, values)

    def run(self, sql, values=()):
        self._explain(sql, values)
        return self._session.run(sql, values)

    def _explain(self, sql, values):
        if sql.lstrip().startswith(("SELECT", "DELETE", "UPDATE")):
            self.plans += [row[3] for row in self._session.rows(f"EXPLAIN QUERY PLAN {sql}", values)]


def claim_and_finish(tx):
    tx.work.add(Job(WORKSPACE, DERIVE, "s", "ann"), 1)
    (task,) = tx.work.claim("h", now=1, until=2, most=9)
    assert tx.work.finish(task)


VIEWS = ViewQuery(WORKSPACE, ("conclusion",), limit=9)
BESIDE_A_LINE = re.compile("SEARCH (TABLE invalidations AS )?i ")
BY_ROOM = "PRIMARY KEY (workspace=? AND owner=? AND namespace=?"
QUESTIONS = {
    "a walk": (lambda tx: tx.lines.walk(LineQuery(*COMPARTMENT[:2], ("work",))), [BY_ROOM]),
    "how much is stored, in the order of the key": (
        lambda tx: tx.lines.storage(WORKSPACE, None, None),
        ["PRIMARY KEY (workspace=?)"],
    ),
    "how much is stored by kind": (
        lambda tx: tx.lines.storage_by_kind(WORKSPACE, None, None),
        ["PRIMARY KEY (workspace=?)", "TEMP B-TREE FOR GROUP BY"],
    ),
    "turns": (
        lambda tx: tx.lines.turns(TurnQuery(WORKSPACE, "s", 1, 9, OWNER)),
        ["lines_by_turn (workspace=? AND session=? AND turn>? AND turn<?)"],
    ),
    "the last turn": (
        lambda tx: tx.lines.last_turn(WORKSPACE, "s"),
        ["lines_by_turn (workspace=? AND session=?"],
    ),
    "how many turns": (
        lambda tx: tx.lines.count_turns(WORKSPACE, "s"),
        ["lines_by_turn (workspace=? AND session=?"],
    ),
    "an owner's lines of a session": (
        lambda tx: tx.lines.of_session(WORKSPACE, OWNER, "s"),
        ["lines_by_session (workspace=? AND owner=? AND session=?)"],
    ),
    "views of one held by another": (
        lambda tx: tx.lines.views(replace(VIEWS, owner=OWNER, about="bob")),
        ["lines_about (workspace=? AND owner=? AND about=? AND kind=?)"],
    ),
    "all views of one held by another": (
        lambda tx: tx.lines.views(replace(VIEWS, owner=OWNER, about="bob", limit=None)),
        ["lines_about (workspace=? AND owner=? AND about=? AND kind=?)"],
    ),
    "views of one held by another in a namespace": (
        lambda tx: tx.lines.views(replace(VIEWS, owner=OWNER, about="bob", namespaces=("work",))),
        ["lines_about (workspace=? AND owner=? AND about=? AND kind=?)"],
    ),
    "views of a namespace": (
        lambda tx: tx.lines.views(replace(VIEWS, namespaces=("work",))),
        ["lines_about_by_id (workspace=?)"],
    ),
    "views that one holds": (
        lambda tx: tx.lines.views(replace(VIEWS, owner=OWNER)),
        ["lines_held (workspace=? AND owner=?)"],
    ),
    "views of one": (
        lambda tx: tx.lines.views(replace(VIEWS, about="bob")),
        ["lines_of (workspace=? AND about=?)"],
    ),
    "views of a session": (
        lambda tx: tx.lines.views(replace(VIEWS, sessions=("s",), limit=None)),
        ["lines_concluded (workspace=? AND session=?)"],
    ),
    "views": (lambda tx: tx.lines.views(VIEWS), ["lines_about_by_id (workspace=?)"]),
    "a view": (
        lambda tx: tx.lines.view(WORKSPACE, IDS[0]),
        ["lines_about_by_id (workspace=? AND id>? AND id<?)"],
    ),
    "a line alike": (
        lambda tx: tx.lines.alike(COMPARTMENT, "bob", b"like"),
        ["lines_alike (workspace=? AND likeness=?)"],
    ),
    "what a line cites": (
        lambda tx: tx.lines.cited(WORKSPACE, IDS),
        ["citations_by_line (workspace=? AND id=?)"],
    ),
    "what cites a line": (
        lambda tx: tx.lines.citing(WORKSPACE, IDS),
        ["citations_by_source (workspace=? AND source=?)"],
    ),
    "a workspace with something over": (
        lambda tx: tx.lines.expiring(1),
        ["COVERING INDEX lines_expiring (workspace"],
    ),
    "what is over": (
        lambda tx: tx.lines.over(WORKSPACE, 1, 9),
        ["lines_expiring (workspace=? AND expires_at<?)"],
    ),
    "what has come to an age": (
        lambda tx: tx.lines.aged(WORKSPACE, Aged(IDS[2]), 9),
        [
            "MATERIALIZE k",
            "compartment_keys USING PRIMARY KEY (workspace=?)",
            "SCAN k",
            BY_ROOM + " AND id<?)",
        ],
    ),
    "deleting lines": (
        lambda tx: tx.lines.delete(COMPARTMENT, IDS),
        [BY_ROOM + " AND target=?)", BY_ROOM + " AND id=?)"],
    ),
    "rows that tell of made tokens": (
        lambda tx: tx.audit.find(WORKSPACE, WantedRows(0, 9, operations=MAKES_TOKENS), 9),
        [
            "audit_of_tokens (workspace=? AND operation=? AND seq>? AND seq<?)",
            "PRIMARY KEY (workspace=? AND seq=?)",
            "TEMP B-TREE FOR ORDER BY",
        ],
    ),
    "an entry": (
        lambda tx: tx.directory.entry(WORKSPACE, PEER, "ann"),
        ["PRIMARY KEY (workspace=? AND kind=? AND name=?)"],
    ),
    "entries by their names": (
        lambda tx: tx.directory.named(WORKSPACE, PEER, ("ann", "bob")),
        ["PRIMARY KEY (workspace=? AND kind=? AND name=?)"],
    ),
    "entries": (
        lambda tx: tx.directory.entries(WORKSPACE, PEER, newest_first=True, limit=9),
        ["entries_by_uid (workspace=? AND kind=?)"],
    ),
    "entries of a namespace": (
        lambda tx: tx.directory.entries(WORKSPACE, PEER, namespaces=("work",), newest_first=True, limit=9),
        ["entries_by_namespace (workspace=? AND kind=? AND namespace=?)"],
    ),
    "how many entries of a namespace": (
        lambda tx: tx.directory.count(WORKSPACE, PEER, ("work",)),
        ["entries_by_namespace (workspace=? AND kind=? AND namespace=?)"],
    ),
    "the namespaces of entries": (
        lambda tx: tx.directory.namespaces(WORKSPACE, PEER),
        ["entries_by_namespace (workspace=? AND kind=? AND namespace>?)"],
    ),
    "workspaces": (
        lambda tx: tx.directory.entries(None, WORKSPACE_ENTRY, limit=9),
        [
            "COVERING INDEX entries_of_workspaces",
            "ORDER BY",
            "PRIMARY KEY (workspace=? AND kind=? AND name=?)",
            "those",
        ],
    ),
    "what holds one": (
        lambda tx: tx.directory.memberships(WORKSPACE, MEMBER, held="ann"),
        ["memberships_by_held (workspace=? AND kind=? AND held=?)"],
    ),
    "whom one holds": (
        lambda tx: tx.directory.memberships(WORKSPACE, MEMBER, holder="s"),
        ["PRIMARY KEY (workspace=? AND kind=? AND holder=?)", "ORDER BY"],
    ),
    "the sessions that one is in": (
        lambda tx: tx.directory.sessions_with(WORKSPACE, ("ann",), ("work",)),
        [
            "memberships_by_held (workspace=? AND kind=? AND held=?)",
            "PRIMARY KEY (workspace=? AND kind=? AND name=?)",
        ],
    ),
    "how much work there is for whom": (
        lambda tx: tx.work.tallies(WORKSPACE, REASONING, 1, ("work",)),
        [
            "COVERING INDEX jobs_of_peer (workspace=? AND kind=?)",
            "finished_jobs USING PRIMARY KEY (workspace=?)",
        ],
    ),
    "whether work is left in a session": (
        lambda tx: tx.work.left(WORKSPACE, "s", REASONING, "work"),
        ["jobs_of_session (workspace=? AND session=?)"],
    ),
    "whether work is left that is of no session": (
        lambda tx: tx.work.left(WORKSPACE, None, REASONING, "work"),
        ["jobs_of_peer (workspace=? AND kind=?)"],
    ),
    "a task, claimed and finished": (
        lambda tx: claim_and_finish(tx),
        [
            "jobs_free (workspace>?",
            "jobs_held (workspace>?",
            "jobs_free (workspace=? AND due<?)",
            "jobs_held (workspace=? AND until<?)",
            "ORDER BY",
            "jobs_of_session (workspace=? AND session=?",
            "jobs USING INTEGER PRIMARY KEY (rowid=?)",
            "SCALAR SUBQUERY",
        ],
    ),
    "when a workspace has something due": (
        lambda tx: tx.work.next_due(),
        ["jobs_free", "jobs_held"],
    ),
}


def place_the_last(tx, ids):
    assert tx.terms.lacking(COMPARTMENT, "space", 64) == ids[-1:]
    assert tx.terms.newest_lacking(COMPARTMENT, "space", 8) == ids[-1:]
    tx.terms.lie(COMPARTMENT, "space", [(ids[-1], b"vector")])
    assert tx.terms.lacking(COMPARTMENT, "space", 64) == []


def remove_one(tx, ids):
    tx.terms.remove(COMPARTMENT, [ids[len(ids) // 2]])


def steps(path, lines, act):
    """How much SQLite does for that in a room of so many lines with a vector, and one more without."""
    store = SqlStore(SqliteEngine(path))
    ids = [numbered(0, number) for number in range(lines + 1)]
    with store.write() as tx:
        for line_id in ids[:-1]:
            tx.terms.add(COMPARTMENT, line_id, b"tokens", b"")
        tx.terms.lie(COMPARTMENT, "space", [(line_id, b"vector") for line_id in ids[:-1]])
        tx.terms.add(COMPARTMENT, ids[-1], b"tokens", b"")
    done = []
    with store.write() as tx:
        tx._session._connection.set_progress_handler(lambda: done.append(1), 1)
        act(tx, ids)
        tx._session._connection.set_progress_handler(None, 1)
    store.close()
    return len(done)


@pytest.mark.parametrize("act", [place_the_last, remove_one])
def test_a_line_gets_its_vector_or_leaves_in_as_many_steps_however_large_its_compartment_is(tmp_path, act):
    few, many = (steps(tmp_path / f"{lines}.db", lines, act) for lines in (3 * SIZE, 12 * SIZE))
    assert many <= 1.1 * few, (few, many)


HIDING = Hidden(1, WORKSPACE, (Aged(IDS[2]), Aged(IDS[2], "work", ("memory",))))


@pytest.mark.parametrize("hidden", [None, HIDING], ids=["all shown", "some hidden"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_by_its_index(tmp_path, question, hidden):
    engine = ExplainingEngine(SqliteEngine(tmp_path / "book.db"))
    store = SqlStore(engine)
    ask, steps = QUESTIONS[question]
    with store.write() as tx:
        engine.plans.clear()
        tx.lines.hide(hidden and (lambda: hidden))
        ask(tx)
    store.close()
    found = [plan for plan in engine.plans if not BESIDE_A_LINE.match(plan)]
    assert found
    for plan in found:
        assert any(step in plan for step in steps), found
    for step in steps:
        assert any(step in plan for plan in found), (step, found)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_that_is_asked_again_is_not_planned_again(tmp_path, question):
    engine = SqliteEngine(tmp_path / "book.db")
    store = SqlStore(engine)
    ask, _ = QUESTIONS[question]
    planned = []

    def authorise(*step):
        planned.append(step)
        return sqlite3.SQLITE_OK

    with store.write() as tx:
        session = tx._session
        session._connection.set_authorizer(authorise)
        ask(SqlTransaction(session, engine))
        assert planned
        planned.clear()
        ask(SqlTransaction(session, engine))
        session._connection.set_authorizer(None)
    store.close()
    assert not planned
