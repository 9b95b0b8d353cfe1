"""A `souvenance` command for scripts that run it often."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path

from quick_programs import quick_programs
from surfaces.door import LOADED

_EMBEDDER = "from souvenance.adapters.embed.local import packaged; network = packaged()._loaded()"
"""A command that needs the embedder shares this one: to load it is half of what a server's start takes."""


def quick_souvenance(place: Path) -> AbstractContextManager[Path]:
    """The folder of the program, to be the first on a path, while it can be run."""
    entries = {"souvenance": "souvenance.commands:main"}
    real = Path(sys.executable).parent
    return quick_programs(place, real, entries, loaded=LOADED, prepared=_EMBEDDER)
