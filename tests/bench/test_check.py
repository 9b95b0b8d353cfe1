"""The check for slower requests measures real ones, and fails for what is a tenth worse than recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from check import RECORDED, slower

CHECK = Path(__file__).resolve().parents[2] / "bench" / "check.py"


def test_a_figure_may_be_a_tenth_above_the_recorded_one_and_no_more():
    recorded = {"put": 2.0, "get": 1.0}
    assert slower({"put": 2.19, "get": 0.5}, recorded) == []
    assert slower({"put": 2.21, "get": 1.0}, recorded) == ["put"]
    assert slower({"put": 2.0, "added": 1.0}, recorded) == ["added"]


def test_every_recorded_request_is_measured_and_a_slower_one_fails_the_check(tmp_path):
    names = list(json.loads(RECORDED.read_text("utf-8")))
    recorded = tmp_path / "recorded.json"
    recorded.write_text(json.dumps({name: 1e-6 if name == "put" else 1e6 for name in names}), "utf-8")
    command = [sys.executable, str(CHECK), "--calls", "2", "--tries", "1", "--recorded", str(recorded)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    told = {line[:20].strip(): line for line in done.stdout.splitlines()}
    assert list(told) == names
    assert [name for name in names if "SLOWER" in told[name]] == ["put"]
