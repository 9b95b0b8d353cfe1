"""A crowd of owners, each with the same amount of memory: what is stored of them, and what is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from honcho_chat import message, question, statement
from honcho_load import BATCH, Plain

SESSIONS = 9
CONCLUSIONS = 100
_SERIALS = 1000
"""How far apart the numbers of two owners' first messages are."""
ASSISTANT = "assistant"
NAMESPACE = "default"
GET, CONTEXT = "get", "context"
_QUIET = {
    "reasoning": {"enabled": False},
    "summary": {"enabled": False},
    "dream": {"enabled": False},
}
"""Nothing is concluded from what is said: how many lines there are is then known."""
_CONTEXT_TOKENS = 6000
_CAP_SECONDS = 24 * 3600


class Body(NamedTuple):
    """What a request sends, and how many lines it stores."""

    path: str
    content: object
    lines: int


class Asking(NamedTuple):
    """A request, and what its answer must hold to be right."""

    method: str
    path: str
    body: object
    expected: str


@dataclass(frozen=True)
class Crowd:
    """So many owners, in one workspace or each in one of their own."""

    owners: int
    apart: bool = False
    name: str = "scale"
    sessions: int = SESSIONS
    """Of each owner. Half of what is said is the assistant's, who is the same for everybody."""
    others: int = 0
    """How many lines of owners who are never asked lie beside theirs, at least."""

    @property
    def lines(self) -> int:
        return self.owners * (self.sessions * BATCH + CONCLUSIONS)

    @property
    def total(self) -> int:
        return self.lines * (1 + self.copies)

    @property
    def copies(self) -> int:
        """How often the crowd's lines are copied under other names to make that many."""
        return -(-self.others // self.lines)

    def workspace(self, owner: int) -> str:
        return f"{self.name}-{owner:04d}" if self.apart else self.name

    def person(self, owner: int) -> str:
        return f"person-{owner:04d}"

    def session(self, owner: int, number: int) -> str:
        return f"talk-{owner:04d}-{number}"

    def said(self, owner: int, session: int) -> list[dict[str, str]]:
        """The messages of one session, the person's and the assistant's in turns."""
        speakers = (self.person(owner), ASSISTANT)
        return [
            {"peer_id": speakers[turn % 2], "content": self.said_at(owner, session, turn)}
            for turn in range(BATCH)
        ]

    def bodies(self, owner: int) -> Iterator[Body]:
        """What stores the owner's memory, in requests of as much as Honcho's API takes at once."""
        place = f"/v3/workspaces/{self.workspace(owner)}"
        for number in range(self.sessions):
            path = f"{place}/sessions/{self.session(owner, number)}/messages"
            yield Body(path, {"messages": self.said(owner, number)}, BATCH)
        person = self.person(owner)
        stated = [
            {"content": statement(owner * _SERIALS + at), "observer_id": person, "observed_id": person}
            for at in range(CONCLUSIONS)
        ]
        yield Body(f"{place}/conclusions", {"conclusions": stated}, CONCLUSIONS)

    def open(self, client: Plain, owner: int) -> None:
        """Make the owner's workspace, if it is not there, as one in which nothing is concluded.

        Raises: Failed.
        """
        client.call("POST", "/v3/workspaces", {"id": self.workspace(owner), "configuration": _QUIET})

    def cap(self, client: Plain, owner: int, right: str = "get") -> str:
        """A cap with that one right in this owner's memory, and none in any other.

        Raises: Failed.
        """
        claims = {
            "sub": self.person(owner),
            "wid": self.workspace(owner),
            "ops": [right],
            "namespaces_allowed": [NAMESPACE],
            "ttl_seconds": _CAP_SECONDS,
        }
        return str(client.call("POST", "/v1/caps", claims)["cap"])

    def ask(self, call: str, owner: int, number: int) -> Asking:
        """A question about something that the person said, another for every number."""
        session, turn = number % self.sessions, 2 * (number * 7 % (BATCH // 2))
        told = self.said_at(owner, session, turn)
        asked = question(number, told)
        if call == GET:
            return Asking("POST", "/v1/memory/get", {"query": asked, "k": 5}, told)
        fields = {
            "tokens": _CONTEXT_TOKENS,
            "summary": "true",
            "limit_to_session": "false",
            "peer_target": self.person(owner),
            "search_query": asked,
        }
        place = f"/v3/workspaces/{self.workspace(owner)}/sessions/{self.session(owner, session)}"
        newest = self.said_at(owner, session, BATCH - 1)
        return Asking("GET", f"{place}/context?{urlencode(fields)}", None, newest)

    def said_at(self, owner: int, session: int, turn: int) -> str:
        return message(owner * _SERIALS + session * BATCH + turn, assistant=turn % 2 == 1)
