"""How to install the optional parts of this package."""

from __future__ import annotations

DISTRIBUTION = "souvenance"


def requirement(extra: str) -> str:
    """This package with one of its extras, as `pip` takes it."""
    return f"{DISTRIBUTION}[{extra}]"


def install(extra: str) -> str:
    """The command that installs an extra. It works from a checkout too: this package is there already."""
    return f"pip install '{requirement(extra)}'"
