"""Settings: built once, at the start, from options, environment, file and defaults; then passed down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import replace

from souvenance import settings as s
from souvenance.domain.embedding import AUTO, PGVECTOR, EmbedderSettings
from souvenance.domain.limits import Limits
from souvenance.domain.model_budget import Allowance
from souvenance.domain.names import namespace
from souvenance.domain.telemetry import TEXT, TelemetrySettings
from souvenance.domain.upstream import ChatSettings, Upstream, is_address
from souvenance.errors import InvalidInput, Misconfigured
from souvenance.files import read_regular
from souvenance.patterns import pattern
from souvenance.ports.model import TASKS

if TYPE_CHECKING:
    import httpx

_OFF = "off"
_NAME = pattern(r"[a-zA-Z0-9_-]{1,100}\Z")
_MOST_TRANSCRIPT_TOKENS = 100_000


class ModelEndpoint(Struct, frozen=True):
    """Where a model is reached, by which name, and with which key: the key itself, or `@` and its file."""

    url: str
    name: str
    key: str | None = None


class ModelSettings(Struct, frozen=True):
    """What is asked of models, and what may be spent on them. `settings` tells what each setting means."""

    endpoints: Mapping[str, ModelEndpoint] = {}
    """The endpoint of each task; what has none is done by rule."""
    whole: Allowance = Allowance()
    each: Allowance = Allowance()
    """What may be spent on the account of one workspace."""
    timeout_seconds: int = 120
    context_tokens: int = 8192
    quiet_seconds: int = 60
    price: str = ""


class HostProgram(Struct, frozen=True):
    """The program that a store is opened in, whose turns go before background work."""

    paused: Callable[[], bool]
    """While this is true, no work is begun."""
    transport: httpx.BaseTransport | None = None
    """Carries what is asked of a model in place of the network."""


class Settings(Struct, frozen=True):
    """How an installation is configured. `settings` tells what each setting means."""

    home: Path
    limits: Limits = field(default_factory=Limits)
    webhook_secret: str | None = None
    webhook_private: bool = False
    model: ModelSettings = ModelSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    chat: ChatSettings = ChatSettings()
    public_url: str | None = None
    objects: str | None = None
    objects_key: tuple[str, str] | None = None
    telemetry: TelemetrySettings = TelemetrySettings()
    store: str | None = None
    vectors: str = AUTO
    index_mb: int = 256
    zone: tzinfo | None = None
    """Where people live whose days are spoken of; None for the zone of this machine."""
    host: HostProgram | None = None
    """The program that this runs in; None for one that has no turns."""
    url: str | None = None
    cap: str | None = None
    given: Mapping[str, s.Given] = {}
    """What was given, by the names of settings, and where."""

    def shown(self) -> list[s.Shown]:
        """Every setting with its value and where that came from. Secrets are hidden."""
        return [s.shown(one, self.given.get(one.name)) for one in s.SETTINGS.values()]

    @property
    def where(self) -> str:
        """The store as people may be told of it: without who connects to it, and how."""
        if self.store is None:
            return str(self.home)
        if self.store.startswith("@"):
            return f"the database of {self.store[1:]}"
        return without_secrets(self.store)

    @property
    def database(self) -> Path:
        return self.home / "souvenance.db"

    @property
    def owner_cap(self) -> Path:
        return self.home / "owner.cap"

    @property
    def model_spend(self) -> Path:
        return self.home / "model.spend"


def without_secrets(address: str) -> str:
    """The address of a database, without who connects to it, and how."""
    parts = urlsplit(address)
    hosts = parts.netloc.rpartition("@")[2] or parse_qs(parts.query).get("host", ["localhost"])[0]
    return f"postgresql://{hosts}{parts.path}"


def settings_from(
    environment: Mapping[str, str],
    home: str | None = None,
    *,
    config: str | None = None,
    url: str | None = None,
    cap: str | None = None,
) -> Settings:
    """The settings of this process: of each the option, else the variable, else the file's, else the default.
    Raises: Misconfigured for an unknown setting, or a bad value."""
    found = s.given(environment, {"home": home, "config": config, "url": url, "cap": cap})
    values = {**environment, **{s.SETTINGS[name].variable: one.value for name, one in found.items()}}
    try:
        return _settings(values, s.home_of(found), found)
    except Misconfigured as error:
        raise s.named_in_file(error, found) from None


def _settings(values: Mapping[str, str], home: Path, found: Mapping[str, s.Given]) -> Settings:
    def text(name: str) -> str | None:
        return values.get(s.SETTINGS[name].variable) or None

    embedder = s.read_section(s.EMBEDDER, values, "embedder_")
    return Settings(
        home,
        Limits(**s.read_section(s.LIMITS, values)),
        webhook_secret=text("webhook_secret"),
        webhook_private=text("webhook_private") == "1",
        model=model_settings(values),
        embedder=EmbedderSettings(embedder.pop("embedder", AUTO), **embedder),
        chat=chat_settings(values, home),
        public_url=_origin("SOUVENANCE_PUBLIC_URL", text("public_url")),
        objects=text("objects"),
        objects_key=_objects_key(text("objects_access_key"), text("objects_secret_key")),
        telemetry=_telemetry(values),
        store=_store(text("store")),
        vectors=_vectors(text("vectors"), text("store")),
        index_mb=int(text("index_mb") or s.SETTINGS["index_mb"].default),
        url=text("url"),
        cap=values.get(s.SETTINGS["cap"].variable),
        given=found,
    )


def _store(address: str | None) -> str | None:
    if not address or address.startswith(("postgresql://", "postgres://", "@")):
        return address or None
    raise Misconfigured(
        "SOUVENANCE_STORE is not the address of a PostgreSQL database",
        hint="Write postgresql://USER:PASSWORD@HOST:5432/DATABASE, or @FILE with a file that says so; "
        "leave it out to store in the data folder.",
    )


def _objects_key(access: str | None, secret: str | None) -> tuple[str, str] | None:
    if access and secret:
        return access, secret
    if access or secret:
        raise Misconfigured(f"SOUVENANCE_OBJECTS_{'SECRET' if access else 'ACCESS'}_KEY is missing")
    return None


def _vectors(chosen: str | None, store: str | None) -> str:
    if chosen == PGVECTOR and not store:
        raise Misconfigured(
            "SOUVENANCE_VECTORS=pgvector needs a store in PostgreSQL",
            hint="Set SOUVENANCE_STORE to its address, or leave out SOUVENANCE_VECTORS.",
        )
    return chosen or AUTO


def _telemetry(environment: Mapping[str, str]) -> TelemetrySettings:
    """Traces are asked for as of any program: by OpenTelemetry's own variables."""
    endpoint = any(
        environment.get(f"OTEL_EXPORTER_OTLP_{which}ENDPOINT", "").strip() for which in ("", "TRACES_")
    )
    off = (
        environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
        or environment.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    )
    metrics = environment.get("SOUVENANCE_METRICS") == "1"
    return TelemetrySettings(environment.get("SOUVENANCE_LOG") or TEXT, metrics, traces=endpoint and not off)


