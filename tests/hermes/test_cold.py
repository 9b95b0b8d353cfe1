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


def test_a_first_recall_loads_nothing_that_only_others_need(tmp_path):
    variables = {**os.environ, "HERMES_HOME": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", _RECALL, str(tmp_path)],
        env=variables,
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    loaded = set(json.loads(ran.stdout))
    assert "souvenance.adapters.index.ranked" in loaded
    assert loaded & _FOR_OTHERS == set()
