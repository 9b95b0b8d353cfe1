"""What a stretch of a session changes in what is known: one call of a model, and what it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from souvenance.adapters.model.calls import Asking
from souvenance.adapters.model.change_checks import LABELS, LONGEST_LINE, Checking, Reply, Shown
from souvenance.adapters.model.grounding import Embed
from souvenance.adapters.model.prompt_files import day, fenced, prompt, quote
from souvenance.adapters.model.replies import CUT_OFF
from souvenance.adapters.model.wire_format import Prompt
from souvenance.errors import ModelUnusable
from souvenance.ports.model import KnownFacts, ModelPerson, ModelReading, Revision, Turn

_TOKENS = 2000
_LONGEST_ASIDE = 600
_MOST_WISHES = 2000
"""How many tokens what is wished to be noted may have; less where the model's window is small."""
_BEFORE = 6
"""How many lines are shown before those that are read."""
_SMALL_WINDOW = 2048
"""A model with less is shown no known conclusions: the lines need the room."""


def revise(asking: Asking, reading: ModelReading, embed: Embed | None) -> list[Revision]:
    """Raises: ModelBudgetSpent, ModelUnavailable, ModelUnusable."""
    found: list[Revision] = []
    before = list(reading.before)
    for stretch in asking.stretches(reading.lines, _text, (asking.window - _tokens(asking)) // 2):
        if any(line.id in reading.fresh for line in stretch):
            found += _revised(asking, reading, stretch, before, embed)
        before = [*before, *stretch][-_BEFORE:]
    return found


def _revised(
    asking: Asking,
    reading: ModelReading,
    stretch: Sequence[Turn],
    before: Sequence[Turn],
    embed: Embed | None,
) -> list[Revision]:
    """What one call says; if its reply is cut off, what a call for each half says."""
    lines = {f"t{at}": line for at, line in enumerate((*before[-_BEFORE:], *stretch), 1)}
    shown = Shown(reading, lines, _known(asking, reading.people))
    asked = Prompt(
        messages=(
            {"role": "system", "content": _rules(reading)},
            {"role": "user", "content": _material(asking, shown, len(lines) - len(stretch))},
        ),
        tokens=_tokens(asking),
        schema=_schema(shown),
    )
    try:
        reply = asking.ask_for(asked, Reply)
    except ModelUnusable as error:
        if error.detail != CUT_OFF or len(stretch) < 2:
            raise
        half = len(stretch) // 2
        first = _revised(asking, reading, stretch[:half], before, embed)
        return [*first, *_revised(asking, reading, stretch[half:], stretch[:half], embed)]
    return Checking(shown, embed).checked(reply)


def _tokens(asking: Asking) -> int:
    return min(_TOKENS, asking.window // 4)


def _known(asking: Asking, people: Sequence[ModelPerson]) -> dict[str, tuple[str, KnownFacts]]:
    """As many conclusions as there is room for, each person's best first."""
    room = 0 if asking.window < _SMALL_WINDOW else asking.window // 6
    found: dict[str, tuple[str, KnownFacts]] = {}
    for person in people:
        [kept, *_] = asking.stretches(person.known, lambda one: one.text, room // len(people))
        for one in kept if room else ():
            found[f"k{len(found) + 1}"] = (person.name, one)
    return found


def _rules(reading: ModelReading) -> str:
    people = ", ".join(quote(person.name) for person in reading.people)
    rules = prompt("revise", people=people, labels=", ".join(LABELS))
    return f"{rules}\n\n{prompt('wishes')}" if any(map(str.strip, reading.wishes.values())) else rules


def _material(asking: Asking, shown: Shown, before: int) -> str:
    rows = [_row(label, line, shown.reading) for label, line in shown.lines.items()]
    cards = [{"about": one.name, "card": list(one.card)} for one in shown.reading.people if one.card]
    known = [_known_row(label, about, one) for label, (about, one) in shown.known.items()]
    parts = (
        ("The wishes", _wishes(asking, shown)),
        ("The cards", cards),
        ("What is known", known),
        ("What was said right before, as context", rows[:before]),
        ("The lines to read", rows[before:]),
    )
    return "\n\n".join(f"{title}:\n{fenced(some)}" for title, some in parts if some)


def _row(label: str, line: Turn, reading: ModelReading) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": label,
        "by": line.peer,
        "on": day(line.said_at),
        "text": _text(line, reading),
    }
    return {**row, "carried": True} if line.id in reading.carried else row


def _text(line: Turn, reading: ModelReading | None = None) -> str:
    """What somebody says of whom nothing is noted is cut short: it is context."""
    own = reading is None or any(person.name == line.peer for person in reading.people)
    return line.text[: LONGEST_LINE if own else _LONGEST_ASIDE]


def _known_row(label: str, about: str, one: KnownFacts) -> dict[str, str]:
    row = {"about": about, "since": day(one.at), "text": one.text}
    return row if one.by_hand else {"id": label, **row}


def _wishes(asking: Asking, shown: Shown) -> list[dict[str, Any]]:
    """Each wish once, with the lines that it is for if it is not for all."""
    labels: dict[str, list[str]] = {}
    for label, line in shown.lines.items():
        if line.id in shown.reading.fresh:
            labels.setdefault(shown.reading.wishes.get(line.id, "").strip(), []).append(label)
    most = min(_MOST_WISHES, asking.window // 8) // (len(labels) or 1)
    rows = [{"wishes": _bounded(asking, wish, most), "lines": some} for wish, some in labels.items() if wish]
    return [{"wishes": rows[0]["wishes"]}] if rows and len(labels) == 1 else rows


def _bounded(asking: Asking, text: str, most: int) -> str:
    """As much of a text, from its beginning, as so many tokens hold."""
    while text and (size := asking.count(text)) > most:
        text = text[: min(len(text) - 1, len(text) * most // size)].rstrip()
    return text


def _schema(shown: Shown) -> Mapping[str, Any]:
    """What a reply must look like; where an endpoint keeps to it, nothing else can be named."""
    sources = {"type": "array", "items": {"type": "string", "enum": list(shown.lines)}, "minItems": 1}
    people = {"type": "string", "enum": [person.name for person in shown.reading.people]}
    ids = [label for label, (_, one) in shown.known.items() if not one.by_hand]
    known = {"type": "string", "enum": ids} if ids else {"type": "string"}
    text, card = {"type": "string"}, {"type": ["string", "null"]}
    return _object(
        add=_list(about=people, text=text, sources=sources, card=card),
        replace=_list(id=known, text=text, sources=sources, card=card),
        retire=_list(id=known, sources=sources),
        keep=_list(id=known, sources=sources),
    )


def _list(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": _object(**properties)}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
