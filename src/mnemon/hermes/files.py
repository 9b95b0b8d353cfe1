"""The files of the provider's configuration: which one counts, read when it changed, written whole."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnemon.errors import Misconfigured, StorageFull, StorageReadOnly
from mnemon.hermes.configuration import Configuration
from mnemon.hermes.interpretation import (
    HOST_VARIABLE,
    OFF,
    Complaint,
    Document,
    host_of,
    interpret,
    legacy_host,
    switched_off,
)
from mnemon.hermes.keys import KEYS, NOT_NEEDED, Key, find, nearest_key
from mnemon.hermes.kinds import Wrong, did_you_mean, said

__all__ = [
    "FILE",
    "Complaint",
    "Configurations",
    "default_home",
    "host_of",
    "read_configuration",
    "write_setting",
]

FILE = "mnemon.json"

_HONCHO = "honcho.json"
_MOST_BYTES = 1024 * 1024
_MOST_KEPT = 256
_SETTLED_NS = 100_000_000
_PEOPLE = {"peerName", "aiPeer", "userPeerAliases"}
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_UNFINISHED = ".tmp"
_VARIABLES = ("HOME", HOST_VARIABLE, *(key.variable for key in KEYS if key.variable))

_Stamp = tuple[int, ...] | None


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
    if user := environment.get("HOME"):
        usual = os.path.join(user, ".hermes")
        if Path(os.path.realpath(home)).is_relative_to(os.path.realpath(usual)):
            return Path(usual)
    return home.parent.parent if home.parent.name == "profiles" else home


def _places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Where a configuration may stand. The first that exists counts; the last is other programs' too."""
    homes = dict.fromkeys((home, default_home(home, environment)))
    user = Path(environment.get("HOME") or os.devnull)
    return [*(one / name for name in (FILE, _HONCHO) for one in homes), user / ".honcho" / "config.json"]


def _in_force(places: list[Path]) -> Path | None:
    """The first place with a file, even one that can't be looked at."""
    return next((place for place in places if _stamp(place)), None)


def _stamp(path: Path) -> _Stamp:
    """Something that changes when the file does; None if there is no file."""
    for look in (os.stat, os.lstat):
        try:
            found = look(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            return (error.errno or -1,)
        return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
    return None


def _load(path: Path, *, shared: bool = False) -> Document:
    """Raises: _Unreadable."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise _Unreadable("is not a file")
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _Unreadable(f"can't be read: {error.strerror}") from None
    if len(raw) > _MOST_BYTES:
        raise _Unreadable(f"has more than {_MOST_BYTES} bytes")
    try:
        values = json.loads(raw.decode("utf-8-sig"))
        _told(values, indent=None)
    except json.JSONDecodeError as error:
        raise _Unreadable(f"is not JSON (line {error.lineno}, column {error.colno})") from None
    except (ValueError, RecursionError):
        raise _Unreadable("is not JSON that can be read") from None
    if not isinstance(values, dict):
        raise _Unreadable(f"must be an object, not {said(values)}")
    return Document(path, values, exposed=bool(mode & _OTHERS), shared=shared)


def _told(values: Any, indent: int | None = 2) -> bytes:
    """Raises: ValueError for what JSON has no words for: numbers without end, halves of characters."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, indent=indent).encode() + b"\n"


class Configurations:
    """Configurations that are read again only after one of their files changed. Threads may share it."""

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._kept: dict[tuple[Any, ...], tuple[list[_Stamp], Configuration, list[Complaint]]] = {}

    def read(
        self, home: Path, environment: Mapping[str, str], profile: str = "default"
    ) -> tuple[Configuration, list[Complaint]]:
        """As `read_configuration`."""
        asked = (home, profile, *(environment.get(name) for name in _VARIABLES))
        stamps = [_stamp(place) for place in _places(home, environment)]
        with self._lock:
            kept = self._kept.get(asked)
        if kept is not None and kept[0] == stamps:
            return kept[1], list(kept[2])
        configuration, complaints = read_configuration(home, environment, profile)
        if _settled(stamps, self._now()):
            with self._lock:
                if len(self._kept) >= _MOST_KEPT:
                    self._kept.clear()
                self._kept[asked] = (stamps, configuration, list(complaints))
        return configuration, complaints


def _settled(stamps: list[_Stamp], now: int) -> bool:
    """Whether every file was left alone for so long that another change would show in its stamp."""
    return all(abs(now - stamp[1]) > _SETTLED_NS for stamp in stamps if stamp and len(stamp) > 1)


def write_setting(
    home: Path,
    host: str,
    changes: Mapping[str, Any],
    *,
    root: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Change settings of the host, or those of all hosts; None takes one out. The file that then counts.

    What Honcho's own files hold is copied; they are never changed.

    Raises: Misconfigured for a value that the setting does not take, or if the file that counts can't be
    read; StorageUnavailable.
    """
    environment = os.environ if environment is None else environment
    wanted = {_key(name).name: _checked(name, value) for name, value in changes.items()}
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _locked(default_home(home, environment)):
            places = _places(home, environment)
            path = _in_force(places)
            values = _values_of(path, shared=path == places[-1])
            mixed = _mixed_up(values, home, host)
            _change(values, host, wanted, root=root)
            for complaint in _mixed_up(values, home, host) - mixed:
                raise Misconfigured(f"{complaint.key} {complaint.wrong}", hint=complaint.hint)
            target = path if path and path.name == FILE else home / FILE
            _replace(Path(os.path.realpath(target)), _told(values))
            return target
    except OSError as error:
        kind = StorageFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageReadOnly
        raise kind(f"the configuration of {home} can't be written: {error.strerror}") from error


def _key(name: str) -> Key:
    key = find(name)
    if key is None:
        hint = "It has no use here." if name in NOT_NEEDED else did_you_mean(nearest_key(name))
        raise Misconfigured(f"{name} is not a setting", hint=hint)
    return key


def _checked(name: str, value: Any) -> Any:
    """The value as it is written: what a text stands for, if it stands for something else.

    Raises: Misconfigured.
    """
    if value is None:
        return None

    def refuse(part: str, wrong: str, hint: str) -> None:
        raise Misconfigured(f"{name}{'.' if part else ''}{part} {wrong}", hint=hint)

    try:
        plain = json.loads(_told(value))
        read = _key(name).kind.read(plain, refuse)
    except Wrong as wrong:
        raise Misconfigured(f"{name} {wrong.what}", hint=wrong.hint) from None
    except (TypeError, ValueError, RecursionError):
        raise Misconfigured(f"{name} must be something that JSON can hold") from None
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
    for name, value in changes.items():
        for alias in _key(name).aliases:
            level.pop(alias, None)
        if value is None:
            level.pop(name, None)
        else:
            level[name] = value


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


def _replace(path: Path, content: bytes) -> None:
    for left in path.parent.glob(f".{path.name}.*{_UNFINISHED}"):
        left.unlink(missing_ok=True)
    fresh = path.with_name(f".{path.name}.{os.urandom(8).hex()}{_UNFINISHED}")
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    _sync(path.parent)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold off every other writer of this installation."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
