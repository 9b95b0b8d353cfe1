"""The unmodified SDK, its oldest supported and its newest release, in both flavours, against a real server.

The scenarios are in `scenarios/`. Each pair of release and flavour walks through all of them in a process of
its own environment (`walk.py`); here every scenario of every walk is one test.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scenarios import FLAVOURS, SCENARIOS

from environments import client_program
from surfaces.door import serving

pytestmark = pytest.mark.long

VERSIONS = ("2.2.0", "2.7.0")
PATIENCE_SECONDS = 300
WALKS = [(version, flavour) for version in VERSIONS for flavour in FLAVOURS]
STEPS = [
    pytest.param(walk, scenario.name, id=f"{'-'.join(walk)}-{scenario.name}")
    for walk in WALKS
    for scenario in SCENARIOS.values()
    if scenario.runs(*walk)
]


class Walked(NamedTuple):
    """How a walk went: each scenario's failure, or None, and what was said of the whole."""

    failures: dict[str, str | None]
    summary: dict[str, Any]


@pytest.fixture(scope="module")
def walks(tmp_path_factory):
    """All walks at once, on one server: every scenario has a workspace of its own."""
    folder = tmp_path_factory.mktemp("honcho")
    with serving(folder / "home") as server:
        running = {walk: start(walk, server.url, server.owner_cap, folder) for walk in WALKS}
        yield {walk: finish(process) for walk, process in running.items()}


def start(walk: tuple[str, str], url: str, key: str, folder: Path) -> subprocess.Popen[str]:
    version, flavour = walk
    quiet = folder / "no-authorities"
    quiet.mkdir(exist_ok=True)
    return subprocess.Popen(
        [client_program(f"honcho-{version}"), Path(__file__).with_name("walk.py"), flavour],
        env={
            "PATH": os.environ["PATH"],
            "SOUVENANCE_TEST_URL": url,
            "SOUVENANCE_TEST_KEY": key,
            "SSL_CERT_DIR": str(
                quiet
            ),  # Reading every authority for each client costs more than its requests.
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> Walked:
    try:
        said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    summary = rows.pop() if process.returncode == 0 else {"ended": said}
    return Walked({row["scenario"]: row["failure"] for row in rows}, summary)


@pytest.mark.parametrize("walk", WALKS, ids="-".join)
def test_every_public_member_of_the_sdk_has_a_scenario(walks, walk):
    summary = walks[walk].summary
    assert summary.keys() == {"version", "public", "missing"}, summary
    assert summary["version"] == walk[0]
    assert summary["public"] > 60
    assert summary["missing"] == []


@pytest.mark.parametrize(("walk", "scenario"), STEPS)
def test_the_sdk_does_what_its_users_expect(walks, walk, scenario):
    walked = walks[walk]
    assert scenario in walked.failures, walked.summary
    assert walked.failures[scenario] is None, walked.failures[scenario]
