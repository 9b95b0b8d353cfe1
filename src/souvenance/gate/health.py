"""The state of the installation and of one owner's memory, in numbers: no text."""

from __future__ import annotations

from msgspec.structs import replace

from souvenance.core.conversation.conclusions import KINDS
from souvenance.core.request_context import RequestContext, Services
from souvenance.domain.embedding import NONE, PGVECTOR, SEALED
from souvenance.domain.model_budget import Allowance, Spent
from souvenance.domain.names import ALL
from souvenance.domain.policy import Need
from souvenance.gate import messages as m
from souvenance.gate.archive import unfinished
from souvenance.gate.operation import AuthorisedRequest, Operation, Outcome, declare
from souvenance.ports.store import Transaction, ViewQuery

_MOST_COUNTED = 2000
_RESTS = "it can't be asked for now"
"""All that a narrow token is told of what is wrong: why tells of what others do."""


class Health(m.Answer, frozen=True):
    work_waiting: int
    """How many jobs of all workspaces are due and nobody does them."""
    work_oldest_ms: int
    """For how long the first of them has been due; 0 if none is."""
    embedder: bool
    embedder_rests: bool
    embedding_behind: bool
    """Whether lines wait for their vectors."""
    model: bool
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


class ModelUse(m.Answer, frozen=True):
    """What was spent on models, in this hour, today and on the days before, and what may be."""

    tasks: dict[str, str]
    spent: Spent | None
    """None, as the next, without a model."""
    allowance: Allowance | None
    price: str = ""
    """What a million tokens cost, as it was set."""
    trouble: str = ""


def model_use(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    model = authorised.ctx.services.model
    if model is None:
        return Outcome(ModelUse({}, None, None))
    state = model.standing(ALL)
    return Outcome(ModelUse(dict(state.tasks), state.spent, state.allowance, state.price, state.trouble))


def _health(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    return Outcome(look(authorised.ctx.tx, authorised.ctx.services, authorised.ctx.now))


def namespaces_of(ctx: RequestContext) -> list[m.CompartmentStatus]:
    """What the owner has in each of the namespaces that the cap opens."""
    return [
        m.CompartmentStatus(namespace, ctx.tx.lines.count(keys.compartment))
        for namespace, keys in ctx.open_compartments().items()
    ]


def status(authorised: AuthorisedRequest, request: m.Nothing) -> Outcome:
    ctx = authorised.ctx
    here = (ctx.scope.workspace, ctx.scope.owner)
    namespaces = ctx.scope.namespaces
    everything = authorised.rights.everywhere and namespaces is None
    places = (
        [here[:1] if everything else here] if namespaces is None else [(*here, one) for one in namespaces]
    )
    meaning, renewal, replication = ctx.services.meaning, ctx.tx.renewal, ctx.tx.replication
    answer = m.StatusAnswer(
        workspace=ctx.scope.workspace,
        owner=ctx.scope.owner,
        namespaces=namespaces_of(ctx),
        audit_rows=ctx.tx.audit.tree(ctx.scope.workspace).size if everything else None,
        scrub_pending=authorised.store.scrub_pending(),
        reasoner=ctx.services.reasoner,
        model=_model_status(ctx, whole=everything),
        embedder=meaning.description,
        waiting=sum(renewal.lacking(meaning.space, *one) for one in places) if meaning.space else 0,
        renewing=sum(renewal.owed(*one) for one in places),
        embedder_trouble=meaning.trouble if everything or not meaning.trouble else _RESTS,
        vectors=_vectors(ctx),
        conclusions=_conclusions(authorised),
        unfinished_imports=len(unfinished(ctx)) if everything else None,
        uncarried=replication.waiting(*here) if namespaces is None and replication.mirrored() else None,
    )
    return Outcome(answer)


def _vectors(ctx: RequestContext) -> str:
    if not ctx.services.meaning.keeps:
        return NONE
    return SEALED if ctx.tx.terms.comparing is None else PGVECTOR


def _conclusions(authorised: AuthorisedRequest) -> int:
    ctx, grant = authorised.ctx, authorised.chain.grant
    observers = (None,) if authorised.rights.everywhere else sorted({grant.actor, *grant.peers})
    held = ViewQuery(ctx.scope.workspace, KINDS, limit=_MOST_COUNTED, namespaces=ctx.scope.namespaces)
    return sum(len(ctx.tx.lines.views(replace(held, owner=observer))) for observer in observers)


def _model_status(ctx: RequestContext, *, whole: bool) -> m.ModelStatus | None:
    if ctx.services.model is None:
        return None
    standing = ctx.services.model.standing(ctx.scope.workspace)
    return m.ModelStatus(
        dict(standing.tasks),
        budget_left(standing.allowance, standing.spent) if whole else None,
        budget_left(standing.allowance_here, standing.spent_here) if whole else None,
        standing.trouble if whole else _RESTS if standing.rests else "",
    )


METRICS = Operation(
    "metrics", Need("audit", data_class="config", operator=True), m.Nothing, Health, _health, verdict=True
)
"""What a scraper's cap is judged by: of data class `config`, so that it opens no memory and no audit log."""
HEALTH = declare("health", "audit", Health, _health, operator=True)
MODEL_USE = declare("model.use", "audit", ModelUse, model_use, operator=True)
