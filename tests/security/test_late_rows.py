"""While the store is out of reach the chat door refuses, or passes on without memory if it was told to.

Either way the verdict is durable before the answer leaves, and becomes a row of the log, once.
"""

from __future__ import annotations

import json
import shutil
import stat
import time
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chat.stage import CREDENTIALS, a_stage, asked
from processes import until
from souvenance.adapters.data_folder import LATE_FILE as FILE
from souvenance.adapters.data_folder import LateFile
from souvenance.config import settings_from
from souvenance.domain import proof
from souvenance.domain.audit import Event, verify
from souvenance.domain.capability import Confirmation, HolderKey
from souvenance.domain.proof import Bound
from souvenance.domain.upstream import PASS_WITHOUT_MEMORY
from souvenance.errors import StorageUnavailable
from souvenance.gate import messages as m
from souvenance.gate import operations as o
from souvenance.gate.token_verifier import Credentials
from souvenance.installation import open_installation
from souvenance.ports.store import LateRow

TOLD = "x-souvenance-memory"
SECRET = "I am allergic to plums."


@pytest.fixture
def refusing(home):
    with a_stage(home) as found:
        yield found


@pytest.fixture
def passing(home):
    with a_stage(home, when_store_is_down=PASS_WITHOUT_MEMORY) as found:
        yield found


def code(answer):
    return answer.status_code, answer.json()["error"]["code"]


@contextmanager
def another(home):
    """Another process on the data folder, as far as the folder can tell."""
    installation = open_installation(settings_from({"SOUVENANCE_EMBEDDER": "none"}, str(home)))
    try:
        yield installation
    finally:
        installation.close()


def late_rows(home):
    """What the log says late, told by another process on the data folder; the log verifies."""
    with another(home) as installation, installation._store.read() as tx:
        rows = tx.audit.rows("default", 0, 1000)
    verify("default", rows)
    return [(one.event.operation, one.event.outcome) for one in rows if one.event.detail.startswith("late=")]


def test_by_default_a_chat_is_refused_and_its_row_comes_late(refusing, home):
    cap = refusing.mint("ann")
    refusing.installation.close()
    for streamed in (False, True):
        answer = refusing.client(cap).post("/chat/completions", json=asked(SECRET, stream=streamed))
        assert code(answer) == (503, "storage_unavailable")
        assert answer.headers["retry-after"] == "1"
    assert code(refusing.client(cap).get("/models")) == (503, "storage_unavailable")
    assert not refusing.model.asked
    assert late_rows(home) == [("chat", "storage_unavailable")] * 3


def test_if_told_to_it_passes_on_without_memory_whoever_proves_themselves(passing, home):
    caps = {name: show(passing) for name, show in CREDENTIALS.items() if name not in ("nothing", "local")}
    refused = {name: caps.pop(name) for name in ("junk", "ann's own cap, altered")}
    passing.installation.close()
    for cap in caps.values():
        answer = passing.client(cap).post("/chat/completions", json=asked(SECRET))
        assert (answer.status_code, answer.headers[TOLD]) == (200, "store-down")
        assert passing.heard() == SECRET
    for cap in refused.values():
        assert passing.say(cap, "hi").status_code == 401
    assert late_rows(home) == [("chat", "ok")] * len(caps)


def test_what_a_token_does_not_grant_it_does_not_grant_then(passing, home):
    ann, other = passing.mint("ann"), passing.mint("ann", data_class="config")
    limited, silent = passing.mint("ann", sessions=("s",)), passing.mint("ann", ops=("put", "get"))
    brief = passing.mint("ann", ttl_seconds=1)
    passing.installation.close()
    assert code(passing.say(ann, "hi", user="bob")) == (403, "cap_scope_mismatch")
    assert code(passing.say(other, "hi")) == (403, "cap_data_class_mismatch")
    assert code(passing.say(limited, "hi")) == (403, "cap_scope_mismatch")
    assert code(passing.say(silent, "hi")) == (403, "cap_op_mismatch")
    until(lambda: passing.say(brief, "hi").status_code != 200)
    assert code(passing.say(brief, "hi")) == (401, "cap_expired")
    found = late_rows(home)
    for outcome in ("cap_data_class_mismatch", "cap_scope_mismatch", "cap_op_mismatch", "cap_expired"):
        assert ("chat", outcome) in found


def test_a_withdrawal_that_was_seen_holds(passing):
    ann, bob = passing.mint("ann"), passing.mint("bob")
    owner = Credentials(passing.installation.owner_cap)
    passing.installation.gate.call(o.REVOKE, owner, m.Revoke(sub="ann"))
    assert passing.say(bob, "hi").status_code == 200
    passing.installation.close()
    assert code(passing.say(ann, "hi")) == (401, "cap_revoked")
    assert passing.say(bob, "hi").status_code == 200


