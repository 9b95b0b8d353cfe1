"""How it stands with the model that reads conversations in the background, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from souvenance.hermes.configuration import Configuration
from souvenance.hermes.model_choice import Choice, model_choice
from souvenance.hermes.setup.inspection import Findings

_LEAST_TOKENS = 5_000
"""With less left no call is made: each is booked with the longest reply that it may get."""


class ModelReport(Struct, frozen=True, kw_only=True):
    choice: Choice
    calls_today: int
    calls_per_day: int
    tokens_today: int
    tokens_per_day: int
    trouble: str
    """What went wrong when the model was last asked; empty if nothing did."""


def is_served(configuration: Configuration, findings: Findings) -> bool:
    """Whether memory is on a server, if only the one that serves the store on this machine."""
    return configuration.url is not None or "://" in findings.told


def model_status(
    configuration: Configuration, findings: Findings, environment: Mapping[str, str]
) -> ModelReport:
    choice = "server" if is_served(configuration, findings) else model_choice(configuration, environment)
    return ModelReport(
        choice=choice,
        calls_today=findings.spent.calls_today,
        calls_per_day=configuration.host_model_calls_per_day,
        tokens_today=findings.spent.tokens_today,
        tokens_per_day=configuration.host_model_tokens_per_day,
        trouble=findings.model_trouble if choice in ("hermes", "environment") else "",
    )


def model_words(found: ModelReport) -> str:
    match found.choice:
        case "server":
            return "the server's own, if it has one; Hermes' model is not used"
        case "environment":
            spent = f"{found.calls_today:,} calls and {found.tokens_today:,} tokens today"
            return f"on: the one that SOUVENANCE_MODEL_BASE_URL names, in the background; {spent}"
        case "declined":
            return "off: you chose quotes only (souvenance hermes setup --host-model switches it on)"
        case "not asked":
            return "off: you were not asked yet, so quotes only (run: hermes memory setup souvenance)"
    spent = (
        f"{found.calls_today:,} of {found.calls_per_day:,} calls and "
        f"{found.tokens_today:,} of {found.tokens_per_day:,} tokens spent today"
    )
    left = found.tokens_per_day - found.tokens_today
    if found.calls_today >= found.calls_per_day or left < _LEAST_TOKENS:
        return f"on: Hermes' own, but today's budget is spent; quotes only until midnight UTC ({spent})"
    calls = found.calls_per_day - found.calls_today
    return f"on: Hermes' own, in the background; {spent}, {calls:,} calls and {left:,} tokens left"
