"""A door: a way in over HTTP that a server may have beside its own API and Honcho's."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from starlette.routing import BaseRoute

from souvenance.gate.gate import Gate
from souvenance.surfaces.http.openapi import Paths
from souvenance.surfaces.http.request_threads import RequestThreads


class Door(Protocol):
    def routes(self, gate: Gate, threads: RequestThreads) -> Sequence[BaseRoute]:
        """What the door answers; every path of it is its own."""
        ...

    def described(self) -> Paths:
        """What OpenAPI says of it: all that it answers programs."""
        ...

    def open(self) -> AbstractAsyncContextManager[None]:
        """Holds what the door needs while the server runs; entered once, in the server's event loop."""
        ...