def test_a_withdrawal_of_this_process_holds_though_nobody_asked_anything_since(passing):
    ann, owner = passing.mint("ann"), Credentials(passing.installation.owner_cap)
    assert passing.say(ann, "hi").status_code == 200
    passing.installation.gate.call(o.REVOKE, owner, m.Revoke(sub="ann"))
    passing.installation.close()
    assert code(passing.say(ann, "hi")) == (401, "cap_revoked")


@pytest.mark.parametrize("through", ["*", "elsewhere"])
def test_a_withdrawal_holds_through_whichever_workspace_it_was_seen(passing, home, through):
    ann, bob, carol = passing.mint("ann"), passing.mint("bob"), passing.mint("carol", wid=through)
    assert passing.say(ann, "hi").status_code == 200
    with another(home) as other:
        other.gate.call(o.REVOKE, Credentials(other.owner_cap), m.Revoke(sub="ann"))
    passing.installation.gate.call(o.WHOAMI, Credentials(carol), m.Nothing())
    passing.installation.close()
    assert code(passing.say(ann, "hi")) == (401, "cap_revoked")
    assert passing.say(bob, "hi").status_code == 200


def test_a_bound_token_needs_a_proof_that_is_taken_once(passing):
    key = Ed25519PrivateKey.generate()
    cap = passing.mint("ann", cnf=Confirmation(HolderKey.of(key.public_key())))
    passing.installation.close()
    body = json.dumps(asked("I like tea.")).encode()
    shown = proof.make(
        cap, Bound("POST", "/v1/chat/completions", body), key=key, jti="one", now=int(time.time())
    )
    client = passing.client(cap)
    statuses = [
        client.post("/chat/completions", content=body, headers=headers).status_code
        for headers in ({}, {"dpop": shown}, {"dpop": shown})
    ]
    assert statuses == [401, 200, 401]


@pytest.mark.parametrize("spoilt", ["folder", "link"])
def test_without_a_durable_row_nothing_is_passed_on(passing, home, spoilt):
    cap = passing.mint("ann")
    passing.installation.close()
    if spoilt == "folder":
        (home / FILE).mkdir()
    else:
        (home / FILE).symlink_to(home / "elsewhere")
    assert code(passing.say(cap, "hi")) == (503, "storage_unavailable")
    assert not passing.model.asked


def test_the_file_is_its_owner_s_alone_and_holds_no_text_and_no_token(passing, home):
    cap = passing.mint("ann")
    passing.installation.close()
    assert passing.say(cap, SECRET).status_code == 200
    assert stat.S_IMODE((home / FILE).stat().st_mode) == 0o600
    kept = (home / FILE).read_text()
    assert "plums" not in kept
    assert cap.split("~")[-1] not in kept


def test_a_row_is_appended_once_even_if_its_process_was_killed_before_the_file_was_gone(passing, home):
    cap = passing.mint("ann")
    passing.installation.close()
    passing.say(cap, "hi")
    shutil.copy(home / FILE, home / "kept")
    assert late_rows(home) == [("chat", "ok")]
    assert not (home / FILE).exists()
    shutil.move(home / "kept", home / FILE)
    with (home / FILE).open("ab") as file:
        file.write(b'\n{"id":"01JD7Y8Q2W3E4R5T6Y7V8J9')  # What a killed process left of another.
    assert late_rows(home) == [("chat", "ok")]
    assert not (home / FILE).exists()


@pytest.mark.parametrize("which", ["the same", "another that runs already"])
def test_a_process_appends_it_with_a_request_that_follows(home, which):
    with another(home) as first, another(home) as second:
        owner = Credentials(first.owner_cap)
        with pytest.raises(StorageUnavailable):
            first.gate.judge_late(o.CHAT, owner, m.Nothing(), StorageUnavailable("gone"), grants=False)
        gate = first.gate if which == "the same" else second.gate
        gate.call(o.WHOAMI, owner, m.Nothing())
        if gate is second.gate:
            until(lambda: gate.call(o.WHOAMI, owner, m.Nothing()) and not (home / FILE).exists())
        found = gate.call(o.AUDIT, owner, m.AuditList(limit=1000)).rows
        assert [row.outcome for row in found if row.detail.startswith("late=")] == ["storage_unavailable"]
        assert not (home / FILE).exists()


def test_a_row_that_was_added_while_others_are_handed_over_is_not_lost(home):
    home.mkdir()
    event = Event(at=1, actor="ann", cap="cap", operation="chat", outcome="ok")
    one, other = LateFile(home), LateFile(home)
    one.add(LateRow("1", "default", event))
    found = []
    one.drain(found.extend)
    other.add(LateRow("2", "default", event))
    other.drain(found.extend)
    assert [row.id for row in found] == ["1", "2"]
