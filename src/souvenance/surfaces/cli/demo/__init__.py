"""`souvenance demo`: a story played by separate processes; with --fill, a year of four people and two agents.

What --fill stores is always the same; when it was said is counted back from today. Everything is a request to
the gate.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import Struct

from souvenance.decoders import settled
from souvenance.domain.names import DEFAULT_WORKSPACE
from souvenance.errors import Conflict, Denied, InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.conclusions import ADD_CONCLUSIONS, AddConclusions, NewConclusion
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.conversation.workspaces import LIST_WORKSPACES, ListWorkspaces
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.surfaces.cli.options import OPERATE, Command, pass_shell
from souvenance.surfaces.cli.session import OpenMemory, Shell


@click.command(cls=Command, section=OPERATE)
@click.option("--keep", is_flag=True, help="Keep the temporary folder and print its path.")
@click.option(
    "--fill", "fills", is_flag=True, help="Fill the data folder, which must be empty, with examples."
)
@pass_shell
def demo(shell: Shell, keep: bool, fills: bool) -> None:
    """Show what Souvenance does, in a temporary folder. Exits with 1 if a step fails.

    It does not touch your own data folder and settings. With --fill it plays nothing: it fills an empty data
    folder with people, agents and a year of conversations, to look at with 'souvenance open'.
    """
    if fills:
        _fill(shell)
        return
    from souvenance.surfaces.cli.demo.stage import Stage, outcome_line, play, succeeded, summary
    from souvenance.surfaces.cli.demo.story import STEPS

    folder = Path(tempfile.mkdtemp(prefix="souvenance-demo-"))
    results = []
    try:
        with Stage(folder) as stage:
            for result in play(STEPS, stage):
                results.append(result)
                if not shell.json:
                    click.echo(result.line)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    kept = {"folder": str(folder)} if keep else {}
    steps = [{"id": one.id, "outcome": one.outcome, "seen": one.seen} for one in results]
    text = f"kept in {folder}\n{outcome_line(results)}" if keep else outcome_line(results)
    shell.show({"steps": steps, **summary(results), **kept}, lambda: text)
    if not succeeded(results):
        sys.exit(1)


def _fill(shell: Shell) -> None:
    if shell.is_remote:
        raise InvalidInput("--fill works on a data folder, not on a server", hint="Leave out --url.")
    shell.makes = True
    stored = fill(shell.installation(), datetime.now(UTC))
    text = "stored {messages} messages in {sessions} sessions, {notes} notes and {tokens} tokens".format(
        **stored
    )
    shell.show(
        stored, lambda: f"{text}\nSee them: souvenance serve, then souvenance open in another terminal"
    )


_WORK_SECONDS = 120.0
_BETWEEN = timedelta(minutes=2)
_WEEK = 7


class _Said(Struct):
    peer: str
    text: str


class _Session(Struct):
    id: str
    days_ago: int
    hour: int
    messages: list[_Said]


class _Weekly(Struct):
    """Small talk, so that every week has some: the texts and answers come in turn."""

    peers: list[str]
    weeks: int
    texts: list[str]
    answers: list[str]


class _Note(Struct):
    namespace: str
    days_ago: int
    text: str


class _Correction(Struct):
    text: str
    becomes: str


class _Token(Struct):
    sub: str
    ops: tuple[str, ...]
    namespaces: tuple[str, ...]
    days: int


class _Refused(Struct):
    sub: str
    query: str
    namespace: str


class DemoData(Struct):
    sessions: list[_Session]
    weekly: _Weekly
    conclusions: list[tuple[str, str, str, str]]
    """Who concluded it, about whom, from which session, and what."""
    notes: list[_Note]
    corrections: list[_Correction]
    tokens: list[_Token]
    refused: _Refused


def fill(memory: OpenMemory, today: datetime) -> dict[str, int]:
    """How many sessions, messages, notes and tokens were stored. Raises: Conflict if there is any memory."""
    filler = _Filler(memory, today)
    filler.refuse_memory()
    text = Path(__file__).with_name("demo_data.json").read_bytes()
    data = msgspec.json.decode(text, type=settled(DemoData))
    with memory.working():
        stored = filler.store(data)
        memory.settle(_WORK_SECONDS)
        filler.use(data)
        memory.settle(_WORK_SECONDS)
    return stored


class _Filler:
    def __init__(self, memory: OpenMemory, today: datetime) -> None:
        self._memory = memory
        self._today = today.replace(hour=0, minute=0, second=0, microsecond=0)
        self._caps: dict[str, str] = {}
        self._said: dict[tuple[str, str], str] = {}
        """The first message of each peer in each session."""

    def refuse_memory(self) -> None:
        notes = self._ask(o.STATUS, m.Status()).namespaces
        if notes or self._ask(LIST_WORKSPACES, ListWorkspaces(size=1)).total:
            raise Conflict(
                "this data folder has memory already",
                hint="Name an empty one: souvenance --home demo-folder demo --fill",
            )

    def store(self, data: DemoData) -> dict[str, int]:
        sessions = sorted([*data.sessions, *_small_talk(data.weekly)], key=lambda one: -one.days_ago)
        for session in sessions:
            self._say(session)
        for note in data.notes:
            at = self._moment(note.days_ago, 18)
            self._ask(o.PUT, m.Put(text=note.text, namespace=note.namespace, occurred_at=at))
        said = sum(len(one.messages) for one in sessions)
        counts = {"sessions": len(sessions), "messages": said, "notes": len(data.notes)}
        return {**counts, "tokens": len(data.tokens)}

    def use(self, data: DemoData) -> None:
        """What people and agents did with it: conclude, correct, make tokens, ask, and be refused."""
        concluded = [
            NewConclusion(
                content=text,
                observer_id=observer,
                observed_id=observed,
                session_id=session,
                source_ids=[self._said[session, observed]],
            )
            for observer, observed, session, text in data.conclusions
        ]
        self._ask(ADD_CONCLUSIONS, AddConclusions(workspace_id=DEFAULT_WORKSPACE, conclusions=concluded))
        for correction in data.corrections:
            found = self._ask(o.GET, m.Get(query=correction.text, k=1)).lines
            self._ask(o.INVALIDATE, m.Invalidate(found[0].id, correction.becomes))
        for token in data.tokens:
            asked = m.Mint(
                sub=token.sub,
                ops=token.ops,
                namespaces_allowed=token.namespaces,
                ttl_seconds=token.days * 86_400,
                wid=DEFAULT_WORKSPACE,
            )
            self._caps[token.sub] = self._ask(o.MINT, asked).cap
        refused = data.refused
        with suppress(Denied):
            asked_for = m.Get(query=refused.query, namespaces=(refused.namespace,))
            self._memory.gate.call(o.GET, Credentials(self._caps[refused.sub]), asked_for)

    def _say(self, session: _Session) -> None:
        begins = self._moment(session.days_ago, session.hour)
        said = [
            NewMessage(content=one.text, peer_id=one.peer, created_at=begins + turn * _BETWEEN)
            for turn, one in enumerate(session.messages)
        ]
        added = AddMessages(workspace_id=DEFAULT_WORKSPACE, session_id=session.id, messages=said)
        for message in self._ask(ADD_MESSAGES, added).messages:
            self._said.setdefault((session.id, message.peer_id), message.id)

    def _moment(self, days_ago: int, hour: int) -> datetime:
        return self._today - timedelta(days=days_ago) + timedelta(hours=hour)

    def _ask(self, operation: Operation, asked: m.Request) -> Any:
        return self._memory.gate.call(operation, Credentials(self._memory.owner_cap), m.checked(asked))


def _small_talk(weekly: _Weekly) -> Iterator[_Session]:
    turn = 0
    for week in range(weekly.weeks, 0, -1):
        for place, peer in enumerate(weekly.peers):
            if (week + place) % (place + 2) == 0:
                continue
            text, answer = weekly.texts[turn % len(weekly.texts)], weekly.answers[turn % len(weekly.answers)]
            yield _Session(
                id=f"{peer}-week-{weekly.weeks - week + 1:02}",
                days_ago=week * _WEEK + place,
                hour=17,
                messages=[_Said(peer, text), _Said("hermes", answer)],
            )
            turn += 1
