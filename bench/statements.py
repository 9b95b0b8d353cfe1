"""How much of what a capable model says is kept: true and false statements of `bench/people_model/`.

    python bench/statements.py [--scenes DIR] [--embedder auto] [--show]

Every statement goes through the check as if a model had said it, with the lines that it names. `--embedder`
adds an embedder, as `SOUVENANCE_EMBEDDER` names one; `--show` prints each error.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from souvenance.adapters.embed.choice import choose
from souvenance.adapters.model.calls import Asking
from souvenance.adapters.model.endpoint import WireReply
from souvenance.adapters.model.grounding import Embed
from souvenance.adapters.model.revisions import revise
from souvenance.config import settings_from
from souvenance.language.pasted_text import own_words
from souvenance.ports.model import ModelPerson, ModelReading, Turn

SCENES = Path(__file__).with_name("people_model")
WINDOW = 1 << 20


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
    def reading(self) -> ModelReading:
        lines = [replace(line, text=own_words(line.text)) for line in self.lines]
        fresh = frozenset(line.id for line in lines if line.peer == self.about)
        return ModelReading([ModelPerson(self.about)], lines, fresh=fresh)

    @property
    def reply(self) -> dict[str, Any]:
        """What a model replies that says all of it."""
        return {"add": [{"text": one.text, "sources": list(one.sources)} for one in self.stated]}


class _Scripted:
    """An `Asking` whose model says what the scene has."""

    window = WINDOW

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def count(self, text: str) -> int:
        return len(text) // 4

    def stretches(self, lines: Any, text: Any, compartment: int) -> list[list[Any]]:
        return [list(lines)]

    def ask_for(self, prompt: Any, read: Callable[[WireReply], Any]) -> Any:
        return read(WireReply(json.dumps(self._scene.reply)))


def scenes(folder: Path = SCENES) -> Iterator[Scene]:
    for file in sorted(folder.glob("*.txt")):
        yield _scene(file)


def kept(scene: Scene, embed: Embed | None = None) -> set[str]:
    """The statements that pass the check."""
    asking = cast("Asking", _Scripted(scene))
    return {one.text for one in revise(asking, scene.reading, embed)}


def counted(
    folder: Path = SCENES, embed: Embed | None = None, show: Callable[[str], None] = lambda line: None
) -> Counter[str]:
    """How many true and false statements there are, and how many of each are kept."""
    counts: Counter[str] = Counter()
    for scene in scenes(folder):
        found = kept(scene, embed)
        for one in scene.stated:
            kind = "true" if one.true else "false"
            counts[kind] += 1
            counts[f"{kind} kept"] += one.text in found
            if (one.text in found) != one.true:
                show(f"{scene.name}: {kind}, {'kept' if one.text in found else 'lost'}: {one.text}")
    return counts


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


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scenes", type=Path, default=SCENES)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args(arguments)
    embedder = choose(settings_from({"SOUVENANCE_EMBEDDER": options.embedder}).embedder)
    embed = None if embedder is None else embedder.passages
    counts = counted(options.scenes, embed, print if options.show else lambda line: None)
    for kind in ("true", "false"):
        print(f"{kind} statements kept {counts[f'{kind} kept']:4} of {counts[kind]}")


if __name__ == "__main__":
    main(sys.argv[1:])
