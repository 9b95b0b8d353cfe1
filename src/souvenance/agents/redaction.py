"""Secrets in what was said: keys, tokens and passwords are replaced before anything is kept.

Three things give a secret away: its own shape (`ghp_...`, a private key's block), the name it is
assigned to (`DB_PASSWORD=...`), or words before a string that nobody could have chosen ("the token
is ..."). A value that is a placeholder, a path, an id or an expression of code is none.

The time grows with the length of the text and no faster, whatever it says. No rule reads a place again for
each place before it, and only so many places are judged one by one: beyond them, whatever may be a secret is
taken for one.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from math import log2
from pkgutil import get_data

from msgspec import Struct

from souvenance.language.lexicon import lists
from souvenance.patterns import pattern

_Span = tuple[int, int, str]
"""Where a secret begins and ends, and of what kind it is."""


class _Shape(Struct, frozen=True):
    """A token with a known look. Such a token has at least one of the marks."""

    kind: str
    marks: Sequence[str]
    pattern: re.Pattern[str]


_FIRST = pattern(r"\[[^\]]+\]|.")


def _shape(kind: str, marks: str, look: str) -> _Shape:
    """A search skips to the first character of the look; only there it looks at what stands before."""
    [first, *_] = _FIRST.findall(look)
    rest = look.removeprefix(first)
    return _Shape(kind, marks.split(), pattern(rf"{first}(?<![\w-].){rest}(?![A-Za-z0-9])"))


_KNOWN = (get_data(__package__, "secret_shapes.toml") or b"").decode()
_SIGNED = r"eyJ[\w-]{5,}+\.[\w-]{5,}+\.[\w-]{5,}+"
_MOST_BLOCKS = 16

_SHAPES = (
    *(_shape(*one) for one in tomllib.loads(_KNOWN)["shapes"]),
    _Shape(
        "telegram token", (":",), pattern(r"\d(?:(?<![\w:-].)|(?<=/bot.))\d{7,9}:[A-Za-z0-9_-]{35}(?![\w-])")
    ),
    _shape("cap", "~", rf"{_SIGNED}(?:~{_SIGNED}){{0,{_MOST_BLOCKS}}}+~[\w-]{{20,}}"),
    _shape(
        "token",
        "eyJ",
        rf"eyJ[\w-]{{5,}}+\.[\w-]{{5,}}+(?:\.[\w-]*+){{1,3}}+(?:~{_SIGNED}){{0,{_MOST_BLOCKS}}}+",
    ),
)

_KEY_BEGINS = pattern(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_ENDS = pattern(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|-----BEGIN ")
_KEY_BODY = pattern(r"(?:(?:[\s>|#+]|\\r|\\n)*+(?:[A-Z][\w-]{2,20}: [^\n]{0,100}+\n|[A-Za-z0-9+/=]{16,}+))++")
_LONGEST_KEY = 32 * 1024
_KEY_ENDS_WITHIN = 300
_PUTTY = pattern(r"Private-Lines: \d{1,4}\s++(?P<value>[A-Za-z0-9+/=]{16,}+(?:\s++[A-Za-z0-9+/=]{16,}+)*+)")

_AWS_ID = "[redacted: aws key]"
_AWS_SECRET = pattern(r"(?<![A-Za-z0-9/+])/?(?P<value>[A-Za-z0-9/+]{40})/?(?![A-Za-z0-9/+=])")
_AWS_LENGTH = 42
_AWS_REACH = 160
"""How far from the id of an access key its secret may stand."""
_URL = pattern(r"://[^\s/:@\"'<>]{0,200}+:(?P<value>[^\s/\"'<>]{1,400})@[\w\[]")
_URL_TOKEN = pattern(r"://(?P<value>[\w.~-]{20,400})(?::x-oauth-basic)?@[\w\[]")
_HEADER = pattern(
    r"authorization[\"']?[ \t]*+[:=][ \t]*+[\"']?(?:bearer|basic|token|apikey|bot|digest)[ \t]++"
    r"(?P<value>[\w.~+/=:-]{8,4000}+)"
)
"""This and what follows is looked for in the text in small letters."""
_BEARER = pattern(
    r"(?:bearer(?<![\w-]bearer)|authorization(?<![\w-]authorization)[\"']?[ \t]*+[:=])[ \t]*+[\"']?"
    r"(?P<value>[\w.~+/=-]{16,4000}+)"
)

_WORDS = lists().redaction
_ENDINGS = rf"(?:{_WORDS.password}|pass|secret|tokens?|keys?|auth|credentials?|pat|id)"
"""How the names end that may say that a secret follows."""
_SIGN = r"[_.-]*+[\"'`*\\]{0,4}+[ \t]*+(?P<sign>=>|:=|==?|[:：])[ \t*\\]*+"
_NAMED = pattern(_ENDINGS + _SIGN)
_NAMED_VALUE = pattern(_ENDINGS + _SIGN + r"[\"'`]?(?P<value>[^\s\"'`,;<>]{3,4000}+)")
_NAME = pattern(r"(?<![\w.])[^\W\d_][\w.-]*+\Z")
_LONGEST_NAME = 81
_FLAG_NAME = rf"--(?<![\w-]--)(?P<name>[\w-]{{0,40}}?{_ENDINGS})(?P<sign>[ \t]++)"
_FLAG = pattern(_FLAG_NAME + r"(?=[^\s-])")
_FLAG_VALUE = pattern(_FLAG_NAME + r"(?P<value>[^\s\"'`,;<>-][^\s\"'`,;<>]{2,4000}+)")
_LONGEST_VALUE = 4000
_VALUE = pattern(
    r"\"(?P<double>(?:[^\"\n\\]++|\\(?![\"'`]))++)\\?\""
    r"|'(?P<single>(?:[^'\n\\]++|\\(?![\"'`]))++)\\?'"
    r"|`(?P<back>(?:[^`\n\\]++|\\(?![\"'`]))++)\\?`"
    r"|[\"'`]?(?P<bare>[^\s\"'`,;<>]++)"
)
_COULD_BE = pattern(r"(?<![a-z0-9+/_-])[a-z0-9+/_-]{16,}+")
_PARTS = pattern(r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+(?![^\W\dA-Z_])|\d+")

_STRONG_NAMES = "secret apikey apitoken authtoken accesstoken refreshtoken secretkey privatekey clientsecret"
_WEAK_NAMES = "token tokens key keys auth credential credentials pat"
_KEYS_OF = "api access secret private signing encryption account master service license auth admin"
_TOKENS_OF = "api access auth refresh bot id session bearer deploy personal security secret oauth"
_NO_SECRETS = (
    "public primary foreign cache sort partition idempotency object row group index shift arrow hot map"
    " unique dictionary registry translation message event lookup composite natural max min total num count"
)
_PASSWORD = pattern(rf"(?:{_WORDS.password})\Z")
_STRONG = frozenset(_STRONG_NAMES.split())
_WEAK = frozenset(_WEAK_NAMES.split())
_PAIRS = frozenset(
    [f"{of} key" for of in _KEYS_OF.split()] + [f"{of} token" for of in _TOKENS_OF.split()] + ["secret id"]
)
_OTHERS = frozenset(_NO_SECRETS.split())
_OTHER_KEYS = tuple(f"{other} " for other in _OTHERS)
_LONGEST_WORD = 20

_TELLING = pattern(
    rf"(?:{_WORDS.password}|mot de passe"
    r"|keys?|tokens?|secrets?|credentials?|api[_-]?keys?)(?![\w-])"
)
_NO_PASSWORDS = ("key", "tok", "sec", "cre", "api")
_INSIDE = pattern(r"[\w-]")
_WORD = pattern(r"[^\s\"'`<>()\[\],;]+")
_BREAK = pattern(r"[\n\[\]]")
_IN_REACH = 100
_MOST_WORDS_BETWEEN = 6
_LONGEST_TOLD = 200
_SAYS = pattern(rf"(?:[:=]|\b(?:{_WORDS.says}))[\s\"'`*]*$", re.IGNORECASE)
_OTHERWISE = pattern(
    r"commit|sha-?\d|hash|revision|digest|checksum|md5|etag|fingerprint|public|base64,|image"
    r"|manager|polic|hint|length"
)
"""What says that something else than the secret itself follows."""

_UUID = pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ULID = pattern(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_HEX = pattern(r"(?:0x)?[0-9a-fA-F]{32,}")
_BASE64 = pattern(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_PUBLIC_KEY = "AAAA"
"""How every public key of SSH begins."""
_SEGMENTS = pattern(r"[/_-]")
_LONGEST_SEGMENT = 12
_PATH = pattern(r"(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w.\\/ -]*")
_CODE = pattern(r"(?=[^._:>]*+[._:>])[A-Za-z_.:>-]++|[A-Za-z_][\w.]*+[(\[{].*|[({][A-Za-z_].*", re.DOTALL)
_QUERY_ENDS = pattern(r"[&#]")
_WIDEST_MARGIN = 40
_TYPE = pattern(r"(?:[A-Z][a-z]++\d*+){2,}+")
_PROSE = pattern(r"[ \t]\w|[.!?]")
_VARIABLE = pattern(
    r"<.*|\$[A-Za-z_]\w*|\$[({].*|\{\{.*|\{\w*\}|%[(]\w.*|%\w+%|\[redacted:.*|\[\w*\]|(.)\1*|[xX*.•_-]+",
    re.DOTALL,
)
"""What stands where a secret will be put."""
_PLACEHOLDER = pattern(
    r"your[_-].*|(?:my|the|some|any|new|old)?[_-]?(?:password|passphrase|secret|token|key)s?"
    r"|(?:example|placeholder|change-?_?me|redacted|hidden|masked|null|none|nil|true|false|undefined|todo|n/a"
    r"|yes|no|on|off|str|string|text|int|bool|bytes|object|any|optional|required|missing|invalid|wrong|expired"
    r"|empty|unset|default|disabled|enabled|must|should|can|may|is|was|not|the|a|an|in|for|to|and|or|if|reset"
    r"|manager|protected|incorrect|authentication|auth|bearer|basic|file|env|stdin|prompt|see|use|set|ask"
    r"|local)[.,!?:]*",
    re.IGNORECASE | re.DOTALL,
)
_PLACEHOLDER_ENDS = ("_here", "-here", "...", "…")
_LONGEST_END = max(map(len, _PLACEHOLDER_ENDS))
_LETTER = pattern(r"[^\W\d_]")
_NO_LETTER = pattern(r"[\d!@#$%^&*?~+=]")
_HEAD = 256
"""How much of a long value is looked at to tell what it is."""
_PASSES = 4
"""What stands beside a secret may be known for one only when that is gone."""
_LEAST_ENTROPY = 3.2
_LEAST_ENTROPY_OF_HEX = 2.5


_MOST_JUDGED = 300
_CHARS_PER_JUDGED = 400


class _Text:
    """A text, also in small letters, each of which stands where its capital does."""

    def __init__(self, text: str, judge: _Judge) -> None:
        self.text = text
        self.judge = judge

    @cached_property
    def small(self) -> str:
        return self.text.replace("İ", "i").lower()


class _Judge:
    """How many places may still be judged one by one."""

    def __init__(self, length: int) -> None:
        self._left = _MOST_JUDGED + length // _CHARS_PER_JUDGED

    @property
    def tired(self) -> bool:
        return self._left < 0

    def tires(self) -> bool:
        """Whether there were too many, this one included."""
        self._left -= 1
        return self._left < 0


_Find = Callable[[_Text], Iterator[_Span]]


def redact(text: str) -> str:
    """The text with `[redacted: <kind>]` in place of every secret. What was redacted stays as it is."""
    whole = _Text(text, _Judge(len(text)))
    for _ in range(_PASSES):
        before = whole.text
        for finders in (_BY_SHAPE, _BY_PLACE):
            spans = _apart(find(whole) for find in finders)
            if spans:
                whole = _Text(_replaced(whole.text, spans), whole.judge)
        if whole.text == before or whole.judge.tired:
            break
    return whole.text


def _apart(found: Iterable[Iterable[_Span]]) -> list[_Span]:
    """The spans in their order; where two overlap, the one that was found first."""
    kept: list[_Span] = []
    for spans in found:
        starts = [start for start, _, _ in kept]
        kept += [span for span in spans if not _overlaps(span, kept, starts)]
        kept.sort()
    return kept


def _overlaps(span: _Span, kept: Sequence[_Span], starts: Sequence[int]) -> bool:
    at = bisect_left(starts, span[1])
    return at > 0 and kept[at - 1][1] > span[0]


def _replaced(text: str, spans: Iterable[_Span]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, kind in spans:
        if start >= done:
            parts += (text[done:start], f"[redacted: {kind}]")
            done = end
    return "".join((*parts, text[done:]))


def _private_keys(whole: _Text) -> Iterator[_Span]:
    text = whole.text
    for begin in _KEY_BEGINS.finditer(text):
        body = _KEY_BODY.match(text, begin.end(), begin.end() + _LONGEST_KEY)
        if body is None:
            continue
        end = _KEY_ENDS.search(text, body.end(), body.end() + _KEY_ENDS_WITHIN)
        closes = end is not None and end[0].startswith("-----END")
        yield begin.start(), end.end() if end is not None and closes else body.end(), "private key"


def _tokens(shape: _Shape) -> _Find:
    def find(whole: _Text) -> Iterator[_Span]:
        if any(mark in whole.text for mark in shape.marks):
            for found in shape.pattern.finditer(whole.text):
                whole.judge.tires()
                yield *found.span(), shape.kind

    return find


def _aws_secrets(whole: _Text) -> Iterator[_Span]:
    """The secrets of access keys, before or after their ids, whatever stands between the two."""
    text, done = whole.text, 0
    at = text.find(_AWS_ID)
    while at >= 0:
        end = at + len(_AWS_ID)
        for found in _AWS_SECRET.finditer(text, max(done, at - _AWS_REACH), end + _AWS_REACH):
            done = found.end()
            value = found["value"]  # No hash and no plain name has capitals, small letters and others.
            if not (value.isalpha() or value.upper() == value or value.lower() == value):
                yield *found.span("value"), "aws key"
        done = max(done, end + _AWS_REACH - _AWS_LENGTH)
        at = text.find(_AWS_ID, end)


def _values(
    shape: re.Pattern[str],
    kind: str,
    accepted: Callable[[str], bool] = lambda value: True,
    *,
    small: bool = False,
) -> _Find:
    def find(whole: _Text) -> Iterator[_Span]:
        for found in shape.finditer(whole.small if small else whole.text):
            start, end = found.span("value")
            value = whole.text[start:end]
            if whole.judge.tires() or (not _VARIABLE.fullmatch(value) and accepted(value)):
                yield start, end, kind

    return find


def _assignments(whole: _Text) -> Iterator[_Span]:
    """What is assigned to a name that says it is a secret."""
    text, done = whole.text, 0
    for found in _NAMED.finditer(whole.small):
        if found.start("sign") < done:
            continue
        if whole.judge.tires():
            yield from _every_value(_NAMED_VALUE, whole, found.start())
            break
        start, sign = found.start(), found.start("sign")
        end = start + len(text[start:sign].rstrip(" \t\"'`*\\"))  # Before its quotes.
        name = _NAME.search(text, max(0, sign - _LONGEST_NAME), end)
        if name is None or name.start() < done:
            continue
        value = _secret_of(text, name, found)
        if value is not None:
            done = value[1]
            yield value
    yield from _flags(whole)


def _secret_of(text: str, name: re.Match[str], found: re.Match[str]) -> _Span | None:
    kind = _kind(name[0])
    if kind is None or (kind == "token" and _is_another(text, name.start())):
        return None
    value = _assigned(text, name.start(), found.end())
    if value is None or not _is_secret(text, kind, (name.start(), found["sign"]), value):
        return None
    return value.start, value.end, kind


def _flags(whole: _Text) -> Iterator[_Span]:
    """What follows a flag that says it is a secret."""
    text = whole.text
    for found in _FLAG.finditer(whole.small):
        if whole.judge.tires():
            yield from _every_value(_FLAG_VALUE, whole, found.start())
            return
        kind = _kind(text[found.start("name") : found.end("name")])
        value = None if kind is None else _assigned(text, found.start(), found.end())
        if kind and value and _is_secret(text, kind, (found.start(), found["sign"]), value):
            yield value.start, value.end, kind


def _every_value(shape: re.Pattern[str], whole: _Text, start: int) -> Iterator[_Span]:
    """All that looks like it from there on, not judged."""
    for found in shape.finditer(whole.small, start):
        yield *found.span("value"), "token"


class _Value(Struct, frozen=True):
    said: str
    start: int
    end: int
    quoted: bool


def _assigned(text: str, name: int, at: int) -> _Value | None:
    """What stands there behind a name and its sign, without quotes and what does not belong to it."""
    found = _VALUE.match(text, at, at + _LONGEST_VALUE)
    if found is None:
        return None
    group = found.lastgroup or ""
    said = found[group]
    if group != "bare":
        return _Value(said, *found.span(group), quoted=True)
    if text[max(0, name - 1) : name] in ("?", "&"):
        said = _QUERY_ENDS.split(said, maxsplit=1)[0]
    if not said.endswith("..."):
        said = said.rstrip(".)]}")
    start = found.start("bare")
    return _Value(said, start, start + len(said), quoted=False)


def _is_another(text: str, at: int) -> bool:
    """Whether the word before says that it is a key of another kind."""
    return text[max(0, at - _LONGEST_WORD) : at].lower().endswith(_OTHER_KEYS)


def _kind(name: str) -> str | None:
    """The kind of secret that the name says it is; None if it says nothing of the kind."""
    words = [word.lower() for word in _PARTS.findall(name)]
    if not words:
        return None
    last = words[-1]
    if _PASSWORD.search(last) or (last == "pass" and "_" in name):
        return "password"
    if last in _STRONG or " ".join(words[-2:]) in _PAIRS:
        return "secret"
    return "token" if last in _WEAK and not _OTHERS.intersection(words[-2:]) else None


def _is_secret(text: str, kind: str, assigned: tuple[int, str], value: _Value) -> bool:
    """Whether the value is one. After a colon there may stand a sentence as well."""
    said, (start, sign) = value.said[:_HEAD], assigned
    if len(said) < 3 or said[0] == " " or _is_placeholder(said.split(" ", 1)[0]):
        return False
    if _is_opaque(said):
        return True
    if kind == "token" or _PATH.fullmatch(said) or _CODE.fullmatch(said) or "://" in said:
        return False
    if value.quoted:
        return True
    if sign not in (":", "："):
        return kind == "password" or not said.isalpha() or not _PROSE.match(text, value.end)
    if kind == "password":
        return _is_mixed(said) or _is_whole_line(text, start, value.end)
    return _is_mixed(said) and not _TYPE.fullmatch(said)


def _is_whole_line(text: str, start: int, end: int) -> bool:
    margin = text[max(0, start - _WIDEST_MARGIN) : start]
    begins = margin.rpartition("\n")[2] if "\n" in margin or start < _WIDEST_MARGIN else margin
    return not begins.strip(" \t-*>\"'") and text[end : end + 1] in ("", "\n")


def _named_secrets(whole: _Text) -> Iterator[_Span]:
    """What the words before it say is a secret, and what by its looks nobody could have said."""
    text = whole.text
    for telling in _TELLING.finditer(whole.small):
        start = telling.start()
        if (start and _INSIDE.match(text, start - 1)) or _is_another(text, start):
            continue
        if whole.judge.tires():
            yield from _every_key(whole, telling.end())
            return
        found_there = _named_after(whole, telling)
        if found_there is not None:
            yield found_there


def _every_key(whole: _Text, start: int) -> Iterator[_Span]:
    """All that may be a key from there on, not judged."""
    for found in _COULD_BE.finditer(whole.small, start):
        if not found[0].isalpha():
            yield *found.span(), "token"


def _named_after(whole: _Text, telling: re.Match[str]) -> _Span | None:
    """The first word in reach that is a secret."""
    text, end = whole.text, telling.end()
    password = not telling[0].startswith(_NO_PASSWORDS)
    stop = _BREAK.search(text, end, end + _IN_REACH)
    reach = end + _IN_REACH if stop is None else stop.start()
    other = _OTHERWISE.search(whole.small, end, reach)
    for number, word in enumerate(_WORD.finditer(text, end, end + _IN_REACH + _LONGEST_TOLD)):
        if number > _MOST_WORDS_BETWEEN or word.start() > reach:
            return None
        value = word[0].strip("*:").rstrip(".?!")
        beside = other is not None and other.end() <= word.start()
        if _is_placeholder(value) or len(value) > _LONGEST_TOLD or beside:
            continue
        between = text[end : word.start()]
        if _is_opaque(value) or (password and _is_mixed(value) and _SAYS.search(between)):
            start = word.start() + word[0].index(value)
            return start, start + len(value), "password" if password else "token"
    return None


def _is_placeholder(value: str) -> bool:
    if _VARIABLE.fullmatch(value) or _PLACEHOLDER.fullmatch(value):
        return True
    return value[-_LONGEST_END:].lower().endswith(_PLACEHOLDER_ENDS)


def _is_opaque(value: str) -> bool:
    """Whether the value looks like nothing but a key: long, mixed, and no id, path or public key."""
    if _UUID.fullmatch(value) or _ULID.fullmatch(value) or value.startswith(_PUBLIC_KEY):
        return False
    if _HEX.fullmatch(value):
        return _entropy(value) > _LEAST_ENTROPY_OF_HEX
    if not _BASE64.fullmatch(value) or not _is_mixed(value):
        return False
    segments = _SEGMENTS.split(value[:_HEAD])
    if len(segments) > 1 and max(map(len, segments)) < _LONGEST_SEGMENT and not all(map(_is_mixed, segments)):
        return False
    return _entropy(value) >= _LEAST_ENTROPY


def _is_mixed(value: str) -> bool:
    """Whether letters stand among digits or signs, as in no word."""
    return len(value) >= 6 and _LETTER.search(value) is not None and _NO_LETTER.search(value) is not None


def _is_no_word(value: str) -> bool:
    return len(value) >= 16 or not (value.isalpha() and value.islower())


def _entropy(value: str) -> float:
    """In bits for each character."""
    head = value[:_HEAD]
    return -sum(n / len(head) * log2(n / len(head)) for n in Counter(head).values())


_BY_SHAPE: tuple[_Find, ...] = (_private_keys, _values(_PUTTY, "private key"), *map(_tokens, _SHAPES))
_BY_PLACE: tuple[_Find, ...] = (
    _aws_secrets,
    _values(_URL, "password"),
    _values(_URL_TOKEN, "token", _is_mixed),
    _values(_HEADER, "authorization", _is_no_word, small=True),
    _values(_BEARER, "token", _is_mixed, small=True),
    _assignments,
    _named_secrets,
)
