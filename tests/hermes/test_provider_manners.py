"""The provider's manners: it never keeps anybody waiting, costs nothing when let go of, and loses nothing."""

import gc
import os
import signal
import statistics
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from hermes.honcho_fake import Honcho, eventually
from hermes.stage import PATIENCE_SECONDS, Stage
from hermes.theatre import (
    MARGIN,
    QUESTION,
    TRIES,
    TROUBLES,
    WAIT,
    dead,
    delivered,
    hanging,
    runtime_of,
    said,
    timed,
    within,
)
from souvenance import hermes_backends, plugin
from souvenance.errors import SouvenanceError
from souvenance.files import locked
from souvenance.hermes import delivery, profile_runtime
from souvenance.hermes.backend_health import BackendHealth
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.state_files import DELAY

TESTS = Path(__file__).parents[1]


def begins_at_once(stage):
    """Whether most of nine conversations in a row begin at once, sooner or later."""
    return any(statistics.median(timed(stage.provider) for _ in range(9)) <= 0.020 for _ in range(TRIES))


@pytest.mark.parametrize("trouble", [None, *TROUBLES])
def test_a_conversation_begins_at_once_whatever_the_server_does(theatre, honcho, trouble):
    if trouble is not None:
        trouble(honcho)
    theatre.provider("warm").sync_turn("This waits in the queue.", "")
    assert begins_at_once(theatre)


def test_a_conversation_begins_at_once_on_a_store(stage):
    stage.tell(stage.provider("warm"), "I live in Porto.")
    assert begins_at_once(stage)


def test_how_a_server_does_is_seen_from_outside(theatre, honcho):
    theatre.provider().sync_turn("This is a turn.", "")
    assert delivered(theatre)
    configuration = read_configuration(theatre.home, theatre.environment)[0]
    well = hermes_backends.inspect(configuration)
    assert (well.reachable, well.detail) == (True, honcho.url)
    honcho.deny = 401
    theatre.provider().sync_turn("This is another.", "")
    refused = hermes_backends.inspect(configuration)
    assert refused.reachable is False
    assert "not for you" in refused.detail
    assert refused.write_queue.waiting == 1


def test_a_key_that_is_put_right_is_used_by_the_same_process(tmp_path, honcho):
    honcho.keys = {"right"}
    honcho.state("hermes", "ann", "Ann goes to Chengdu on May 25.")
    stage, runtimes = Stage(tmp_path), plugin.Runtimes()
    stage.runtime = runtimes.get
    try:
        stage.configure(baseUrl=honcho.url, hosts={"hermes": {"apiKey": "wrong"}})
        for number in range(4):
            stage.provider().sync_turn(f"This is turn {number}.", "")
            assert stage.recall(stage.provider(), QUESTION) == ""
        stage.configure(baseUrl=honcho.url, hosts={"hermes": {"apiKey": "right"}})
        provider = stage.provider()
        assert eventually(lambda: "May 25" in stage.recall(provider, QUESTION))
        provider.sync_turn("This is turn 4.", "")
        assert eventually(lambda: len(said(honcho)) == 5)
        assert said(honcho) == [f"This is turn {number}." for number in range(5)]
    finally:
        runtimes.close()


def test_a_conversation_begins_at_once_when_the_server_that_is_left_hangs(tmp_path, honcho):
    stage = Stage(tmp_path)

    def begins_anew():
        runtimes = plugin.Runtimes()
        stage.runtime = runtimes.get
        stage.configure(baseUrl=honcho.url, timeout=PATIENCE_SECONDS)
        honcho.hang()
        try:
            stage.provider().sync_turn("This waits in the queue.", "")
            assert eventually(lambda: honcho.under_way)
            stage.configure(baseUrl=honcho.url, timeout=PATIENCE_SECONDS + 1)
            return timed(stage.provider)
        finally:
            honcho.awake()
            runtimes.close()

    assert any(begins_anew() <= MARGIN for _ in range(TRIES))


