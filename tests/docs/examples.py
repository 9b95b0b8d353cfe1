"""Runs the examples of a page of the documentation, as a reader would.

In a ```console block, `$ ` begins a command and what follows is what it prints; a ```bash block is
commands alone. The commands of a page run in order, by one bash, in a home of their own with this
environment's programs first on the path. A ```pycon block is a session of Python, with what it prints, and a
```python block a piece of a program; such blocks share their names as long as no command stands between
them (`sdk_session.py`). They run in this environment if they import souvenance, and else where Honcho's SDK
is installed. Three things stand for others in what is written:

    make serve, souvenance serve    a server in the background, on a free port
    127.0.0.1:8787              that server's address
    /home/you                   the page's home

What differs from run to run matches whatever has its shape: ids, times, hashes, caps, keys; `...`
matches anything. A command must succeed, unless its output begins with the code of an error.

    PYTHONPATH=tests python tests/docs/examples.py PAGE    prints what each command of the page really prints
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from environments import client_program

ROOT = Path(__file__).parents[2]
RUN = ("console", "bash", "pycon", "python")
_SERVE = re.compile(r"(?:make|souvenance) serve(?P<trust> --trust-loopback)?(?: &)?")
_SESSION = Path(__file__).with_name("sdk_session.py")
_SDK = "honcho-2.7.0"
_SECONDS = 120
_ELSEWHERE = ("use-with-frameworks.md", "start-here.md")
"""Each section of these is a path of its own: `first_recall.py` and `tests/integrations` run them."""

_VOLATILE = (
    (r"\.\.\.", r"[^\n]*"),
    (r"127\.0\.0\.1:8787", r"127\.0\.0\.1:\d+"),
    (r"eyJ[\w.~-]+", r"eyJ[\w.~-]+"),
    (r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b", r"[0-7][0-9A-HJKMNP-TV-Z]{25}"),
    (r"\b[0-9a-f]{64}\b", r"[0-9a-f]{64}"),
    (r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d[\d:.Z]*)?", r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d[\d:.Z]*)?"),
    (r"(?<![\w-])[\w-]{43}(?![\w-])", r"[\w-]{43}"),
)
_SHAPES = re.compile("(" + "|".join(f"(?:{shape})" for shape, _ in _VOLATILE) + ")")


@dataclass(frozen=True)
class Example:
    command: str
    output: str

    session: bool = False
    """Whether the command is a session of Python: its blocks, one after the other."""

    @property
    def serves(self) -> re.Match[str] | None:
        return None if self.session else _SERVE.fullmatch(self.command)


@dataclass(frozen=True)
class Played:
    example: Example
    exit_code: int
    printed: str


def documents() -> list[Path]:
    """The project's pages for people: those of `docs/`, and those at the head of a folder."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *ROOT.glob("clients/*/*.md")]


def pages() -> list[Path]:
    """Those whose examples are run here."""
    return [page for page in documents() if page.name not in _ELSEWHERE and examples(page)]


def blocks(page: Path) -> list[tuple[str, str]]:
    """Every block of a page: its kind, which may be empty, and what stands in it."""
    found = re.findall(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```$", page.read_text("utf-8"), re.M | re.S)
    return [(kind, dedent(body)) for _, kind, body in found]


def examples(page: Path) -> list[Example]:
    found: list[Example] = []
    for kind, body in blocks(page):
        if kind not in RUN:
            continue
        if kind in ("pycon", "python"):
            earlier = found.pop().command if found and found[-1].session else ""
            found.append(Example(f"{earlier}# {kind}\n{body}", "", session=True))
        else:
            found += [Example(body.strip(), "")] if kind == "bash" else commands(body)
    return found


def commands(body: str) -> list[Example]:
    """The commands of a console block, each with what it prints; '\\' carries a command on."""
    found: list[Example] = []
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        lines = part.splitlines()
        end = next(at for at, line in enumerate(lines) if not line.endswith("\\")) + 1
        found.append(Example("\n".join(lines[:end]), "\n".join(lines[end:]).strip("\n")))
    return found


def play(found: list[Example], home: Path, *programs: Path, **settings: str) -> list[Played]:
    """Run them, in the folder `work` of the home. `programs` are folders whose programs come before this
    environment's.
    """
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    script = home / "script.sh"
    script.write_text(_script(found, home), "utf-8")
    folders = [*programs, Path(sys.executable).parent]
    environment = {
        "HOME": str(home),
        "PATH": os.pathsep.join([*map(str, folders), os.environ.get("PATH", os.defpath)]),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
        **settings,
    }
    bash = subprocess.Popen(
        ["bash", str(script)],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        bash.wait(_SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(bash.pid, signal.SIGKILL)
        bash.wait()
    return [
        Played(one, int((home / f"{at}.code").read_text()), _output(home / f"{at}.out"))
        for at, one in enumerate(found)
    ]


def _output(path: Path) -> str:
    return path.read_text("utf-8").strip("\n")


def _script(found: list[Example], home: Path) -> str:
    place = shlex.quote(str(home))
    parts = ["trap 'test -n \"$SERVER\" && kill $SERVER && wait $SERVER' EXIT"]
    for at, one in enumerate(found):
        out, code = f"{place}/{at}.out", f"{place}/{at}.code"
        if serves := one.serves:
            trust = serves["trust"] or ""
            parts += [
                f"mkfifo {place}/{at}.fifo",
                f"souvenance serve --port 0{trust} > {place}/{at}.fifo 2> {place}/server.log &",
                "SERVER=$!",
                f"head -n {max(5 if trust else 4, len(one.output.splitlines()))} {place}/{at}.fifo > {out}",
                f"ADDRESS=$(grep -o '127.0.0.1:[0-9]*' {out} | head -n 1); echo 0 > {code}",
            ]
        elif one.session:
            (home / f"{at}.session").write_text(one.command, "utf-8")
            told = f'{place}/{at}.session "$ADDRESS" {place}'
            python = sys.executable if "import souvenance\n" in one.command else client_program(_SDK)
            run = shlex.join((str(python), str(_SESSION)))
            parts.append(f"{run} {told} > {out} 2>&1\necho $? > {code}")
        else:
            command = one.command.replace("127.0.0.1:8787", "$ADDRESS").replace("/home/you", str(home))
            parts.append(f"{{ {command}\n}} > {out} 2>&1\necho $? > {code}")
    return "\n".join(parts) + "\n"


def matches(expected: str, printed: str, home: Path) -> bool:
    """Whether what was printed is what the page shows, up to what differs from run to run."""
    pieces = _SHAPES.split(expected.replace("/home/you", str(home)))
    pattern = "".join(_alike(piece) if at % 2 else re.escape(piece) for at, piece in enumerate(pieces))
    return re.fullmatch(pattern, printed) is not None


def _alike(piece: str) -> str:
    return next(pattern for shape, pattern in _VOLATILE if re.fullmatch(shape, piece))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for played in play(examples(Path(sys.argv[1]).resolve()), Path(folder)):
            told = played.printed.replace(folder, "/home/you")
            mark = "" if matches(played.example.output, played.printed, Path(folder)) else "   # DIFFERS"
            print(f"$ {played.example.command}{mark}\n{told}")
