"""The provider's settings: one table, from which they are read, checked, explained and asked for."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, get_args

from msgspec import NODEFAULT, Struct
from msgspec.json import encode
from msgspec.structs import fields

from souvenance.hermes import setting_types
from souvenance.hermes.configuration import (
    LEVELS,
    Configuration,
    InjectionFrequency,
    RecallMode,
    SessionStrategy,
    ToolNames,
)

NOT_NEEDED = ("queryRewrite", "initOnSessionStart")
"""Settings of the bundled Honcho plugin that are accepted and have no use here."""


class ProviderSetting(Struct, frozen=True, kw_only=True):
    name: str
    kind: setting_types.SettingType
    section: str
    says: str
    aliases: tuple[str, ...] = ()
    variable: str | None = None
    """The environment variable that stands in for it."""
    default: str = ""
    """The default in words, where it is no constant."""
    guards: bool = False
    """Whether it decides where memory goes or what it may reach, so that no default may stand in for a
    value that can't be used: memory is off instead."""

    @property
    def attribute(self) -> str:
        """Its field in Configuration, where it has one."""
        return re.sub(r"(?=[A-Z])", "_", self.name).lower()

    @property
    def default_value(self) -> Any:
        """None if there is none, or if it depends on other things."""
        return None if self.default else _defaults().get(self.attribute)

    @property
    def default_words(self) -> str:
        value = self.default_value
        return self.default or ("" if value is None else encode(value).decode())


def nearest_key(name: str) -> str | None:
    """The name of the setting that was probably meant."""
    found = setting_types.nearest(name, _SPELLINGS)
    return _SPELLINGS[found].name if found else None


def find(name: str) -> ProviderSetting | None:
    """The setting of that name, or of that legacy spelling."""
    return _SPELLINGS.get(name)


_CONNECTION, _PEOPLE, _RECALL, _WRITING = "Connection", "People", "Recall", "Writing"
_SESSIONS, _DIALECTIC, _BUDGETS, _PACE = "Sessions", "Dialectic", "Budgets", "Pace"
_MODEL = "Hermes' own model"

