"""The provider's configuration: the settings, the files that say them, and how these are read and changed.

Each setting is declared once, as a field of `Configuration`: from that it is read, checked, explained in the
reference, shown by `status` and asked for. A wrong value of a setting that decides where memory goes turns
memory off: nothing may stand in for what was meant, since it could be somebody else's memory. Any other wrong
value gets a complaint, and its default is used.
"""

# ruff: noqa: RUF009 - a call in a field declares the setting, and is made once.

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from souvenance.agents.conversation_scope import Flags, Namespaces, Observation
from souvenance.agents.names import sanitised
from souvenance.decoders import settled
from souvenance.domain import names
from souvenance.domain.names import ALL
from souvenance.errors import InvalidInput, Misconfigured
from souvenance.files import UNFINISHED, locked, open_regular, others_may, replace_file, translated
from souvenance.hermes.host import default_home, user_home
from souvenance.hermes.token import Token, minting, token_of
from souvenance.patterns import pattern

Level = Literal["minimal", "low", "medium", "high", "max"]
LEVELS: tuple[Level, ...] = get_args(Level)
RecallMode = Literal["hybrid", "context", "tools"]
ModelChoice = Literal["server", "settings", "hermes", "declined", "not asked"]

NOT_NEEDED = (
    "queryRewrite",
    "initOnSessionStart",
    "writeFrequency",
    "contextCadence",
    "dialecticDepth",
    "dialecticDepthLevels",
    "reasoningHeuristic",
    "reasoningLevelCap",
    "firstTurnBaseWait",
    "firstTurnDialecticWait",
)
"""Settings of the bundled Honcho plugin that are accepted and have no use here."""
CLOUD = "https://api.honcho.dev"
"""Honcho's own server."""
USUAL_WAIT = 0.3
TASK = "souvenance"
"""What Hermes books the cost of its model under, and what config.yaml calls it: `auxiliary.souvenance`."""
TOKENS_PER_CONVERSATION = 3_000
"""About what one call costs. The prompt of a short typed chat has 1,600 to 2,100 tokens; what is known so far
and the reply come on top."""
PEER_NAME = pattern(r"[a-zA-Z0-9_-]{1,512}\Z")
"""What Honcho takes for the name of a peer or a workspace."""
NAME_WORDS = "1 to 512 of a-z, A-Z, 0-9, '_' and '-'"

OFF = "memory is off until it is corrected"

_MUCH = 1_000_000_000
_VISIBLE = pattern(r"[\x21-\x7e]*\Z")
_VERSION = pattern(r"/v[0-9]+/*\Z")
_Line = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f\ud800-\udfff]*\Z", description="a string of one line")]
_Secret = Annotated[
    str,
    Meta(pattern=r"^[\x21-\x7e]*\Z", description="a string of visible ASCII characters without spaces"),
]
_Name = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,512}\Z", description=NAME_WORDS)]
_Seconds = Annotated[float, Meta(ge=0, le=3600, description="seconds, at least 0 and at most 3600")]
_SomeSeconds = Annotated[float, Meta(gt=0, le=3600, description="seconds, above 0 and at most 3600")]
_AnyCount = Annotated[int, Meta(ge=0, le=_MUCH, description="a whole number, at least 0")]
_Count = Annotated[int, Meta(ge=1, le=_MUCH, description="a whole number, at least 1")]
_Limit = Annotated[int, Meta(ge=0, le=_MUCH, description="a whole number, at least 1, or 0 for no limit")]


class Complaint(Struct, frozen=True):
    """Something in a configuration that does not work as it is written. As a text it is one line."""

    file: Path | None
    """None for the environment."""
    key: str
    """The path of the setting, or the variable; empty for the whole file."""
    wrong: str
    hint: str = ""

    @property
    def switches_off(self) -> bool:
        """Whether nothing is remembered because of it."""
        return OFF in self.wrong

    def __str__(self) -> str:
        where = "environment" if self.file is None else str(self.file)
        text = f"{where}: {self.key}{' ' if self.key else ''}{self.wrong}."
        text = f"{text} {self.hint}" if self.hint else text
        return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)


def nearest(name: str, among: Iterable[str]) -> str | None:
    """The one that was probably meant."""
    import difflib

    folded = {_folded(one): one for one in among}
    found = difflib.get_close_matches(_folded(name), folded, n=1, cutoff=0.7) if len(name) <= 64 else []
    return folded[found[0]] if found else None


