"""Whether a change that a model says follows from the lines that it names, and from whose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from souvenance.adapters.model.grounding import SHARE, Embed, Ground, GroundingSource
from souvenance.adapters.model.replies import visible
from souvenance.language.doubt import denies
from souvenance.ports.model import Kind, KnownFacts, ModelPerson, ModelReading, Revision, Turn

LABELS = (
    "Name",
    "Pronouns",
    "Birthday",
    "Home",
    "Time zone",
    "Contact",
    "Work",
    "Studies",
    "Languages",
    "Partner",
    "Family",
    "Pets",
    "Health",
    "Medication",
    "Allergy",
    "Diet",
    "Likes",
    "Dislikes",
    "Plans",
    "Instructions",
)
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


class Shown(Struct, frozen=True):
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

    def __init__(self, shown: Shown, embed: Embed | None) -> None:
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
        if not self._ground(own, about).has_part(text):
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
