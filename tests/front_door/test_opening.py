"""How a memory is opened and closed."""

import asyncio
import os
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import souvenance
from front_door.memories import in_folder
from processes import PATIENCE_SECONDS, until
from souvenance import errors
from surfaces.door import environment, serving
from surfaces.door import souvenance as command_line


def texts(lines):
    return [line.text for line in lines]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in [name for name in os.environ if name.startswith("SOUVENANCE_")]:
        monkeypatch.delenv(name)


def test_a_folder_that_is_not_there_is_set_up_for_its_user_alone(home):
    with souvenance.open(**in_folder(home)) as memory:
        memory.put("I live in Lisbon")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert "I live in Lisbon" in command_line("get", "where do I live?", home=home).out


def test_an_empty_folder_is_set_up_and_a_tilde_is_the_user_s_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "data").mkdir(mode=0o700)
    with souvenance.open("~/data", **{k: v for k, v in in_folder(tmp_path / "data").items() if k != "home"}):
        pass
    assert (tmp_path / "data" / "owner.cap").exists()


def test_a_line_is_found_by_its_meaning_and_by_the_next_process_too(home):
    with souvenance.open(home) as memory:
        memory.put("My sister is a cardiologist.")
        memory.put("The car needs new tyres.")
        assert memory.get("Who in the family is a doctor?", floor=True)[0].text.startswith("My sister")
    with souvenance.open(home) as memory:
        assert memory.get("Who in the family is a doctor?", floor=True)[0].text.startswith("My sister")


def test_the_environment_says_where_memory_is_and_keywords_go_before_it(home, tmp_path, monkeypatch):
    for name, value in in_folder(home).items():
        monkeypatch.setenv(f"SOUVENANCE_{name.upper()}", str(value))
    with souvenance.open() as memory:
        memory.put("here")
        token = memory.mint("owner", ops="get", namespaces="travel")
    with souvenance.open(**in_folder(tmp_path / "other")) as other:
        assert texts(other.list()) == []
    (tmp_path / "token").write_text(token)
    (tmp_path / "token").chmod(0o600)
    monkeypatch.setenv("SOUVENANCE_CAP", f"@{tmp_path / 'token'}")
    with souvenance.open() as memory, pytest.raises(errors.NamespaceDenied):
        memory.get(namespaces="personal")
    with souvenance.open(line_bytes=10, token=f"@{home / 'owner.cap'}") as memory:
        assert texts(memory.list()) == ["here"]
        with pytest.raises(errors.LineTooLong):
            memory.put("more than ten bytes")


def test_a_setting_that_does_not_exist_is_refused_with_the_one_that_was_meant(home):
    with pytest.raises(errors.Misconfigured) as refused:
        souvenance.open(home, embeder="none")
    assert "SOUVENANCE_EMBEDDER" in refused.value.hint
    assert not home.exists()


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"home": "x", "url": "http://127.0.0.1:1", "token": "t"}, errors.Misconfigured),
        ({"url": "http://127.0.0.1:1", "token": "t", "embedder": "none"}, errors.Misconfigured),
        ({"url": "http://127.0.0.1:1"}, errors.CapMissing),
        ({"url": "http://127.0.0.1:1", "token": "@/nowhere/token"}, errors.Misconfigured),
    ],
    ids=str,
)
def test_what_can_not_be_opened_says_why(given, kind):
    with pytest.raises(kind) as refused:
        souvenance.open(**given)
    assert refused.value.hint


def test_a_server_that_is_not_there_is_out_of_reach():
    memory = souvenance.open(url="http://127.0.0.1:1", token="t", timeout=5)
    with memory, pytest.raises(errors.ServerUnreachable) as refused:
        memory.get("x")
    assert refused.value.retryable


def test_the_environment_may_name_a_server(home, monkeypatch):
    with serving(home) as server:
        monkeypatch.setenv("SOUVENANCE_URL", server.url)
        monkeypatch.setenv("SOUVENANCE_CAP", server.owner_cap)
        with souvenance.open() as memory:
            memory.put("over HTTP")
        monkeypatch.delenv("SOUVENANCE_CAP")
        with souvenance.open(**in_folder(home)) as beside:
            assert texts(beside.get("HTTP")) == ["over HTTP"]
            beside.put("in the folder")
        with souvenance.open(token=server.owner_cap) as memory:
            assert set(texts(memory.list())) == {"over HTTP", "in the folder"}


OTHER = """
import souvenance, sys
with souvenance.open(sys.argv[1], embedder="none") as memory:
    print(memory.get("Lisbon")[0].text, flush=True)
    memory.put("said elsewhere")
"""


@pytest.mark.embedded("another process opens the file by its path")
def test_another_process_opens_the_same_folder_at_the_same_time(home):
    with souvenance.open(**in_folder(home)) as memory:
        memory.put("I live in Lisbon")
        told = subprocess.run(
            [sys.executable, "-c", OTHER, home], env=environment(), capture_output=True, text=True, check=True
        )
        assert told.stdout == "I live in Lisbon\n"
        assert "said elsewhere" in texts(memory.list())


