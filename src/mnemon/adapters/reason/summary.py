"""A conversation in its most telling sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mnemon.adapters.reason.days import dated
from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.scenes import LASTS, Scene
from mnemon.adapters.reason.sentences import plain, prose, split
from mnemon.adapters.reason.statements import tells_something
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.domain.words import words
from mnemon.ports.reasoner import Turn

_MOST_SENTENCES = 200
_MOST_CHARS = 300
_SHARE = 0.4
_LARGER_SHARE = 0.7
_ROOMY = 2_000
"""How much of the sentences is told, and how much more by a summary that has room for so many tokens."""
_FEW = 6

_IDLE = frozenset(
    stem(word)
    for word in word_set(
        """
        hey hi hello wow thanks thank cool great nice awesome amazing good yeah yes sure okay ok bye
        soon later talk see take look lol haha oh well glad happy wonderful welcome morning evening love
        sounds sound way by check know think
        """
    )
)
"""What a sentence is not telling for."""

Count = Callable[[str], int]


class _Line(NamedTuple):
    """A candidate: where it stands, what it says, and how much it tells. The earlier summary is turn -1."""

    turn: int
    sentence: int
    text: str
    score: float


def summarise(earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Count) -> str:
    """The earlier lines and the most telling sentences after them, in time order, within the tokens."""
    old = _earlier_lines(earlier)
    new = _scored(turns) or _anything(turns)
    ranked = sorted(new, key=lambda line: (-line.score, line.turn, line.sentence))
    share = _SHARE if most_tokens < _ROOMY else _LARGER_SHARE
    ranked = ranked[: max(_FEW, round(share * len(ranked)))]
    picked: list[_Line] = []
    room = _filled(picked, old, most_tokens // 2 if ranked else most_tokens, count)
    room = _filled(picked, ranked, most_tokens - (most_tokens // 2 if ranked else most_tokens) + room, count)
    _filled(picked, [line for line in old if line not in picked], room, count)
    while picked and count(_rendered(picked)) > most_tokens:
        picked.remove(min(picked, key=lambda line: (line.score, line.turn, line.sentence)))
    if picked:
        return _rendered(picked)
    return _cut((ranked or old)[0].text, most_tokens, count) if ranked or old else ""


def _earlier_lines(earlier: str | None) -> list[_Line]:
    """The earlier summary's lines, first the ones that stay where not all of them fit."""
    lines = [" ".join(line.split()) for line in plain(earlier or "").splitlines() if line.strip()]
    ranked = [
        _Line(-1, at, line, len(set(content_stems(line))) + (100.0 if at == 0 else 0.0))
        for at, line in enumerate(lines)
    ]
    return sorted(ranked, key=lambda line: (-line.score, line.sentence))


def _scored(turns: Sequence[Turn]) -> list[_Line]:
    """Every sentence with content, by what it tells: facts first, then what the talk is mostly about.

    What is said in play is no fact, and told as what it is.
    """
    idle = _IDLE.union(*(map(stem, words(turn.peer)) for turn in turns))
    in_play = _played(turns)
    found = [
        (at, position, turn, sentence, stems)
        for at, turn in enumerate(turns)
        for position, sentence in enumerate(_sentences(turn.text))
        if (stems := set(content_stems(sentence)) - idle)
    ]
    common = Counter(one for *_, stems in found for one in stems)
    lines: list[_Line] = []
    for index, (at, position, turn, sentence, stems) in enumerate(found):
        score = sum(min(common[one], 8) for one in stems) / (len(stems) + 4)
        played = position >= in_play[at]
        if not played and tells_something(sentence, turn.said_at, turn.peer):
            score += 3.0
        elif len(stems) < 2:
            continue
        score += 1.0 if index in (0, len(found) - 1) else 0.0
        score -= 0.5 if sentence.endswith("?") else 0.0
        text = dated(_clipped(sentence), turn.said_at, None)
        who = f"{turn.peer} (in play)" if played else turn.peer
        lines.append(_Line(at, position, f"{who}: {text}", score))
    return lines


def _played(turns: Sequence[Turn]) -> list[int]:
    """From which of its sentences on each turn is said in play; where it sets a scene, from the second."""
    found: list[int] = []
    scene = Scene()
    for turn in turns:
        played, scene = scene.holds_in(turn), scene.after(turn)
        found.append(0 if played else 1 if scene.left == LASTS else _MOST_SENTENCES)
    return found


def _sentences(text: str) -> list[str]:
    return [sentence for line in prose(text) for sentence in split(line)][:_MOST_SENTENCES]


def _anything(turns: Sequence[Turn]) -> list[_Line]:
    """What there is where no sentence has content."""
    return [
        _Line(at, 0, f"{turn.peer}: {_clipped(said)}", 0.0)
        for at, turn in enumerate(turns)
        if words(said := " ".join(plain(turn.text).split()))
    ]


def _clipped(text: str) -> str:
    if len(text) <= _MOST_CHARS:
        return text
    return text[:_MOST_CHARS].rpartition(" ")[0] + " …"


def _filled(picked: list[_Line], lines: Sequence[_Line], room: int, count: Count) -> int:
    """Take lines as long as there is room, and tell the room that is left."""
    for line in lines:
        cost = count(line.text) + 1
        if cost <= room:
            picked.append(line)
            room -= cost
    return room


def _rendered(picked: Sequence[_Line]) -> str:
    """The lines in time order, each line once; what one turn said stands together."""
    rendered: list[str] = []
    turn = -1
    for line in sorted(picked, key=lambda line: (line.turn, line.sentence)):
        who, _, said = line.text.partition(": ")
        if line.turn == turn and turn >= 0 and rendered[-1].startswith(f"{who}: "):
            rendered[-1] += " " + said
        elif line.text not in rendered:
            rendered.append(line.text)
        turn = line.turn
    return "\n".join(rendered)


def _cut(text: str, most_tokens: int, count: Count) -> str:
    """As many words of a line as fit."""
    pieces = text.split()
    fits, too_many = 0, len(pieces) + 1
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if count(" ".join(pieces[:middle])) <= most_tokens:
            fits = middle
        else:
            too_many = middle
    return " ".join(pieces[:fits])