def _folded(name: str) -> str:
    return re.sub(r"[_\W]", "", name).lower()


def did_you_mean(found: str | None) -> str:
    return f'Did you mean "{found}"?' if found else ""


def said(value: Any) -> str:
    """A value in a few words, on one line."""
    match value:
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case str():
            return json.dumps(value, ensure_ascii=False) if len(value) <= 60 else "a long text"
        case _:
            text = json.dumps(value)
            return text if len(text) <= 20 else "a number"


def peer_name(text: str) -> str:
    """As the bundled Honcho plugin has it: '-' for every character that Honcho refuses. The text itself if
    that leaves nothing to tell it by."""
    name = re.sub(r"[^a-zA-Z0-9_-]", "-", text)
    return name if re.search("[a-zA-Z0-9]", name) else text


class ProviderSetting(Struct, frozen=True, kw_only=True):
    name: str
    """As in the file."""
    attribute: str
    """Its field in Configuration."""
    type: Any
    """What a value is converted to."""
    section: str
    says: str
    default: Any
    """None if there is none."""
    words: str
    """What a value must be."""
    choices: tuple[str, ...] = ()
    reads: Callable[[Any], Any] | None = None
    """Reads a value in place of the type. Raises: InvalidInput, or ValidationError."""
    default_text: str = ""
    """The default in words, where it depends on other things."""
    aliases: tuple[str, ...] = ()
    older: Mapping[str, str] = {}
    """Older names of the choices."""
    variable: str | None = None
    """The environment variable that can be set instead."""
    secret: bool = False
    guards: bool = False
    """Whether it decides where memory goes or what it may reach, so that no default may stand in for a
    value that can't be used: memory is off instead."""

    @property
    def default_value(self) -> Any:
        """None if there is none, or if it depends on other things."""
        return None if self.default_text else self.default

    def read(self, value: Any) -> Any:
        """What it takes the value for; None for the default. Raises: InvalidInput."""
        value = value.strip() if isinstance(value, str) else value
        if value == "" and self.reads is None:
            return None
        if self.choices and isinstance(value, str):
            value = self.older.get(value.lower(), value.lower())
        try:
            if self.reads is not None:
                return self.reads(value)
            return msgspec.convert(value, type=settled(self.type), strict=False)
        except msgspec.ValidationError:
            hidden = self.secret or self.reads is not None or isinstance(value, dict)
            shown = "" if hidden else f", not {said(value)}"
            hint = did_you_mean(self._nearest(value))
            raise InvalidInput(f"must be {self.words}{shown}", hint=hint) from None

    def _nearest(self, value: Any) -> str | None:
        """What was probably meant by a text."""
        if not isinstance(value, str):
            return None
        if self.words != NAME_WORDS:
            return nearest(value, self.choices)
        name = peer_name(value)[:512]
        return name if PEER_NAME.match(name) and len(value) <= 60 else None


def setting(default: Any, says: str, **more: Any) -> Any:
    """A field that is a setting; `more` is as in `ProviderSetting`. Its name in the file is the field's in
    camel case, what it takes is the field's type. MISSING is the default where the host decides; `begins`
    names the part of the reference that begins with it.
    """
    declared = {"says": says, **more}
    if default == {}:
        return dataclasses.field(default_factory=dict, metadata=declared)
    return dataclasses.field(default=default, metadata=declared)


def _address(value: Any) -> str | None:
    """Says nothing of the value, which may hold a password."""
    text = value if isinstance(value, str) else "-"
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if text and (not sound or parts.query or parts.fragment or not _VISIBLE.match(text)):
        raise InvalidInput("must be an http or https address", hint="For example http://127.0.0.1:8787.")
    return _VERSION.sub("", text).rstrip("/") or None


def is_near(url: str | None) -> bool:
    """Whether a server is on this machine, or on a network that is not public."""
    host = urlsplit(url).hostname if url else None
    if host is None or host == "localhost":
        return host is not None
    try:
        return not ip_address(host).is_global
    except ValueError:
        return False


def _grant(value: Any) -> dict[str, Any] | None:
    return msgspec.convert(value, dict[str, Any]) or None


_Flags = dict[Literal["observeMe", "observeOthers"], bool]


def _flags(value: Any) -> dict[str, _Flags]:
    """The flags that are given; those that are missing are left to the mode."""
    given = msgspec.convert(value, settled(dict[Literal["user", "ai"], _Flags | None]), strict=False)
    return {side: flags for side, flags in given.items() if flags is not None}


