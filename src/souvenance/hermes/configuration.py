"""The provider's configuration. Each setting is declared once, as a field of `Configuration`: from that it is
read, checked, explained in the reference, shown by `status` and asked for."""

# ruff: noqa: RUF009 - a call in a field declares the setting, and is made once.

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.json import encode

from souvenance.agents.conversation_scope import Namespaces, Observation
from souvenance.errors import InvalidInput
from souvenance.hermes import setting_types as t
from souvenance.hermes.setting_types import LEVELS, Level, SettingType, seconds, whole
from souvenance.hermes.token import Token

RecallMode = Literal["hybrid", "context", "tools"]
SessionStrategy = Literal["per-directory", "per-session", "per-repo", "global"]
InjectionFrequency = Literal["every-turn", "first-turn"]
WriteFrequency = Literal["async", "turn", "session"] | int
ToolNames = Literal["souvenance", "honcho"]
Environment = Literal["production", "local"]
ModelChoice = Literal["server", "settings", "hermes", "declined", "not asked"]

NOT_NEEDED = ("queryRewrite", "initOnSessionStart")
"""Settings of the bundled Honcho plugin that are accepted and have no use here."""
USUAL_WAIT = 0.3
TASK = "souvenance"
"""What Hermes books the cost of its model under, and what config.yaml calls it: `auxiliary.souvenance`."""
TOKENS_PER_CONVERSATION = 3_000
"""About what one call costs. The prompt of a short typed chat has 1,600 to 2,100 tokens; what is known so far
and the reply come on top."""

_SECTIONS = {
    "enabled": "Connection",
    "peer_name": "People",
    "recall_mode": "Recall",
    "write_frequency": "Writing",
    "session_strategy": "Sessions",
    "dialectic_depth": "Dialectic",
    "dialectic_max_chars": "Budgets",
    "context_cadence": "Pace",
    "host_model": "Hermes' own model",
}
"""The parts of the reference, by the first setting of each."""


class ProviderSetting(Struct, frozen=True, kw_only=True):
    name: str
    """As in the file."""
    attribute: str
    """Its field in Configuration."""
    kind: SettingType
    section: str
    says: str
    default: Any
    """None if there is none."""
    default_text: str = ""
    """The default in words, where it depends on other things."""
    aliases: tuple[str, ...] = ()
    variable: str | None = None
    """The environment variable that stands in for it."""
    guards: bool = False
    """Whether it decides where memory goes or what it may reach, so that no default may stand in for a
    value that can't be used: memory is off instead."""

    @property
    def default_value(self) -> Any:
        """None if there is none, or if it depends on other things."""
        return None if self.default_text else self.default

    @property
    def default_words(self) -> str:
        value = self.default_value
        return self.default_text or ("" if value is None else encode(value).decode())


