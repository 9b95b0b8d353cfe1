"""The chat door of a real `souvenance serve`."""

from __future__ import annotations

import httpx

from chat.stage import asked
from model.stand_in import a_stand_in
from surfaces.door import PATIENCE_SECONDS, serving


def said_hi(server):
    headers = {"authorization": f"Bearer {server.owner_cap}"}
    where = f"{server.url}/v1/chat/completions"
    return httpx.post(where, json=asked("hi"), headers=headers, timeout=PATIENCE_SECONDS)


def test_a_server_has_the_door_if_an_endpoint_is_configured_and_asks_it_with_the_key_of_a_file(
    home, tmp_path
):
    key = tmp_path / "endpoint.key"
    key.touch(0o600)
    key.write_text("sesame\n")
    with (
        a_stand_in() as model,
        serving(home, SOUVENANCE_CHAT_BASE_URL=model.url, SOUVENANCE_CHAT_API_KEY=f"@{key}") as server,
    ):
        answer = said_hi(server)
        assert answer.json()["choices"][0]["message"]["content"] == "Noted."
        assert model.asked[-1].headers["authorization"] == "Bearer sesame"
        stopped = server.stop()
        told = f"base_url={server.url}/v1. The chat door is on and forwards to {model.url}\n"
        assert told in "".join(server.greeting) + stopped.out
    assert "sesame" not in stopped.out + stopped.err


def test_a_server_without_an_endpoint_has_no_such_door(home):
    with serving(home) as server:
        assert said_hi(server).status_code == 404
