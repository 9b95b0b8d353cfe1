"""An unmodified Hermes with its bundled Honcho plugin, whose base URL is this server's: it remembers."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from conversation.world import speaking
from environments import client_program
from mnemon.surfaces.cli.demo.hermes_model import LINE, Model, ToolCall, a_model
from processes import until
from surfaces.door import Server, serving

PATIENCE_SECONDS = 180
TOLD = "My name is Ann and I live in Lisbon. I am allergic to peanuts."
ASKED = "Please help me to plan a dinner for my friends."


class Hermes:
    """Hermes in a home of its own, one process for each prompt."""

    def __init__(self, home: Path, model: Model, honcho: dict[str, object]) -> None:
        self._home = home
        home.mkdir()
        settings = {
            "model": {
                "default": "parrot",
                "provider": "custom",
                "base_url": model.url,
                "api_key": "not-needed",
                "context_length": 131072,
            },
            "memory": {"provider": "honcho", "memory_enabled": True, "user_profile_enabled": True},
        }
        (home / "config.yaml").write_text(json.dumps(settings))
        (home / "honcho.json").write_text(json.dumps(honcho))

    def ask(self, prompt: str) -> str:
        finished = subprocess.run(
            [client_program("hermes-0.19.0", "hermes"), "-z", prompt],
            cwd=self._home,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self._home),
                "HERMES_HOME": str(self._home),
                "NO_COLOR": "1",
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
        assert finished.returncode == 0, (finished.stdout, finished.stderr)
        return finished.stdout.strip()


def plain(server: Server) -> dict[str, object]:
    """One URL and who is speaking: what the plugin's users write for a server on their own machine."""
    return {"baseUrl": server.url, "peerName": "ann", "sessionStrategy": "per-session"}


def with_a_key(server: Server) -> dict[str, object]:
    """The same, with a key of the workspace in the host's own block, which the plugin then sends."""
    minted = server.client(server.owner_cap).post("/v3/keys", params={"workspace_id": "hermes"})
    assert minted.status_code == 200, minted.text
    return {**plain(server), "hosts": {"hermes": {"apiKey": minted.json()["key"], "workspace": "hermes"}}}


@pytest.mark.parametrize(
    ("configure", "arguments"), [(plain, ["--trust-loopback"]), (with_a_key, [])], ids=["local", "key"]
)
def test_hermes_remembers_in_a_new_process_what_it_was_told_in_another(tmp_path, configure, arguments):
    with serving(tmp_path / "home", *arguments) as server, a_model() as model:
        hermes = Hermes(tmp_path / "hermes", model, configure(server))
        assert hermes.ask(TOLD) == LINE
        assert all("Lisbon" in asked.said for asked in model.turns())
        with speaking(server, "hermes") as owner:
            until(owner.is_served)
        model.answer(ASKED, ToolCall("honcho_search", {"query": "peanuts"}))
        assert hermes.ask(ASKED) == LINE
    first, last = (asked for asked in model.turns() if ASKED in asked.said)
    assert "Lisbon" in first.memory
    assert "peanuts" in first.memory
    assert "allergic to peanuts" in last.results[0]
