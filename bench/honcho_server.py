"""A `souvenance serve` of the benchmark's own, on a folder that is gone afterwards, and what it takes."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from honcho_load import Failed, Plain

_UNLIMITED = {"SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000"}
_HERE = Path(__file__).resolve().parent


class Disk(NamedTuple):
    """Bytes of the data folder, and of some tables with their indexes; -1 where SQLite can't tell."""

    total: int
    parts: dict[str, int]


class Server:
    def __init__(self, home: Path | None = None) -> None:
        """In a folder of its own, or in one that stays."""
        self._folder = tempfile.TemporaryDirectory(prefix="honcho-bench-")
        self.home = home or Path(self._folder.name) / "home"
        self._process: subprocess.Popen[str] | None = None
        self.base_url = ""
        self.start_cpu = 0.0
        """What the last start used of the processor, in seconds."""

    def start(self, port: int = 0) -> float:
        """Start, and say how many seconds passed until it had answered a first real request."""
        command = [_python(), "-m", "souvenance", "serve", "--port", str(port), "--home", str(self.home)]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SOUVENANCE_")
        }
        began = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**environment, **_UNLIMITED}
        )
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        found = re.search(r"http://\S+", told)
        if found is None:
            raise Failed(f"souvenance did not start: {told!r}")
        self.base_url = found.group()
        client = Plain(self.base_url, self.key)
        while True:
            try:
                client.call("POST", "/v3/workspaces", {"id": "first"})
                break
            except ConnectionRefusedError:
                time.sleep(0.005)
        taken = time.perf_counter() - began
        self.start_cpu = cpu_seconds([self.pid])
        client.close()
        return taken

    @property
    def key(self) -> str:
        return (self.home / "owner.cap").read_text(encoding="ascii").strip()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(30)
            if self._process.stdout is not None:
                self._process.stdout.close()
            self._process = None

    def disk(self) -> Disk:
        """What the folder takes; to be asked while the server is stopped, so that nothing waits in a log."""
        total = sum(path.stat().st_size for path in self.home.rglob("*") if path.is_file())
        return Disk(total, _tables(self.home / "souvenance.db"))

    def clear(self) -> None:
        self.stop()
        self._folder.cleanup()


def _python() -> str:
    """The interpreter that can serve Souvenance: this one, or that of the checkout."""
    if all(importlib.util.find_spec(name) is not None for name in ("souvenance", "uvicorn")):
        return sys.executable
    return str(_HERE.parent / ".venv" / "bin" / "python")


def _tables(path: Path) -> dict[str, int]:
    sql = """SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name
        GROUP BY m.tbl_name ORDER BY 2 DESC"""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        try:
            return dict(database.execute(sql).fetchall())
        except sqlite3.OperationalError:  # An SQLite without dbstat.
            return {}


def resident_mb(pid: int) -> tuple[float, float]:
    """Now, and at most so far."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    now, most = (re.search(rf"{name}:\s+(\d+)", status) for name in ("VmRSS", "VmHWM"))
    return tuple(int(found.group(1)) / 1024 if found else 0.0 for found in (now, most))  # type: ignore[return-value]


def cpu_seconds(pids: list[int]) -> float:
    """What the processes used of the processor so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
