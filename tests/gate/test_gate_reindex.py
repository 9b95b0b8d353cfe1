"""Making again what lines are found by: a little at a time, and from where it was."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gate.world import KINDS, World, on_sqlite
from reference.embedder import ReferenceEmbedder
from reference.text import UniversalTime
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.core import embedding
from souvenance.core.remember import ANALYSIS, analysed, bounds_of
from souvenance.domain.line import LinePlace
from souvenance.domain.names import Compartment
from souvenance.errors import Unavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.worker import Worker
from souvenance.ports.index import Debt, Renewed

TRAVEL = Compartment("default", "alice", "travel")
WORK = TRAVEL._replace(namespace="work")
MANY = 1 << 31


@pytest.fixture(params=KINDS)
def make(request, tmp_path):
    """Makes a world, of the reference parts or of those that a house has."""
    made = []

    def one(**options):
        world = on_sqlite(tmp_path / "book.db", **options) if request.param == "sqlite" else World(**options)
        made.append(world)
        return world

    yield one
    for world in made:
        world.store.close()


def worker(world):
    return Worker(
        store=world.store,
        clock=world.clock,
        services=world.services,
        secret=lambda: b"",
        report=lambda told: None,
    )


def spoil(world, *compartments):
    """Leave the rooms' lines with tokens that no analysis of today makes."""
    with world.store.write() as tx:
        for compartment in compartments:
            lines = tx.renewal.lines(Debt(compartment, 0), MANY)
            tx.renewal.renew(
                compartment, [Renewed(seq, line_id, bytes(8), b"\x01") for seq, line_id in lines]
            )
            tx.touch(compartment.workspace, compartments=True)


def tidy(world):
    shop = worker(world)
    while shop.tidy():
        pass


def matched(world, cap, query, **fields):
    """What the index finds."""
    lines = world.get(cap, query, explain=True, **fields)
    return [line.text for line in lines if line.explanation.by == "relevance"]


def begin(world, **fields):
    return world.call(o.REINDEX, world.operator(), m.Reindex(**fields))


def test_lines_with_old_tokens_are_found_again(make):
    world = make()
    cap = world.issue()
    world.put(cap, "hotel in Chengdu")
    world.put(cap, "lunch with Mara", "work", session="noon")
    spoil(world, TRAVEL, WORK)
    assert matched(world, cap, "hotel") == matched(world, cap, "lunch") == []
    told = begin(world)
    assert (told.lines, told.vectors, told.old_vectors, told.done) == (2, 0, 0, False)
    tidy(world)
    assert matched(world, cap, "hotel") == ["hotel in Chengdu"]
    assert matched(world, cap, "lunch") == ["lunch with Mara"]
    assert begin(world, begin=False).done


def test_a_narrowed_search_finds_them_by_their_marks_again(make):
    world = make()
    said = m.Put("hotel in Chengdu", "travel", session="noon")
    world.call(o.PUT, world.issue(), said)
    with world.store.read() as tx:
        before = list(tx.terms.since(TRAVEL, 0))
    spoil(world, TRAVEL)
    begin(world)
    tidy(world)
    with world.store.read() as tx:
        assert list(tx.terms.since(TRAVEL, 0)) == before


def test_a_worker_notices_a_store_of_another_analysis_and_makes_it_anew(make):
    world = make()
    cap = world.issue()
    world.put(cap, "hotel in Chengdu")
    spoil(world, TRAVEL)
    with world.store.write() as tx:
        tx.renewal.analyse_by("1")
    shop = worker(world)
    shop.look_round()
    while shop.work_once():
        pass
    assert matched(world, cap, "hotel") == ["hotel in Chengdu"]
    with world.store.read() as tx:
        assert (tx.renewal.analysis(), tx.renewal.next()) == (ANALYSIS, None)


def test_a_worker_leaves_a_store_of_its_own_analysis_alone(make):
    world = make()
    world.put(world.issue(), "hotel in Chengdu")
    with world.store.write() as tx:
        tx.renewal.analyse_by(ANALYSIS)
    shop = worker(world)
    shop.look_round()
    assert not shop.work_once()


