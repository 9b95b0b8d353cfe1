"""The memory of agent frameworks. Each module here is for one of them, and alone imports it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from souvenance.errors import Misconfigured
from souvenance.extras import install


@contextmanager
def framework(extra: str) -> Iterator[None]:
    """Where a framework is imported. Raises: Misconfigured, if it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise Misconfigured(f"{error.name} is not installed", hint=f"Run: {install(extra)}") from None
