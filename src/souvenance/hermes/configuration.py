"""How the provider of one Hermes profile is configured, once every file and variable has had its say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from souvenance.agents.conversation_scope import Namespaces, Observation
from souvenance.hermes.token import Token

RecallMode = Literal["hybrid", "context", "tools"]
Level = Literal["minimal", "low", "medium", "high", "max"]
LEVELS: tuple[Level, ...] = ("minimal", "low", "medium", "high", "max")
SessionStrategy = Literal["per-directory", "per-session", "per-repo", "global"]
InjectionFrequency = Literal["every-turn", "first-turn"]
WriteFrequency = Literal["async", "turn", "session"] | int
ToolNames = Literal["souvenance", "honcho"]

USUAL_WAIT = 0.3


class Configuration(Struct, frozen=True, kw_only=True):
    home: Path
    """The profile's HERMES_HOME."""
    host: str
    """The key of the profile's block under `hosts`."""
    file: Path | None = None
    """Where it was read from."""
    enabled: bool = True
    base_url: str | None = None
    api_key: str | None = None
    oauth: Mapping[str, Any] | None = None
    environment: Literal["production", "local"] | None = None
    timeout: float = 30.0
    workspace: str
    peer_name: str | None = None
    ai_peer: str
    pin_user_peer: bool = False
    user_peer_aliases: Mapping[str, str] = field(default_factory=dict)
    runtime_peer_prefix: str = ""
    recall_mode: RecallMode = "hybrid"
    observation: Observation = Observation()
    write_frequency: WriteFrequency = "async"
    save_messages: bool = True
    session_strategy: SessionStrategy = "per-directory"
    session_peer_prefix: bool = False
    sessions: Mapping[str, str] = field(default_factory=dict)
    """Session names by directory."""
    dialectic_depth: int = 1
    dialectic_depth_levels: tuple[Level, ...] | None = None
    dialectic_reasoning_level: Level = "low"
    dialectic_dynamic: bool = True
    dialectic_max_chars: int = 600
    dialectic_max_input_chars: int = 10_000
    reasoning_heuristic: bool = True
    reasoning_level_cap: Level = "high"
    context_tokens: int = 1200
    """Under a tenth of what the host's own prompt and tools take."""
    message_max_chars: int = 25_000
    context_cadence: int = 1
    dialectic_cadence: int = 1
    injection_frequency: InjectionFrequency = "every-turn"
    first_turn_base_wait: float | None = None
    first_turn_dialectic_wait: float | None = None
    recall_wait: float | None = None
    """For how many seconds at most a turn waits for its memory, if that was said."""
    namespaces: Namespaces = Namespaces()
    tool_names: ToolNames = "souvenance"
    host_model: bool | None = None
    """Whether Hermes' own model may read what was said; None if nobody was asked."""
    host_model_calls_per_day: int = 40
    host_model_tokens_per_day: int = 100_000
    store: Path
    """The data folder of the embedded store."""
    token: Token | None = None
    """What the key grants, if it is a capability token."""

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
