"""One server for each file of tests; the tests keep apart by acting for different actors."""

from __future__ import annotations

from functools import partial
from uuid import uuid4

import pytest

from surfaces.door import serving, souvenance


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "home") as server:
        yield server


@pytest.fixture
def name():
    """The name of an actor that no other test knows."""
    return f"actor-{uuid4().hex[:12]}"


@pytest.fixture
def actor(server, name):
    """A client that may do everything to the memory of an actor of its own."""
    return server.actor(name)


@pytest.fixture(scope="module", params=["embedded", "served"])
def command(request, tmp_path_factory):
    """The command line: on a data folder of its own, and asking a server."""
    home = tmp_path_factory.mktemp(request.param) / "home"
    if request.param == "embedded":
        yield partial(souvenance, home=home)
    else:
        with serving(home) as server:
            yield partial(souvenance, home=home, url=server.url)


@pytest.fixture
def compartment():
    """The name of a namespace that no other test knows."""
    return f"room-{uuid4().hex[:12]}"
