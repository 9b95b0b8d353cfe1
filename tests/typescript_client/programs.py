"""The TypeScript client as its users have it: built, installed as a package, and run by Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socket import create_server

from processes import PATIENCE_SECONDS
from typescript_client.api_types import CLIENT, tool

_OPTIONS = {
    "strict": True,
    "target": "ES2022",
    "lib": ["ES2022", "DOM"],
    "module": "NodeNext",
    "types": [],
    "skipLibCheck": True,
}


def built(folder: Path, sources: dict[str, str]) -> Path:
    """A folder with programs that use the client. The compiler must find no fault in them."""
    package = folder / "node_modules" / "souvenance"
    tool("tsc", "--project", CLIENT, "--outDir", package / "dist")
    shutil.copy(CLIENT / "package.json", package)
    (folder / "package.json").write_text(json.dumps({"type": "module"}), "utf-8")
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": _OPTIONS}), "utf-8")
    for name, source in sources.items():
        (folder / name).write_text(source, "utf-8")
    tool("tsc", "--project", folder)
    return folder


def started(program: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["node", program, *arguments],
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str], told: str = "") -> str:
    """What it prints from now on. It must succeed."""
    try:
        out, err = process.communicate(told, timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0, out + err
    return out


@contextmanager
def silent() -> Iterator[str]:
    """The URL of a server that never answers."""
    with create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@contextmanager
def moved(to: str) -> Iterator[str]:
    """The URL of a server that points to another one."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(307)
            self.send_header("location", to + self.path)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
