"""What another name leaves behind: memory is kept by name, and nothing of it moves along."""

from __future__ import annotations

from collections.abc import Iterator

from mnemon.hermes.configuration import Configuration
from mnemon.hermes.host import Conversation
from mnemon.hermes.identity import agent_peer, identify


def left_behind(before: Configuration, after: Configuration, profile: str = "") -> Iterator[str]:
    """What is to be said when somebody is called otherwise from now on; nothing where nothing is remembered.

    `profile` is how a command names the profile, if it has to.
    """
    if before.url is None and not is_kept(before):
        return
    was, now = owner_of(before), owner_of(after)
    if was != now:
        yield f"What was remembered of {was} stays with {was}: nothing is moved."
        yield f"To go on with it, go back: mnemon hermes peer --user {was}{profile}"
    if ids := [one for one, named in after.user_peer_aliases.items() if named == was != now]:
        yield f"These ids still lead to {was}: {', '.join(ids)}"
    agent, other = agent_peer(before), agent_peer(after)
    if agent != other:
        yield f"What {agent} concluded, of people and of itself, stays with {agent}: {other} concludes anew."
        yield f"What people said is found as before. To go back: mnemon hermes peer --ai {agent}{profile}"


def is_kept(configuration: Configuration) -> bool:
    """Whether something is kept on this machine."""
    store = configuration.store
    return store.is_dir() and any(store.iterdir())


def owner_of(configuration: Configuration) -> str:
    """Who speaks where nobody has to be told apart."""
    here = Conversation(session_id="", home=configuration.home, directory=configuration.home)
    person = identify(configuration, here)
    return "nobody" if person is None else person.peer
