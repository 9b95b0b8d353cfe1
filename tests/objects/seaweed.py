"""A real S3 server for tests: SeaweedFS on 127.0.0.1, started, killed and started again."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import threading
import time
from pathlib import Path

from environments import client_program
from objects.signed import ask

ROOT = ("admin", "admin-secret")
BUCKET = "memory"
_PATIENCE_SECONDS = 60
_STEP_SECONDS = 0.05


def _identity(name: str, *actions: str) -> dict:
    credentials = [{"accessKey": name, "secretKey": f"{name}-secret"}]
    return {"name": name, "credentials": credentials, "actions": list(actions)}


OWNERS = [
    _identity("ann"),
    _identity(
        "ben", "Read:memory/static/w/ben/*", "Write:memory/static/w/ben/*", "List:memory/static/w/ben/*"
    ),
]
"""One to whom only a bucket policy gives anything, and one with a prefix by the server's own rules."""


class Seaweed:
    def __init__(self, folder: Path, users: str = "", key: tuple[str, str] = ROOT) -> None:
        self.folder = folder
        self._key = key
        self._ports = _free_ports(8)
        self.port = self._ports[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.master = f"127.0.0.1:{self._ports[2]}.{self._ports[3]}"
        """As its own programs call it: with the port for them, which is usually 10000 above."""
        root = {
            "name": "root",
            "credentials": [{"accessKey": ROOT[0], "secretKey": ROOT[1]}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        self._config = folder / "s3.json"
        self._config.write_text(users or json.dumps({"identities": [root, *OWNERS]}))
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        """Start, or start again after a kill, and wait until buckets can be asked for."""
        s3, s3_grpc, master, master_grpc, volume, volume_grpc, filer, filer_grpc = self._ports
        with open(self.folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [
                    client_program("seaweedfs-4.48", "weed"),
                    "server",
                    "-ip=127.0.0.1",
                    "-ip.bind=127.0.0.1",
                    f"-dir={self.folder}",
                    f"-master.port={master}",
                    f"-master.port.grpc={master_grpc}",
                    "-master.volumeSizeLimitMB=64",
                    "-master.electionTimeout=1s",
                    f"-volume.port={volume}",
                    f"-volume.port.grpc={volume_grpc}",
                    "-volume.max=4",
                    "-filer",
                    f"-filer.port={filer}",
                    f"-filer.port.grpc={filer_grpc}",
                    "-s3",
                    f"-s3.port={s3}",
                    f"-s3.port.grpc={s3_grpc}",
                    "-s3.ip.bind=127.0.0.1",
                    "-s3.port.iceberg=0",
                    "-s3.port.lance=0",
                    f"-s3.config={self._config}",
                ],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        self._await_bucket()

    def kill(self) -> None:
        """As `kill -9`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def ask(self, method: str, path: str, query: str = "", body: bytes = b"") -> tuple[int, bytes]:
        return ask(self.port, method, path, key=self._key[0], secret=self._key[1], query=query, body=body)

    def _await_bucket(self) -> None:
        """Make the bucket, and write to it: the server takes requests before it can serve them."""
        deadline, rest, answer = time.monotonic() + _PATIENCE_SECONDS, threading.Event(), None
        while time.monotonic() < deadline:
            assert self._process.poll() is None, (self.folder / "log").read_text()[-2000:]
            try:
                self.ask("PUT", f"/{BUCKET}")
                answer = self.ask("PUT", f"/{BUCKET}/ready", body=b"ready")
                if answer[0] == 200 and self.ask("GET", f"/{BUCKET}/ready") == (200, b"ready"):
                    self.ask("DELETE", f"/{BUCKET}/ready")
                    return
            except OSError as error:
                answer = error
            rest.wait(_STEP_SECONDS)
        raise TimeoutError(f"SeaweedFS does not serve: {answer}")


def _free_ports(count: int) -> list[int]:
    """Below those that systems give out by themselves: so nobody takes one while the server is dead."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(10_000, 32_000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        if port not in ports:
            ports.append(port)
    return ports
