"""The model as a reasoner: each task to its endpoint, within the budget, and by rule where that ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock

from mnemon.adapters.model import deriving, summarising
from mnemon.adapters.model.answering import Answering
from mnemon.adapters.model.asking import Asking
from mnemon.adapters.model.endpoint import Endpoint
from mnemon.adapters.model.purse import Purse
from mnemon.domain.spending import Spent
from mnemon.errors import ModelBudgetSpent, ModelUnavailable, ModelUnusable
from mnemon.ports.model import ANSWER, DERIVE, SUMMARISE, Inquiry, Standing, Telling
from mnemon.ports.observer import MODEL, Observer
from mnemon.ports.reasoner import Fact, Reasoner, Told, Turn

BROKEN_OFF = " … (the model broke off here)"


class ModelReasoner:
    """A `Model`. What it can't do for want of budget or of an endpoint, `plain` does."""

    def __init__(
        self,
        endpoints: Mapping[str, Endpoint],
        purse: Purse,
        plain: Reasoner,
        *,
        count: Callable[[str], int],
        window: int,
        report: Callable[[str], None],
    ) -> None:
        self._endpoints = endpoints
        self._purse = purse
        self._count = count
        self._window = window
        self._report = report
        self._lock = Lock()
        self._told: dict[str, str] = {}
        self._unusable: dict[str, str] = {}
        self._observer: Observer | None = None
        self.plain = plain
        self.tasks: Mapping[str, str] = {task: one.model for task, one in endpoints.items()}
        self.name = "model " + ", ".join(dict.fromkeys(self.tasks.values()))

    def engaged(self, workspace: str) -> Engaged:
        return Engaged(self, workspace)

    def asking(self, task: str, workspace: str) -> Asking | None:
        """The way to the endpoint of that task; None if it has none."""
        endpoint = self._endpoints.get(task)
        if endpoint is None:
            return None
        watch = None if self._observer is None else partial(self._observer.watch, MODEL, task)
        return Asking(endpoint, self._purse, workspace, count=self._count, window=self._window, watch=watch)

    def standing(self, workspace: str) -> Standing:
        spent, here, trouble = Spent(), Spent(), ""
        try:
            spent, here = self._purse.spent(workspace)
            lacking = spent.lacks(self._purse.whole, 0) or here.lacks(self._purse.each, 0)
            trouble = f"the {lacking} are spent" if lacking else ""
        except ModelBudgetSpent as error:
            trouble = error.detail
        resting = (one.trouble for one in dict.fromkeys(self._endpoints.values()))
        return Standing(
            self.name,
            self.tasks,
            spent,
            self._purse.whole,
            here,
            self._purse.each,
            trouble or next(filter(None, resting), "") or self._failing(),
        )

    def note(self, task: str, error: ModelUnavailable) -> None:
        """Say in the log that a task went without the model; the same trouble only once in a row."""
        with self._lock:
            if self._told.get(task) == error.detail:
                return
            self._told[task] = error.detail
        self._report(f"{task} without the model: {error.detail}")

    def failed(self, task: str, error: ModelUnavailable) -> None:
        """Keep in mind what can't be used of what the model says for a task, until something can."""
        if isinstance(error, ModelUnusable):
            with self._lock:
                self._unusable[task] = error.detail

    def _failing(self) -> str:
        with self._lock:
            return "; ".join(f"{task}: {detail}" for task, detail in self._unusable.items())

    def well(self, task: str) -> None:
        with self._lock:
            self._told.pop(task, None)
            self._unusable.pop(task, None)

    def observe(self, observer: Observer) -> None:
        self._observer = observer

    def stop(self) -> None:
        for endpoint in self._endpoints.values():
            endpoint.stop()


class Engaged:
    """A `Dialectic`: the model on one workspace's account."""

    deterministic = False

    def __init__(self, model: ModelReasoner, workspace: str) -> None:
        self._model = model
        self._workspace = workspace
        self.name = model.name
        self.structured = ANSWER in model.tasks

    def derive(
        self, turns: Sequence[Turn], about: str, before: Sequence[Turn] = (), wishes: str = ""
    ) -> list[Fact]:
        """Raises: ModelUnavailable, ModelUnusable."""
        by_rule = self._model.plain.derive(turns, about, before)
        asking = self._model.asking(DERIVE, self._workspace)
        if asking is None:
            return by_rule
        try:
            found = deriving.derive(asking, turns, about, before, wishes)
        except ModelBudgetSpent as error:
            self._model.note(DERIVE, error)
            return by_rule
        except ModelUnavailable as error:
            self._model.failed(DERIVE, error)
            raise
        self._model.well(DERIVE)
        return deriving.joined(found, by_rule, about, wished=bool(wishes.strip()))

    def summarise(
        self, earlier: str | None, turns: Sequence[Turn], most_tokens: int, count: Callable[[str], int]
    ) -> str:
        """Raises: ModelUnavailable, ModelUnusable."""
        asking = self._model.asking(SUMMARISE, self._workspace)
        if asking is None or not turns:
            return ""
        try:
            summary = summarising.summarise(asking, earlier, turns, most_tokens, count)
        except ModelUnavailable as error:
            if isinstance(error, ModelBudgetSpent):
                self._model.note(SUMMARISE, error)
            self._model.failed(SUMMARISE, error)
            raise
        if not summary:
            self._model.note(SUMMARISE, ModelUnusable("the model's summary is longer than it may be"))
            return ""
        self._model.well(SUMMARISE)
        return summary

    def tell(self, inquiry: Inquiry) -> Telling:
        """Raises: ModelUnavailable before the first piece; whatever the inquiry's search raises."""
        asking = self._model.asking(ANSWER, self._workspace)
        if asking is None or not (inquiry.statements or inquiry.card):
            return Told("", ())
        telling = Answering(asking, inquiry, self.name).tell()
        said = ""
        while True:
            try:
                piece = next(telling)
            except StopIteration as end:
                self._model.well(ANSWER)
                told: Told = end.value
                return told
            except ModelUnavailable as error:
                self._model.note(ANSWER, error)
                if inquiry.shape is not None or not (said and inquiry.streamed):
                    raise
                yield BROKEN_OFF
                return Told(said + BROKEN_OFF, (), by=self.name, lacking=error.code)
            said += piece
            yield piece
