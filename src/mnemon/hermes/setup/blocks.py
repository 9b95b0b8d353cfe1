"""What the file of a configuration itself says, before anything is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnemon.hermes.interpretation import legacy_host


def root_of(file: Path | None) -> dict[str, Any]:
    """Everything in the file; nothing if it can't be read."""
    try:
        values = json.loads(file.read_text("utf-8-sig")) if file is not None else None
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}


def block_of(file: Path | None, host: str) -> dict[str, Any] | None:
    """The block of a host; None if it has none."""
    hosts = root_of(file).get("hosts")
    if not isinstance(hosts, Mapping):
        return None
    block = hosts.get(host) or hosts.get(legacy_host(host) or host)
    return dict(block) if isinstance(block, Mapping) else None
