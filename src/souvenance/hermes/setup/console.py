"""What the wizard asks and an answer means, how values are shown, and by which names people are known."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from msgspec import Struct

from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.hermes.configuration import Configuration, taken
from souvenance.hermes.host import HostConversation
from souvenance.hermes.identity import HTTP, agent_peer, identify

_T = TypeVar("_T")


def alias(text: str, owner: str) -> tuple[str, str]:
    """ID=PEER, or ID alone for one of the owner's own."""
    runtime_id, equals, named = (part.strip() for part in text.rpartition("="))
    if not equals:
        runtime_id, named = named, owner
    if not runtime_id or not named:
        raise InvalidInput(f"{text!r} is neither an id nor, like 7654321=ann, an id and a peer", hint="")
    return runtime_id, taken("peerName", named)


def aliases(text: str, owner: str) -> dict[str, str]:
    return dict(alias(part, owner) for part in text.split(",") if part.strip())


def one_of(meanings: Mapping[str, _T]) -> Callable[[str], _T]:
    """One of the meanings, by what stands for it."""

    def read(text: str) -> _T:
        if text.lower() not in meanings:
            raise InvalidInput(f"{text!r} is none of {', '.join(meanings)}", hint="")
        return meanings[text.lower()]

    return read


class Abandoned(Exception):
    """Who was asked left: Ctrl-C, or the end of the input."""


class Terminal:
    def __init__(self, *, answers: bool = True) -> None:
        self.interactive = answers and sys.stdin.isatty()
        """Whether anybody is there to answer."""

    def say(self, text: str = "") -> None:
        click.echo(text)

    def ask(self, prompt: str, *, hidden: bool = False) -> str:
        """The answer; a hidden one is not shown. Raises: Abandoned."""
        try:
            return str(click.prompt(prompt, default="", show_default=False, hide_input=hidden))
        except click.Abort:
            raise Abandoned from None


def answered(
    console: Terminal,
    question: str,
    default: str,
    read: Callable[[str], _T],
    *,
    shown: str | None = None,
    hidden: bool = False,
) -> _T:
    """What the answer means; an empty one is the default, one that means nothing is asked for again.

    `read` turns a text into its meaning or raises SouvenanceError; `shown` is what the default is called.
    Raises: Abandoned; SouvenanceError if nobody is there and the default means nothing.
    """
    named = default if shown is None else shown
    prompt = f"{question} [{named}]" if named else question
    while True:
        text = console.ask(prompt, hidden=hidden).strip() if console.interactive else ""
        try:
            return read(text or default)
        except SouvenanceError as error:
            if not console.interactive:
                raise
            console.say(f"  {error.detail}. {error.hint}".rstrip())


def chosen(console: Terminal, question: str, choices: Mapping[str, tuple[_T, str]], default: _T) -> _T:
    """One of the choices: each has a letter to type, a meaning, and words.

    Raises: Abandoned.
    """
    meanings = {letter: meaning for letter, (meaning, _) in choices.items()}
    if not console.interactive:
        return default
    console.say(f"\n{question}")
    for letter, (_, words) in choices.items():
        console.say(f"  {letter}  {words}")
    letters = {meaning: letter for letter, meaning in meanings.items()}
    return answered(console, "Answer", letters[default], one_of(meanings))


def agreed(console: Terminal, question: str, *, default: bool) -> bool:
    """Raises: Abandoned."""
    read = one_of({"y": True, "yes": True, "n": False, "no": False})
    return answered(console, question, "yes" if default else "no", read, shown="Y/n" if default else "y/N")


_LIMITS = ("contextTokens", "dialecticMaxChars")
SECRETS = ("apiKey", "oauth")


def plain(value: Any) -> str:
    """A text as it is, anything else as JSON writes it."""
    if isinstance(value, str | Path):
        return str(value)
    return msgspec.json.encode(value).decode()


def shown(name: str, value: Any) -> str:
    if value is None or value == "":
        return "none"
    if name in _LIMITS and value == 0:
        return "no limit"
    if name == "baseUrl":
        return address(value)
    return masked(value) if name in SECRETS else plain(value)


def address(url: str) -> str:
    """A URL without the password that may be in it."""
    return re.sub(r"(?<=://)[^/]*@", "…@", url)


def masked(secret: Any) -> str:
    """Enough of a key to tell it from another, and no more."""
    if not isinstance(secret, str):
        return "set"
    return f"…{secret[-4:]}" if len(secret) >= 16 else "set"


def ask_identity(
    console: Terminal, now: Configuration, peer: str, platforms: Sequence[str]
) -> dict[str, Any]:
    """The settings that map those who write to people who are remembered; none where nobody can be asked, or
    nobody but one can write.

    Raises: Abandoned; SouvenanceError.
    """
    if not platforms or not console.interactive:
        return {}
    choices = {
        "1": (True, f"just me: everyone who writes is {peer}"),
        "2": (False, "other people too: each has a memory of their own"),
    }
    question = f"Who talks to this gateway ({', '.join(platforms)})?"
    if chosen(console, question, choices, now.pin_user_peer):
        return {"pinUserPeer": True}
    if now.pin_user_peer:
        console.say(f"\nWhat was remembered so far stays with {peer}: nothing is moved.")
    everybody = {**now.user_peer_aliases, **_own_ids(console, peer, platforms)}
    if peer not in everybody.values():
        console.say(f"No id leads to {peer} yet: until one does, you too are somebody new there.")
    return {"pinUserPeer": False, "userPeerAliases": everybody}


def _own_ids(console: Terminal, peer: str, platforms: Sequence[str]) -> dict[str, str]:
    console.say(f"\nYour own ids, which lead to {peer}. Several are separated by commas; Enter for none.")
    found: dict[str, str] = {}
    for platform in platforms:
        example = ", such as user:7654321" if platform == HTTP else ""
        found |= answered(console, f"  on {platform}{example}", "", lambda text: aliases(text, peer))
    return found


class Carried(Struct, frozen=True):
    """What was taken along from one name to another."""

    old: str
    new: str
    lines: int
    waiting: int = 0
    """How many turns, perhaps of that name, wait to be written."""

    def sentences(self) -> Iterator[str]:
        if not self.lines:
            yield f"Nothing is remembered of {self.old}."
        else:
            yield f"{self.lines} lines of {self.old} are {self.new}'s now."
            yield f"A conversation under way goes on as {self.old}: once it has ended, run this again."
        if self.waiting:
            yield f"What waits to be written ({self.waiting}) may be of {self.old}: then run this again."


Carry = Callable[[Configuration, str, str, Mapping[str, str]], Carried]
"""Moves all of the memory of one name to another. The environment is as Hermes sees it.

Raises: SouvenanceError, Unsupported.
"""


def left_behind(
    before: Configuration, after: Configuration, profile: str = "", carried: Collection[str] = ()
) -> Iterator[str]:
    """What to say when a person gets another name from now on; nothing where nothing is remembered.

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
    """Who speaks where there is only one person."""
    here = HostConversation(session_id="", home=configuration.home, directory=configuration.home)
    person = identify(configuration, here)
    return "nobody" if person is None else person.peer
