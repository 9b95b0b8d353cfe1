"""Running the real command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_mnemon(*arguments: str, home: Path, exit_code: int = 0, stdin: str | None = None):
    """Run it, and hold it to the exit code."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMON_")}
    finished = subprocess.run(
        [sys.executable, "-m", "mnemon", *arguments],
        env={**environment, "MNEMON_HOME": str(home)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == exit_code, (finished.returncode, finished.stdout, finished.stderr)
    return finished