def test_what_was_interrupted_is_gone_on_with_from_where_it_was(make, monkeypatch):
    monkeypatch.setattr(embedding, "_RENEWED_AT_ONCE", 2)
    world = make()
    cap = world.issue()
    for n in range(5):
        world.put(cap, f"hotel {n}")
        world.put(cap, f"lunch {n}", "work")
    assert begin(world).lines == 10
    shop = worker(world)
    for _ in range(4):
        shop.tidy()
    with world.store.read() as tx:
        debt = tx.renewal.next()
        assert (debt.compartment, debt.seq) == (WORK, 2)
    assert begin(world).lines == 3
    tidy(world)
    assert begin(world).lines == 10


def test_another_process_that_has_the_compartment_in_mind_finds_the_new_tokens(tmp_path):
    one = on_sqlite(tmp_path / "book.db")
    other = World(store=one.store, keyring=one.keyring, clock=one.clock, index=RankedIndex())
    cap = one.issue()
    one.put(cap, "hotel in Chengdu")
    spoil(one, TRAVEL)
    assert matched(other, cap, "hotel") == []
    begin(one)
    tidy(one)
    assert matched(other, cap, "hotel") == ["hotel in Chengdu"]
    one.store.close()


def test_only_the_named_workspace_is_made_anew(make):
    world = make()
    here, there = world.issue(), world.issue(wid="there")
    world.put(here, "hotel in Chengdu")
    world.put(there, "hotel in Porto")
    spoil(world, TRAVEL, TRAVEL._replace(workspace="there"))
    with world.store.write() as tx:
        tx.renewal.analyse_by(ANALYSIS)
    assert begin(world, workspace="there").lines == 1
    tidy(world)
    assert matched(world, there, "hotel") == ["hotel in Porto"]
    assert matched(world, here, "hotel") == []


def test_a_line_that_can_not_be_read_keeps_what_it_has_and_holds_nobody_up(make):
    world = make()
    cap = world.issue()
    broken, _ = world.put(cap, "hotel in Chengdu"), world.put(cap, "hotel in Porto")
    spoil(world, TRAVEL)
    with world.store.write() as tx:
        line = tx.lines.get(TRAVEL, broken)
        tx.lines.delete(TRAVEL, (broken,))
        tx.lines.append(replace(line, sealed=b""))
    begin(world)
    tidy(world)
    assert matched(world, cap, "Porto", k=1) == ["hotel in Porto"]
    assert begin(world, begin=False).done


def test_a_compartment_that_lost_its_keys_holds_nobody_up(make):
    world = make()
    cap = world.issue()
    world.put(cap, "hotel in Chengdu")
    world.put(cap, "lunch with Mara", "work")
    spoil(world, TRAVEL, WORK)
    begin(world)
    with world.store.write() as tx:
        lost = [key for key in tx.keys.every() if key.compartment == TRAVEL and key.purpose == "seal"]
        tx.keys.rewrap(lost[0]._replace(wrapped=bytes(60)))
    world.services.vault.forget()
    tidy(world)
    assert matched(world, world.issue(), "lunch", namespaces=("work",)) == ["lunch with Mara"]


def test_lines_without_a_vector_get_one_and_vectors_of_another_embedder_go(make):
    old = make(embedder=ReferenceEmbedder("old"))
    cap = old.issue()
    old.put(cap, "hotel in Chengdu")
    tidy(old)
    world = World(
        store=old.store,
        keyring=old.keyring,
        clock=old.clock,
        entropy=old.entropy,
        embedder=ReferenceEmbedder("new"),
    )
    told = begin(world)
    assert (told.vectors, told.old_vectors, told.done) == (1, 1, False)
    assert begin(world, begin=False).old_vectors == 1, "they stay until the new ones are there"
    tidy(world)
    assert begin(world, begin=False).done
    with world.store.read() as tx:
        assert tx.terms.spaces() == {"new": 1}


def test_without_an_embedder_no_vector_is_dropped(make):
    old = make(embedder=ReferenceEmbedder("old"))
    old.put(old.issue(), "hotel in Chengdu")
    tidy(old)
    world = World(store=old.store, keyring=old.keyring, clock=old.clock, entropy=old.entropy)
    begin(world)
    tidy(world)
    assert begin(world, begin=False).done
    with world.store.read() as tx:
        assert tx.terms.spaces() == {"old": 1}