def setting(kind: SettingType, default: Any, says: str, **more: Any) -> Any:
    """A field that is a setting; `more` is as in `ProviderSetting`. Its name in the file is the field's in
    camel case. MISSING is the default where the host decides.
    """
    declared = {"kind": kind, "says": says, **more}
    if default == {}:
        return field(default_factory=dict, metadata=declared)
    return field(default=default, metadata=declared)


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

    enabled: bool = setting(t.FLAG, True, "Whether this profile has memory at all.", guards=True)
    base_url: str | None = setting(
        t.ADDRESS,
        None,
        "The server to use, Souvenance's or Honcho's. A version at the end of it is cut off.",
        default_text="none: the store",
        aliases=("base_url",),
        variable="HONCHO_BASE_URL",
        guards=True,
    )
    api_key: str | None = setting(
        t.SECRET,
        None,
        "The key for the server: without baseUrl, for Honcho's cloud. To a baseUrl on this "
        "machine or its network a key is sent only if it stands in the host's block. A key in the "
        "environment alone is not used: memory stays on this machine until baseUrl or environment says "
        "where the key belongs.",
        default_text="none",
        variable="HONCHO_API_KEY",
        guards=True,
    )
    oauth: Mapping[str, Any] | None = setting(
        t.OBJECT,
        None,
        "The grant that signing in leaves here. It is renewed by itself; do not edit it.",
        default_text="none",
        guards=True,
    )
    environment: Environment | None = setting(
        t.choice(*get_args(Environment)),
        None,
        "Which server if no baseUrl names one: Honcho's cloud, which needs a key, or port 8000 of this "
        "machine.",
        default_text="none",
        variable="HONCHO_ENVIRONMENT",
        guards=True,
    )
    timeout: float = setting(
        seconds(above_zero=True),
        30.0,
        "How long a request to the server, or a tool of the model, may take.",
        aliases=("requestTimeout",),
        variable="HONCHO_TIMEOUT",
    )
    store: Path = setting(
        t.PATH,
        MISSING,
        "The data folder of the memory in this process, for a profile without a server. Its souvenance.toml "
        "counts as for a server.",
        default_text="$HERMES_HOME/souvenance",
        guards=True,
    )
    workspace: str = setting(
        t.NAME,
        MISSING,
        "The workspace. Profiles that name the same one know the same people.",
        default_text="the host's key",
    )
    namespaces: Namespaces = setting(
        t.NAMESPACES,
        Namespaces(),
        "What may be read, and the one that is written to. A name alone stands for both; of a list all "
        "are read and the first is written to. What is not named is not granted.",
        guards=True,
    )

    peer_name: str | None = setting(
        t.PEER,
        None,
        "The peer of the profile's owner: who speaks where no platform says who does.",
        default_text="none",
    )
    ai_peer: str = setting(
        t.PEER,
        MISSING,
        "The peer of the agent, which must not be a person's.",
        default_text="the host's key",
    )
    pin_user_peer: bool = setting(
        t.FLAG,
        False,
        "Takes everybody who writes, on every platform, for peerName. Only for an agent that nobody but "
        "its owner talks to.",
        aliases=("pinPeerName",),
    )
    user_peer_aliases: Mapping[str, str] = setting(
        t.ALIASES,
        {},
        "The peer of each id that a platform gives a person, so that several ids are one person.",
    )
    runtime_peer_prefix: str = setting(
        t.TEXT,
        "",
        "What the peers of people without an alias begin with, so that equal ids of two platforms stay "
        "two people.",
    )

    recall_mode: RecallMode = setting(
        t.choice(*get_args(RecallMode), auto="hybrid"),
        "hybrid",
        'How memory reaches the model: shown to it ("context"), asked for by it ("tools"), or both. '
        'The old "auto" is "hybrid".',
    )
    tool_names: ToolNames = setting(
        t.choice(*get_args(ToolNames)), "souvenance", "What the names of the tools begin with."
    )
    observation_mode: str = setting(
        t.choice("directional", "unified", shared="unified", separate="directional", cross="directional"),
        "directional",
        'Who learns about whom. "directional": both about themselves and each other; "unified": both '
        "about the user only.",
    )
    observation: Observation = setting(
        t.OBSERVATION,
        Observation(),
        "The same, one by one. A flag that is given here wins over the mode.",
        default_text="as observationMode",
    )

    write_frequency: WriteFrequency = setting(
        t.FREQUENCY,
        "async",
        'When turns are saved: in the background ("async"), at the end of each ("turn") or of '
        'the session ("session"), or every so many turns. What is kept back goes after half an hour.',
    )
    save_messages: bool = setting(t.FLAG, True, "Whether what is said is kept.")
    group_chats: bool = setting(
        t.FLAG,
        True,
        "Whether chats of several people have memory. Off, nothing is saved or recalled there.",
    )
    message_max_chars: int = setting(
        whole(20), 25_000, "How long a message may be. A longer one is written in pieces."
    )

    session_strategy: SessionStrategy = setting(
        t.choice(*get_args(SessionStrategy)),
        "per-directory",
        "What shares a session on the command line: a directory, a run, a git repository or everything. "
        "A platform's chat is always a session of its own.",
    )
    session_peer_prefix: bool = setting(t.FLAG, False, "Begins the name of every session with the peer's.")
    sessions: Mapping[str, str] = setting(
        t.SESSIONS,
        {},
        "Names for the sessions of some directories, whatever the strategy would call them.",
    )

    dialectic_depth: int = setting(
        whole(1, 3, clamped=True),
        1,
        "In how many passes a question about the user is thought about. Other numbers are moved into "
        "this range.",
    )
    dialectic_depth_levels: tuple[Level, ...] | None = setting(
        t.PASS_LEVELS,
        None,
        'The level of each pass. A pass that is not named has "low".',
        default_text="by depth",
    )
    dialectic_reasoning_level: Level = setting(t.choice(*LEVELS), "low", "How hard it is thought about.")
    dialectic_dynamic: bool = setting(
        t.FLAG, True, "Whether the model may choose the level itself when it asks by tool."
    )
    reasoning_heuristic: bool = setting(
        t.FLAG,
        True,
        "Raises the level by one if the message has 120 characters, by two if it has 400.",
    )
    reasoning_level_cap: Level = setting(
        t.choice(*LEVELS), "high", "How far reasoningHeuristic may raise it."
    )

    dialectic_max_chars: int = setting(
        t.LIMIT, 600, "How many characters of an answer are shown to a model that did not ask."
    )
    dialectic_max_input_chars: int = setting(
        whole(1), 10_000, "How many characters a question may have; the rest is cut off."
    )
    # The default is under a tenth of what the host's own prompt and tools take.
    context_tokens: int = setting(
        t.LIMIT,
        1200,
        "How many tokens of memory are shown in one turn, at four characters each.",
    )

    context_cadence: int = setting(
        whole(1, clamped=True), 1, "Every how many turns what is known is looked up again."
    )
    dialectic_cadence: int = setting(
        whole(1, clamped=True), 1, "Every how many turns a question about the user is put to memory."
    )
    injection_frequency: InjectionFrequency = setting(
        t.choice(*get_args(InjectionFrequency)),
        "every-turn",
        "Whether memory is shown in every turn or in the first alone.",
    )
    recall_wait: float | None = setting(
        seconds(),
        None,
        "How long a turn waits for its memory at most; once it is set, the first of a process too.",
        default_text="0.3, and 3 while memory in this process is loaded",
    )
    first_turn_base_wait: float | None = setting(
        seconds(),
        None,
        "How long the first turn waits for what is known.",
        default_text="as recallWait",
    )
    first_turn_dialectic_wait: float | None = setting(
        seconds(),
        None,
        "How long the first turn waits for the answer about the user. Where memory has told something "
        "and no wait is set, that answer comes with the next turn.",
        default_text="as recallWait",
    )

    host_model: bool | None = setting(
        t.FLAG,
        None,
        "Whether Hermes' own model reads finished conversations in the background and notes what they "
        "tell about you. Off means quotes only. Memory on a server uses the server's model instead.",
        default_text="off until setup has asked",
    )
    host_model_calls_per_day: int = setting(
        whole(0), 40, "How often Hermes' model is asked in a day, in UTC, at most."
    )
    host_model_tokens_per_day: int = setting(
        whole(0),
        100_000,
        "How many tokens that may cost in a day, prompts and replies together.",
    )

    @property
    def patience(self) -> float:
        """For how many seconds memory is waited for where somebody waits meanwhile."""
        return USUAL_WAIT if self.recall_wait is None else self.recall_wait

    @property
    def shows_later(self) -> bool:
        """Whether a turn may be shown what memory was asked in the turn before."""
        return self.injection_frequency == "every-turn"

    @property
    def url(self) -> str | None:
        """The server to use; None for the embedded store."""
        if self.base_url is not None:
            return self.base_url
        if self.environment == "local":
            return "http://localhost:8000"
        cloud = self.environment or self.api_key or self.oauth
        return "https://api.honcho.dev" if cloud else None

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
    section = ""
    for one in fields(Configuration):
        if not one.metadata:
            continue
        section = _SECTIONS.get(one.name, section)
        first, *rest = one.name.split("_")
        default = {} if one.default_factory is dict else None if one.default is MISSING else one.default
        yield ProviderSetting(
            name=first + "".join(map(str.title, rest)),
            attribute=one.name,
            section=section,
            default=default,
            **one.metadata,
        )


