"""What a stretch of a session changes in what is known: one call of a model, and what it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from souvenance.adapters.model.calls import Asking
from souvenance.adapters.model.endpoint import Prompt
from souvenance.adapters.model.grounding import SHARE, Embed, Ground, GroundingSource
from souvenance.adapters.model.prompt_files import day, fenced, prompt, quote
from souvenance.adapters.model.replies import CUT_OFF, parsed
from souvenance.errors import ModelUnusable
from souvenance.language.characters import visible
from souvenance.language.facts import LABELS as LABELS_BY_RULE
from souvenance.language.forms import denies
from souvenance.ports.model import Kind, KnownFacts, ModelPerson, ModelReading, Revision, Turn

LABELS = (*LABELS_BY_RULE, "Studies", "Medication", "Likes", "Dislikes", "Plans")
"""What a line of a card may be about."""

MOST_CHANGES = 60
_LONGEST_TEXT = 400
_LONGEST_CARD = 200
_NEARBY = 4
"""How many lines before those that a statement names may have some of its words."""
LONGEST_LINE = 6000
"""How much of a line is read."""


class Item(Struct):
    sources: list[str] = []
    text: str = ""
    id: str = ""
    about: str | None = None
    card: str | None = None


class Reply(Struct):
    add: list[Item]
    replace: list[Item] = []
    retire: list[Item] = []
    keep: list[Item] = []


class ShownToModel(Struct, frozen=True):
    """What the model sees, each under a short name."""

    reading: ModelReading
    lines: Mapping[str, Turn]
    known: Mapping[str, tuple[str, KnownFacts]]
    """The people whom the conclusions are about, and the conclusions."""


def _called(person: ModelPerson) -> str:
    """What a statement may call somebody: by the peer's name, the name on the card, or 'the user'."""
    label = f"{LABELS[0]}: "
    return " ".join([person.name, "user", *(one.removeprefix(label) for one in person.card if label in one)])


