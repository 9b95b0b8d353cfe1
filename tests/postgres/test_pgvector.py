"""Vectors in the clear, compared by pgvector: the same answers, behind the same walls."""

from __future__ import annotations

import struct
from array import array
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from contracts.index_agreement import BATCHES, Agreement
from contracts.index_bounds_contract import BoundsContract
from contracts.index_meaning_contract import MeaningContract
from contracts.index_scenes import IDS, TEA, TO_EAST, WORK, add, hits, lie, meaning, packed
from contracts.store_scenes import COMPARTMENT, SPACE, fill
from gate.test_gate_reindex import begin, tidy
from gate.world import World
from postgres.lasting import LastingConnections
from reference.embedder import ReferenceEmbedder
from reference.index import ReferenceIndex
from souvenance.adapters.backup import copy_store
from souvenance.adapters.embed.local import installed
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.adapters.sql.postgres import PostgresEngine
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.adapters.sql.store import SqlStore
from souvenance.config import settings_from
from souvenance.domain.change_feed import Saying
from souvenance.domain.embedding import PGVECTOR, SEALED
from souvenance.domain.names import Compartment
from souvenance.domain.relevance import MEANING
from souvenance.domain.seal import pack, unpack
from souvenance.errors import Misconfigured
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.ports.index import IndexQuery
from souvenance.ports.store import Vector
from surfaces.door import souvenance

SIZE = 12
CROWD = [Compartment("w", f"owner{number:02}", "x") for number in range(30)]
FEW = Compartment("w", "few", "x")
ELSEWHERE = FEW._replace(workspace="elsewhere")
EACH = 300
MARK = 6


@pytest.fixture(scope="session")
def comparing(server):
    """The name of a database whose vectors are in pgvector, whichever test it was used by last."""
    name = server.create()
    SqlStore(PostgresEngine(server.url(name), vectors=PGVECTOR)).close()
    return name


@pytest.fixture
def emptied(server, comparing):
    """The address of such a database with an empty book."""
    server.empty(comparing)
    return server.url(comparing)


@pytest.fixture
def opened(emptied):
    """Opens its book, by default so that vectors are in the clear."""
    with ExitStack() as stores:

        def open_store(form=PGVECTOR):
            store = SqlStore(LastingConnections(emptied, vectors=form))
            stores.callback(store.close)
            return store

        yield open_store


@pytest.fixture
def plain(opened):
    return opened()


class Unsealed:
    """A transaction for an index that compares vectors itself: it reads them, in 64ths, out of the store."""

    def __init__(self, tx):
        self._tx = tx
        self.terms = self
        self.since = tx.terms.since

    def vectors(self, compartment, space, seq):
        rows = self._tx._session.rows(
            """SELECT seq, id, CAST(place AS real[]) FROM vectors WHERE workspace = ? AND owner = ?
            AND namespace = ? AND space = ? AND seq > ? ORDER BY seq""",
            (*compartment, space, seq),
        )
        scale = struct.pack("<f", 1 / 64)
        return [
            Vector(number, line_id, scale + bytes(array("b", [round(64 * one) for one in place])))
            for number, line_id, place in rows
        ]


class ReferenceOverTheClear(ReferenceIndex):
    def search(self, tx, inquiry, k, within=None):
        return super().search(Unsealed(tx), inquiry, k, within)


