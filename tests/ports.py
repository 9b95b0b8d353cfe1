"""Ports of this machine that a test has for itself although nobody listens there."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def vacant_port() -> Iterator[int]:
    """A port where nobody listens, and that nobody is given meanwhile: only who is told of it may listen."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
