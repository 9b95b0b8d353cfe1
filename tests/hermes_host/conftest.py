"""The model that every host of a module talks to, and one API server for each module that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_host import ApiServer, Host
from demo_model import DemoModel, a_model
from hermes_host.host import ODD, Store, a_host, stored


@pytest.fixture(scope="session", autouse=True)
def quick(quick_hermes: Path) -> None:
    """All hosts start fast."""


@pytest.fixture(scope="module")
def model() -> Iterator[DemoModel]:
    with a_model() as model:
        yield model


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, model: DemoModel) -> Host:
    """One host for the module."""
    return a_host(tmp_path_factory.mktemp("host"), model)


@pytest.fixture(scope="module")
def server(host: Host) -> Iterator[ApiServer]:
    """The host's API server."""
    with host.serving() as server:
        yield server


@pytest.fixture
def store(host: Host) -> Iterator[Store]:
    with stored(host.store) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a test makes hosts of its own."""
    return tmp_path / ODD
