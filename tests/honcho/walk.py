"""Walk the SDK that is installed beside this interpreter against a server, and say how each scenario ended.

    python walk.py sync|aio

`SOUVENANCE_TEST_URL` and `SOUVENANCE_TEST_KEY` say where the server is and who is asking. Prints one JSON
line for each scenario, and a last one about the walk: which public members of the SDK no scenario calls.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
import time
import traceback
import warnings
from importlib.metadata import version
from typing import Any
from uuid import uuid4

import honcho.aio
from face import TWINS, known_as
from pydantic import BaseModel
from scenarios import SCENARIOS, Scenario
from world import World

import honcho

CONSTRUCTORS = {"from_api_response"}
"""How the SDK makes its values out of answers; nothing a user calls."""


def public_members(flavour: str) -> set[str]:
    """The methods and properties of the SDK's public classes that belong to a flavour."""
    asynchronous = {known_as(cls) for cls in TWINS.values()}
    synchronous = {known_as(cls) for cls in TWINS}
    found = set()
    for cls in public_classes():
        for name in members_of(cls):
            if known_as(cls) in asynchronous or name == "aio":
                belongs = flavour == "aio"
            else:
                belongs = known_as(cls) not in synchronous or flavour == "sync"
            if belongs:
                found.add(f"{known_as(cls)}.{name}")
    return found


def public_classes() -> set[type]:
    named = [getattr(honcho, name) for name in honcho.__all__]
    named += [getattr(honcho.aio, name) for name in honcho.aio.__all__]
    return {one for one in named if inspect.isclass(one) and not issubclass(one, Exception)}


def members_of(cls: type) -> set[str]:
    own = [base for base in cls.__mro__ if base.__module__.split(".")[0] == "honcho"]
    return {
        name
        for base in own
        for name, value in vars(base).items()
        if not name.startswith("_")
        and name not in CONSTRUCTORS
        and not hasattr(BaseModel, name)
        and (callable(value) or isinstance(value, property | staticmethod | classmethod))
        and not inspect.isclass(value)
    }


def twin_member(member: str, flavour: str, public: set[str]) -> str:
    """The member that a scenario calls in this flavour when it names the synchronous one."""
    if flavour == "sync" or member in public:
        return member
    owner, name = member.split(".")
    twins = {known_as(one): known_as(two) for one, two in TWINS.items()}
    return f"{twins.get(owner, owner)}.{name}"


async def run(scenario: Scenario, flavour: str, public: set[str]) -> dict[str, Any]:
    workspace = f"{scenario.name[:80]}-{flavour}-{uuid4().hex[:8]}"
    told = None
    world = World(os.environ["SOUVENANCE_TEST_URL"], os.environ["SOUVENANCE_TEST_KEY"], workspace, flavour)
    begun = time.monotonic()
    try:
        await scenario.run(world)
        promised = {twin_member(member, flavour, public) for member in scenario.covers} & public
        idle = promised - world.used
        assert not idle, f"the scenario says that it calls {sorted(idle)}, and does not"
    except Exception:  # noqa: BLE001 - whatever a scenario raises is what the walk has to report
        told = traceback.format_exc()
    return {"scenario": scenario.name, "failure": told, "seconds": round(time.monotonic() - begun, 3)}


async def walk(flavour: str) -> None:
    installed = version("honcho-ai")
    public = public_members(flavour)
    chosen = [one for one in SCENARIOS.values() if one.runs(installed, flavour)]
    promised = {twin_member(member, flavour, public) for one in chosen for member in one.covers}
    for scenario in chosen:
        print(json.dumps(await run(scenario, flavour, public)), flush=True)
    print(json.dumps({"version": installed, "public": len(public), "missing": sorted(public - promised)}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asyncio.run(walk(sys.argv[1]))
