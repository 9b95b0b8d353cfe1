"""Play the scenarios of a framework, and the programs of the page about it, where the framework is installed.

    python play.py URL TOKEN HOME PAGE NAME...

A scenario is a function of `scenarios/NAME.py`; it is played with a memory in a folder and with one on the
server. A program is a block of the page below a heading; it is played as a new user's, with an empty home,
alone and with the block about an agent. Prints one line of JSON for each.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import io
import json
import os
import re
import sys
import tempfile
import textwrap
import time
import traceback
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import souvenance

_NUMBERS = count()


class World:
    """What a scenario has in hand: a memory of everything, and a user whom no other scenario knows."""

    def __init__(self, place: dict[str, Any], memory: souvenance.Memory) -> None:
        self._place = place
        self.memory = memory
        self.user, self.other = (f"user{next(_NUMBERS)}" for _ in range(2))
        self.peer = memory.peer(self.user)

    @contextlib.contextmanager
    def lent(
        self, user: str, *, ops: str = "put get list invalidate forget", namespaces: str = "*", **more: Any
    ):
        """The memory as a token opens it that is that user's alone."""
        token = self.memory.mint(user, ops=ops.split(), namespaces=namespaces.split(), **more)
        with souvenance.open(**{**self._place, "token": token}) as memory:
            yield memory


def played(play: Callable[[], None]) -> dict[str, Any]:
    printed, began = io.StringIO(), time.process_time()
    try:
        with contextlib.redirect_stdout(printed):
            play()
        failure = None
    except Exception:  # noqa: BLE001 - whatever fails is told of the scenario
        failure = traceback.format_exc()
    return {"failure": failure, "printed": printed.getvalue(), "seconds": time.process_time() - began}


def scenarios(name: str) -> Iterator[Callable[[World], Any]]:
    module = importlib.import_module(f"scenarios.{name}")
    for found in vars(module).values():
        if inspect.isfunction(found) and found.__module__ == module.__name__ and found.__name__[0] != "_":
            yield found


def programs(page: str) -> Iterator[tuple[str, str, str]]:
    """The first block below each heading, with the name of the module of its framework. Then that program
    again with the block about an agent at its end; nothing if there is none."""
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        for block in re.findall(r"^```python\n(.*?)^```$", section, re.M | re.S)[:1]:
            more = re.findall(r"^```py\n(.*?)^```$", section, re.M | re.S)
            name = re.findall(r"souvenance\.integrations\.(\w+)", block)[0]
            yield name, block, block + textwrap.indent(_runnable(more[0]), "    ") if more else ""


def _runnable(block: str) -> str:
    """As a program runs it that is not in a loop of asyncio."""
    if "await " not in block:
        return block
    return f"async def main():\n{textwrap.indent(block, '    ')}\nasyncio.run(main())\n"


def run(scenario: Callable[[World], Any], world: World) -> None:
    if inspect.iscoroutinefunction(scenario):
        asyncio.run(scenario(world))
    else:
        scenario(world)


def main(url: str, token: str, home: str, page: str, *names: str) -> None:
    places = {
        "folder": {"home": f"{home}/folder", "embedder": "none"},
        "server": {"url": url, "token": token},
    }
    for name, program, with_agent in programs(Path(page).read_text("utf-8")):
        for kind, block in (("program", program), ("agent", with_agent)):
            if name in names and block:
                os.environ["HOME"] = tempfile.mkdtemp(dir=home)
                code = compile(block, page, "exec")
                told = played(lambda code=code: exec(code, {"__name__": "__main__"}))
                tell(name, kind, "", told)
    for place, opened in places.items():
        with souvenance.open(**opened) as memory:
            for name in names:
                for one in scenarios(name):
                    world = World(opened, memory)
                    tell(name, one.__name__, place, played(lambda one=one, world=world: run(one, world)))


def tell(name: str, scenario: str, place: str, told: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"framework": name, "scenario": scenario, "place": place, **told}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
