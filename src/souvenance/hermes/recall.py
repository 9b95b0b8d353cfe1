"""Recall: when a conversation asks memory, what a turn is given of it, and how long it waits for that."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from souvenance.agents import injection
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.injection import join
from souvenance.agents.recalled import Known, RecalledPassage
from souvenance.agents.redaction import redact
from souvenance.agents.text_budget import cut
from souvenance.agents.transcript import clean, is_trivial
from souvenance.domain.representation import RELAY_CHARS, relayed
from souvenance.errors import SouvenanceError
from souvenance.hermes.configuration import Configuration, Level
from souvenance.hermes.delivery import Transcript
from souvenance.hermes.host import Window, local_now

if TYPE_CHECKING:
    from souvenance.hermes.profile_runtime import ProfileRuntime

_MOST_WIDENED = 8
"""However often memory had no answer, it is asked again after so many times the cadence."""
_STALE_AFTER = 2

COLD = (
    "Who is this person? What are their preferences, goals, and working style? "
    "Focus on facts that would help an AI assistant be immediately useful."
)
WARM = (
    "Given what's been discussed in this session so far, what context about this user is most relevant "
    "to the current conversation? Prioritize active context over biographical facts."
)

Ask = Callable[[str, Level], str]
NO_LIMIT = 1_000_000_000
"""What 0 stands for where it takes a limit away."""


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
        self._transcript, self.sent_by_caller = other._transcript, other.sent_by_caller

    def rewind(self) -> None:
        """The latest turns were taken back: what they led to is looked up anew."""
        with self._lock:
            self.pace, self.known, self.supplement = RecallPace(), None, None


def supplement(ask: Ask, configuration: Configuration, message: str, warm: bool) -> str:
    """What memory answers for the message; empty if it has nothing to say, or the message asks nothing.

    `warm`: whether the turn has a base layer. Raises: SouvenanceError.
    """
    message = clean(message)
    if is_trivial(message):
        return ""
    most = configuration.dialectic_max_input_chars
    question = cut(WARM if warm else COLD, most)
    prompt = relayed(question, cut(message, most - len(question) - RELAY_CHARS))
    answer = ask(prompt, configuration.dialectic_reasoning_level).strip()
    return cut(answer, configuration.dialectic_max_chars or NO_LIMIT)


def inject(configuration: Configuration, base: str, supplement: str, before: str = "") -> str:
    """What the host puts into the fence: nothing where memory is only for tools.

    `before` is what was put there in earlier turns that the model still has before it.
    """
    if configuration.recall_mode == "tools":
        return ""
    return join(base, supplement, configuration.context_tokens or NO_LIMIT, before=before)


_LOADING_SECONDS = 3.0
"""Once in a process what answers is loaded, and once for everybody what they have in a store: who did not say
how long to wait waits so long for that, and no longer."""

_FARTHEST_CLOCK = timedelta(hours=14)
"""By how much the clocks of any place are ahead of UTC at most."""

_MOST_ASKED = 4_000
"""Of so much of a message is memory always asked."""

_log = logging.getLogger("souvenance.hermes")
_T = TypeVar("_T")


class Recall(Struct):
    """The recall of one conversation."""

    runtime: ProfileRuntime
    configuration: Configuration
    scope: ConversationScope
    live: CachedConversation
    window: Callable[[], Window | None] = lambda: None
    """What the host says that the model has before it, if it says so."""
    missed: bool = False
    """Whether memory had no answer for the turn in time."""

    def background(self, message: str, number: int) -> str:
        """What the turn of that number is given; empty if memory has nothing, or not in time."""
        live, configuration = self.live, self.configuration
        if not self.scope.namespaces.read or not live.pace.turn(number, message, configuration).base:
            return ""
        waits = self._waits()
        self.missed = waits is None
        if waits is None:
            return ""
        patience, until = waits
        earlier, warm = self._earlier(number), live.known is not None
        turn = live.pace.turn(number, message, configuration)  # Once more, for it counts what was answered.
        message = self._outward(message)
        known = self._base(self._look_up(message, patience), until)
        self.missed = known is None
        shown = self.window()
        base = "" if known is None else self._rendered(known, message, shown)
        # Asked for together, the layers would keep each other waiting. By rule the second repeats what the
        # first says, and a model takes longer than a turn usually waits: it comes with the next turn, unless
        # the first had nothing to tell, or somebody chose to wait.
        nothing = known is None or not (known.user.view or known.passages)
        chosen = configuration.recall_wait is not None and not self.runtime.near
        waits_on = live.supplement is not None or nothing or chosen
        if turn.ask and live.supplement is None and (waits_on or configuration.shows_later):
            self._ask(message, number, warm=warm)
        supplement = (self._supplement(until) if waits_on else "") or earlier
        return inject(configuration, base, supplement, "" if shown is None else shown.injected)

    def at_once(self, message: str) -> str:
        """The first layer for the message, whichever turn it is; nothing if memory is only for tools."""
        wait = self.configuration.patience
        if self.configuration.recall_mode == "tools" or not self.scope.namespaces.read:
            return ""
        if (since := self._since(wait, chosen=True)) is None:
            return ""
        message = self._outward(message)
        known = self._within(self._look_up(message, wait), since + wait)
        return "" if known is None else self._rendered(known, message, self.window())

    def _outward(self, message: str) -> str:
        """What memory is asked about: where it is elsewhere, no secret of the message goes there."""
        if self.runtime.near:
            return message
        return redact(message[: max(_MOST_ASKED, self.configuration.dialectic_max_input_chars)])

    def _waits(self) -> tuple[float, float] | None:
        """For how long the turn waits for a layer, and until when; None if there is no backend."""
        chosen, began = self.configuration.recall_wait, time.monotonic()
        since = self._since(self.configuration.patience, chosen=chosen is not None)
        if since is None:
            return None
        until = since + self.configuration.patience
        if chosen is None and self.runtime.cold(self.scope):
            until = max(until, began + _LOADING_SECONDS)
        return until - since, until

    def _since(self, wait: float, *, chosen: bool) -> float | None:
        """From when on a turn waits that long; None if the backend is not open by then.

        What has to be loaded first is part of a wait that somebody chose.
        """
        began = time.monotonic()
        if not self.runtime.loaded(wait if chosen else _LOADING_SECONDS):
            return None
        since = began if chosen else time.monotonic()
        return since if self.runtime.ready(since + wait - time.monotonic()) else None

    def _look_up(self, message: str, patience: float) -> Future[Known] | None:
        return self.runtime.ask(self.scope, lambda memory: memory.known(message), patience)

    def _ask(self, message: str, number: int, *, warm: bool) -> None:
        asked = self.runtime.ask(
            self.scope,
            lambda memory: supplement(memory.ask, self.configuration, message, warm),
        )
        if asked is not None:
            self.live.supplement = Supplement(number, asked)

    def _within(self, looked_up: Future[Known] | None, deadline: float) -> Known | None:
        """What was looked up, if it is there by then; otherwise nobody wants it any longer."""
        known = None if looked_up is None else _by(looked_up, deadline)
        if looked_up is not None and known is None:
            looked_up.cancel()
        return known

    def _base(self, looked_up: Future[Known] | None, deadline: float) -> Known | None:
        """What was looked up; where it does not come in time, what was known, but for what was said."""
        live = self.live
        known = self._within(looked_up, deadline)
        if known is not None:
            live.known = known
            return known
        return None if live.known is None else replace(live.known, passages=())

    def _earlier(self, number: int) -> str:
        """What memory was asked in an earlier turn and has answered since, if it still bears on this one."""
        asked = self.live.supplement
        if asked is not None and not fresh(asked.turn, number, self.configuration):
            self.live.supplement = None
            asked.answer.cancel()
        return self._supplement(0.0)

    def _supplement(self, deadline: float) -> str:
        """The answer to what memory was asked, if it is there by then; otherwise a later turn may have it."""
        live = self.live
        asked = live.supplement
        if asked is None:
            return ""
        answer = _by(asked.answer, deadline)
        if answer is not None or _failed(asked.answer):
            live.supplement = None
        if answer is None:
            return ""
        live.pace = live.pace.with_answer(asked.turn, found=bool(answer))
        return answer

    def _rendered(self, known: Known, message: str, window: Window | None) -> str:
        """Without what the model has before it anyway."""
        return injection.base(
            replace(known, passages=self._out_of_sight(known.passages, window)),
            message,
            local_now(),
            tokens=self.configuration.context_tokens or NO_LIMIT,
            before="" if window is None else window.injected,
        )

    def _out_of_sight(
        self, passages: Sequence[RecalledPassage], window: Window | None
    ) -> tuple[RecalledPassage, ...]:
        """Those that the model does not have before it; where nobody says what it has, it is what was said in
        this conversation since this process knows of it.
        """
        if window is not None:
            return tuple(one for one in passages if not window.shows(one.text))
        began = datetime.fromtimestamp(self.live.began_at / 1000, UTC)
        here = self.scope.session
        return tuple(one for one in passages if one.session != here or self._before(one.said_at, began))

    def _before(self, said_at: datetime, began: datetime) -> bool:
        """Whether it was certainly said before. A quotation has the local time of the store."""
        if said_at.tzinfo is not None:
            return said_at < began
        if self.runtime.near:
            return said_at.replace(tzinfo=local_now().tzinfo) < began
        return said_at.replace(tzinfo=UTC) < began - _FARTHEST_CLOCK


def _failed(task: Future[str]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _by(task: Future[_T], deadline: float) -> _T | None:
    """What came of the task, if that is known by then."""
    try:
        return task.result(max(0.0, deadline - time.monotonic()))
    except TooLate:
        return None
    except SouvenanceError as error:
        _log.debug("souvenance: nothing recalled: %s: %s", error.code, error.detail)
        return None
    except Exception as error:  # noqa: BLE001 - a turn has what else there is
        _log.warning("souvenance: nothing recalled: %s: %s", type(error).__name__, error)
        return None
