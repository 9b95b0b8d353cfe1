"""Rewriting the file, as forgetting does, leaves a process no larger than it was."""

import platform
import subprocess
import sys

import pytest

MOST_KB = 10_000
REWRITES = """
import ctypes
import sys
import threading
from pathlib import Path
from souvenance.adapters.sql.sqlite import SqliteEngine


def resident():
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0])


ctypes.CDLL(None).mallopt(-8, 1)  # As a server has it: one heap for all threads.
engine = SqliteEngine(Path(sys.argv[1]))
with engine.write() as session:
    session.run("CREATE TABLE said (text TEXT)")
    for number in range(40_000):
        session.run("INSERT INTO said VALUES (?)", (f"{number:01000}",))
with engine.read() as session:
    session.rows("SELECT count(*) FROM said")
before, kept, done = resident(), [], threading.Event()


def go_on():
    while not done.wait(0.001):
        kept.append(bytearray(1000))


others = threading.Thread(target=go_on)
others.start()
assert engine.reclaim()
done.set()
others.join()
print(resident() - before)
engine.close()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps it")
def test_rewriting_a_file_of_forty_megabytes_keeps_no_copy_of_it(tmp_path):
    program = [sys.executable, "-c", REWRITES, tmp_path / "book.db"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert int(done.stdout) < MOST_KB, done.stderr
