"""What the file of a profile and the environment say, made into its configuration, with complaints about the
rest; which file counts, and how it is changed.

A wrong value of a setting that decides where memory goes turns memory off: nothing may stand in for what
was meant, since it could be somebody else's memory. Of any other, the default is used, with a complaint.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from souvenance.agents.conversation_scope import Flags, Namespaces, Observation
from souvenance.agents.names import sanitised
from souvenance.domain.names import ALL
from souvenance.errors import InvalidInput, Misconfigured
from souvenance.files import UNFINISHED, locked, open_regular, others_may, replace_file, translated
from souvenance.hermes import configuration as c
from souvenance.hermes.host import ENVIRONMENT, default_home, user_home
from souvenance.hermes.token import minting, token_of

FILE = "souvenance.json"
HOST_VARIABLE = "HERMES_HONCHO_HOST"
DEFAULT_HOST = "hermes"

_VARIABLES = {name for key in c.KEYS for name in (key.kept_as, key.variable) if name}
_HEEDED = (HOST_VARIABLE, "HOME", "USERPROFILE", "LOCALAPPDATA")
_PEERS = ("peerName", "aiPeer", "userPeerAliases")
_STRUCTURE = ("hosts", "defaultHost")
_MOST_COMPLAINTS = 30
_LONGEST_KEY = 200
_HONCHO = "honcho.json"
_LOCK = ".souvenance.lock"
_PANEL = Path("souvenance", "config.json")
_MOST_BYTES = 1024 * 1024


class Document(Struct, frozen=True):
    """The content of a file; of none, if there is no path."""

    path: Path | None = None
    values: dict[str, Any] = {}
    exposed: bool = False
    """Whether others on this machine can open it."""
    shared: bool = False
    """Whether other programs keep settings of their own in it."""


class _Level(Struct, frozen=True):
    path: str
    values: Mapping[str, Any]


class _Stated(Struct, frozen=True):
    """A setting as it was read; its value is None where the default is meant."""

    value: Any
    given: Any
    level: _Level
    path: str


def host_of(profile: str) -> str:
    """The key of a profile's block under `hosts`."""
    if profile in ("", "default", "custom"):
        return DEFAULT_HOST
    name = "".join(one if one.isalnum() or one in "_-" else "_" for one in profile).strip("_")
    return f"{DEFAULT_HOST}_{name or 'profile'}"


def blocks_of(values: Mapping[str, Any]) -> dict[str, Any]:
    hosts = values.get("hosts")
    return hosts if isinstance(hosts, dict) else {}


def _levels_in(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in (values, *blocks_of(values).values()) if isinstance(one, dict)]


def block_name(values: Mapping[str, Any], host: str) -> str:
    """The name under which a file has the block of a host, or would have it; `hermes.coder` is older."""
    blocks, older = blocks_of(values), host.replace(f"{DEFAULT_HOST}_", f"{DEFAULT_HOST}.", 1)
    return older if older in blocks and blocks.get(host) is None else host


def block_of(values: Mapping[str, Any], host: str) -> dict[str, Any] | None:
    block = blocks_of(values).get(block_name(values, host))
    return block if isinstance(block, dict) else None


def interpret(
    document: Document, home: Path, profile: str, environment: Mapping[str, str]
) -> tuple[c.Configuration, list[c.Complaint]]:
    reading = _DocumentReader(document)
    host = environment.get(HOST_VARIABLE, "").strip()
    if not host:
        host = host_of(profile)
        host = reading.default_host() if host == DEFAULT_HOST else host
    return reading.configuration(home, host, environment), reading.complaints


