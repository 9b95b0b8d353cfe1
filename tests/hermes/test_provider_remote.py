"""The provider on a server: Souvenance's own, Honcho's, and one that happens to serve the store's folder."""

import json
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from hermes.honcho_fake import LONGEST_HANG, Honcho, eventually
from hermes.stage import Stage
from souvenance import hermes_backends
from souvenance.errors import Unavailable
from souvenance.gate.conversation.context import READ_CARD, ReadCard
from souvenance.gate.token_verifier import Credentials
from souvenance.hermes.config_files import read_configuration
from surfaces.door import serving

SECRET = "sk-proj-Zq7Rk2Vw9Xb4Nc6Md8Lf1Hj3Tg5Ys0Pa"
TRIP = "I am going to Chengdu from May 25 to May 29."
QUESTION = "When do I go to Chengdu?"


@pytest.fixture
def honcho():
    with Honcho() as made:
        yield made


@pytest.fixture
def stage(tmp_path, honcho):
    made = Stage(tmp_path, baseUrl=honcho.url)
    yield made
    made.close()


def delivered(stage):
    """Whether all that was posted is written in the end, however often that takes."""
    return eventually(lambda: all(runtime.flush(1) for runtime in stage._runtimes.values()))


def ask(provider, tool, **args):
    return json.loads(provider.handle_tool_call(f"souvenance_{tool}", args))


def numbered(first, last):
    return [f"This is turn {number}." for number in range(first, last)]


def say_all(provider, texts, session=""):
    for text in texts:
        provider.sync_turn(text, "", session_id=session)


def test_a_honcho_server_is_told_each_turn_as_it_was_said(stage, honcho):
    stage.tell(stage.provider(), TRIP, "Have a good time.")
    assert honcho.texts("project") == [("ann", TRIP), ("hermes", "Have a good time.")]


def test_what_a_honcho_server_knows_is_recalled(stage, honcho):
    honcho.state("hermes", "ann", "Ann goes to Chengdu on May 25.")
    honcho.say("earlier", "ann", "The flight to Chengdu is at noon.")
    honcho.of().cards["hermes", "ann"] = ["Lives in Porto."]
    told = stage.recall(stage.provider(), QUESTION)
    for known in ("May 25", "at noon", "Lives in Porto."):
        assert known in told


def test_no_secret_of_a_message_goes_to_a_server_to_look_for_what_bears_on_it(stage, honcho):
    honcho.state("hermes", "ann", "Ann goes to Chengdu on May 25.")
    provider, message = stage.provider(), f"{QUESTION} My key is {SECRET}."
    assert "May 25" in stage.recall(provider, message)
    assert "May 25" in provider.on_pre_compress([{"role": "user", "content": message}])
    assert eventually(lambda: honcho.requests("/chat$"))
    assert [asked for asked in honcho.asked if QUESTION in str(asked)]
    assert not [asked for asked in honcho.asked if SECRET in str(asked)]


def test_everything_that_a_turn_needs_is_asked_for_at_once(stage, honcho):
    stage.configure(baseUrl=honcho.url, recallWait=0.1)
    provider = stage.provider()
    provider.handle_tool_call("souvenance_profile", {})
    honcho.hang()
    before = len(honcho.asked)
    stage.recall(provider, QUESTION)
    at_once = honcho.wait_for(lambda: len(honcho.asked) >= before + 6)
    honcho.awake()
    assert at_once


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_turn_whose_receipt_was_lost_is_not_told_twice(stage, honcho, lost):
    provider = stage.provider()
    stage.tell(provider, "This comes first.", "")
    honcho.lose = lost
    say_all(provider, numbered(0, 4))
    assert delivered(stage)
    assert [text for _, text in honcho.texts("project")] == ["This comes first.", *numbered(0, 4)]


def test_a_turn_whose_receipt_was_lost_with_the_process_is_not_told_twice(stage, honcho):
    honcho.lose = 1
    stage.provider().sync_turn("This is turn 0.", "")
    assert honcho.wait_for(lambda: honcho.lose == 0)
    stage.anew().provider().sync_turn("This is turn 1.", "")
    assert delivered(stage)
    assert [text for _, text in honcho.texts("project")] == numbered(0, 2)


