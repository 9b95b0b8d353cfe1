"""A `souvenance` command for scripts that run it often."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from quick_programs import quick_programs
from surfaces.door import LOADED


def quick_souvenance(place: Path) -> AbstractContextManager[Path]:
    """The folder of the program, to be the first on a path, while it can be run."""
    entries = {"souvenance": "souvenance.commands:main"}
    return quick_programs(place, Path(sys.executable).parent, entries, loaded=LOADED)