class _DocumentReader:
    def __init__(self, document: Document) -> None:
        self.complaints: list[c.Complaint] = []
        self._document = document
        self._closed = False

    def default_host(self) -> str:
        value = self._document.values.get("defaultHost")
        if value is None or isinstance(value, str):
            return (value or "").strip() or DEFAULT_HOST
        self._complain("defaultHost", f"must be a string, not {c.said(value)}; the default is used")
        return DEFAULT_HOST

    def configuration(self, home: Path, host: str, environment: Mapping[str, str]) -> c.Configuration:
        levels = self._levels(home, host, environment)
        found = {key.name: stated for key in c.KEYS if (stated := self._stated(key, levels))}
        values = _named_after(host, home)
        for key in c.KEYS:
            if key.name in found and (value := found[key.name].value) is not None:
                values[key.attribute] = value
        values["observation"] = _observation(values.get("observation_mode"), values.get("observation", {}))
        values["store"] = _expanded(str(values["store"]), home, environment)
        values["sessions"] = {
            str(_expanded(directory, home, environment)): name.strip()
            for directory, name in values.get("sessions", {}).items()
        }
        self._leave_sign_in(values, found)
        self._withhold_key(values, found, levels)
        self._miss_key(values, found)
        self._heed_token(values, found)
        self._part_from_agent(values, found, host)
        self._part_aliases(values, found)
        self._warn(values, found)
        for level in levels[:2]:
            self._tell_unknown(level)
        if self._closed:
            values["enabled"] = False
        return c.Configuration(home=home, host=host, file=self._document.path, **values)

    def _complain(self, key: str, wrong: str, hint: str = "", *, variable: bool = False) -> None:
        if len(self.complaints) == _MOST_COMPLAINTS:
            self.complaints.append(c.Complaint(self._document.path, "", "has more that does not work"))
        if len(self.complaints) > _MOST_COMPLAINTS:
            return
        key = key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}..."
        self.complaints.append(c.Complaint(None if variable else self._document.path, key, wrong, hint))

    def _levels(self, home: Path, host: str, environment: Mapping[str, str]) -> tuple[_Level, ...]:
        """Where settings stand, the nearest first: the host's block, the root, the environment."""
        root = self._document.values
        hosts = self._object("hosts", root.get("hosts"))
        block = block_name(root, host)
        path = f"hosts.{block}"
        return (
            _Level(f"{path}.", {**self._object(path, hosts.get(block)), **_chosen_in_panel(home)}),
            _Level("", root),
            _Level("", {name: environment[name] for name in _VARIABLES if environment.get(name, "").strip()}),
        )

    def _object(self, key: str, value: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        if value is not None:
            self._closed = True
            self._complain(key, f"must be an object, not {c.said(value)}; {c.OFF}")
        return {}

    def _stated(self, key: c.ProviderSetting, levels: tuple[_Level, ...]) -> _Stated | None:
        """What the nearest level says of the setting; None if no level does, or nothing that can be used."""
        for level in levels:
            variable = level is levels[-1]
            for spelling in (key.kept_as, key.variable) if variable else (key.name, *key.aliases):
                if spelling is None or (given := level.values.get(spelling)) is None:
                    continue
                path = f"{level.path}{spelling}"
                try:
                    value = key.read(self._respelled(path, given) if key.name in _PEERS else given)
                except InvalidInput as wrong:
                    self._closed |= key.guards
                    then = c.OFF if key.guards else "the default is used"
                    self._complain(path, f"{wrong.detail}; {then}", wrong.hint, variable=variable)
                    return None
                return _Stated(value, given, level, path)
        return None

    def _respelled(self, path: str, given: Any) -> Any:
        """Names of peers as Honcho's plugin spells them. Among aliases, what is no name is left out."""
        if isinstance(given, dict):
            spelled = {one.strip(): self._respelled(f"{path}.{one}", name) for one, name in given.items()}
            names = {
                one for one, name in spelled.items() if isinstance(name, str) and c.PEER_NAME.match(name)
            }
            for one in [one for one in spelled if one not in names]:
                self._complain(f"{path}.{one}", f"must be {c.NAME_WORDS}, and is left out")
            return {one: name for one, name in spelled.items() if one and one in names}
        name = c.peer_name(given.strip()) if isinstance(given, str) else given
        if isinstance(given, str) and name != given.strip():
            wrong = f"must be spelled {c.said(name)}, and is used so"
            self._complain(path, wrong, f"A name is {c.NAME_WORDS}.")
        return name

    def _leave_sign_in(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        """A refresh token works once, so only one program may use it: of Honcho's files, Honcho's plugin."""
        path = self._document.path
        if path is None or path.name == FILE or not values.pop("oauth", None):
            return
        values.pop("api_key", None)
        self._closed = True
        wrong = f"is a sign-in of Honcho's plugin, which only that renews; {c.OFF}"
        server = values.get("base_url") or c.CLOUD
        self._complain(found["oauth"].path, wrong, f"Sign in here: souvenance login --url {server}")

    def _part_from_agent(self, values: dict[str, Any], found: dict[str, _Stated], host: str) -> None:
        if values.get("peer_name") != values["ai_peer"]:
            return
        name = _named_after(host, Path())["ai_peer"]
        values["ai_peer"] = name if name != values["peer_name"] else f"{name}-ai"
        self._complain(
            (found.get("aiPeer") or found["peerName"]).path,
            f"makes the agent and its owner one peer; the agent is {c.said(values['ai_peer'])} instead",
            "Give aiPeer and peerName two names.",
        )

    def _part_aliases(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        """Two names that are spelled differently lead to two peers, and none to the agent."""
        if "userPeerAliases" not in found:
            return
        spelled: dict[str, Any] = {values["ai_peer"]: None}
        if "peer_name" in values:
            spelled[values["peer_name"]] = found["peerName"].given.strip()
        stated, aliases = found["userPeerAliases"], values["user_peer_aliases"]
        given = {one.strip(): str(name).strip() for one, name in stated.given.items()}
        for one in sorted(aliases, key=lambda one: bool(aliases[one] != given[one])):
            if spelled.setdefault(aliases[one], given[one]) != given[one]:
                name = aliases.pop(one)
                who = "the agent" if name == values["ai_peer"] else f"another name, {c.said(name)}"
                self._complain(f"{stated.path}.{one}", f"would be the same peer as {who}, and is left out")

    def _withhold_key(
        self, values: dict[str, Any], found: dict[str, _Stated], levels: tuple[_Level, ...]
    ) -> None:
        """No server gets another one's key, and no key that lies about decides where memory goes."""
        key, addressed = found.get("apiKey"), any(map(values.get, ("base_url", "environment", "oauth")))
        if key is None or not values.get("api_key"):
            return
        meant = key.path == c.known("apiKey").kept_as
        if not addressed and (key.level is levels[-1] or (self._document.shared and key.level is levels[1])):
            wrong, hint = c.UNUSED_KEY
        elif key.level is not levels[0] and not meant and c.is_near(values.get("base_url")):
            wrong = "is not sent to a baseUrl on this machine or its network"
            hint = f"If it is meant for that server, move it to {levels[0].path}apiKey."
        else:
            return
        del values["api_key"]
        self._complain(key.path, wrong, hint, variable=key.level is levels[-1])

    def _miss_key(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        named = found.get("baseUrl") if values.get("base_url") else found.get("environment")
        if named is None or named.value not in (c.CLOUD, "production"):
            return
        if values.get("api_key") or values.get("oauth"):
            return
        self._closed = True
        wrong = f"names Honcho's cloud, and there is no key for it; {c.OFF}"
        hint = "Give it one: souvenance hermes setup --cloud"
        self._complain(named.path, wrong, hint, variable=named.path in _VARIABLES)

    def _heed_token(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        """Take missing settings from the token. What it does not grant is left out, with a complaint."""
        token = token_of(values.get("api_key"))
        if token is None:
            return
        person, agent = token.people(values.get("peer_name"), values["ai_peer"])
        own = {"peerName": person, "aiPeer": agent, "namespaces": token.usual_namespaces()}
        if token.claims.wid != ALL:
            own["workspace"] = token.claims.wid
        for key in c.KEYS:
            if key.name in own and key.name not in found and own[key.name] is not None:
                values[key.attribute] = own[key.name]
        person, agent, workspace = values.get("peer_name"), values["ai_peer"], values["workspace"]
        wanted = values.get("namespaces", Namespaces())
        values |= {"token": token, "namespaces": token.granted(wanted)}
        unfit = list(token.unfit(workspace, person))
        if lacks := unfit or list(token.lacks(wanted, agent)):
            self._closed |= bool(unfit)
            hint = f"Mint one that fits: {minting(person, agent, workspace, wanted)}"
            if values.get("oauth"):
                hint = "Sign in again and allow it, for everyone in the workspace: souvenance login"
            stated = found["apiKey"]
            wrong = f"is a token that lacks something: {'; '.join(lacks)}{f'; {c.OFF}' if unfit else ''}"
            self._complain(stated.path, wrong, hint, variable=stated.path in _VARIABLES)

    def _warn(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        if values.get("pin_user_peer") and not values.get("peer_name"):
            self._complain(found["pinUserPeer"].path, "has no effect without peerName", "Set peerName too.")
        keyed = any(one.get("apiKey") or one.get("oauth") for one in _levels_in(self._document.values))
        if self._document.exposed and keyed:
            hint = f"Run: chmod 600 {self._document.path}"
            self._complain("", "holds a key, and others on this machine can open it", hint)

    def _tell_unknown(self, level: _Level) -> None:
        ours = c.NOT_NEEDED if level.path else (*c.NOT_NEEDED, *_STRUCTURE)
        unknown = [name for name in level.values if c.find(name) is None and name not in ours]
        for name in unknown[: _MOST_COMPLAINTS + 1]:
            nearest = c.nearest_key(name)
            if nearest or level.path or not self._document.shared:
                self._complain(f"{level.path}{name}", "is not a setting", c.did_you_mean(nearest))


def _named_after(host: str, home: Path) -> dict[str, Any]:
    """What has its name from the host unless another is given."""
    name = host
    if not c.PEER_NAME.match(host):
        digest = hashlib.sha256(host.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        name = f"{sanitised(host)[:100]}-{digest}"
    return {"workspace": name, "ai_peer": name, "store": home / "souvenance"}


def _observation(mode: str | None, flags: Mapping[str, Mapping[str, bool]]) -> Observation:
    """The mode's flags, and over them those that are given one by one."""
    directional = mode != "unified"
    user = {"observeMe": True, "observeOthers": directional, **flags.get("user", {})}
    ai = {"observeMe": directional, "observeOthers": True, **flags.get("ai", {})}
    return Observation(*(Flags(one["observeMe"], one["observeOthers"]) for one in (user, ai)))


def _expanded(text: str, home: Path, environment: Mapping[str, str]) -> Path:
    """A path as people write them; a relative one begins at HERMES_HOME."""
    text = re.sub(r"\A\$(HERMES_HOME\b|\{HERMES_HOME\})", lambda _: str(home), text)
    if (user := user_home(environment)) and (text == "~" or text.startswith(("~/", f"~{os.sep}"))):
        text = f"{user}{text[1:]}"
    return home / text


def read_configuration(
    home: Path, environment: Mapping[str, str], profile: str = "default"
) -> tuple[c.Configuration, list[c.Complaint]]:
    """The configuration of the profile with that HERMES_HOME, and what in it does not work.

    A home in a folder `profiles` is that of the profile it is named after, whatever `profile` says.
    """
    path, shared = _in_force(home, environment)
    profile = home.name if home.parent.name == "profiles" else profile
    try:
        document = _load(path, shared=shared) if path else Document()
    except Misconfigured as reason:
        host = environment.get(HOST_VARIABLE, "").strip() or host_of(profile)
        off = c.Configuration(home=home, host=host, file=path, enabled=False, **_named_after(host, home))
        return off, [c.Complaint(path, "", f"{reason}; {c.OFF}")]
    configuration, complaints = interpret(document, home, profile, environment)
    if path and path.name == FILE and path.parent != home and os.path.lexists(own := home / _HONCHO):
        complaints.append(c.Complaint(path, "", f"comes before {own}, which is not read"))
    return configuration, complaints


def stamp_of(home: Path, environment: Mapping[str, str]) -> list[Any]:
    """What is another one whenever `read_configuration` may find something else. No file is read for it."""
    stamps: list[Any] = [environment.get(name) for name in (*_HEEDED, *sorted(_VARIABLES))]
    for path in (*_places(home, environment), home / _PANEL):
        found = os.stat(path) if os.path.exists(path) else None
        stamps.append(found and (found.st_ino, found.st_ctime_ns, found.st_size))
    return stamps


def _places(home: Path, environment: Mapping[str, str]) -> list[Path]:
    """Where the file that counts may be. The last one is other programs' too."""
    homes = dict.fromkeys((home, default_home(home, environment)))
    shared = Path(user_home(environment) or os.devnull, ".honcho", "config.json")
    return [*(one / name for name in (FILE, _HONCHO) for one in homes), shared]


def _in_force(home: Path, environment: Mapping[str, str]) -> tuple[Path | None, bool]:
    """The file that counts, even one that can't be looked at; and whether it is other programs' too."""
    places = _places(home, environment)
    return (found := next(filter(_is_there, places), None)), found == places[-1]


def _is_there(path: Path) -> bool:
    try:
        os.lstat(path)
    except OSError as error:
        return not isinstance(error, FileNotFoundError | NotADirectoryError)
    return True


def _load(path: Path, *, shared: bool = False) -> Document:
    """Raises: Misconfigured, without the name of the file."""
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            raw = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise Misconfigured(f"can't be read: {error.strerror}") from None
    if len(raw) > _MOST_BYTES:
        raise Misconfigured(f"has more than {_MOST_BYTES} bytes")
    try:
        values = json.loads(raw.decode("utf-8-sig"))
        _encoded(values, indent=None)
    except json.JSONDecodeError as error:
        raise Misconfigured(f"is not JSON (line {error.lineno}, column {error.colno})") from None
    except (ValueError, RecursionError):
        raise Misconfigured("is not JSON that can be read") from None
    if not isinstance(values, dict):
        raise Misconfigured(f"must be an object, not {c.said(values)}")
    return Document(path, values, others_may(status), shared)


def root_of(file: Path | None) -> dict[str, Any]:
    """Everything in the file, before anything is made of it; nothing if it can't be read."""
    try:
        return _load(file).values if file is not None else {}
    except Misconfigured:
        return {}


def old_spellings(values: Mapping[str, Any], host: str) -> bool:
    names = (*values, *(block_of(values, host) or ()))
    return any((key := c.find(name)) is not None and key.name != name for name in names)


def _encoded(values: Any, indent: int | None = 2) -> bytes:
    """Raises: ValueError for what JSON has no words for: numbers without end, halves of characters."""
    return json.dumps(values, ensure_ascii=False, allow_nan=False, indent=indent).encode() + b"\n"


def hold_to_be_readable(home: Path, environment: Mapping[str, str]) -> None:
    """Raises: Misconfigured if the file that counts can't be read, and so can't be written."""
    _values_of(*_in_force(home, environment))


def write_setting(
    home: Path,
    host: str,
    changes: Mapping[str, Any],
    *,
    root: bool = False,
    environment: Mapping[str, str] = ENVIRONMENT,
) -> Path:
    """Change settings of the host, or those of all hosts; None takes one out. The file that then counts.

    What Honcho's own files hold is copied, but for sign-ins.

    Raises: InvalidInput for a value that the setting does not take; Misconfigured if the file that counts
    can't be read; StorageUnavailable.
    """
    wanted = {c.known(name).name: _checked(name, value) for name, value in changes.items()}
    with _alone(home, environment, make=True):
        path, shared = _in_force(home, environment)
        values = _values_of(path, shared)
        if path and path.name != FILE:
            _leave_out_sign_ins(values)
        mixed = _mixed_up(values, home, host)
        _change(values, host, wanted, root=root)
        of_host = {**environment, HOST_VARIABLE: host}
        if shared and not interpret(Document(path, values, shared=True), home, "", of_host)[0].api_key:
            values.pop("apiKey", None)  # In a file of our own it would no longer lie about.
        for complaint in _mixed_up(values, home, host) - mixed:
            raise Misconfigured(f"{complaint.key} {complaint.wrong}", hint=complaint.hint)
        target = path if path and path.name == FILE else home / FILE
        _replace(target, values)
        _keep_panel_in_step(home, wanted)
        return target


def write_grant(home: Path, host: str, grant: Mapping[str, Any], environment: Mapping[str, str]) -> Path:
    """Replace a sign-in by its renewed one, and change nothing else.

    Raises: Misconfigured; StorageUnavailable.
    """
    environment = {**environment, HOST_VARIABLE: host}
    with _alone(home, environment):
        place = read_configuration(home, environment)[0].file
        if place is None:
            raise Misconfigured("there is no file any more that keeps a sign-in", hint="")
        values = _values_of(place)
        for name, value in grant.items():
            level = block_of(values, host) or {}
            level = level if name in level else values if name in values else _block(values, host)
            level[name] = value
        _replace(place, values)
        return place


@contextmanager
def _alone(home: Path, environment: Mapping[str, str], *, make: bool = False) -> Iterator[None]:
    """Keeps others from changing a configuration of the installation. Raises: StorageUnavailable."""
    with translated(f"the configuration of {home} can't be written"):
        if make:
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(default_home(home, environment), name=_LOCK):
            yield


def _leave_out_sign_ins(values: dict[str, Any]) -> None:
    """A refresh token that stood in two files would be spent twice. What the sign-in was for stays named, so
    that memory does not go elsewhere without a word."""
    for level in _levels_in(values):
        if level.pop("oauth", None):
            level.pop("apiKey", None)
            level.setdefault("environment", "production")


def _checked(name: str, value: Any) -> Any:
    """The value to write: what a text means, if it means something else. Raises: InvalidInput."""
    if value is None:
        return None
    try:
        plain = json.loads(_encoded(value))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(f"{name} must be something that JSON can hold", hint="") from None
    read = c.taken(name, plain)
    return read if isinstance(plain, str) and isinstance(read, bool | int | float | str) else plain


def _values_of(path: Path | None, shared: bool = False) -> dict[str, Any]:
    """What a file to be changed holds; of one that is other programs' too, only what is ours."""
    try:
        values = _load(path).values if path else {}
    except Misconfigured as reason:
        raise Misconfigured(f"{path} {reason}", hint="Correct it, or move it out of the way.") from None
    ours = (*c.NOT_NEEDED, *_STRUCTURE)
    return {name: value for name, value in values.items() if not shared or c.find(name) or name in ours}


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
    today = {alias: key.name for key in c.KEYS for alias in key.aliases}
    spelled: dict[str, Any] = {}
    for name, value in level.items():
        if name not in today or today[name] not in level:
            spelled.setdefault(today.get(name, name), value)
    level.clear()
    level.update(spelled)


def _block(values: dict[str, Any], host: str) -> dict[str, Any]:
    """The host's block, which is made if there is none. Raises: Misconfigured."""
    name = block_name(values, host)
    if values.get("hosts") is None:
        values["hosts"] = {}
    if isinstance(values["hosts"], dict) and values["hosts"].get(name) is None:
        values["hosts"][name] = {}
    block = block_of(values, host)
    if block is None:
        raise Misconfigured(f"hosts.{host} must be an object", hint="Correct the file first.")
    return block


def _mixed_up(values: dict[str, Any], home: Path, host: str) -> set[c.Complaint]:
    """Where two people, or a person and the agent, would be one."""
    complaints = interpret(Document(None, values), home, "", {HOST_VARIABLE: host})[1]
    return {one for one in complaints if not set(_PEERS).isdisjoint(one.key.split("."))}


def _replace(path: Path, values: dict[str, Any]) -> None:
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{target.name}.*{UNFINISHED}"):
        left.unlink(missing_ok=True)
    replace_file(target, _encoded(values), 0o600)


def _chosen_in_panel(home: Path) -> dict[str, Any]:
    """The settings that were chosen in Hermes' own panel, where a host stores its values itself. It writes
    every value that the panel shows, so one that equals the shown default counts as not chosen."""
    chosen = {}
    for name, value in root_of(home / _PANEL).items():
        key = c.find(name) if name in c.SHOWN else None
        if key is not None and not key.secret and value not in ("", None, c.shown_default(key)):
            chosen[name] = value
    return chosen


def _keep_panel_in_step(home: Path, changes: Mapping[str, Any]) -> None:
    """Let the panel show what a command changed, if it shows anything yet. Raises: StorageUnavailable."""
    content = root_of(home / _PANEL)
    kept = content | {name: value for name, value in changes.items() if name in content}
    if kept != content:
        text = json.dumps({name: value for name, value in kept.items() if value is not None}, indent=2)
        replace_file(home / _PANEL, text.encode(), 0o600)
