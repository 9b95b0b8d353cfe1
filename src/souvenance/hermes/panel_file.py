"""Choices in Hermes' own panel. Some hosts store its values in `$HERMES_HOME/souvenance/config.json`. They
write every value that the panel shows, so a value that equals the shown default counts as not chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from souvenance.files import replace_file
from souvenance.hermes.configuration import ProviderSetting, find

SHOWN = (
    *("baseUrl", "apiKey", "timeout", "peerName", "recallMode", "saveMessages", "groupChats"),
    *("sessionStrategy", "contextTokens", "injectionFrequency", "recallWait"),
    *("hostModel", "hostModelCallsPerDay", "hostModelTokensPerDay"),
)
"""The settings in the panel. Secrets among them are kept by the host, in the environment."""


def shown_default(key: ProviderSetting) -> Any:
    """What the panel shows of a setting without a choice: a switch without a default shows off."""
    return False if key.words == "true or false" and key.default is None else key.default_value


def chosen_in_panel(home: Path) -> dict[str, Any]:
    """The settings that were chosen there; none if there is no file that can be read."""
    chosen = {}
    for name, value in _content(home).items():
        key = find(name) if name in SHOWN else None
        if key is not None and not key.secret and value not in ("", None, shown_default(key)):
            chosen[name] = value
    return chosen


def keep_panel_in_step(home: Path, changes: Mapping[str, Any]) -> None:
    """Let the panel show what a command changed, if it shows anything yet. Raises: StorageUnavailable."""
    content = _content(home)
    kept = content | {name: value for name, value in changes.items() if name in content}
    if kept != content:
        text = json.dumps({name: value for name, value in kept.items() if value is not None}, indent=2)
        replace_file(_file(home), text.encode(), 0o600)


def _file(home: Path) -> Path:
    return home / "souvenance" / "config.json"


def _content(home: Path) -> dict[str, Any]:
    try:
        content = json.loads(_file(home).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
