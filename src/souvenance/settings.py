"""Every setting, declared once: its name, kind, default and meaning. The environment, the file, `souvenance
config show` and the reference page follow from this table."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from souvenance.domain.embedding import AUTO, VECTORS
from souvenance.domain.limits import Limits
from souvenance.domain.model_budget import Allowance
from souvenance.domain.telemetry import LOGS, TEXT
from souvenance.domain.upstream import WHEN_STORE_IS_DOWN, ChatSettings
from souvenance.errors import Misconfigured
from souvenance.files import is_mine, others_may, read_regular
from souvenance.ports.model import TASKS

PREFIX = "SOUVENANCE_"
FILE = "souvenance.toml"
"""The name of the settings file in the data folder."""
HIDDEN = "(hidden)"
GENERAL, MODELS, EMBEDDER, CHAT, LIMITS = SECTIONS = ("General", "Models", "Embedder", "Chat", "Limits")
ALLOWANCES = ("calls_per_hour", "calls_per_day", "tokens_per_hour", "tokens_per_day")


class Setting(Struct, frozen=True):
    name: str
    """As in the file. The variable is this in capitals, with the prefix."""
    help: str
    default: str = ""
    """As people read it; empty for none."""
    kind: Literal["text", "number", "flag"] = "text"
    choices: tuple[str, ...] = ()
    option: str = ""
    """The option of the command line that sets it too."""
    secret: bool = False
    section: str = GENERAL

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.name.upper()}"

    def check(self, value: str) -> None:
        """Raises: Misconfigured for a value of another kind. An empty one stands for the default."""
        if not value:
            return
        if self.kind == "number" and not (value.isascii() and value.isdigit() and int(value) > 0):
            raise Misconfigured(f"{self.variable} must be a whole number above 0, not {value!r}")
        if self.kind == "flag" and value not in ("0", "1"):
            raise Misconfigured(f"{self.variable} must be 0 or 1, not {value!r}")
        if self.choices and value not in self.choices:
            raise Misconfigured(f"{self.variable} must be one of {', '.join(self.choices)}, not {value!r}")

    def read(self, value: str) -> str | int | bool:
        return int(value) if self.kind == "number" else value == "1" if self.kind == "flag" else value


def read_section(section: str, values: Mapping[str, str], prefix: str = "") -> dict[str, Any]:
    """What the values say of the settings of a section, by their names without the prefix. Empty ones are
    left out. Raises: Misconfigured for one of another kind."""
    found = {}
    for one in SETTINGS.values():
        if one.section == section and (value := values.get(one.variable)):
            one.check(value)
            found[one.name.removeprefix(prefix)] = one.read(value)
    return found


def _general() -> Iterator[Setting]:
    yield Setting("home", "The data folder.", "~/.souvenance", option="--home")
    yield Setting("config", "The settings file.", f"{FILE} in the data folder", option="--config")
    yield Setting("url", "The server to use instead of the data folder.", option="--url")
    yield Setting(
        "cap",
        "The capability token, or @FILE.",
        "owner.cap in the data folder",
        option="--cap",
        secret=True,
    )
    yield Setting(
        "store",
        "A PostgreSQL database, postgresql://USER:PASSWORD@HOST:5432/DATABASE, or @FILE with that address.",
        "souvenance.db in the data folder",
        secret=True,
    )
    yield Setting(
        "vectors",
        "How vectors are stored: pgvector (unencrypted, compared by PostgreSQL), sealed, none, or auto. Auto"
        " keeps what the store has; a new store in PostgreSQL gets pgvector, a new data folder sealed.",
        AUTO,
        choices=VECTORS,
    )
    yield Setting(
        "index_mb",
        "Memory for the search index of a process, in MB. The compartment asked about last is kept even if it"
        " takes more.",
        "256",
        "number",
    )
    yield Setting("objects", "A bucket or folder for a second copy of all lines, s3://… or file:///….")
    otherwise = "AWS_ACCESS_KEY_ID and its kind, or the machine's role"
    yield Setting("objects_access_key", "The id of the bucket's key, or @FILE.", otherwise, secret=True)
    yield Setting("objects_secret_key", "The secret of the bucket's key, or @FILE.", secret=True)
    yield Setting(
        "public_url", "The address that clients use for the server, https://…. It is the issuer of sign-ins."
    )
    yield Setting(
        "webhook_secret",
        "The key that signs webhooks, or @FILE.",
        "webhook.secret in the data folder",
        secret=True,
    )
    yield Setting("webhook_private", "1 allows webhooks to private addresses.", "0", "flag")
    log = "The format of the log: text, requests (also a line per request), json (an object per line) or off."
    yield Setting("log", log, TEXT, choices=LOGS)
    yield Setting("metrics", "1 serves metrics at /metrics. Needs the extra metrics.", "0", "flag")


def _models() -> Iterator[Setting]:
    def part(name: str, help: str, default: str = "", **more: Any) -> Setting:
        return Setting(f"model_{name}", help, default, section=MODELS, **more)

    yield part("base_url", "The address of the model's endpoint, without /chat/completions. Empty: no model.")
    yield part("name", "The model to use. Required with an address.")
    yield part("api_key", "The key of the endpoint, or @FILE.", secret=True)
    work = {"derive": "conclusions", "summarise": "summaries", "answer": "chat"}
    for task in TASKS:
        what = work[task]
        yield part(
            f"{task}_base_url", f"Another endpoint for {what}; off uses no model.", "as model_base_url"
        )
        yield part(f"{task}_name", f"Another model for {what}.", "as model_name")
        yield part(
            f"{task}_api_key",
            f"The key of the endpoint for {what}.",
            "as model_api_key, at that address",
            secret=True,
        )
    for who, prefix in (("the installation", ""), ("one workspace", "workspace_")):
        for name in ALLOWANCES:
            default = f"as model_{name}" if prefix else str(getattr(Allowance(), name))
            yield part(f"{prefix}{name}", f"Most {name.replace('_', ' ')} of {who}.", default, kind="number")
    yield part("price", "What a million tokens cost, such as 0.40 USD. The inspector shows the cost with it.")
    yield part("timeout_seconds", "How long a call may take.", "120", kind="number")
    yield part("context_tokens", "How many tokens a prompt and its reply may have.", "8192", kind="number")
    yield part(
        "quiet_seconds", "How long a session must be quiet before a model reads it.", "60", kind="number"
    )


def _embedder() -> Iterator[Setting]:
    def part(name: str, help: str, default: str = "", **more: Any) -> Setting:
        return Setting(f"embedder{name}", help, default, section=EMBEDDER, **more)

    yield part("", "auto, none, packaged, folder:PATH#SHA256 or endpoint.", AUTO)
    yield part("_base_url", "The address of an endpoint, without /embeddings.")
    yield part("_api_key", "The key of the endpoint, or @FILE.", secret=True)
    yield part("_model", "The model of the endpoint.")
    yield part("_dimensions", "How many dimensions the vectors of the endpoint have.", kind="number")


def _chat() -> Iterator[Setting]:
    given = ChatSettings()

    def part(name: str, help: str, default: str = "", **more: Any) -> Setting:
        return Setting(f"chat_{name}", help, default, section=CHAT, **more)

    def number(name: str, help: str) -> Setting:
        return part(name, help, str(getattr(given, name)), kind="number")

    yield part("base_url", "The address of a model's endpoint, without /chat/completions.")
    yield part("api_key", "The key of the endpoint, or @FILE.", secret=True)
    yield part("file", "A file that lists several endpoints. A relative path starts in the data folder.")
    yield part("paths", "More paths below /v1/ that every token with chat may POST to, separated by commas.")
    yield part("user_field", "0 ignores OpenAI's field user, which names the person.", "1", kind="flag")
    yield part(
        "when_store_is_down",
        "What happens to a chat without the store: refuse answers 503, pass_without_memory passes it on.",
        given.when_store_is_down,
        choices=WHEN_STORE_IS_DOWN,
    )
    yield part("workspace", "The workspace of tokens that are good for all.", given.workspace)
    yield part(
        "namespace",
        "The namespace of conversations. A token that does not allow it uses its first one.",
        given.namespace,
    )
    yield part("assistant", "The peer that models speak as.", given.assistant)
    yield number("context_tokens", "How much memory a message gets, in tokens.")
    yield number("transcript_tokens", "How much transcript replaces what a client leaves out, in tokens.")
    yield number("wait_ms", "How long a chat waits for recall. It always waits for the gate.")
    yield number("timeout_seconds", "How long an endpoint may be silent.")


def _limits() -> Iterator[Setting]:
    for name, help in {
        "body_bytes": "The largest body of a request.",
        "line_bytes": "The longest text of a line, in bytes of UTF-8.",
        "import_bytes": "The largest file that can be imported in the inspector.",
        "bodies_bytes": "Memory for the bodies of all requests. One token gets a quarter of it at most.",
        "body_seconds": "How long a body may take to arrive.",
        "body_stall_seconds": "How long a body may stall.",
        "requests_per_minute": "Requests of one token in a minute, counted per process.",
    }.items():
        yield Setting(name, help, str(getattr(Limits(), name)), "number", section=LIMITS)


SETTINGS = {one.name: one for one in (*_general(), *_models(), *_embedder(), *_chat(), *_limits())}
VARIABLES = tuple(one.variable for one in SETTINGS.values())


class Given(Struct, frozen=True):
    """A value that was given, and by what: an option, a variable or a file."""

    value: str
    source: str
    in_file: bool = False


class Shown(Struct, frozen=True):
    """A setting as `souvenance config show` prints it."""

    name: str
    value: str
    source: str


def given(environment: Mapping[str, str], options: Mapping[str, str | None]) -> dict[str, Given]:
    """What was given for each setting, by name: by an option, else by the environment, else by the file.
    Raises: Misconfigured for what is unknown, or of another kind."""
    found = {
        name: Given(value, SETTINGS[name].option) for name, value in options.items() if value is not None
    }
    for variable, value in environment.items():
        if variable.startswith(PREFIX):
            if variable not in VARIABLES:
                raise _unknown(f"{variable} is", variable, VARIABLES)
            found.setdefault(variable.removeprefix(PREFIX).lower(), Given(value, variable))
    for name, one in _in_file(found).items():
        found.setdefault(name, one)
    for name, one in found.items():
        try:
            SETTINGS[name].check(one.value)
        except Misconfigured as error:
            raise named_in_file(error, found) from None
    return found


def named_in_file(error: Misconfigured, found: Mapping[str, Given]) -> Misconfigured:
    """The error with the names that the file has for settings, where the file set them."""
    detail = error.detail
    for name in sorted(found, key=len, reverse=True):
        if found[name].in_file:
            name_in_file = f"{found[name].source}: {name}"
            detail = re.sub(rf"{SETTINGS[name].variable}\b", name_in_file.replace("\\", r"\\"), detail)
    return Misconfigured(detail, hint=error.hint)


def home_of(found: Mapping[str, Given]) -> Path:
    home = found.get("home")
    return Path(home.value if home and home.value else SETTINGS["home"].default).expanduser()


def shown(setting: Setting, one: Given | None) -> Shown:
    if one is None:
        return Shown(setting.name, setting.default, "default")
    return Shown(setting.name, HIDDEN if _is_hidden(setting, one.value) else one.value, one.source)


def _is_hidden(setting: Setting, value: str) -> bool:
    """Whether the value is a secret itself, and not the name of a file that holds one."""
    return setting.secret and bool(value) and not value.startswith("@")


def _in_file(found: Mapping[str, Given]) -> dict[str, Given]:
    """What the file gives: the one that was named, else the one in the data folder if there is one."""
    named = found.get("config")
    path = Path(named.value).expanduser() if named and named.value else home_of(found) / FILE
    try:
        text = read_regular(path).decode()
        status = path.stat()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError) and not (named and named.value):
            return {}
        raise Misconfigured(f"{path} can't be read: {getattr(error, 'strerror', error)}") from None
    values = _parsed(path, text)
    secret = any(_is_hidden(SETTINGS[name], value) for name, value in values.items())
    _check_private(path, status, secret=secret)
    return {name: Given(value, str(path), in_file=True) for name, value in values.items()}


def _parsed(path: Path, text: str) -> dict[str, str]:
    import tomllib

    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{path} is not TOML: {error}") from None
    return {name: _text(path, name, value) for name, value in found.items()}


def _text(path: Path, name: str, value: Any) -> str:
    """The value as a variable has it. Raises: Misconfigured."""
    if name not in SETTINGS:
        raise _unknown(f"{path}: {name} is", name, SETTINGS)
    if name in ("home", "config"):
        raise Misconfigured(
            f"{path}: {name} can't be set in a file",
            hint=f"Use {SETTINGS[name].option} or {SETTINGS[name].variable}.",
        )
    if isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, str | int):
        raise Misconfigured(f"{path}: {name} must be text, a whole number, true or false")
    return str(value)


def _check_private(path: Path, status: os.stat_result, *, secret: bool) -> None:
    """Raises: Misconfigured if somebody else wrote the file or can, or can read the secrets in it."""
    if not is_mine(status) and status.st_uid != 0:
        raise Misconfigured(f"{path} belongs to another user", hint="Use a settings file of your own.")
    if others_may(status, stat.S_IWGRP | stat.S_IWOTH):
        raise Misconfigured(f"{path} can be changed by other users", hint=f"Run: chmod go-w {path}")
    if secret and others_may(status):
        raise Misconfigured(
            f"{path} holds a secret and is open to other users", hint=f"Run: chmod 600 {path}"
        )


def _unknown(what: str, name: str, known: Any) -> Misconfigured:
    near = get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]}?" if near else "'souvenance config show' lists all settings."
    return Misconfigured(f"{what} not a setting", hint=hint)