def test_a_process_whose_write_queue_can_not_be_used_ends_quietly(tmp_path, honcho):
    stage, runtimes = Stage(tmp_path, baseUrl=honcho.url), plugin.Runtimes()
    stage.runtime = runtimes.get
    (stage.home / "souvenance" / "write-queue" / "queue.key").mkdir(parents=True)
    provider = stage.provider()
    with pytest.raises(SouvenanceError):
        provider.sync_turn("This is a turn.", "")
    runtimes.close()


def test_a_server_that_was_left_is_told_nothing_more(tmp_path, honcho):
    stage, runtimes = Stage(tmp_path, baseUrl=honcho.url), plugin.Runtimes()
    stage.runtime = runtimes.get
    try:
        with Honcho() as other:
            honcho.deny = 503
            stage.provider().sync_turn("This is turn 0.", "")
            assert honcho.wait_for(lambda: honcho.asked)
            stage.configure(baseUrl=other.url)
            other.deny = 503
            stage.provider().sync_turn("This is turn 1.", "")
            assert other.wait_for(lambda: other.asked)
            honcho.deny = None
            assert not eventually(lambda: said(honcho), 3)
            other.deny = None
            stage.provider().sync_turn("This is turn 2.", "")
            assert eventually(lambda: len(said(other)) == 3)
            assert said(other) == [f"This is turn {number}." for number in range(3)]
    finally:
        runtimes.close()
    assert said(honcho) == []


def test_a_store_that_another_process_holds_up_keeps_nobody_waiting(stage):
    stage.configure(recallWait=0)
    stage.provider()
    stage.anew()
    store = stage.home / "souvenance"
    store.mkdir(mode=0o700, exist_ok=True)
    with locked(store):
        provider = stage.provider()
        provider.sync_turn("I live in Porto.", "")
        assert within(WAIT + MARGIN, lambda: stage.recall(provider, QUESTION))
        assert within(WAIT + MARGIN, stage.provider)
    assert delivered(stage)
    assert stage.sessions() == {"project": [("ann", "I live in Porto.")]}


