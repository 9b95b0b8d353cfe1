"""What the plugin needs, by the package index: no machine has to compile, and Hermes' package manager takes
it beside what Hermes itself locks."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from uv import find_uv_bin

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = tomllib.loads((ROOT / "plugin/pyproject.toml").read_text("utf-8"))
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


def resolved(project: Path, *more: str) -> tuple[dict[str, str], str]:
    """The versions that uv chooses for a project, or else why it chooses none.

    Fails if the index is out of reach: whoever runs the suite has installed it from there.
    """
    command = [find_uv_bin(), "pip", "compile", str(project), "--python", sys.executable]
    command += ["--no-header", "--no-annotate", "--no-python-downloads", "--only-binary", ":all:", *more]
    ran = subprocess.run(
        command,
        cwd=project.parent,
        env={**os.environ, "UV_HTTP_TIMEOUT": "30", "UV_CONCURRENT_DOWNLOADS": "4"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    if ran.returncode and UNREACHABLE.search(ran.stderr):
        pytest.fail(f"this environment can't reach the package index:\n{ran.stderr}", pytrace=False)
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
def index(tmp_path_factory):
    """The address of an index with this package as it would be released."""
    place = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    [wheel] = place.iterdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Served", (Index,), {"wheel": wheel})) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/simple/"
        server.shutdown()
        thread.join()


def generation(place, requirements, *, exempt):
    """The project of which Hermes makes an environment: the core's locks and all plugins together."""
    listed = "".join(f'    "{one}",\n' for one in (*LOCKED_BY_HERMES, *requirements))
    exemption = "[tool.uv.exclude-newer-package]\nsouvenance = false\n" if exempt else ""
    (place / "pyproject.toml").write_text(
        f'[project]\nname = "generation"\nversion = "1"\nrequires-python = ">=3.11"\n'
        f'dependencies = [\n{listed}]\n[tool.uv]\nexclude-newer = "{QUARANTINE}"\n{exemption}'
    )
    return place / "pyproject.toml"


def test_hermes_takes_the_plugin_beside_what_it_locks_itself(tmp_path, index):
    exempt = PLUGIN["tool"]["uv"]["exclude-newer-package"] == {"souvenance": False}
    project = generation(tmp_path, PLUGIN["project"]["dependencies"], exempt=exempt)
    for python in ("3.11", "3.14"):
        versions, refused = resolved(project, "--index", index, "--python-version", python)
        assert not refused
        assert {"souvenance", "msgspec", "numpy", "pystemmer"} <= versions.keys()
        assert {f"{name}=={versions[name]}" for name in ("cryptography", "httpx", "pydantic")} == set(
            LOCKED_BY_HERMES
        )


def test_without_the_exemption_a_new_release_would_be_refused(tmp_path, index):
    project = generation(tmp_path, PLUGIN["project"]["dependencies"], exempt=False)
    _, refused = resolved(project, "--index", index, "--python-version", "3.14")
    assert "souvenance" in refused


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
