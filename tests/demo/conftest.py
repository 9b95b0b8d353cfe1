"""How the demo is run as a user runs it: a process of its own, with an environment of the test's choosing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


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
        return run_python(temporary, environment, "-m", "souvenance", "demo", *arguments)

    return run


@pytest.fixture
def run_hermes_demo(temporary: Path):
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_python(temporary, environment, str(HERMES_DEMO), *arguments)

    return run


def run_python(
    temporary: Path, environment: dict[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={"TMPDIR": str(temporary), **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
