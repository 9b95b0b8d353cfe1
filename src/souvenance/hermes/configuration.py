"""The provider's configuration. Each setting is declared once, as a field of `Configuration`: from that it is
read, checked, explained in the reference, shown by `status` and asked for."""

# ruff: noqa: RUF009 - a call in a field declares the setting, and is made once.

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from souvenance.agents.conversation_scope import Namespaces, Observation
from souvenance.decoders import settled
from souvenance.domain import names
from souvenance.errors import InvalidInput
from souvenance.hermes.token import Token
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
UNUSED_KEY = (
    "is not used: nothing says which server it is for, so memory stays on this machine",
    "Choose: souvenance hermes setup --cloud, or souvenance hermes setup --embedded",
)

_MUCH = 1_000_000_000
_VISIBLE = pattern(r"[\x21-\x7e]*\Z")
_VERSION = pattern(r"/v[0-9]+/*\Z")
_Line = Annotated[str, Meta(pattern=r"^[^\x00-\x1f\x7f\ud800-\udfff]*\Z", description="a string of one line")]
_Secret = Annotated[
    str, Meta(pattern=r"^[\x21-\x7e]*\Z", description="a string of visible ASCII characters without spaces")
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
    kept_as: str | None = None
    """The variable in which Hermes' own panel keeps it: it is meant for the server of this profile."""
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
        return field(default_factory=dict, metadata=declared)
    return field(default=default, metadata=declared)


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
        "environment alone, or at the root of ~/.honcho/config.json, is not used: memory stays on this "
        "machine until baseUrl or environment says where the key belongs.",
        default_text="none",
        variable="HONCHO_API_KEY",
        kept_as="HERMES_SOUVENANCE_API_KEY",
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
        MISSING, "The peer of the agent, which must not be a person's.", default_text="the host's key"
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
        True, "Whether chats of several people have memory. Off, nothing is saved or recalled there."
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
        600, "How many characters of an answer are shown to a model that did not ask.", begins="Budgets"
    )
    dialectic_max_input_chars: _Count = setting(
        10_000, "How many characters a question may have; the rest is cut off."
    )
    # The default is under a tenth of what the host's own prompt and tools take.
    context_tokens: _Limit = setting(
        1200, "How many tokens of memory are shown in one turn, at four characters each."
    )

    dialectic_cadence: _Count = setting(
        1, "Every how many turns a question about the user is put to memory.", begins="Pace"
    )
    injection_frequency: Literal["every-turn", "first-turn"] = setting(
        "every-turn", "Whether memory is shown in every turn or in the first alone."
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
        100_000, "How many tokens that may cost in a day, prompts and replies together."
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
        return CLOUD if self.environment or self.api_key or self.oauth else None

    def value(self, name: str) -> Any:
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
    for one in fields(Configuration):
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
    return _SPELLINGS.get(name)


def nearest_key(name: str) -> str | None:
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


SHOWN = (
    *("baseUrl", "apiKey", "timeout", "peerName", "recallMode", "saveMessages", "groupChats"),
    *("sessionStrategy", "contextTokens", "injectionFrequency", "recallWait"),
    *("hostModel", "hostModelCallsPerDay", "hostModelTokensPerDay"),
)
"""The settings in Hermes' own panel. Secrets among them are kept by the host, in the environment."""


def shown_default(key: ProviderSetting) -> Any:
    """What the panel shows of a setting without a choice: a switch without a default shows off."""
    return False if key.words == "true or false" and key.default is None else key.default_value