DIES_BEFORE_IT_WRITES = """
import os, pathlib, signal, sys
from hermes.stage import Stage
provider = Stage(pathlib.Path(sys.argv[1])).provider()
for number in range(50):
    provider.sync_turn(f"This is turn {number}.", "I see.")
provider.sync_turn("I am going to Chengdu on May 25.", "I see.")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_had_yet_to_write_is_found_by_the_first_turn_of_the_next(stage):
    store = stage.home / "souvenance"
    store.mkdir(mode=0o700, exist_ok=True)
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with locked(store):
        command = [sys.executable, "-c", DIES_BEFORE_IT_WRITES, str(stage.home.parent)]
        assert subprocess.run(command, env=known, timeout=60).returncode == -signal.SIGKILL
    assert "May 25" in stage.recall(stage.provider("s2"), QUESTION)


def test_an_write_queue_that_another_process_holds_up_keeps_no_beginning_waiting(stage):
    stage.tell(stage.provider("s1"), "I am going to Chengdu on May 25.")
    with locked(stage.home / "souvenance" / "write-queue"):
        at_once = within(WAIT + MARGIN, lambda: stage.provider("s2"))
        told = stage.recall(stage.provider("s3"), QUESTION)
    assert at_once
    assert "May 25" in told


def test_what_the_gate_denies_to_a_tool_takes_memory_from_nobody(stage):
    stage.tell(stage.provider("s1"), "I am going to Chengdu on May 25.")
    stage.configure(namespaces={"read": ["default"], "write": None})
    provider = stage.provider("s2")
    for _ in range(5):
        assert "error" in provider.handle_tool_call("souvenance_conclude", {"conclusion": "Likes tea."})
        assert "error" in provider.handle_tool_call("souvenance_conclude", {"delete_id": "01J0" + "0" * 22})
    assert "May 25" in stage.recall(stage.provider("s3"), QUESTION)
    assert (
        hermes_backends.state_files_of(read_configuration(stage.home, stage.environment)[0]).health() is None
    )


def open_files():
    return len(os.listdir("/proc/self/fd"))


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def request(stage, number):
    """As the host serves one over its API: a provider of its own, which nobody shuts down."""
    user = f"user:u{number % 20}"
    provider = stage.provider(f"s{number % 20}", "api_server", gateway_session_key=user)
    provider.system_prompt_block()
    stage.recall(provider, f"What was number {number}?", turn=1 + number // 20)
    provider.sync_turn(f"This is number {number}.", "I see.", session_id=f"s{number % 20}")
    return weakref.ref(provider)


AT_ONCE_MOST = 8
OF_A_POOL = "souvenance-foresight"
"""Two at most, which stay once they were needed."""


def left_behind(stage, most, rest=lambda: None):
    """Of so many requests: how many objects, and how many threads, files and bytes more than a third left.
    That comes many at once: a store opens no more connections to read than are used at one moment."""
    counted = []
    for numbers, at_once in ((range(most // 3), AT_ONCE_MOST), (range(most // 3, most), 1)):
        with ThreadPoolExecutor(at_once) as crowd:
            left = list(crowd.map(partial(request, stage), numbers))
        rest()
        gc.collect()
        alive = sum(one() is not None for one in left)
        threads = [one for one in threading.enumerate() if not one.name.startswith(OF_A_POOL)]
        counted.append((len(threads), open_files(), resident_bytes()))
    return alive, *(after - before for before, after in zip(*counted, strict=True))


def test_objects_leave_nothing_behind(stage, monkeypatch):
    for module in (profile_runtime, delivery):
        monkeypatch.setattr(module, "_IDLE_SECONDS", 0.05)
    own = ("souvenance-recall", "souvenance-delivery", "souvenance-meaning")

    def rest():
        """Until the threads are gone that go when they have nothing to do."""
        assert eventually(lambda: not any(one.name.startswith(own) for one in threading.enumerate()), 60)

    alive, threads, files, memory = left_behind(stage, 75, rest)
    assert alive == 0
    assert threads <= 0
    assert files <= 0
    assert memory < 8 * 1024 * 1024


@pytest.mark.parametrize("trouble, most", [(dead, 150), (hanging, 75)])
def test_objects_leave_nothing_behind_when_the_server_is_in_trouble_either(theatre, honcho, trouble, most):
    theatre.configure(baseUrl=honcho.url, timeout=30, recallWait=0.01)
    trouble(honcho)
    theatre.stop_the_clock()
    breaker = runtime_of(theatre).breaker
    assert eventually(lambda: request(theatre, 0) and not breaker.health.ok)
    alive, threads, files, memory = left_behind(theatre, most)
    assert alive == 0
    assert threads <= 2
    assert files <= 4
    assert memory < 8 * 1024 * 1024


PROCESS = """
import atexit, os, signal, sys
from pathlib import Path
from hermes.stage import Stage
stage = Stage(Path(sys.argv[1]))
atexit.register(stage.close)
"""


def process(folder, program):
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS + program, str(folder)],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


KILLED_AT_ONCE = """
stage.provider().sync_turn("This was said last.", "Noted.")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_said_a_moment_before_a_kill_is_written_by_the_next_process(stage, tmp_path):
    with process(tmp_path, KILLED_AT_ONCE) as killed:
        assert killed.wait(60) == -signal.SIGKILL
    stage.provider()
    assert delivered(stage)
    assert stage.sessions() == {"project": [("ann", "This was said last."), ("hermes", "Noted.")]}


STARTS_TO_WRITE = """
stage.provider().sync_turn("This was said last.", "Noted.")
sys.stdin.readline()
"""


def test_what_was_being_written_when_the_process_was_killed_is_written_once(theatre, honcho, tmp_path):
    honcho.pause = lambda asked: 0.3 if asked.path.endswith("/messages") else 0.0
    with process(tmp_path, STARTS_TO_WRITE) as killed:
        assert honcho.wait_for(lambda: any(one.path.endswith("/messages") for one in honcho.asked), 60)
        killed.kill()
    assert eventually(lambda: said(honcho))
    theatre.provider()
    assert delivered(theatre)
    assert said(honcho) == ["This was said last.", "Noted."]


