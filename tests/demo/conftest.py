"""How the demo is run as a user runs it: a process of its own, with an environment of the test's choosing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from quick_souvenance import quick_souvenance


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where the demo will put its throwaway folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


HERMES_DEMO = Path(__file__).resolve().parents[2] / "examples" / "hermes" / "hermes_demo.py"


@pytest.fixture
def run_demo(temporary: Path):
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_program(temporary, environment, sys.executable, "-m", "souvenance", "demo", *arguments)

    return run


@pytest.fixture
def run_quick_demo(temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same, but that each of its processes is forked from one that has loaded what they need."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with quick_souvenance(tmp_path / "quick") as programs:
            return run_program(temporary, environment, str(programs / "souvenance"), "demo", *arguments)

    return run


@pytest.fixture
def run_hermes_demo(temporary: Path):
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_program(temporary, environment, sys.executable, str(HERMES_DEMO), *arguments)

    return run


def run_program(
    temporary: Path, environment: dict[str, str], *command: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={"TMPDIR": str(temporary), **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
