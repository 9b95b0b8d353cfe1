"""Where other people's clients are installed, each with its own dependencies: what `make clients` sets up."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]


def client_program(environment: str, program: str = "python") -> Path:
    """A program of one of the client environments."""
    folder = _ROOT / ".environments" / environment
    assert (folder / ".ready").exists(), f"{environment} is not set up: run `make clients`"
    return folder / "bin" / program
