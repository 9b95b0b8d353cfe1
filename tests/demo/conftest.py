"""How the demo is run as a user runs it: a process of its own, with an environment of the test's choosing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quick_programs import quick_programs
from surfaces.door import LOADED


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where the demo will put its throwaway folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DEMO = _EXAMPLES / "demo" / "demo_story.py"
HERMES_DEMO = _EXAMPLES / "hermes" / "hermes_demo.py"


@pytest.fixture
def run_demo(temporary: Path):
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_program(temporary, environment, sys.executable, str(DEMO), *arguments)

    return run


@pytest.fixture
def run_quick_demo(temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same, but that each of its processes is forked from one that has loaded what they need."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        environment["PYTHONPATH"] = f"{environment['PYTHONPATH']}{os.pathsep}{DEMO.parent}"
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        entries = {"souvenance": "souvenance.commands:main", "demo": "demo_story:main"}
        with quick_programs(
            tmp_path / "quick", Path(sys.executable).parent, entries, loaded=LOADED
        ) as programs:
            return run_program(temporary, environment, str(programs / "demo"), *arguments)

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
