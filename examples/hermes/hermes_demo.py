"""A demo with an unmodified Hermes: a story played by separate processes, and checked from outside.

Run it from a checkout: `.venv/bin/python examples/hermes/hermes_demo.py`. It installs Hermes into a temporary
environment, lets it talk to a stand-in for a model, and touches nothing of yours. It exits with 1 if a step
fails.

A step says what it saw in captured requests to the model and in the store, never in the host's word.
What must not be told is held against a host like it that is told.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

import click
import msgspec

from demo_host import ApiServer, Host, a_terminal
from demo_model import Asked, DemoModel, a_model
from story import (
    PATIENCE_SECONDS,
    CheckFailed,
    CheckSkipped,
    DemoStep,
    Stage,
    answered,
    expect,
    outcome_line,
    play,
    printed,
    succeeded,
)

HERMES = "hermes-agent==0.19.0"
_FOR_ITS_SERVER = "aiohttp==3.14.1"
_TOO_NEW = (3, 14)
_PATIENCE_SECONDS = 1800.0
_CHECKOUT = Path(__file__).resolve().parents[2]


def prepare(folder: Path) -> str:
    """Make the environment unless it is there, and say what is in it.

    Raises: Skipped, if Hermes can't be had; Failed.
    """
    if not (folder / "bin" / "hermes").exists():
        _make(folder)
    _pip(folder, "check")
    return _versions(folder)


def _make(folder: Path) -> None:
    if sys.version_info >= _TOO_NEW:
        raise CheckSkipped(f"{HERMES} wants a Python below 3.14, and this is {sys.version.split()[0]}")
    try:
        venv.create(folder, clear=True)
        _pip(folder, "install", HERMES, _FOR_ITS_SERVER)
    except (OSError, subprocess.SubprocessError, CheckFailed) as error:
        raise CheckSkipped(f"{HERMES} could not be installed: {error}") from error
    _pip(folder, "install", f"{_CHECKOUT}[hermes]")


def _pip(folder: Path, *arguments: str) -> None:
    """Run this environment's pip on that one. Raises: Failed, with pip's last words."""
    known = ("--python", folder / "bin" / "python", "--quiet", "--disable-pip-version-check")
    ended = subprocess.run(
        [sys.executable, "-m", "pip", *known, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    said = (ended.stdout + ended.stderr).decode(errors="replace").strip().splitlines()
    expect(ended.returncode == 0, said[-1] if said else f"pip ended with {ended.returncode}")


def _versions(folder: Path) -> str:
    """The versions of the two, as the environment itself says them."""
    question = (
        "from importlib.metadata import version; import souvenance.plugin; "
        "print(f\"hermes-agent {version('hermes-agent')} and souvenance {version('souvenance')}\")"
    )
    ended = subprocess.run(
        [folder / "bin" / "python", "-P", "-c", question],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_PATIENCE_SECONDS,
        check=False,
    )
    expect(ended.returncode == 0, f"it does not have both: {ended.stderr.decode(errors='replace')[-300:]}")
    return ended.stdout.decode().strip()


WORKSPACE = "hermes"


class HermesStage(Stage):
    """A stage whose data folder is the memory that all the hosts share."""

    def __init__(self, folder: Path, environment: Path, model: DemoModel) -> None:
        super().__init__(folder)
        self.environment = environment
        self.model = model
        self._hosts = 0

    def host(self, recalls: dict[str, Any], **settings: Any) -> Host:
        """A host in a fresh home, with no past but the shared memory, for which it waits on any machine."""
        self._hosts += 1
        place = self.folder / f"host-{self._hosts}"
        known = {"store": str(self.home), "recallWait": PATIENCE_SECONDS}
        return Host(self.environment, place, self.model, {**known, **recalls}, **settings)

    def log(self) -> list[dict[str, Any]]:
        """The rows of the audit log."""
        ran = self.souvenance_on(self.home, "--workspace", WORKSPACE, "audit", "list")
        expect(ran.exit_code == 0, f"the audit log can't be read: {ran.err}")
        return [msgspec.json.decode(line) for line in ran.out.splitlines()]

    def put(self) -> list[list[str]]:
        """The ids of the messages of each turn that was stored."""
        return [row["lines"] for row in self.log() if row["operation"] == "messages.add"]

    def wait_for(self, turns: int) -> None:
        """Wait until so many turns are stored: a host answers before it writes."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(self.put()) < turns:
            expect(time.monotonic() < deadline, "what was said was not stored")

    def sessions(self) -> dict[str, int]:
        """How many messages each stored session has."""
        path = f"/v3/workspaces/{WORKSPACE}/sessions"
        cap = (self.home / "owner.cap").read_text("utf-8").strip()
        found = answered(self.ask("POST", f"{path}/list?size=100", {}, cap=cap))["items"]
        return {
            one["id"]: answered(self.ask("POST", f"{path}/{one['id']}/messages/list", {}, cap=cap))["total"]
            for one in found
        }


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
    stage.model.answer(_LONG, "All of it. " * 400)
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


@click.command()
@click.option(
    "--environment",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
    help="The Python environment to use. It is made if missing.",
)
def demo(environment: Path | None) -> None:
    """Show what Souvenance does for an unmodified Hermes Agent."""
    if environment is None or not environment.exists():
        click.echo("Installing Hermes first, which takes a minute or more.", err=True)
    results = []
    with tempfile.TemporaryDirectory(prefix="souvenance-demo-") as place, a_model() as model:
        folder = Path(place)
        with HermesStage(folder, environment or folder / "environment", model) as stage:
            for result in play(STEPS, stage):
                results.append(result)
                click.echo(result.line)
    click.echo(outcome_line(results))
    sys.exit(0 if succeeded(results) else 1)


if __name__ == "__main__":
    demo()