@pytest.mark.parametrize("seed", range(3))
def test_however_receipts_are_lost_every_session_has_its_turns_in_order(stage, honcho, seed):
    chance = random.Random(seed)
    stage.configure(baseUrl=honcho.url, sessionStrategy="per-session")
    said = {"one": [], "two": [], "three": []}
    for number in range(30):
        session = chance.choice(list(said))
        honcho.lose += chance.random() < 0.3
        text = f"This is turn {number}."
        stage.provider(session).sync_turn(text, "", session_id=session)
        said[session].append(text)
        if chance.random() < 0.1:
            stage.anew()
    stage.provider("one")
    assert delivered(stage)
    assert {name: [text for _, text in honcho.texts(name)] for name in said} == said


def test_a_file_or_a_note_whose_receipt_was_lost_is_not_told_twice(stage, honcho):
    (stage.home / "memories").mkdir()
    (stage.home / "memories" / "USER.md").write_text("I keep bees in the garden.\n")
    provider = stage.provider()
    provider.on_memory_write("add", "user", "Drinks green tea.")
    assert delivered(stage)
    honcho.lose = 3
    provider.on_memory_write("add", "user", "Plays the viola.")
    provider.sync_turn("Good evening to you.", "")
    assert delivered(stage)
    assert [one["content"] for one in honcho.of().conclusions] == ["Drinks green tea.", "Plays the viola."]
    assert sorted(text.strip() for name in honcho.sessions() for _, text in honcho.texts(name)) == [
        "Good evening to you.",
        "I keep bees in the garden.",
    ]


def test_a_honcho_server_that_cannot_take_a_turn_back_holds_nothing_up(stage, honcho, caplog):
    provider = stage.provider()
    stage.tell(provider, "I live in Oslo.", "")
    provider.on_session_switch("s1", rewound=True)
    provider.sync_turn("I live in Rome.", "", messages=[{"role": "user", "content": "I live in Rome."}])
    assert delivered(stage)
    assert [text for _, text in honcho.texts("project")] == ["I live in Oslo.", "I live in Rome."]
    assert "a write is set aside" in caplog.text


def test_what_a_honcho_server_refuses_for_good_is_set_aside(stage, honcho):
    provider = stage.provider()
    stage.tell(provider, "This is taken.", "")
    honcho.deny = 422
    provider.sync_turn("This is not.", "")
    assert eventually(lambda: hermes_backends.inspect(configuration(stage)).write_queue.set_aside == 1)
    honcho.deny = None
    provider.sync_turn("This is taken too.", "")
    assert delivered(stage)
    assert [text for _, text in honcho.texts("project")] == ["This is taken.", "This is taken too."]


def test_why_a_write_waits_shows_in_the_status_until_it_is_taken(stage, honcho):
    provider = stage.provider()
    stage.tell(provider, "This is taken.", "")
    honcho.deny = 403
    provider.sync_turn("This is denied for now.", "")
    assert eventually(lambda: hermes_backends.inspect(configuration(stage)).delay)
    found = hermes_backends.inspect(configuration(stage))
    assert (found.delay.partition(":")[0], found.write_queue.waiting) == ("cap_scope_mismatch", 1)
    honcho.deny = None
    assert delivered(stage)
    assert hermes_backends.inspect(configuration(stage)).delay == ""


def test_an_address_with_nothing_behind_it_does_not_answer(stage, honcho):
    stage.configure(baseUrl=f"{honcho.url}/elsewhere")
    found = hermes_backends.inspect(configuration(stage))
    assert not found.reachable
    assert found.detail.endswith("has no such path. Start that server, or correct baseUrl.")


def configuration(stage):
    return read_configuration(stage.home, stage.environment)[0]


def test_the_tools_work_on_a_honcho_server(stage, honcho):
    provider = stage.provider()
    stage.tell(provider, TRIP)
    honcho.think = lambda query, level: "At the end of May."
    assert ask(provider, "profile", card=["Lives in Porto."])["card"] == ["Lives in Porto."]
    assert ask(provider, "profile")["card"] == ["Lives in Porto."]
    assert ask(provider, "search", query="Chengdu")["results"][0]["text"] == TRIP
    assert ask(provider, "reasoning", query=QUESTION)["answer"] == "At the end of May."
    kept = ask(provider, "conclude", conclusion="Plays the viola.")["kept"]
    assert [one["text"] for one in ask(provider, "conclude", list=True)["conclusions"]] == [
        "Plays the viola."
    ]
    assert "viola" in str(ask(provider, "context"))
    assert ask(provider, "conclude", delete_id=kept["id"])["deleted"] == kept["id"]
    assert ask(provider, "conclude", list=True)["conclusions"] == []


