"""How values look to people; secrets do not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from souvenance.agents.conversation_scope import Observation
from souvenance.hermes.setting_types import NO_LIMIT
from souvenance.hermes.setup.answers import PRESETS

_LIMITS = ("contextTokens", "dialecticMaxChars")
SECRETS = ("apiKey", "oauth")


def plain(value: Any) -> str:
    """A text as it is, a mode by its name, anything else as JSON writes it."""
    if isinstance(value, str | Path):
        return str(value)
    if isinstance(value, Observation) and value in PRESETS.values():
        return next(mode for mode, preset in PRESETS.items() if preset == value)
    return msgspec.json.encode(value).decode()


def shown(name: str, value: Any) -> str:
    """The value of a setting."""
    if value is None or value == "":
        return "none"
    if name in _LIMITS and value == NO_LIMIT:
        return "no limit"
    if name == "baseUrl":
        return address(value)
    return masked(value) if name in SECRETS else plain(value)


def address(url: str) -> str:
    """A URL without the password that may be in it."""
    return re.sub(r"(?<=://)[^/]*@", "…@", url)


def masked(secret: Any) -> str:
    """Enough of a key to tell it from another, and no more."""
    if not isinstance(secret, str):
        return "set"
    return f"…{secret[-4:]}" if len(secret) >= 16 else "set"


def size(count: int) -> str:
    """A number of bytes."""
    amount = float(count)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "bytes" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
