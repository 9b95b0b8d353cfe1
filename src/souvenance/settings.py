"""Every setting, declared once, in settings.toml: its name, kind, default and meaning. The environment, the
file, `souvenance config show` and the reference page follow from that table."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from souvenance.domain.embedding import VECTORS
from souvenance.domain.limits import Limits
from souvenance.domain.model_budget import Allowance
from souvenance.domain.telemetry import LOGS
from souvenance.domain.upstream import WHEN_STORE_IS_DOWN, ChatSettings
from souvenance.errors import Misconfigured
from souvenance.files import is_mine, others_may

PREFIX = "SOUVENANCE_"
FILE = "souvenance.toml"
"""The name of the settings file in the data folder."""
HIDDEN = "(hidden)"
GENERAL, MODELS, EMBEDDER, CHAT, LIMITS = SECTIONS = ("General", "Models", "Embedder", "Chat", "Limits")
_ROWS = resources.files(__package__).joinpath("settings.toml")
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
        """A value that was checked, as what it stands for."""
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


def _declared() -> Iterator[Setting]:
    """A default that code has too is the code's."""
    code = {**asdict(Limits()), **_named("chat_", ChatSettings()), **_named("model_", Allowance())}
    choices = {"vectors": VECTORS, "log": LOGS, "chat_when_store_is_down": WHEN_STORE_IS_DOWN}
    for section, rows in tomllib.loads(_ROWS.read_text("utf-8")).items():
        for name, row in rows.items():
            known = {"default": str(code.get(name, "")), "choices": choices.get(name, ()), **row}
            yield Setting(name, section=section, **known)


def _named(prefix: str, code: Struct) -> dict[str, Any]:
    return {f"{prefix}{name}": value for name, value in asdict(code).items()}


SETTINGS = {one.name: one for one in _declared()}
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
        text = path.read_text("utf-8")
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        if named and named.value:
            raise Misconfigured(f"{path} can't be read: {error.strerror}") from None
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{path} can't be read: {getattr(error, 'strerror', error)}") from None
    values = _parsed(path, text)
    secret = any(_is_hidden(SETTINGS[name], value) for name, value in values.items())
    _check_private(path, status, secret=secret)
    return {name: Given(value, str(path), in_file=True) for name, value in values.items()}


def _parsed(path: Path, text: str) -> dict[str, str]:
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
