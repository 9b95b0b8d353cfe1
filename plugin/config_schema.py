# Placed by 'souvenance hermes install', which also renews and removes it.
"""The settings that Hermes' desktop and dashboard show. Their fields are in panel.json, which
tests/hermes/plugin_folder.py writes from our own configuration. A host reads this file by itself, so of the
host and of us it imports the host's own kinds alone."""

import json
from pathlib import Path
from typing import Any

import plugins.memory.config_schema as host


def _fields() -> Any:
    for field in json.loads(Path(__file__).with_name("panel.json").read_text("utf-8"))["fields"]:
        options = tuple(host.ProviderFieldOption(one, one) for one in field.pop("choices"))
        fallbacks = tuple(field.pop("env_fallbacks"))
        yield host.ProviderField(options=options, env_fallbacks=fallbacks, **field)


def _managed() -> dict[str, Any]:
    """Where the host leaves values and actions to the provider: our own file, a check and a sign-in."""
    if getattr(host, "PROVIDER_SETUP_API_VERSION", 0) < 1:
        return {}
    check = host.ProviderConfigAction("check", "Check", "Say whether memory can be reached.")
    connect = host.ProviderConfigAction(
        "connect", "Sign in", "Sign in to the server in a browser.", "baseUrl"
    )
    stored = {"storage": host.STORAGE_PROVIDER_MANAGED, "submit_action": "save", "status_action": "check"}
    return {**stored, "actions": (check, connect)}


CONFIG_SCHEMA = host.ProviderConfigSchema(
    name="souvenance", label="Souvenance", fields=tuple(_fields()), **_managed()
)