class _GivenNamespaces(Struct, forbid_unknown_fields=True):
    read: str | list[str] | None = None
    write: str | None = None


def _namespaces(value: Any) -> Namespaces:
    given = msgspec.convert(value, type=settled(str | list[str] | _GivenNamespaces))
    if not isinstance(given, _GivenNamespaces):
        several = [given] if isinstance(given, str) else given
        given = _GivenNamespaces(several, several[0] if several else None)
    reads = [given.read] if isinstance(given.read, str) else given.read or []
    write = None if given.write is None else _namespace(given.write)
    return Namespaces(tuple(dict.fromkeys(map(_namespace, reads))), write)


def _namespace(text: str) -> str:
    try:
        return names.namespace(text.strip())
    except InvalidInput as error:
        raise InvalidInput(f"holds {said(text)}, but a {error.detail}", hint="") from None


@dataclass(frozen=True, kw_only=True)
class Configuration:
    home: Path
    """The profile's HERMES_HOME."""
    host: str
    """The key of the profile's block under `hosts`."""
    file: Path | None = None
    """Where it was read from."""
    token: Token | None = None
    """What the key grants, if it is a capability token."""

    enabled: bool = setting(True, "Whether this profile has memory at all.", guards=True, begins="Connection")
    base_url: str | None = setting(
        None,
        "The server to use, Souvenance's or Honcho's. A version at the end of it is cut off.",
        default_text="none: the store",
        reads=_address,
        words="an http or https address",
        aliases=("base_url",),
        variable="HONCHO_BASE_URL",
        guards=True,
    )
    api_key: _Secret | None = setting(
        None,
        "The key for the server: without baseUrl, for Honcho's cloud. To a baseUrl on this "
        "machine or its network a key is sent only if it stands in the host's block. A key in the "
        "environment alone is not used: memory stays on this machine until baseUrl or environment says "
        "where the key belongs.",
        default_text="none",
        variable="HONCHO_API_KEY",
        secret=True,
        guards=True,
    )
    oauth: Mapping[str, Any] | None = setting(
        None,
        "The grant that signing in leaves here. It is renewed by itself; do not edit it.",
        reads=_grant,
        words="an object",
        default_text="none",
        secret=True,
        guards=True,
    )
    environment: Literal["production", "local"] | None = setting(
        None,
        "Which server if no baseUrl names one: Honcho's cloud, which needs a key, or port 8000 of this "
        "machine.",
        default_text="none",
        variable="HONCHO_ENVIRONMENT",
        guards=True,
    )
    timeout: _SomeSeconds = setting(
        30.0,
        "How long a request to the server, or a tool of the model, may take.",
        aliases=("requestTimeout",),
        variable="HONCHO_TIMEOUT",
    )
    store: Path = setting(
        MISSING,
        "The data folder of the memory in this process, for a profile without a server. Its souvenance.toml "
        "counts as for a server.",
        type=_Line,
        words="a path",
        default_text="$HERMES_HOME/souvenance",
        guards=True,
    )
    workspace: _Name = setting(
        MISSING,
        "The workspace. Profiles that name the same one know the same people.",
        default_text="the host's key",
    )
    namespaces: Namespaces = setting(
        Namespaces(),
        "What may be read, and the one that is written to. A name alone stands for both; of a list all "
        "are read and the first is written to. What is not named is not granted.",
        reads=_namespaces,
        words='a namespace, a list of them, or an object of "read" (a list) and "write" (one or null)',
        guards=True,
    )

    peer_name: _Name | None = setting(
        None,
        "The peer of the profile's owner: who speaks where no platform says who does.",
        default_text="none",
        begins="People",
    )
    ai_peer: _Name = setting(
        MISSING,
        "The peer of the agent, which must not be a person's.",
        default_text="the host's key",
    )
    pin_user_peer: bool = setting(
        False,
        "Treats everyone who writes, on every platform, as peerName. Only for an agent that its owner "
        "alone talks to.",
        aliases=("pinPeerName",),
    )
    user_peer_aliases: Mapping[str, _Name] = setting(
        {},
        "The peer of each id that a platform gives a person, so that several ids are one person.",
        words="an object of names of peers by id",
    )
    runtime_peer_prefix: _Line = setting(
        "",
        "What the peers of people without an alias begin with, so that equal ids of two platforms stay "
        "two people.",
    )

    recall_mode: RecallMode = setting(
        "hybrid",
        'How memory reaches the model: shown to it ("context"), asked for by it ("tools"), or both. '
        'The old "auto" is "hybrid".',
        older={"auto": "hybrid"},
        begins="Recall",
    )
    tool_names: Literal["souvenance", "honcho"] = setting(
        "souvenance", "What the names of the tools begin with."
    )
    observation_mode: Literal["directional", "unified"] = setting(
        "directional",
        'Who learns about whom. "directional": both about themselves and each other; "unified": both '
        "about the user only.",
        older={"shared": "unified", "separate": "directional", "cross": "directional"},
    )
    observation: Observation = setting(
        Observation(),
        "The same, one by one. A flag that is given here wins over the mode.",
        reads=_flags,
        words='an object of "user" and "ai", each with "observeMe" and "observeOthers"',
        default_text="as observationMode",
    )

    save_messages: bool = setting(True, "Whether what is said is kept.", begins="Writing")
    group_chats: bool = setting(
        True,
        "Whether chats of several people have memory. Off, nothing is saved or recalled there.",
    )
    message_max_chars: Annotated[int, Meta(ge=20, le=_MUCH, description="a whole number, at least 20")] = (
        setting(25_000, "How long a message may be. A longer one is written in pieces.")
    )

    session_strategy: Literal["per-directory", "per-session", "per-repo", "global"] = setting(
        "per-directory",
        "What shares a session on the command line: a directory, a run, a git repository or everything. "
        "A platform's chat is always a session of its own.",
        begins="Sessions",
    )
    session_peer_prefix: bool = setting(False, "Begins the name of every session with the peer's.")
    sessions: Mapping[str, _Line] = setting(
        {},
        "Names for the sessions of some directories, whatever the strategy would call them.",
        words="an object of names of sessions by directory",
    )

    dialectic_reasoning_level: Level = setting(
        "low", "How hard a question about the user is thought about.", begins="Dialectic"
    )
    dialectic_dynamic: bool = setting(
        True, "Whether the model may choose the level itself when it asks by tool."
    )

    dialectic_max_chars: _Limit = setting(
        600,
        "How many characters of an answer are shown to a model that did not ask.",
        begins="Budgets",
    )
    dialectic_max_input_chars: _Count = setting(
        10_000, "How many characters a question may have; the rest is cut off."
    )
    # The default is under a tenth of what the host's own prompt and tools take.
    context_tokens: _Limit = setting(
        1200,
        "How many tokens of memory are shown in one turn, at four characters each.",
    )

    dialectic_cadence: _Count = setting(
        1, "Every how many turns a question about the user is put to memory.", begins="Pace"
    )
    injection_frequency: Literal["every-turn", "first-turn"] = setting(
        "every-turn",
        "Whether memory is shown in every turn or in the first alone.",
    )
    recall_wait: _Seconds | None = setting(
        None,
        "How long a turn waits for its memory at most; once it is set, the first of a process too. "
        "Where it is not, and memory has told something, the answer about the user comes with the next turn.",
        default_text="0.3, and 3 while memory in this process is loaded",
    )

    host_model: bool | None = setting(
        None,
        "Whether Hermes' own model reads finished conversations in the background and notes what they "
        "tell about you. Off means quotes only. Memory on a server uses the server's model instead.",
        default_text="off until setup has asked",
        begins="Hermes' own model",
    )
    host_model_calls_per_day: _AnyCount = setting(
        40, "How often Hermes' model is asked in a day, in UTC, at most."
    )
    host_model_tokens_per_day: _AnyCount = setting(
        100_000,
        "How many tokens that may cost in a day, prompts and replies together.",
    )

    @property
    def patience(self) -> float:
        """How many seconds a turn waits for memory."""
        return USUAL_WAIT if self.recall_wait is None else self.recall_wait

    @property
    def pins(self) -> bool:
        """Whether every speaker counts as the owner."""
        return self.pin_user_peer and bool(self.peer_name)

    @property
    def url(self) -> str | None:
        """The server to use; None for the embedded store."""
        if self.base_url is not None:
            return self.base_url
        if self.environment == "local":
            return "http://localhost:8000"
        cloud = self.environment or self.api_key or self.oauth
        return CLOUD if cloud else None

    def value(self, name: str) -> Any:
        """The value of the setting that has that name in the file."""
        return getattr(self, _SPELLINGS[name].attribute)

    def model_choice(self, *, configured: bool) -> ModelChoice:
        """Which model reads what was said. A server has its own. One that the settings of the store name
        (`configured`) comes before Hermes' own."""
        if self.url is not None:
            return "server"
        if configured:
            return "settings"
        if self.host_model is None:
            return "not asked"
        return "hermes" if self.host_model else "declined"


