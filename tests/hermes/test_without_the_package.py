"""The plugin's folder where the package is missing: it loads by the standard library and says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.newer_host import LEVELS

TESTS = Path(__file__).resolve().parents[1]
FOLDER = TESTS.parent / "plugin"
HOST = """
import json, sys
from argparse import ArgumentParser
from pathlib import Path
from types import SimpleNamespace

level, tests, folder, home = sys.argv[1:]
sys.path.append(tests)
from hermes.newer_host import Loader, Manager, modules

sys.modules.update(modules(level))
loader = Loader(level)
provider = loader.load(Path(folder)).provider
manager = Manager(level, provider, Path(home))
told = {"reason": manager.begin("s1"), "status": provider.get_status_config({})}
told |= {"tools": provider.get_tool_schemas(), "fields": len(loader.config_schema(Path(folder)).fields)}
commands = sys.modules[f"{loader.module_name(Path(folder))}.cli"]
parser = ArgumentParser()
commands.register_cli(parser)
try:
    commands.souvenance_command(parser.parse_args(["status"]))
except SystemExit as ended:
    told["command"] = ended.code
print(json.dumps(told))
"""


def without_packages(level, home):
    """What a host says of the folder where nothing but the standard library can be imported."""
    command = [sys.executable, "-I", "-S", "-c", HOST, level, str(TESTS), str(FOLDER), str(home)]
    ran = subprocess.run(
        command, env={**os.environ, "HERMES_HOME": str(home)}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("level", LEVELS)
def test_a_folder_without_its_package_loads_and_says_what_to_do(level, tmp_path):
    told = without_packages(level, tmp_path)
    whole = told["status"]["off"]
    assert "souvenance" in whole and whole.endswith("'souvenance[hermes]'")
    assert told["reason"] == ("not available" if level == "0.19" else whole)
    assert told["command"].endswith("'souvenance[hermes]'")
    assert told["tools"] == [] and told["fields"]
    assert list(tmp_path.iterdir()) == []
