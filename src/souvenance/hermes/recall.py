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
from souvenance.agents.injection import join, passage_room
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
"""After unanswered questions the pause grows, to this many times the cadence at most."""
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
"""The value of a limit that is set to 0, which means no limit."""


class TurnPlan(Struct, frozen=True):
    base: bool = False
    """Whether the first layer is looked up."""
    ask: bool = False
    """Whether memory is asked for a supplement."""


class RecallPace(Struct, frozen=True):
    """When memory was last asked. A conversation starts with a new one, and again after a rewind.

    The host counts the turns of a conversation from 1. The count may jump, begin in the middle, go back
    or come twice, so nothing here depends on having seen a turn before.
    """

    asked: int | None = None
    unanswered: int = 0
    """How many times in a row memory had no answer."""

    def turn(self, number: int, message: str, configuration: Configuration) -> TurnPlan:
        """The plan of this turn; empty if memory is only for tools.

        A trivial message gets nothing, except at the start of a conversation: there it gets the base.
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
        """The pace after memory answered in a turn. A failure leaves the question due."""
        return replace(self, asked=number, unanswered=0 if found else self.unanswered + 1)


def fresh(asked: int, number: int, configuration: Configuration) -> bool:
    return 0 <= number - asked <= _STALE_AFTER * configuration.dialectic_cadence


class Supplement(Struct, frozen=True):
    """A question to memory from one turn, and its answer to come."""

    turn: int
    answer: Future[str]


class CachedConversation:
    def __init__(self, began_at: int) -> None:
        self.began_at = began_at
        """When it was first seen here, in milliseconds. The model probably has what was said since."""
        self._lock = threading.Lock()
        self.pace = RecallPace()
        self.known: Known | None = None
        """The last result, for turns that get no new one in time."""
        self.supplement: Supplement | None = None
        self.sent_by_caller = False
        """Whether the caller sends the history itself, without what memory added."""
        self.scope: ConversationScope | None = None
        """Its scope, once something was written that the user may take back."""
        self._transcript: Transcript | None = None

    @contextmanager
    def transcript(self, begin: Callable[[], Transcript]) -> Iterator[Transcript]:
        """Its transcript, for one thread at a time. It starts with what earlier processes stored."""
        with self._lock:
            self._transcript = self._transcript or begin()
            yield self._transcript

    def continues(self, other: CachedConversation) -> None:
        """Take over the state of the same conversation under its former name."""
        self.scope, other.scope = other.scope, None
        self._transcript, self.sent_by_caller = other._transcript, other.sent_by_caller

    def rewind(self) -> None:
        """Forget what the latest turns led to, after they were undone."""
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
"""How long a turn waits while memory in this process is loaded, if recallWait is not set. Loading happens
once in a process, and once for each person."""

_FARTHEST_CLOCK = timedelta(hours=14)
"""The largest offset of a time zone from UTC."""

_MOST_ASKED = 4_000
"""How much of a message a lookup always uses, in characters."""

_log = logging.getLogger("souvenance.hermes")
_T = TypeVar("_T")


class Recall(Struct):
    runtime: ProfileRuntime
    configuration: Configuration
    scope: ConversationScope
    live: CachedConversation
    window: Callable[[], Window | None] = lambda: None
    """The model's window, if the host reports it."""
    missed: bool = False
    """Whether memory had no answer for the turn in time."""

    def background(self, message: str, number: int) -> str:
        """The text for the turn of that number; empty if memory has none, or not in time."""
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
        shown = self.window()
        known = self._base(self._look_up(message, patience, shown), until)
        self.missed = known is None
        base = "" if known is None else self._rendered(known, message, shown)
        # Asked for together, the layers would keep each other waiting. By rule the second repeats what the
        # first says, and a model takes longer than a turn usually waits: it comes with the next turn, unless
        # the first is empty, or recallWait is set.
        nothing = known is None or not (known.user.view or known.passages)
        chosen = configuration.recall_wait is not None and not self.runtime.near
        waits_on = live.supplement is not None or nothing or chosen
        every_turn = configuration.injection_frequency == "every-turn"
        if turn.ask and live.supplement is None and (waits_on or every_turn):
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
        shown = self.window()
        known = self._within(self._look_up(message, wait, shown), since + wait)
        return "" if known is None else self._rendered(known, message, shown)

    def _outward(self, message: str) -> str:
        """What memory is asked about. Memory elsewhere gets the message without its secrets."""
        if self.runtime.near:
            return message
        return redact(message[: max(_MOST_ASKED, self.configuration.dialectic_max_input_chars)])

    def _waits(self) -> tuple[float, float] | None:
        """How long the turn waits for a layer, and until when; None if there is no backend."""
        chosen, began = self.configuration.recall_wait, time.monotonic()
        since = self._since(self.configuration.patience, chosen=chosen is not None)
        if since is None:
            return None
        until = since + self.configuration.patience
        if chosen is None and self.runtime.cold(self.scope):
            until = max(until, began + _LOADING_SECONDS)
        return until - since, until

    def _since(self, wait: float, *, chosen: bool) -> float | None:
        """When the wait of a turn begins; None if the backend does not open in time.

        A wait that was configured includes the time of loading.
        """
        began = time.monotonic()
        if not self.runtime.loaded(wait if chosen else _LOADING_SECONDS):
            return None
        since = began if chosen else time.monotonic()
        return since if self.runtime.ready(since + wait - time.monotonic()) else None

    def _look_up(self, message: str, patience: float, window: Window | None) -> Future[Known] | None:
        """Over a network one call that asks for more is quicker than two."""
        tokens, shown = self.configuration.context_tokens, "" if window is None else window.before_model
        room = passage_room(tokens) if tokens and self.runtime.near else None
        return self.runtime.ask(
            self.scope, lambda memory: memory.known(message, shown=shown, room=room), patience
        )

    def _ask(self, message: str, number: int, *, warm: bool) -> None:
        asked = self.runtime.ask(
            self.scope, lambda memory: supplement(memory.ask, self.configuration, message, warm)
        )
        if asked is not None:
            self.live.supplement = Supplement(number, asked)

    def _within(self, looked_up: Future[Known] | None, deadline: float) -> Known | None:
        """The result if it comes by the deadline; otherwise the lookup is cancelled."""
        known = None if looked_up is None else _by(looked_up, deadline)
        if looked_up is not None and known is None:
            looked_up.cancel()
        return known

    def _base(self, looked_up: Future[Known] | None, deadline: float) -> Known | None:
        """The result of the lookup. If it is late: the last result, without quotations."""
        live = self.live
        known = self._within(looked_up, deadline)
        if known is not None:
            live.known = known
            return known
        return None if live.known is None else replace(live.known, passages=())

    def _earlier(self, number: int) -> str:
        """The answer to a question of an earlier turn, if it is recent enough for this one."""
        asked = self.live.supplement
        if asked is not None and not fresh(asked.turn, number, self.configuration):
            self.live.supplement = None
            asked.answer.cancel()
        return self._supplement(0.0)

    def _supplement(self, deadline: float) -> str:
        """The answer if it comes by the deadline; otherwise a later turn may have it."""
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
        """The passages that are not in the model's window. If the host does not report the window: those
        that were not said in this conversation since this process knows it.
        """
        if window is not None:
            return tuple(one for one in passages if not window.shows(one.text))
        began = datetime.fromtimestamp(self.live.began_at / 1000, UTC)
        here = self.scope.session
        return tuple(one for one in passages if one.session != here or self._before(one.said_at, began))

    def _before(self, said_at: datetime, began: datetime) -> bool:
        """Whether it was certainly said earlier. A quotation has the local time of the store."""
        if said_at.tzinfo is not None:
            return said_at < began
        if self.runtime.near:
            return said_at.replace(tzinfo=local_now().tzinfo) < began
        return said_at.replace(tzinfo=UTC) < began - _FARTHEST_CLOCK


def _failed(task: Future[str]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def _by(task: Future[_T], deadline: float) -> _T | None:
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
