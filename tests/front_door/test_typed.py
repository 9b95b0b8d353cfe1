"""A type checker knows the package from outside: names that load lazily, signatures, results."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("program.py")


def test_a_type_checker_knows_what_is_called_and_what_comes_back():
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", PROGRAM],
        cwd=PROGRAM.parents[2],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
