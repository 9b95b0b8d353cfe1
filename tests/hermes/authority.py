"""A server that signs people in as a test tells it to, and notes what it was asked."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

TOKEN = {
    "access_token": "hch-at-1",
    "refresh_token": "hch-rt-1",
    "token_type": "Bearer",
    "expires_in": 3600,
    "scope": "write",
    "config": {"peerName": "alice", "workspace": "home"},
}


class Authority:
    """Runs from its making to `close`. Each path has answers, one after the other; the last one stays."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str]]] = []
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer({})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self._answer(dict(parse_qsl(body.decode())))

            def _answer(self, form: dict[str, str]) -> None:
                authority.asked.append((self.path, form))
                waiting = authority.answers.get(self.path) or [(404, {"detail": "Not Found"})]
                status, content = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                if status == 0:
                    self.close_connection = True
                    return
                body = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.answers: dict[str, list[tuple[int, Any]]] = {
            "/.well-known/oauth-authorization-server": [(200, self.metadata())],
            "/oauth/token": [(200, TOKEN)],
            "/oauth/revoke": [(200, {})],
        }
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def metadata(self, **changed: Any) -> dict[str, Any]:
        told = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/oauth/token",
            "device_authorization_endpoint": f"{self.url}/oauth/device",
            "revocation_endpoint": f"{self.url}/oauth/revoke",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            **changed,
        }
        return {name: value for name, value in told.items() if value is not None}

    def says(self, path: str, *answers: tuple[int, Any]) -> None:
        self.answers[path] = list(answers)

    def describes(self, **changed: Any) -> None:
        self.says("/.well-known/oauth-authorization-server", (200, self.metadata(**changed)))

    def forms(self, path: str) -> list[dict[str, str]]:
        return [form for asked, form in self.asked if asked == path]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