def _settings() -> Iterator[ProviderSetting]:
    types, section = get_type_hints(Configuration, include_extras=True), ""
    for one in dataclasses.fields(Configuration):
        if not one.metadata:
            continue
        declared = {"type": types[one.name], **one.metadata}
        section = declared.pop("begins", section)
        choices, words = _described(declared["type"])
        first, *rest = one.name.split("_")
        default = {} if one.default_factory is dict else None if one.default is MISSING else one.default
        yield ProviderSetting(
            name=first + "".join(map(str.title, rest)),
            attribute=one.name,
            section=section,
            default=default,
            choices=choices,
            **{"words": words, **declared},
        )


def _described(declared: Any) -> tuple[tuple[str, ...], str]:
    """The choices that a type leaves, and what it takes in words."""
    for one in (declared, *get_args(declared)):
        if get_origin(one) is Literal:
            *most, last = [f'"{choice}"' for choice in get_args(one)]
            return get_args(one), f"{', '.join(most)} or {last}"
        for meta in getattr(one, "__metadata__", ()):
            return (), meta.description
    return (), "true or false"


KEYS = tuple(_settings())
"""Every setting, in the order of the reference."""

_SPELLINGS = {spelling: key for key in KEYS for spelling in (key.name, *key.aliases)}


def find(name: str) -> ProviderSetting | None:
    """The setting of that name, or of that legacy spelling."""
    return _SPELLINGS.get(name)


