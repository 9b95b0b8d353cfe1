"""What a scenario claims, and what it got instead."""

from __future__ import annotations

from typing import Any


def equal(got: Any, wanted: Any) -> None:
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"
