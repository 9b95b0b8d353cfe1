"""The state of the installation in numbers: nothing of anybody's memory, and no name."""

from __future__ import annotations

from souvenance.core.request_context import Services
from souvenance.domain.model_budget import Allowance, Spent
from souvenance.domain.names import ALL
from souvenance.domain.policy import Need
from souvenance.gate import messages as m
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome
from souvenance.ports.store import Transaction


class AskVitals(m.Request, frozen=True):
    pass


class Health(m.Answer, frozen=True):
    work_waiting: int
    """How many jobs of all workspaces are due and nobody does them."""
    work_oldest_ms: int
    """For how long the first of them has been due; 0 if none is."""
    embedder: bool
    """Whether there is one."""
    embedder_rests: bool
    embedding_behind: bool
    """Whether lines wait for their vectors."""
    model: bool
    """Whether there is one."""
    model_rests: bool
    left: m.Budget | None = None
    """What of the installation's budget for models is left; None without a model."""


def look(tx: Transaction, services: Services, now: int) -> Health:
    waiting, oldest = tx.work.waiting(now)
    meaning, model = services.meaning, services.model
    standing = None if model is None else model.standing(ALL)
    return Health(
        work_waiting=waiting,
        work_oldest_ms=0 if oldest is None else max(0, now - oldest),
        embedder=meaning.embedder is not None,
        embedder_rests=bool(meaning.trouble),
        embedding_behind=meaning.behind,
        model=standing is not None,
        model_rests=standing is not None and bool(standing.trouble),
        left=None if standing is None else budget_left(standing.allowance, standing.spent),
    )


def budget_left(allowance: Allowance, spent: Spent) -> m.Budget:
    return m.Budget(
        max(0, allowance.calls_per_hour - spent.calls_this_hour),
        max(0, allowance.calls_per_day - spent.calls_today),
        max(0, allowance.tokens_per_hour - spent.tokens_this_hour),
        max(0, allowance.tokens_per_day - spent.tokens_today),
    )


class AskModelUse(m.Request, frozen=True):
    pass


class ModelUse(m.Answer, frozen=True):
    """What was spent on models, in this hour, today and on the days before, and what may be."""

    tasks: dict[str, str]
    spent: Spent | None
    """None, as the next, without a model."""
    allowance: Allowance | None
    price: str = ""
    """What a million tokens cost, as it was set."""
    trouble: str = ""


def model_use(authorised: AuthorisedRequest, request: AskModelUse) -> Outcome:
    model = authorised.ctx.services.model
    if model is None:
        return Outcome(ModelUse({}, None, None))
    state = model.standing(ALL)
    return Outcome(ModelUse(dict(state.tasks), state.spent, state.allowance, state.price, state.trouble))


def _told(authorised: AuthorisedRequest, request: AskVitals) -> Outcome:
    return Outcome(look(authorised.ctx.tx, authorised.ctx.services, authorised.ctx.now))


METRICS = Operation(
    "metrics", Need("audit", data_class="config", operator=True), AskVitals, Health, _told, verdict=True
)
"""What a scraper's cap is judged by: of data class `config`, so that it opens no memory and no audit log."""
VITALS = Operation("vitals", Need("audit", operator=True), AskVitals, Health, _told)
MODEL_USE = Operation("model.use", Need("audit", operator=True), AskModelUse, ModelUse, model_use)
