"""The house's walls: the import contracts hold, and each of them would notice a hole."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = [
    contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
]
PLANTED = {
    "Arrows point inward": ("domain", "import souvenance.core.recall"),
    "Every surface enters through the gate": ("surfaces", "import souvenance.core.vault"),
    "The provider enters through the gate": ("hermes", "import souvenance.adapters.private_files"),
    "The Python API enters through the gate": ("memory", "import souvenance.core.recall"),
    "Integrations use the Python API": ("integrations", "import souvenance.gate.gate"),
    "Adapters serve ports, never use cases": ("adapters", "import souvenance.gate.gate"),
    "The inside does no I/O": ("core", "import sqlite3"),
}


def linted(root):
    told = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
    )
    return told.returncode, told.stdout + told.stderr


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    root = tmp_path_factory.mktemp("copy")
    shutil.copy(ROOT / "pyproject.toml", root)
    shutil.copytree(ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return root


def test_the_contracts_hold():
    status, told = linted(ROOT)
    assert status == 0, told
    for name in CONTRACTS:
        assert f"{name} KEPT" in told


def test_every_contract_has_a_planted_violation():
    assert set(PLANTED) == set(CONTRACTS)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_violation_breaks_its_contract(copy, name):
    layer, line = PLANTED[name]
    planted = copy / "src" / "souvenance" / layer / "planted.py"
    planted.write_text(f"{line}\n")
    status, told = linted(copy)
    planted.unlink()
    assert status == 1, told
    assert f"{name} BROKEN" in told
    assert f"souvenance.{layer}.planted" in told


def test_the_copy_is_whole_without_the_violation(copy):
    assert linted(copy)[0] == 0
