"""An unmodified Hermes as API server with one of several memories, and what its process holds."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hermes_far import Far, far_away
from hermes_store import AI, KEY, USER, WORKSPACE
from honcho_load import Plain
from honcho_server import Server

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "hermes"))

from demo_host import ApiServer, Host
from demo_model import Asked, DemoModel, a_model

WARM_UP = "Good morning."
OWNER = {"peerName": USER, "aiPeer": AI, "userPeerAliases": {KEY: USER}, "observationMode": "directional"}
"""What both providers are told of the people: the same words mean the same to both."""


class Side(NamedTuple):
    """A memory for the host: which provider, and whether it asks a server."""

    name: str
    provider: str
    remote: bool = False
    host_model: bool = False
    """Whether it asks the host's own model in the background."""


THEIRS = Side("Honcho's plugin, server", "honcho", remote=True)
OURS_REMOTE = Side("souvenance, server", "souvenance", remote=True)
OURS = Side("souvenance, embedded", "souvenance")
OURS_READ = Side("souvenance, host's model", "souvenance", host_model=True)
NOBODY = Side("no provider", "")


class Held(NamedTuple):
    """What a process holds at one moment."""

    threads: int
    files: int
    resident_mb: float


class Gateway:
    """A running API server, the model that it asks, and the way to its memory if that has one."""

    def __init__(self, server: ApiServer, model: Slow, far: Far | None, store: Path) -> None:
        self._server = server
        self._model = model
        self._far = far
        self.store = store

    @property
    def calls(self) -> int:
        """How often the memory's server was called."""
        return 0 if self._far is None else self._far.calls

    def held(self) -> Held:
        process = Path(f"/proc/{self._server.process.pid}")
        status = (process / "status").read_text(encoding="ascii")
        threads, resident = (re.search(rf"{name}:\s+(\d+)", status) for name in ("Threads", "VmRSS"))
        assert threads is not None
        assert resident is not None
        return Held(int(threads[1]), len(list((process / "fd").iterdir())), int(resident[1]) / 1024)

    def ask(self, prompt: str, session: str, key: str = KEY) -> tuple[Asked, float]:
        """What the model was asked first, and how many seconds the request took beside the model's."""
        before, spent = len(self._model.turns()), self._model.spent
        began = time.perf_counter()
        self._server.ask(prompt, key=key, session=session)
        taken = time.perf_counter() - began
        return self._model.turns()[before], taken - (self._model.spent - spent)


class Slow:
    """The model, which takes its time, and how much it took for conversations so far."""

    def __init__(self, model: DemoModel, seconds: float) -> None:
        self.turns: Callable[[], list[Asked]] = model.turns
        self.spent = 0.0
        self._reply, self._seconds = model.reply, seconds
        model.reply = self.reply  # type: ignore[method-assign]

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        began = time.perf_counter()
        time.sleep(self._seconds)
        answer = self._reply(body)
        if body.get("tools"):
            self.spent += time.perf_counter() - began
        return answer


@contextmanager
def a_gateway(
    side: Side, environment: Path, folder: Path, store: Path, *, latency: float, model_seconds: float
) -> Iterator[Gateway]:
    """A host in a home of its own whose memory is a copy of the store; it has answered once, to be warm."""
    with ExitStack() as stack:
        model = stack.enter_context(a_model())
        host, far = Host(environment, folder, model, {**OWNER, "hostModel": side.host_model}), None
        _choose(host, side)
        if side.remote:
            server = Server()
            stack.callback(server.clear)
            shutil.copytree(store, server.home)
            server.start()
            _warm(server)
            far = stack.enter_context(far_away(server.base_url, latency))
            _ask_there(host, far, server)
        elif side.provider:
            shutil.copytree(store, host.store, dirs_exist_ok=True)
        copied = server.home if side.remote else host.store
        running = stack.enter_context(host.serving())
        gateway = Gateway(running, Slow(model, model_seconds), far, copied)
        gateway.ask(WARM_UP, "warm-up", key="user:somebody")
        yield gateway


def _choose(host: Host, side: Side) -> None:
    """The host comes with Souvenance; a host with another memory knows nothing of it."""
    path = host.home / "config.yaml"
    settings = json.loads(path.read_text("utf-8"))
    settings["memory"]["provider"] = side.provider
    path.write_text(json.dumps(settings), "utf-8")
    if side.provider != "souvenance":
        shutil.rmtree(host.home / "plugins")


def _warm(server: Server) -> None:
    """Let the server have looked into all of Ann's memory once, as one that has run for a while has."""
    client, about = Plain(server.base_url, server.key), f"/v3/workspaces/{WORKSPACE}/peers"
    client.call("GET", f"{about}/{AI}/context?target={USER}&search_query=morning")
    for peer in (USER, AI):
        client.call("POST", f"{about}/{peer}/search", {"query": "morning"})
    client.close()


def _ask_there(host: Host, far: Far, server: Server) -> None:
    """Tell either provider in the file that both read. A key for a server on this machine counts only in
    a block of the host's own."""
    client = Plain(server.base_url, server.key)
    minted = client.call("POST", f"/v3/keys?workspace_id={WORKSPACE}")
    client.close()
    block = {"apiKey": minted["key"], "workspace": WORKSPACE}
    path = host.home / "honcho.json"
    path.write_text(json.dumps({**OWNER, "baseUrl": far.url, "hosts": {"hermes": block}}), "utf-8")
    path.chmod(0o600)
    (host.home / "souvenance.json").unlink()
