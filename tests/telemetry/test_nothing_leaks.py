"""What can be seen from outside holds nothing of what was said, of who said it, and no key."""

from __future__ import annotations

import httpx
import msgspec
import pytest

from model.stand_in import a_stand_in
from processes import PATIENCE_SECONDS
from surfaces.door import serving
from telemetry.busy import MODEL_KEY, secrets_of

FIELDS = {
    "time", "level", "event", "request_id", "door", "operation", "status", "milliseconds", "error",
    "logger", "text", "frames",
}  # fmt: skip


def lived(home, model, log):
    """A whole session; its secrets, what the metrics tell of it, and everything that the server wrote."""
    settings = {
        "SOUVENANCE_LOG": log,
        "SOUVENANCE_METRICS": "1",
        "SOUVENANCE_CHAT_BASE_URL": model.url,
        "SOUVENANCE_CHAT_API_KEY": MODEL_KEY,
        "SOUVENANCE_MODEL_ANSWER_BASE_URL": model.url,
        "SOUVENANCE_MODEL_NAME": "m",
    }
    with serving(home, **settings) as server:
        secrets = secrets_of(server, model)
        metrics = httpx.get(f"{server.url}/metrics", trust_env=False, timeout=PATIENCE_SECONDS).text
        stopped = server.stop()
    return secrets, metrics, stopped.out + stopped.err


@pytest.mark.parametrize("log", ["json", "requests", "text", "off"])
def test_neither_the_log_nor_the_metrics_of_a_busy_session_hold_a_word_a_name_or_a_key_of_it(home, log):
    with a_stand_in() as model:
        secrets, metrics, written = lived(home, model, log)
    for secret in secrets:
        assert secret, secrets
        assert secret not in written, (secret, written)
        assert secret not in metrics, secret
    if log == "json":
        told = [msgspec.json.decode(line) for line in written.splitlines()]
        doors = {one.get("door") for one in told if one["event"] == "request"}
        assert doors == {"memory", "honcho", "chat", "signin", "mcp", "none"}
        assert {name for one in told for name in one} <= FIELDS
        assert all(one["request_id"] for one in told if one["event"] == "request")
        assert {one.get("error") for one in told} >= {"namespace_denied", "cap_op_mismatch", "not_found"}
    elif log in ("text", "requests"):
        assert written.splitlines()[-1] == "Souvenance stopped."
        assert ("door=memory operation=memory.put status=201 " in written) is (log == "requests")
    else:
        assert written == ""
