"""Which Python runs Hermes, and whether it can import this package."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from souvenance.decoders import settled
from souvenance.extras import requirement
from souvenance.version import __version__

_REQUIREMENT = requirement("hermes")
_PATIENCE_SECONDS = 30
_NAMED = re.compile(r"(?<![\w.~-])/[^\s\"']*/(?:python[\d.]*|hermes)(?![\w./-])")
"""The full path of an interpreter, or of another `hermes`, in a script."""
_PROBE = """
import importlib.util, json
found = importlib.util.find_spec("souvenance")
version = None
if found:
    from souvenance.version import __version__ as version
print(json.dumps({"version": version, "pip": importlib.util.find_spec("pip") is not None}))
"""


class ImportCheck(Struct, frozen=True):
    python: Path | None = None
    """The interpreter of Hermes, if it was found."""
    version: str | None = None
    """The version of this package that it imports, if it does."""
    advice: str = ""
    """What to do about it; empty if all is well."""


class _Answer(Struct, frozen=True):
    version: str | None
    pip: bool


def reach(environment: Mapping[str, str]) -> ImportCheck:
    """Ask the Python of the `hermes` on the path, or else this one if Hermes is installed beside us."""
    program = shutil.which("hermes", path=environment.get("PATH"))
    python = _python_of(Path(program)) if program else None
    if python is None and importlib.util.find_spec("hermes_cli") is not None:
        python = Path(sys.executable)
    if python is None:
        return ImportCheck(
            advice="Hermes was not found on the path. Its environment must have this package: run there "
            f"python -m pip install {shlex.quote(_REQUIREMENT)}"
        )
    if python.parent == Path(sys.executable).parent:
        return ImportCheck(python, __version__)
    answer = _asked(python, environment)
    if answer is None:
        return ImportCheck(python, advice=f"{python} could not be asked whether it imports souvenance.")
    if answer.version is None:
        return ImportCheck(
            python, advice=f"Hermes can't import souvenance yet. Run: {_command(python, answer.pip)}"
        )
    return ImportCheck(python, answer.version)


def _asked(python: Path, environment: Mapping[str, str]) -> _Answer | None:
    try:
        told = subprocess.run(  # noqa: S603 - the interpreter that Hermes itself runs with.
            [python, "-c", _PROBE],
            cwd=os.sep,
            env=dict(environment),
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=True,
        )
        return msgspec.json.decode(told.stdout, type=settled(_Answer))
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError):
        return None


def _command(python: Path, has_pip: bool) -> str:
    if has_pip:
        return shlex.join([str(python), "-m", "pip", "install", _REQUIREMENT])
    return shlex.join(["uv", "pip", "install", "--python", str(python), _REQUIREMENT])


def _python_of(program: Path, hops: int = 3) -> Path | None:
    """The interpreter beside the program, or else the one that the program's first lines lead to."""
    real = Path(os.path.realpath(program))
    beside = real.with_name("python")
    if (real.parents[1] / "pyvenv.cfg").exists() and beside.exists():
        return beside
    try:
        with open(real, encoding="utf-8", errors="replace") as file:
            opening = file.read(2048)
    except OSError:
        return None
    if by_name := re.match(r"#! ?/usr/bin/env (python[\d.]*)\s", opening):
        found = shutil.which(by_name[1])
        return Path(found) if found else None
    for path in map(Path, _NAMED.findall(opening)):
        if path.name.startswith("python") and path.exists():
            return path
        if hops and path.exists():
            return _python_of(path, hops - 1)
    return None
