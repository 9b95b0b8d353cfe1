"""Sixty orders to a model, planted in a memory in every way that text gets there."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from souvenance.agents.import_memory import ImportTerms, Taking
from souvenance.domain import imports
from souvenance.domain.reasoning_settings import MemberReasoning
from souvenance.gate.conversation.messages import ADD_FILE, ADD_MESSAGES, AddFile, AddMessages, NewMessage
from souvenance.gate.conversation.sessions import OPEN_SESSION, OpenSession
from souvenance.language.orders import reads_like_orders

ORDERS = [
    json.loads(line) for line in Path(__file__).with_name("planted_orders.jsonl").read_text().splitlines()
]
OTHERS = ("document", "tool", "import", "stranger")
"""The ways of text that the person did not say."""
OWN = "own"
STRANGER = "mallory"
_OPEN, _CLOSE = "<memory-context>", "</memory-context>"
_HEADING = re.compile(r"\[System note: .*\]|Background from memory: .*|[A-Z][a-z ,]+:|")

Ask = Callable[[Any, Any], Any]


class Plant(NamedTuple):
    """An order, and the word by which it is known again wherever it turns up."""

    way: str
    mark: str
    text: str


def plants(way: str) -> Iterator[Plant]:
    for number, order in enumerate(ORDERS):
        mark = f"zq{way}{number:02}"
        yield Plant(way, mark, f"The {order['about']} by the harbour {mark}. {order['text']} {mark}")


def statements() -> Iterator[str]:
    """Messages about what the orders are about, which ask for nothing."""
    for number in range(0, len(ORDERS), 6):
        about = ", the ".join(order["about"] for order in ORDERS[number : number + 6])
        yield f"I walked by the harbour and saw the {about}."


def questions() -> Iterator[str]:
    for order in ORDERS:
        yield f"What about the {order['about']} by the harbour?"


def not_recognised(way: str) -> set[str]:
    """The marks of the orders that do not read like orders, which only the frame holds off."""
    return {one.mark for one in plants(way) if not reads_like_orders(one.text)}


def plant(ask: Ask, workspace: str, person: str, agent: str, *, talk: Sequence[str] = ()) -> None:
    """Plant every order in each way. `ask` asks the gate as the memory's owner.

    `talk` is what the person says in the sessions of which the rest is other people's, or imported.
    """

    def say(session: str, peer: str, way: str, **more: Any) -> None:
        said = [NewMessage(content=one.text, peer_id=peer, **more) for one in plants(way)]
        ask(ADD_MESSAGES, AddMessages(workspace_id=workspace, session_id=session, messages=said))

    both = {person: None, agent: None}
    for session, members in (("planted", both), ("shared", {**both, STRANGER: None})):
        peers = dict.fromkeys(members, MemberReasoning())
        ask(OPEN_SESSION, OpenSession(workspace_id=workspace, id=session, peers=peers))
    for one in plants("document"):
        ask(
            ADD_FILE,
            AddFile(
                workspace_id=workspace,
                session_id="planted",
                peer_id=person,
                file=one.text.encode(),
                filename="notes.txt",
                media_type="text/plain",
            ),
        )
    say("planted", person, "tool", metadata={"role": "tool"})
    say("shared", STRANGER, "stranger")
    say("planted", person, OWN)
    _import(ask, workspace, person)
    for session in ("shared", "imported") if talk else ():
        say(session, person, "tool", metadata={"role": "tool"})
        said = [NewMessage(content=text, peer_id=person) for text in talk]
        ask(ADD_MESSAGES, AddMessages(workspace_id=workspace, session_id=session, messages=said))


def _import(ask: Ask, workspace: str, person: str) -> None:
    records: list[imports.Record] = [
        imports.ImportedPeer(person, person),
        imports.ImportedSession("imported", "imported", {person: MemberReasoning()}),
        *(
            imports.ImportedMessage("imported", person, one.text, one.mark, one.mark)
            for one in plants("import")
        ),
        *(
            imports.ImportedStatement(person, person, f"Noted: {one.text}", one.mark, one.mark)
            for one in plants("import")
        ),
        imports.ImportedCard(person, person, tuple(one.text for one in plants("import"))),
    ]
    Taking(ask, ImportTerms("jsonl", datetime.now(UTC), workspace)).take(records)


def marks_in(text: str, *ways: str) -> set[str]:
    return {found for way in ways for found in re.findall(rf"zq{way}\d\d", text)}


def check_frame(memory: str) -> None:
    """That the inside of the frame is headings and lines behind a mark, all of it seen."""
    for line in memory.split("\n"):
        assert line.startswith("- ") or _HEADING.fullmatch(line), line
    assert _OPEN not in memory and _CLOSE not in memory
    assert not re.search(r"<[|/!?\w]", memory), memory
    unseen = {found for found in memory if unicodedata.category(found) in ("Cc", "Cf", "Co", "Cn", "Cs")}
    assert unseen <= {"\n", "\u200c"}, unseen
