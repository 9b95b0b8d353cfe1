"""Every token that a page of ours mints drives every door, or is told by name what it lacks there."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from docs.minted import Minted, minted
from hermes.stage import Stage
from mcp_door.served import Hosted
from model.stand_in import a_stand_in
from processes import PATIENCE_SECONDS
from running import running
from souvenance.config import settings_from
from souvenance.domain.capability import OPS, Confirmation, HolderKey
from souvenance.domain.names import own_session
from souvenance.domain.upstream import ChatSettings, Upstream
from souvenance.gate import messages as m
from souvenance.gate.operations import MINT
from souvenance.gate.token_verifier import Credentials
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.token import NEEDED
from souvenance.installation import open_installation
from souvenance.surfaces.http.app import make_app
from souvenance.surfaces.http.chat.door import ChatDoor
from souvenance.surfaces.mcp.door import McpDoor

TOKENS = minted()
PUBLIC = "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"
TRIP = "I fly to Chengdu on May 25."
QUESTION = "When do I fly to Chengdu?"
ACCEPTED = "application/json, text/event-stream"
CHATTING = {"chat"} & {*OPS}
"""The right of the chat door, as far as there is one."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with every door."""
    installation = open_installation(
        settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(tmp_path_factory.mktemp("house") / "home"))
    )
    with a_stand_in() as model:
        settings = ChatSettings((Upstream(model.url, "key"),), wait_ms=PATIENCE_SECONDS * 1000)
        doors = [ChatDoor(settings, cap=installation.owner_cap), McpDoor()]
        with installation.working(), running(make_app(installation.gate, doors=doors)) as url:
            made = Hosted(installation, url)
            made.model = model
            yield made
    installation.close()


class Holder:
    """Somebody with the token of a page."""

    def __init__(self, server: Hosted, token: Minted) -> None:
        claims = token.claims
        self.server = server
        self.bound = claims.pop("cnf") is not None
        self.sub, self.data_class = claims["sub"], claims["data_class"]
        self.ops, self.namespaces = {*claims["ops"]}, claims["namespaces_allowed"]
        claims["wid"] = claims["wid"] or f"w-{uuid4().hex[:12]}"
        self.workspace = "default" if claims["wid"] == "*" else claims["wid"]
        asked = m.Mint(
            sub=self.sub,
            ops=claims["ops"],
            namespaces_allowed=claims["namespaces_allowed"],
            data_class=claims["data_class"],
            ttl_seconds=claims["ttl_seconds"],
            wid=claims["wid"],
            cnf=Confirmation(HolderKey(PUBLIC)) if self.bound else None,
            peers=claims["peers"],
            sessions=claims["sessions"],
            via=claims["via"],
        )
        self.token = server.installation.gate.call(
            MINT, Credentials(server.installation.owner_cap), asked
        ).cap

    def lacks(self, *ops: str, namespace: str | None = None) -> set[str]:
        """The codes that may say why what needs these rights is refused; none if it may not be."""
        return {
            *({"cap_pop_invalid"} if self.bound else ()),
            *({"cap_data_class_mismatch"} if self.data_class != "memory" else ()),
            *({"cap_op_mismatch"} if {*ops} - self.ops else ()),
            *({"namespace_denied"} if namespace and not {namespace, "*"} & {*self.namespaces} else ()),
        }

    def post(self, path: str, **body: Any) -> str:
        """'ok', or the code of the refusal, which has a hint."""
        answer = httpx.post(
            f"{self.server.url}{path}",
            json=body,
            headers={"authorization": f"Bearer {self.token}", "accept": ACCEPTED},
            timeout=PATIENCE_SECONDS,
            trust_env=False,
            verify=False,
        )
        if answer.is_success:
            return "ok"
        told = answer.json()
        assert answer.status_code < 500 and told.get("hint", told), told
        return told["error"] if isinstance(told["error"], str) else told["error"]["code"]

    def tool(self, name: str, **arguments: Any) -> str:
        if self.bound or self.data_class != "memory":  # It does not get as far as a tool.
            return self.post("/mcp", jsonrpc="2.0", id=1, method="tools/list")
        (result,) = self.server.calls(self.token, (name, arguments))
        return result.structured_content["error"] if result.is_error else "ok"


@pytest.fixture(params=TOKENS, ids=lambda one: f"{one.page}: {one.line[:60]}")
def holder(request, server):
    return Holder(server, request.param)


def held(outcome: str, lacks: set[str]) -> bool:
    """Whether it worked, or was refused for what the token lacks."""
    return outcome in lacks if lacks else outcome == "ok"


def test_the_pages_mint_tokens():
    assert len(TOKENS) > 8
    assert any("hermes" in one.page for one in TOKENS), "no page says which token Hermes needs"


def test_the_memory_api(holder):
    namespace = "travel" if "*" in holder.namespaces else holder.namespaces[0]
    assert held(holder.post("/v1/memory/put", text=TRIP, namespace=namespace), holder.lacks("put"))
    assert held(holder.post("/v1/memory/get", query=QUESTION), holder.lacks("get"))


def test_the_honcho_door(holder):
    place = f"/v3/workspaces/{holder.workspace}"
    message = {"messages": [{"peer_id": holder.sub, "content": TRIP}]}
    session = own_session("trip", holder.sub)
    wrote = holder.post(f"{place}/sessions/{session}/messages", **message)
    assert held(wrote, holder.lacks("put", namespace="default"))
    if wrote == "ok":
        assert held(holder.post(f"{place}/peers/{holder.sub}/search", query=QUESTION), holder.lacks("get"))


def test_the_chat_door(holder):
    holder.server.model.plays("Noted.")
    outcome = holder.post(
        "/v1/chat/completions", model="parrot-1", messages=[{"role": "user", "content": TRIP}]
    )
    assert held(outcome, holder.lacks(*CHATTING))


def test_the_mcp_door(holder):
    assert held(holder.tool("remember", statements=[TRIP]), holder.lacks("put"))
    assert held(holder.tool("recall", question=QUESTION), holder.lacks("get"))


def test_the_hermes_provider(holder, tmp_path):
    stage = Stage(tmp_path)
    known = {"baseUrl": holder.server.url, "recallWait": 10, "hosts": {"hermes": {"apiKey": holder.token}}}
    (stage.home / "souvenance.json").write_text(json.dumps(known))
    (stage.home / "souvenance.json").chmod(0o600)
    configuration, complaints = read_configuration(stage.home, stage.environment)
    told = "".join(map(str, complaints))
    if holder.bound or holder.data_class != "memory":
        assert not configuration.enabled
        assert "bound to a key" in told or "data class" in told
        return
    assert all(f"'{op}'" in told for op in NEEDED if op not in holder.ops)
    assert ("souvenance cap mint" in told) == bool(complaints)
    stage.tell(stage.provider("s1"), TRIP)
    recalled = "May 25" in stage.recall(stage.provider("s2"), QUESTION)
    stage.close()
    assert recalled == ({"put", "get"} <= holder.ops)