def model_settings(environment: Mapping[str, str]) -> ModelSettings:
    """Raises: Misconfigured."""
    found = s.read_section(s.MODELS, environment, "model_")

    def allowance(otherwise: Allowance, prefix: str = "") -> Allowance:
        named = {name: found.get(f"{prefix}{name}") for name in s.ALLOWANCES}
        return replace(otherwise, **{name: value for name, value in named.items() if value is not None})

    endpoints = {task: endpoint for task in TASKS if (endpoint := _endpoint(found, task)) is not None}
    whole = allowance(Allowance())
    return ModelSettings(endpoints, whole, allowance(whole, "workspace_"), **_fields_of(ModelSettings, found))


def _fields_of(kind: type[Struct], found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name in kind.__struct_fields__}


def _endpoint(found: Mapping[str, Any], task: str) -> ModelEndpoint | None:
    """The endpoint of a task. A key goes to no other address than the one that it was given for."""
    elsewhere = found.get(f"{task}_base_url")
    url = elsewhere or found.get("base_url")
    if not url or url == _OFF:
        return None
    name = found.get(f"{task}_name") or found.get("name")
    if not name:
        raise Misconfigured(
            "SOUVENANCE_MODEL_NAME is missing", hint="Name the model that the endpoint should use."
        )
    _check_address(s.SETTINGS[f"model_{task}_base_url" if elsewhere else "model_base_url"].variable, url)
    key = found.get(f"{task}_api_key") or (None if elsewhere else found.get("api_key"))
    return ModelEndpoint(url, name, key)


