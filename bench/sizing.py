"""What a line takes on the disk, and what a request takes of a processor: docs/howto/size-a-server.md.

    python bench/sizing.py [--lines N] [--embedder packaged|none] [--store sqlite|postgres]

A server of its own stores N lines of 40 owners (about 120 characters each), makes their vectors, and is
asked. What is counted is the server's processor time, as it tells it at /metrics, so other work on the
machine changes little. The size is that of the data folder when the server has stopped. With PostgreSQL a
database of its own is made, and its processes and its size count, too.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import httpx
import psutil
import psycopg

from scale_postgres import Cluster

OWNERS = 40
ASKED = 400
_WORDS = """
    harbour violin invoice garden meeting Lisbon bicycle recipe brother winter contract window doctor train
    holiday budget kitchen teacher passport river market piano server ticket mountain neighbour lecture coffee
    painting battery concert insurance library ferry keyboard orchard museum deadline bakery airport
"""
WORDS = _WORDS.split()


def sentence(chance: random.Random) -> str:
    words = " ".join(chance.choices(WORDS, k=14))
    return f"On day {chance.randrange(400)} Ann said that the {words} matters to her."


class Measured:
    def __init__(self, home: Path, embedder: str, cluster: Cluster | None) -> None:
        environment = {"SOUVENANCE_METRICS": "1", "SOUVENANCE_EMBEDDER": embedder, "PATH": "/usr/bin:/bin"}
        if cluster is not None:
            environment["SOUVENANCE_STORE"] = cluster.url("postgres")
        self._database = None if cluster is None else psutil.Process(cluster.pid)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "souvenance", "serve", "--port", "0", "--home", str(home)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        url = self._process.stdout.readline().rpartition(" at ")[2].strip()
        cap = (home / "owner.cap").read_text().strip()
        self.client = httpx.Client(
            base_url=url, headers={"authorization": f"Bearer {cap}"}, timeout=120, trust_env=False
        )

    def told(self, name: str) -> float:
        found = re.search(rf"^{name} (\S+)$", self.client.get("/metrics").text, re.M)
        return float(found[1]) if found else 0.0

    def spent(self) -> float:
        """Seconds of processor time, those of the database included."""
        found = self.told("process_cpu_seconds_total")
        if self._database is not None:
            found += sum(self._database.cpu_times()[:4])  # And those of its processes that have ended.
            for one in self._database.children():
                found += sum(one.cpu_times()[:2])
        return found

    def each(self, times: int, ask: Callable[[int], httpx.Response]) -> float:
        """Milliseconds of processor time that one takes."""
        before = self.spent()
        for at in range(times):
            ask(at).raise_for_status()
        return 1000 * (self.spent() - before) / times

    def rest(self) -> None:
        while self.told("souvenance_work_waiting") or self.told("souvenance_embedding_behind"):
            time.sleep(0.5)

    def stop(self) -> None:
        self.client.close()
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--embedder", default="packaged", choices=["packaged", "none"])
    parser.add_argument("--store", default="sqlite", choices=["sqlite", "postgres"])
    asked = parser.parse_args()
    chance = random.Random(7)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ending:
        home, cluster = Path(folder) / "home", None
        if asked.store == "postgres":
            Path(folder).chmod(0o755)  # PostgreSQL runs as somebody else.
            cluster = Cluster(Path(folder) / "database")
            cluster.start()
            ending.callback(cluster.stop)
        server = Measured(home, asked.embedder, cluster)
        spaces = "/v3/workspaces"
        server.client.post(spaces, json={"id": "w"}).raise_for_status()

        def messages(at: int) -> httpx.Response:
            said = [{"content": sentence(chance), "peer_id": f"p{at % OWNERS}"} for _ in range(100)]
            return server.client.post(f"{spaces}/w/sessions/s{at % OWNERS}/messages", json={"messages": said})

        begun = time.monotonic()
        stored = server.each(asked.lines // 100, messages) / 100
        seconds = time.monotonic() - begun
        before = server.spent()
        server.rest()
        embedded = 1000 * (server.spent() - before) / asked.lines
        put = server.each(
            ASKED, lambda at: server.client.post("/v1/memory/put", json={"text": sentence(chance)})
        )
        server.rest()
        get = server.each(
            ASKED, lambda at: server.client.post("/v1/memory/get", json={"query": sentence(chance)})
        )
        context = server.each(
            ASKED,
            lambda at: server.client.post(
                f"{spaces}/w/peers/p{at % OWNERS}/search", json={"query": sentence(chance), "limit": 10}
            ),
        )
        memory = server.told("process_resident_memory_bytes") / 1e6
        server.stop()
        size = sum(one.stat().st_size for one in home.rglob("*") if one.is_file())
        if cluster is not None:
            with psycopg.connect(cluster.url("postgres")) as connection:
                [held] = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
                size += held
        lines = asked.lines + ASKED
        print(f"{lines} lines, embedder {asked.embedder}, {asked.store}")
        print(
            f"on the disk            {size / lines:8.0f} bytes a line, {1e9 * lines / size:,.0f} lines a GB"
        )
        print(f"memory of the server   {memory:8.0f} MB")
        print(
            f"stored, 100 a request  {stored:8.2f} ms of a core a line,"
            f" {asked.lines / seconds:,.0f} lines a second"
        )
        print(f"vectors, meanwhile and after {embedded:.2f} ms of a core a line more")
        for name, cost in (("put", put), ("get", get), ("search of a peer", context)):
            print(f"{name:<22} {cost:8.2f} ms of a core, {1000 / cost:,.0f} a second on one core")


if __name__ == "__main__":
    main()
