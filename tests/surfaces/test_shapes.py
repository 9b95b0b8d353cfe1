"""Threads that decode something for the first time, while another one does."""

from __future__ import annotations

import subprocess
import sys

_MEANWHILE = """
import sys, threading, types
import msgspec
from mnemon import settings_from
from mnemon.bootstrap import open_house
from mnemon.surfaces.http.app import make_app

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

ended.set()
house = open_house(settings_from({"MNEMON_EMBEDDER": "none"}, sys.argv[1]))
make_app(house.gate)
house.close()
ended.clear()
begun.clear()
one = threading.Thread(target=decode)
one.start()
begun.wait(0.2)
decode()
ended.set()
one.join()
"""


def test_whatever_is_decoded_behind_the_door_may_be_decoded_first_by_several_threads(home):
    subprocess.run([sys.executable, "-c", _MEANWHILE, str(home)], check=True, timeout=60)
