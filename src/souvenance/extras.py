"""How to install the optional parts of this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from souvenance.errors import Misconfigured

DISTRIBUTION = "souvenance"


def requirement(extra: str) -> str:
    """This package with one of its extras, as `pip` takes it."""
    return f"{DISTRIBUTION}[{extra}]"


def install(extra: str) -> str:
    """The command that installs an extra. It works from a checkout too: this package is there already."""
    return f"pip install '{requirement(extra)}'"


@contextmanager
def importing(extra: str, what: str = "") -> Iterator[None]:
    """Around imports of what an extra brings. `what`: it, by a better name. Raises: Misconfigured."""
    try:
        yield
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError)
        state = "is not installed" if missing else f"can't be loaded: {error}"
        raise Misconfigured(f"{what or error.name} {state}", hint=f"Run: {install(extra)}") from None
