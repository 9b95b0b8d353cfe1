"""What of the datasets is stored, what is asked and what is gold, on data made by hand."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest

from recall_data import evidence, limited, locomo, longmemeval


@pytest.fixture
def written(tmp_path):
    def write(data, name="data.json"):
        path = tmp_path / name
        raw = json.dumps(data).encode()
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write


def conversation(*asked):
    return {
        "id": "7",
        "speakers": ["Ann", "Bob"],
        "sessions": [
            {
                "session": 1,
                "date": "1:05 pm on 8 May, 2023",
                "turns": [
                    {"id": "D1:1", "speaker": "Ann", "text": "Look!", "image_caption": "a red kite"},
                    {"id": "D1:2", "speaker": "Bob", "text": "Nice."},
                ],
            },
            {
                "session": 2,
                "date": "12:30 am on 2 June, 2023",
                "turns": [{"id": "D2:1", "speaker": "Ann", "text": "I moved."}],
            },
        ],
        "qa": [
            {"question": question, "answer": "", "category": category, "evidence": named}
            for question, category, named in asked
        ],
    }


def haystack(**changed):
    question = {
        "id": "q1",
        "type": "multi-session",
        "abstention": False,
        "question": "Where?",
        "answer": "",
        "date": "2023/06/01 (Thu) 10:00",
        "answer_sessions": ["gold"],
        "haystack": [
            {"session": "k2", "date": "2023/05/20 (Sat) 02:02"},
            {"session": "k1", "date": "2023/05/19 (Fri) 20:00"},
        ],
        **changed,
    }
    said = [{"role": "user", "text": "Here.", "has_answer": True}, {"role": "assistant", "text": "I see."}]
    sessions = [
        {"key": "k1", "id": "gold", "turns": said},
        {"key": "k2", "id": "other", "turns": [{"role": "assistant", "text": "Well.", "has_answer": True}]},
    ]
    return {"sessions": sessions, "questions": [question]}


def test_a_turn_of_locomo_is_its_text_with_the_caption_of_its_picture(written):
    [corpus] = locomo(written([conversation()]))
    assert [turn.text for turn in corpus.sessions[0].turns] == ["Look! [a red kite]", "Nice."]


def test_a_file_may_be_packed(written):
    assert locomo(written([conversation()], "data.json.gz")) == locomo(written([conversation()]))


def test_locomo_is_asked_on_the_day_after_its_last_session(written):
    [corpus] = locomo(written([conversation(("When?", 2, ["D2:1"]))]))
    assert corpus.sessions[1].at == datetime(2023, 6, 2, 0, 30, tzinfo=UTC)
    assert corpus.questions[0].at == datetime(2023, 6, 3, 0, 30, tzinfo=UTC)


def test_the_headline_of_locomo_is_its_categories_1_to_4(written):
    [corpus] = locomo(written([conversation(("One?", 1, ["D1:1"]), ("Five?", 5, ["D1:1"]))]))
    assert [one.groups for one in corpus.questions] == [
        {"": ("", "_all", "_cat1")},
        {"": ("_all", "_cat5")},
    ]


def test_a_question_of_locomo_without_evidence_is_left_out(written):
    [corpus] = locomo(written([conversation(("What?", 1, []), ("Who?", 1, ["D"]))]))
    assert corpus.questions == []


def test_evidence_is_read_however_it_is_written():
    assert list(evidence(["D3:05; D4:1", "D11:20 D2:2", "D"])) == ["D3:5", "D4:1", "D11:20", "D2:2"]


def test_the_gold_sessions_of_locomo_are_those_of_its_gold_turns(written):
    [corpus] = locomo(written([conversation(("Both?", 1, ["D1:2", "D2:1"]))]))
    assert corpus.questions[0].gold_sessions == {"D1", "D2"}


def test_a_haystack_is_stored_in_the_order_of_its_dates(written):
    [corpus] = longmemeval(written(haystack()))
    assert [session.id for session in corpus.sessions] == ["gold", "other"]
    assert corpus.session_of == {"gold:1": "gold", "gold:2": "gold", "other:1": "other"}


def test_the_gold_turns_of_a_haystack_have_the_answer(written):
    [corpus] = longmemeval(written(haystack()))
    assert corpus.questions[0].gold_turns == {"gold:1", "other:1"}
    assert corpus.questions[0].gold_sessions == {"gold"}
    assert corpus.questions[0].at == datetime(2023, 6, 1, 10, tzinfo=UTC)


def test_what_the_assistant_said_is_stored_only_where_both_sides_are_looked_through(written):
    [official], [whole] = (longmemeval(written(haystack()), both=both) for both in (False, True))
    assert (list(official.views), list(whole.views)) == ([""], ["", "both_"])
    told = [
        {turn.text for session in corpus.sessions for turn in session.turns if turn.speaker == "assistant"}
        for corpus in (official, whole)
    ]
    assert told[0] == {"…"}
    assert "…" not in told[1]


def test_what_only_an_assistant_answers_is_not_of_the_official_set(written):
    only_k2 = [{"session": "k2", "date": "2023/05/20 (Sat) 02:02"}]
    assert longmemeval(written(haystack()))[0].questions[0].groups == {
        "": ("", "_multi-session"),
        "both_": ("", "_wide", "_multi-session"),
    }
    assert longmemeval(written(haystack(haystack=only_k2))) == []
    [corpus] = longmemeval(written(haystack(haystack=only_k2)), both=True)
    assert corpus.questions[0].groups == {"both_": ("_wide", "_multi-session")}


def test_a_question_that_nothing_answers_is_judged_by_no_ranking(written):
    [question] = longmemeval(written(haystack(abstention=True)))[0].questions
    assert question.unanswerable
    assert (question.groups, question.gold_turns, question.gold_sessions) == ({}, frozenset(), frozenset())


def test_a_limit_counts_questions_over_all_corpora(written):
    asked = [("One?", 1, ["D1:1"]), ("Two?", 1, ["D1:1"])]
    corpora = locomo(written([conversation(*asked), conversation(*asked), conversation(*asked)]))
    assert [[one.text for one in corpus.questions] for corpus in limited(corpora, 3)] == [
        ["One?", "Two?"],
        ["One?"],
    ]
    assert limited(corpora, None) == corpora
    assert limited(corpora, 0) == []


def test_a_corpus_is_known_by_what_it_holds(written):
    asked = ("One?", 1, ["D1:1"])
    [corpus] = locomo(written([conversation()]))
    [same] = locomo(written([conversation(asked)]))
    other = corpus._replace(sessions=corpus.sessions[:1])
    assert corpus.digest == same.digest != other.digest