class TestRankedIndexOverPgvector(MeaningContract, BoundsContract):
    @pytest.fixture
    def store(self, plain):
        return plain

    @pytest.fixture
    def index(self):
        return RankedIndex()

    @settings(
        max_examples=12,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(batches=BATCHES)
    def test_generated_compartments_are_searched_as_the_reference_searches_them(self, store, index, batches):
        run = Agreement(store, index, ReferenceOverTheClear())
        for batch in batches:
            run.play(batch)


def named(number):
    return f"{number:026}"


def directions(count, seed):
    found = np.random.default_rng(seed).standard_normal((count, SIZE)).astype("<f4")
    return found / np.linalg.norm(found, axis=1)[:, None]


class Crowded(NamedTuple):
    name: str
    store: SqlStore


@pytest.fixture(scope="module")
def crowded(server):
    """A database in which many owners have many vectors each and one has few, in two workspaces."""
    name = server.create()
    store = SqlStore(PostgresEngine(server.url(name), vectors=PGVECTOR))
    columns = "workspace, owner, namespace, space, seq, id, sealed, place"
    with (
        server.connected(name) as connection,
        connection.cursor() as cursor,
        cursor.copy(f"COPY vectors ({columns}) FROM STDIN") as rows,
    ):
        for seed, compartment in enumerate(CROWD):
            for number, vector in enumerate(directions(EACH, seed).tolist(), 1):
                rows.write_row((*compartment, SPACE, number, named(number), b"", str(vector)))
    with store.write() as tx:
        for compartment in (FEW, ELSEWHERE):
            vectors = directions(50, 99)
            for number in range(50):
                tx.terms.add(compartment, named(number), b"", b"")
            tx.terms.lie(
                compartment, SPACE, [(named(n), pack(one.tobytes())) for n, one in enumerate(vectors)]
            )
    with server.connected(name) as connection:
        connection.execute("ANALYZE vectors")
    yield Crowded(name, store)
    store.close()
    server.drop(name)


def by_hand(session, compartment, question):
    """How near each line on the question's side lies, the nearest first."""
    rows = session.rows(
        "SELECT id, CAST(place AS real[]) FROM vectors WHERE workspace = ? AND owner = ?", compartment[:2]
    )
    near = {line_id: float(np.dot(np.array(place, "<f4"), question)) for line_id, place in rows}
    return dict(sorted(((n, one) for n, one in near.items() if one > 0), key=lambda one: -one[1]))


@pytest.mark.parametrize("seed", range(5))
def test_who_has_few_vectors_among_many_gets_exactly_the_nearest(crowded, seed):
    question = directions(1, 1000 + seed)[0]
    with crowded.store.read("w") as tx:
        expected = by_hand(tx._session, FEW, question)
        found = tx.terms.comparing.near(FEW, SPACE, question.tobytes())
        nearest = tx.terms.comparing.near(FEW, SPACE, question.tobytes(), 10)
        assert dict(found) == pytest.approx(expected, abs=1e-6)
        assert [line_id for line_id, _ in nearest] == list(expected)[:10]


def test_a_workspace_sees_no_vector_of_another_even_in_sql_of_ones_own(crowded):
    question = directions(1, 5000)[0].tobytes()
    with crowded.store.read("elsewhere") as tx:
        rows = tx._session.rows("SELECT workspace, owner, place FROM vectors")
        assert {row[:2] for row in rows} == {("elsewhere", "few")}
        near = (
            "SELECT workspace FROM vectors ORDER BY CAST(place AS vector(12)) <#> CAST(? AS vector) LIMIT 99"
        )
        vector = str(list(directions(1, 5000)[0].tolist()))
        assert set(tx._session.rows(near, (vector,))) == {("elsewhere",)}
        assert tx.terms.comparing.near(FEW, SPACE, question) == []
        assert tx.terms.comparing.near(ELSEWHERE, SPACE, question) != []


def test_what_is_kept_is_what_would_be_sealed(plain):
    vector = directions(1, 7)[0].tobytes()
    with plain.write() as tx:
        tx.terms.add(FEW, named(1), b"", b"")
        tx.terms.lie(FEW, SPACE, [(named(1), pack(vector))])
        (kept,) = tx._session.row("SELECT CAST(place AS real[]) FROM vectors")
    assert kept == list(unpack(pack(vector)))


BOUNDS = [
    {"within": IDS[1:4]},
    {"sessions": ["s"]},
    {"said": True},
    {"compartments": [IndexQuery(WORK, [TEA], [MARK])]},
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=lambda bounds: next(iter(bounds)))
def test_in_a_compartment_of_which_only_the_nearest_are_told_none_beyond_the_bounds_pushes_another_out(
    plain, bounds
):
    with plain.write() as tx:
        add(tx, WORK, IDS[0], {TEA: 1})
        for number in (1, 2, 3):
            add(tx, WORK, IDS[number], {TEA: 1, MARK: 0}, Saying("s", number))
    lie(plain, {IDS[number]: packed(60 - 10 * number, 0) for number in range(4)})
    within = bounds.get("within")
    inquiry = replace(meaning(TO_EAST, TEA), **({} if within else bounds))
    whole, part = RankedIndex(), RankedIndex(most_compared=3, nearest=1)
    expected = hits(plain, whole, inquiry, within=within)
    assert [hit.id for hit in expected] == IDS[1:4]
    assert hits(plain, part, inquiry, within=within) == expected
    nearest = hits(plain, part, meaning(TO_EAST, TEA))
    assert {hit.id: hit.signals.get(MEANING, 0) for hit in nearest} == {
        **dict.fromkeys(IDS[1:4], 0),
        IDS[0]: 60 / 64,
    }


def world_on(store, of=None):
    """A world with an embedder on that book, with the keys and the time of another."""
    shared = {} if of is None else {"keyring": of.keyring, "clock": of.clock, "entropy": of.entropy}
    return World(store=store, index=RankedIndex(), embedder=ReferenceEmbedder(), **shared)


def told(world, cap, query="where is the hotel?"):
    return [(line.text, line.explanation) for line in world.get(cap, query, explain=True)]


def forms(store):
    """How many vectors are sealed, and how many in the clear."""
    with store.read() as tx:
        return tx._session.row("SELECT COUNT(NULLIF(length(sealed), 0)), COUNT(place) FROM vectors")


def test_vectors_are_made_anew_in_the_other_form_and_back_and_answers_stay_the_same(opened):
    sealed = world_on(opened(SEALED))
    cap = sealed.issue()
    for text in ("The hotel is in Chengdu.", "Lunch with Mara.", "Our hotel has a pool."):
        sealed.put(cap, text)
    tidy(sealed)
    answers = told(sealed, cap)
    assert forms(sealed.store) == (3, 0)
    clear = world_on(opened(), sealed)
    assert begin(clear).vectors == 3
    assert forms(clear.store) == (3, 0)
    assert told(clear, cap) == answers, "the newest lines are found without stored vectors"
    tidy(clear)
    assert begin(clear, begin=False).done
    assert forms(clear.store) == (0, 3)
    assert [text for text, _ in told(clear, cap)] == [text for text, _ in answers]
    for (_, one), (_, other) in zip(told(clear, cap), answers, strict=True):
        assert one.score == pytest.approx(other.score, abs=1e-5)
    assert begin(sealed).vectors == 3
    sealed.services.meaning.touch([Compartment("default", "alice", "travel")])
    tidy(sealed)
    assert forms(sealed.store) == (3, 0)
    assert told(sealed, cap) == answers


def test_what_another_owner_keeps_changes_nothing_for_the_first(plain):
    world = world_on(plain)
    alice, bob = world.issue(), world.issue(sub="bob")
    for text in ("The hotel is in Chengdu.", "Lunch with Mara."):
        world.put(alice, text)
    tidy(world)
    alone = told(world, alice)
    for number in range(50):
        world.put(bob, f"where is the hotel? {number}")
    tidy(world)
    assert told(world, alice) == alone
    assert forms(plain) == (0, 52)


def test_a_line_takes_its_vector_along_and_so_does_a_compartment(plain):
    world = world_on(plain)
    cap = world.issue()
    first = world.put(cap, "The hotel is in Chengdu.")
    world.put(cap, "Lunch with Mara.")
    world.put(cap, "Rent is due.", "home")
    tidy(world)
    world.call(o.FORGET, cap, m.Forget(id=first))
    assert forms(plain) == (0, 2)
    world.call(o.FORGET, cap, m.Forget(namespace="travel"))
    assert forms(plain) == (0, 1)


def test_a_vector_that_somebody_took_out_is_made_anew_by_the_next_reindexing(plain):
    world = world_on(plain)
    cap = world.issue()
    for text in ("The hotel is in Chengdu.", "Lunch with Mara."):
        world.put(cap, text)
    tidy(world)
    with plain.write() as tx:
        tx._session.run("DELETE FROM vectors WHERE seq = (SELECT MIN(seq) FROM vectors)")
    assert begin(world).vectors == 1
    tidy(world)
    assert begin(world, begin=False).done
    assert forms(plain) == (0, 2)


def test_a_store_moves_without_the_vectors_that_are_in_the_clear(opened, emptied, tmp_path):
    with opened().write() as tx:
        fill(tx, COMPARTMENT)
    source, target = PostgresEngine(emptied), SqliteEngine(tmp_path / "book.db")
    assert "vectors" not in copy_store(source, target)
    source.close()
    store = SqlStore(target)
    with store.read() as tx:
        assert tx.terms.spaces() == {}
        assert tx.renewal.lacking(SPACE) == 1
    store.close()


def test_pgvector_needs_a_store_in_postgresql():
    with pytest.raises(Misconfigured, match="PostgreSQL") as refused:
        settings_from({"SOUVENANCE_VECTORS": "pgvector"})
    assert "SOUVENANCE_STORE" in refused.value.hint
    with pytest.raises(Misconfigured, match="auto, pgvector, sealed, none"):
        settings_from({"SOUVENANCE_VECTORS": "faiss"})
    given = {"SOUVENANCE_STORE": "postgresql://h/b", "SOUVENANCE_VECTORS": "pgvector"}
    assert settings_from(given).vectors == "pgvector"


def test_a_database_without_pgvector_is_refused_where_it_can_not_be_made(server, bare):
    with server.connected(bare) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO guest")
    url = server.url(bare, "guest")
    with pytest.raises(Misconfigured, match="no pgvector") as refused:
        SqlStore(PostgresEngine(url, vectors=PGVECTOR))
    assert "CREATE EXTENSION vector" in refused.value.hint
    assert "SOUVENANCE_VECTORS=sealed" in refused.value.hint
    SqlStore(PostgresEngine(url)).close()
    with server.connected(bare) as connection:
        connection.execute("CREATE EXTENSION vector SCHEMA pg_catalog")
    SqlStore(PostgresEngine(url, vectors=PGVECTOR)).close()


@pytest.mark.skipif(not installed(), reason="no embedder is installed")
def test_the_command_line_finds_by_meaning_what_it_forgets_with_its_vector(home, server, bare):
    store = {
        "SOUVENANCE_STORE": server.url(bare),
        "SOUVENANCE_VECTORS": "pgvector",
        "SOUVENANCE_EMBEDDER": "packaged",
    }
    run = partial(souvenance, home=home, settings=store)
    put = run("--json", "put", "On Saturday I fly to Lisbon.").json()
    run("reindex")
    run("key", "rotate")
    (found,) = run("--json", "get", "trip abroad", "--explain").json()["lines"]
    assert found["explanation"]["signals"]["meaning"]["value"] > 0.1
    assert "without a vector" not in run("status").out
    assert "1 line" in run("doctor").out
    with server.connected(bare) as connection:
        count = "SELECT COUNT(place) FROM vectors"
        assert connection.execute(count).fetchone() == (1,)
        run("forget", put["id"], "--yes")
        assert connection.execute(count).fetchone() == (0,)
