"""The memory that the Hermes benchmark recalls from: years of chats of one person, and of others beside.

Of the lines four fifths are Ann's and her assistant's, in a hundred sessions; the rest is spread over
twenty more people, who talk to the same assistant. Both sides' sentences are those of `honcho_chat`,
the same every time. Among Ann's are four facts that nothing else mentions: `TURNS` asks for them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from honcho_chat import message, question
from souvenance.agents.conversation_scope import ConversationScope
from souvenance.agents.gated_memory import members_of
from souvenance.config import settings_from
from souvenance.gate.conversation.messages import (
    ADD_MESSAGES,
    SEARCH_PEER,
    AddMessages,
    NewMessage,
    SearchPeer,
)
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation

WORKSPACE = "hermes"
USER, AI = "ann", "hermes"
KEY = f"user:{USER}"
"""What Ann's requests to the API server name her by."""
UNLIMITED = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000"}

_SESSIONS = 100
_OTHERS, _SESSIONS_OF_OTHERS = 20, 2
_SHARE = 0.8
_BATCH = 100
_STRIDE = 7919
"""A prime, so that the questions are spread over all that was said."""
_BEGAN = datetime(2024, 1, 1, 9, tzinfo=UTC)
_PATIENCE_SECONDS = 1800.0


class Asked(NamedTuple):
    """A fact that was told once, the question for it, and the word that only the fact has."""

    told: str
    question: str
    word: str


TURNS = (
    Asked("My cello was built in Cremona.", "Where was my cello built?", "Cremona"),
    Asked("My dentist is Doctor Quillfeather.", "Who is my dentist again?", "Quillfeather"),
    Asked("My boat is moored at Piran.", "Where is my boat moored?", "Piran"),
    Asked("My telescope is a Celestron.", "Which telescope do I have?", "Celestron"),
)


class Talk(NamedTuple):
    """One session: who speaks with the assistant, since when, and what is said in turns."""

    session: str
    person: str
    began: datetime
    said: list[str]


def talks(lines: int) -> Iterator[Talk]:
    """The sessions of a memory with so many lines, in the order of time."""
    own = _parts(round(lines * _SHARE), _SESSIONS)
    others = _parts(lines - sum(own), _OTHERS * _SESSIONS_OF_OTHERS)
    people = [USER] * len(own) + [f"person-{number % _OTHERS}" for number in range(len(others))]
    serial = 0
    for number, (person, size) in enumerate(zip(people, own + others, strict=True)):
        said = [message(serial + turn, assistant=turn % 2 == 1) for turn in range(size)]
        if person == USER and number % (_SESSIONS // len(TURNS)) == 0:
            said[0] += f" {TURNS[number * len(TURNS) // _SESSIONS].told}"
        began = _BEGAN + timedelta(days=5 * (number % _SESSIONS))
        yield Talk(f"talk-{number}", person, began, said)
        serial += size


def messages(lines: int, count: int) -> list[str]:
    """What Ann may write next: in turns something new, and a question about something that she said."""
    own = [text for talk in talks(lines) if talk.person == USER for text in talk.said[::2]]
    return [
        message(lines + number, assistant=False)
        if number % 2
        else question(number, own[number * _STRIDE % len(own)])
        for number in range(count)
    ]


def fill(folder: Path, lines: int) -> None:
    """Make the store in an empty folder through the gate."""
    installation = open_installation(settings_from(UNLIMITED, str(folder)))
    credentials = Credentials(installation.owner_cap)
    stored = 0
    with installation.working():
        for talk in talks(lines):
            seat = ConversationScope(WORKSPACE, talk.session, talk.person, AI, personal=False)
            messages = [
                NewMessage(
                    content=text,
                    peer_id=(talk.person, AI)[turn % 2],
                    created_at=talk.began + timedelta(minutes=turn),
                )
                for turn, text in enumerate(talk.said)
            ]
            for at in range(0, len(messages), _BATCH):
                batch = AddMessages(
                    workspace_id=WORKSPACE,
                    session_id=talk.session,
                    messages=messages[at : at + _BATCH],
                    members=members_of(seat),
                )
                installation.gate.call(ADD_MESSAGES, credentials, batch)
            stored += len(messages)
            told(f"storing {stored} of {lines} lines")
    installation.close()


def settle(folder: Path) -> None:
    """Let the work be done that is due: dreams are an hour after the last line, and would be measured too."""
    installation = open_installation(settings_from(UNLIMITED, str(folder)))
    told("working on what was stored")
    with installation.working():
        installation.settle(_PATIENCE_SECONDS)
    installation.close()
    told("")


def kept(folder: Path, texts: list[str]) -> list[bool]:
    """Which of the texts Ann is known to have said, each counted once."""
    installation = open_installation(settings_from(UNLIMITED, str(folder)))
    try:
        credentials = Credentials(installation.owner_cap)
        found = [
            {
                one.content
                for one in installation.gate.call(
                    SEARCH_PEER,
                    credentials,
                    SearchPeer(workspace_id=WORKSPACE, peer_id=USER, query=text, limit=100),
                ).messages
            }
            for text in texts
        ]
    finally:
        installation.close()
    return [text in said for text, said in zip(texts, found, strict=True)]


def told(progress: str) -> None:
    """Say how far it is, in the one line of a terminal that is kept for that."""
    if sys.stderr.isatty():
        print(f"\r{progress:<70}", end="\r", file=sys.stderr, flush=True)


def _parts(whole: int, count: int) -> list[int]:
    """The whole in so many even parts, as alike as can be: every question has its answer."""
    pairs, rest = divmod(whole // 2, count)
    return [2 * (pairs + (number < rest)) for number in range(count)]
