"""Ctrl-C at the command line: an orderly end, and nothing half done."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from surfaces.door import PATIENCE_SECONDS, environment, ordinary_signals, souvenance

AGAIN_SECONDS = 20
SLOW_DISK = """
import sys
def wait(event, given):
    if event == "open" and str(given[0]) == {token!r}:
        open({pipe!r}).read()
sys.addaudithook(wait)
"""


@pytest.mark.parametrize(
    "asked",
    [
        ("put", "hello"),
        ("get",),
        ("key", "rotate"),
        ("forget", "-n", "personal", "-y"),
        ("audit", "verify"),
    ],
    ids=" ".join,
)
def test_ctrl_c_ends_a_command_with_130_and_leaves_all_as_it_was(tmp_path, asked):
    """It waits for the file of its token: when the other end of the pipe opens, it is known to be waiting."""
    home, token, pipe = tmp_path / "home", tmp_path / "cap", tmp_path / "slow"
    line = souvenance("put", "kept", home=home).out.strip()
    os.mkfifo(pipe)
    token.touch(0o600)
    (tmp_path / "sitecustomize.py").write_text(SLOW_DISK.format(token=str(token), pipe=str(pipe)))
    process = subprocess.Popen(
        [sys.executable, "-m", "souvenance", "--cap", f"@{token}", *asked],
        env=environment(SOUVENANCE_HOME=str(home), PYTHONPATH=str(tmp_path)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ordinary_signals,
    )
    watchdog = threading.Timer(PATIENCE_SECONDS, os.open, (pipe, os.O_RDONLY | os.O_NONBLOCK))
    watchdog.start()
    with open(pipe, "w"):
        watchdog.cancel()
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=AGAIN_SECONDS)
        except subprocess.TimeoutExpired:  # It came just before the read that waits, which then goes on.
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert [found["id"] for found in souvenance("--json", "list", home=home).json()["lines"]] == [line]
    souvenance("doctor", home=home)


def test_a_line_that_a_thread_stores_while_python_exits_is_stored(tmp_path):
    program = [sys.executable, Path(__file__).with_name("late_writer.py"), tmp_path / "home"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the last line" in souvenance("list", home=tmp_path / "home").out