def nearest_key(name: str) -> str | None:
    """The name of the setting that was probably meant."""
    found = nearest(name, _SPELLINGS)
    return _SPELLINGS[found].name if found else None


def known(name: str) -> ProviderSetting:
    """The setting of that name. Raises: InvalidInput."""
    key = find(name)
    if key is None:
        hint = "It has no use here." if name in NOT_NEEDED else did_you_mean(nearest_key(name))
        raise InvalidInput(f"{name} is not a setting", hint=hint)
    return key


def taken(name: str, value: Any) -> Any:
    """What the setting of that name takes the value for. Raises: InvalidInput."""
    key = known(name)
    try:
        return key.read(value)
    except InvalidInput as wrong:
        raise InvalidInput(f"{name} {wrong.detail}", hint=wrong.hint) from None


FILE = "souvenance.json"
HOST_VARIABLE = "HERMES_HONCHO_HOST"
KEY_VARIABLE = "HONCHO_API_KEY"
DEFAULT_HOST = "hermes"

_VARIABLES = {key.variable for key in KEYS if key.variable}
_PEERS = ("peerName", "aiPeer", "userPeerAliases")
_STRUCTURE = ("hosts", "defaultHost")
_MOST_COMPLAINTS = 30
_LONGEST_KEY = 200
_HONCHO = "honcho.json"
_LOCK = ".souvenance.lock"
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
    """A place where settings stand."""

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
    """The blocks of all hosts, by their names."""
    hosts = values.get("hosts")
    return hosts if isinstance(hosts, dict) else {}


def _levels_in(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in (values, *blocks_of(values).values()) if isinstance(one, dict)]


def block_name(values: Mapping[str, Any], host: str) -> str:
    """The name under which a file has the block of a host, or would have it; `hermes.coder` is older."""
    blocks, older = blocks_of(values), host.replace(f"{DEFAULT_HOST}_", f"{DEFAULT_HOST}.", 1)
    return older if older in blocks and blocks.get(host) is None else host


def block_of(values: Mapping[str, Any], host: str) -> dict[str, Any] | None:
    """The block of a host; None if it has none."""
    block = blocks_of(values).get(block_name(values, host))
    return block if isinstance(block, dict) else None


def interpret(
    document: Document, home: Path, profile: str, environment: Mapping[str, str]
) -> tuple[Configuration, list[Complaint]]:
    """The configuration of the profile with that home."""
    reading = _DocumentReader(document)
    host = environment.get(HOST_VARIABLE, "").strip()
    if not host:
        host = host_of(profile)
        host = reading.default_host() if host == DEFAULT_HOST else host
    return reading.configuration(home, host, environment), reading.complaints


