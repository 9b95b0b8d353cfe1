"""Why a line came, when the question is asked, and what is relevant enough to be shown unasked."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from gate.world import KINDS, World, each_kind
from reference.embedder import ReferenceEmbedder
from souvenance.core.embedding import embed_some
from souvenance.domain.relevance import WEIGHTS
from souvenance.gate import messages as m
from souvenance.gate import operations as o


@pytest.fixture(params=KINDS)
def world(request, tmp_path):
    with each_kind(request.param, tmp_path) as made:
        yield made


def test_no_line_says_why_it_came_unless_it_is_asked(world):
    cap = world.issue()
    world.put(cap, "hotel in Chengdu")
    (line,) = world.get(cap, "hotel")
    assert line.explanation is None
    assert "explanation" not in msgspec.json.decode(msgspec.json.encode(line))


def test_an_explained_line_tells_its_rank_and_the_signals_that_add_up_to_its_score(world):
    cap = world.issue()
    for text in ("hotel in Chengdu near the river", "hotel in Porto", "lunch with Mara"):
        world.put(cap, text)
    lines = world.get(cap, "which hotel in Chengdu?", k=2, explain=True)
    for rank, line in enumerate(lines, 1):
        why = line.explanation
        assert (why.rank, why.by, why.score) == (rank, "relevance", line.score)
        assert {name: signal.weight for name, signal in why.signals.items()} == {
            name: WEIGHTS[name] for name in why.signals
        }
        assert sum(signal.added for signal in why.signals.values()) == pytest.approx(why.score, abs=1e-4)
        added = [abs(signal.added) for signal in why.signals.values()]
        assert added == sorted(added, reverse=True)
    assert (
        lines[0].explanation.signals["similar_words"].value
        > lines[1].explanation.signals["similar_words"].value
    )


def test_a_line_that_came_for_a_part_of_a_word_or_for_being_new_says_so(world):
    cap = world.issue()
    for text in ("sunflowers in the garden", "lunch"):
        world.put(cap, text)
    lines = world.get(cap, "flower", explain=True)
    assert [(line.explanation.rank, line.explanation.by) for line in lines] == [
        (1, "part of a word"),
        (2, "newest"),
    ]
    assert all(line.explanation.signals == {} for line in lines)


def test_without_an_embedder_an_explanation_says_that_the_search_was_by_words_alone(world):
    cap = world.issue()
    world.put(cap, "hotel in Chengdu")
    assert world.get(cap, "hotel", explain=True)[0].explanation.space is None


def test_with_an_embedder_an_explanation_names_the_space_that_meanings_were_compared_in():
    world = World(embedder=ReferenceEmbedder("a-space"))
    cap = world.issue()
    world.put(cap, "hotel in Chengdu")
    assert world.get(cap, "hotel", explain=True)[0].explanation.space == "a-space"
    assert embed_some(world.store, world.services)
    assert world.get(cap, "hotel", explain=True)[0].explanation.space == "a-space"


def test_last_week_is_the_week_before_the_question_is_asked(world):
    cap = world.issue()
    for day in (4, 11, 18):
        world.put(cap, f"running in the park, day {day}", occurred_at=datetime(2026, 5, day, 12, tzinfo=UTC))
    for asked, day in ((13, 4), (20, 11), (27, 18)):
        at = datetime(2026, 5, asked, 9, tzinfo=UTC)
        assert world.texts(cap, "where did I run last week?", at=at, k=1) == [
            f"running in the park, day {day}"
        ]


def test_without_a_moment_a_question_is_asked_now(world):
    cap = world.issue()
    now = world.clock.ms
    world.put(cap, "running in the park", occurred_at=datetime.fromtimestamp(now / 1000 - 86_400, UTC))
    world.put(cap, "running late", occurred_at=datetime.fromtimestamp(now / 1000 - 9 * 86_400, UTC))
    line, *_ = world.get(cap, "where did I run yesterday?", explain=True)
    assert line.text == "running in the park"
    assert line.explanation.signals["said_then"].value > 0


@pytest.mark.parametrize("query", ["zeppelin", None])
def test_with_the_floor_nothing_comes_only_because_it_is_new_or_holds_a_part_of_a_word(world, query):
    cap = world.issue()
    world.put(cap, "the zeppelinfahrt was long")
    assert world.texts(cap, query) == ["the zeppelinfahrt was long"]
    assert world.texts(cap, query, floor=True) == []


@pytest.mark.parametrize(
    "fields", [{"at": "yesterday"}, {"at": "2026-05-14T09:00:00"}, {"explain": "yes"}, {"floor": 1}]
)
def test_a_moment_without_a_zone_and_a_flag_that_is_none_are_refused(fields):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"query": "hotel", **fields}, m.Get)


def test_what_is_asked_how_leaves_the_same_row_in_the_log(world):
    cap = world.issue()
    line = world.put(cap, "hotel in Chengdu")
    world.call(o.GET, cap, m.Get("hotel", at=datetime(2026, 5, 14, tzinfo=UTC), explain=True))
    assert list(world.rows()[-1].event.lines) == [line]
