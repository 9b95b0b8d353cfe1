"""`souvenance mcp` in a process of its own, with the official client at its other end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import stores
from mcp_door.served import PATIENCE_SECONDS, hosted, run
from quick_souvenance import quick_souvenance
from souvenance.config import settings_from
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation
from surfaces.door import souvenance

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def environment(home, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")}
    return {
        **kept,
        **stores.settings_of(home),
        "SOUVENANCE_EMBEDDER": "none",
        "SOUVENANCE_HOME": str(home),
        **more,
    }


@asynccontextmanager
async def started(home, *options, **more):
    parameters = StdioServerParameters(
        command="souvenance", args=["mcp", *options], env=environment(home, **more)
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


def answers(home, *calls, options=(), **more):
    """What some calls of tools answer, structured, in one conversation."""

    async def work():
        async with started(home, *options, **more) as client:
            return [(await client.call_tool(name, arguments)).structured_content for name, arguments in calls]

    return run(work)


async def told(client, call):
    return (await client.call_tool(*call)).structured_content


def process(home, *options, program=("souvenance",), **more):
    return subprocess.Popen(
        [*program, "mcp", *options],
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def exchanged(running, *messages):
    """What the process answers to each message, line by line."""
    found = []
    for message in messages:
        running.stdin.write(json.dumps(message) + "\n")
        running.stdin.flush()
        found.append(json.loads(running.stdout.readline()))
    return found


@pytest.fixture(scope="module", autouse=True)
def quick(run_folder):
    """Whoever starts it by its name need not wait until it is loaded."""
    with quick_souvenance(run_folder / "quick") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder), prepend=os.pathsep)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A data folder with the caps of its owner, and what two people said in it."""
    folder = tmp_path_factory.mktemp("stdio") / "home"
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(folder)))
    owner = Credentials(installation.owner_cap)
    for person, text in (("anna", "Anna's bassoon is blue."), ("ben", "Ben's bassoon is red.")):
        said = AddMessages(
            workspace_id="default",
            session_id=f"chat-{person}",
            messages=[NewMessage(content=text, peer_id=person)],
        )
        installation.gate.call(ADD_MESSAGES, owner, said)
    narrow = m.Mint("anna", ("get", "list"), ("default",))
    (folder / "anna.cap").write_text(installation.gate.call(o.MINT, owner, narrow).cap)
    for namespace in ("travel", "work"):
        line = m.Mint("carla", ("put", "get", "list", "snapshot", "forget"), ("travel", "work"))
        cap = installation.gate.call(o.MINT, owner, line).cap
        (folder / "carla.cap").write_text(cap)
        installation.gate.call(o.PUT, Credentials(cap), m.Put(f"Carla's {namespace} bassoon.", namespace))
    installation.close()
    return folder


def test_everything_is_listed_and_called_over_standard_input_and_output(home):
    async def work():
        async with started(home, "--peer", "dora") as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            kept = await client.call_tool("remember", {"statements": ["Dora lives in Lisbon."]})
            line = kept.structured_content["ids"][0]
            calls = [
                ("recall", {"question": "where does Dora live?"}),
                ("profile", {}),
                ("reason", {"question": "where does Dora live?"}),
                ("read", {"id": line}),
                ("list", {"what": "sessions"}),
                ("conclude", {"fact": "Likes tea."}),
                ("forget", {"id": line}),
            ]
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
            session = await client.read_resource("souvenance://sessions/mcp-dora")
            prompt = await client.get_prompt("end-of-session", {})
            return tools, results, session, prompt

    tools, results, session, prompt = run(work)
    assert len(tools) == 8
    assert not any(result.is_error for result in results), results
    assert "Lisbon" in results[0].content[0].text
    assert session.contents and prompt.messages


def test_it_is_the_owners_memory_without_options_and_one_persons_alone_with_them(home):
    asked = ("recall", {"question": "bassoon", "limit": 20})
    (owner,) = answers(home, asked)
    assert owner["lines"] == []
    (anna,) = answers(home, asked, options=("--peer", "anna"))
    assert [one["text"] for one in anna["lines"]] == ["Anna's bassoon is blue."]


