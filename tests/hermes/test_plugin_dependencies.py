"""What the plugin needs, by the package index: no machine has to compile, and Hermes' package manager takes
it beside what Hermes itself locks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from uv import find_uv_bin

from souvenance.hermes.setup.install import FILES, install
from souvenance.hermes.setup.profiles import profile_at

ROOT = Path(__file__).resolve().parents[2]
LOCKED_BY_HERMES = ("cryptography==50.0.1", "httpx==0.28.1", "pydantic==2.13.4")
QUARANTINE = "14 days"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MACHINES = tuple(
    f"{processor}-{system}"
    for system in ("unknown-linux-gnu", "apple-darwin", "pc-windows-msvc")
    for processor in ("x86_64", "aarch64")
)
NO_WHEEL = {("aarch64-pc-windows-msvc", "3.11"): ["pyyaml"]}
"""Hermes needs that package itself: there it can't be installed without a compiler either."""
COMPILED = {"cryptography", "msgspec", "numpy", "pystemmer", "pyyaml"}
PATIENCE_SECONDS = 240
UNREACHABLE = re.compile(r"failed to fetch|dns error|connect|timed out|network", re.I)


def ran_by_uv(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Fails if the index is out of reach: whoever runs the suite has installed it from there."""
    ran = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "UV_HTTP_TIMEOUT": "30", "UV_CONCURRENT_DOWNLOADS": "4"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    if ran.returncode and UNREACHABLE.search(ran.stderr):
        pytest.fail(f"this environment can't reach the package index:\n{ran.stderr}", pytrace=False)
    return ran


def resolved(project: Path, *more: str) -> tuple[dict[str, str], str]:
    """The versions that uv chooses for a project, or else why it chooses none."""
    command = [find_uv_bin(), "pip", "compile", str(project), "--python", sys.executable]
    command += ["--no-header", "--no-annotate", "--no-python-downloads", "--only-binary", ":all:", *more]
    ran = ran_by_uv(command, project.parent)
    versions = dict(re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==(\S+)", ran.stdout, re.M))
    return versions, ran.stderr if ran.returncode else ""


class Index(BaseHTTPRequestHandler):
    """A package index that has this package alone, uploaded just now."""

    wheel: Path

    def do_GET(self):
        if self.path == f"/{self.wheel.name}":
            self._answer("application/octet-stream", self.wheel.read_bytes())
        elif self.path == "/simple/souvenance/":
            digest = hashlib.sha256(self.wheel.read_bytes()).hexdigest()
            file = {"filename": self.wheel.name, "url": f"/{self.wheel.name}", "hashes": {"sha256": digest}}
            file["upload-time"] = datetime.now(UTC).isoformat()
            told = {"meta": {"api-version": "1.1"}, "name": "souvenance", "files": [file], "versions": []}
            self._answer("application/vnd.pypi.simple.v1+json", json.dumps(told).encode())
        else:
            self.send_error(404)

    def _answer(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - as the base class names them

    def log_message(self, format, *arguments):
        """Nothing is told."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    place = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    [made] = place.iterdir()
    return made


@pytest.fixture(scope="module")
def index(wheel):
    """The address of an index with this package as it would be released."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Index,), {"wheel": wheel})) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()
        thread.join()


def generation(place, plugins, *, quarantine=QUARANTINE, exempt=True, pins=LOCKED_BY_HERMES):
    """The workspace of which Hermes makes an environment: the core with its locks, and in it as members the
    enabled plugins of all profiles. Of the settings for uv, those of the root alone count."""
    members = []
    for number, plugin in enumerate(plugins):
        shutil.copytree(plugin, place / "plugin-sources" / f"{number:016}")
        members.append(f"plugin-sources/{number:016}")
    exemption = "[tool.uv.exclude-newer-package]\nsouvenance = false\n" if exempt else ""
    (place / "pyproject.toml").write_text(
        '[project]\nname = "hermes-agent"\nversion = "0.21.3"\nrequires-python = ">=3.11"\n'
        f"dependencies = {json.dumps(pins)}\n[tool.uv]\npackage = false\n"
        f'exclude-newer = "{quarantine}"\n{exemption}[tool.uv.workspace]\nmembers = {json.dumps(members)}\n'
    )
    return place


def locked(workspace, index):
    """The versions that uv locks for the workspace, or else why it locks none."""
    command = [find_uv_bin(), "lock", "--index", index, "--python", sys.executable, "--no-python-downloads"]
    ran = ran_by_uv(command, workspace)
    if ran.returncode:
        return {}, ran.stderr
    packages = tomllib.loads((workspace / "uv.lock").read_text("utf-8"))["package"]
    return {one["name"]: one["version"] for one in packages}, ""


def placed(root, *names):
    """The folders of the plugin in so many profiles, as our own command places them."""
    profiles = [profile_at(root / "profiles" / name if name != "default" else root) for name in names]
    return [step.folder for step in install(profiles)]


@pytest.mark.parametrize("profiles", [("default",), ("default", "coder", "writer-2")], ids=["one", "several"])
def test_hermes_takes_the_plugin_beside_what_it_locks_itself(tmp_path, index, profiles):
    workspace = generation(tmp_path / "generation", placed(tmp_path / "home", *profiles))
    versions, refused = locked(workspace, index)
    assert not refused
    assert {"souvenance", "msgspec", "numpy", "pystemmer"} <= versions.keys()
    assert {f"{name}=={versions[name]}" for name in ("cryptography", "httpx", "pydantic")} == set(
        LOCKED_BY_HERMES
    )


def test_the_wheel_has_every_file_of_the_plugin(wheel):
    with zipfile.ZipFile(wheel) as content:
        names = [one for one in content.namelist() if one.startswith("souvenance/entry/souvenance/")]
    assert {one.removeprefix("souvenance/entry/souvenance/") for one in names} == {*FILES}


def test_the_folder_is_taken_as_hermes_installs_it_from_a_repository(tmp_path, index):
    versions, refused = locked(generation(tmp_path / "generation", [ROOT / "plugin"]), index)
    assert not refused
    assert versions["souvenance-hermes-plugin"] == versions["souvenance"]


@pytest.mark.parametrize(
    "changed, why",
    [
        ({"exempt": False}, "exclude-newer"),
        ({"pins": ["httpx==0.20.0"]}, "httpx"),
    ],
    ids=["in the quarantine", "a conflict"],
)
def test_what_hermes_would_refuse_is_refused_here(tmp_path, index, changed, why):
    _, refused = locked(generation(tmp_path / "generation", [ROOT / "plugin"], **changed), index)
    assert why in refused


def test_two_plugins_of_one_name_would_be_refused(tmp_path, index):
    _, refused = locked(generation(tmp_path / "generation", [ROOT / "plugin"] * 2), index)
    assert "members are both named" in refused


def test_whatever_is_compiled_has_wheels_for_every_python_and_every_machine():
    pairs = [(machine, python) for python in PYTHONS for machine in MACHINES]

    def found(pair):
        machine, python = pair
        return resolved(
            ROOT / "pyproject.toml",
            *("--extra", "hermes", "--python-platform", machine, "--python-version", python),
        )

    with ThreadPoolExecutor(4) as several:
        results = dict(zip(pairs, several.map(found, pairs), strict=True))
    missing = {
        pair: re.findall(r"([\w-]+)\S* has no usable wheels", why)
        for pair, (_, why) in results.items()
        if why
    }
    assert missing == NO_WHEEL
    assert all(versions.keys() >= COMPILED for versions, why in results.values() if not why)
