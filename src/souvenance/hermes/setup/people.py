"""Who talks to a gateway, and what follows for the names under which people are remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from souvenance.hermes.configuration import Configuration
from souvenance.hermes.identity import HTTP
from souvenance.hermes.setup.answers import NOTHING, aliases, prefix, yes_or_no
from souvenance.hermes.setup.console import Console, agreed, answered, chosen

Identity = Literal["just-me", "pooled", "per-user"]
IDENTITIES: tuple[Identity, ...] = ("just-me", "pooled", "per-user")


class Mapped(Struct, frozen=True, kw_only=True):
    """What is already decided; None and nothing where the wizard asks."""

    identity: Identity | None = None
    aliases: Mapping[str, str] = {}
    prefix: str | None = None

    @property
    def decided(self) -> bool:
        return self.identity is not None or bool(self.aliases) or self.prefix is not None


def identity_in(configuration: Configuration) -> Identity:
    """The answer that the configuration amounts to."""
    if configuration.pin_user_peer:
        return "just-me"
    return "pooled" if configuration.user_peer_aliases else "per-user"


def ask_identity(
    console: Console, now: Configuration, peer: str, platforms: Sequence[str], given: Mapped
) -> dict[str, Any]:
    """The keys that map those who write to people who are remembered; none if nobody but one can write.

    Raises: Abandoned; SouvenanceError.
    """
    if given.decided:
        return _decided(console, now, peer, given)
    if not platforms:
        return {}
    choices: dict[str, tuple[Identity | Literal["by-hand"], str]] = {
        "1": ("just-me", f"just me: whoever writes is {peer}"),
        "2": (
            "pooled",
            f"me and other people: I am {peer} everywhere, everybody else is somebody of their own",
        ),
        "3": ("per-user", "other people: everybody, I too, is somebody of their own"),
        "e": ("by-hand", "let me edit the three keys"),
    }
    question = f"Who talks to this gateway ({', '.join(platforms)})?"
    choice = chosen(console, question, choices, identity_in(now))
    if choice == "per-user" and now.pin_user_peer and _stays_pooled(console, now.peer_name or peer):
        choice = "pooled"
    match choice:
        case "just-me":
            return {"pinUserPeer": True}
        case "pooled":
            named = _pooled(console, now, peer, _own_ids(console, peer, platforms))
            return {**named, "runtimePeerPrefix": _prefix(console, now)}
        case "per-user":
            return {"pinUserPeer": False, "runtimePeerPrefix": _prefix(console, now)}
    return _by_hand(console, now, peer)


def _decided(console: Console, now: Configuration, peer: str, given: Mapped) -> dict[str, Any]:
    keys: dict[str, Any] = {}
    match given.identity:
        case "just-me":
            keys["pinUserPeer"] = True
        case "per-user":
            keys["pinUserPeer"] = False
            if now.pin_user_peer and not given.aliases:
                _explain_unpinning(console, now.peer_name or peer)
        case "pooled":
            keys["pinUserPeer"] = False
    if given.identity == "pooled":
        keys |= _pooled(console, now, peer, given.aliases)
    elif given.aliases:
        keys["userPeerAliases"] = {**now.user_peer_aliases, **given.aliases}
    if given.prefix is not None:
        keys["runtimePeerPrefix"] = given.prefix
    return keys


def _explain_unpinning(console: Console, peer: str) -> None:
    console.say(f"\nWhat was remembered so far stays with {peer}: nothing is moved.")
    console.say("Everybody who writes through the gateway, you too, begins anew as somebody of their own,")
    console.say(f"unless your own ids lead to {peer}.")


def _stays_pooled(console: Console, peer: str) -> bool:
    _explain_unpinning(console, peer)
    return agreed(console, f"Let your own ids lead to {peer}", default=True)


def _own_ids(console: Console, peer: str, platforms: Sequence[str]) -> dict[str, str]:
    console.say(f"\nYour own ids, which lead to {peer}. Several are separated by commas; Enter for none.")
    found: dict[str, str] = {}
    for platform in platforms:
        example = ", such as user:7654321" if platform == HTTP else ""
        found |= answered(console, f"  on {platform}{example}", "", lambda text: aliases(text, peer))
    return found


def _pooled(console: Console, now: Configuration, peer: str, own: Mapping[str, str]) -> dict[str, Any]:
    everybody = {**now.user_peer_aliases, **own}
    if peer not in everybody.values():
        console.say(f"No id leads to {peer} yet: until one does, you too are somebody new there.")
    return {"pinUserPeer": False, "userPeerAliases": everybody}


def _prefix(console: Console, now: Configuration) -> str:
    return answered(
        console,
        f"Prefix for the names of the others, such as telegram_ ({NOTHING} for none)",
        now.runtime_peer_prefix or NOTHING,
        prefix,
    )


def _by_hand(console: Console, now: Configuration, peer: str) -> dict[str, Any]:
    said = ", ".join(f"{runtime_id}={named}" for runtime_id, named in now.user_peer_aliases.items())
    pinned = answered(console, "pinUserPeer", str(now.pin_user_peer).lower(), yes_or_no)
    if now.pin_user_peer and not pinned:
        _explain_unpinning(console, now.peer_name or peer)
    return {
        "pinUserPeer": pinned,
        "userPeerAliases": answered(
            console,
            f"userPeerAliases, as ID=PEER, ID=PEER ({NOTHING} for none)",
            said or NOTHING,
            lambda text: aliases(text, peer),
        ),
        "runtimePeerPrefix": answered(
            console, f"runtimePeerPrefix ({NOTHING} for none)", now.runtime_peer_prefix or NOTHING, prefix
        ),
    }
