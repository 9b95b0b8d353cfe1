"""How the whole suite keeps its pace: files in memory, what is loaded stays, what takes long first, laws
without a clock, tests that are compiled once, and no authorities of TLS."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import ssl
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import certifi
import pytest
import starlette.routing
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

from souvenance.adapters import word_tables

_MEMORY = Path("/dev/shm")
_ENOUGH_BYTES = 4 << 30
_SELDOM = (50_000, 20, 50)
_held: list[object] = []
count_frozen = gc.get_freeze_count
"""Counts what is frozen one by one: where all tests are collected a million things, for 66 ms, and Hermes'
memory asks for it at every start."""

_USUAL = 100
settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("suite", settings.get_profile("thorough"), max_examples=25, derandomize=True)
settings.load_profile("suite")
"""Few examples, the same in each run. `--hypothesis-profile=thorough` tries four times as many, new ones."""


def examples(thorough: int) -> int:
    """How many examples a test tries that tries so many in a thorough run."""
    return max(1, thorough * settings().max_examples // _USUAL)


def pytest_configure(config: pytest.Config) -> None:
    """Keep temporary files in memory where it is roomy: a store waits for the disk at every step.

    What a killed process wrote is there as well; the loss of power is nothing that a test can cause.
    """
    config.addinivalue_line("markers", "long: of a file whose many tests take long, and so begin early")
    if "TMPDIR" not in os.environ and _roomy(_MEMORY):
        os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)
    _read_no_public_authorities()
    # Each application has the same ninety paths, and each installation the same table of tokens.
    starlette.routing.compile_path = cache(starlette.routing.compile_path)
    word_tables._TokenTable = cache(word_tables._TokenTable)  # type: ignore[misc]


def _read_no_public_authorities() -> None:
    """Nobody has a certificate of theirs here, and a client reads all of them when it is made: to do that
    takes longer than fifty requests. A file that a test names is read.
    """
    paths, read = ssl.get_default_verify_paths(), ssl.SSLContext.load_verify_locations
    public = {certifi.where(), paths.cafile, paths.openssl_cafile}

    def load(self: ssl.SSLContext, cafile: Any = None, capath: Any = None, cadata: Any = None) -> None:
        if cadata is not None or cafile not in public:
            read(self, cafile, capath, cadata)

    ssl.SSLContext.load_verify_locations = load  # type: ignore[method-assign]
    ssl.SSLContext.load_default_certs = lambda self, purpose=None: None  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Look for garbage neither among what is collected, which all stays, nor while it is, and seldom after:
    tests make many objects and few that only the search finds.
    """
    gc.disable()
    try:
        with _once_the_first_has(session.config):
            return (yield)
    finally:
        gc.enable()
        gc.set_threshold(*_SELDOM)
        gc.freeze()
        gc.get_freeze_count = partial(int, count_frozen())  # type: ignore[assignment]


class _Places(list[str]):
    """The tests that a worker has, and where each is among them without looking through all."""

    @cached_property
    def _places(self) -> dict[str, int]:
        return {test: place for place, test in enumerate(self)}

    def index(self, test: str, *_: Any) -> int:
        return self._places[test]


class _Files(LoadFileScheduling):
    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = _Places(collection)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return _Files(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Have a worker tell of a test that passed what is shown of it: of five messages the two that are.

    `--durations` shows all.
    """
    for plugin in session.config.pluginmanager.get_plugins():
        if hasattr(plugin, "sendevent") and session.config.getoption("durations") is None:
            plugin.sendevent = partial(_tell_unless_nothing_is_shown, plugin.sendevent)


def _tell_unless_nothing_is_shown(send: Callable[..., None], name: str, **told: Any) -> None:
    data = told["data"] if name == "testreport" else {}
    passed_beside = data.get("outcome") == "passed" and data["when"] != "call"
    if name != "logstart" and not passed_beside:
        send(name, **told)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Hold the embedder's network once a test has one: the houses of other tests share it."""
    embedding = sys.modules.get("souvenance.adapters.embed.local")
    if embedding is not None and not _held:
        _held.extend(embedding.loaded.values())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that are marked as long, and go on with those of few tests, which start whole
    programs.

    A worker takes a file at a time, so that a long one at the end would leave the others without work.
    """
    sizes = Counter(item.path for item in items if not item.get_closest_marker("long"))
    places = {path: place for place, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(key=lambda item: (sizes[item.path], places[item.path]))


@contextmanager
def _once_the_first_has(config: pytest.Config) -> Iterator[None]:
    """Of the workers of a run let one go first, and all others at once after it.

    In a fresh checkout it compiles every test with its assertions, which is most of the work of collecting.
    The others find that done; side by side each would do it again.
    """
    if sys.dont_write_bytecode or not hasattr(config, "workerinput"):
        yield
        return
    with Path(__file__).open() as turn:
        try:
            fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(turn, fcntl.LOCK_SH)
        yield


def _roomy(folder: Path) -> bool:
    if not folder.is_dir() or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return False
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > _ENOUGH_BYTES
