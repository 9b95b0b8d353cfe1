"""The lines of a card that a plain statement gives: 'Label: value', the value in the person's own words.

A form of the lexicon is the words of such a statement. In it `{kin}` stands for a word of that list or for
one of the lexicon's shapes; a language that has neither does without the form. `[…]` is the value, or else
the last `{…}` is. A form begins where a clause does, and ends where one may; with `~` it does so anywhere.
What stands in `(…)` may be left out at the beginning of a sentence, as people type.

A shape is made of a word (`W`) or a word with a capital (`U`), of names (`N`), places (`P`), items of a list
(`I`) and languages (`T`); `n` forbids a word that no value begins with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from itertools import chain

from msgspec import Struct

from souvenance.language.lexicon import Lexicon, alternatives, lexicons, straight, words_of
from souvenance.patterns import pattern

_FIRST = "Name, Pronouns, Instructions, Allergy, Diet, Health, Home, Time zone, Work, Partner, Family"
LABELS = (*_FIRST.split(", "), "Pets", "Languages", "Birthday", "Contact")
"""The labels of a card by rule, in its order; a card written by hand or by a model may have others."""
_LONGEST_VALUE = 160
_GAP, _START, _BEGINNING, _END = " ", "(", "^", ")"
"""What stands between the words of a form, before them, before them in a sentence, and behind them."""
_PART = pattern(r"\{(\w+)\}|([\[\]])|(,)|(\s+)|([^\s{}\[\],]+)")
_LIST = pattern(r"\{([A-Za-z]\w*)\}")
_NO_VALUES = ("joins", "vague", "first", "opening", "am", "have")
"""No value begins with a word of these lists."""


class _Form(Struct, frozen=True):
    expression: re.Pattern[str]
    needs: list[frozenset[str]]
    """Of each of these sets a statement must have a word: most statements need no closer look."""

    def spans(self, said: str, words: Set[str]) -> Iterator[tuple[int, int]]:
        if not any(words.isdisjoint(some) for some in self.needs):
            yield from (match.span("value") for match in self.expression.finditer(said))


def card_lines(statement: str, lexicon: Lexicon) -> list[str]:
    """What the statement gives a card, in the order of the labels."""
    said = straight(statement)
    if lexicon.holds("ended", said):
        return []
    words = words_of(said)
    lines = []
    for label in LABELS:
        found = {span for form in _forms(lexicon, label) for span in form.spans(said, words)}
        sure = [span for span in _longest(found) if _is_sure(lexicon, said, span[1])]
        values = (statement[start:end].rstrip(" .,;!…") for start, end in sure)
        lines += [f"{label}: {value}" for value in values if _fits(label, value, said)]
    return lines


def _is_sure(lexicon: Lexicon, said: str, end: int) -> bool:
    """Whether nothing makes it doubtful, from the beginning to the end of the clause that holds the value."""
    clause_end = _clause_ends(lexicon).search(said, end)
    return not lexicon.holds("unsure", said[: clause_end.start()] if clause_end else said)


@cache
def _clause_ends(lexicon: Lexicon) -> re.Pattern[str]:
    return re.compile(rf"[.,;!?()…–—]|(?<!\w)(?:{alternatives(lexicon.words['leads'])})(?!\w)", re.IGNORECASE)


@cache
def words_for(label: str) -> str:
    """The words in which people state facts of that label: in its forms, and in lists of no other label."""
    found: set[str] = set()
    for lexicon in lexicons():
        others = _lists_in(form for name, some in lexicon.facts.items() if name != label for form in some)
        lists = [lexicon.words.get(name, ()) for name in _lists_in(lexicon.facts[label]) - others]
        found |= _words_in(" ".join([*lexicon.facts[label], *chain.from_iterable(lists)]))
    return " ".join(sorted(found))


def _lists_in(forms: Iterable[str]) -> set[str]:
    return set(_LIST.findall(" ".join(forms)))


def _words_in(form: str) -> frozenset[str]:
    return words_of(re.sub(r"\{\w+\}'?", " ", form))


def _longest(spans: set[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those that lie in no other."""
    for start, end in sorted(spans):
        if not any(one <= start and end <= other and (one, other) != (start, end) for one, other in spans):
            yield start, end


def _fits(label: str, value: str, said: str) -> bool:
    """Whether the value may be one of that label: a day has a number, names have capitals if any word has."""
    if label == "Birthday" and not any(map(str.isdigit, value)):
        return False
    if label in ("Name", "Home") and value.islower() and said != said.lower():
        return False
    return 0 < len(value) <= _LONGEST_VALUE


@cache
def _forms(lexicon: Lexicon, label: str) -> list[_Form]:
    shapes = _shapes(lexicon)
    known = [form for form in lexicon.facts[label] if _lists_in([form]) <= shapes.keys()]
    return [_Form(_compiled(form, shapes), _needs(lexicon, form)) for form in known]


def _needs(lexicon: Lexicon, form: str) -> list[frozenset[str]]:
    form = re.sub(r"^\(.*?\)", "", form)
    lists = [lexicon.words[name] for name in _lists_in([form]) if name in lexicon.words]
    literal = [(word,) for word in _words_in(form)]
    return [frozenset(word for phrase in some for word in words_of(phrase)) for some in (*literal, *lists)]


def _compiled(form: str, shapes: Mapping[str, str]) -> re.Pattern[str]:
    anywhere, open_end, form = form.startswith("~"), form.endswith("~"), form.strip("~")
    start = r"(?<!\w)" if anywhere else shapes[_START]
    if form.startswith("("):
        subject, _, form = form[1:].partition(") ")
        start = f"(?:{start}{_read(subject, shapes)}{shapes[_GAP]}|{shapes[_BEGINNING]})"
    if "[" not in form:
        head, _, last = form.rpartition("{")
        form = f"{head}[{{{last.replace('}', '}]', 1)}"
    end = r"(?![\w-]| in[ -]law)" if open_end else shapes[_END]
    return pattern(start + _read(form, shapes) + end)


def _read(form: str, shapes: Mapping[str, str]) -> str:
    made = []
    for shape, bracket, comma, space, word in _PART.findall(form):
        if shape:
            made.append(shapes[shape])
        elif bracket:
            made.append("(?P<value>" if bracket == "[" else ")")
        else:
            made.append(",?" if comma else shapes[_GAP] if space else rf"(?i:{re.escape(word)})")
    return "".join(made)


@cache
def _shapes(lexicon: Lexicon) -> dict[str, str]:
    """The regular expression of each part of a form."""
    shapes = {name: rf"(?i:(?:{alternatives(words)})(?!\w))" for name, words in lexicon.words.items()}
    shapes["n"] = "".join(f"(?!{shapes[name]})" for name in _NO_VALUES)
    for name, shape in lexicon.shapes.items():
        shapes[name] = _LIST.sub(lambda part: shapes[part[1]], shape)
    return shapes
