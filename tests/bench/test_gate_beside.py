"""The gate's costs can be measured in a tree whose package has another name and other modules."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bench.conftest import BENCH

OTHER = {
    "__init__.py": """
from souvenance import open_installation as open_house
from souvenance import settings_from as read


def settings_from(settings, home):
    return read({name.replace("OTHER_", "SOUVENANCE_"): value for name, value in settings.items()}, home)
""",
    "gate/__init__.py": "",
    "gate/messages.py": "from souvenance.gate.messages import Get, Put",
    "gate/operations.py": "from souvenance.gate.operations import GET, PUT",
    "gate/admission.py": "from souvenance.gate.token_verifier import Credentials",
}


@pytest.mark.parametrize("measurement", ["put", "get"])
def test_a_tree_with_other_names_is_measured(tmp_path, measurement):
    for name, text in OTHER.items():
        path = tmp_path / "other" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    worker = [sys.executable, str(BENCH / "gate_worker.py"), "other", measurement, "none", "3"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(worker, env=environment, input="2\n2\n", capture_output=True, text=True, check=True)
    ready, *figures = ran.stdout.split()
    assert ready == "ready"
    assert len(figures) == 2
    assert all(float(one) > 0 for one in figures)