def test_a_fact_is_kept_before_anything_was_said_and_makes_no_session(stage, honcho):
    assert ask(stage.provider(), "conclude", conclusion="Plays the viola.")["kept"]
    assert honcho.sessions() == []


def test_what_only_reads_makes_nothing_on_a_honcho_server(stage, honcho):
    provider = stage.provider()
    stage.recall(provider, QUESTION)
    for tool in ("profile", "search", "context", "reasoning", "conclude"):
        ask(provider, tool, query="Chengdu", list=True)
    provider.on_session_switch("s2", parent_session_id="s1", reset=True, reason="new_session")
    provider.on_pre_compress([{"role": "user", "content": QUESTION}])
    provider.on_session_end([])
    provider.shutdown()
    assert honcho.workspaces.keys() <= {"hermes"}
    assert (honcho.sessions(), honcho.of().peers) == ([], set())


def test_the_key_of_the_host_s_block_is_sent_to_a_server_near_by(stage, honcho):
    honcho.keys = {"its-own"}
    stage.configure(baseUrl=honcho.url, apiKey="another-server-s", hosts={"hermes": {"apiKey": "its-own"}})
    stage.tell(stage.provider(), TRIP)
    assert {one.bearer for one in honcho.asked} == {"its-own"}


def test_a_key_that_may_be_meant_for_another_server_is_not_sent_near_by(stage, honcho):
    stage.environment["HONCHO_API_KEY"] = "the-cloud-s"
    stage.tell(stage.provider(), TRIP)
    stage.recall(stage.provider(), QUESTION)
    assert {one.bearer for one in honcho.asked} == {"local"}


def grant(honcho, expires_at):
    return {
        "refreshToken": "hch-rt-1",
        "expiresAt": expires_at,
        "clientId": "hermes-agent",
        "tokenEndpoint": f"{honcho.url}/oauth/token",
    }


def test_whoever_signed_in_is_known_by_the_access_token(stage, honcho):
    honcho.keys = {"hch-at-1"}
    block = {"apiKey": "hch-at-1", "oauth": grant(honcho, 32_500_000_000)}
    stage.configure(baseUrl=honcho.url, hosts={"hermes": block})
    stage.tell(stage.provider(), TRIP)
    assert {one.bearer for one in honcho.asked} == {"hch-at-1"}
    assert honcho.requests("^/oauth/") == []


def test_a_token_that_ran_out_is_renewed_once_and_kept(stage, honcho):
    stage.configure(**signed_in(honcho))
    stage.provider().sync_turn(TRIP, "")
    assert delivered(stage)
    stage.tell(stage.anew().provider(), "Hello again, good evening.", "")
    assert {one.bearer for one in honcho.requests("^/v3/")} == {"hch-at-2"}
    (renewal,) = honcho.requests("^/oauth/")
    assert renewal.body == {
        "grant_type": "refresh_token",
        "client_id": "hermes-agent",
        "refresh_token": "hch-rt-1",
    }
    kept = configuration(stage)
    assert (kept.api_key, kept.oauth["refreshToken"]) == ("hch-at-2", "hch-rt-2")


def signed_in(honcho):
    """Settings with a sign-in that has run out, and is good for one renewal."""
    honcho.keys = set()
    honcho.grants["hch-rt-1"] = ("hch-at-2", "hch-rt-2")
    block = {"apiKey": "hch-at-1", "oauth": grant(honcho, 1)}
    return {"baseUrl": honcho.url, "hosts": {"hermes": block}}


