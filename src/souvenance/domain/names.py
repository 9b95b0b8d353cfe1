"""Rules for the names that give a line its place.

Names are compared byte for byte and never folded, so that two people can't become one; a
name that could look like another through case or padding is refused instead.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from hashlib import sha256
from shlex import quote
from typing import Annotated, NamedTuple, TypeVar

from msgspec import Meta

from souvenance.domain.encoding import frame
from souvenance.errors import InvalidInput
from souvenance.patterns import pattern

ALL = "*"
"""In a cap: every name of that kind. It is not itself a valid name."""

DEFAULT_WORKSPACE = "default"
DEFAULT_NAMESPACE = "personal"
DEFAULT_KIND = "memory"
COMMON_NAMESPACE = "default"
"""Where a conversation lies that names no namespace: doors that have no such word speak there."""

SESSIONS = "@sessions"
"""The owner of what belongs to sessions and to no peer. Names of actors do not begin with '@'."""

Name = Annotated[str, Meta(min_length=1, max_length=512)]
Namespace = Annotated[
    str, Meta(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9._-]*$(?!\n)", examples=["travel"])
]
Kind = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,31}$(?!\n)")]

_NAMESPACE = pattern(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_KIND = pattern(r"[a-z][a-z0-9_-]{0,31}\Z")
_MAX_NAME = 512
_MARK_DIGITS = 16
_Key = TypeVar("_Key")
_One = TypeVar("_One")


class Compartment(NamedTuple):
    """One owner's namespace inside a workspace: the unit of keys, of the index and of forgetting."""

    workspace: str
    owner: str
    namespace: str


def mint_command(**said: Iterable[str]) -> str:
    """The command that mints a token; `said` has the values of its options by their names."""
    given = {option: quote(",".join(dict.fromkeys(values))) for option, values in said.items() if values}
    return f"souvenance cap mint {' '.join(f'--{option} {one}' for option, one in given.items())} --ttl 90d"


def grouped(pairs: Iterable[tuple[_Key, _One]]) -> dict[_Key, list[_One]]:
    """What comes with each key, as the ids with a compartment, in its order."""
    found: dict[_Key, list[_One]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return found


def namespace(text: str) -> str:
    if not _NAMESPACE.match(text):
        raise InvalidInput(
            "namespace must be 1 to 64 of a-z, 0-9, '.', '_', '-', beginning with a letter or digit"
        )
    return text


def kind(text: str) -> str:
    if not _KIND.match(text):
        raise InvalidInput("kind must be 1 to 32 of a-z, 0-9, '_', '-', beginning with a letter")
    return text


def name(text: str, field: str) -> str:
    """A workspace, actor or session name. Raises: InvalidInput."""
    if not 0 < len(text) <= _MAX_NAME:
        raise InvalidInput(f"{field} must have 1 to {_MAX_NAME} characters")
    if text == ALL or text != text.strip() or "Cf" in map(unicodedata.category, (text[0], text[-1])):
        raise InvalidInput(f"{field} must not be '*' nor begin or end with something that can't be seen")
    if any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in text):
        raise InvalidInput(f"{field} holds a control character or a lone surrogate")
    return text


def actor(text: str, field: str) -> str:
    """The name of someone who may own lines. Raises: InvalidInput."""
    if text.startswith("@"):
        raise InvalidInput(f"{field} must not begin with '@'")
    return name(text, field)


def own_session(text: str, peer: str) -> str:
    """The name of a session that a token of that peer alone may make and write to.

    It ends in a mark of the peer, so that nobody can take the name of a session in which others are to speak.
    """
    return f"{text}{own_mark(peer)}"


def own_mark(peer: str) -> str:
    """What the names of a peer's own sessions end in."""
    return f"--{sha256(frame('own session', peer)).hexdigest()[:_MARK_DIGITS]}"
