"""The lexicon: for each language one file of words, and of the forms in which people state facts that it
alone has. `shared.toml` has the forms of all languages, those that family, partners and pets share, and the
shapes of what stands in a form: regular expressions, in which `{kin}` is a word of that list, or a shape
above.

Lists of `[words]`, with commas between the words:

- `first`: a sentence with one of these is about its speaker; `opening`: one that begins with one of these is.
- `leads`: may stand right before a fact; `joins`: right after it; `adverbs`: between the words of a form.
- `vague`: no value begins with one. `unsure`: a sentence with one states nothing, with `ended` nothing for a
  card. `asking`: begin questions.
- `relative` is `own` and `kin` together, `mate` is `spouse` and `partner`; `mine` is `my` unless it is given.
- `play`: a message with one begins a role play. `unreal`: a message with one tells a joke, a song or a story.

`lists.json` has the words that one module alone looks for, under its name: of no language, or of many.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache, cached_property
from pkgutil import get_data
from types import SimpleNamespace

from msgspec import Struct

from souvenance.patterns import pattern

_LANGUAGES = ("en", "de", "fr", "es")
_WORD = pattern(r"[^\W_](?:[\w-]|\.(?=\w))*|&")
_PART_OF_FORM = pattern(r"\{\w+\}|[\[\]()~,]")


@cache
def lists() -> SimpleNamespace:
    """The words that one module alone looks for, by its name."""
    found: SimpleNamespace = json.loads(
        get_data(__name__, "lists.json") or b"", object_hook=lambda one: SimpleNamespace(**one)
    )
    return found


class Lexicon(Struct, dict=True, eq=False):
    words: dict[str, tuple[str, ...]]
    facts: dict[str, list[str]]
    """The forms of each label of a card."""
    shapes: dict[str, str]

    @cached_property
    def known(self) -> frozenset[str]:
        """The words by which the language is recognised."""
        forms = [_PART_OF_FORM.sub(" ", form) for forms in self.facts.values() for form in forms]
        every = (*self.words.values(), forms)
        return frozenset(word for said in every for phrase in said for word in words_of(phrase))

    def holds(self, name: str, text: str) -> bool:
        return _any_of(self.words[name]).search(text) is not None

    def begins(self, name: str, text: str) -> bool:
        return _any_of(self.words[name]).match(text) is not None


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{alternatives(words)})(?!\w)", re.IGNORECASE)


def alternatives(words: Iterable[str]) -> str:
    """A regular expression for any of these, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def straight(text: str) -> str:
    """The text with straight apostrophes; every character stays where it is."""
    return text.replace("’", "'")


@cache
def lexicons() -> tuple[Lexicon, ...]:
    return tuple(map(_read, _LANGUAGES))


def _read(language: str) -> Lexicon:
    import tomllib

    own, shared = (
        tomllib.loads((get_data(__name__, f"{name}.toml") or b"").decode()) for name in (language, "shared")
    )
    facts = {label: forms + own["facts"].get(label, []) for label, forms in shared["facts"].items()}
    for label, name in shared["things"].items():
        facts[label] += [form.replace("{it}", f"{{{name}}}") for form in shared["forms"]]
    words = {name: tuple(said.split(", ")) for name, said in own["words"].items()}
    words |= {"relative": words["own"] + words["kin"], "mate": words["spouse"] + words["partner"]}
    words.setdefault("mine", words["my"])
    return Lexicon(words, facts, shared["shapes"])


def lexicon_of(sentence: str) -> Lexicon | None:
    """The lexicon of the sentence's language: of which it has the most words; None if it has none of any."""
    said = words_of(straight(sentence))
    best = max(lexicons(), key=lambda lexicon: len(lexicon.known & said))
    return None if best.known.isdisjoint(said) else best


def words_of(text: str) -> frozenset[str]:
    """The words of the text in lower case; an apostrophe ends one."""
    return frozenset(_WORD.findall(text.lower()))


def any_holds(names: Iterable[str], text: str) -> bool:
    """Whether the text has a word of one of these lists, in any language."""
    return _any_of(_together(tuple(names))).search(straight(text)) is not None


@cache
def _together(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple({word for lexicon in lexicons() for name in names for word in lexicon.words[name]})
