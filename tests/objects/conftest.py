"""The S3 server of these tests: one for all of them."""

from __future__ import annotations

import pytest

from objects.seaweed import ROOT, Seaweed


@pytest.fixture(scope="package")
def seaweed(tmp_path_factory):
    server = Seaweed(tmp_path_factory.mktemp("seaweed"), OWNERS)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def credentials(monkeypatch):
    """The server's root, in the standard environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ROOT[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", ROOT[1])


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
