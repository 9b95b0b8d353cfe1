"""An owner with credentials of its own reaches its own objects alone: the documented policy, for real."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from objects.seaweed import BUCKET, ROOT
from souvenance.adapters.object_stores import S3Objects
from souvenance.domain.names import Compartment
from souvenance.domain.objects import object_key
from souvenance.errors import StorageUnavailable

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "objects.md"
ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def documented_policy():
    [text] = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return json.loads(text)


@pytest.fixture
def policy(seaweed):
    told = json.dumps(documented_policy()).encode()
    assert seaweed.ask("PUT", f"/{BUCKET}", "policy", told)[0] in (200, 204)
    yield
    seaweed.ask("DELETE", f"/{BUCKET}", "policy")


def store(seaweed, prefix, name):
    return S3Objects(BUCKET, prefix, endpoint=seaweed.url, credentials=(name, f"{name}-secret"), tries=1)


def confined(seaweed, prefix, workspace, name):
    """The owner does everything in its own folder, and nothing beside it."""
    root = S3Objects(BUCKET, prefix, endpoint=seaweed.url, credentials=ROOT)
    own = store(seaweed, prefix, name)
    mine = object_key(Compartment(workspace, name, "personal"), "line", ID)
    assert own.put_if_absent(mine, b"mine")
    assert own.put_if_absent(mine, b"again") is False
    assert own.get(mine) == b"mine"
    assert own.keys(f"{workspace}/{name}/") == [mine]
    others = [
        Compartment(workspace, "carl", "personal"),
        Compartment(workspace, f"{name}a", "personal"),
        Compartment(workspace, name[:-1], "personal"),
        Compartment(workspace, name.capitalize(), "personal"),
        Compartment("other", name, "personal"),
    ]
    for compartment in others:
        key = object_key(compartment, "line", ID)
        root.replace(key, b"theirs")
        for step in (
            lambda key=key: own.get(key),
            lambda key=key: own.replace(key, b"mine now"),
            lambda key=key: own.put_if_absent(key + "-new", b"mine now"),
            lambda key=key: own.delete([key]),
            lambda key=key: own.keys(key.rsplit("/", 2)[0] + "/"),
        ):
            with pytest.raises(StorageUnavailable, match="refuses"):
                step()
        assert root.get(key) == b"theirs"
    for prefix in ("", f"{workspace}/"):
        with pytest.raises(StorageUnavailable, match="refuses"):
            own.keys(prefix)
    own.delete([mine])
    assert own.get(mine) is None


def test_the_documented_bucket_policy_gives_an_owner_its_own_prefix_alone(seaweed, policy):
    with_policy = documented_policy()
    assert f"{BUCKET}/prefix/default/ann/*" in json.dumps(with_policy)
    confined(seaweed, "prefix", "default", "ann")


def test_without_the_policy_the_owner_reaches_nothing(seaweed):
    own = store(seaweed, "prefix", "ann")
    with pytest.raises(StorageUnavailable, match="refuses"):
        own.get(object_key(Compartment("default", "ann", "personal"), "line", ID))


def test_a_static_identity_of_seaweedfs_with_a_prefix_is_confined_too(seaweed):
    confined(seaweed, "static", "w", "ben")
