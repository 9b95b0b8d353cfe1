"""Hermes' own panel, on hosts that leave its values and its buttons to the provider."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from souvenance.errors import InvalidInput
from souvenance.hermes.config_files import read_configuration, write_setting
from souvenance.hermes.configuration import known
from souvenance.hermes.panel_file import SHOWN, shown_default
from souvenance.hermes.setup.profiles import environment_of, profile_at
from souvenance.hermes.setup.status import Inspect


def shown(home: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    """What is in force, as texts; of a secret only whether there is one."""
    configuration, _ = read_configuration(home, environment_of(profile_at(home), environment))
    values, is_set = {}, {}
    for key in map(known, SHOWN):
        value = configuration.value(key.name)
        is_set[key.name] = value is not None and value != shown_default(key)
        value = shown_default(key) if value is None else value
        text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
        values[key.name] = "" if key.secret else text.removesuffix(".0")
    return {"values": values, "is_set": is_set}


def act(
    action: str,
    payload: Mapping[str, Any],
    home: Path,
    environment: Mapping[str, str],
    inspect: Inspect,
) -> dict[str, Any]:
    """Do what a button asks for. Raises: InvalidInput; SouvenanceError."""
    environment = environment_of(profile_at(home), environment)
    configuration, complaints = read_configuration(home, environment)
    if action == "save":
        given = payload.get("values", payload)
        before = shown(home, environment)["values"]
        changed = {name: text for name, text in given.items() if name in SHOWN and text != before[name]}
        file = write_setting(
            home,
            configuration.host,
            {name: text or None for name, text in changed.items()},
            environment=environment,
        )
        return {"ok": True, "message": f"Written to {file}."}
    if action == "check":
        found = inspect(configuration, environment)
        wrong = [str(one) for one in complaints if one.switches_off] or [found.detail] * (
            found.reachable is False
        )
        where = configuration.url or configuration.store
        return {"ok": not wrong, "message": " ".join(wrong) or f"Memory answers: {where}."}
    if action == "connect":
        from souvenance.hermes.sign_in.profile import start

        state = start(home)
        return {"ok": state["state"] != "error", "message": state["detail"], "url": state["url"]}
    raise InvalidInput(f"there is no action {action!r}", hint="Known: save, check, connect.")