KEYS = tuple(_settings())
"""Every setting, in the order of the reference."""

_SPELLINGS = {spelling: key for key in KEYS for spelling in (key.name, *key.aliases)}


def find(name: str) -> ProviderSetting | None:
    """The setting of that name, or of that legacy spelling."""
    return _SPELLINGS.get(name)


def nearest_key(name: str) -> str | None:
    """The name of the setting that was probably meant."""
    found = t.nearest(name, _SPELLINGS)
    return _SPELLINGS[found].name if found else None


def known(name: str) -> ProviderSetting:
    """The setting of that name. Raises: InvalidInput."""
    key = find(name)
    if key is None:
        hint = "It has no use here." if name in NOT_NEEDED else t.did_you_mean(nearest_key(name))
        raise InvalidInput(f"{name} is not a setting", hint=hint)
    return key


def taken(name: str, value: Any) -> Any:
    """What the setting of that name takes the value for. Raises: InvalidInput."""

    def refuse(part: str, wrong: str, hint: str) -> None:
        raise InvalidInput(f"{name}{'.' if part else ''}{part} {wrong}", hint=hint)

    try:
        return known(name).kind.read(value, refuse)
    except t.Wrong as wrong:
        raise InvalidInput(f"{name} {wrong.what}", hint=wrong.hint) from None