def test_two_hosts_of_one_home_renew_a_token_once(stage, honcho, tmp_path):
    stage.configure(**signed_in(honcho))
    other = Stage(tmp_path)
    honcho.pause = lambda asked: 0.1 if asked.path.startswith("/oauth") else 0.0
    hosts = [
        threading.Thread(target=lambda one=one: ask(one.provider(), "profile")) for one in (stage, other)
    ]
    for host in hosts:
        host.start()
    for host in hosts:
        host.join()
    assert len(honcho.requests("^/oauth/")) == 1
    assert {one.bearer for one in honcho.requests("^/v3/")} == {"hch-at-2"}
    other.close()


def test_a_token_that_says_nothing_of_its_end_is_not_renewed_for_every_request(stage, honcho):
    stage.configure(**signed_in(honcho))
    honcho.lifetime = None
    provider = stage.provider()
    for _ in range(3):
        ask(provider, "profile")
    assert len(honcho.requests("^/oauth/")) == 1


def test_a_renewal_that_was_refused_is_not_asked_for_by_every_request(stage, honcho):
    stage.configure(**signed_in(honcho))
    honcho.grants.clear()
    provider = stage.provider()
    for _ in range(3):
        assert "error" in ask(provider, "profile")
    assert len(honcho.requests("^/oauth/")) == 1
    assert honcho.requests("^/v3/") == []


def test_a_sign_in_that_cannot_be_renewed_keeps_nobody_waiting(stage, honcho):
    stage.configure(**signed_in(honcho), recallWait=0.1)
    honcho.hang()
    honcho.grants.clear()
    provider = stage.provider()
    began = time.perf_counter()
    assert stage.recall(provider, QUESTION) == ""
    assert time.perf_counter() - began <= LONGEST_HANG / 10
    provider.sync_turn(TRIP, "")
    assert honcho.wait_for(lambda: any(one.path.startswith("/oauth") for one in honcho.asked))
    honcho.awake()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "home", "--trust-loopback") as made:
        yield made


@pytest.fixture(params=["the owner's cap", "local"])
def ours(request, tmp_path, server):
    """A profile on Souvenance's own server, with a cap or with the server's trust in this machine."""
    made = Stage(tmp_path)
    block = {"apiKey": server.owner_cap} if request.param != "local" else {}
    workspace = f"w-{'cap' if block else 'local'}-{tmp_path.name}"
    made.configure(baseUrl=server.url, workspace=workspace, recallWait=10, hosts={"hermes": block})
    yield made
    made.close()


def test_souvenance_s_own_server_remembers_across_processes(ours):
    ours.tell(ours.provider("s1"), TRIP, "Have a good time.")
    ours.anew()
    assert "May 25" in ours.recall(ours.provider("s2"), QUESTION)
    assert ours.sessions(configuration(ours).workspace) == {
        "project": [("ann", TRIP), ("hermes", "Have a good time.")]
    }


def test_two_people_are_apart_on_souvenance_s_own_server(ours):
    for user, word in (("alice", "quokka"), ("bob", "axolotl")):
        provider = ours.provider(f"s-{user}", "api_server", gateway_session_key=f"user:{user}")
        ours.tell(provider, f"My favourite animal is the {word}.", f"The {word} it is.")
    alice = ours.provider("new", "api_server", gateway_session_key="user:alice")
    assert "quokka" in ours.recall(alice, "What is my favourite animal?")
    shown = ours.recall(alice, "Is it the axolotl?", 2)
    for tool in ("profile", "search", "context", "reasoning", "conclude"):
        for peer in ("user", "ai", "api-user-bob"):
            shown += str(ask(alice, tool, query="axolotl animal", list=tool == "conclude", peer=peer))
    assert "axolotl" not in shown.replace("Is it the axolotl?", "")


def test_the_tools_work_on_souvenance_s_own_server(ours):
    provider = ours.provider()
    ours.tell(provider, TRIP)
    assert ask(provider, "profile", card=["Lives in Porto."])["card"] == ["Lives in Porto."]
    assert ask(provider, "search", query="Chengdu")["results"][0]["text"] == TRIP
    kept = ask(provider, "conclude", conclusion="Plays the viola.")["kept"]
    assert "viola" in str(ask(provider, "conclude", list=True, query="viola"))
    assert ask(provider, "conclude", delete_id=kept["id"])["deleted"] == kept["id"]
    assert "viola" not in str(ask(provider, "conclude", list=True))


