"""The story that the demo plays with an unmodified Hermes, step by step.

A step says what it saw in captured requests to the model and in the store, never in the host's word.
What must not be told is held against a host like it that is told.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from souvenance.surfaces.cli.demo.checks import CheckFailed, expect, printed
from souvenance.surfaces.cli.demo.hermes_environment import prepare
from souvenance.surfaces.cli.demo.hermes_host import PATIENCE_SECONDS, ApiServer, Host
from souvenance.surfaces.cli.demo.hermes_model import Asked
from souvenance.surfaces.cli.demo.hermes_stage import WORKSPACE, HermesStage
from souvenance.surfaces.cli.demo.play import DemoStep

_PROMPT = "❯"
_CLEAR = "\x05\x15"
"""To the end of the line, and delete up to there."""
_ENTER = "\r"
_ROWS, _COLUMNS = 50, 200
_STYLE = re.compile(r"\x1b\[[0-9;?<>]*[a-zA-Z]")


class DemoTerminal:
    def __init__(self, process: subprocess.Popen[bytes], side: int) -> None:
        self._process = process
        self._side = side
        self._written = b""
        self._seen = 0

    @property
    def text(self) -> str:
        """What it wrote so far, without colours and movements."""
        return _STYLE.sub("", self._written.decode(errors="replace"))

    def type(self, *lines: str) -> None:
        """Type lines. The host takes each when it is done with the one before."""
        for line in lines:
            os.write(self._side, f"{_CLEAR}{line}{_ENTER}".encode())

    def see(self, text: str) -> None:
        """Wait until it writes the text after what was seen before."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := self.text.find(text, self._seen)) < 0:
            if time.monotonic() > deadline or not self._read():
                raise CheckFailed(f"the host did not write {text!r}, but: {self.text[self._seen :][-500:]}")
        self._seen = found + len(text)

    def leave(self) -> str:
        """Quit, and wait for the end; everything that it wrote."""
        self.type("/quit")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self._read():
            pass
        if self._process.wait(PATIENCE_SECONDS) != 0:
            raise CheckFailed(f"the host ended with {self._process.returncode}: {self.text[-500:]}")
        return self.text

    def _read(self) -> bool:
        """Take what there is to read; False after the end."""
        if select.select([self._side], [], [], 0.1)[0]:
            try:
                more = os.read(self._side, 65536)
            except OSError:
                return False
            self._written += more
            return bool(more)
        return True


@contextmanager
def a_terminal(host: Host, *arguments: str) -> Iterator[DemoTerminal]:
    """The host's chat, ready for the first line, until the end of the block."""
    ours, its = pty.openpty()
    _prepare(its)
    process = subprocess.Popen(  # noqa: S603 - the host of an environment that the user chose
        host.command("chat", *arguments),
        cwd=host.project,
        env=host.environment,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    try:
        terminal = DemoTerminal(process, ours)
        terminal.see(_PROMPT)
        yield terminal
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE_SECONDS)
        os.close(ours)


def _prepare(side: int) -> None:
    """Give it a size, and leave the key that clears a line to the host, whatever the host is doing."""
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    attributes = termios.tcgetattr(side)
    attributes[-1][termios.VKILL] = bytes([os.fpathconf(side, "PC_VDISABLE")])
    termios.tcsetattr(side, termios.TCSANOW, attributes)


TRIP = "I am going on a trip to Chengdu, May 25–29."
WHERE = "Where am I going on my trip?"
ALLERGY = "I am allergic to penicillin."
WHICH = "What am I allergic to, before my trip?"
_OWNER = "ann"
_USERS = {
    "alice": "My parrot is called Quetzalcoatl.",
    "bob": "My parrot is called Huitzilopochtli.",
}
_LONG = "Tell me all of it."
_LEFT = re.compile(r"hermes --resume (\S+)")


def install(stage: HermesStage) -> str:
    return f"one environment has {prepare(stage.environment)}, and pip finds nothing wrong with it"


def tell(stage: HermesStage) -> str:
    asked = _once(stage, stage.host(_travelling("travel")), TRIP)
    expect("Chengdu" in asked.said, f"the model was told {asked.said!r}")
    expect("Chengdu" not in asked.memory, "there is a memory before the first session")
    put = stage.put()
    expect(len(put) == 1, f"the log has {len(put)} rows of messages that were put")
    stage.lines["trip"] = put[0][0]
    return "session 1, a Hermes process with a fresh home, was told of a trip"


def recall(stage: HermesStage) -> str:
    asked = _once(stage, stage.host(_travelling("travel")), WHERE)
    expect("Chengdu" in asked.memory, f"the model's request has in its fence: {asked.memory!r}")
    return "session 2, a new process with a fresh home: the captured request has the trip inside the fence"


