"""The files of the provider's configuration: which one counts, and how it is changed."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from souvenance.errors import InvalidInput, Misconfigured
from souvenance.files import UNFINISHED, locked, open_regular, others_may, replace_file, translation
from souvenance.hermes.config_reader import (
    HOST_VARIABLE,
    OFF,
    Complaint,
    Document,
    block_of,
    blocks_of,
    host_of,
    interpret,
    legacy_host,
    switched_off,
)
from souvenance.hermes.configuration import KEYS, NOT_NEEDED, Configuration, find, known, said, taken
from souvenance.hermes.host import user_home, usual_home

FILE = "souvenance.json"

_HONCHO = "honcho.json"
_LOCK = ".souvenance.lock"
_MOST_BYTES = 1024 * 1024
_PEOPLE = {"peerName", "aiPeer", "userPeerAliases"}


class _Unreadable(Exception):
    """Why a file can't be used."""


def read_configuration(
    home: Path, environment: Mapping[str, str], profile: str = "default"
) -> tuple[Configuration, list[Complaint]]:
    """The configuration of the profile with that HERMES_HOME, and what in it does not work.

    A home in a folder `profiles` is that of the profile it is named after, whatever `profile` says.
    """
    places = _places(home, environment)
    path = _in_force(places)
    profile = home.name if home.parent.name == "profiles" else profile
    try:
        document = _load(path, shared=path == places[-1]) if path else Document()
    except _Unreadable as reason:
        host = environment.get(HOST_VARIABLE, "").strip() or host_of(profile)
        return switched_off(home, host, path), [Complaint(path, "", f"{reason}; {OFF}")]
    configuration, complaints = interpret(document, home, profile, environment)
    own = home / _HONCHO
    if path and path.name == FILE and path.parent != home and os.path.lexists(own):
        complaints.append(Complaint(path, "", f"comes before {own}, which is not read"))
    return configuration, complaints


def default_home(home: Path, environment: Mapping[str, str]) -> Path:
    """The home of the default profile beside this one, by the host's rule."""
    usual = usual_home(environment)
    if usual is not None and Path(os.path.realpath(home)).is_relative_to(os.path.realpath(usual)):
        return usual
    return home.parent.parent if home.parent.name == "profiles" else home


def _places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Where a configuration may stand. The first that exists counts; the last is other programs' too."""
    homes = dict.fromkeys((home, default_home(home, environment)))
    user = Path(user_home(environment) or os.devnull)
    return [*(one / name for name in (FILE, _HONCHO) for one in homes), user / ".honcho" / "config.json"]


def _in_force(places: list[Path]) -> Path | None:
    """The first place with a file, even one that can't be looked at."""
    return next(filter(_is_there, places), None)


