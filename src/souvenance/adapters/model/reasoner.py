"""The model: each task to its endpoint, within the budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import TypeVar

from souvenance.adapters.model import revisions
from souvenance.adapters.model.calls import Asking, ModelBudget
from souvenance.adapters.model.chat import Answering
from souvenance.adapters.model.endpoint import Endpoint, Prompt
from souvenance.adapters.model.grounding import Embed, Ground, GroundingSource
from souvenance.adapters.model.prompt_files import day, fenced, prompt
from souvenance.adapters.model.replies import in_words
from souvenance.domain.model_budget import Spent
from souvenance.errors import ModelBudgetSpent, ModelUnavailable, ModelUnusable
from souvenance.language.characters import visible
from souvenance.language.forms import sentences
from souvenance.ports.model import (
    ANSWER,
    DERIVE,
    SUMMARISE,
    AnswerPieces,
    ModelAnswer,
    ModelQuestion,
    ModelReading,
    ModelState,
    Pace,
    Revision,
    Turn,
)
from souvenance.ports.observer import MODEL, Observer

_KEPT = 0.5
"""What share of the sentences must be borne for the summary to be one."""
_LONGEST_LINE = 6000
_MOST_TOKENS = 2000
"""How long a summary is asked for."""
_WORDS_PER_TOKEN = 0.6

Count = Callable[[str], int]


class Summarising:
    """A summary in steps, if there is more to read than a prompt has room for."""

    def __init__(self, asking: Asking, most_tokens: int, count: Count, embed: Embed | None) -> None:
        self._asking = asking
        self._most_tokens = most_tokens
        self._tokens = max(16, min(most_tokens, _MOST_TOKENS, asking.window // 4))
        self._count = count
        self._embed = embed

    def summary(self, earlier: str | None, turns: Sequence[Turn]) -> str:
        """Raises: ModelBudgetSpent, ModelUnavailable, ModelUnusable."""
        room = self._asking.window - 2 * self._tokens - 600
        for stretch in self._asking.stretches(turns, lambda turn: turn.text[:_LONGEST_LINE], room):
            earlier = self._step(earlier, stretch)
        return earlier or ""

    def _step(self, earlier: str | None, turns: Sequence[Turn]) -> str:
        rows = [
            {"by": turn.peer, "on": day(turn.said_at), "text": turn.text[:_LONGEST_LINE]} for turn in turns
        ]
        parts = [f"The conversation:\n{fenced(rows)}"]
        if earlier:
            parts.insert(0, f"The earlier summary:\n{fenced([{'summary': earlier}])}")
        rules = prompt("summarise", words=str(int(self._tokens * _WORDS_PER_TOKEN)))
        messages = ({"role": "system", "content": rules}, {"role": "user", "content": "\n\n".join(parts)})
        reply = self._asking.ask(Prompt(messages, self._tokens))
        lines = visible(in_words(reply)).splitlines()
        written = [sentence for line in lines for sentence in sentences(line.strip(" -*#•"))]
        return self._kept(written[:-1] if reply.truncated else written, earlier or "", turns)

    def _kept(self, written: Sequence[str], earlier: str, turns: Sequence[Turn]) -> str:
        """The sentences that rest on what was said, as many as may be. Raises: ModelUnusable."""
        at = max((turn.said_at for turn in turns), default=0)
        sources = [GroundingSource(turn.text[:_LONGEST_LINE], turn.said_at) for turn in turns]
        speakers = " ".join(turn.peer for turn in turns)
        ground = Ground([GroundingSource(earlier, at), *sources], speakers, self._embed)
        kept = [one for one in written if ground.bears(one)]
        if len(kept) < max(1, _KEPT * len(written)):
            raise ModelUnusable("the model's summary says something that nobody said")
        while kept and self._count(" ".join(kept)) > self._most_tokens:
            kept.pop()
        if not kept:
            raise ModelUnusable("the model's summary is longer than it may be")
        return " ".join(kept)


_T = TypeVar("_T")

BROKEN_OFF = " … (the model broke off here)"


class ModelReasoner:
    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        budget: ModelBudget,
        *,
        count: Callable[[str], int],
        window: int,
        report: Callable[[str], None],
        quiet_seconds: int = 60,
        embed: Embed | None = None,
    ) -> None:
        self._endpoints = endpoints
        self._budget = budget
        self._count = count
        self._window = window
        self._report = report
        self._lock = Lock()
        self._reported: dict[str, str] = {}
        self.unusable: dict[str, str] = {}
        """By task, why what the model said last was of no use."""
        self._observer: Observer | None = None
        self._embed = embed
        self.pace = Pace(quiet_seconds * 1000, window // 2)
        self.tasks: Mapping[str, str] = {task: one.model for task, one in endpoints.items()}
        self.name = "model " + ", ".join(dict.fromkeys(self.tasks.values()))

    def _asking(self, task: str, workspace: str) -> Asking:
        """The way to the endpoint of that task. Raises: ModelUnavailable if it has none."""
        endpoint = self._endpoints.get(task)
        if endpoint is None:
            raise ModelUnavailable(f"no model is configured for {task}")
        watch = None if self._observer is None else partial(self._observer.watch, MODEL, task)
        return Asking(endpoint, self._budget, workspace, count=self._count, window=self._window, watch=watch)

    def standing(self, workspace: str) -> ModelState:
        spent, here, trouble = Spent(), Spent(), ""
        try:
            spent, here = self._budget.spent(workspace)
            lacking = spent.lacks(self._budget.whole, 0) or here.lacks(self._budget.each, 0)
            trouble = f"the {lacking} are spent" if lacking else ""
        except ModelBudgetSpent as error:
            trouble = error.detail
        trouble = trouble or next(filter(None, (one.trouble for one in self._endpoints.values())), "")
        with self._lock:
            failing = "; ".join(f"{task}: {detail}" for task, detail in self.unusable.items())
        return ModelState(
            self.name,
            self.tasks,
            spent,
            self._budget.whole,
            here,
            self._budget.each,
            trouble or failing,
            self._budget.price,
            rests=bool(trouble),
        )

    def revise(self, workspace: str, reading: ModelReading) -> list[Revision]:
        return self._done(DERIVE, workspace, lambda asking: revisions.revise(asking, reading, self._embed))

    def summarise(
        self, workspace: str, earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Count
    ) -> str:
        def work(asking: Asking) -> str:
            return Summarising(asking, most_tokens, count, self._embed).summary(earlier, turns)

        return self._done(SUMMARISE, workspace, work)

    def _done(self, task: str, workspace: str, work: Callable[[Asking], _T]) -> _T:
        try:
            found = work(self._asking(task, workspace))
        except ModelBudgetSpent as error:
            self._note(task, error)
            raise
        except ModelUnusable as error:
            with self._lock:
                self.unusable[task] = error.detail
            raise
        self._well(task)
        return found

    def tell(self, workspace: str, inquiry: ModelQuestion) -> AnswerPieces:
        if not inquiry.statements and not inquiry.card:
            return ModelAnswer("", (), by=self.name)
        asking = self._asking(ANSWER, workspace)
        telling = Answering(asking, inquiry, self.name, self._embed).tell()
        said: list[str] = []
        while True:
            try:
                piece = next(telling)
            except StopIteration as end:
                self._well(ANSWER)
                answer: ModelAnswer = end.value
                if said and not inquiry.streamed:
                    yield "".join(said)
                return answer
            except ModelUnavailable as error:
                self._note(ANSWER, error)
                if not said or not inquiry.streamed:
                    raise
                yield BROKEN_OFF
                return ModelAnswer("".join(said) + BROKEN_OFF, (), by=self.name, lacking=error.code)
            said.append(piece)
            if inquiry.streamed:
                yield piece

    def _note(self, task: str, error: ModelUnavailable) -> None:
        """Say in the log that a task went without the model; the same trouble only once in a row."""
        with self._lock:
            if self._reported.get(task) == error.detail:
                return
            self._reported[task] = error.detail
        self._report(f"{task} without the model: {error.detail}")

    def _well(self, task: str) -> None:
        with self._lock:
            self._reported.pop(task, None)
            self.unusable.pop(task, None)

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    def stop(self) -> None:
        for endpoint in self._endpoints.values():
            endpoint.stop()
