"""Draw `docs/pictures/terminal.svg`: what real commands print, in a temporary data folder.

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
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURE = Path(__file__).resolve().parents[2] / "docs/pictures/terminal.svg"
COLUMNS = 92
COMMANDS = (
    'souvenance put "allergic to penicillin" -n personal',
    'souvenance put "window seats on long flights" -n travel',
    'souvenance get "what am I allergic to?" --limit 1',
    "CAP=$(souvenance cap mint --sub owner --ops get --namespaces travel --ttl 1h)",
    'souvenance --cap "$CAP" get "where do I like to sit?"',
    'souvenance --cap "$CAP" get -n personal "what am I allergic to?"',
)
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


def shown(script: str, environment: dict[str, str]) -> str:
    """What a terminal of that width shows while the shell runs the script."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", f"stty cols {COLUMNS}; {script}"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    ):
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # Linux says so that the other end is closed.
            pass
        os.close(ours)
    return b"".join(parts).decode().replace("\r\n", "\n")


def draw(to: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": folder,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        script = "\n".join(
            f"printf '\\033[1;32m$\\033[0m %s\\n' {shlex.quote(one)}\n{one}" for one in COMMANDS
        )
        text = Text.from_ansi(shown(script, environment))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(text)
    console.save_svg(str(to), title="", theme=COLOURS, code_format=SVG, unique_id="souvenance")


if __name__ == "__main__":
    draw(PICTURE)
