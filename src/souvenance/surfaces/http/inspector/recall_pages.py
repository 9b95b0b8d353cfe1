"""The recall lab: the very text that an agent would be given for a message, and why the rest was left out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec.structs import replace
from starlette.responses import Response

from souvenance.agents import injection
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import GatedMemory
from souvenance.agents.recall_trial import (
    LAYERS,
    MOST_FOUND,
    MOST_TOKENS,
    USUAL_TOKENS,
    WHY,
    Trial,
    TrialQuestion,
    TrialSetting,
    conclusions_left_out,
    ids_of,
    left_out,
    looked_up,
    text_of,
    with_bars,
)
from souvenance.agents.recalled import Known
from souvenance.errors import InvalidInput, SouvenanceError
from souvenance.gate import inspect_lines
from souvenance.gate import messages as m
from souvenance.gate.conversation.messages import SEARCH_PEER, SearchPeer
from souvenance.gate.gate import Gate
from souvenance.gate.inspect_search import RANK_CONCLUSIONS, RankConclusions
from souvenance.gate.operation import Operation
from souvenance.gate.token_tree import TokenAnswer
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.http.browser_pages import names_in
from souvenance.surfaces.http.inspector.places import names_of, tokens_of, workspace_of, workspaces_of
from souvenance.surfaces.http.inspector.visit import Visit, moment_of, number

_READING = ("get", "list")
_FIELDS = ("peer", "agent", "session", "q", "as", "namespaces", "day", "others")


async def recall(visit: Visit) -> Response:
    workspace, query = workspace_of(visit), visit.query
    asked = {name: query.get(name, "").strip() for name in _FIELDS}
    asked["peer"] = asked["peer"] or ("" if visit.is_whole else visit.who.sub)
    settings = [_setting(visit, "")]
    if query.get("compare") == "yes":
        settings.append(_setting(visit, "b_"))
    tokens, names, workspaces = await asyncio.gather(
        tokens_of(visit, workspace),
        names_of(visit, workspace),
        workspaces_of(visit),
    )
    values: dict[str, Any] = {
        "workspace": workspace,
        "workspaces": workspaces,
        "asked": asked,
        "names": names,
        "tokens": tokens or [],
        "layers": LAYERS,
        "settings": [*settings, TrialSetting()][:2],
        "compared": len(settings) > 1,
    }
    if asked["peer"] and asked["q"]:
        day = moment_of(asked["day"])
        at = day and day.replace(hour=23, minute=59)
        who = (workspace, asked["peer"], asked["agent"], asked["session"])
        question = TrialQuestion(*who, asked["q"], at, asked["others"] == "on")
        eye = _as_token(visit, workspace, asked, tokens or [])
        ranked, noted, trials = await _tried(visit, eye, question, settings)
        values |= {"ranked": with_bars(ranked), "noted": with_bars(noted, lambda one: one.signals)}
        reasons = {reason for trial in trials for reason in trial.left_out.values()}
        values |= {"trials": trials, "why": {name: why for name, why in WHY.items() if name in reasons}}
    return visit.page("recall.html", **values)


def _setting(visit: Visit, prefix: str) -> TrialSetting:
    """What the form says; before it was sent, the usual."""
    query = visit.request.query_params
    if query.get("set") != "yes":
        return TrialSetting()
    tokens = min(number(query.get(f"{prefix}tokens", ""), USUAL_TOKENS), MOST_TOKENS)
    layers = frozenset(query.getlist(f"{prefix}layer")).intersection(LAYERS)
    return TrialSetting(query.get(f"{prefix}floor") == "on", tokens, layers)


def _as_token(visit: Visit, workspace: str, asked: dict[str, str], tokens: Sequence[TokenAnswer]) -> Visit:
    """Whoever signed in, or as one who holds that token would see it. Raises: SouvenanceError."""
    eye = visit
    if asked["as"]:
        chosen = next((one for one in tokens if one.id == asked["as"]), None)
        if chosen is None:
            raise InvalidInput("that token is not there", hint="It ended, or your token does not show it.")
        eye = eye.narrowed(
            m.Attenuate(
                sub=chosen.sub,
                ops=tuple(op for op in _READING if op in chosen.ops and op in visit.who.ops),
                wid=workspace,
                namespaces_allowed=tuple(chosen.namespaces),
                peers=tuple(peer for peer in chosen.peers if peer != chosen.sub),
                sessions=None if chosen.sessions is None else tuple(chosen.sessions),
                via=tuple(chosen.via),
            )
        )
    namespaces = names_in(asked["namespaces"])
    return eye.narrowed(m.Attenuate(namespaces_allowed=namespaces)) if namespaces else eye


async def _tried(
    visit: Visit, eye: Visit, asked: TrialQuestion, settings: Sequence[TrialSetting]
) -> tuple[Sequence[Any], Sequence[Any], list[Trial]]:
    """The messages that the search found, the conclusions, both best first, and what each setting gives."""
    whose: dict[str, Any] = {"workspace_id": asked.workspace, "query": asked.text, "limit": MOST_FOUND}
    search = SearchPeer(peer_id=asked.peer, explain=True, at=asked.at, **whose)
    floors = sorted({setting.floor for setting in settings})
    asks: list[list[tuple[Operation, Any]]] = [
        [(SEARCH_PEER, replace(search, floor=floor, explain=False))] for floor in floors
    ]
    concluded = [
        (RANK_CONCLUSIONS, RankConclusions(observer=observer, observed=asked.peer, **whose))
        for observer in dict.fromkeys((asked.agent or asked.peer, asked.peer))
    ]
    asks[0] += [(SEARCH_PEER, search), *concluded]
    room = injection.passage_room(max(setting.tokens for setting in settings))
    recalled = await asyncio.gather(*(eye.look(partial(_known, asked, room, beside)) for beside in asks))
    knowns, near = [known for known, _ in recalled], [ids_of(answers[0]) for _, answers in recalled]
    _, seen, *told = recalled[0][1]
    own = eye is visit and not isinstance(seen, SouvenanceError)
    every = (seen if own else await visit.call(SEARCH_PEER, search)).messages
    opened, noted, shown = ids_of(seen), list[Any](), set[str]()
    for (operation, ask), answer in zip(concluded, told, strict=True):
        found = answer if eye is visit else await visit.ask(operation, ask)
        noted = getattr(found, "conclusions", [])
        shown = {one.id for one in getattr(answer, "conclusions", ())}
        if noted:  # The agent's own, or else the person's.
            break
    now = datetime.now().astimezone()
    texts = [text_of(knowns[floors.index(one.floor)], asked, one, now) for one in settings]
    lengths = await visit.ask(
        inspect_lines.MEASURE, inspect_lines.Measure(workspace_id=asked.workspace, texts=texts)
    )
    counts = lengths.tokens if lengths else [0] * len(texts)
    trials = []
    for setting, text, tokens in zip(settings, texts, counts, strict=True):
        at = floors.index(setting.floor)
        reasons = left_out(asked, setting, text, knowns[at], opened, near[at], every)
        weak = {one for one, reason in reasons.items() if not reason and one not in near[at]}
        left = conclusions_left_out(setting, text, knowns[at], shown, noted)
        weak |= {one.id for one in noted if not one.signals and not left[one.id]}
        reasons |= left
        trials.append(Trial(setting, text, tokens, reasons, frozenset(weak if setting.floor else ())))
    return every, noted, trials


def _known(
    asked: TrialQuestion,
    room: int,
    beside: Sequence[tuple[Operation, Any]],
    gate: Gate,
    credentials: Credentials,
) -> tuple[Known, list[Any]]:
    scope = ConversationScope(
        workspace=asked.workspace,
        session=asked.session,
        user=asked.peer,
        ai=asked.agent or asked.peer,
        personal=not asked.others,
        agent="looks" if asked.agent else "absent",
    )
    memory = partial(GatedMemory, gate, scope, lambda job: credentials, capped=True)
    return looked_up(asked, gate.call_all, lambda ask: memory(together=ask), room, beside)


ENDPOINTS = {"GET /inspect/recall": recall}
