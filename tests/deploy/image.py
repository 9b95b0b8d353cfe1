"""Runs the steps of a Dockerfile, each in a root of its own: this machine stands for the base image.

A step sees the stage's folder as /, with this machine's programs and its Python read-only below it, an
environment of the stage's variables alone, and no network. One step can't be run so, the installation of the
lock from an index: instead it gets the very versions that this environment has of it. An instruction that is
not known here is an error.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from string import Template

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev")
"""What a base image has, from this machine."""
INSTALLED = "/installed"
_FROM_INDEX = re.compile(r"\S+/python -m pip install --require-hashes .* -r (\S+)")
_PIN = re.compile(r"^([\w.-]+==[^\\\n]+)", re.M)


@dataclass
class Stage:
    """What an image is made of: its files, and how it is run."""

    base: str
    root: Path
    env: dict[str, str]
    folder: str = "/"
    user: str = "0:0"
    volumes: list[str] = field(default_factory=list)
    ports: list[str] = field(default_factory=list)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def instructions(text: str) -> list[tuple[str, str]]:
    """Each with its name and the rest, lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in joined.splitlines()]


def shared() -> list[str]:
    return [*SHARED, sys.base_prefix]


def pins(lock: Path) -> dict[str, str]:
    """The versions of what this platform installs of the lock."""
    wanted = map(Requirement, _PIN.findall(lock.read_text("utf-8")))
    here = (one for one in wanted if one.marker is None or one.marker.evaluate())
    return {one.name: str(one.specifier).removeprefix("==") for one in here}


class Build:
    def __init__(self, folder: Path, context: Path = ROOT) -> None:
        self._folder, self._context = folder, context
        self.stages: dict[str, Stage] = {}

    def run(self, dockerfile: str) -> Stage:
        """The last stage."""
        for name, rest in instructions(dockerfile):
            getattr(self, f"_{name.lower()}")(rest)
        return self._stage

    @property
    def _stage(self) -> Stage:
        return list(self.stages.values())[-1]

    def _from(self, rest: str) -> None:
        base, *named = rest.split()
        assert not named or (len(named) == 2 and named[0].lower() == "as"), rest
        name = named[1] if named else str(len(self.stages))
        root = self._folder / name
        for place in (*shared(), "/tmp", "/proc", INSTALLED):
            made = root / place.lstrip("/")
            made.parent.mkdir(parents=True, exist_ok=True)
            made.symlink_to(os.readlink(place)) if os.path.islink(place) else made.mkdir(exist_ok=True)
        path = f"{sys.base_prefix}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        self.stages[name] = Stage(base, root, {"PATH": path, "HOME": "/tmp"})

    def _env(self, rest: str) -> None:
        for one in shlex.split(rest):
            name, value = one.split("=", 1)
            self._stage.env[name] = Template(value).substitute(self._stage.env)

    def _workdir(self, rest: str) -> None:
        self._stage.folder = rest
        self._place(rest).mkdir(parents=True, exist_ok=True)

    def _copy(self, rest: str) -> None:
        *sources, target = rest.split()
        if sources[0].startswith("--from="):
            root = self.stages[sources.pop(0).removeprefix("--from=")].root
            found = {source: root / source.lstrip("/") for source in sources}
        else:
            found = {source: self._context / source for source in sources}
            assert all(self._is_sent(source) for source in sources), sources
        place = self._place(target)
        for path in found.values():
            if path.is_dir():
                kept = None if "--from=" in rest else shutil.ignore_patterns("__pycache__")
                shutil.copytree(path, place, symlinks=True, ignore=kept, dirs_exist_ok=True)
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place / path.name)

    def _is_sent(self, source: str) -> bool:
        """Whether .dockerignore lets the file or folder into the context: its last word counts."""
        sent = True
        for line in (self._context / ".dockerignore").read_text("utf-8").split():
            if fnmatch.fnmatch(source, line.lstrip("!")):
                sent = line.startswith("!")
        return sent

    def _run(self, rest: str) -> None:
        if lock := _FROM_INDEX.fullmatch(rest):
            self._install(self._place(lock[1]))
            return
        ran = subprocess.run(
            alone(self._stage, ["sh", "-c", rest], user="0:0"), capture_output=True, text=True, timeout=300
        )
        assert ran.returncode == 0, (rest, ran.stdout, ran.stderr)

    def _install(self, lock: Path) -> None:
        """Have there what the lock pins. What only builds is copied, for it goes again."""
        [packages] = self._stage.root.glob("opt/*/lib/python3*/site-packages")
        for name, version in pins(lock).items():
            one = metadata.distribution(name)
            assert one.version == version, (name, one.version, version)
            for top in {
                path.parts[0] for path in one.files or () if path.parts[0] not in ("..", "__pycache__")
            }:
                source = Path(str(one.locate_file(top)))
                if (packages / top).exists() or (packages / top).is_symlink():
                    continue
                if name in ("hatchling", "editables"):
                    shutil.copytree(source, packages / top) if source.is_dir() else shutil.copy(
                        source, packages
                    )
                else:
                    (packages / top).symlink_to(f"{INSTALLED}/{top}")

    def _volume(self, rest: str) -> None:
        self._stage.volumes.append(rest)

    def _user(self, rest: str) -> None:
        self._stage.user = rest

    def _expose(self, rest: str) -> None:
        self._stage.ports.append(rest)

    def _healthcheck(self, rest: str) -> None:
        self._stage.health = json.loads(rest[rest.index("CMD ") + 4 :])

    def _entrypoint(self, rest: str) -> None:
        self._stage.entrypoint = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        self._stage.command = json.loads(rest)

    def _place(self, path: str) -> Path:
        return self._stage.root / os.path.join(self._stage.folder, path).lstrip("/")


def alone(stage: Stage, command: list[str], *, user: str, writable: tuple[str, ...] = ("/",)) -> list[str]:
    """The command in the stage's root, as that user, without a network. No other folder can be written."""
    root = shlex.quote(str(stage.root))
    binds = [(path, f"{stage.root}{path}") for path in shared() if not os.path.islink(path)]
    binds.append((str(Path(metadata.distribution("click").locate_file(""))), f"{stage.root}{INSTALLED}"))
    script = ["set -e", f"mount --bind {root} {root}"]
    for source, target in binds:
        script.append(f"mount --bind -o ro {shlex.quote(source)} {shlex.quote(target)}")
    script.append(f"mount -t proc proc {root}/proc; mount -t tmpfs tmpfs {root}/tmp; chmod 1777 {root}/tmp")
    if "/" not in writable:
        for path in writable:
            script.append(f"mount --bind {root}{path} {root}{path}")
        script.append(f"mount -o remount,bind,ro {root}")
    variables = [f"{name}={value}" for name, value in stage.env.items()]
    uid, gid = user.split(":")
    rights = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    if uid != "0":
        rights += ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
    inside = ["chroot", str(stage.root), *rights, "env", "-i", *variables, "sh", "-c"]
    inside += [f"cd {shlex.quote(stage.folder)} && exec {shlex.join(command)}"]
    script.append(f"exec {shlex.join(inside)}")
    loopback = f"{sys.executable} {Path(__file__).with_name('loopback.py')}"
    return ["unshare", "-m", "-n", "-p", "--fork", "--kill-child", "sh", "-c", "\n".join([loopback, *script])]