WRITES_MUCH = """
print("ready", flush=True)
name = sys.stdin.readline().strip()
for number in range(15):
    stage.provider().sync_turn(f"{name} says {number} to all.", "")
    stage.directory = stage.directory.parent / name
    stage.provider().sync_turn(f"{name} says {number} alone.", "")
    stage.directory = stage.directory.parent / "project"
"""


def test_two_processes_of_one_home_lose_nothing_and_say_nothing_twice(stage, tmp_path):
    names = ("first", "second")
    for name in names:
        (tmp_path / name).mkdir()
    with process(tmp_path, WRITES_MUCH) as one, process(tmp_path, WRITES_MUCH) as other:
        both = (one, other)
        for each in both:
            assert each.stdout.readline() == "ready\n"
        for each, name in zip(both, names, strict=True):
            each.stdin.write(f"{name}\n")
            each.stdin.flush()
        assert [each.wait(60) for each in both] == [0, 0]
    stage.provider()
    assert delivered(stage)
    found = {name: [text for _, text in texts] for name, texts in stage.sessions().items()}
    assert found.keys() == {"project", *names}
    for name in names:
        assert found[name] == [f"{name} says {number} alone." for number in range(15)]
        together = [text for text in found["project"] if text.startswith(name)]
        assert together == [f"{name} says {number} to all." for number in range(15)]
    assert len(found["project"]) == 30


