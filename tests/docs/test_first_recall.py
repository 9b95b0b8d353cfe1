"""Every way to begin leads from an empty folder to a recalled memory; the start page says what it takes."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from docs.examples import ROOT
from docs.first_recall import START, failures, start_of, ways
from environments import client_program
from quick_souvenance import quick_souvenance
from typescript_client.programs import built

pytestmark = pytest.mark.long

HERE = [way for way in ways() if way.page == START]
"""The others are agent frameworks: `tests/integrations` runs their programs."""
PYTHON = {"the-honcho-sdk-for-python": "honcho-2.7.0"}
NODE = {"the-ai-sdk-of-vercel": "vercel-ai", "the-honcho-sdk-for-typescript": "honcho-typescript"}
LOCKS = "".join(
    path.read_text("utf-8")
    for path in (ROOT / "requirements.lock", *(ROOT / "tests/requirements").glob("*.lock"))
)
PACKAGES = {
    name: version
    for folder in ("chat/vercel_ai", "honcho/typescript")
    for name, version in json.loads((ROOT / "tests" / folder / "package.json").read_text("utf-8"))[
        "dependencies"
    ].items()
}


@pytest.fixture(scope="module")
def programs(run_folder):
    with quick_souvenance(run_folder / "quick-ways") as folder:
        yield folder


@pytest.fixture(scope="module")
def typescript_client(tmp_path_factory):
    """A folder in which the client is installed."""
    return built(tmp_path_factory.mktemp("client"), {"main.ts": ""}) / "node_modules"


@pytest.mark.parametrize("way", HERE, ids=lambda way: way.anchor)
def test_the_path_leads_from_an_empty_folder_to_a_recalled_memory(
    way, tmp_path, programs, typescript_client, quick_hermes
):
    with start_of(way, tmp_path / "home", quick_hermes) as (home, settings):
        work = home / "work"
        work.mkdir(parents=True)
        before = [programs]
        if way.anchor == "typescript":
            (work / "node_modules").symlink_to(typescript_client)
        elif way.anchor in NODE:
            modules = ROOT / ".environments" / NODE[way.anchor] / "node_modules"
            assert modules.exists(), "run `make clients`"
            (work / "node_modules").symlink_to(modules)
        elif way.anchor in PYTHON:
            before = [client_program(PYTHON[way.anchor]).parent, programs]
        began = time.monotonic()
        # A busy machine is given time for recall, which a person's own has.
        played = way.walk(home, *before, SOUVENANCE_CHAT_WAIT_MS="20000", **settings)
        assert time.monotonic() - began < 60 * way.minutes
        assert failures(played, home) == []


@pytest.mark.parametrize("way", ways(), ids=lambda way: way.anchor)
def test_the_table_counts_the_lines_of_the_path_and_promises_five_minutes(way):
    assert way.counted == way.lines
    assert way.minutes <= 5


@pytest.mark.parametrize("way", ways(), ids=lambda way: way.anchor)
def test_the_table_names_the_version_that_the_suite_runs(way):
    name, _, version = way.tested.rpartition(" ")
    if name not in ("Python", "Node", "curl"):
        assert PACKAGES.get(name) == version or f"\n{name}=={version} " in LOCKS


def test_a_path_that_prints_something_else_is_noticed(tmp_path, programs):
    [terminal] = [way for way in HERE if way.anchor == "a-terminal"]
    played = terminal.walk(tmp_path, programs)
    assert [command for command, *_ in failures(played, Path("/elsewhere"))][:1] == ["souvenance init"]
    assert re.search("owner.cap", played[0].printed)
