"""Processes by names that tell them apart, also after their ids were given to others."""

from __future__ import annotations

import os
from pathlib import Path


def name_of(pid: int) -> str:
    """The process by its id and, where the system tells, the moment it began; "" if there is none."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if Path("/proc/self/stat").exists() or not _answers(pid) else str(pid)
    state, *rest = told.rpartition(")")[2].split()
    return "" if state in "ZX" else f"{pid} {rest[18]}"


def is_gone(name: str) -> bool:
    """Whether the process of that name runs no more."""
    pid = str(name).partition(" ")[0]
    return not pid.isdecimal() or name_of(int(pid)) != name


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
