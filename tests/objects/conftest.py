"""Where objects are kept."""

from __future__ import annotations

from secrets import token_hex

import pytest

from objects.seaweed import BUCKET
from souvenance.adapters.object_stores import open_objects


@pytest.fixture(params=["folder", "bucket"])
def url(request, tmp_path):
    """Where objects are kept: a folder, and a prefix of a real bucket."""
    if request.param == "folder":
        return f"file://{tmp_path}/objects"
    seaweed = request.getfixturevalue("seaweed")
    request.getfixturevalue("credentials")
    return f"s3://{BUCKET}/kept-{token_hex(4)}?endpoint={seaweed.url}"


@pytest.fixture
def objects(url):
    return open_objects(url)
