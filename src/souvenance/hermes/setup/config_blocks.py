"""What the file of a configuration itself says, before anything is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from souvenance.hermes.config_reader import legacy_host
from souvenance.hermes.configuration import find


def root_of(file: Path | None) -> dict[str, Any]:
    """Everything in the file; nothing if it can't be read."""
    try:
        values = json.loads(file.read_text("utf-8-sig")) if file is not None else None
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def block_name(file: Path | None, host: str) -> str:
    """The name under which the file has the block of a host, or would have it."""
    hosts, legacy = root_of(file).get("hosts"), legacy_host(host)
    spelled = isinstance(hosts, Mapping) and not hosts.get(host) and legacy in hosts
    return legacy if legacy is not None and spelled else host


def block_of(file: Path | None, host: str) -> dict[str, Any] | None:
    """The block of a host; None if it has none."""
    hosts = root_of(file).get("hosts")
    block = hosts.get(block_name(file, host)) if isinstance(hosts, Mapping) else None
    return dict(block) if isinstance(block, Mapping) else None


def old_spellings(file: Path | None, host: str) -> bool:
    """Whether a setting of the host, or of all hosts, is spelled as it was once."""
    said = (*root_of(file), *(block_of(file, host) or ()))
    return any((key := find(name)) is not None and key.name != name for name in said)