def _is_there(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _load(path: Path, *, shared: bool = False) -> Document:
    """Raises: _Unreadable."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _Unreadable(f"can't be read: {error.strerror}") from None
    if len(raw) > _MOST_BYTES:
        raise _Unreadable(f"has more than {_MOST_BYTES} bytes")
    try:
        values = json.loads(raw.removeprefix(codecs.BOM_UTF8).decode())
        _encoded(values, indent=None)
    except json.JSONDecodeError as error:
        raise _Unreadable(f"is not JSON (line {error.lineno}, column {error.colno})") from None
    except (ValueError, RecursionError):
        raise _Unreadable("is not JSON that can be read") from None
    if not isinstance(values, dict):
        raise _Unreadable(f"must be an object, not {said(values)}")
    return Document(path, values, others_may(status), shared, from_honcho=path.name != FILE)


def root_of(file: Path | None) -> dict[str, Any]:
    """Everything in the file, before anything is made of it; nothing if it can't be read."""
    try:
        return _load(file).values if file is not None else {}
    except _Unreadable:
        return {}


def old_spellings(values: Mapping[str, Any], host: str) -> bool:
    """Whether a setting of the host, or of all hosts, is spelled as it was once."""
    names = (*values, *(block_of(values, host) or ()))
    return any((key := find(name)) is not None and key.name != name for name in names)


def _encoded(values: Any, indent: int | None = 2) -> bytes:
    """Raises: ValueError for what JSON has no words for: numbers without end, halves of characters."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, indent=indent).encode() + b"\n"


def hold_to_be_readable(home: Path, environment: Mapping[str, str]) -> None:
    """Raises: Misconfigured if the file that counts can't be read, and so can't be written."""
    places = _places(home, environment)
    path = _in_force(places)
    _values_of(path, shared=path == places[-1])


def write_setting(
    home: Path,
    host: str,
    changes: Mapping[str, Any],
    *,
    root: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Change settings of the host, or those of all hosts; None takes one out. The file that then counts.

    What Honcho's own files hold is copied, but for sign-ins.

    Raises: InvalidInput for a value that the setting does not take; Misconfigured if the file that counts
    can't be read; StorageUnavailable.
    """
    environment = os.environ if environment is None else environment
    wanted = {known(name).name: _checked(name, value) for name, value in changes.items()}
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(default_home(home, environment), name=_LOCK):
            places = _places(home, environment)
            path = _in_force(places)
            values = _values_of(path, shared=path == places[-1])
            if path and path.name != FILE:
                _leave_out_sign_ins(values)
            mixed = _mixed_up(values, home, host)
            _change(values, host, wanted, root=root)
            for complaint in _mixed_up(values, home, host) - mixed:
                raise Misconfigured(f"{complaint.key} {complaint.wrong}", hint=complaint.hint)
            target = path if path and path.name == FILE else home / FILE
            _replace(target, values)
            return target
    except OSError as error:
        raise translation(f"the configuration of {home} can't be written", error) from error


def write_grant(home: Path, host: str, grant: Mapping[str, Any], environment: Mapping[str, str]) -> Path:
    """Write a renewed sign-in to where it stands; all else stays as it is.

    Raises: Misconfigured; StorageUnavailable.
    """
    environment = {**environment, HOST_VARIABLE: host}
    try:
        with locked(default_home(home, environment), name=_LOCK):
            place = read_configuration(home, environment)[0].file
            if place is None:
                raise Misconfigured("there is no file any more that keeps a sign-in", hint="")
            values = _values_of(place, shared=False)
            for name, value in grant.items():
                level = block_of(values, host) or {}
                level = level if name in level else values if name in values else _block(values, host)
                level[name] = value
            _replace(place, values)
            return place
    except OSError as error:
        raise translation(f"the configuration of {home} can't be written", error) from error


def _leave_out_sign_ins(values: dict[str, Any]) -> None:
    """A refresh token that stood in two files would be spent twice. What the sign-in was for stays named, so
    that memory does not go elsewhere without a word."""
    for level in (values, *blocks_of(values).values()):
        if isinstance(level, dict) and level.pop("oauth", None):
            level.pop("apiKey", None)
            level.setdefault("environment", "production")


def _checked(name: str, value: Any) -> Any:
    """The value to write: what a text stands for, if it stands for something else. Raises: InvalidInput."""
    if value is None:
        return None
    try:
        plain = json.loads(_encoded(value))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(f"{name} must be something that JSON can hold", hint="") from None
    read = taken(name, plain)
    return read if isinstance(plain, str) and isinstance(read, bool | int | float | str) else plain


def _values_of(path: Path | None, *, shared: bool) -> dict[str, Any]:
    """What a file to be changed holds; of one that is other programs' too, only what is ours."""
    try:
        values = _load(path).values if path else {}
    except _Unreadable as reason:
        hint = "Correct it, or move it out of the way."
        raise Misconfigured(f"{path} {reason}", hint=hint) from None
    ours = (*NOT_NEEDED, "hosts", "defaultHost")
    return {name: value for name, value in values.items() if not shared or find(name) or name in ours}


def _change(values: dict[str, Any], host: str, changes: Mapping[str, Any], *, root: bool) -> None:
    level = values if root else _block(values, host)
    for one in (values, level):
        _respell(one)
    for name, value in changes.items():
        if value is None:
            level.pop(name, None)
        else:
            level[name] = value


def _respell(level: dict[str, Any]) -> None:
    """Old spellings become today's, each in its place. Where a setting has both, today's counts."""
    today = {alias: key.name for key in KEYS for alias in key.aliases}
    spelled: dict[str, Any] = {}
    for name, value in level.items():
        if name not in today or today[name] not in level:
            spelled.setdefault(today.get(name, name), value)
    level.clear()
    level.update(spelled)


def _block(values: dict[str, Any], host: str) -> dict[str, Any]:
    """The host's block, under its present key."""
    hosts = values.get("hosts")
    hosts = {} if hosts is None else hosts
    if isinstance(hosts, dict) and hosts.get(host) is None:
        hosts.pop(host, None)
        hosts = {host if name == legacy_host(host) else name: block for name, block in hosts.items()}
        hosts[host] = hosts.get(host) or {}
    if not isinstance(hosts, dict) or not isinstance(hosts[host], dict):
        raise Misconfigured(f"hosts.{host} must be an object", hint="Correct the file first.")
    values["hosts"] = hosts
    block: dict[str, Any] = hosts[host]
    return block


def _mixed_up(values: dict[str, Any], home: Path, host: str) -> set[Complaint]:
    """Where two people, or a person and the agent, would be one."""
    complaints = interpret(Document(None, values), home, "", {HOST_VARIABLE: host})[1]
    return {one for one in complaints if _PEOPLE & set(one.key.split("."))}


def _replace(path: Path, values: dict[str, Any]) -> None:
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{target.name}.*{UNFINISHED}"):
        left.unlink(missing_ok=True)
    replace_file(target, _encoded(values), 0o600)