def test_many_threads_share_one_memory(place):
    said = [f"line {number}" for number in range(60)]
    with souvenance.open(**place, workspace="threads") as memory, ThreadPoolExecutor(12) as threads:
        list(threads.map(memory.put, said))
        found = list(threads.map(lambda text: memory.get(text, limit=1)[0].text, said))
        assert sorted(texts(memory.list())) == sorted(said)
    assert found == said


def test_many_tasks_share_one_memory(place):
    async def main():
        async with souvenance.open_async(**place, workspace="tasks") as memory:
            await asyncio.gather(*(memory.put(f"line {number}") for number in range(40)))
            return [line.text async for line in memory.list()]

    assert len(asyncio.run(main())) == 40


def test_closing_leaves_no_thread(place):
    before = set(threading.enumerate())
    with souvenance.open(**place) as memory:
        memory.peer("ann").session("s1").add("I live in Porto.")
        memory.get("Porto")
    assert set(threading.enumerate()) <= before

    async def main():
        async with souvenance.open_async(**place) as memory:
            await memory.get("Porto")

    asyncio.run(main())
    assert set(threading.enumerate()) <= before


def test_closing_leaves_no_thread_of_an_embedder(home):
    before = set(threading.enumerate())
    with souvenance.open(home) as memory:
        memory.put("I live in Porto.")
    with souvenance.open(home) as memory:
        memory.get("Porto")
    until(lambda: set(threading.enumerate()) <= before)


def test_closing_finishes_background_work(home):
    with souvenance.open(**in_folder(home)) as memory:
        memory.peer("ann").session("s1").add("I live in Porto.")
    listed = command_line("--json", "list", "--peer", "ann", home=home).json()["lines"]
    assert "statement" in [line["kind"] for line in listed]


def test_closing_twice_is_fine_and_an_error_in_the_block_closes_too(place):
    with pytest.raises(ZeroDivisionError), souvenance.open(**place) as memory:
        1 / 0  # noqa: B018 - it is what goes wrong
    with pytest.raises(errors.MemoryClosed):
        memory.get()
    memory.close()

    async def main():
        async with souvenance.open_async(**place) as memory:
            opened.append(memory)
            1 / 0  # noqa: B018 - it is what goes wrong

    opened = []
    with pytest.raises(ZeroDivisionError):
        asyncio.run(main())
    with pytest.raises(errors.MemoryClosed):
        asyncio.run(opened[0].get())


def test_closing_waits_for_calls_under_way(place):
    with souvenance.open(**place, workspace="busy") as memory:
        session = memory.session("s1")
        added = [("ann", f"message {number}") for number in range(100)]
        with ThreadPoolExecutor(4) as threads:
            calls = [threads.submit(session.add_all, added) for _ in range(4)]
            until(lambda: any(call.running() or call.done() for call in calls))
            memory.close()
    outcomes = [call.exception() for call in calls]
    assert all(one is None or isinstance(one, errors.MemoryClosed) for one in outcomes), outcomes
    with souvenance.open(**place, workspace="busy") as memory:
        kept = 0 if not any(one is None for one in outcomes) else len(list(memory.session("s1").messages()))
    assert kept == 100 * outcomes.count(None)


LEFT_OPEN = """
import souvenance, sys, threading

def embeds():
    main, frames = threading.main_thread().ident, sys._current_frames()
    return any("onnxruntime" in frame.f_code.co_filename for one, frame in frames.items() if one != main)

memory = souvenance.open(sys.argv[1])
session = memory.session("s1")
for part in range(3):
    session.add_all([("ann", f"In {part}{n} I moved to town {n} and bought house {n}.") for n in range(100)])
memory.get("where do I live?")
while not embeds():
    pass
"""


@pytest.mark.embedded("another process opens the file by its path")
def test_a_program_that_closes_nothing_ends_well_while_lines_are_embedded(home):
    ended = subprocess.run(
        [sys.executable, "-c", LEFT_OPEN, home], capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert (ended.returncode, ended.stderr) == (0, "")


INTERRUPTED = """
import souvenance, sys, threading
try:
    with souvenance.open(sys.argv[1], embedder="none") as memory:
        memory.put("I live in Lisbon")
        print("ready", flush=True)
        threading.Event().wait()
finally:
    print([thread.name for thread in threading.enumerate()])
"""


@pytest.mark.embedded("another process opens the file by its path")
def test_ctrl_c_closes_the_memory_and_loses_nothing(home):
    program = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, home],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert program.stdout.readline() == "ready\n"
    program.send_signal(signal.SIGINT)
    told, complained = program.communicate(timeout=PATIENCE_SECONDS)
    assert told == "['MainThread']\n"
    assert complained.rstrip().endswith("KeyboardInterrupt")
    with souvenance.open(**in_folder(home)) as memory:
        assert texts(memory.get("Lisbon")) == ["I live in Lisbon"]
