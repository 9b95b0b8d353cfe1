"""Fixtures that more than one part of the suite uses, and where the run keeps its stores."""

from __future__ import annotations

import os
import time
from asyncio import AbstractEventLoop
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from objects.seaweed import ROOT, Seaweed
from souvenance.adapters.embed.local import packaged

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest.register_assert_rewrite("contracts")
pytest_plugins = ["pace"]
STORES = ("postgres", "postgres+s3")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--store", choices=STORES, help="keep every store of the tests there instead of in files"
    )


def pytest_configure(config: pytest.Config) -> None:
    os.environ["TZ"] = "UTC"
    time.tzset()
    config.addinivalue_line(
        "markers", "embedded(reason): about the store in a file, and so not for runs with --store"
    )
    if kind := config.getoption("--store"):
        from postgres.everywhere import Plugin

        config.pluginmanager.register(Plugin(kind))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder that does not exist yet."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of a run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def quick_hermes(run_folder: Path) -> Iterator[Path]:
    """The environment of Hermes with programs that start fast. Hosts of the tests have them from there."""
    from hermes_host import host, quick_host

    with (
        quick_host.quick_environment(run_folder / "quick-hermes", host.ENVIRONMENT) as environment,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(host, "programs_from", environment)
        yield environment


@pytest.fixture(scope="session")
def chromium_of_the_run() -> Iterator[tuple[AbstractEventLoop, Browser]]:
    """A browser for all files of a test process: to start one, and to let it get used to our pages, takes as
    long as looking at five. Each test has windows of its own, which know nothing of another's.
    """
    from browser.chromium import chromium, unseen

    with chromium() as browser, unseen() as loop:
        yield loop, browser


@pytest.fixture(scope="module")
def browser(chromium_of_the_run: tuple[AbstractEventLoop, Browser]) -> Iterator[Browser]:
    from browser.chromium import seen

    with seen(*chromium_of_the_run) as browser:
        yield browser


@pytest.fixture(scope="module")
def vectors() -> Iterator[None]:
    """The packaged embedder makes one vector of each text for all tests of a file that tell the same lines:
    to make them is most of what such a test takes.
    """
    network = packaged()._loaded()
    network.vector = cache(network.vector)
    yield
    del network.vector


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    """A server of S3 for the whole run of a test process."""
    server = Seaweed(tmp_path_factory.mktemp("seaweed"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The right to everything on that server, in the standard environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ROOT[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", ROOT[1])
