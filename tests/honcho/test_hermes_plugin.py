"""An unmodified Hermes with its bundled Honcho plugin, whose base URL is this server's: it remembers."""

from __future__ import annotations

import json

from conversation.world import speaking
from demo_model import LINE, DemoToolCall, a_model
from hermes_host.host import a_host
from processes import until
from surfaces.door import Server, serving

TOLD = "My name is Ann and I live in Lisbon. I am allergic to peanuts."
ASKED = "Please help me to plan a dinner for my friends."


def plain(server: Server) -> dict[str, object]:
    """One URL and who is speaking: what the plugin's users write for a server on their own machine."""
    return {"baseUrl": server.url, "peerName": "ann", "sessionStrategy": "per-session"}


def with_a_key(server: Server) -> dict[str, object]:
    """The same, with a key of the workspace in the host's own block, which the plugin then sends."""
    minted = server.client(server.owner_cap).post("/v3/keys", params={"workspace_id": "hermes"})
    assert minted.status_code == 200, minted.text
    return {**plain(server), "hosts": {"hermes": {"apiKey": minted.json()["key"], "workspace": "hermes"}}}


def test_what_hermes_was_told_on_a_trusted_machine_it_remembers_in_a_new_process_with_a_key(
    tmp_path, quick_hermes
):
    home = tmp_path / "home"
    with a_model() as model:
        hermes = a_host(tmp_path / "hermes", model, memory={"provider": "honcho"})
        configuration = hermes.home / "honcho.json"
        with serving(home, "--trust-loopback") as server:
            configuration.write_text(json.dumps(plain(server)))
            assert hermes.once(TOLD) == LINE
            assert all("Lisbon" in asked.said for asked in model.turns())
            with speaking(server, "hermes") as owner:
                until(owner.is_served)
        model.answer(ASKED, DemoToolCall("honcho_search", {"query": "peanuts"}))
        with serving(home) as server:
            configuration.write_text(json.dumps(with_a_key(server)))
            assert hermes.once(ASKED) == LINE
    first, last = (asked for asked in model.turns() if ASKED in asked.said)
    assert "Lisbon" in first.memory
    assert "peanuts" in first.memory
    assert "allergic to peanuts" in last.results[0]