def test_whoever_compresses_is_told_what_memory_knows_and_nothing_is_left_to_write(stage):
    stage.tell(stage.provider("s1"), "I am going to Chengdu from May 25 to May 29.")
    stage.provider("s1").on_session_end([])
    stage.flush()
    provider = stage.provider("s2")
    provider.sync_turn("My sister Mia plays the cello.", "", session_id="s2")
    history = [
        {"role": "user", "content": "My sister Mia plays the cello."},
        {"role": "assistant", "content": "How nice."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        {"role": "assistant", "content": "On May 25."},
    ]
    assert "May 29" in provider.on_pre_compress(history)
    assert "My sister Mia plays the cello." in str(stage.sessions())


def test_where_memory_is_only_for_tools_whoever_compresses_is_told_nothing(stage):
    stage.tell(stage.provider("s1"), "I am going to Chengdu from May 25 to May 29.")
    stage.configure(recallMode="tools")
    assert stage.provider("s2").on_pre_compress([{"role": "user", "content": QUESTION}]) == ""


@pytest.mark.parametrize("told", [{}, {"platform": "api_server", "gateway_session_key": "user:alice"}])
def test_a_note_of_the_host_about_itself_holds_nothing_up(stage, told):
    provider = stage.provider(**told)
    provider.on_memory_write("add", "memory", "The build is started with make.")
    provider.sync_turn("I live in Porto.", "")
    assert delivered(stage)
    assert "I live in Porto." in str(stage.sessions())


STRATEGIES = {
    "per-directory": ({}, {}, ["project"] * 7),
    "per-repo": ({}, {}, ["repo"] * 7),
    "global": ({}, {}, ["hermes"] * 7),
    "per-session": ({}, {}, ["one", "one", "two", "one", "three", "three", "four"]),
    "gateway": (
        {"platform": "telegram", "user_id": "77"},
        {"gateway_session_key": "agent:main:telegram:dm:9"},
        ["agent-main-telegram-dm-9"] * 7,
    ),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_turn_of_a_conversation_is_written_where_it_belongs(stage, tmp_path, strategy):
    whose, key, places = STRATEGIES[strategy]
    stage.directory = tmp_path / "repo" / "project"
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    stage.directory.mkdir()
    if strategy != "gateway":
        stage.configure(sessionStrategy=strategy)
    provider = stage.provider("one", **whose, **key)
    live = []

    def tell(text, session):
        live.append({"role": "user", "content": text})
        stage.tell(provider, text, "", session=session, messages=list(live))

    tell("The first turn is here.", "one")
    tell("The undone turn is here.", "one")
    del live[-1]
    provider.on_session_switch("one", rewound=True)
    tell("The second turn is here.", "one")
    provider.on_session_end(live)
    provider.on_session_switch("two", parent_session_id="one", reset=True, reason="new_session")
    live.clear()
    tell("After the new one.", "two")
    provider.on_session_switch("one", parent_session_id="two", reason="resume")
    tell("After the resumption.", "one")
    provider.on_session_switch("three", parent_session_id="one", reason="branch")
    tell("After the branching.", "three")
    provider.on_pre_compress(live)
    provider.on_session_switch("three", parent_session_id="three", reason="compression")
    live.clear()
    tell("After the compression.", "three")
    provider.on_session_switch("four", parent_session_id="three", reason="compression")
    tell("After the other compression.", "four")
    expected = {}
    turns = (
        "The first turn is here.",
        "The second turn is here.",
        "After the new one.",
        "After the resumption.",
        "After the branching.",
        "After the compression.",
        "After the other compression.",
    )
    for place, text in zip(places, turns, strict=True):
        expected.setdefault(place, []).append(text)
    assert {name: [text for _, text in texts] for name, texts in stage.sessions().items()} == expected


def test_a_backend_that_was_lost_is_looked_for_again_by_the_next_who_recalls(stage):
    stage.tell(stage.provider("s1"), "I am going to Chengdu on May 25.")
    provider = stage.provider("s2")
    (runtime,) = stage._runtimes.values()
    with runtime._lock:
        runtime._backend.close()
        runtime._backend = None
    assert "May 25" in stage.recall(provider, QUESTION)


@pytest.mark.parametrize(
    "written, why",
    [
        ('{"enabled": false}', "It is switched off: 'hermes souvenance enable' switches it on."),
        (
            '{"peerName": ',
            "souvenance.json: is not JSON (line 1, column 14); memory is off until it is corrected.",
        ),
    ],
)
def test_a_memory_that_is_off_says_why_and_asks_for_nothing_that_would_not_help(stage, written, why):
    assert any("env_var" in field for field in stage.provider(begin=False).get_config_schema())
    (stage.home / "souvenance.json").write_text(written)
    provider = stage.provider(begin=False)
    assert not provider.is_available()
    assert provider.unavailable_reason().endswith(why)
    assert provider.get_status_config({})["off"].endswith(why)
    assert not any("env_var" in field for field in provider.get_config_schema())


def test_a_host_s_own_form_gets_what_is_set_and_keeps_a_key_for_the_server_that_it_names(stage):
    stage.configure(recallMode="tools", baseUrl="https://memory.example", apiKey="secret-of-ann")
    fields = {one["key"]: one for one in stage.provider(begin=False).get_config_schema()}
    shown = {name: one["default"] for name, one in fields.items()}
    assert (shown["recallMode"], shown["baseUrl"]) == ("tools", "https://memory.example")
    assert shown["apiKey"] == "" and fields["apiKey"]["secret"]
    assert fields["apiKey"]["env_var"] == "HERMES_SOUVENANCE_API_KEY"


def test_a_configuration_that_switches_memory_off_is_told_in_the_log_once(stage, caplog):
    (stage.home / "souvenance.json").write_text("{")
    provider = stage.provider(begin=False)
    assert not provider.is_available()
    assert not provider.is_available()
    assert [record.message.endswith("memory is off until it is corrected.") for record in caplog.records] == [
        True
    ]


def test_the_host_s_own_status_says_what_went_wrong_last_and_where_to_read_what_to_do(stage):
    provider = stage.provider("s1")
    assert {"does not answer", "not written"}.isdisjoint(provider.get_status_config({}))
    state_files = hermes_backends.state_files_of(stage.configuration(stage.home, "default")[0])
    state_files.note(BackendHealth(False, 4, "server_unreachable: refused", 1_700_000_000_000))
    state_files.note_trouble(DELAY, "cap_op_mismatch: the cap may not write")
    said = provider.get_status_config({})
    assert said["does not answer"].startswith("server_unreachable: refused. ")
    assert said["not written"].startswith("cap_op_mismatch: the cap may not write. ")
    assert said["not written"].endswith("run: hermes souvenance status")
