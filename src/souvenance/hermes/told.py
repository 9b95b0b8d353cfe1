"""What memory tells a new conversation, and the line that each part comes from."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from souvenance.agents import injection
from souvenance.agents.gated_memory import GatedMemory
from souvenance.agents.notes import Remark
from souvenance.agents.recalled import AI, USER, Known
from souvenance.agents.text_budget import MORE
from souvenance.agents.transcript import clean
from souvenance.domain.frame import defuse
from souvenance.hermes.configuration import Configuration
from souvenance.hermes.host import local_now
from souvenance.hermes.recall import NO_LIMIT

_ALIKE = 5


class ToldRemark(Struct, frozen=True):
    """One remark of that text."""

    heading: str
    id: str
    """The id of its line, which can be corrected or forgotten; empty if there is none."""
    day: str
    origin: str
    text: str


def told(memory: GatedMemory, configuration: Configuration, message: str) -> list[ToldRemark]:
    """What memory adds to the message; without one, what a new conversation gets. Raises: SouvenanceError."""
    known, tokens = memory.known(message), configuration.context_tokens or NO_LIMIT
    sections = injection.sections(known, message, local_now(), tokens=tokens)
    lines = list(_lines(memory, known, message)) if sections else []
    return [
        ToldRemark(heading.rstrip(":"), _line_of(one, lines), one.day, one.origin, one.text)
        for heading, remarks in sections
        for one in remarks
    ]


def _line_of(remark: Remark, lines: list[tuple[str, str]]) -> str:
    """The id of the first line with that text, as a whole or in the part that is shown."""
    part = remark.text.removeprefix("… ").removesuffix(MORE)
    whole = (line for line, text in lines if text == remark.text)
    return next(whole, next((line for line, text in lines if part in text), ""))


def _lines(memory: GatedMemory, known: Known, message: str) -> Iterator[tuple[str, str]]:
    """Ids of lines, with their text as shown. A conclusion from one message has the id of that message."""
    for passage in known.passages:
        found = [passage] if passage.id else memory.search(passage.text, USER, _ALIKE)
        yield from ((one.id, _shown(one.text)) for one in found if one.text == passage.text)
    yield from ((line, _shown(fact)) for fact, line in memory.card_sources(USER))
    for peer in (USER, AI):
        for query in dict.fromkeys((message or None, None)):
            for note in memory.conclusions(peer, query):
                [source] = note.source_ids if note.source_ids and len(note.source_ids) == 1 else [note.id]
                yield source, _shown(note.content)


def _shown(text: str) -> str:
    return defuse(clean(text))
