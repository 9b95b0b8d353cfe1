"""Pauses garbage collection while much is loaded that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    """Look for no garbage meanwhile; what was made then counts as old, and is looked at when all is.

    To look took a tenth of the first answer: every so often meanwhile, or else at all of it right after.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if not gc.get_freeze_count():  # Else the host froze what it loaded, and it shall stay so.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
