"""The tests in several processes, each a fork of the one that collected them.

To load and collect all tests takes seven seconds of a processor, and three times as long in a fresh checkout.
Processes that are started instead, as those of pytest-xdist, each do it again. A process takes a file at a
time, so that what the tests of a file share is made once.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import suppress
from io import UnsupportedOperation
from itertools import groupby
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from tempfile import TemporaryFile

import pytest
from _pytest.capture import MultiCapture

_FOLDER = "process-"
"""How the name of the folder begins that a process has for itself."""
_FORKING = multiprocessing.get_context("fork")
_ENDED = (EOFError, OSError)
"""What a pipe raises whose other end is closed."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("processes")._addoption(
        "-n", dest="processes", type=int, default=0, help="how many processes run the tests; 0: only this one"
    )


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of a run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if own.name.startswith(_FOLDER) else own


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    option = session.config.option
    if not option.processes or option.collectonly or option.usepdb or session.testsfailed:
        return None
    files = [list(tests) for _, tests in groupby(session.items, key=lambda test: test.path)]
    session.config._tmp_path_factory.getbasetemp()
    processes = _started(session, files, min(option.processes, len(files)))
    try:
        _attend(session, processes, iter(range(len(files))))
    finally:
        _end(processes)
    return True


def _started(
    session: pytest.Session, files: list[list[pytest.Item]], count: int
) -> dict[Connection, ForkProcess]:
    processes: dict[Connection, ForkProcess] = {}
    for number in range(count):
        ours, theirs = _FORKING.Pipe()
        process = _FORKING.Process(target=_work, args=(session, files, theirs, [*processes, ours], number))
        process.start()
        theirs.close()
        processes[ours] = process
    return processes


def _attend(session: pytest.Session, processes: dict[Connection, ForkProcess], files: Iterator[int]) -> None:
    """Give each process a file when it asks for one, and tell of its tests as if they ran here."""
    running: dict[Connection, str] = {}
    while processes:
        for wire in wait(list(processes)):
            try:
                message = wire.recv()
                if message is None:
                    wire.send(next(files, None))
            except _ENDED:
                process = processes.pop(wire)
                process.join()
                if process.exitcode:
                    told = f"a process ended with {process.exitcode} at {running.get(wire)}"
                    raise session.Interrupted(told) from None
                continue
            if isinstance(message, str):
                running[wire] = message
            elif message is not None:
                _tell(session, message)


def _tell(session: pytest.Session, reports: list[dict[str, object]]) -> None:
    config = session.config
    for data in reports:
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        config.hook.pytest_runtest_logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=report.nodeid, location=report.location)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def _end(processes: dict[Connection, ForkProcess]) -> None:
    """Let each process end the test that it runs, and stop the servers that it started."""
    for wire in processes:
        with suppress(*_ENDED):
            wire.send(None)
    for wire, process in processes.items():
        with suppress(*_ENDED):
            while True:
                wire.recv()
        process.join()


def _work(
    session: pytest.Session,
    files: list[list[pytest.Item]],
    wire: Connection,
    others: list[Connection],
    number: int,
) -> None:
    """Run the tests of a file after another, in a folder of this process and with its own capture."""
    for other in others:
        other.close()
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Reports(session.config, wire))
    _capture_apart(plugins.getplugin("capturemanager")._global_capturing)
    folders = session.config._tmp_path_factory
    folders._basetemp /= f"{_FOLDER}{number}"
    folders._basetemp.mkdir()
    tests = _given(files, wire)
    test = next(tests, None)
    try:
        while test is not None:
            following = None if wire.poll() else next(tests, None)
            session.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            test = following
    finally:
        session._setupstate.teardown_exact(None)


def _capture_apart(capturing: MultiCapture[str]) -> None:
    """Capture into files of this process. The streams stay: modules may keep them from their loading."""
    for stream in filter(None, (capturing.out, capturing.err)):
        with suppress(UnsupportedOperation), TemporaryFile() as own:
            os.dup2(own.fileno(), stream.tmpfile.fileno(), inheritable=False)


def _given(files: list[list[pytest.Item]], wire: Connection) -> Iterator[pytest.Item]:
    while True:
        wire.send(None)
        if (place := wire.recv()) is None:
            return
        yield from files[place]


class _Reports:
    """Sends each test's name when it begins, and at its end what is shown of it: the report of its call,
    and of what failed. `--durations` shows all.
    """

    def __init__(self, config: pytest.Config, wire: Connection) -> None:
        self._config = config
        self._wire = wire
        self._all = config.getoption("durations") is not None
        self._made: list[dict[str, object]] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._wire.send(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and report.when != "call" and not self._all:
            return
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._made.append(data)

    def pytest_runtest_logfinish(self) -> None:
        self._wire.send(self._made)
        self._made = []
