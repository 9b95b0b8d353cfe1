"""Conversations with statements that a model might make of them, as statements/README.md says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from mnemon.domain.trust import own_words
from mnemon.ports.model import Person, Reading, Turn

FOLDER = Path(__file__).with_name("statements")


class Stated(NamedTuple):
    text: str
    sources: tuple[str, ...]
    true: bool


class Scene(NamedTuple):
    name: str
    about: str
    lines: list[Turn]
    stated: list[Stated]

    @property
    def reading(self) -> Reading:
        lines = [replace(line, text=own_words(line.text)) for line in self.lines]
        fresh = frozenset(line.id for line in lines if line.peer == self.about)
        return Reading([Person(self.about)], lines, fresh=fresh)

    @property
    def reply(self) -> dict:
        """What a model replies that says all of it."""
        return {"add": [{"text": one.text, "sources": list(one.sources)} for one in self.stated]}


def scenes() -> Iterator[Scene]:
    for file in sorted(FOLDER.glob("*.txt")):
        yield _scene(file)


def _scene(file: Path) -> Scene:
    about, at = "", 0
    lines: list[Turn] = []
    stated: list[Stated] = []
    for row in file.read_text("utf-8").splitlines():
        if found := re.match(r"## (\S+) (\S+)", row):
            about, at = found[1], int(datetime.fromisoformat(f"{found[2]}T10:00:00Z").timestamp() * 1000)
        elif found := re.match(r"(t\d+) (\S+): (.*)", row):
            lines.append(Turn(found[1], found[2], found[3], at))
        elif found := re.match(r"([+-]) (\S+) \| (.*)", row):
            stated.append(Stated(found[3], tuple(found[2].split(",")), found[1] == "+"))
        else:
            lines[-1] = Turn(*(lines[-1].id, lines[-1].peer, f"{lines[-1].text}\n{row}", at))
    return Scene(file.stem, about, lines, stated)
