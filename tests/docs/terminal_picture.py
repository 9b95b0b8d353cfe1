"""Draw the terminals of the docs: what real commands print, in temporary folders.

Run it with `make pictures`.
"""

from __future__ import annotations

import io
import os
import pty
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from demo_host import Host
from demo_model import Asked, DemoModel, a_model
from environments import client_program

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/pictures/terminal.svg"
HERMES_PICTURE = ROOT / "docs/pictures/hermes-terminal.svg"
COLUMNS = 92
COMMANDS = (
    'souvenance put "allergic to penicillin" -n personal',
    'souvenance put "window seats on long flights" -n travel',
    'souvenance get "what am I allergic to?" --limit 1',
    "CAP=$(souvenance cap mint --sub owner --ops get --namespaces travel --ttl 1h)",
    'souvenance --cap "$CAP" get "where do I like to sit?"',
    'souvenance --cap "$CAP" get -n personal "what am I allergic to?"',
)
IN_HERMES = (
    "souvenance hermes setup",
    "hermes -z 'I am allergic to peanuts, and I fly to Chengdu on May 25.'",
    "hermes -z 'What should I not eat?'",
)
"""From a Hermes that has the package to a memory that is recalled in another chat."""
ANSWERS = ("1", "ann", "")
"""Where memory is kept, the name, and Enter for nothing advanced."""
COLOURS = TerminalTheme(
    (24, 26, 31),
    (222, 225, 230),
    [
        (60, 64, 72),
        (224, 108, 117),
        (152, 195, 121),
        (229, 192, 123),
        (97, 175, 239),
        (198, 120, 221),
        (86, 182, 194),
        (222, 225, 230),
    ],
)
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
 font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
<rect fill="#181a1f" width="{width}" height="{height}" rx="10"/>
<g transform="translate(24, 24)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">
{matrix}</g></g>
</svg>
"""


def shown(script: str, environment: dict[str, str], answers: Sequence[str] = ()) -> str:
    """What a terminal of that width shows while the shell runs the script and somebody answers it."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", f"stty cols {COLUMNS}; {script}"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    ):
        os.close(theirs)
        seen, left = b"", list(answers)
        try:
            while part := os.read(ours, 65536):
                seen += part
                if left and seen.endswith(b"]: "):
                    os.write(ours, f"{left.pop(0)}\n".encode())
        except OSError:  # Linux says so that the other end is closed.
            pass
        os.close(ours)
    return seen.decode().replace("\r\n", "\n")


def session(commands: Sequence[str]) -> str:
    """A script that shows each command before it runs it."""
    return "\n".join(f"printf '\\033[1;32m$\\033[0m %s\\n' {shlex.quote(one)}\n{one}" for one in commands)


def draw(to: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": folder,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        _save(shown(session(COMMANDS), environment), to)


class Recalls(DemoModel):
    """A stand-in for a model that says what it is told of memory."""

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        message = super().reply(body)
        if "peanuts" in Asked(body).memory:
            message["content"] = "No peanuts: you told me that you are allergic to them."
        return message


def without_memory(programs: Path, folder: Path, model: DemoModel) -> tuple[Host, dict[str, str]]:
    """Somebody's Hermes that has a model and no memory yet, and their environment."""
    host = Host(programs, folder, model, {})
    home = host.user / ".hermes"
    home.mkdir()
    settings = msgspec.json.decode((host.home / "config.yaml").read_bytes())
    settings.pop("memory")
    (home / "config.yaml").write_bytes(msgspec.json.encode(settings))
    return host, {**host.environment, "HERMES_HOME": "", "USER": "ann"}


def draw_hermes(to: Path, programs: Path) -> list[Asked]:
    """Draw the first session of somebody whose Hermes has a model and no memory yet, with the programs of an
    environment; what the model was asked for the answers."""
    with tempfile.TemporaryDirectory() as folder, a_model(Recalls) as model:
        host, environment = without_memory(programs, Path(folder), model)
        text = shown(f"cd {host.project}\n{session(IN_HERMES)}", environment, ANSWERS)
        _save(text.replace(str(host.user), "/home/ann"), to)
        return model.turns()


def _save(text: str, to: Path) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text))
    console.save_svg(str(to), title="", theme=COLOURS, code_format=SVG, unique_id="souvenance")


if __name__ == "__main__":
    draw(PICTURE)
    draw_hermes(HERMES_PICTURE, client_program("hermes-0.19.0").parents[1])
