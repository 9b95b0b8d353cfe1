"""Souvenance as a system of the benchmark: what is stored is found again as the dataset's turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recall_data import Corpus, Session, Turn
from recall_souvenance import Ask, Shelf

RECALL = Path(__file__).resolve().parents[2] / "bench" / "recall.py"
AT = datetime(2024, 3, 1, 9, tzinfo=UTC)
BY_WORDS = {"SOUVENANCE_EMBEDDER": "none"}
LONG = "filler " * 4000 + "ends with a walrus"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return Shelf(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="module")
def corpus():
    sessions = [
        Session("first", AT, [Turn("D1:1", "Zoë Q.", "The kite is red."), Turn("D1:2", "Bob", "")]),
        Session("second", AT, [Turn("D2:1", "Bob", "The boat is blue."), Turn("D2:2", "Bob", LONG)]),
    ]
    return Corpus("some corpus", sessions, [], {})


@pytest.fixture(scope="module")
def filled(shelf, corpus):
    [stored] = shelf.filled([corpus])
    return stored


def test_every_message_is_known_by_its_turn_and_a_long_turn_is_several(filled):
    assert list(filled.turns.values()) == ["D1:1", "D1:2", "D2:1", "D2:2", "D2:2"]


def test_a_corpus_that_is_stored_is_not_stored_again(shelf, corpus, filled):
    assert list(Shelf(shelf.folder).filled([corpus])) == [filled]


def test_nothing_of_the_datasets_ids_is_stored(shelf, filled):
    asks = [Ask(filled.workspace, name, AT) for name in ("D2:1", "D2", "second")]
    assert [one.ids for one in shelf.ask(asks, 0, BY_WORDS).replies] == [[], [], []]


def test_what_is_asked_is_told_with_its_tokens_times_and_memory(shelf, filled):
    asks = [Ask(filled.workspace, "Which boat?", AT), Ask(filled.workspace, "a walrus", AT, peer="Bob")]
    told = shelf.ask(asks, 2, BY_WORDS)
    assert [[filled.turns[one] for one in reply.ids] for reply in told.replies] == [["D2:1"], ["D2:2"]]
    assert [(len(one.seconds), one.same) for one in told.replies] == [(2, True), (2, True)]
    assert told.replies[0].tokens < told.replies[1].tokens
    assert len(told.first_seconds) == 1
    assert told.resident_mb > 0


def test_the_program_tells_every_system_of_both_datasets(tmp_path, datasets):
    out = tmp_path / "out.json"
    command = [
        sys.executable,
        str(RECALL),
        *datasets,
        "--only",
        "locomo,longmemeval",
        "--both",
        "--rounds",
        "1",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    done = subprocess.run([*command, "--json", str(out)], env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    told = json.loads(out.read_text("utf-8"))
    for system in ("souvenance", "bm25", "bm25-stem"):
        assert told["locomo"][system]["turn_frac@10_cat1"] == 100
        assert told["longmemeval"][system]["session_all@5"] == 100
        assert told["longmemeval"][system]["both_turn_all@10"] == 100
        assert 0 <= told["longmemeval"][system]["false_injection"] <= 100
    assert told["locomo"]["souvenance"]["bytes_per_message"] > 0
    assert told["longmemeval"]["bm25-sessions"]["session_all@5"] == 100
    assert "souvenance on locomo: turn_frac@10" in done.stdout