def audit(stage: HermesStage) -> str:
    read = [row for row in stage.log() if stage.lines["trip"] in row["lines"] and not row["detail"]]
    expect(bool(read), "no row of the log tells that the line was read")
    row = read[0]
    expect((row["outcome"], row["namespaces"]) == ("ok", ["travel"]), f"the log says {row}")
    told = printed(stage.souvenance_on(stage.home, "--workspace", WORKSPACE, "audit", "verify"))
    return (
        f"row {row['seq']} of {told['rows']}, all verified: {row['operation']} in travel read that very line"
    )


def namespaces(stage: HermesStage) -> str:
    _once(stage, stage.host(_travelling("travel", "personal", write="personal")), ALLERGY)
    both = _once(stage, stage.host(_travelling("travel", "personal", write="personal")), WHICH)
    expect("penicillin" in both.memory, f"a host that may read both got {both.memory!r}")
    narrow = _once(stage, stage.host(_travelling("travel")), WHICH)
    expect("Chengdu" in narrow.memory, f"a host that may read travel got {narrow.memory!r}")
    expect("penicillin" not in narrow.text, "a host that may read travel alone was told the allergy")
    return "a host for travel and personal gets the allergy; one for travel alone gets the trip, and not it"


def users(stage: HermesStage) -> str:
    words = {name: line.rstrip(".").split()[-1] for name, line in _USERS.items()}
    question = "What is my parrot called?"
    with stage.host({}).serving() as server:
        before = len(stage.put())
        for name, line in _USERS.items():
            _asked(stage, server, line, name)
        stage.wait_for(before + len(_USERS))
        nobody = _asked(stage, server, question, None)
        asked = {name: _asked(stage, server, question, name) for name in _USERS}
    told = [word for word in words.values() if word in nobody.text]
    expect(not told, f"a request that names nobody was told a name: {told}")
    for name, one in asked.items():
        foreign = [word for other, word in words.items() if other != name and word in one.text]
        expect(words[name] in one.memory, f"{name} got {one.memory!r}")
        expect(not foreign, f"{name} was told another's line: {foreign}")
    return "over the API server alice and bob each get their own line; who names nobody gets neither"


def orphans(stage: HermesStage) -> str:
    stage.model.answer(_LONG, "All of it. " * 2_000)
    host = stage.host(
        {"sessionStrategy": "per-session"},
        compression={"protect_first_n": 0, "protect_last_n": 1, "target_ratio": 0.1},
    )
    with a_terminal(host) as terminal:
        terminal.type("Hello.", _LONG, "Thank you.", "/compress", "/status", "/new", "/new", "Hello again.")
        left = _LEFT.search(terminal.leave())
    compressed = [one for one in stage.model.asked if not one.tools and _LONG in one.text]
    expect(bool(compressed), "the conversation was not compressed")
    if left is None:
        raise CheckFailed("the host named no session to be resumed")
    resumed = left[1]
    host.chat("And once more.", resume=resumed)
    expect(host.run("souvenance", "status").exit_code == 0, "hermes souvenance status failed")
    stage.serve()
    found = stage.sessions()
    empty = [name for name, messages in found.items() if not messages]
    expect(not empty, f"nothing was ever said in {empty}")
    own = {name: messages for name, messages in found.items() if name[:8].isdigit()}
    expect(own.get(resumed) == 4 and sorted(own.values()) == [4, 6], f"the sessions are {own}")
    return "/new, resume and compress: the store has just the 2 sessions in which something was said, whole"


STEPS = (
    DemoStep("install", install),
    DemoStep("tell", tell, ("install",)),
    DemoStep("recall", recall, ("tell",)),
    DemoStep("audit", audit, ("recall",)),
    DemoStep("namespace", namespaces, ("tell",)),
    DemoStep("users", users, ("install",)),
    DemoStep("orphans", orphans, ("install",)),
)


def _travelling(*read: str, write: str = "travel") -> dict[str, Any]:
    return {"peerName": _OWNER, "namespaces": {"read": read, "write": write}}


def _once(stage: HermesStage, host: Host, prompt: str) -> Asked:
    """What the model was asked when the host was."""
    before = len(stage.model.turns())
    host.once(prompt)
    return stage.model.turns()[before]


def _asked(stage: HermesStage, server: ApiServer, prompt: str, user: str | None) -> Asked:
    before = len(stage.model.turns())
    server.ask(prompt, key=None if user is None else f"user:{user}")
    return stage.model.turns()[before]
