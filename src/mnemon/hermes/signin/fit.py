"""Whether what was allowed is enough for what the profile is configured to do."""

from __future__ import annotations

from mnemon.domain import cap
from mnemon.domain.names import ALL
from mnemon.errors import CapMalformed
from mnemon.hermes.configuration import Configuration


def shortfalls(configuration: Configuration) -> list[str]:
    """What memory would be refused with that access token, in words; of a token that is no cap, nothing."""
    try:
        allowed = cap.read_unverified(configuration.api_key or "")[0][-1]
    except CapMalformed:
        return []
    found = []
    people = {configuration.peer_name or allowed.sub, configuration.ai_peer}
    if ALL not in allowed.peers and not people <= {allowed.sub, *allowed.peers}:
        found.append(
            f"it was allowed for the memory of {allowed.sub} alone, and Hermes writes down what you and the "
            "agent say to each other: sign in again and allow everyone in the workspace"
        )
    rooms = configuration.namespaces
    wanted = [*rooms.read, *filter(None, (rooms.write,))]
    missing = [name for name in dict.fromkeys(wanted) if name not in allowed.namespaces_allowed]
    if missing and ALL not in allowed.namespaces_allowed:
        found.append(
            f"the namespace {missing[0]!r} was not allowed: sign in again and allow it, or leave it out of "
            "namespaces"
        )
    if rooms.write and "put" not in allowed.ops:
        found.append("it was allowed to read alone, and nothing will be remembered")
    return found
