"""The card: the few lines that say who somebody is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mnemon.adapters.reason.lexicon import RELATIVES
from mnemon.adapters.reason.values import MOST_TRAIT
from mnemon.domain.denial import PARTNERS
from mnemon.domain.pattern import pattern
from mnemon.domain.standing import label_of, one_at_a_time
from mnemon.ports.reasoner import Entry

_OPPOSITE = {"likes": "dislikes", "dislikes": "likes"}
_KINDS = {**dict.fromkeys(_OPPOSITE, "tastes"), **dict.fromkeys(PARTNERS, "partners")}
"""Labels of which lines can make each other untrue."""
_LAST_TO_GO = frozenset(["allergy", "health", "instruction"])
_ORDER = (
    frozenset(["name", "goes by", "pronouns"]),
    frozenset(["allergy", "health", "diet", "does not eat", "does not drink"]),
    frozenset(["instruction"]),
    frozenset(["lives in", "time zone"]),
    frozenset(["works as", "works at", "works in", "starts at", "studies"]),
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


class _Line(NamedTuple):
    """A line of a card, and what is compared of it."""

    entry: Entry
    folded: str
    label: str
    value: str


class _Lines:
    """The lines of a card as they gather, in their order."""

    def __init__(self) -> None:
        self._lines: list[_Line] = []
        self._told: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._unnamed: dict[str, list[int]] = defaultdict(list)
        self._labelled: dict[str, list[int]] = defaultdict(list)

    @property
    def entries(self) -> list[Entry]:
        return [line.entry for line in self._lines]

    def put(self, entry: Entry) -> None:
        """Add a line, in the place of what it makes untrue."""
        line = _line(entry)
        unnamed = line.label and _UNNAMED.match(line.value)
        for at in self._rivals(line, unnamed=bool(unnamed)):
            other = self._lines[at]
            if other.folded == line.folded:
                return
            if other.entry.source is not None and _replaces(line, other):
                if not _says_less(line, other):
                    self._lines[at] = line
                    self._note(line, at)
                return
            if unnamed and other.label == line.label and _is_among(unnamed[1], other.folded):
                return
        self._add(line)

    def put_by_hand(self, entry: Entry) -> None:
        """Add a line that somebody wrote, unless it is there."""
        line = _line(entry)
        if all(self._lines[at].entry != entry for at in self._told[line.label, line.value]):
            self._add(line)

    def _rivals(self, line: _Line, *, unnamed: bool) -> Iterable[int]:
        """Where those lines are, and maybe others, that say the same, say less or can't hold beside it."""
        label = line.label
        if unnamed or label in PARTNERS or one_at_a_time(label):
            return sorted(self._labelled[_KINDS.get(label, label)])
        opposite = _OPPOSITE.get(label, label)
        return sorted(
            {*self._told[label, line.value], *self._told[opposite, line.value], *self._unnamed[label]}
        )

    def _add(self, line: _Line) -> None:
        self._lines.append(line)
        self._note(line, len(self._lines) - 1)

    def _note(self, line: _Line, at: int) -> None:
        self._told[line.label, line.value].append(at)
        if line.label and _UNNAMED.match(line.value):
            self._unnamed[line.label].append(at)
        noted = self._labelled[_KINDS.get(line.label, line.label)]
        if at not in noted[-1:]:
            noted.append(at)


def updated(entries: Sequence[Entry], news: Sequence[Entry], most: int) -> list[Entry]:
    """The card after the news, within `most` lines; what is written by hand stays, whatever its length."""
    by_hand = {_folded(entry.text) for entry in (*entries, *news) if entry.source is None}
    settled = {label for text in by_hand if one_at_a_time(label := label_of(text))}
    lines = _Lines()
    for entry in (*entries, *news):
        if entry.source is None:
            lines.put_by_hand(entry)
            continue
        line = Entry(" ".join(entry.text.split())[:MOST_TRAIT].rstrip(), entry.source)
        if line.text and label_of(line.text) not in settled and _folded(line.text) not in by_hand:
            lines.put(line)
    return sorted(_bounded(lines.entries, most), key=_place)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _line(entry: Entry) -> _Line:
    folded = _folded(entry.text)
    label = label_of(folded)
    return _Line(entry, folded, label, folded.partition(": ")[2] if label else folded)


def _replaces(line: _Line, other: _Line) -> bool:
    """Whether an older line no longer holds, or says less, beside the new one."""
    label = line.label
    if label in PARTNERS and other.label in PARTNERS:
        return True
    if other.label == label and label:
        if one_at_a_time(label):
            return True
        unnamed = _UNNAMED.match(other.value)
        return unnamed is not None and (
            _is_among(unnamed[1], f"{label}: {line.value}")
            or (unnamed[1] == label and not _UNNAMED.match(line.value))
        )
    return other.label != "" and _OPPOSITE.get(label) == other.label and other.value == line.value


def _is_among(kind: str, told: str) -> bool:
    """Whether one of that kind is told already, by name or by number: 'Rex (dog)', 'two dogs'."""
    return told.endswith((f" {kind})", f"({kind})", f" {kind}s")) and not _UNNAMED.match(
        told.partition(": ")[2]
    )


def _says_less(line: _Line, other: _Line) -> bool:
    """Whether the older line says the same more closely: 'Wife: Ana' beside 'Partner: Ana'."""
    closer = line.label in _ANY_PARTNER and other.label in PARTNERS - _ANY_PARTNER
    return closer and other.value == line.value


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
