"""Settings: built once, at the start, from defaults, environment and arguments; passed down after that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import fields, replace

from mnemon.domain.limits import Limits
from mnemon.errors import Misconfigured

_LIMITS = {
    "MNEMON_BODY_BYTES": "body_bytes",
    "MNEMON_LINE_BYTES": "line_bytes",
    "MNEMON_REQUESTS_PER_MINUTE": "requests_per_minute",
}
VARIABLES = (
    "MNEMON_HOME",
    "MNEMON_CAP",
    "MNEMON_URL",
    "MNEMON_WEBHOOK_SECRET",
    "MNEMON_WEBHOOK_PRIVATE",
    *_LIMITS,
)


class Settings(Struct, frozen=True):
    home: Path
    limits: Limits = field(default_factory=Limits)
    webhook_secret: str | None = None
    """What webhooks are signed with; None for the secret in the data folder."""
    webhook_private: bool = False
    """Whether webhooks may go to addresses that are not public."""

    @property
    def book(self) -> Path:
        return self.home / "mnemon.db"

    @property
    def owner_cap(self) -> Path:
        return self.home / "owner.cap"

    @property
    def webhook_key(self) -> Path:
        return self.home / "webhook.secret"


def settings_from(environment: Mapping[str, str], home: str | None = None) -> Settings:
    """The settings of this process.

    Raises: Misconfigured for a variable that begins with MNEMON_ and is unknown, or a bad value.
    """
    if unknown := sorted(
        name for name in environment if name.startswith("MNEMON_") and name not in VARIABLES
    ):
        raise Misconfigured(f"{unknown[0]} is not a setting", hint=f"Settings: {', '.join(VARIABLES)}.")
    limits = Limits()
    for variable, name in _LIMITS.items():
        if variable in environment:
            limits = replace(limits, **{name: _positive(variable, environment[variable])})
    folder = home or environment.get("MNEMON_HOME") or "~/.mnemon"
    return Settings(
        Path(folder).expanduser(),
        limits,
        webhook_secret=environment.get("MNEMON_WEBHOOK_SECRET") or None,
        webhook_private=_flag("MNEMON_WEBHOOK_PRIVATE", environment.get("MNEMON_WEBHOOK_PRIVATE", "0")),
    )


def _positive(variable: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise Misconfigured(f"{variable} must be a whole number above 0, not {value!r}")
    return int(value)


def _flag(variable: str, value: str) -> bool:
    if value not in ("0", "1"):
        raise Misconfigured(f"{variable} must be 0 or 1, not {value!r}")
    return value == "1"


assert set(_LIMITS.values()) <= {part.name for part in fields(Limits)}  # noqa: S101 - a typo here must not start
