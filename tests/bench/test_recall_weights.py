"""What the signals are worth: weights fitted to the right lines, and judged by what was held out."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall_data import Corpus, Question, Session, Turn, locomo
from recall_souvenance import Shelf
from recall_weights import SIGNALS, SOFT, Fit, Folds, Sample, ablations, judged, measured, ranked, samples
from souvenance.domain import relevance as r

PROGRAM = Path(__file__).resolve().parents[2] / "bench" / "recall_weights.py"
AT = datetime(2024, 3, 1, 9, tzinfo=UTC)


def sample(rows, gold=("0:1",), *, dataset="locomo", fold=0, kind="cat1"):
    """Lines `0:0`, `1:1`, ... of a session each, with these signals."""
    signals = np.array([[row.get(name, 0.0) for name in SIGNALS] for row in rows])
    turns = [f"{number}:1" for number in range(len(rows))]
    sessions = [str(number) for number in range(len(rows))]
    return Sample(dataset, fold, kind, turns, sessions, signals, gold, {one[0] for one in gold})


def told_by(name, *, gold=0, fold=0, **kind):
    """The signal of that name tells the right one of four lines; another is there by chance."""
    rows = [{r.FIRST_PERSON: 0.1 * ((number + fold) % 3)} for number in range(4)]
    rows[gold][name] = 1.0
    return sample(rows, (f"{gold}:1",), fold=fold, **kind)


def test_a_signal_that_tells_the_right_line_weighs_more_than_one_that_is_there_by_chance():
    weights = Fit([told_by(r.SIMILAR_WORDS, gold=at % 4) for at in range(8)], 0.5, 0.3).weights()
    assert weights[r.SIMILAR_WORDS] > 1
    assert abs(weights[r.FIRST_PERSON]) < weights[r.SIMILAR_WORDS]


def test_a_signal_that_is_the_same_everywhere_weighs_nothing():
    one = sample([{r.SIMILAR_WORDS: 1.0, r.FIRST_PERSON: 2.0}, {r.FIRST_PERSON: 2.0}])
    assert Fit([one], 0.5, 0.3).weights()[r.FIRST_PERSON] == 0


def test_what_is_left_out_has_no_weight():
    known = [told_by(r.SIMILAR_WORDS), told_by(r.MEANING, gold=1)]
    assert set(Fit(known, 0.5, 0.3).weights([r.MEANING])) == {r.MEANING}


def test_the_share_says_which_dataset_is_listened_to():
    against = sample([{}, {r.SIMILAR_WORDS: 1.0}], dataset="longmemeval")
    known = [sample([{r.SIMILAR_WORDS: 1.0}, {}])] * 9 + [against]
    assert Fit(known, 0.1, 0.3).weights()[r.SIMILAR_WORDS] > 0
    assert Fit(known, 0.9, 0.3).weights()[r.SIMILAR_WORDS] < 0


@given(
    st.lists(
        st.lists(st.tuples(*[st.sampled_from((0.0, 0.3, 1.0))] * 3), min_size=2, max_size=5),
        min_size=1,
        max_size=4,
    )
)
def test_no_other_weights_make_the_right_lines_likelier(questions):
    names = (r.SIMILAR_WORDS, r.MEANING, r.SPEAKER)
    known = [sample([dict(zip(names, row, strict=True)) for row in rows]) for rows in questions]
    ridge = 0.3
    best = Fit(known, 0.5, ridge).weights(names)
    columns = [SIGNALS.index(name) for name in names]
    spread = np.mean([one.signals[:, columns].std(axis=0) for one in known], axis=0)

    def loss(weights):
        unlikely = 0.0
        for one in known:
            scores = one.signals[:, columns] @ (SOFT * weights)
            unlikely += np.log(np.exp(scores).sum()) - scores[0]
        apart = SOFT * (weights - np.array([r.WEIGHTS[name] for name in names])) * spread
        return (unlikely + ridge * np.sum(apart**2)) / len(known)

    fitted = np.array([best[name] for name in names])
    for step in (*np.eye(3), *-np.eye(3)):
        assert loss(fitted) <= loss(fitted + 0.05 * step) + 1e-9


def test_of_equal_scores_the_newest_line_comes_first():
    assert ranked(sample([{}, {r.SIMILAR_WORDS: 1.0}, {}]), {r.SIMILAR_WORDS: 1.0}) == ["1:1", "0:1", "2:1"]


def test_a_turn_of_several_messages_is_counted_once():
    one = sample([{}, {}, {}])._replace(turns=["a", "a", "b"])
    assert ranked(one, {}) == ["a", "b"]


def test_each_dataset_is_judged_by_its_own_measures():
    rows = [{r.SIMILAR_WORDS: 1.0}] + [{r.MEANING: 1.0}] * 7
    first, seventh = {r.SIMILAR_WORDS: 1.0}, {r.MEANING: 1.0}
    assert judged(sample(rows), ranked(sample(rows), first)) == {
        "turn_frac@10": 100,
        "turn_frac@10_cat1": 100,
    }
    second = sample(rows, dataset="longmemeval")
    assert judged(second, ranked(second, seventh)) == {
        "session_all@5": 0,
        "session_all@10": 100,
        "turn_all@5": 0,
        "turn_all@10": 100,
    }


def test_a_sample_is_judged_by_weights_that_were_fitted_without_it():
    misleading = sample([{}, *[{r.SIMILAR_WORDS: 1.0}] * 10], fold=1)
    known = [told_by(r.SIMILAR_WORDS, gold=at % 4) for at in range(4)] + [misleading] * 9
    assert measured(known, {r.SIMILAR_WORDS: 1.0})["locomo turn_frac@10"] == pytest.approx(100 * 4 / 13)
    held_out = [weights for held, weights in Folds(known, 0.5, 0.3).weights(SIGNALS) if held[0].fold == 1]
    assert held_out[0][r.SIMILAR_WORDS] > 0


def test_without_a_second_fold_nothing_can_be_held_out():
    with pytest.raises(ValueError, match="nothing is left"):
        Folds([told_by(r.SIMILAR_WORDS)], 0.5, 0.3)


def test_every_signal_is_left_out_once_by_itself():
    alone = [set(SIGNALS) - set(names) for name, names in ablations() if name.startswith("without ")]
    assert [{name} for name in SIGNALS if {name} not in alone] == []


def test_what_is_kept_is_asked_for_every_line_with_its_signals(tmp_path):
    turns = [Turn("D1:1", "Ann", "My telescope is a Celestron."), Turn("D1:2", "Bob", "Which telescope?")]
    question = Question(
        "What telescope does Ann have?", AT, "cat1", frozenset(["D1:1"]), frozenset(["D1"]), {"": ("",)}
    )
    corpus = Corpus("some", [Session("D1", AT - timedelta(days=3), turns)], [question], {"": None})
    beside = corpus._replace(name="not kept")
    list(Shelf(tmp_path).filled([corpus]))
    [found] = samples("locomo", [beside, corpus], tmp_path)
    assert (found.fold, found.turns, found.sessions) == (1, ["D1:2", "D1:1"], ["D1", "D1"])
    [asks, tells] = ({name: row[at] for at, name in enumerate(SIGNALS)} for row in found.signals)
    assert (asks[r.SIMILAR_WORDS], asks[r.IS_QUESTION], asks[r.SPEAKER]) == (1, 1, 0)
    assert (tells[r.SIMILAR_WORDS], tells[r.IS_QUESTION], tells[r.SPEAKER]) == (1, 0, 1)


def test_the_program_says_what_it_lacks(tmp_path):
    command = [sys.executable, str(PROGRAM), "--store", str(tmp_path), "--fit"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "run bench/recall.py --store" in done.stderr


def test_the_program_fits_and_ablates_what_is_kept(tmp_path):
    said = [["I sold the old kite.", "Ah.", "Well."], ["Fine.", "My telescope is new.", "Good."]]
    conversations = [
        {
            "id": str(name),
            "sessions": [
                {
                    "session": number,
                    "date": f"1:00 pm on {number} May, 2023",
                    "turns": [
                        {"id": f"D{number}:{turn}", "speaker": ("Ann", "Bob")[turn % 2], "text": text}
                        for turn, text in enumerate(turns, 1)
                    ],
                }
                for number, turns in enumerate(said, 1)
            ],
            "qa": [{"question": "Which telescope?", "category": 1, "evidence": ["D2:2"]}],
        }
        for name in range(2)
    ]
    data, out = tmp_path / "locomo.json", tmp_path / "out.json"
    data.write_text(json.dumps(conversations), "utf-8")
    list(Shelf(tmp_path / "kept" / "locomo").filled(locomo(data)))
    command = [sys.executable, str(PROGRAM), "--store", str(tmp_path / "kept"), "--locomo", str(data)]
    done = subprocess.run([*command, "--fit", "--ablate", "--json", str(out)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(out.read_text("utf-8"))
    assert set(told["fit"]["weights"]) == set(SIGNALS)
    assert told["fit"]["rows"]["held out"]["locomo turn_frac@10"] == 100
    assert list(told["ablation"]) == [name for name, _ in ablations()]
    assert "words alone" in done.stdout
