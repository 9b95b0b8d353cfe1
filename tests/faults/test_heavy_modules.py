"""Heavy modules are imported by one thread, before others start: two that import them at once may break.

Each process here has lines without vectors in its store when it starts, and is asked a question at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request

import pytest

from processes import PATIENCE_SECONDS, run_souvenance

HEAVY = ("numpy", "onnxruntime", "tokenizers")
BY_THE_FIRST = {name: {"MainThread"} for name in HEAVY}

WATCHED = f"""
import importlib.machinery, sys, threading
told = open(sys.argv.pop(1), "a", buffering=1)

class Watch:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in {HEAVY!r}:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        run = spec.loader.exec_module

        def watched(module):
            told.write(f"{{name}} {{threading.current_thread().name}}\\n")
            run(module)

        spec.loader.exec_module = watched
        return spec

sys.meta_path.insert(0, Watch)
"""

COMMAND = """
import runpy
sys.argv[0] = "souvenance"
runpy.run_module("souvenance", run_name="__main__")
"""

HOST = """
from souvenance import plugin
from souvenance.hermes.provider import Provider

made = Provider(plugin._SURROUNDINGS)
made.initialize("s1", platform="cli", hermes_home=sys.argv[1], agent_context="primary")
for turn in range(2):
    made.on_turn_start(turn + 1, "What does Mia play?")
    made.prefetch("What does Mia play?")
    made.sync_turn("What does Mia play?", "The cello.")
made.shutdown()
"""


def imported(told):
    """Each heavy module with the threads that imported it."""
    found = {}
    for line in told.read_text().splitlines():
        name, _, thread = line.partition(" ")
        found.setdefault(name, set()).add(thread)
    return found


@pytest.fixture
def behind(home):
    """A data folder with lines that no process has embedded yet."""
    for number in range(3):
        run_souvenance("put", f"Mia plays the cello on day {number}", home=home)
    return home


def start(told, home, *command):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    return subprocess.Popen(
        [sys.executable, "-c", WATCHED + COMMAND, str(told), *command],
        env={**environment, "SOUVENANCE_HOME": str(home)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_server_imports_them_in_its_first_thread(behind, tmp_path):
    told = tmp_path / "told"
    with start(told, behind, "serve", "--port", "0") as server:
        url = "http" + server.stdout.readline().rpartition("http")[2].split()[0]
        asked = urllib.request.Request(
            f"{url}/v1/memory/get",
            json.dumps({"query": "Who makes music?"}).encode(),
            {"authorization": f"Bearer {(behind / 'owner.cap').read_text().strip()}"},
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE_SECONDS) as answer:
            assert json.load(answer)["lines"]
        server.terminate()
    assert imported(told) == BY_THE_FIRST


def test_a_worker_imports_them_in_its_first_thread(behind, tmp_path):
    told = tmp_path / "told"
    with start(told, behind, "work") as worker:
        worker.stdout.readline()
        worker.terminate()
    assert imported(told) == BY_THE_FIRST


def test_in_a_host_one_thread_imports_numpy_before_another_imports_what_runs_the_embedder(tmp_path):
    told = tmp_path / "told"
    variables = {**os.environ, "HERMES_HOME": str(tmp_path)}
    command = [sys.executable, "-c", WATCHED + HOST, str(told), str(tmp_path)]
    subprocess.run(command, env=variables, check=True, timeout=PATIENCE_SECONDS)
    found = imported(told)
    assert "numpy" in found
    assert all(len(threads) == 1 for threads in found.values())
    assert told.read_text().startswith("numpy ")
