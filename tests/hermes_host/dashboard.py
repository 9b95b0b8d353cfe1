"""The dashboard of the real host, in a process of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx

from demo_host import Host
from processes import PATIENCE_SECONDS

TAB = "/souvenance"
API = "/api/plugins/souvenance"


class Dashboard(NamedTuple):
    url: str
    token: str

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        return httpx.request(
            method, f"{self.url}{path}", json=body, headers=headers, timeout=PATIENCE_SECONDS, trust_env=False
        )

    def signed_in(self, method: str, path: str, body: Any = None) -> httpx.Response:
        return self.ask(method, path, body, **{"X-Hermes-Session-Token": self.token})


@contextmanager
def dashboard_of(host: Host) -> Iterator[Dashboard]:
    command = host.command("dashboard", "--port", "0", "--no-open", "--skip-build", "--isolated")
    with (
        open(host.home / "dashboard.log", "wb") as log,
        subprocess.Popen(
            command, cwd=host.project, env=host.environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            [port] = next(filter(None, (re.findall(r"READY port=(\d+)", line) for line in process.stdout)))
            url = f"http://127.0.0.1:{port}"
            [token] = re.findall(r'__HERMES_SESSION_TOKEN__="([^"]+)"', httpx.get(url, trust_env=False).text)
            yield Dashboard(url, token)
        finally:
            process.terminate()