class _DocumentReader:
    """One reading of a document."""

    def __init__(self, document: Document) -> None:
        self.complaints: list[Complaint] = []
        self._document = document
        self._closed = False

    def default_host(self) -> str:
        """The host that the file names for profiles without a name."""
        value = self._document.values.get("defaultHost")
        if value is None or isinstance(value, str):
            return (value or "").strip() or DEFAULT_HOST
        self._complain("defaultHost", f"must be a string, not {said(value)}; the default is used")
        return DEFAULT_HOST

    def configuration(self, home: Path, host: str, environment: Mapping[str, str]) -> Configuration:
        levels = self._levels(home, host, environment)
        found = {key.name: stated for key in KEYS if (stated := self._stated(key, levels))}
        values = _named_after(host, home)
        for key in KEYS:
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
        return Configuration(home=home, host=host, file=self._document.path, **values)

    def _complain(self, key: str, wrong: str, hint: str = "", *, variable: bool = False) -> None:
        if len(self.complaints) == _MOST_COMPLAINTS:
            self.complaints.append(Complaint(self._document.path, "", "has more that does not work"))
        if len(self.complaints) > _MOST_COMPLAINTS:
            return
        key = key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}..."
        self.complaints.append(Complaint(None if variable else self._document.path, key, wrong, hint))

    def _levels(self, home: Path, host: str, environment: Mapping[str, str]) -> tuple[_Level, ...]:
        """Where settings stand, the nearest first: the host's block, the root, the environment."""
        root = self._document.values
        hosts = self._object("hosts", root.get("hosts"))
        block = block_name(root, host)
        path = f"hosts.{block}"
        return (
            _Level(f"{path}.", {**self._object(path, hosts.get(block)), **chosen_in_panel(home)}),
            _Level("", root),
            _Level("", {name: environment[name] for name in _VARIABLES if environment.get(name, "").strip()}),
        )

    def _object(self, key: str, value: Any) -> dict[str, Any]:
        if isinstance(value, dict):
            return value
        if value is not None:
            self._closed = True
            self._complain(key, f"must be an object, not {said(value)}; {OFF}")
        return {}

    def _stated(self, key: ProviderSetting, levels: tuple[_Level, ...]) -> _Stated | None:
        """What the nearest level says of the setting; None if no level does, or nothing that can be used."""
        for level in levels:
            variable = level is levels[-1]
            for spelling in (key.variable,) if variable else (key.name, *key.aliases):
                if spelling is None or (given := level.values.get(spelling)) is None:
                    continue
                path = f"{level.path}{spelling}"
                try:
                    value = key.read(self._respelled(path, given) if key.name in _PEERS else given)
                except InvalidInput as wrong:
                    self._closed |= key.guards
                    then = OFF if key.guards else "the default is used"
                    self._complain(path, f"{wrong.detail}; {then}", wrong.hint, variable=variable)
                    return None
                return _Stated(value, given, level, path)
        return None

    def _respelled(self, path: str, given: Any) -> Any:
        """Names of peers as Honcho's plugin spells them. Among aliases, what is no name is left out."""
        if isinstance(given, dict):
            spelled = {one.strip(): self._respelled(f"{path}.{one}", name) for one, name in given.items()}
            names = {one for one, name in spelled.items() if isinstance(name, str) and PEER_NAME.match(name)}
            for one in [one for one in spelled if one not in names]:
                self._complain(f"{path}.{one}", f"must be {NAME_WORDS}, and is left out")
            return {one: name for one, name in spelled.items() if one and one in names}
        name = peer_name(given.strip()) if isinstance(given, str) else given
        if isinstance(given, str) and name != given.strip():
            wrong = f"must be spelled {said(name)}, and is used so"
            self._complain(path, wrong, f"A name is {NAME_WORDS}.")
        return name

    def _leave_sign_in(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        """A refresh token works once, so only one program may use it: of Honcho's files, Honcho's plugin."""
        path = self._document.path
        if path is None or path.name == FILE or not values.pop("oauth", None):
            return
        values.pop("api_key", None)
        self._closed = True
        wrong = f"is a sign-in of Honcho's plugin, which only that renews; {OFF}"
        server = values.get("base_url") or CLOUD
        self._complain(found["oauth"].path, wrong, f"Sign in here: souvenance login --url {server}")

    def _part_from_agent(self, values: dict[str, Any], found: dict[str, _Stated], host: str) -> None:
        """The agent and its owner are two."""
        if values.get("peer_name") != values["ai_peer"]:
            return
        name = _named_after(host, Path())["ai_peer"]
        values["ai_peer"] = name if name != values["peer_name"] else f"{name}-ai"
        self._complain(
            (found.get("aiPeer") or found["peerName"]).path,
            f"makes the agent and its owner one peer; the agent is {said(values['ai_peer'])} instead",
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
                who = "the agent" if name == values["ai_peer"] else f"another name, {said(name)}"
                self._complain(f"{stated.path}.{one}", f"would be the same peer as {who}, and is left out")

    def _withhold_key(
        self, values: dict[str, Any], found: dict[str, _Stated], levels: tuple[_Level, ...]
    ) -> None:
        """No server gets a key that may be meant for another one, and no key decides where memory goes."""
        key, addressed = found.get("apiKey"), any(map(values.get, ("base_url", "environment", "oauth")))
        if key is None or not values.get("api_key"):
            return
        if key.level is levels[-1] and not addressed:
            wrong = "is not used: nothing says which server it is for, so memory stays on this machine"
            hint = "Choose: souvenance hermes setup --cloud, or souvenance hermes setup --embedded"
        elif key.level is not levels[0] and is_near(values.get("base_url")):
            wrong = "is not sent to a baseUrl on this machine or its network"
            hint = f"If it is meant for that server, move it to {levels[0].path}apiKey."
        else:
            return
        del values["api_key"]
        self._complain(key.path, wrong, hint, variable=key.level is levels[-1])

    def _miss_key(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        """Honcho's cloud without a key: nothing is sent there."""
        named = found.get("baseUrl") if values.get("base_url") else found.get("environment")
        if named is None or named.value not in (CLOUD, "production"):
            return
        if values.get("api_key") or values.get("oauth"):
            return
        self._closed = True
        wrong = f"names Honcho's cloud, and there is no key for it; {OFF}"
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
        for key in KEYS:
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
            wrong = f"is a token that lacks something: {'; '.join(lacks)}{f'; {OFF}' if unfit else ''}"
            self._complain(stated.path, wrong, hint, variable=stated.path == KEY_VARIABLE)

    def _warn(self, values: dict[str, Any], found: dict[str, _Stated]) -> None:
        if values.get("pin_user_peer") and not values.get("peer_name"):
            self._complain(found["pinUserPeer"].path, "has no effect without peerName", "Set peerName too.")
        keyed = any(one.get("apiKey") or one.get("oauth") for one in _levels_in(self._document.values))
        if self._document.exposed and keyed:
            hint = f"Run: chmod 600 {self._document.path}"
            self._complain("", "holds a key, and others on this machine can open it", hint)

    def _tell_unknown(self, level: _Level) -> None:
        ours = NOT_NEEDED if level.path else (*NOT_NEEDED, *_STRUCTURE)
        unknown = [name for name in level.values if find(name) is None and name not in ours]
        for name in unknown[: _MOST_COMPLAINTS + 1]:
            meant = nearest_key(name)
            if meant or level.path or not self._document.shared:
                self._complain(f"{level.path}{name}", "is not a setting", did_you_mean(meant))


def _named_after(host: str, home: Path) -> dict[str, Any]:
    """What has its name from the host unless another is given."""
    name = host
    if not PEER_NAME.match(host):
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
) -> tuple[Configuration, list[Complaint]]:
    """The configuration of the profile with that HERMES_HOME, and what in it does not work.

    A home in a folder `profiles` is that of the profile it is named after, whatever `profile` says.
    """
    path, shared = _in_force(home, environment)
    profile = home.name if home.parent.name == "profiles" else profile
    try:
        document = _load(path, shared=shared) if path else Document()
    except Misconfigured as reason:
        host = environment.get(HOST_VARIABLE, "").strip() or host_of(profile)
        off = Configuration(home=home, host=host, file=path, enabled=False, **_named_after(host, home))
        return off, [Complaint(path, "", f"{reason}; {OFF}")]
    configuration, complaints = interpret(document, home, profile, environment)
    own = home / _HONCHO
    if path and path.name == FILE and path.parent != home and os.path.lexists(own):
        complaints.append(Complaint(path, "", f"comes before {own}, which is not read"))
    return configuration, complaints


def _in_force(home: Path, environment: Mapping[str, str]) -> tuple[Path | None, bool]:
    """The file that counts, even one that can't be looked at; and whether it is other programs' too."""
    homes = dict.fromkeys((home, default_home(home, environment)))
    shared = Path(user_home(environment) or os.devnull, ".honcho", "config.json")
    places = [*(one / name for name in (FILE, _HONCHO) for one in homes), shared]
    return (found := next(filter(_is_there, places), None)), found == shared


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
        raise Misconfigured(f"must be an object, not {said(values)}")
    return Document(path, values, others_may(status), shared)


def root_of(file: Path | None) -> dict[str, Any]:
    """Everything in the file, before anything is made of it; nothing if it can't be read."""
    try:
        return _load(file).values if file is not None else {}
    except Misconfigured:
        return {}


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
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Change settings of the host, or those of all hosts; None takes one out. The file that then counts.

    What Honcho's own files hold is copied, but for sign-ins.

    Raises: InvalidInput for a value that the setting does not take; Misconfigured if the file that counts
    can't be read; StorageUnavailable.
    """
    environment = os.environ if environment is None else environment
    wanted = {known(name).name: _checked(name, value) for name, value in changes.items()}
    with _alone(home, environment, make=True):
        path, shared = _in_force(home, environment)
        values = _values_of(path, shared)
        if path and path.name != FILE:
            _leave_out_sign_ins(values)
        mixed = _mixed_up(values, home, host)
        _change(values, host, wanted, root=root)
        for complaint in _mixed_up(values, home, host) - mixed:
            raise Misconfigured(f"{complaint.key} {complaint.wrong}", hint=complaint.hint)
        target = path if path and path.name == FILE else home / FILE
        _replace(target, values)
        keep_panel_in_step(home, wanted)
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
    read = taken(name, plain)
    return read if isinstance(plain, str) and isinstance(read, bool | int | float | str) else plain


def _values_of(path: Path | None, shared: bool = False) -> dict[str, Any]:
    """What a file to be changed holds; of one that is other programs' too, only what is ours."""
    try:
        values = _load(path).values if path else {}
    except Misconfigured as reason:
        raise Misconfigured(f"{path} {reason}", hint="Correct it, or move it out of the way.") from None
    ours = (*NOT_NEEDED, *_STRUCTURE)
    return {name: value for name, value in values.items() if not shared or find(name) or name in ours}


def _change(values: dict[str, Any], host: str, changes: Mapping[str, Any], *, root: bool) -> None:
    level = values if root else _block(values, host)
    for name, value in changes.items():
        for spelling in (name, *known(name).aliases):
            if value is None or spelling != name:
                level.pop(spelling, None)
        if value is not None:
            level[name] = value


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


def _mixed_up(values: dict[str, Any], home: Path, host: str) -> set[Complaint]:
    """Where two people, or a person and the agent, would be one."""
    complaints = interpret(Document(None, values), home, "", {HOST_VARIABLE: host})[1]
    return {one for one in complaints if not set(_PEERS).isdisjoint(one.key.split("."))}


def _replace(path: Path, values: dict[str, Any]) -> None:
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{target.name}.*{UNFINISHED}"):
        left.unlink(missing_ok=True)
    replace_file(target, _encoded(values), 0o600)


SHOWN = (
    *("baseUrl", "apiKey", "timeout", "peerName", "recallMode", "saveMessages", "groupChats"),
    *("sessionStrategy", "contextTokens", "injectionFrequency", "recallWait"),
    *("hostModel", "hostModelCallsPerDay", "hostModelTokensPerDay"),
)
"""The settings in the panel. Secrets among them are kept by the host, in the environment."""


def shown_default(key: ProviderSetting) -> Any:
    """What the panel shows of a setting without a choice: a switch without a default shows off."""
    return False if key.words == "true or false" and key.default is None else key.default_value


def chosen_in_panel(home: Path) -> dict[str, Any]:
    """The settings that were chosen there; none if there is no file that can be read."""
    chosen = {}
    for name, value in _content(home).items():
        key = find(name) if name in SHOWN else None
        if key is not None and not key.secret and value not in ("", None, shown_default(key)):
            chosen[name] = value
    return chosen


def keep_panel_in_step(home: Path, changes: Mapping[str, Any]) -> None:
    """Let the panel show what a command changed, if it shows anything yet. Raises: StorageUnavailable."""
    content = _content(home)
    kept = content | {name: value for name, value in changes.items() if name in content}
    if kept != content:
        text = json.dumps({name: value for name, value in kept.items() if value is not None}, indent=2)
        replace_file(_file(home), text.encode(), 0o600)


def _file(home: Path) -> Path:
    return home / "souvenance" / "config.json"


def _content(home: Path) -> dict[str, Any]:
    try:
        content = json.loads(_file(home).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
