"""Which model reads what was said in a profile, if any does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from souvenance.hermes.configuration import Configuration

Choice = Literal["server", "environment", "hermes", "declined", "not asked"]

TASK = "souvenance"
"""What Hermes books the cost of its model under, and what config.yaml calls it: `auxiliary.souvenance`."""
TOKENS_PER_CONVERSATION = 3_000
"""About what one call costs. The prompt of a short typed chat has 1,600 to 2,100 tokens; what is known so far
and the reply come on top."""


def model_choice(configuration: Configuration, environment: Mapping[str, str]) -> Choice:
    """A server has a model of its own. An endpoint of the environment comes before Hermes' model."""
    if configuration.url is not None:
        return "server"
    derives = environment.get("SOUVENANCE_MODEL_DERIVE_BASE_URL") or environment.get(
        "SOUVENANCE_MODEL_BASE_URL"
    )
    if derives not in (None, "", "off"):
        return "environment"
    if configuration.host_model is None:
        return "not asked"
    return "hermes" if configuration.host_model else "declined"