class _UpstreamEntry(Struct, forbid_unknown_fields=True):
    base_url: str
    prefix: str = ""
    api_key: str | None = None
    strip_prefix: bool = False


class _UpstreamFile(Struct, forbid_unknown_fields=True):
    upstream: list[_UpstreamEntry] = []


def chat_settings(environment: Mapping[str, str], home: Path) -> ChatSettings:
    """Raises: Misconfigured."""
    said = s.read_section(s.CHAT, environment, "chat_")
    found = ChatSettings(tuple(_upstreams(said, home)), **_fields_of(ChatSettings, said))
    for name in ("workspace", "assistant"):
        if not _NAME.match(getattr(found, name)):
            raise Misconfigured(
                f"SOUVENANCE_CHAT_{name.upper()} has other characters than letters, digits, _ and -"
            )
    if found.assistant in ("user", "ai"):
        raise Misconfigured("SOUVENANCE_CHAT_ASSISTANT must not be user or ai", hint="E.g. assistant.")
    if found.transcript_tokens > _MOST_TRANSCRIPT_TOKENS:
        raise Misconfigured(f"SOUVENANCE_CHAT_TRANSCRIPT_TOKENS is more than {_MOST_TRANSCRIPT_TOKENS}")
    try:
        namespace(found.namespace)
    except InvalidInput as error:
        raise Misconfigured(f"SOUVENANCE_CHAT_NAMESPACE: {error.detail}") from None
    return found


def _upstreams(said: Mapping[str, Any], home: Path) -> Iterator[Upstream]:
    url, key, named = said.get("base_url"), said.get("api_key"), said.get("file")
    if url:
        _check_address("SOUVENANCE_CHAT_BASE_URL", url)
        yield Upstream(url.rstrip("/"), key)
    elif key:
        raise Misconfigured(
            "SOUVENANCE_CHAT_API_KEY is set without SOUVENANCE_CHAT_BASE_URL",
            hint="A key goes to no other address than the one that it was given for; name that.",
        )
    seen = {""} if url else set()
    for one in _listed(home / Path(named).expanduser()) if named else ():
        _check_address(f"SOUVENANCE_CHAT_FILE: base_url of prefix {one.prefix!r}", one.base_url)
        if one.prefix in seen:
            raise Misconfigured(
                f"SOUVENANCE_CHAT_FILE: two endpoints have the prefix {one.prefix!r}",
                hint="Each needs a prefix of its own; SOUVENANCE_CHAT_BASE_URL has the empty one.",
            )
        seen.add(one.prefix)
        yield Upstream(one.base_url.rstrip("/"), one.api_key or None, one.prefix, one.strip_prefix)


def _listed(path: Path) -> list[_UpstreamEntry]:
    import tomllib

    try:
        found = convert(tomllib.loads(read_regular(path).decode()), _UpstreamFile)
    except OSError as error:
        raise Misconfigured(f"SOUVENANCE_CHAT_FILE can't be read: {error.strerror}") from None
    except (ValueError, ValidationError) as error:
        raise Misconfigured(
            f"SOUVENANCE_CHAT_FILE: {error}",
            hint="It lists [[upstream]] with base_url and, if wanted, prefix, api_key and strip_prefix.",
        ) from None
    if not found.upstream:
        raise Misconfigured("SOUVENANCE_CHAT_FILE lists no [[upstream]]")
    return found.upstream


def _check_address(variable: str, url: str) -> None:
    if not is_address(url):
        raise Misconfigured(
            f"{variable} is not the address of an endpoint",
            hint="E.g. http://HOST/v1. A key has a setting of its own.",
        )


def _origin(variable: str, url: str | None) -> str | None:
    """Raises: Misconfigured for what is no origin, or one that tokens would travel to in the open."""
    if not url:
        return None
    try:
        parts = urlsplit(url.removesuffix("/"))
        named = parts.hostname is not None and parts.port != 0
    except ValueError:
        named = False
    if not named or parts.username or parts.path or parts.query or parts.fragment:
        raise Misconfigured(f"{variable} must be an origin, not {url!r}", hint="E.g. https://memory.example.")
    local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme != "https" and not local:
        raise Misconfigured(f"{variable} must begin with https://", hint="Put TLS in front of the server.")
    return f"{parts.scheme}://{parts.netloc}"