def test_what_was_undone_is_gone_from_souvenance_s_own_server(ours):
    provider = ours.provider()
    ours.tell(provider, "I live in Oslo.", "Fine.")
    provider.on_session_switch("s1", rewound=True)
    live = [{"role": "user", "content": "I live in Rome."}]
    ours.tell(provider, "I live in Rome.", "Good.", messages=live)
    texts = ours.sessions(configuration(ours).workspace)["project"]
    assert [text for _, text in texts] == ["I live in Rome.", "Good."]


def test_a_profile_with_a_narrow_cap_has_what_the_cap_grants_and_no_more(tmp_path, server):
    workspace = f"w-narrow-{tmp_path.name}"
    ops = ["put", "get", "list", "snapshot", "forget"]
    narrow = server.mint("hermes-agent", ops, ["travel"], wid=workspace, peers=["*"], ttl_seconds=600)
    known = {"baseUrl": server.url, "workspace": workspace, "recallWait": 10}
    travel = Stage(tmp_path / "travel", **known, namespaces="travel", hosts={"hermes": {"apiKey": narrow}})
    travel.tell(travel.provider("s1"), TRIP, "Have a good time.")
    assert "May 25" in travel.recall(travel.provider("s2"), QUESTION)
    greedy = Stage(tmp_path / "greedy", **known, namespaces="personal", hosts={"hermes": {"apiKey": narrow}})
    provider = greedy.provider("s1")
    provider.sync_turn("I am allergic to peanuts.", "")
    assert greedy.recall(provider, QUESTION) == ""
    owner = Stage(tmp_path / "owner", **known, hosts={"hermes": {"apiKey": server.owner_cap}})
    assert "peanuts" not in str(owner.sessions(workspace))
    for stage in (travel, greedy, owner):
        stage.close()


def test_the_log_tells_for_whom_each_call_was_made(tmp_path):
    with serving(tmp_path / "server") as server:
        stage = Stage(tmp_path, baseUrl=server.url, hosts={"hermes": {"apiKey": server.owner_cap}})
        alice = stage.provider("s1", "api_server", gateway_session_key="user:alice")
        stage.tell(alice, TRIP)
        stage.recall(alice, QUESTION, 2)
        auditor = server.client(server.mint("auditor", ["audit"], wid="hermes", peers=["*"]))
        rows = auditor.get("/v1/audit", params={"limit": 1000}).json()["rows"]
        asked = [row for row in rows if not row["operation"].startswith("work.")]
        assert {"messages.add", "peers.context"} <= {row["operation"] for row in asked}
        assert {row["actor"] for row in asked} == {"api-user-alice"}
        stage.close()


def test_a_way_that_is_closed_while_it_is_used_is_a_server_that_is_gone(stage):
    backend = hermes_backends.open_backend(configuration(stage))
    backend.close()
    with pytest.raises(Unavailable):
        backend.gate.call(READ_CARD, Credentials("local"), ReadCard(workspace_id="hermes", peer_id="ann"))


def files_in(folder):
    """What this process has open in a folder."""
    links = [Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd")]
    found = [os.readlink(link) for link in links if os.path.islink(link)]
    return [name for name in found if name.startswith(f"{folder}/") and "/write-queue" not in name]


def test_a_server_of_the_store_s_folder_is_used_and_done_without_when_it_is_killed(tmp_path):
    stage = Stage(tmp_path)
    store = stage.home / "souvenance"
    with serving(store) as server:
        provider = stage.provider()
        stage.tell(provider, "This is turn 0.", "")
        assert hermes_backends.inspect(configuration(stage)).detail == server.url
        assert files_in(store) == []
        say_all(provider, numbered(1, 10))
        assert eventually(lambda: hermes_backends.inspect(configuration(stage)).write_queue.waiting < 9)
        server.process.send(signal.SIGKILL)
        say_all(provider, numbered(10, 13))
        server.stop()
        assert delivered(stage)
        assert files_in(store) != []
        assert "This is turn 12." in stage.recall(stage.provider("s2"), "Which turn was 12?", 2)
    assert hermes_backends.inspect(configuration(stage)).detail == str(store)
    assert [text for _, text in stage.sessions()["project"]] == numbered(0, 13)
    stage.close()
