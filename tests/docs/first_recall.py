"""The ways to begin: the rows of the table in the start page, each with the path that its link leads to.

A path is the commands and the program of a section, after those of the section about a server that it names.
A program whose output stands below it is run; the commands below it run any other.

    PYTHONPATH=tests:examples/hermes python tests/docs/first_recall.py [NAME...]

walks each path from an empty folder, with all that it needs installed anew, and prints its minutes: of the
clock, and of a processor, which other work on the machine changes little.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from demo_model import Asked, DemoModel, a_model
from docs.examples import ROOT, Example, Played, commands, matches, play
from docs.terminal_picture import without_memory

START = ROOT / "docs/tutorial/start-here.md"
ASKED, ANSWER = "What am I allergic to?", "peanuts"
_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)#]*)#([^)]+)\) \| (.*) \| (.*) \| (\d+) \| (\d+) \|$", re.M)
_BLOCK = re.compile(r"^```(sh|console|python|js|text)\n(.*?)^```$", re.M | re.S)
_PROGRAMS = {"python": ("main.py", "python main.py"), "js": ("main.mjs", "node main.mjs")}
_MODEL = "127.0.0.1:11434"
_NEEDED = {
    "the-openai-sdk": "openai",
    "hermes-agent": "hermes-agent==0.19.0",
    "the-honcho-sdk-for-python": "honcho-ai",
}
"""What somebody already has who comes from there, and an empty folder has not."""


class Recalls(DemoModel):
    """A stand-in for a model that says what it is told of memory."""

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        message = super().reply(body)
        told = Asked(body).text
        if ASKED in told and ANSWER in told:
            message["content"] = f"You are allergic to {ANSWER}."
        return message


@dataclass(frozen=True)
class Way:
    name: str
    page: Path
    anchor: str
    extras: str
    tested: str
    lines: int
    minutes: int

    @cached_property
    def blocks(self) -> list[tuple[str, str]]:
        """What the reader runs, each with its kind, and what is printed then."""
        own = _section(self.page, self.anchor)
        servers = re.findall(r"\(#(a-server[\w-]*)\)", own)
        return [
            block
            for anchor in (*servers, self.anchor)
            for block in _BLOCK.findall(_section(self.page, anchor))
        ]

    @property
    def installing(self) -> str:
        """The commands beside the one that installs the package."""
        return "".join(body for kind, body in self.blocks if kind == "sh")

    @property
    def counted(self) -> int:
        """How many commands and lines of a program it takes."""
        found = [body for kind, body in self.blocks if kind in _PROGRAMS]
        prompts = [one for kind, body in self.blocks if kind == "console" for one in commands(body)]
        return len(prompts) + sum(1 for body in found for line in body.splitlines() if line.strip())

    def walk(self, home: Path, *programs: Path, model: str = _MODEL, **settings: str) -> list[Played]:
        """Do all of it in that home. The programs of the path are kept in `work`."""
        work = home / "work"
        work.mkdir(parents=True, exist_ok=True)
        found: list[Example] = []
        for kind, body in self.blocks:
            told = body.replace(_MODEL, model)
            if kind == "console":
                found += commands(told)
            elif kind in _PROGRAMS:
                file, command = _PROGRAMS[kind]
                (work / file).write_text(told, "utf-8")
            elif kind == "text":
                found.append(
                    Example(rf"sed -i s/127\.0\.0\.1:8787/$ADDRESS/ {file} && {command}", told.strip("\n"))
                )
        return play(found, home, *programs, **settings)


def ways() -> list[Way]:
    return [
        Way(
            name,
            (START.parent / path).resolve() if path else START,
            anchor,
            extras,
            tested,
            int(lines),
            int(minutes),
        )
        for name, path, anchor, extras, tested, lines, minutes in _ROW.findall(START.read_text("utf-8"))
    ]


def _section(page: Path, anchor: str) -> str:
    """What stands below the heading with that anchor."""
    for heading, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page.read_text("utf-8"), re.M | re.S):
        if re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") == anchor:
            return body
    raise AssertionError(f"{page} has no section {anchor}")


def failures(played: list[Played], home: Path) -> list[tuple[str, int, str]]:
    """What of a path failed, or printed something else than its page shows."""
    return [
        (one.example.command, one.exit_code, one.printed)
        for one in played
        if one.exit_code or not matches(one.example.output, one.printed, home)
    ]


@contextmanager
def start_of(way: Way, folder: Path, hermes: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty home, and settings for the path; with a model, where it needs one."""
    with a_model(Recalls) as model:
        address = model.url.split("/")[2]
        if way.anchor == "hermes-agent":
            host, settings = without_memory(hermes, folder, model)
            yield host.user, {**settings, "model": address}
        else:
            yield folder, {"model": address}


def measure(way: Way) -> dict[str, float]:
    """The minutes of the path, with all that it needs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        checkout, environment, work = folder / "souvenance", folder / "venv", folder / "work"
        checkout.mkdir()
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "x"], input=archive, cwd=checkout, check=True)
        work.mkdir()
        settings = {**os.environ, "HOME": str(folder), "PATH": f"{environment}/bin:{os.environ['PATH']}"}
        began, worked = time.monotonic(), _processor_seconds()
        extras = [] if way.extras == "none" else re.findall(r"`([\w-]+)`", way.extras)
        package = f".[{','.join(extras)}]" if extras else "."
        more = [_NEEDED[way.anchor]] if way.anchor in _NEEDED else []
        for command in (
            [sys.executable, "-m", "venv", environment],
            [environment / "bin/python", "-m", "pip", "install", "-q", package, *more],
        ):
            subprocess.run(command, cwd=checkout, env=settings, check=True, stdout=subprocess.DEVNULL)
        if way.installing:
            subprocess.run(
                ["bash", "-ec", way.installing], cwd=work, env=settings, check=True, stdout=subprocess.DEVNULL
            )
        with start_of(way, folder, environment) as (home, more_settings):
            if home != folder:
                (home / "work").mkdir(exist_ok=True)
            played = way.walk(home, environment / "bin", **more_settings)
            spent = {"clock": time.monotonic() - began, "processor": _processor_seconds() - worked}
            assert not failures(played, home), failures(played, home)
        return {name: round(seconds / 60, 2) for name, seconds in spent.items()}


def _processor_seconds() -> float:
    """What processes that have ended took."""
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    for one in ways():
        if one.anchor in sys.argv[1:] or len(sys.argv) == 1:
            print(json.dumps({"way": one.anchor, "lines": one.counted, **measure(one)}), flush=True)