def test_only_the_installations_own_cap_begins_it_and_each_look_is_in_the_log(make):
    world = make()
    for cap in (world.issue(), world.issue(wid="*")):
        assert world.code(o.REINDEX, cap, m.Reindex()) == "cap_scope_mismatch"
    operator = world.operator()
    for request in (m.Reindex(), m.Reindex(begin=False)):
        world.call(o.REINDEX, operator, request)
    assert world.outcomes()[-2:] == [("reindex", "ok"), ("reindex", "ok")]


def test_status_says_which_embedder_there_is_and_how_many_lines_wait_for_it(make):
    world = make(embedder=ReferenceEmbedder())
    cap, other = world.issue(), world.issue(sub="bob")
    world.put(cap, "hotel in Chengdu")
    world.put(other, "hotel in Porto")
    told = world.call(o.STATUS, cap, m.Nothing())
    assert told.embedder == ReferenceEmbedder().description
    assert (told.waiting, told.renewing, told.embedder_trouble) == (1, 0, "")
    begin(world)
    assert world.call(o.STATUS, cap, m.Nothing()).renewing == 1
    tidy(world)
    told = world.call(o.STATUS, cap, m.Nothing())
    assert (told.waiting, told.renewing) == (0, 0)


def test_status_counts_the_lines_of_every_peer_for_who_may_see_them_all(make):
    world = make(embedder=ReferenceEmbedder())
    for cap in (world.issue(), world.issue(sub="bob")):
        world.put(cap, "hotel in Chengdu")
    begin(world)
    for cap, lines in (
        (world.issue(peers=["*"]), 2),
        (world.issue(), 1),
        (world.issue(peers=["*"], namespaces_allowed=["travel"]), 1),
        (world.issue(peers=["*"], namespaces_allowed=["work"]), 0),
    ):
        told = world.call(o.STATUS, cap, m.Nothing())
        assert (told.waiting, told.renewing) == (lines, lines)


def test_status_says_that_search_is_by_words_alone(make):
    world = make()
    world.put(world.issue(), "hotel in Chengdu")
    told = world.call(o.STATUS, world.issue(), m.Nothing())
    assert (told.embedder, told.waiting) == ("none: search is by words alone", 0)
    assert world.gate.thinking() == {"embedder": "none"}


class Moody(ReferenceEmbedder):
    """An embedder that fails while it is told to."""

    failing = True

    def passages(self, texts):
        if self.failing:
            raise Unavailable("it is asleep")
        return super().passages(texts)


def test_an_embedder_in_trouble_is_told_until_it_works_again(make):
    embedder = Moody()
    world = make(embedder=embedder)
    cap, wide = world.issue(), world.operator()
    world.put(cap, "hotel in Chengdu")
    tidy(world)
    told = world.call(o.STATUS, cap, m.Nothing())
    assert (told.waiting, told.embedder_trouble) == (1, "it can't be asked for now")
    assert world.call(o.STATUS, wide, m.Nothing()).embedder_trouble == "unavailable: it is asleep"
    assert world.gate.thinking() == {"embedder": "resting"}
    assert begin(world, begin=False).trouble == "unavailable: it is asleep"
    embedder.failing = False
    world.clock.advance(seconds=60)
    tidy(world)
    told = world.call(o.STATUS, cap, m.Nothing())
    assert (told.waiting, told.embedder_trouble) == (0, "")
    assert world.gate.thinking() == {"embedder": "ok"}


def test_the_analysis_stands_for_these_marks():
    """Whoever changes these counts `ANALYSIS` up as well, so that stored tokens are made again."""
    line = LinePlace(
        compartment=TRAVEL,
        id="id",
        kind="memory",
        session="s1",
        created_at=1_778_673_600_000,
        cap="cap",
        about="bob",
    )
    text = "Did I meet Tom twice last week, and again in June 2023?"
    marks = (*analysed(text, line.created_at, UniversalTime()).marks, *bounds_of(line))
    assert (ANALYSIS, " | ".join(mark.replace("\0", " ").strip() for mark in marks)) == (
        "4.3.1.0.4",
        "sign asks | sign self | sign number | sign time"
        " | day 2026-05-04 | day 2026-05-05 | day 2026-05-06 | day 2026-05-07 | day 2026-05-08"
        " | day 2026-05-09 | day 2026-05-10 | month 2026-05 | month 2023-06 | session s1"
        " | about bob | noted bob",
    )
