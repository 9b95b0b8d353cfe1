"""Changing the name in the wizard: memory stays with the old name unless it is moved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import HostConversation
from souvenance.hermes.identity import agent_peer, identify


class Carried(Struct, frozen=True):
    """What was taken along from one name to another."""

    old: str
    new: str
    lines: int
    waiting: int = 0
    """How many turns, perhaps of that name, wait to be written or are held."""

    def told(self) -> Iterator[str]:
        if not self.lines:
            yield f"Nothing is remembered of {self.old}."
        else:
            yield f"{self.lines} lines of {self.old} are {self.new}'s now."
            yield f"A conversation under way goes on as {self.old}: once it has ended, run this again."
        if self.waiting:
            yield f"What waits to be written ({self.waiting}) may be of {self.old}: then run this again."


Carry = Callable[[Configuration, str, str], Carried]
"""Moves all of the memory of one name to another. Raises: SouvenanceError, Unsupported."""


def left_behind(
    before: Configuration, after: Configuration, profile: str = "", carried: Collection[str] = ()
) -> Iterator[str]:
    """What is to be said when somebody is called otherwise from now on; nothing where nothing is remembered.

    `profile` is how a command names the profile, if it has to; whose memory was `carried` left nothing.
    """
    if before.url is None and not is_kept(before):
        return
    was, now = owner_of(before), owner_of(after)
    if was != now and was not in carried:
        yield f"What was remembered of {was} stays with {was}: nothing is moved."
        yield f"To take it along: souvenance hermes peer --carry {was}{profile}"
        yield f"To go on with it, go back: souvenance hermes peer --user {was}{profile}"
    if ids := [one for one, named in after.user_peer_aliases.items() if named == was != now]:
        yield f"These ids still lead to {was}: {', '.join(ids)}"
    agent, other = agent_peer(before), agent_peer(after)
    if agent != other and agent not in carried:
        yield f"What {agent} concluded, of people and of itself, stays with {agent}: {other} concludes anew."
        yield f"To take it along: souvenance hermes peer --carry-ai {agent}{profile}"
        yield f"What people said is found as before. To go back: souvenance hermes peer --ai {agent}{profile}"


def is_kept(configuration: Configuration) -> bool:
    """Whether something is kept on this machine."""
    store = configuration.store
    return store.is_dir() and any(store.iterdir())


def owner_of(configuration: Configuration) -> str:
    """Who speaks where nobody has to be told apart."""
    here = HostConversation(session_id="", home=configuration.home, directory=configuration.home)
    person = identify(configuration, here)
    return "nobody" if person is None else person.peer
