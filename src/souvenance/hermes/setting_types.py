"""What a setting may take: each kind reads a value, or says what it must be."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal
from urllib.parse import urlsplit

from msgspec import Struct

from souvenance.agents.conversation_scope import Namespaces
from souvenance.domain import names
from souvenance.errors import InvalidInput
from souvenance.patterns import pattern

Level = Literal["minimal", "low", "medium", "high", "max"]
LEVELS: tuple[Level, ...] = ("minimal", "low", "medium", "high", "max")
Tell = Callable[[str, str, str], None]
"""Takes the path of a part of a value that can't be used as it stands, what is wrong with it, and a hint."""

PEER_NAME = pattern(r"[a-zA-Z0-9_-]{1,512}\Z")
"""What Honcho takes for the name of a peer or a workspace."""
SPELLED = "must be spelled"
"""How a complaint begins about a name that is used in another spelling. Other wrong parts are left out."""

_NAME_WORDS = "1 to 512 of a-z, A-Z, 0-9, '_' and '-'"
_UNSEEN = pattern(r"[\x00-\x1f\x7f\ud800-\udfff]")
_VISIBLE = pattern(r"[\x21-\x7e]*\Z")
_NUMBER = pattern(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?\Z")
_VERSION = pattern(r"/v[0-9]+/*\Z")
_TRUTH = {"true": True, "false": False}
_FREQUENCIES = ("async", "turn", "session")
_SIDES = ("user", "ai")
_FLAGS = ("observeMe", "observeOthers")
_MUCH = 1_000_000_000
NO_LIMIT = _MUCH
"""What 0 stands for where it takes a limit away."""
_HOUR = 3600
_MOST_UNKNOWN = 10


class Wrong(Exception):
    """A value that a setting does not take."""

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class SettingType(Struct, frozen=True):
    words: str
    read: Callable[[Any, Tell], Any]
    """The value, None for the default. Reports parts that can't be used as they stand.
    Raises: Wrong."""
    choices: tuple[str, ...] = ()


def nearest(name: str, among: Iterable[str]) -> str | None:
    """The one that was probably meant."""
    import difflib

    folded = {_folded(one): one for one in among}
    found = difflib.get_close_matches(_folded(name), folded, n=1, cutoff=0.7) if len(name) <= 64 else []
    return folded[found[0]] if found else None


def _folded(name: str) -> str:
    return re.sub(r"[_\W]", "", name).lower()


def did_you_mean(found: str | None) -> str:
    return f'Did you mean "{found}"?' if found else ""


def said(value: Any) -> str:
    """A value in a few words, on one line."""
    match value:
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case str():
            return json.dumps(value, ensure_ascii=False) if len(value) <= 60 else "a long text"
        case _:
            told = json.dumps(value)
            return told if len(told) <= 20 else "a number"


def _refusal(words: str, value: Any) -> Wrong:
    return Wrong(f"must be {words}, not {said(value)}")


def _string(value: Any, words: str) -> str:
    if not isinstance(value, str):
        raise _refusal(words, value)
    return value.strip()


def _has_unseen(text: str) -> bool:
    return not text.isprintable() and _UNSEEN.search(text) is not None


def _line(value: Any, tell: Tell) -> str | None:
    text = _string(value, "a string")
    if _has_unseen(text):
        raise Wrong("must be a string of one line")
    return text or None


def _secret(value: Any, tell: Tell) -> str | None:
    if not isinstance(value, str) or not _VISIBLE.match(value.strip()):
        raise Wrong("must be a string of visible ASCII characters without spaces")
    return value.strip() or None


def _object(value: Any, tell: Tell) -> dict[str, Any] | None:
    """Says nothing of the value, which may be a secret."""
    if not isinstance(value, dict):
        raise Wrong("must be an object")
    return value or None


def _address(value: Any, tell: Tell) -> str | None:
    """Says nothing of the value, which may hold a password."""
    text = value.strip() if isinstance(value, str) else "-"
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if text and (not sound or parts.query or parts.fragment or not _VISIBLE.match(text)):
        raise Wrong("must be an http or https address", "For example http://127.0.0.1:8787.")
    return _VERSION.sub("", text).rstrip("/") or None


def _name(value: Any, tell: Tell) -> str | None:
    text = _string(value, _NAME_WORDS)
    if text and not PEER_NAME.match(text):
        raise _refusal(_NAME_WORDS, value)
    return text or None


def peer_name(text: str) -> str:
    """As the bundled Honcho plugin has it: '-' for every character that Honcho refuses.

    Raises: Wrong if nothing is left to tell it by.
    """
    name = re.sub(r"[^a-zA-Z0-9_-]", "-", text)
    if not PEER_NAME.match(name) or (name != text and not re.search("[a-zA-Z0-9]", name)):
        raise _refusal(_NAME_WORDS, text)
    return name


def _peer(value: Any, tell: Tell) -> str | None:
    text = _string(value, _NAME_WORDS)
    return _told_peer(text, "", tell) if text else None


def _told_peer(text: str, part: str, tell: Tell) -> str:
    name = peer_name(text)
    if name != text:
        tell(part, f"{SPELLED} {said(name)}", f"A name is {_NAME_WORDS}.")
    return name


def _flag(value: Any, tell: Tell) -> bool:
    if isinstance(value, bool) or (isinstance(value, int | float) and value in (0, 1)):
        return bool(value)
    if isinstance(value, str) and value.strip().lower() in _TRUTH:
        return _TRUTH[value.strip().lower()]
    raise _refusal("true or false", value)


def _number(value: Any) -> float | None:
    """A number, or a string that is clearly one; true and false are none."""
    if isinstance(value, str) and _NUMBER.match(value.strip()):
        return float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def whole(least: int, most: int = _MUCH, *, clamped: bool = False) -> SettingType:
    """A whole number. Clamped: one out of range is moved into it."""
    words = f"a whole number, at least {least}" if most == _MUCH else f"a whole number from {least} to {most}"

    def read(value: Any, tell: Tell) -> int:
        number = _number(value)
        if number is None or number != int(number) or not (clamped or least <= number <= most):
            raise _refusal(words, value)
        return int(min(max(number, least), most))

    return SettingType(words, read)


def _limit(value: Any, tell: Tell) -> int:
    number = _number(value)
    if number is None or number != int(number) or not 0 <= number <= _MUCH:
        raise _refusal("a whole number, at least 1, or 0 for no limit", value)
    return int(number) or NO_LIMIT


def seconds(*, above_zero: bool = False) -> SettingType:
    words = f"seconds, {'above' if above_zero else 'at least'} 0 and at most {_HOUR}"

    def read(value: Any, tell: Tell) -> float:
        number = _number(value)
        if number is None or not 0 <= number <= _HOUR or (above_zero and number == 0):
            raise _refusal(words, value)
        return float(number)

    return SettingType(words, read)


def choice(*choices: str, **legacy: str) -> SettingType:
    """One of the choices, or an older name of one."""
    words = _any_of(choices)
    meant = {"": None, **{one: one for one in choices}, **legacy}

    def read(value: Any, tell: Tell) -> str | None:
        text = _string(value, words).lower()
        if text not in meant:
            raise Wrong(f"must be {words}, not {said(value)}", did_you_mean(nearest(text, choices)))
        return meant[text]

    return SettingType(words, read, choices)


def _any_of(words: Iterable[str]) -> str:
    *most, last = [f'"{word}"' for word in words]
    return f"{', '.join(most)} or {last}"


def _frequency(value: Any, tell: Tell) -> str | int | None:
    number = _number(value)
    if number is not None and number == int(number) and 1 <= number <= _MUCH:
        return int(number)
    text = value.strip().lower() if isinstance(value, str) else "-"
    if text and text not in _FREQUENCIES:
        raise Wrong(
            f"must be {_FREQUENCY_WORDS}, not {said(value)}", did_you_mean(nearest(text, _FREQUENCIES))
        )
    return text or None


def _levels(value: Any, tell: Tell) -> tuple[str, ...] | None:
    if not isinstance(value, list) or len(value) > 3 or not all(one in LEVELS for one in value):
        raise Wrong(f"must be {_LEVELS_WORDS}")
    return tuple(value) or None


def _aliases(value: Any, tell: Tell) -> dict[str, str]:
    peers = {}
    for one, text in _by_text(value, _ALIASES_WORDS, tell).items():
        try:
            peers[one] = _told_peer(text, one, tell)
        except Wrong as wrong:
            tell(one, wrong.what, wrong.hint)
    return peers


def _sessions(value: Any, tell: Tell) -> dict[str, str]:
    return _by_text(value, _SESSIONS_WORDS, tell)


def _by_text(value: Any, words: str, tell: Tell) -> dict[str, str]:
    """The entries that lead from a text to a text; a whole number is taken for its digits."""
    if not isinstance(value, dict):
        raise _refusal(words, value)
    found = {}
    for key, given in value.items():
        text = str(given) if isinstance(given, int) and not isinstance(given, bool) else given
        if not isinstance(text, str) or not text.strip() or not key.strip() or _has_unseen(text):
            tell(key, "must be a name", "")
        else:
            found[key.strip()] = text.strip()
    return found


def _observation(value: Any, tell: Tell) -> dict[str, dict[str, bool]]:
    """The flags that are given; those that are missing or wrong are left to the preset."""
    if not isinstance(value, dict):
        raise _refusal(_OBSERVATION_WORDS, value)
    found: dict[str, dict[str, bool]] = {}
    for side, flags in _known_parts(value, _SIDES, "", tell):
        if not isinstance(flags, dict):
            tell(side, f"must be an object, not {said(flags)}", "")
            continue
        for flag, on in _known_parts(flags, _FLAGS, f"{side}.", tell):
            try:
                found.setdefault(side, {})[flag] = _flag(on, tell)
            except Wrong as wrong:
                tell(f"{side}.{flag}", wrong.what, wrong.hint)
    return found


def _known_parts(
    value: dict[str, Any], known: tuple[str, ...], path: str, tell: Tell
) -> Iterator[tuple[str, Any]]:
    for name in [one for one in value if one not in known][:_MOST_UNKNOWN]:
        tell(f"{path}{name}", "is not a setting", did_you_mean(nearest(name, known)))
    return ((name, value[name]) for name in known if value.get(name) is not None)


def _namespaces(value: Any, tell: Tell) -> Namespaces:
    match value:
        case str():
            one = _namespace(value)
            return Namespaces((one,), one)
        case list():
            several = _several(value)
            return Namespaces(several, several[0] if several else None)
        case dict() if value.keys() <= {"read", "write"}:
            reads, writes = value.get("read"), value.get("write")
            several = _several([reads] if isinstance(reads, str) else reads or [])
            return Namespaces(several, None if writes is None else _namespace(writes))
        case _:
            raise Wrong(f"must be {_NAMESPACES_WORDS}")


def _several(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Wrong(f"must be {_NAMESPACES_WORDS}")
    return tuple(dict.fromkeys(_namespace(one) for one in value))


def _namespace(value: Any) -> str:
    try:
        return names.namespace(_string(value, "a namespace"))
    except InvalidInput as error:
        raise Wrong(f"holds {said(value)}, but a {error.detail}") from None


_FREQUENCY_WORDS = '"async", "turn", "session" or a number of turns'
_LEVELS_WORDS = f"a list of at most 3 of {_any_of(LEVELS)}"
_ALIASES_WORDS = "an object of names of peers by id"
_SESSIONS_WORDS = "an object of names of sessions by directory"
_OBSERVATION_WORDS = 'an object of "user" and "ai", each with "observeMe" and "observeOthers"'
_NAMESPACES_WORDS = 'a namespace, a list of them, or an object of "read" (a list) and "write" (one or null)'

TEXT = SettingType("a string", _line)
PATH = SettingType("a path", _line)
SECRET = SettingType("a string", _secret)
OBJECT = SettingType("an object", _object)
ADDRESS = SettingType("an http or https address", _address)
NAME = SettingType("a name", _name)
PEER = SettingType("a name", _peer)
FLAG = SettingType("true or false", _flag)
LIMIT = SettingType("a whole number, 0 for no limit", _limit)
FREQUENCY = SettingType(_FREQUENCY_WORDS, _frequency)
PASS_LEVELS = SettingType(_LEVELS_WORDS, _levels)
ALIASES = SettingType(_ALIASES_WORDS, _aliases)
SESSIONS = SettingType(_SESSIONS_WORDS, _sessions)
OBSERVATION = SettingType(_OBSERVATION_WORDS, _observation)
NAMESPACES = SettingType(_NAMESPACES_WORDS, _namespaces)
