"""Placing the plugin in the homes of Hermes, and taking it away again."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from souvenance.decoders import settled
from souvenance.errors import Conflict
from souvenance.files import replace_file, translated
from souvenance.hermes.setup.profiles import DEFAULT, Profile, profile_at
from souvenance.version import __version__

_WORDS = "Placed by 'souvenance hermes install', which also renews and removes it."
MARK = f"# {_WORDS}"
"""The first line of every file that we place, as its kind of file has comments, and of no other."""

_PROJECT = "pyproject.toml"
_PLUGIN = Path(__file__).parents[2] / "entry" / "souvenance"


def _marked(name: str) -> str:
    content = (_PLUGIN / name).read_text("utf-8")
    if name.endswith(".json"):
        return content.replace("{\n", f'{{ "placed": "{_WORDS}",\n', 1)
    return f"{MARK if not name.endswith('.js') else f'// {_WORDS}'}\n{content}"


def _names() -> list[str]:
    found = (path for path in _PLUGIN.rglob("*") if path.is_file() and path.suffix != ".pyc")
    names = [path.relative_to(_PLUGIN).as_posix() for path in found]
    return sorted(names, key=lambda name: (name == "__init__.py", name))


FILES = {name: _marked(name) for name in _names()}
"""In the order in which they are written: without the last one, the folder is not yet a plugin."""

Outcome = Literal["placed", "renewed", "already in place", "removed", "not there"]


class Step(Struct, frozen=True):
    profile: str
    folder: Path
    outcome: Outcome


def folder_of(profile: Profile) -> Path:
    return profile.home / "plugins" / "souvenance"


def is_placed(profile: Profile) -> bool:
    return _is_ours(folder_of(profile) / "__init__.py")


def install(profiles: Sequence[Profile], *, dry_run: bool = False) -> list[Step]:
    """Place the plugin in every one of the profiles, and renew what an older version placed.

    Raises: Conflict, before anything is changed, if somebody else's files are in the way; StorageReadOnly.
    """
    _must_be_ours(profiles)
    return [_install(profile, dry_run) for profile in profiles]


def uninstall(profiles: Sequence[Profile], *, dry_run: bool = False) -> list[Step]:
    """Remove what `install` placed, and nothing else.

    Raises: Conflict, before anything is changed, if the plugin there is somebody else's; StorageReadOnly.
    """
    _must_be_ours(profiles)
    return [_uninstall(profile, dry_run) for profile in profiles]


def _install(profile: Profile, dry_run: bool) -> Step:
    folder, project = folder_of(profile), FILES[_PROJECT]
    owner = profile_at(Path(os.path.realpath(folder)).parents[1]).name
    if owner != DEFAULT:  # Hermes makes one uv workspace of the plugins of all profiles.
        project = project.replace('-plugin"', f'-plugin-{owner}"')
    files = FILES | {_PROJECT: project}
    differing = {name: text for name, text in files.items() if _content(folder / name) != text}
    if not differing:
        return Step(profile.name, folder, "already in place")
    outcome: Outcome = "renewed" if is_placed(profile) else "placed"
    if not dry_run:
        for name, text in differing.items():
            with translated(f"{folder} can't be written"):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
            replace_file(folder / name, text.encode())
    return Step(profile.name, folder, outcome)


def _uninstall(profile: Profile, dry_run: bool) -> Step:
    folder = folder_of(profile)
    if not any(_is_ours(folder / name) for name in FILES):
        return Step(profile.name, folder, "not there")
    if not dry_run:
        with translated(f"{folder} can't be written"):
            _remove(folder)
    return Step(profile.name, folder, "removed")


def _remove(folder: Path) -> None:
    """A link goes, and what it leads to stays. Of a folder our files go, and it too if nothing is left."""
    if folder.is_symlink():
        folder.unlink()
        return
    for path in (folder / name for name in reversed(FILES)):
        path.unlink(missing_ok=True)
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
            compiled.unlink(missing_ok=True)
    inner = {folder, *((folder / name).parent for name in FILES), folder / "dashboard"}
    for emptied in sorted((path / part for path in inner for part in ("__pycache__", "")), reverse=True):
        with contextlib.suppress(OSError):
            emptied.rmdir()


def _must_be_ours(profiles: Sequence[Profile]) -> None:
    for folder in map(folder_of, profiles):
        if folder.is_symlink() and not folder.exists():
            raise _conflict(folder, "leads to nothing")
        if folder.exists() and not folder.is_dir():
            raise _conflict(folder, "is not a folder")
        for path in (folder / name for name in FILES):
            if (path.exists() or path.is_symlink()) and not _is_ours(path):
                raise _conflict(path, "was not placed by Souvenance")


def _conflict(path: Path, why: str) -> Conflict:
    return Conflict(f"{path} {why}", hint="Nothing was changed. Move it away and try again.")


def _is_ours(path: Path) -> bool:
    content = _content(path)
    return content is not None and _WORDS in content.partition("\n")[0]


def _content(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


_PATIENCE_SECONDS = 30
_NAMED = re.compile(r"(?<![\w.~-])/[^\s\"']*/(?:python[\d.]*|hermes)(?![\w./-])")
"""The full path of an interpreter, or of another `hermes`, in a script."""
_PROBE = """
import importlib.util, json, runpy, sys
version = None
if importlib.util.find_spec("souvenance"):
    from souvenance.version import __version__ as version
print(json.dumps({"version": version, "command": runpy.run_path(sys.argv[1])["command"]()}))
"""


class ImportCheck(Struct, frozen=True):
    python: Path | None = None
    """The interpreter of Hermes, if it was found."""
    version: str | None = None
    """The version of this package that it imports, if it does."""
    advice: str = ""
    """What to do about it; empty if all is well."""


class _ProbeAnswer(Struct, frozen=True):
    version: str | None
    command: str


def reach(environment: Mapping[str, str]) -> ImportCheck:
    """Ask the Python of the `hermes` on the path, or else this one if Hermes is installed beside us."""
    program = shutil.which("hermes", path=environment.get("PATH"))
    python = _python_of(Path(program)) if program else None
    if python is None and ("hermes_cli" in sys.modules or importlib.util.find_spec("hermes_cli")):
        python = Path(sys.executable)
    if python is None:
        return ImportCheck(advice="Hermes is not on the path. Once it is, run: souvenance hermes install")
    if python.parent == Path(sys.executable).parent:
        return ImportCheck(python, __version__)
    answer = _asked(python, environment)
    if answer is None:
        return ImportCheck(python, advice=f"{python} could not be asked whether it imports souvenance.")
    if answer.version is None:
        return ImportCheck(python, advice=f"Hermes can't import souvenance yet. Run: {answer.command}")
    return ImportCheck(python, answer.version)


def _asked(python: Path, environment: Mapping[str, str]) -> _ProbeAnswer | None:
    try:
        finished = subprocess.run(  # noqa: S603 - the interpreter that Hermes itself runs with.
            [python, "-c", _PROBE, _PLUGIN / "cli.py"],
            cwd=os.sep,
            env=dict(environment),
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=True,
        )
        return msgspec.json.decode(finished.stdout, type=settled(_ProbeAnswer))
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError):
        return None


def _python_of(program: Path, hops: int = 3) -> Path | None:
    """The interpreter beside the program, or else the one that the program's first lines lead to."""
    real = Path(os.path.realpath(program))
    beside = real.with_name(f"python{real.suffix}")
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