def test_it_uses_the_cap_that_it_was_started_with(home):
    calls = (("recall", {"question": "bassoon"}), ("remember", {"statements": ["x y"]}))
    for given in ({"options": ("--cap", f"@{home}/anna.cap")}, {"SOUVENANCE_CAP": f"@{home}/anna.cap"}):
        recalled, refused = answers(home, *calls, **given)
        assert [one["text"] for one in recalled["lines"]] == ["Anna's bassoon is blue."]
        assert refused["error"] == "cap_op_mismatch"


def test_namespaces_are_fixed_at_the_start(home):
    carla = ("--cap", f"@{home}/carla.cap")
    asked = ("recall", {"question": "bassoon", "limit": 20})
    kept = ("remember", {"statements": ["The tuba is green."]})
    both, refused = answers(home, asked, kept, options=(*carla, "--read", "travel,work"))
    assert len(both["lines"]) == 2
    assert refused["error"] == "cap_op_mismatch"

    async def work():
        async with (
            started(home, *carla, "--read", "travel,work", "--write", "work") as working,
            started(home, *carla, "--namespace", "travel") as travelling,
        ):
            line = (await told(working, kept))["ids"][0]
            read = (await told(working, ("recall", {"question": "travel bassoon"})))["lines"][0]["id"]
            return [
                await told(working, ("forget", {"id": read})),
                await told(travelling, asked),
                await told(travelling, ("recall", {"question": "tuba"})),
                await told(working, ("forget", {"id": line})),
            ]

    refused, travel, unseen, gone = run(work)
    assert refused["error"] == "not_found"
    assert [one["text"] for one in travel["lines"]] == ["Carla's travel bassoon."]
    assert unseen["lines"] == []
    assert gone["erased"][0]["text"] == "The tuba is green."


def test_what_is_remembered_is_said_in_the_session_that_was_chosen(home):
    (kept,) = answers(
        home, ("remember", {"statements": ["Ems."]}), options=("--peer", "eva", "--session", "desk")
    )
    assert kept["session"] == "desk"


def test_a_server_may_have_the_memory(tmp_path):
    with hosted(tmp_path / "served") as server:
        cap = server.mint("fritz")
        kept, recalled = answers(
            tmp_path / "none",
            ("remember", {"statements": ["Fritz plays the oboe."]}),
            ("recall", {"question": "oboe"}),
            options=("--url", server.url, "--cap", cap),
        )
        assert recalled["lines"][0]["id"] == kept["ids"][0]
    assert not (tmp_path / "none").exists()


def test_nothing_but_the_protocol_is_on_standard_output_and_bad_lines_do_not_end_it(home):
    running = process(home)
    running.stdin.write("this is no message\n[]\n\n")
    (answer,) = exchanged(running, PING)
    assert (answer["jsonrpc"], answer["id"], answer["result"]) == ("2.0", 1, {}), answer
    out, err = running.communicate(timeout=PATIENCE_SECONDS)
    assert running.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert "Traceback" not in err and "this is no message" not in err


def test_it_ends_when_standard_input_does(home):
    running = process(home)
    exchanged(running, PING)
    out, err = running.communicate(timeout=PATIENCE_SECONDS)
    assert (running.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("held", [None, "", json.dumps(PING) + "\n"], ids=["no file", "nothing", "a ping"])
def test_it_ends_with_a_file_too(home, tmp_path, held):
    given = Path("/dev/null") if held is None else tmp_path / "given"
    if held is not None:
        given.write_text(held)
    with given.open() as stdin:
        running = subprocess.run(
            ["souvenance", "mcp"],
            env=environment(home),
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
    assert (running.returncode, running.stderr) == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly_when_asked_to(home, number):
    running = process(home, program=(sys.executable, "-m", "souvenance"))
    exchanged(running, PING)
    running.send_signal(number)
    assert running.wait(PATIENCE_SECONDS) == 0
    out, err = running.communicate()
    assert (out, err) == ("", "")


def test_a_dead_cap_is_told_at_once_on_standard_error(home):
    finished = souvenance("mcp", "--cap", "nonsense", home=home, exit_code=4)
    assert finished.out == ""
    assert finished.err.startswith("cap_malformed: ")


@pytest.mark.parametrize(
    "options",
    [
        ("--namespace", "a", "--read", "b"),
        ("--http", "http://x"),
        ("--with-cap",),
        ("--print-config", "emacs"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(home, options):
    finished = souvenance("mcp", *options, home=home, exit_code=2)
    assert finished.out == ""
    assert finished.err
