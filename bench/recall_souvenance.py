"""Souvenance as a system of the recall benchmark: stored through the gate, searched through the gate.

Every corpus is a workspace of its own in one house, every speaker a peer, every session a session, every
turn a message with its date; a turn longer than a message may be becomes several. Nothing of the dataset's
own ids goes in: which message is which turn is written beside the house, in `turns/`. Reasoning and
summaries are switched off in the workspace, so that what works behind the requests is what search needs.
A workspace is known by what it holds, so a folder that is kept is filled only with what it lacks.

Questions are asked in a process of its own, whose memory is told. A ranking is what a search for a hundred
returns; times are those of searches for ten, in rounds, of which none asks in exactly the words of another.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from honcho_server import resident_mb
from recall_data import Corpus, Turn
from souvenance.config import settings_from
from souvenance.domain.chunking import chunks
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    MOST_MESSAGE_CHARS,
    SEARCH_PEER,
    SEARCH_WORKSPACE,
    AddMessages,
    MessageAnswer,
    NewMessage,
    SearchPeer,
    SearchWorkspace,
)
from souvenance.gate.conversation.workspaces import OPEN_WORKSPACE, OpenWorkspace
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import Installation, open_installation
from souvenance.settings import VARIABLES

MOST = 100
"""How many a search may return."""
TOP = 10
UNLIMITED = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000"}
EMBEDDER = "SOUVENANCE_EMBEDDER"

_QUIET = {"reasoning": {"enabled": False}, "summary": {"enabled": False}}
_BATCH = 100
_NOT_IN_NAMES = re.compile("[^a-zA-Z0-9_-]")


class Ask(NamedTuple):
    """One question to one workspace; of one peer's lines, if one is named."""

    workspace: str
    text: str
    at: datetime
    peer: str | None = None
    guarded: bool = False
    """Whether only what is relevant enough to be given to an agent unasked is wanted."""


class Reply(NamedTuple):
    """What came back: the ids of messages, the best first, and the tokens of the first ten."""

    ids: list[str]
    tokens: int
    same: bool
    """Whether a search for ten found the same ten."""
    seconds: list[float]
    """How long it took in each round."""


class Replies(NamedTuple):
    replies: list[Reply]
    first_seconds: list[float]
    """How long the first search of each workspace took, which loads its index."""
    resident_mb: float


class Filled(NamedTuple):
    """A workspace and which turn each of its messages is, with what it took to store them."""

    workspace: str
    turns: dict[str, str]
    seconds: float
    pieces: int
    """How much work the requests left to be done."""
    behind_seconds: float
    text_bytes: int


def has_embedder_setting() -> bool:
    """Whether this Souvenance can be told to do without an embedder."""
    return EMBEDDER in VARIABLES


def opened(folder: Path, environment: Mapping[str, str]) -> Installation:
    return open_installation(settings_from({**UNLIMITED, **environment}, str(folder)))


def peer_name(speaker: str) -> str:
    return _NOT_IN_NAMES.sub("-", speaker)


