"""The protocol's own conformance suite, from npm, against /mcp."""

import re
import subprocess
from pathlib import Path

import pytest

from mcp_door.served import hosted

HERE = Path(__file__).with_name("conformance")
SUITE = Path(__file__).resolve().parents[2] / ".environments" / "mcp-conformance"
PROGRAM = SUITE / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
APPLY = {
    "server-initialize": 1,
    "ping": 1,
    "tools-list": 1,
    "resources-list": 1,
    "prompts-list": 1,
    "dns-rebinding-protection": 2,
}
"""The scenarios that apply, and how many checks each makes."""


class Carrying:
    """An application whose every request brings a cap: the suite knows no way to send one."""

    def __init__(self, app):
        self.app = app
        self.cap = ""

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            scope["headers"] = [*scope["headers"], (b"authorization", f"Bearer {self.cap}".encode())]
        await self.app(scope, receive, send)


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    assert (SUITE / ".ready").exists(), "the conformance suite is not set up: run `make clients`"
    carrying = []

    def wrapped(app):
        carrying.append(Carrying(app))
        return carrying[0]

    folder = tmp_path_factory.mktemp("conformance")
    with hosted(folder / "home", wrapped) as server:
        carrying[0].cap = server.wide("anna")
        node = ("node", "--import", HERE / "older_node.mjs", PROGRAM)
        kept = ("--expected-failures", HERE / "does_not_apply.yml", "--output-dir", folder / "out")
        return subprocess.run(
            [*node, "server", "--url", server.mcp, "--suite", "all", *kept],
            capture_output=True,
            text=True,
            timeout=300,
        )


def test_nothing_fails_but_what_does_not_apply(summary):
    assert summary.returncode == 0, summary.stdout + summary.stderr


@pytest.mark.parametrize("scenario", APPLY)
def test_a_scenario_that_applies_passes(summary, scenario):
    assert re.search(rf"✓ {scenario}: {APPLY[scenario]} passed, 0 failed", summary.stdout), summary.stdout


def test_every_scenario_is_one_that_applies_or_is_said_not_to(summary):
    named = set(re.findall(r"^  - (\S+)$", (HERE / "does_not_apply.yml").read_text(), re.M))
    run = set(re.findall(r"=== Running scenario: (\S+) ===", summary.stdout))
    assert run == named | set(APPLY)
    page = Path(__file__).resolve().parents[2] / "docs/reference/mcp.md"
    assert all(f"`{scenario}`" in page.read_text("utf-8") for scenario in run)
