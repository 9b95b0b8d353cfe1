"""Memory in agent frameworks: each with the framework itself, in an environment of its own.

The scenarios are in `scenarios/`, the programs in the page about frameworks. All those of an environment are
played in one process of it (`play.py`); here each is one test.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.examples import ROOT, matches
from environments import client_program
from integrations.play import programs
from integrations.responses_model import responses_model
from surfaces.door import serving

pytestmark = pytest.mark.long

PAGE = ROOT / "docs/howto/use-with-frameworks.md"
SCENARIOS = Path(__file__).with_name("scenarios")
PATIENCE_SECONDS = 300
PLACES = ("folder", "server")
EXTRAS = {
    "langgraph": "langgraph",
    "langchain": "langchain",
    "openai_agents": "openai-agents",
    "llama_index": "llama-index",
    "google_adk": "google-adk",
    "pydantic_ai": "pydantic-ai",
    "crewai": "crewai",
}
"""By the name of the module, in the order of the page."""
ENVIRONMENTS = {"frameworks": [one for one in EXTRAS if one != "crewai"], "crewai": ["crewai"]}
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
"""No framework reports to its makers from here."""


def functions(name):
    tree = ast.parse((SCENARIOS / f"{name}.py").read_text("utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [one.name for one in tree.body if isinstance(one, kinds) and one.name[0] != "_"]


STEPS = [
    pytest.param(name, scenario, place, id=f"{name}-{scenario}-{place}")
    for name in EXTRAS
    for scenario in functions(name)
    for place in PLACES
]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """How each scenario and each program went."""
    folder = tmp_path_factory.mktemp("frameworks")
    with serving(folder / "server") as server, responses_model() as model:
        running = [start(environment, server, model, folder / environment) for environment in ENVIRONMENTS]
        return {key: row for process in running for key, row in finish(process)}


def start(environment, server, model, folder):
    folder.mkdir()
    asked = (server.url, server.owner_cap, str(folder), str(PAGE), *ENVIRONMENTS[environment])
    return subprocess.Popen(
        [client_program(environment), Path(__file__).with_name("play.py"), *asked],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT / "src"),
            "TZ": "UTC",
            "OPENAI_BASE_URL": model,
            "OPENAI_API_KEY": "none",
            **QUIET,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    try:
        said, complained = process.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        said, complained = process.communicate()
    assert process.returncode == 0, (said[-2000:], complained[-4000:])
    for row in map(json.loads, said.splitlines()):
        yield (row["framework"], row["scenario"], row["place"]), row


@pytest.mark.parametrize(("name", "scenario", "place"), STEPS)
def test_the_framework_finds_what_it_expects(played, name, scenario, place):
    assert played[name, scenario, place]["failure"] is None, played[name, scenario, place]["failure"]


def section(name):
    """What the page says of a framework: its program, and what that prints."""
    page = PAGE.read_text("utf-8")
    [block] = [block for found, block, _ in programs(page) if found == name]
    return block, re.search(r"^```text\n(.*?)^```$", page[page.index(block) :], re.M | re.S)[1]


@pytest.mark.parametrize("name", EXTRAS)
def test_the_program_of_the_page_recalls_in_a_minute_of_the_processor_what_it_stored(played, name):
    told = played[name, "program", ""]
    assert told["failure"] is None, told["failure"]
    assert matches(section(name)[1], told["printed"], PAGE)
    assert told["seconds"] < 60


@pytest.mark.parametrize(
    ("name", "known"), [("openai_agents", "I live in Lisbon"), ("pydantic_ai", "Ann prefers the window seat")]
)
def test_the_agent_of_the_page_asks_memory_and_is_told(played, name, known):
    told = played[name, "agent", ""]
    assert told["failure"] is None, told["failure"]
    _by_the_program, by_the_agent = re.findall(rf"^.*{known}$", told["printed"], re.M)
    assert by_the_agent.startswith("- 20")


@pytest.mark.parametrize("name", EXTRAS)
def test_without_the_framework_an_error_says_what_to_install(name):
    program = f"""
import souvenance
try:
    import souvenance.integrations.{name}
except souvenance.SouvenanceError as error:
    print(error.code, error.hint)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == f"misconfigured Run: pip install 'souvenance[{EXTRAS[name]}]'\n"
