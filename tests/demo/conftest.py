"""How the story and the demo with Hermes are run: with an environment of the test's choosing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from quick_souvenance import quick_souvenance
from story import story


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where the story will put its throwaway folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HERMES_DEMO = EXAMPLES / "hermes" / "hermes_demo.py"
STORY = EXAMPLES / "story" / "story.py"


@pytest.fixture
def run_story(temporary: Path):
    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return run_program(temporary, environment, sys.executable, str(STORY), *arguments)

    return run


@pytest.fixture
def run_quick_story(temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In this process. Each of the story's own is forked from one that has loaded what they need."""

    def run(*arguments: str, **environment: str) -> Result:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(tempfile, "tempdir", str(temporary))
        with quick_souvenance(tmp_path / "quick") as programs:
            monkeypatch.setattr(sys, "executable", str(programs / "python"))
            return CliRunner().invoke(story, arguments)

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
