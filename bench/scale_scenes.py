"""What the scale benchmark measures at: some servers before one crowd's memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple, Protocol

from honcho_load import Plain
from honcho_server import cpu_seconds, resident_mb
from scale_crowd import Crowd
from scale_load import PUT, Asker, Taken, Visit, Visitors, putting, storing
from scale_stores import Serving, Stores, fill

NEWCOMERS = 5000
"""From this number on owners are those whose storing is measured."""


class Server(Protocol):
    base_url: str
    key: str | None
    pid: int | None


class Scene(Protocol):
    kind: str
    crowd: Crowd
    restarts: bool
    """Whether its servers are new at each beginning, so that they hold nobody's memory yet."""

    def serving(self, processes: int) -> AbstractContextManager[Sequence[Server]]: ...

    def caps(self, server: Server) -> Sequence[str | None]:
        """One for each owner."""
        ...

    @property
    def beside(self) -> list[int]:
        """The processes that work for the servers."""
        ...


class Own:
    """Servers of the benchmark's own, on a copy of a kept store."""

    restarts = True

    def __init__(self, stores: Stores, kept: str, crowd: Crowd, embedder: str) -> None:
        self.kind = stores.kind
        self.crowd = crowd
        self._stores = stores
        self._name = f"{kept}-measured"
        self._embedder = embedder
        self._caps: list[str] = []
        stores.drop(self._name)
        stores.copy(kept, self._name)

    @contextmanager
    def serving(self, processes: int) -> Iterator[list[Serving]]:
        servers: list[Serving] = []
        try:
            for _ in range(processes):
                servers.append(Serving(self._stores.place(self._name), self._embedder))
            yield servers
        finally:
            for server in servers:
                server.stop()

    def caps(self, server: Server) -> Sequence[str]:
        if not self._caps:
            with closing(Plain(server.base_url, server.key)) as client:
                self._caps = [self.crowd.cap(client, owner) for owner in range(self.crowd.owners)]
        return self._caps

    @property
    def beside(self) -> list[int]:
        pid = self._stores.pid
        if pid is None:
            return []
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
        return [pid, *map(int, children)]

    def close(self) -> None:
        self._stores.drop(self._name)


class Given(NamedTuple):
    base_url: str
    key: str | None
    pid: int | None


class Elsewhere:
    """Servers that run already, all on the same store. What is stored there stays."""

    kind = "as given"
    restarts = False

    def __init__(self, servers: Sequence[Given], crowd: Crowd, first: int) -> None:
        """Store what the crowd has beyond its first so many owners."""
        self.crowd = crowd
        self._servers = servers
        with closing(Plain(servers[0].base_url, servers[0].key)) as client:
            fill(client, crowd, first=first)

    @contextmanager
    def serving(self, processes: int) -> Iterator[Sequence[Given]]:
        yield self._servers[:processes]

    def caps(self, server: Server) -> Sequence[str | None]:
        return [server.key] * self.crowd.owners

    @property
    def beside(self) -> list[int]:
        return []


@dataclass
class Cell:
    """What every round found at one scene with so many servers."""

    taken: dict[str, list[list[float]]] = field(default_factory=dict)
    """By what a request counts as, the seconds of each."""
    right: dict[str, list[bool]] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Of servers and database, seconds per repeated question."""
    resident: list[float] = field(default_factory=list)
    """The largest server's, in megabytes."""
    stored: list[float] = field(default_factory=list)
    put: list[float] = field(default_factory=list)

    def note(self, name: str, found: Sequence[Taken]) -> None:
        some = [one for one in found if one.name == name]
        if some:
            self.taken.setdefault(name, []).append([one.seconds for one in some])
            self.right.setdefault(name, []).extend(one.right for one in some)


class Round:
    """One round of questions at one scene with so many servers."""

    def __init__(self, scene: Scene, processes: int, calls: Sequence[str], seed: int) -> None:
        self._scene = scene
        self._processes = processes
        self._calls = calls
        self._seed = seed

    def read(self, cell: Cell, *, most: int, firsts: int) -> None:
        """Every owner's first questions, until there were so many, and then so many of all, in each call.

        Raises: Failed.
        """
        owners = self._scene.crowd.owners - 1
        starts = -(-firsts // (owners * self._processes)) if self._scene.restarts else 1
        touched: list[Taken] = []
        for start in range(starts):
            numbers = [1000 * self._seed + 100 * start + at for at in range(self._processes)]
            with self._scene.serving(self._processes) as servers:
                visitors = Visitors([server.base_url for server in servers])
                caps = self._scene.caps(servers[0])
                askers = [Asker(self._scene.crowd, one.base_url, caps, self._calls) for one in servers]
                visitors.go([asker.warming() for asker in askers])
                visits = [asker.touching(number) for asker, number in zip(askers, numbers, strict=True)]
                touched += visitors.go(visits)[0]
                if start == starts - 1:
                    visits = [
                        asker.asking(number, most) for asker, number in zip(askers, numbers, strict=True)
                    ]
                    self._again(servers, visitors, visits, cell)
                visitors.dismiss()
        if firsts:
            for call in self._calls:
                cell.note(f"first {call}", touched)

    def _again(
        self,
        servers: Sequence[Server],
        visitors: Visitors,
        visits: Sequence[Sequence[Visit]],
        cell: Cell,
    ) -> None:
        pids = [server.pid for server in servers if server.pid is not None]
        used = cpu_seconds([*pids, *self._scene.beside])
        found, seconds = visitors.go(visits)
        cell.cpu.append((cpu_seconds([*pids, *self._scene.beside]) - used) / len(found))
        cell.rates.append(len(found) / seconds)
        for call in self._calls:
            cell.note(call, found)
        if pids:
            cell.resident.append(max(resident_mb(pid)[0] for pid in pids))


def write(scene: Scene, processes: int, cell: Cell, *, owners: int, first: int, puts: bool) -> None:
    """One round: so many new owners are stored by each server, in batches, and then lines one by one.

    Raises: Failed.
    """
    crowd, numbers = scene.crowd, count(NEWCOMERS + first)
    with scene.serving(processes) as servers:
        visitors = Visitors([server.base_url for server in servers])
        batches, lines = [], []
        stored = 0
        for server in servers:
            some = list(islice(numbers, owners))
            with closing(Plain(server.base_url, server.key)) as client:
                for owner in some:
                    crowd.open(client, owner)
                bodies = [body for owner in some for body in crowd.bodies(owner)]
                batches.append(storing(client, bodies))
                stored += sum(body.lines for body in bodies)
                if puts:
                    holder = Plain(server.base_url, crowd.cap(client, some[0], "put"))
                    lines.append(putting(holder, crowd, some[0]))
        found, seconds = visitors.go(batches)
        cell.stored.append(stored / seconds)
        cell.note("batch", found)
        if puts:
            found, seconds = visitors.go(lines)
            cell.put.append(len(found) / seconds)
            cell.note(PUT, found)
        visitors.dismiss()
