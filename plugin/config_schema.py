# Placed by 'souvenance hermes install', which also renews and removes it.
"""The settings that Hermes' desktop and dashboard show. The fields are written from our own configuration by
tests/hermes/plugin_folder.py. A host reads this file by itself, so it imports the host's own kinds alone."""

from typing import Any

import plugins.memory.config_schema as host

# fmt: off
_FIELDS = (
    ("baseUrl", "Base URL", "text", "Connection", "", "", "HONCHO_BASE_URL",
     "The server to use, Souvenance's or Honcho's."),
    ("apiKey", "API key", "secret", "Connection", "", "", "HONCHO_API_KEY",
     "The key for the server: without baseUrl, for Honcho's cloud."),
    ("timeout", "Timeout", "number", "Connection", "30", "", "HONCHO_TIMEOUT",
     "How long a request to the server, or a tool of the model, may take."),
    ("peerName", "Peer name", "text", "People", "", "", "",
     "The peer of the profile's owner: who speaks where no platform says who does."),
    ("recallMode", "Recall mode", "select", "Recall", "hybrid", "hybrid context tools", "",
     'How memory reaches the model: shown to it ("context"), asked for by it ("tools"), or both.'),
    ("saveMessages", "Save messages", "bool", "Writing", "true", "", "",
     "Whether what is said is kept."),
    ("groupChats", "Group chats", "bool", "Writing", "true", "", "",
     "Whether chats of several people have memory."),
    ("sessionStrategy", "Session strategy", "select", "Sessions", "per-directory",
     "per-directory per-session per-repo global", "",
     "What shares a session on the command line: a directory, a run, a git repository or everything."),
    ("contextTokens", "Context tokens", "number", "Budgets", "1200", "", "",
     "How many tokens of memory are shown in one turn, at four characters each."),
    ("injectionFrequency", "Injection frequency", "select", "Pace", "every-turn", "every-turn first-turn", "",
     "Whether memory is shown in every turn or in the first alone."),
    ("recallWait", "Recall wait", "number", "Pace", "", "", "",
     "How long a turn waits for its memory at most; once it is set, the first of a process too."),
    ("hostModel", "Host model", "bool", "Hermes' own model", "false", "", "",
     "Whether Hermes' own model reads finished conversations in the background and notes what they "
     "tell about you."),
    ("hostModelCallsPerDay", "Host model calls per day", "number", "Hermes' own model", "40", "", "",
     "How often Hermes' model is asked in a day, in UTC, at most."),
    ("hostModelTokensPerDay", "Host model tokens per day", "number", "Hermes' own model", "100000", "", "",
     "How many tokens that may cost in a day, prompts and replies together."),
)
# fmt: on


def _field(
    key: str, label: str, kind: str, group: str, default: str, choices: str, variable: str, description: str
) -> Any:
    return host.ProviderField(
        key=key,
        label=label,
        kind=kind,
        group=group,
        default=default,
        options=tuple(host.ProviderFieldOption(one, one) for one in choices.split()),
        env_key=variable if kind == "secret" else None,
        env_fallbacks=(variable,) if variable and kind != "secret" else (),
        description=description,
        inline=key in ("peerName", "baseUrl", "apiKey", "recallMode"),
    )


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
    name="souvenance", label="Souvenance", fields=tuple(_field(*one) for one in _FIELDS), **_managed()
)
