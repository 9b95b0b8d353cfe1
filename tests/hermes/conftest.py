"""Where people sign in, and the stages that providers play on."""

from __future__ import annotations

import pytest

from hermes.authority import Authority
from hermes.honcho_fake import Honcho
from hermes.stage import Stage
from hermes.theatre import TIMEOUT, WAIT, Theatre


@pytest.fixture(scope="module", autouse=True)
def quick_vectors(vectors):
    """No test here is about vectors, and most ask the same question often."""


@pytest.fixture
def authority():
    made = Authority()
    yield made
    made.close()


@pytest.fixture
def honcho():
    with Honcho() as made:
        yield made


@pytest.fixture
def theatre(tmp_path, honcho):
    honcho.state("hermes", "ann", "Ann goes to Chengdu on May 25.")
    made = Theatre(tmp_path, baseUrl=honcho.url, timeout=TIMEOUT, recallWait=WAIT)
    yield made
    honcho.awake()
    made.close()


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()
