"""Pages of a server that has nothing yet: each says what to do next."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from inspector.conftest import link_of
from inspector.door_pages import QUERIES, UNDER_WAY, routes
from processes import PATIENCE_SECONDS
from surfaces.door import serving

NEXT = {
    "/": "write a note",
    "/inspect/": "write a note",
    "/?q=anything": "Try other words",
    "/inspect/notes": "Write the first note below",
    "/inspect/notes?namespace=travel": "Write the first note below",
    "/inspect/recall": "Type what a person would say",
    "/inspect/recall?peer=ann&q=hello": "check the name and the workspace",
    "/inspect/audit?actor=nobody": "Show all",
    "/inspect/access": "Make a narrow one below",
    "/inspect/data": "Count the lines",
    "/inspect/data/stored": "write a note",
    "/inspect/data/kinds": "Count the lines",
    "/inspect/data/retention": "Try a rule below",
    "/inspect/work": "Use a model",
    "/inspect/passkeys": "sign in",
}
"""What each page says to do next."""
NEVER_EMPTY = {"/inspect/sign-in", "/inspect/audit", "/inspect/work/tail", UNDER_WAY}
"""Pages that a look at them fills, or that are about one thing."""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with (
        serving(tmp_path_factory.mktemp("empty") / "home", SOUVENANCE_EMBEDDER="none") as server,
        httpx.Client(base_url=server.url, trust_env=False, timeout=PATIENCE_SECONDS) as found,
    ):
        found.get(link_of(server))
        yield found


def test_every_page_of_an_empty_server_is_looked_at():
    empty = {path for path in routes("GET") if "{" not in path} - NEVER_EMPTY
    assert empty == {path.partition("?")[0] for path in NEXT} - {"/inspect/audit"}
    assert QUERIES.keys() <= {path.partition("?")[0] for path in NEXT}


@pytest.mark.parametrize("path", NEXT)
def test_an_empty_page_says_what_to_do_next(client, path):
    answer = client.get(path)
    assert answer.status_code == 200
    assert NEXT[path] in unescape(re.sub(r"<[^>]+>", "", answer.text))
