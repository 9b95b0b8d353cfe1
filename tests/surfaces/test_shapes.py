"""Threads that decode something for the first time, while another one does."""

from __future__ import annotations

import subprocess
import sys

_MEANWHILE = """
import sys, threading, types
import msgspec
from mnemon.domain import shapes

begun, ended = threading.Event(), threading.Event()

class Slow:
    def __class_getitem__(cls, item):
        begun.set()
        ended.wait(10)
        return item

made = types.ModuleType("mnemon.made")
made.Slow, made.msgspec = Slow, msgspec
sys.modules[made.__name__] = made
exec('''
class Inner(msgspec.Struct):
    number: "Slow[int]"

class Outer(msgspec.Struct):
    inner: "Inner"
''', made.__dict__)

def decode():
    assert msgspec.json.decode('{"inner": {"number": 7}}', type=made.Outer).inner.number == 7

if sys.argv[1:] == ["settled"]:
    ended.set()
    shapes.settle()
    ended.clear()
    begun.clear()
one = threading.Thread(target=decode)
one.start()
begun.wait(0.2)
decode()
ended.set()
one.join()
"""


def test_once_shapes_are_settled_threads_decode_at_once():
    subprocess.run([sys.executable, "-c", _MEANWHILE, "settled"], check=True, timeout=60)
