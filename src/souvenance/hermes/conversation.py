"""One conversation: when it recalls what, what was said in it, and what a process caches of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.recalled import Known
from souvenance.agents.transcript import is_trivial
from souvenance.hermes.configuration import Configuration

_MOST_WIDENED = 8
"""However often memory had no answer, it is asked again after so many times the cadence."""
_STALE_AFTER = 2


class TurnPlan(Struct, frozen=True):
    """What a turn takes."""

    base: bool = False
    """The first layer is looked up for it."""
    ask: bool = False
    """Memory is asked for a supplement."""


class RecallPace(Struct, frozen=True):
    """When memory was last asked. A conversation begins with a new one, also after it was rewound.

    The host counts the turns of a conversation from 1. The count may jump, begin in the middle, go back
    or come twice, so nothing here depends on having seen a turn before.
    """

    asked: int | None = None
    unanswered: int = 0
    """How often in a row memory had no answer."""

    def turn(self, number: int, message: str, configuration: Configuration) -> TurnPlan:
        """What this turn takes; nothing if memory is only for tools.

        A mere nod takes nothing either, but for a conversation that begins with one: that has its base.
        """
        nod = is_trivial(message)
        over = number > 1 and (nod or configuration.injection_frequency == "first-turn")
        if configuration.recall_mode == "tools" or not message.strip() or over:
            return TurnPlan()
        cadence = configuration.dialectic_cadence
        wait = min(cadence + self.unanswered, cadence * _MOST_WIDENED)
        # A count that went back is that of another conversation.
        due = self.asked is None or number < self.asked or number - self.asked >= wait
        return TurnPlan(base=True, ask=due and not nod)

    def with_answer(self, number: int, *, found: bool) -> RecallPace:
        """Once memory has been asked in a turn. What failed is not told, so that it is due again."""
        return replace(self, asked=number, unanswered=0 if found else self.unanswered + 1)


def fresh(asked: int, number: int, configuration: Configuration) -> bool:
    """Whether an answer to the turn `asked` still bears on this one."""
    return 0 <= number - asked <= _STALE_AFTER * configuration.dialectic_cadence


_MOST = 500
_MARK_BYTES = 8


class HeardMessages(Struct, frozen=True):
    """What is kept of a conversation: not what was said, but marks to know it again by."""

    salt: bytes
    said: list[str] = []
    """The mark of each message of the user, oldest first; of a very long conversation, of the latest."""
    places: dict[str, int] = {}
    """Which of them each write brought, by the id of the write."""


class Transcript:
    """Finds the writes that were taken back, by their ids.

    An undo cuts off the end of a conversation, while compression replaces what comes before: so what
    was said after the last message that is still there was undone.
    """

    def __init__(self, heard: HeardMessages) -> None:
        self.heard = heard
        self._undos = 0
        """Of how many the host has yet to tell what they left."""

    def rewind(self) -> None:
        """The latest message was taken back, and maybe others before it."""
        self._undos += 1

    def wrote(self, write_id: str, text: str) -> None:
        """The write brought what the user said last."""
        said = [*self.heard.said, *self._marks((text,))]
        spare = max(0, len(said) - _MOST)
        places = {**self.heard.places, write_id: len(said) - 1}
        still = {one: place - spare for one, place in places.items() if place >= spare}
        self.heard = replace(self.heard, said=said[spare:], places=still)

    def goes_on(
        self, said: Sequence[str], undone: Callable[[], Iterable[str]] = tuple, following: str | None = None
    ) -> list[str]:
        """The writes that are gone, where the conversation goes on from these messages.

        `undone` gives the messages that were taken back at any time: an undo is then found even if the host
        does not report it. It is also found where `following` replaces the same message: that is a retry.
        """
        left = self._marks(said)
        retried = following is not None and self._missing(left) == self._marks((following,))
        noticed = not self._undos and (retried or self._were_undone(left, undone))
        return self._are_left(left, undone=noticed or self._undos > 0)

    def rests(self, said: Sequence[str], undone: Sequence[str]) -> list[str]:
        """The writes that are gone, where the conversation has not gone on since."""
        left = self._marks(said)
        return self._are_left(left, undone=True) if self._were_undone(left, lambda: undone) else []

    def is_over(self, said: Sequence[str] = ()) -> list[str]:
        """The writes that are gone, as far as is known at the end, when the host may list
        messages from before the undo, or of none: then it is the latest one.
        """
        if not self._undos:
            return []
        left = self._marks(said)
        if not left or left == self.heard.said:
            left = self.heard.said[: -self._undos]
        return self._are_left(left, undone=True)

    def _were_undone(self, left: list[str], undone: Callable[[], Iterable[str]]) -> bool:
        """Whether these are all that is left because the others were taken back."""
        missing = self._missing(left)
        return bool(missing) and set(missing) <= {*self._marks(undone())}

    def _missing(self, left: list[str]) -> list[str]:
        """What was said after these, if they are where the conversation began."""
        known = self.heard.said
        return known[len(left) :] if left == known[: len(left)] else []

    def _are_left(self, left: list[str], *, undone: bool) -> list[str]:
        known, places, self._undos = self.heard.said, self.heard.places, 0
        if left[: len(known)] == known:
            self.heard = self.heard if left == known else replace(self.heard, said=left)
            return []
        kept, last = _aligned(known, left, undone=undone)
        gone = [write_id for write_id, place in places.items() if place >= kept and undone]
        shift = last - kept
        still = {
            write_id: place + shift
            for write_id, place in places.items()
            if write_id not in gone
            and 0 <= place + shift < len(left)
            and (place >= kept or left[place + shift] == known[place])
        }
        self.heard = replace(self.heard, said=left, places=still)
        return gone

    def _marks(self, said: Iterable[str]) -> list[str]:
        return [
            blake2b(
                text.encode(errors="surrogatepass"), key=self.heard.salt, digest_size=_MARK_BYTES
            ).hexdigest()
            for text in said
        ]


def _aligned(known: list[str], left: list[str], *, undone: bool) -> tuple[int, int]:
    """How many of the known messages there are up to the last that is left, and how many that are left.

    That is where most of them in a row are the same; if there are two such places, then after an undo
    not at the end.
    """
    if left == known[: len(left)]:
        return len(left), len(left)
    last = len(left)
    while last and left[last - 1] not in known:
        last -= 1
    if not last:
        return (len(known) - 1, 0) if undone else (0, 0)
    ends = [end for end, mark in enumerate(known, 1) if mark == left[last - 1]]

    def rank(end: int) -> tuple[int, bool, int]:
        return _alike(known[:end], left[:last]), end < len(known) or not undone, end

    return max(ends, key=rank), last


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many are the same, from the end."""
    count = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        count += 1
    return count


