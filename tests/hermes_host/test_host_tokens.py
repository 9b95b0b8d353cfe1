"""The real host with a narrow token, in a chat of several turns, and behind the chat door."""

from __future__ import annotations

import socket

import httpx

from chat.stage import a_stage
from demo_host import API_KEY
from demo_model import DemoToolCall
from hermes_host.host import a_host, log_of, reconfigure
from processes import PATIENCE_SECONDS
from souvenance.domain.upstream import Upstream
from surfaces.door import serving

TOLD, ASKED = "My trip goes to Chengdu, May 25–29.", "Where does my trip go?"


def test_status_says_how_to_mint_another_for_too_narrow_a_token_and_with_that_the_host_remembers(
    folder, model, tmp_path
):
    with serving(tmp_path / "server") as server:
        narrow = server.mint("ann", ["put", "get"], ["travel"], wid="hermes")
        host = a_host(folder, model, {"baseUrl": server.url, "hosts": {"hermes": {"apiKey": narrow}}})
        wanted = (
            "souvenance cap mint --sub ann --peers hermes --wid hermes"
            " --ops put,get,forget --namespaces travel"
        )
        assert wanted in host.run("souvenance", "status").out
        token = server.mint("ann", ["put", "get", "forget"], ["travel"], wid="hermes", peers=["hermes"])
        reconfigure(host, baseUrl=server.url, hosts={"hermes": {"apiKey": token}})
        host.once(TOLD)
        host.once(ASKED)
        assert "Chengdu" in model.turns()[-1].memory
        status = host.run("souvenance", "status").out
        assert "reads travel, writes to travel" in status
        assert "lacks" not in status


def test_a_new_process_has_the_memory_of_a_server_in_its_first_turn_or_says_that_it_has_none(
    folder, model, tmp_path
):
    with serving(tmp_path / "server") as server:
        block = {"apiKey": server.owner_cap}
        known = {"baseUrl": server.url, "recallWait": PATIENCE_SECONDS, "hosts": {"hermes": block}}
        host = a_host(folder, model, known)
        host.once(TOLD)
        host.once(ASKED)
        assert "Chengdu" in model.turns()[-1].memory
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        reconfigure(host, baseUrl=address, recallWait=0.3, hosts={"hermes": block})
        begun = host.chat(ASKED)
    assert model.turns()[-1].memory == ""
    assert "Memory did not answer within 0.3 s; this turn goes without it." in log_of(host), begun


def test_a_noted_fact_is_told_once_in_a_chat_of_several_turns(folder, model):
    host = a_host(folder, model)
    model.answer("Keep a fact.", DemoToolCall("souvenance_conclude", {"conclusion": "Ann plays the zither."}))
    host.once("Keep a fact.")
    begun = host.chat("Which instrument do I play?")
    for question in ("What was my instrument again?", "And which instrument is mine?"):
        host.chat(question, resume=begun.session)
    whole = model.turns()[-1].text
    assert whole.count("plays the zither") == 1


def test_behind_the_chat_door_each_user_that_a_header_names_has_their_own_memory(folder, model, tmp_path):
    """What Hermes 0.19 itself passes to no memory: `X-Hermes-User-Id`."""
    host = a_host(folder, model, {"enabled": False})
    with host.serving() as served, a_stage(tmp_path / "home", upstreams=(_upstream(served),)) as door:
        cap = door.front()

        def say(user, text):
            answer = httpx.post(
                f"{door.url}/v1/chat/completions",
                json={"model": "m", "messages": [{"role": "user", "content": text}]},
                headers={"authorization": f"Bearer {cap}", "x-hermes-user-id": user},
                timeout=PATIENCE_SECONDS,
                trust_env=False,
            )
            assert answer.status_code == 200, answer.text
            return model.turns()[-1].text

        say("ann", TOLD)
        door.texts(2)
        assert "Chengdu" in say("ann", ASKED)
        assert "Chengdu" not in say("bob", ASKED)


def _upstream(served):
    return Upstream(f"http://127.0.0.1:{served.port}/v1", API_KEY)
