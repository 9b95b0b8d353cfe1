"""Threads that decode something for the first time, while another one does."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from souvenance.decoders import settled

_MEANWHILE = """
import threading
import msgspec
from souvenance.decoders import settled

begun, ended = threading.Event(), threading.Event()

class Slow:
    def __class_getitem__(cls, item):
        begun.set()
        ended.wait(10)
        return item

class Inner(msgspec.Struct):
    number: "Slow[int]"

class Outer(msgspec.Struct):
    inner: "Inner"

def decode():
    found.append(msgspec.json.decode('{"inner": {"number": 7}}', type=settled(Outer)))

found = []
one, two = threading.Thread(target=decode), threading.Thread(target=decode)
one.start()
begun.wait()
two.start()
two.join(0.2)
assert not found
ended.set()
one.join()
two.join()
assert found == [Outer(Inner(7))] * 2, found
"""


def test_a_thread_waits_while_another_works_out_how_the_same_is_decoded():
    subprocess.run([sys.executable, "-c", _MEANWHILE], check=True, timeout=60)


def test_what_can_t_be_decoded_is_said_so_every_time():
    class Wrong(msgspec.Struct):
        either: int | bool | dict[int, str] | dict[str, int]

    for _ in range(2):
        with pytest.raises(TypeError, match="may not contain more than one"):
            settled(Wrong)
