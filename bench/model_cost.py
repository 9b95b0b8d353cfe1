"""What understanding with a model costs: calls and tokens for each person of `bench/people/`.

    python bench/model_cost.py [--scenes DIR] [--url URL --name MODEL]

Every person is stored three times: all sessions at once, message by message with a pause after each session,
and message by message with a pause after each message, which is one call per message. The model is a stand-in
that finds nothing new, so tokens are those of the prompts; `--url` asks a real endpoint instead. Tokens are
what the endpoint says, or else counted here.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from people import SCENES, SETTLE_SECONDS, Asked, Person, people
from souvenance.adapters.word_tables import TokenCounter
from souvenance.config import settings_from
from souvenance.gate.conversation.messages import ADD_MESSAGES, AddMessages, NewMessage
from souvenance.installation import Installation, open_installation

NOTHING = json.dumps({"add": [], "replace": [], "retire": [], "keep": []})
NEVER = str(24 * 3600)
"""A pause that does not come by itself."""
WAYS = ("in bulk", "live, a pause after each session", "live, a pause after each message")


class Meter:
    """Counts what passes, and passes it on if there is somewhere to."""

    def __init__(self, onward: str | None) -> None:
        self._onward = onward
        self._count = TokenCounter().count
        self.counts: Counter[str] = Counter()

    def reply(self, body: bytes) -> bytes:
        asked = json.loads(body)
        answer = self._asked(body) if self._onward else _completion(NOTHING)
        told = json.loads(answer)
        usage = told.get("usage") or {}
        prompt = "\n".join(str(one.get("content") or "") for one in asked["messages"])
        reply = told["choices"][0]["message"].get("content") or ""
        self.counts["calls"] += 1
        self.counts["tokens in"] += usage.get("prompt_tokens") or self._count(prompt)
        self.counts["tokens out"] += usage.get("completion_tokens") or self._count(reply)
        return answer

    def _asked(self, body: bytes) -> bytes:
        request = Request(f"{self._onward}/chat/completions", body, {"content-type": "application/json"})
        with urlopen(request, timeout=600) as answer:
            return bytes(answer.read())


def _completion(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()


@contextmanager
def listening(meter: Meter) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = meter.reply(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def store(installation: Installation, person: Person, way: str) -> None:
    asked = Asked(installation, person, 1200)
    if way == WAYS[0]:
        asked.store()
    for number, (_, said) in enumerate(person.sessions, 1):
        session = f"s{number}"
        for speaker, text in said if way != WAYS[0] else ():
            message = NewMessage(content=text, peer_id=speaker)
            asked.call(
                ADD_MESSAGES,
                AddMessages(workspace_id=person.name, session_id=session, messages=[message]),
            )
            if way == WAYS[2]:
                read_now(installation, person.name, session)
        read_now(installation, person.name, session)


def read_now(installation: Installation, workspace: str, session: str) -> None:
    installation.worker.hurry(workspace, session)
    installation.settle(SETTLE_SECONDS)


def measure(person: Person, way: str, options: argparse.Namespace) -> Counter[str]:
    meter = Meter(options.url)
    with listening(meter) as url, tempfile.TemporaryDirectory() as folder:
        settings = {
            "SOUVENANCE_REQUESTS_PER_MINUTE": "1000000000",
            "SOUVENANCE_EMBEDDER": "none",
            "SOUVENANCE_MODEL_DERIVE_BASE_URL": url,
            "SOUVENANCE_MODEL_NAME": options.name,
            "SOUVENANCE_MODEL_QUIET_SECONDS": NEVER,
        }
        installation = open_installation(settings_from(settings, folder))
        try:
            with installation.working():
                store(installation, person, way)
        finally:
            installation.close()
    return meter.counts


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scenes", type=Path, default=SCENES)
    parser.add_argument("--url")
    parser.add_argument("--name", default="stand-in")
    parser.add_argument("--first", type=int, help="only so many people")
    options = parser.parse_args(arguments)
    found = people(options.scenes)[: options.first]
    messages = sum(len(said) for person in found for _, said in person.sessions)
    sessions = sum(len(person.sessions) for person in found)
    print(f"{len(found)} people, {sessions} sessions, {messages} messages")
    for way in WAYS:
        total: Counter[str] = Counter()
        most = 0
        for person in found:
            counts = measure(person, way, options)
            most = max(most, counts["calls"])
            total += counts
        each = ", ".join(
            f"{total[name] / sessions:8.1f} {name}" for name in ("calls", "tokens in", "tokens out")
        )
        print(f"{way:36} per session {each}; most calls for a person {most}")


if __name__ == "__main__":
    main(sys.argv[1:])
