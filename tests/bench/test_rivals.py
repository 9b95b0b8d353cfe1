"""The comparison with other systems: the error of one that fails is printed, and the others go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rivals_table import GIVEN, markdown

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def run(tmp_path, datasets):
    def run(*options):
        command = [
            sys.executable,
            str(ROOT / "bench" / "rivals.py"),
            *datasets,
            "--install",
            "none",
            *options,
        ]
        told = ["--json", str(tmp_path / "told.json"), "--scratch", str(tmp_path / "scratch")]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")
        }
        done = subprocess.run([*command, *told], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "told.json").read_text("utf-8")), done.stdout

    return run


def test_systems_are_judged_alike_and_one_that_fails_is_told_with_its_error(run):
    told, table = run("--systems", "bm25,mem0,souvenance")
    systems = told["systems"]
    for name in ("bm25", "souvenance"):
        assert systems[name]["locomo"]["turn_frac@10_cat1"] == 100
        assert systems[name]["longmemeval"]["session_all@5"] == 100
        assert systems[name]["locomo"]["peak_mb"] > 0
        assert systems[name]["locomo"]["search_ms"] > 0
    assert systems["souvenance"]["locomo"]["disk_kb_per_turn"] > 0
    assert systems["mem0"]["error"] == "ModuleNotFoundError: No module named 'mem0'"
    assert "| souvenance | 100.0 | 100.0 | 100.0 |" in table
    assert "It did not run: `ModuleNotFoundError: No module named 'mem0'`" in table
    assert GIVEN in table
    told, _ = run("--systems", "fusion")
    assert told["systems"]["fusion"]["locomo"]["turn_frac@10_cat1"] == 100
    assert told["systems"]["bm25"] == systems["bm25"]


def test_searches_that_fail_are_told_with_the_first_error():
    failing = {"failed_searches": 2, "first_error": "KeyError: 'D1:1'"}
    found = {
        "settings": "default",
        "locomo": {"error": "it took longer than 60 minutes"},
        "longmemeval": failing,
    }
    sample = {"locomo": {"corpora": 2}, "longmemeval": {"corpora": 3}}
    about = {"date": "2026-11-18", "command": "python bench/rivals.py", "machine": "2 cores"}
    table = markdown({**about, "sample": sample, "systems": {"other": found}})
    assert "It did not run on LoCoMo: `it took longer than 60 minutes`" in table
    assert "2 searches of LongMemEval_S failed, the first with `KeyError: 'D1:1'`" in table


def test_the_page_has_the_table_that_the_bench_made():
    told = json.loads((ROOT / "bench" / "rivals.json").read_text("utf-8"))
    page = (ROOT / "docs" / "explanation" / "comparison.md").read_text("utf-8")
    assert markdown(told) in page
