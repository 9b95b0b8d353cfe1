"""A process that recalls once: what it loads is what its first answer takes."""

import json
import os
import subprocess
import sys

_RECALL = """
import json, sys
from souvenance import plugin
from souvenance.hermes.provider import Provider

made = Provider(plugin._SURROUNDINGS)
made.initialize("s1", platform="cli", hermes_home=sys.argv[1], agent_context="primary")
made.on_turn_start(1, "What does Mia play?")
made.prefetch("What does Mia play?")
print(json.dumps([*sys.modules]))
"""
_LOADED_BY = """
import json, sys, threading
from souvenance import plugin
from souvenance.hermes.provider import Provider

class Watch:
    by = {}
    def find_spec(self, name, path=None, target=None):
        self.by.setdefault(name, threading.current_thread() is threading.main_thread())

sys.meta_path.insert(0, Watch())
made = Provider(plugin._SURROUNDINGS)
made.initialize("s1", platform=sys.argv[2], hermes_home=sys.argv[1], agent_context="primary")
at_once = "numpy" in Watch.by
made.on_turn_start(1, "What does Mia play?")
made.prefetch("What does Mia play?")
print(json.dumps([at_once, Watch.by["numpy"]]))
"""
_FOR_OTHERS = {
    "asyncio",
    "httpx",
    "importlib.resources",
    "souvenance.core.replication",
    "souvenance.domain.objects",
    "souvenance.gate.operations",
    "souvenance.gate.oauth_state",
    "souvenance.gate.health",
    "souvenance.surfaces",
    "onnxruntime",
    "subprocess",
    "tempfile",
}


def ran(program, home, *arguments):
    variables = {**os.environ, "HERMES_HOME": str(home)}
    command = [sys.executable, "-c", program, str(home), *arguments]
    told = subprocess.run(command, env=variables, stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(told.stdout)


def test_a_first_recall_loads_nothing_that_only_others_need(tmp_path):
    loaded = set(ran(_RECALL, tmp_path))
    assert "souvenance.adapters.index.ranked" in loaded
    assert loaded & _FOR_OTHERS == set()


def test_beside_a_reader_of_standard_input_numpy_is_loaded_by_who_begins_the_session(tmp_path):
    """By another thread it would never end on Windows."""
    assert ran(_LOADED_BY, tmp_path, "acp") == [True, True]


def test_elsewhere_a_session_begins_without_waiting_for_numpy(tmp_path):
    assert ran(_LOADED_BY, tmp_path, "cli")[1] is False