class Shelf:
    """A folder with one house, and what is known of the corpora in it."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._environment = environment or {}
        self._installation = folder / "house"
        self._turns = folder / "turns"
        self._turns.mkdir(parents=True, exist_ok=True)

    def filled(self, corpora: Sequence[Corpus]) -> Iterator[Filled]:
        """Each corpus as it is stored, after storing it if it is not."""
        installation = None
        try:
            for corpus in corpora:
                kept = self._turns / f"{corpus.name}-{corpus.digest}.json"
                if not kept.exists():
                    installation = installation or opened(self._installation, self._environment)
                    kept.write_text(json.dumps(fill(installation, corpus)), "utf-8")
                yield Filled(*json.loads(kept.read_text("utf-8")))
        finally:
            if installation is not None:
                installation.close()

    def bytes_per_message(self) -> float:
        """What the house takes on the disk, by all the messages that it holds."""
        messages = sum(len(json.loads(one.read_text("utf-8"))[1]) for one in self._turns.iterdir())
        return sum(one.stat().st_size for one in self._installation.rglob("*") if one.is_file()) / messages

    def ask(self, asks: Sequence[Ask], rounds: int, environment: Mapping[str, str]) -> Replies:
        """Ask in a new process."""
        settings = {**self._environment, **environment}
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            return pool.submit(_asked, self._installation, list(asks), rounds, settings).result()


def fill(installation: Installation, corpus: Corpus) -> Filled:
    """Store the corpus in a new workspace: the requests first, then the work behind them."""
    workspace = f"{peer_name(corpus.name)}-{secrets.token_hex(4)}"
    credentials = Credentials(installation.owner_cap)
    batches = [
        (AddMessages(workspace_id=workspace, session_id=f"session-{number}", messages=messages), turns)
        for number, session in enumerate(corpus.sessions, 1)
        for messages, turns in _batches(session.turns, session.at)
    ]
    opens = OpenWorkspace(id=workspace, configuration=_QUIET)
    installation.gate.call(OPEN_WORKSPACE, credentials, opens)
    stored: list[MessageAnswer] = []
    began = time.perf_counter()
    for batch, _ in batches:
        stored += installation.gate.call(ADD_MESSAGES, credentials, batch).messages
    seconds = time.perf_counter() - began
    turns = [turn for _, named in batches for turn in named]
    return Filled(
        workspace,
        {message.id: turn for message, turn in zip(stored, turns, strict=True)},
        seconds,
        *work_off(installation),
        sum(len(message.content.encode()) for message in stored),
    )


def work_off(installation: Installation) -> tuple[int, float]:
    """Do what the requests left to be done; how many pieces there were, and the seconds they took."""
    pieces, began = 0, time.perf_counter()
    while installation.worker.work_once():
        pieces += 1
    return pieces, time.perf_counter() - began


def _batches(turns: Sequence[Turn], at: datetime) -> Iterator[tuple[list[NewMessage], list[str]]]:
    """What is added at once, and which turns these are; a session's turns are a second apart."""
    said = [
        (
            NewMessage(
                content=part, peer_id=peer_name(turn.speaker), created_at=at + timedelta(seconds=number)
            ),
            turn.id,
        )
        for number, turn in enumerate(turns)
        for part in (chunks(turn.text, MOST_MESSAGE_CHARS) or [turn.text])
    ]
    for start in range(0, len(said), _BATCH):
        batch = said[start : start + _BATCH]
        yield [message for message, _ in batch], [turn for _, turn in batch]


def search(installation: Installation, credentials: Credentials, ask: Ask, limit: int) -> list[MessageAnswer]:
    """The product's own search, asked when the question was."""
    how = dict(workspace_id=ask.workspace, query=ask.text, limit=limit, at=ask.at, floor=ask.guarded)
    if ask.peer is None:
        return installation.gate.call(SEARCH_WORKSPACE, credentials, SearchWorkspace(**how)).messages
    of_peer = SearchPeer(peer_id=ask.peer, **how)
    return installation.gate.call(SEARCH_PEER, credentials, of_peer).messages


def _asked(folder: Path, asks: list[Ask], rounds: int, environment: dict[str, str]) -> Replies:
    installation = opened(folder, environment)
    credentials = Credentials(installation.owner_cap)
    replies: list[Reply] = []
    first: dict[str, float] = {}
    try:
        for ask in asks:
            began = time.perf_counter()
            found = search(installation, credentials, ask, MOST)
            first.setdefault(ask.workspace, time.perf_counter() - began)
            ids = [message.id for message in found]
            tokens = sum(message.token_count for message in found[:TOP])
            replies.append(Reply(ids, tokens, True, []))
        for number in range(rounds):
            for place, (ask, reply) in enumerate(zip(asks, replies, strict=True)):
                again = ask._replace(text=ask.text + " " * (number + 1))
                began = time.perf_counter()
                found = search(installation, credentials, again, TOP)
                reply.seconds.append(time.perf_counter() - began)
                same = [message.id for message in found] == reply.ids[:TOP]
                replies[place] = replies[place]._replace(same=replies[place].same and same)
        return Replies(replies, list(first.values()), resident_mb(os.getpid())[0])
    finally:
        installation.close()
