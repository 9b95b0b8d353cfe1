"""Settings: built once, at the start, from defaults, environment and arguments; passed down after that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import fields, replace

from mnemon.domain.embedding import AUTO, EmbedderSettings
from mnemon.domain.limits import Limits
from mnemon.domain.spending import Allowance
from mnemon.errors import Misconfigured
from mnemon.ports.model import TASKS

_LIMITS = {
    "MNEMON_BODY_BYTES": "body_bytes",
    "MNEMON_LINE_BYTES": "line_bytes",
    "MNEMON_REQUESTS_PER_MINUTE": "requests_per_minute",
}
_PARTS = ("BASE_URL", "NAME", "API_KEY")
_OFF = "off"
_ALLOWANCES = ("calls_per_hour", "calls_per_day", "tokens_per_hour", "tokens_per_day")
_MODEL = (
    *(f"MNEMON_MODEL_{part}" for part in _PARTS),
    *(f"MNEMON_MODEL_{task.upper()}_{part}" for task in TASKS for part in _PARTS),
    *(f"MNEMON_MODEL_{name.upper()}" for name in _ALLOWANCES),
    *(f"MNEMON_MODEL_WORKSPACE_{name.upper()}" for name in _ALLOWANCES),
    "MNEMON_MODEL_TIMEOUT_SECONDS",
    "MNEMON_MODEL_CONTEXT_TOKENS",
)
_EMBEDDER = (
    "MNEMON_EMBEDDER",
    "MNEMON_EMBEDDER_BASE_URL",
    "MNEMON_EMBEDDER_API_KEY",
    "MNEMON_EMBEDDER_MODEL",
    "MNEMON_EMBEDDER_DIMENSIONS",
)
VARIABLES = (
    "MNEMON_HOME",
    "MNEMON_CAP",
    "MNEMON_URL",
    "MNEMON_WEBHOOK_SECRET",
    "MNEMON_WEBHOOK_PRIVATE",
    *_LIMITS,
    *_MODEL,
    *_EMBEDDER,
)


class ModelEndpoint(Struct, frozen=True):
    """Where a model is reached, by which name, and with which key: the key itself, or `@` and its file."""

    url: str
    name: str
    key: str | None = None


class ModelSettings(Struct, frozen=True):
    """What is asked of language models, and what may be spent on them."""

    endpoints: Mapping[str, ModelEndpoint] = {}
    """The endpoint of each task; what has none is done by rule."""
    whole: Allowance = Allowance()
    each: Allowance = Allowance()
    """What may be spent on the account of one workspace."""
    timeout_seconds: int = 120
    context_tokens: int = 8192
    """How much a model reads and writes at once."""


class Settings(Struct, frozen=True):
    home: Path
    limits: Limits = field(default_factory=Limits)
    webhook_secret: str | None = None
    """What webhooks are signed with; None for the secret in the data folder."""
    webhook_private: bool = False
    """Whether webhooks may go to addresses that are not public."""
    model: ModelSettings = ModelSettings()
    embedder: EmbedderSettings = EmbedderSettings()

    @property
    def book(self) -> Path:
        return self.home / "mnemon.db"

    @property
    def owner_cap(self) -> Path:
        return self.home / "owner.cap"

    @property
    def model_spend(self) -> Path:
        """What was spent on models."""
        return self.home / "model.spend"

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
        model=model_settings(environment),
        embedder=_embedder(environment),
    )


def _embedder(environment: Mapping[str, str]) -> EmbedderSettings:
    choice, base_url, api_key, model, dimensions = (environment.get(name) or None for name in _EMBEDDER)
    size = None if dimensions is None else _positive(_EMBEDDER[-1], dimensions)
    return EmbedderSettings(choice or AUTO, base_url, api_key, model, size)


def model_settings(environment: Mapping[str, str]) -> ModelSettings:
    """Raises: Misconfigured."""
    given = ModelSettings()
    whole = _allowance(environment, "MNEMON_MODEL_", given.whole)
    timeout, context = "MNEMON_MODEL_TIMEOUT_SECONDS", "MNEMON_MODEL_CONTEXT_TOKENS"
    endpoints = {task: _endpoint(environment, task) for task in TASKS}
    return ModelSettings(
        {task: endpoint for task, endpoint in endpoints.items() if endpoint is not None},
        whole,
        _allowance(environment, "MNEMON_MODEL_WORKSPACE_", whole),
        _positive(timeout, environment.get(timeout, str(given.timeout_seconds))),
        _positive(context, environment.get(context, str(given.context_tokens))),
    )


def _allowance(environment: Mapping[str, str], prefix: str, otherwise: Allowance) -> Allowance:
    named = {name: environment.get(prefix + name.upper()) for name in _ALLOWANCES}
    found = {name: _positive(prefix + name.upper(), told) for name, told in named.items() if told}
    return replace(otherwise, **found)


def _endpoint(environment: Mapping[str, str], task: str) -> ModelEndpoint | None:
    """The endpoint of a task. A key goes to no other address than the one that it was given for."""
    common, own = "MNEMON_MODEL_", f"MNEMON_MODEL_{task.upper()}_"
    elsewhere = environment.get(f"{own}BASE_URL")
    url = elsewhere or environment.get(f"{common}BASE_URL")
    if not url or url == _OFF:
        return None
    name = environment.get(f"{own}NAME") or environment.get(f"{common}NAME")
    if not name:
        raise Misconfigured(f"{common}NAME is missing", hint="Name the model that the endpoint should use.")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        variable = own if elsewhere else common
        raise Misconfigured(f"{variable}BASE_URL is no address of an endpoint", hint="E.g. http://HOST/v1.")
    key = environment.get(f"{own}API_KEY") or (None if elsewhere else environment.get(f"{common}API_KEY"))
    return ModelEndpoint(url, name, key)


def _positive(variable: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise Misconfigured(f"{variable} must be a whole number above 0, not {value!r}")
    return int(value)


def _flag(variable: str, value: str) -> bool:
    if value not in ("0", "1"):
        raise Misconfigured(f"{variable} must be 0 or 1, not {value!r}")
    return value == "1"


assert set(_LIMITS.values()) <= {part.name for part in fields(Limits)}  # noqa: S101 - a typo here must not start
