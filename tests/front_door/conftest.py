"""One installation for each file of tests and each place; each test has a workspace of its own."""

from __future__ import annotations

from uuid import uuid4

import pytest

from front_door.memories import OPENS, in_folder
from surfaces.door import serving


@pytest.fixture(scope="module", params=["folder", "server"])
def place(request, tmp_path_factory):
    """What to open, as keywords."""
    home = tmp_path_factory.mktemp(request.param) / "home"
    if request.param == "folder":
        yield in_folder(home)
    else:
        with serving(home) as server:
            yield {"url": server.url, "token": server.owner_cap}


@pytest.fixture(params=OPENS)
def opens(request):
    """How to open it."""
    return OPENS[request.param]


@pytest.fixture
def whole(opens, place):
    """A memory of everything."""
    with opens(**place) as memory:
        yield memory


@pytest.fixture
def name():
    """A name that no other test knows."""
    return f"n{uuid4().hex[:12]}"


@pytest.fixture
def memory(opens, place, name):
    """A memory of a workspace of its own."""
    with opens(**place, workspace=name) as own:
        yield own
