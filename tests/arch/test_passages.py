"""How many modules a query passes on its way from each door to the search index."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

import souvenance
from chat.stage import a_stage
from mcp_door.served import hosted
from souvenance.commands import DataTransfers
from souvenance.commands import command_line as commands
from souvenance.installation import open_installation
from souvenance.surfaces.cli.session import Shell

MOST = 8
"""The door and the index are counted."""
PACKAGE = "souvenance."
INDEX = "souvenance.adapters.index.ranked"
CARRIER = "souvenance.surfaces.http.request_threads"
"""Takes a call into a thread, and does not look at the query."""
QUESTION = "Where do I live?"


def passed(frame: FrameType | None) -> tuple[str, ...]:
    """The modules on the stack, the outermost first."""
    names: list[str] = []
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(PACKAGE) and name != CARRIER and name not in names:
            names.append(name)
        frame = frame.f_back
    return tuple(reversed(names))


@contextmanager
def watched() -> Iterator[set[tuple[str, ...]]]:
    """The stacks of all threads that begin meanwhile, and of this one, each time the index is searched."""
    found: set[tuple[str, ...]] = set()

    def look(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and (frame.f_code.co_name, frame.f_globals.get("__name__")) == ("search", INDEX):
            found.add(passed(frame))

    before = sys.getprofile()
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield found
    finally:
        threading.setprofile(None)
        sys.setprofile(before)


def python(home):
    with souvenance.open(home, embedder="none") as memory:
        memory.put("I live in Lisbon", namespace="default")
        list(memory.get(QUESTION))
        ann = memory.peer("ann")
        ann.session("s1").add("I live in Lisbon with Eva")
        ann.search("Lisbon")
        ann.context(QUESTION)
        ann.chat(QUESTION)


def command_line(home):
    with souvenance.open(home, embedder="none") as memory:
        memory.put("I live in Lisbon", namespace="default")
    shell = Shell(open_installation, DataTransfers())
    commands()(["--home", str(home), "get", QUESTION], obj=shell, standalone_mode=False)
    shell.close()


def http(home):
    with a_stage(home) as stage:
        owner = stage.client(stage.installation.owner_cap)
        owner.base_url = stage.url
        owner.post("/v1/memory/put", json={"text": "I live in Lisbon", "namespace": "default"})
        owner.post("/v1/memory/get", json={"query": QUESTION})


def honcho(home):
    here = {"observer": "ann", "observed": "ann"}
    with a_stage(home) as stage:
        owner = stage.client(stage.installation.owner_cap)
        owner.base_url = f"{stage.url}/v3/workspaces"
        owner.post("", json={"id": "w"})
        owner.base_url = f"{stage.url}/v3/workspaces/w"
        said = {"content": "I live in Lisbon", "peer_id": "ann"}
        owner.post("/sessions", json={"id": "s1", "peers": {"ann": {}}})
        owner.post("/sessions/s1/messages", json={"messages": [said]})
        owner.post("/search", json={"query": "Lisbon"})
        owner.post("/conclusions/query", json={"query": "Lisbon", "filters": here})
        owner.post("/peers/ann/representation", json={"search_query": QUESTION})
        owner.get("/sessions/s1/context", params={"search_query": QUESTION, "peer_target": "ann"})
        owner.post("/peers/ann/chat", json={"query": QUESTION})


def chat(home):
    with a_stage(home) as stage:
        front = stage.front()
        stage.say(front, "I live in Lisbon with Eva", user="ann")
        stage.texts(2)
        stage.say(front, QUESTION, user="ann")


def mcp(home):
    with hosted(home) as server:
        cap = server.wide("ann")
        server.calls(
            cap,
            ("remember", {"statements": ["I live in Lisbon"]}),
            ("recall", {"question": QUESTION}),
        )


DOORS = {
    "python": (python, ()),
    "command line": (command_line, ()),
    "http": (http, ("app",)),
    "honcho": (honcho, ("honcho.door",)),
    "chat": (chat, ()),
    "mcp": (mcp, ("mcp.server", "mcp.memory", "mcp.door")),
}
"""What asks at each door, and the modules that it passes before it is in a thread of its own."""


@pytest.mark.parametrize("door", DOORS)
def test_a_query_passes_few_modules_from_its_door_to_the_index(door, tmp_path):
    asks, before = DOORS[door]
    with watched() as found:
        asks(tmp_path / "home")
    assert found
    assert {way for way in found if len(before) + len(way) > MOST} == set()
