"""What `make serve` installs is a part of what development installs, in the same versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEVELOPMENT_ONLY = {"hypothesis", "mypy", "onnx", "openai", "playwright", "pytest", "ruff", "schemathesis"}


def pins(lock: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", (ROOT / lock).read_text("utf-8"), re.M):
        found.setdefault(name, set()).add(version)
    return found


def test_a_server_and_development_share_one_version_of_each_package():
    everything = pins("requirements.lock")
    assert {name: everything.get(name) for name in pins("requirements-serve.lock")} == pins(
        "requirements-serve.lock"
    )


def test_a_server_installs_nothing_that_only_development_needs():
    assert not DEVELOPMENT_ONLY & pins("requirements-serve.lock").keys()


def test_a_server_installs_what_serves():
    assert {"starlette", "uvicorn", "onnxruntime", "mcp"} <= pins("requirements-serve.lock").keys()


def test_every_extra_is_pinned_for_development_or_for_an_environment_of_frameworks():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    listed = re.findall(r"^(?:EXTRAS|FRAMEWORKS) := (.*)$", makefile, re.M)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {*" ".join(listed).split(), "crewai"} == set(extras)


def test_development_installs_no_framework():
    frameworks = {"crewai", "google-adk", "langchain-core", "langgraph", "llama-index-core", "openai-agents"}
    assert not frameworks & pins("requirements.lock").keys()
