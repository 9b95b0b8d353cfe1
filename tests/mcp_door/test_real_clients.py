"""Claude Code and Gemini CLI, from npm: what `souvenance mcp` prints or writes is what they understand."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from processes import PATIENCE_SECONDS
from surfaces.door import souvenance

INSTALLED = Path(__file__).resolve().parents[2] / ".environments" / "mcp-clients"
NOWHERE = "http://127.0.0.1:9"
"""They need nothing of any network for this, and get none."""


@pytest.fixture
def client(tmp_path):
    assert (INSTALLED / ".ready").exists(), "the clients are not set up: run `make clients`"
    settings = {
        "HOME": str(tmp_path),
        "PATH": os.environ["PATH"],
        "HTTPS_PROXY": NOWHERE,
        "HTTP_PROXY": NOWHERE,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "MCP_TIMEOUT": str(1000 * PATIENCE_SECONDS),
    }

    def ask(program, *words):
        ran = subprocess.run(
            ["node", INSTALLED / "node_modules" / program, *words],
            cwd=tmp_path,
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert ran.returncode == 0, ran.stdout
        return ran.stdout

    return ask


def listed(told):
    """What a client says of the server: the command that it starts, and how that went."""
    [line] = [line for line in told.splitlines() if "souvenance: " in line]
    return line.partition("souvenance: ")[2]


def test_claude_code_takes_the_command_that_is_printed_and_reaches_the_memory(client, home):
    claude = "@anthropic-ai/claude-code/cli-wrapper.cjs"
    souvenance("init", home=home)
    _, *words = shlex.split(souvenance("mcp", "--print-config", "claude-code", home=home).out)
    client(claude, *words)
    assert re.fullmatch(
        rf"\S+ -m souvenance mcp --home {home} - \S+ Connected", listed(client(claude, "mcp", "list"))
    )


def test_gemini_cli_reads_the_file_that_is_written(client, home, tmp_path):
    """A busy machine needs more than its five seconds for a server: whether it answered is not asked."""
    file = tmp_path / ".gemini/settings.json"
    file.parent.mkdir()
    file.write_text('{\n  // Mine.\n  "ui": {"theme": "Default"}\n}\n')
    souvenance("mcp", "--write-config", "gemini-cli", "--file", str(file), "--yes", home=home)
    told = listed(client("@google/gemini-cli/bundle/gemini.js", "mcp", "list"))
    assert f" -m souvenance mcp --home {home} (stdio)" in told