KEYS: tuple[ProviderSetting, ...] = (
    ProviderSetting(
        name="enabled",
        kind=setting_types.FLAG,
        section=_CONNECTION,
        guards=True,
        says="Whether this profile has memory at all.",
    ),
    ProviderSetting(
        name="baseUrl",
        kind=setting_types.ADDRESS,
        section=_CONNECTION,
        aliases=("base_url",),
        variable="HONCHO_BASE_URL",
        guards=True,
        default="none: the store",
        says="The server to ask, Souvenance's or Honcho's. A version at the end of it is cut off.",
    ),
    ProviderSetting(
        name="apiKey",
        kind=setting_types.SECRET,
        section=_CONNECTION,
        variable="HONCHO_API_KEY",
        guards=True,
        default="none",
        says="What the server knows this profile by: without baseUrl, Honcho's cloud. To a baseUrl on this "
        "machine or its network a key is sent only if it stands in the host's block. A key in the "
        "environment alone is not used: memory stays on this machine until baseUrl or environment says "
        "where the key belongs.",
    ),
    ProviderSetting(
        name="oauth",
        kind=setting_types.OBJECT,
        section=_CONNECTION,
        guards=True,
        default="none",
        says="The grant that signing in leaves here. It is renewed by itself; do not edit it.",
    ),
    ProviderSetting(
        name="environment",
        kind=setting_types.choice("production", "local"),
        section=_CONNECTION,
        variable="HONCHO_ENVIRONMENT",
        guards=True,
        default="none",
        says="Which server if no baseUrl names one: Honcho's cloud, which needs a key, or port 8000 of this "
        "machine.",
    ),
    ProviderSetting(
        name="timeout",
        kind=setting_types.seconds(above_zero=True),
        section=_CONNECTION,
        aliases=("requestTimeout",),
        variable="HONCHO_TIMEOUT",
        says="When a request to the server is given up, and what a tool asks of memory.",
    ),
    ProviderSetting(
        name="store",
        kind=setting_types.PATH,
        section=_CONNECTION,
        guards=True,
        default="$HERMES_HOME/souvenance",
        says="The data folder of the memory in this process, for a profile without a server.",
    ),
    ProviderSetting(
        name="workspace",
        kind=setting_types.NAME,
        section=_CONNECTION,
        default="the host's key",
        says="The workspace. Profiles that name the same one know the same people.",
    ),
    ProviderSetting(
        name="namespaces",
        kind=setting_types.NAMESPACES,
        section=_CONNECTION,
        guards=True,
        says="What may be read, and the one that is written to. A name alone stands for both; of a list all "
        "are read and the first is written to. What is not named is not granted.",
    ),
    ProviderSetting(
        name="peerName",
        kind=setting_types.PEER,
        section=_PEOPLE,
        default="none",
        says="The peer of the profile's owner: who speaks where no platform says who does.",
    ),
    ProviderSetting(
        name="aiPeer",
        kind=setting_types.PEER,
        section=_PEOPLE,
        default="the host's key",
        says="The peer of the agent, which must not be a person's.",
    ),
    ProviderSetting(
        name="pinUserPeer",
        kind=setting_types.FLAG,
        section=_PEOPLE,
        aliases=("pinPeerName",),
        says="Takes everybody who writes, on every platform, for peerName. Only for an agent that nobody but "
        "its owner talks to.",
    ),
    ProviderSetting(
        name="userPeerAliases",
        kind=setting_types.ALIASES,
        section=_PEOPLE,
        says="The peer of each id that a platform gives a person, so that several ids are one person.",
    ),
    ProviderSetting(
        name="runtimePeerPrefix",
        kind=setting_types.TEXT,
        section=_PEOPLE,
        says="What the peers of people without an alias begin with, so that equal ids of two platforms stay "
        "two people.",
    ),
    ProviderSetting(
        name="recallMode",
        kind=setting_types.choice(*get_args(RecallMode), auto="hybrid"),
        section=_RECALL,
        says='How memory reaches the model: shown to it ("context"), asked for by it ("tools"), or both. '
        'The old "auto" is "hybrid".',
    ),
    ProviderSetting(
        name="toolNames",
        kind=setting_types.choice(*get_args(ToolNames)),
        section=_RECALL,
        says="What the names of the tools begin with.",
    ),
    ProviderSetting(
        name="observationMode",
        kind=setting_types.choice(
            "directional", "unified", shared="unified", separate="directional", cross="directional"
        ),
        section=_RECALL,
        says='Who learns about whom. "directional": both about themselves and each other; "unified": both '
        "about the user only.",
    ),
    ProviderSetting(
        name="observation",
        kind=setting_types.OBSERVATION,
        section=_RECALL,
        default="as observationMode",
        says="The same, one by one. A flag that is given here wins over the mode.",
    ),
    ProviderSetting(
        name="writeFrequency",
        kind=setting_types.FREQUENCY,
        section=_WRITING,
        says='When turns are written: behind the conversation ("async"), at the end of each ("turn") or of '
        'the session ("session"), or every so many turns. What is kept back goes after half an hour.',
    ),
    ProviderSetting(
        name="saveMessages",
        kind=setting_types.FLAG,
        section=_WRITING,
        says="Whether what is said is kept.",
    ),
    ProviderSetting(
        name="messageMaxChars",
        kind=setting_types.whole(20),
        section=_WRITING,
        says="How long a message may be. A longer one is written in pieces.",
    ),
    ProviderSetting(
        name="sessionStrategy",
        kind=setting_types.choice(*get_args(SessionStrategy)),
        section=_SESSIONS,
        says="What shares a session on the command line: a directory, a run, a git repository or everything. "
        "A platform's chat is always a session of its own.",
    ),
    ProviderSetting(
        name="sessionPeerPrefix",
        kind=setting_types.FLAG,
        section=_SESSIONS,
        says="Begins the name of every session with the peer's.",
    ),
    ProviderSetting(
        name="sessions",
        kind=setting_types.SESSIONS,
        section=_SESSIONS,
        says="Names for the sessions of some directories, whatever the strategy would call them.",
    ),
    ProviderSetting(
        name="dialecticDepth",
        kind=setting_types.whole(1, 3, clamped=True),
        section=_DIALECTIC,
        says="In how many passes a question about the user is thought about. Other numbers are moved into "
        "this range.",
    ),
    ProviderSetting(
        name="dialecticDepthLevels",
        kind=setting_types.PASS_LEVELS,
        section=_DIALECTIC,
        default="by depth",
        says='The level of each pass. A pass that is not named has "low".',
    ),
    ProviderSetting(
        name="dialecticReasoningLevel",
        kind=setting_types.choice(*LEVELS),
        section=_DIALECTIC,
        says="How hard it is thought about.",
    ),
    ProviderSetting(
        name="dialecticDynamic",
        kind=setting_types.FLAG,
        section=_DIALECTIC,
        says="Whether the model may choose the level itself when it asks by tool.",
    ),
    ProviderSetting(
        name="reasoningHeuristic",
        kind=setting_types.FLAG,
        section=_DIALECTIC,
        says="Raises the level by one if the message has 120 characters, by two if it has 400.",
    ),
    ProviderSetting(
        name="reasoningLevelCap",
        kind=setting_types.choice(*LEVELS),
        section=_DIALECTIC,
        says="How far reasoningHeuristic may raise it.",
    ),
    ProviderSetting(
        name="dialecticMaxChars",
        kind=setting_types.LIMIT,
        section=_BUDGETS,
        says="How many characters of an answer are shown to a model that did not ask.",
    ),
    ProviderSetting(
        name="dialecticMaxInputChars",
        kind=setting_types.whole(1),
        section=_BUDGETS,
        says="How many characters a question may have; the rest is cut off.",
    ),
    ProviderSetting(
        name="contextTokens",
        kind=setting_types.LIMIT,
        section=_BUDGETS,
        says="How many tokens of memory are shown in one turn, at four characters each.",
    ),
    ProviderSetting(
        name="contextCadence",
        kind=setting_types.whole(1, clamped=True),
        section=_PACE,
        says="Every how many turns what is known is looked up again.",
    ),
    ProviderSetting(
        name="dialecticCadence",
        kind=setting_types.whole(1, clamped=True),
        section=_PACE,
        says="Every how many turns a question about the user is put to memory.",
    ),
    ProviderSetting(
        name="injectionFrequency",
        kind=setting_types.choice(*get_args(InjectionFrequency)),
        section=_PACE,
        says="Whether memory is shown in every turn or in the first alone.",
    ),
    ProviderSetting(
        name="recallWait",
        kind=setting_types.seconds(),
        section=_PACE,
        default="0.3, and 3 while memory in this process is loaded",
        says="How long a turn waits for its memory at most; once it is set, the first of a process too.",
    ),
    ProviderSetting(
        name="firstTurnBaseWait",
        kind=setting_types.seconds(),
        section=_PACE,
        default="as recallWait",
        says="How long the first turn waits for what is known.",
    ),
    ProviderSetting(
        name="firstTurnDialecticWait",
        kind=setting_types.seconds(),
        section=_PACE,
        default="as recallWait",
        says="How long the first turn waits for the answer about the user. Where memory has told something "
        "and no wait is set, that answer comes with the next turn.",
    ),
    ProviderSetting(
        name="hostModel",
        kind=setting_types.FLAG,
        section=_MODEL,
        default="off until setup has asked",
        says="Whether Hermes' own model reads finished conversations in the background and notes what they "
        "tell about you. Off means quotes only. Memory on a server uses the server's model instead.",
    ),
    ProviderSetting(
        name="hostModelCallsPerDay",
        kind=setting_types.whole(0),
        section=_MODEL,
        says="How often Hermes' model is asked in a day, in UTC, at most.",
    ),
    ProviderSetting(
        name="hostModelTokensPerDay",
        kind=setting_types.whole(0),
        section=_MODEL,
        says="How many tokens that may cost in a day, prompts and replies together.",
    ),
)

_SPELLINGS = {spelling: key for key in KEYS for spelling in (key.name, *key.aliases)}


@cache
def _defaults() -> dict[str, Any]:
    return {"observation_mode": "directional"} | {
        one.name: one.default if one.default is not NODEFAULT else one.default_factory()
        for one in fields(Configuration)
        if not one.required
    }
