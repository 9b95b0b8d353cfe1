"""The card: the few lines that say who somebody is."""

from __future__ import annotations

from collections.abc import Sequence

from mnemon.adapters.reason.lexicon import RELATIVES
from mnemon.adapters.reason.values import MOST_TRAIT
from mnemon.domain.denial import PARTNERS
from mnemon.domain.pattern import pattern
from mnemon.domain.standing import label_of, one_at_a_time
from mnemon.ports.reasoner import Entry

_OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}
_LAST_TO_GO = frozenset(["allergy", "health", "instruction"])
_ORDER = (
    frozenset(["name", "goes by", "pronouns"]),
    frozenset(["allergy", "health", "diet", "does not eat", "does not drink"]),
    frozenset(["instruction"]),
    frozenset(["lives in", "time zone"]),
    frozenset(["works as", "works at", "works in", "studies"]),
    RELATIVES | {"relationship", "children", "child", "grandchildren"},
    frozenset(["age", "birthday", "born", "from", "nationality", "speaks"]),
    frozenset(["pet", "best friend"]),
    frozenset[str](),
    frozenset(["prefers"]),
    frozenset(["likes", "dislikes"]),
)
"""The labels in the order of a card, the most useful first; any other stands right before the tastes."""
_THE_REST = 1 + next(at for at, labels in enumerate(_ORDER) if not labels)
_ANY_PARTNER = frozenset(["partner", "spouse"])
_UNNAMED = pattern(r"an? (.+)$")


def updated(entries: Sequence[Entry], news: Sequence[Entry], most: int) -> list[Entry]:
    """The card after the news, within `most` lines; what is written by hand stays, whatever its length."""
    by_hand = {_folded(entry.text) for entry in (*entries, *news) if entry.source is None}
    settled = {label for text in by_hand if one_at_a_time(label := label_of(text))}
    lines: list[Entry] = []
    for entry in (*entries, *news):
        if entry.source is None:
            if entry not in lines:
                lines.append(entry)
            continue
        line = Entry(" ".join(entry.text.split())[:MOST_TRAIT].rstrip(), entry.source)
        if line.text and label_of(line.text) not in settled and _folded(line.text) not in by_hand:
            _put(lines, line)
    return sorted(_bounded(lines, most), key=_place)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _put(lines: list[Entry], line: Entry) -> None:
    """Add a line, in the place of what it makes untrue."""
    folded = _folded(line.text)
    label, value = label_of(folded), folded.partition(": ")[2]
    for at, other in enumerate(lines):
        told = _folded(other.text)
        if told == folded:
            return
        if other.source is not None and _replaces(label, value, told):
            if not _says_less(label, value, told):
                lines[at] = line
            return
        if label_of(told) == label and (one := _UNNAMED.match(value)) and _is_among(one[1], told):
            return
    lines.append(line)


def _replaces(label: str, value: str, told: str) -> bool:
    """Whether an older line no longer holds, or says less, beside that label and value."""
    other = label_of(told)
    if label in PARTNERS and other in PARTNERS:
        return True
    if other == label and label:
        unnamed = _UNNAMED.match(told.partition(": ")[2])
        return one_at_a_time(label) or (
            unnamed is not None
            and (
                _is_among(unnamed[1], f"{label}: {value}")
                or (unnamed[1] == label and not _UNNAMED.match(value))
            )
        )
    return other != "" and _OPPOSITE.get(label) == other and told.partition(": ")[2] == value


def _is_among(kind: str, told: str) -> bool:
    """Whether one of that kind is told already, by name or by number: 'Rex (dog)', 'two dogs'."""
    return told.endswith((f" {kind})", f"({kind})", f" {kind}s")) and not _UNNAMED.match(
        told.partition(": ")[2]
    )


def _says_less(label: str, value: str, told: str) -> bool:
    """Whether the older line says the same more closely: 'Wife: Ana' beside 'Partner: Ana'."""
    other = label_of(told)
    return label in _ANY_PARTNER and other in PARTNERS - _ANY_PARTNER and value == told.partition(": ")[2]


def _bounded(lines: list[Entry], most: int) -> list[Entry]:
    """At most so many lines; of what there may be many the least useful goes first, then the oldest."""
    surplus = len(lines) - most
    if surplus <= 0:
        return lines
    derived = [at for at, line in enumerate(lines) if line.source is not None]
    gone = frozenset(sorted(derived, key=lambda at: (_weight(lines[at]), -_place(lines[at]), at))[:surplus])
    return [line for at, line in enumerate(lines) if at not in gone]


def _place(line: Entry) -> int:
    """How far down it stands: first what is written by hand, then what it takes to serve somebody."""
    if line.source is None:
        return 0
    label = label_of(line.text)
    if label.startswith(("favorite ", "favourite ")):
        return len(_ORDER)
    return next((at for at, labels in enumerate(_ORDER, 1) if label in labels), _THE_REST)


def _weight(line: Entry) -> int:
    label = label_of(line.text)
    if one_at_a_time(label):
        return 2
    return 1 if label in _LAST_TO_GO else 0
