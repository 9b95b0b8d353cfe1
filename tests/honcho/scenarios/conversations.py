"""Conversations that many scenarios begin with."""

from __future__ import annotations

from typing import Any

INTRODUCTION = "My name is Ann and I live in Lisbon."
WORK = "I work as a marine biologist."
TASTE = "I love sourdough bread."


async def says(world: Any, *lines: str, who: str = "ann", where: str = "talk") -> tuple[Any, Any, list[Any]]:
    """A peer says the lines in a session: the peer, the session, the messages."""
    peer = await world.honcho.peer(who)
    session = await world.honcho.session(where)
    return peer, session, await session.add_messages([peer.message(line) for line in lines])


async def known(world: Any, *lines: str, who: str = "ann", where: str = "talk") -> tuple[Any, Any, list[Any]]:
    """The same, and the server has drawn its conclusions."""
    spoken = await says(world, *lines, who=who, where=where)
    await world.settled()
    return spoken