class Supplement(Struct, frozen=True):
    """What memory was asked in a turn, and what it will say."""

    turn: int
    answer: Future[str]


class CachedConversation:
    def __init__(self, began_at: int) -> None:
        self.began_at = began_at
        """When it was first seen here, in milliseconds: what was said since is likely before the model."""
        self._lock = threading.Lock()
        self.pace = RecallPace()
        self.known: Known | None = None
        """What was last known, for turns that do not ask anew."""
        self.supplement: Supplement | None = None
        self.sent_by_caller = False
        """Whether who calls sends the history, though the host has it too: without what memory added."""
        self.scope: ConversationScope | None = None
        """Its scope, once something was written that the user may take back."""
        self._transcript: Transcript | None = None

    @contextmanager
    def transcript(self, begin: Callable[[], Transcript]) -> Iterator[Transcript]:
        """What was said in it, for one at a time; as it was before this process, at first."""
        with self._lock:
            self._transcript = self._transcript or begin()
            yield self._transcript

    def continues(self, other: CachedConversation) -> None:
        """It is the same conversation, which the host calls otherwise now."""
        self.scope, other.scope = other.scope, None
        self._transcript = other._transcript

    def rewind(self) -> None:
        """The latest turns were taken back: what they led to is looked up anew."""
        with self._lock:
            self.pace, self.known, self.supplement = RecallPace(), None, None
