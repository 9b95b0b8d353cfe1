"""Finding: the lines of some rooms that answer a question best, ranked by the index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial

from mnemon.core.desk import Desk
from mnemon.core.meaning import Meaning
from mnemon.core.vault import RoomKeys
from mnemon.domain import calendar, signs, words
from mnemon.domain import question as questions
from mnemon.domain.courtesy import is_courtesy
from mnemon.domain.question import Question
from mnemon.domain.relevance import MEANING, worth_showing
from mnemon.errors import Tampered
from mnemon.ports.index import Asked, Hit, Inquiry
from mnemon.ports.thesaurus import Thesaurus

_SIGNS = tuple(words.mark("sign", sign) for sign in signs.EVERY)
_FAR_BEHIND = 1_000
"""A room that lacks so many vectors is being given new ones: which of its lines lack one is not asked."""


def understand(desk: Desk, text: str, at: int | None = None) -> Question:
    """The question, as asked now or at that time (in milliseconds)."""
    moment = desk.now if at is None else at
    return desk.once((understand, text, moment), lambda: questions.read(text, moment))


def foresee(desk: Desk, text: str) -> None:
    """Let the embedder begin with a question that will be asked once something else is done."""
    desk.tools.meaning.expect(questions.as_told(text))


def _days(question: Question) -> tuple[list[str], list[str]]:
    """The marks of the days and months that the question speaks of, and of the days close to these."""
    spoken_of = calendar.days(question.spans)
    close = [day for day in calendar.days(map(calendar.widened, question.spans)) if day not in spoken_of]
    days = [words.mark("day", day) for day in spoken_of]
    days += [words.mark("month", month) for month in calendar.months(question.spans, long_only=True)]
    return days, [words.mark("day", day) for day in close]


def _with_kin(thesaurus: Thesaurus, terms: Sequence[str]) -> tuple[list[str], list[int], list[float]]:
    """The terms and their kin; of each the number of its term, and how close it is to that."""
    spelt, groups, closeness = list(terms), list(range(len(terms))), [1.0] * len(terms)
    for at, term in enumerate(terms):
        for kin, close in thesaurus.kin(term):
            if kin not in terms:
                spelt.append(kin)
                groups.append(at)
                closeness.append(close)
    return spelt, groups, closeness


def _vector(meaning: Meaning, keys: RoomKeys, space: str, line_id: str, sealed: bytes) -> bytes | None:
    """A line's packed vector; one that does not open is none, and will be made anew."""
    try:
        return keys.open_vector(line_id, sealed, space)
    except Tampered:
        meaning.lost(keys.room, line_id)
        return None


def _as_meant(desk: Desk, question: Question, held: Callable[[str], bool]) -> Question:
    """The question with those words spelt right that nobody knows and no line holds."""
    meant = {}
    for word in questions.plain(question.text):
        other = desk.once((_as_meant, word), partial(desk.tools.spelling.meant, word))
        if other is not None and not held(word):
            meant[word] = other
    return questions.respelt(question, meant) if meant else question


def _held(
    desk: Desk,
    rooms: Sequence[RoomKeys],
    word: str,
    *,
    marks: Sequence[str],
    sessions: Collection[str] | None,
    said: bool,
    within: Collection[str] | None,
) -> bool:
    """Whether any line within these bounds holds the word."""
    terms = words.asked(word)
    inquiry = Inquiry(
        rooms=[
            Asked(keys.room, words.blind(keys.blind, terms), words.blind(keys.blind, marks)) for keys in rooms
        ],
        groups=range(len(terms)),
        closeness=[1.0] * len(terms),
        sessions=sessions,
        said=said,
    )
    return bool(desk.tools.index.search(desk.tx, inquiry, 1, within))


def _beside(named: Mapping[str, Collection[str]], terms: Iterable[str]) -> list[str]:
    """Those of the terms that name nobody who speaks."""
    return [term for term in terms if not any(term in name for name in named.values())]


def _without_vector(desk: Desk, hits: Iterable[Hit]) -> list[Hit]:
    """Those of the hits whose lines have no vector yet, and not one that lies far."""
    apart = [hit for hit in hits if MEANING not in hit.signals]
    space = desk.tools.meaning.space
    lacking = {room: desk.tx.terms.lacking(room, space, _FAR_BEHIND) for room in {hit.room for hit in apart}}
    return [hit for hit in apart if hit.id in lacking[hit.room] or len(lacking[hit.room]) == _FAR_BEHIND]


def _any_worth_showing(desk: Desk, hits: Sequence[Hit], *, by_meaning: bool, named: bool, past: bool) -> bool:
    """Whether any answers well enough for who did not ask: in meaning, or if it has no vector, in words."""
    enough = partial(worth_showing, named=named, past=past)
    if by_meaning and enough((hit.signals for hit in hits), by_meaning=True):
        return True
    by_words = [hit for hit in hits if enough((hit.signals,), by_meaning=False)]
    return bool(_without_vector(desk, by_words) if by_meaning else by_words)


def find(
    desk: Desk,
    rooms: Iterable[RoomKeys],
    question: Question,
    k: int,
    *,
    marks: Sequence[str] = (),
    sessions: Collection[str] | None = None,
    said: bool = False,
    within: Collection[str] | None = None,
    floor: bool = False,
) -> list[Hit]:
    """The k best of the rooms' lines that bear the marks and lie in the sessions, best first.

    Lines beyond these bounds have no part in it, not even in how telling a word is.
    With `floor`, nothing where nothing answers the question well enough to be shown to who did not ask.
    """
    rooms = list(rooms)
    if not rooms or not (question.terms or question.spans) or (floor and is_courtesy(question.text)):
        return []
    held = partial(_held, desk, rooms, marks=marks, sessions=sessions, said=said, within=within)
    question = _as_meant(desk, question, held)
    named = questions.speakers(question, {keys.room.owner for keys in rooms})
    terms = _beside(named, question.terms) or list(question.terms)
    kin = (_with_kin, *terms)
    spelt, groups, closeness = desk.once(kin, lambda: _with_kin(desk.tools.thesaurus, terms))
    days, near_days = _days(question)
    names = _beside(named, question.names)
    speaker = questions.subject(question, named)
    meaning = desk.tools.meaning
    vector = cache(partial(meaning.vector, questions.as_told(question.text, speaker)))
    inquiry = Inquiry(
        rooms=[
            Asked(
                keys.room,
                desk.once((keys.room, *kin), partial(words.blind, keys.blind, spelt)),
                words.blind(keys.blind, marks),
                words.blind(keys.blind, _SIGNS),
                words.blind(keys.blind, days),
                words.blind(keys.blind, near_days),
                words.blind(keys.blind, names),
                partial(_vector, meaning, keys, meaning.space),
            )
            for keys in rooms
        ],
        groups=groups,
        closeness=closeness,
        vector=vector,
        space=meaning.space,
        speakers=() if speaker is None else (speaker,),
        wants=question.wants,
        spans=question.spans,
        sessions=sessions,
        said=said,
    )
    hits = desk.tools.index.search(desk.tx, inquiry, k, within)
    shown = partial(_any_worth_showing, desk, hits, named=bool(names), past=question.past)
    return hits if not floor or shown(by_meaning=vector() is not None) else []
