"""What the host puts into the fence, as configured."""

from __future__ import annotations

from souvenance.agents.injection import join
from souvenance.hermes.configuration import Configuration


def inject(configuration: Configuration, base: str, supplement: str, before: str = "") -> str:
    """What the host puts into the fence: nothing where memory is only for tools.

    `before` is what was put there in earlier turns that the model still has before it.
    """
    if configuration.recall_mode == "tools":
        return ""
    return join(base, supplement, configuration.context_tokens, before=before)