class Checking:
    """Checks what a model says against what it was shown."""

    def __init__(self, shown: ShownToModel, embed: Embed | None) -> None:
        self._shown = shown
        self._embed = embed
        self._people = [person.name for person in shown.reading.people]
        self._called = {person.name: _called(person) for person in shown.reading.people}
        self._language = " ".join(line.text for line in shown.lines.values())

    def checked(self, reply: Reply) -> list[Revision]:
        found = [self._stated("add", item) for item in reply.add]
        found += [self._stated("replace", item) for item in reply.replace]
        found += [self._pointed("retire", item) for item in reply.retire]
        found += [self._pointed("keep", item) for item in reply.keep]
        return [one for one in found if one is not None][:MOST_CHANGES]

    def _pointed(self, kind: Kind, item: Item) -> Revision | None:
        """A known conclusion that is kept or retired, if its person says so."""
        about, known = self._known(item)
        own = [line.id for line in self._named(item) if self._is_own(line, about)]
        if known is None or not own or (kind == "retire" and known.by_hand):
            return None
        return Revision(kind, about, tuple(own), known=known.id)

    def _stated(self, kind: Kind, item: Item) -> Revision | None:
        """Something new, if the lines that it names say it, and its person says one of them."""
        about, known = self._known(item)
        text = " ".join(visible(item.text).split()).strip(" *-")
        named = self._named(item)
        own = [line for line in named if self._is_own(line, about)]
        if not own or not text or len(text) > _LONGEST_TEXT:
            return None
        if kind == "replace" and (known is None or known.by_hand):
            return None
        heard = self._heard(own, named, text)
        needed = self._needed(heard, own, text)
        ground = self._ground(heard, about, needed)
        needs_known = known is not None and (
            not ground.bears(text) or not ground.has_all(self._ground((), about, known=known).found(text))
        )
        if needs_known:
            ground = self._ground(heard, about, needed, known)
        if not ground.bears(text):
            return None
        alone = [line for line in own if self._says_all(line, text, ground)]
        sources = [*needed, *own] if needed or needs_known else alone or own
        return Revision(
            kind,
            about,
            tuple(line.id for line in sources),
            text,
            self._card(item.card, text, named, about),
            None if known is None else known.id,
            together=sources is not alone and len(sources) > 1,
            needs_known=needs_known,
        )

    def _says_all(self, line: Turn, text: str, ground: Ground) -> bool:
        """Whether a line alone bears a text, and has every word of it that the whole ground has."""
        one = self._ground([line], line.peer)
        return one.bears(text) and one.has_all(ground.found(text))

    def _known(self, item: Item) -> tuple[str, KnownFacts | None]:
        """Whom an item is about, and the conclusion that it names."""
        if item.id in self._shown.known:
            return self._shown.known[item.id]
        about = self._people[0] if item.about is None and len(self._people) == 1 else item.about or ""
        return (about if about in self._people else ""), None

    def _named(self, item: Item) -> list[Turn]:
        """The lines that an item names, in their order; none if it names one that was not shown."""
        if not set(item.sources) <= self._shown.lines.keys():
            return []
        return [line for label, line in self._shown.lines.items() if label in item.sources]

    def _is_own(self, line: Turn, about: str) -> bool:
        return line.peer == about and line.id in self._shown.reading.fresh

    def _heard(self, own: Sequence[Turn], named: Sequence[Turn], text: str) -> list[Turn]:
        """The lines that count: the person's own, and those of others that they answer.

        Those are the named ones, and the one right before a line of their own. To deny what another said is
        no ground for saying it, unless the reply has a part in what is said.
        """
        order = list(self._shown.lines.values())
        heard = []
        for line in own:
            place = order.index(line)
            asked = [one for one in order[:place] if one in named or one is order[place - 1]]
            others = [one for one in asked if one.peer != line.peer]
            if not denies(line.text) or denies(text) or self._has_part(line, others, text):
                heard += others
        return [*dict.fromkeys(heard), *own]

    def _has_part(self, reply: Turn, asked: Sequence[Turn], text: str) -> bool:
        """Whether a reply has a word of the text that nothing has that it replies to."""
        before = set(self._ground(asked, reply.peer).found(text))
        return not before.issuperset(self._ground([reply], reply.peer).found(text))

    def _needed(self, heard: Sequence[Turn], own: Sequence[Turn], text: str) -> list[Turn]:
        """The person's lines shortly before that have words of the text which the named ones lack.

        A line of their own must have something of the text, too: 'no wait, it was the 10th' has the day.
        """
        order, about = list(self._shown.lines.values()), own[0].peer
        if not self._ground(own, about).share(text):
            return []
        near = [one for one in order[: order.index(own[0])] if self._is_own(one, about) and one not in heard]
        found = set(self._ground(heard, about).found(text))
        return [
            one for one in near[-_NEARBY:] if not found.issuperset(self._ground([one], about).found(text))
        ]

    def _ground(
        self, lines: Iterable[Turn], about: str, context: Iterable[Turn] = (), known: KnownFacts | None = None
    ) -> Ground:
        sources = [GroundingSource(line.text[:LONGEST_LINE], line.said_at) for line in lines]
        if known is not None:
            sources.append(GroundingSource(known.text, known.at))
        nearby = " ".join(line.text for line in context)
        called = self._called.get(about, about)
        return Ground(sources, called, self._embed, context=nearby, beside=self._language)

    def _card(self, card: str | None, text: str, lines: Sequence[Turn], about: str) -> str | None:
        """The line of a card, if its label is one of ours and its value is in the statement or the lines."""
        label, _, value = visible(card or "").partition(":")
        known = next((one for one in LABELS if one.casefold() == label.strip().casefold()), None)
        value = " ".join(value.split()).strip(" .")
        if known is None or not value:
            return None
        ground = self._ground([*lines, Turn("", about, text, lines[-1].said_at)], about)
        if not ground.names_all(value) or ground.share(value) < SHARE:
            return None
        return f"{known}: {value}"[:_LONGEST_CARD]


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
    shown = ShownToModel(reading, lines, _known(asking, reading.people))
    people = ", ".join(quote(person.name) for person in reading.people)
    rules = prompt("revise", people=people, labels=", ".join(LABELS))
    if any(map(str.strip, reading.wishes.values())):
        rules = f"{rules}\n\n{prompt('wishes')}"
    asked = Prompt(
        messages=(
            {"role": "system", "content": rules},
            {"role": "user", "content": _material(asking, shown, len(lines) - len(stretch))},
        ),
        tokens=_tokens(asking),
        schema=_schema(shown),
    )
    try:
        reply = asking.ask_for(asked, lambda reply: parsed(reply, Reply))
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


def _material(asking: Asking, shown: ShownToModel, before: int) -> str:
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
    carried = {"carried": True} if line.id in reading.carried else {}
    return {"id": label, "by": line.peer, "on": day(line.said_at), "text": _text(line, reading), **carried}


def _text(line: Turn, reading: ModelReading | None = None) -> str:
    """What somebody says of whom nothing is noted is cut short: it is context."""
    own = reading is None or any(person.name == line.peer for person in reading.people)
    return line.text[: LONGEST_LINE if own else _LONGEST_ASIDE]


def _known_row(label: str, about: str, one: KnownFacts) -> dict[str, str]:
    row = {"about": about, "since": day(one.at), "text": one.text}
    return row if one.by_hand else {"id": label, **row}


def _wishes(asking: Asking, shown: ShownToModel) -> list[dict[str, Any]]:
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


def _schema(shown: ShownToModel) -> Mapping[str, Any]:
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
