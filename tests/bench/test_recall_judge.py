"""What rankings are worth over a dataset, and how much comes back where nothing should."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recall_data import ABSTENTION, Corpus, Question, Session, Turn
from recall_judge import judged, misses, sizes
from recall_systems import Found, Ranking

AT = datetime(2024, 1, 1, tzinfo=UTC)
GOLD, OTHER, NOTHING = Ranking(["3:1"], ["3"]), Ranking(["1:1"], ["1"]), Ranking([], [])


def question(*groups, kind="cat1"):
    gold = frozenset(["3:1"]) if groups else frozenset()
    views = {"": groups, "both_": (*groups, "_wide")} if groups else {}
    return Question("Where?", AT, kind, gold, frozenset(["3"]) if groups else frozenset(), views)


def corpus(*questions):
    sessions = [
        Session(str(number), AT, [Turn(f"{number}:{turn}", "user", "text") for turn in range(5)])
        for number in range(12)
    ]
    return Corpus("corpus", sessions, list(questions), {"": None})


def found(*everything, guarded=None, both=None, small_talk=(False,)):
    views = {"": list(everything)} | ({} if both is None else {"both_": both})
    return Found(views, list(guarded or everything), list(small_talk), {"ms_median": 1.0})


def test_a_mean_is_over_the_questions_of_its_group():
    told = judged([corpus(question("", "_cat1"), question("", "_cat2"))], found(GOLD, OTHER))
    assert (told["turn_frac@10"], told["turn_frac@10_cat1"], told["turn_frac@10_cat2"]) == (50, 100, 0)
    assert told["session_all@5"] == 50


def test_a_system_that_ranks_sessions_alone_has_no_turns():
    told = judged([corpus(question(""))], found(Ranking(None, ["3"])))
    assert told["session_all@5"] == 100
    assert not [name for name in told if name.startswith("turn_")]


def test_each_view_has_its_own_names_and_groups():
    told = judged([corpus(question(""))], found(OTHER, both=[GOLD]))
    assert (told["turn_all@5"], told["both_turn_all@5"], told["both_turn_all@5_wide"]) == (0, 100, 100)
    assert "turn_all@5_wide" not in told


def test_the_guard_costs_what_it_holds_back():
    told = judged([corpus(question(""), question(""))], found(GOLD, GOLD, guarded=[GOLD, NOTHING]))
    assert (told["turn_frac@10_guarded"], told["recall_lost"]) == (50, 50)


def test_a_false_injection_is_anything_at_all_where_nothing_answers():
    questions = [question(kind=ABSTENTION), question(kind=ABSTENTION)]
    told = judged(
        [corpus(*questions)],
        found(OTHER, OTHER, guarded=[OTHER, NOTHING], small_talk=[True, False] * 2 + [False] * 4),
    )
    assert (told["false_injection_abstention"], told["false_injection_smalltalk"]) == (50, 25)
    assert told["false_injection"] == 37.5


def test_without_questions_that_nothing_answers_small_talk_alone_counts():
    told = judged([corpus(question(""))], found(GOLD, small_talk=[True, False]))
    assert told["false_injection"] == 50
    assert "false_injection_abstention" not in told


def test_a_miss_tells_where_the_gold_was():
    late = Ranking([*(f"1:{turn}" for turn in range(10)), "3:1"], ["1", "3"])
    missed = misses([corpus(*[question("")] * 3)], found(GOLD, late, OTHER))
    assert [one["ranks"] for one in missed] == [{"3:1": 11}, {"3:1": None}]


def test_the_costs_stand_beside():
    assert judged([corpus(question(""))], found(GOLD))["ms_median"] == 1.0


def test_the_sizes_say_what_a_cut_is_taken_of():
    told = sizes([corpus(question(""), question("_cat5"), question(kind=ABSTENTION))])
    assert told == {
        "corpora": 1,
        "questions": 3,
        "judged": 1,
        "unanswerable": 1,
        "turns": 60,
        "sessions_per_corpus": 12,
        "turns_per_corpus": 60,
    }


def test_a_corpus_too_small_for_the_cuts_is_refused():
    small = corpus(question(""))._replace(sessions=corpus().sessions[:8])
    with pytest.raises(ValueError, match="all there is"):
        judged([small], found(GOLD))
