"""Running the real command line in a process of its own, and waiting for what other processes do."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import stores

PATIENCE_SECONDS = 60
_STEP_SECONDS = 0.02
_Found = TypeVar("_Found")


def until(found: Callable[[], _Found]) -> _Found:
    """Ask again until the answer is something; that answer. The longer it takes, the less often it is asked:
    whoever is waited for needs the processor more.
    """
    rest, began = threading.Event(), time.monotonic()
    while not (answer := found()):
        waited = time.monotonic() - began
        assert waited < PATIENCE_SECONDS, answer
        rest.wait(max(_STEP_SECONDS, waited / 10))
    return answer


def run_souvenance(*arguments: str, home: Path, exit_code: int = 0, stdin: str | None = None):
    """Run it, and hold it to the exit code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    finished = subprocess.run(
        [sys.executable, "-m", "souvenance", *arguments],
        env={**environment, **stores.settings_of(home), "SOUVENANCE_HOME": str(home)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert finished.returncode == exit_code, (finished.returncode, finished.stdout, finished.stderr)
    return finished
