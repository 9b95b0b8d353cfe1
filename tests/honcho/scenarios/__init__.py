"""What users of the SDK do, and what must come of it: one function for one behaviour.

Importing this needs neither the SDK nor a server, so that the scenarios can be listed anywhere.
"""

from scenarios import (  # noqa: F401 - importing a module registers its scenarios
    cards,
    chat,
    clones,
    conclusions,
    context,
    errors,
    files,
    keys,
    messages,
    observation,
    peers,
    queue,
    representations,
    retries,
    scopes,
    search,
    sessions,
    workspaces,
)
from scenarios.registry import FLAVOURS, SCENARIOS, Scenario

__all__ = ["FLAVOURS", "SCENARIOS", "Scenario"]
