"""The table of ways to begin says what is tested, and how much it takes."""

from __future__ import annotations

import json
import re

import pytest
from examples import ROOT

PAGE = (ROOT / "docs/tutorial/start-here.md").read_text("utf-8")
FRAMEWORKS = (ROOT / "docs/howto/use-with-frameworks.md").read_text("utf-8")
WORDS = {3: "three", 4: "four"}


def cells(beginning):
    """What the page's table says of a client."""
    [row] = [line for line in PAGE.splitlines() if line.startswith(f"| {beginning}")]
    return [cell.strip() for cell in row.strip("|").split(" | ")]


def pinned(lock, distribution):
    return re.search(rf"^{distribution}==(\S+)", (ROOT / lock).read_text("utf-8"), re.M)[1]


def vercel():
    return json.loads((ROOT / "tests/chat/vercel_ai/package.json").read_text("utf-8"))["dependencies"]["ai"]


TESTED = {
    "[an OpenAI client]": lambda: f"openai {pinned('requirements.lock', 'openai')}, Vercel AI SDK {vercel()}",
    "[an MCP client]": lambda: f"MCP SDK {pinned('requirements.lock', 'mcp')}",
    "[Hermes Agent]": lambda: f"Hermes {pinned('tests/requirements/hermes-0.19.0.lock', 'hermes-agent')}",
    "[the Honcho SDK]": lambda: (
        "honcho-ai "
        + ", ".join(
            pinned(f"tests/requirements/honcho-{one}.lock", "honcho-ai") for one in ("2.2.0", "2.7.0")
        )
    ),
}


@pytest.mark.parametrize("client", TESTED)
def test_the_table_names_the_versions_that_the_suite_runs(client):
    assert cells(client)[2] == TESTED[client]()


@pytest.mark.parametrize(
    ("client", "section", "prompts", "unit"),
    [
        ("[nothing yet, a terminal]", "A terminal", r"\$", "commands"),
        ("[Python]", "Python", r"(?:>>>|\.\.\.)", "lines"),
    ],
)
def test_the_table_counts_what_the_example_takes(client, section, prompts, unit):
    example = re.search(rf"^## {section}\n\n```\w+\n(.*?)^```", PAGE, re.M | re.S)[1]
    assert cells(client)[1] == f"{WORDS[len(re.findall(rf'^{prompts} ', example, re.M))]} {unit}"


def test_the_table_counts_the_lines_of_the_frameworks():
    counts = [int(count) for count in re.findall(r"^\| \[.*\| (\d+) \| under 1 \|$", FRAMEWORKS, re.M)]
    assert cells("LangGraph")[1] == f"{min(counts)} to {max(counts)} lines"
