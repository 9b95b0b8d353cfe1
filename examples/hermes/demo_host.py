"""An unmodified Hermes in a home of its own: for one prompt, for a chat, or as the API server.

Nothing of the caller's environment but the path reaches it, and what it asks of the internet by itself
is refused on this machine. So it needs no authorities of TLS either, which it would read dozens of times.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding

from demo_model import MODEL, DemoModel

sys.path.append(str(Path(__file__).resolve().parents[1] / "story"))

from story import CheckFailed, Ran, expect

PROVIDER = "souvenance"
API_KEY = "only-for-this-server-0123456789"
PATIENCE_SECONDS = 180.0
_NOWHERE = "http://127.0.0.1:9"
_SESSION = re.compile(r"^session_id: (\S+)$", re.MULTILINE)


class Chatted(NamedTuple):
    answer: str
    session: str


class Host:
    """The programs of an environment, and a folder with a user's home, Hermes' home and a project."""

    def __init__(
        self,
        environment: Path,
        folder: Path,
        model: DemoModel,
        recalls: Mapping[str, Any],
        **settings: Mapping[str, Any],
    ) -> None:
        """`recalls` is the content of souvenance.json; settings are added to the host's by section."""
        self.home = folder / "hermes"
        self.user = folder / "user"
        self.project = folder / "project"
        self._programs = environment / "bin"
        self._authority = folder / "authority.pem"
        for made in (self.home, self.user, self.project):
            made.mkdir(parents=True, exist_ok=True)
        (self.home / "config.yaml").write_bytes(msgspec.json.encode(_settings(model, settings)))
        (self.home / "souvenance.json").write_bytes(msgspec.json.encode(recalls))
        self._authority.write_bytes(_authority_of_nobody())
        self.install()

    @property
    def store(self) -> Path:
        """Where the provider keeps its memory unless it is told otherwise."""
        return self.home / "souvenance"

    def install(self) -> None:
        """Place the plugin in every profile of the home."""
        placed = self._run("souvenance", "hermes", "install")
        expect(
            placed.exit_code == 0, f"souvenance hermes install ended with {placed.exit_code}: {placed.err}"
        )

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.pathsep.join((str(self._programs), os.environ.get("PATH", os.defpath))),
            "HOME": str(self.user),
            "HERMES_HOME": str(self.home),
            "HERMES_DISABLE_LAZY_INSTALLS": "1",  # Else each start tries for seconds to install more.
            "HERMES_SKIP_SSL_GUARD": "1",  # Else each turn reads all authorities of TLS, to see that it can.
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "NO_COLOR": "1",
            "PYTHONUTF8": "1",
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), _NOWHERE),
            "NO_PROXY": "127.0.0.1,localhost",
            "SSL_CERT_FILE": str(self._authority),
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(self._programs / "hermes"), *arguments]

    def run(self, *arguments: str) -> Ran:
        """Run a command of the host to its end."""
        return self._run("hermes", *arguments)

    def _run(self, program: str, *arguments: str) -> Ran:
        ended = subprocess.run(
            [self._programs / program, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def once(self, prompt: str) -> str:
        """The answer to a prompt, in a process and a session of its own."""
        ran = self.run("-z", prompt)
        expect(ran.exit_code == 0, f"hermes -z ended with {ran.exit_code}: {ran.err or ran.out}")
        return ran.out.strip()

    def chat(self, prompt: str, *, resume: str | None = None) -> Chatted:
        """The answer to a prompt, in a process of its own and a new session or one to be resumed."""
        resuming = () if resume is None else ("--resume", resume)
        ran = self.run("chat", "-Q", "-q", prompt, *resuming)
        told = _SESSION.search(ran.err + ran.out)
        if ran.exit_code != 0 or told is None:
            raise CheckFailed(f"hermes chat ended with {ran.exit_code}: {ran.err or ran.out}")
        return Chatted(_SESSION.sub("", ran.out).strip(), told[1])

    @contextmanager
    def serving(self) -> Iterator[ApiServer]:
        """The API server in a process of its own, until the end of the block."""
        with socket.socket() as held, open(self.home / "api-server.log", "ab") as log:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            held.bind(("127.0.0.1", 0))  # Nobody else is given the port before the host listens there.
            port: int = held.getsockname()[1]
            process = subprocess.Popen(
                self.command("gateway", "run"),
                cwd=self.project,
                env=self.environment | {"API_SERVER_KEY": API_KEY, "API_SERVER_PORT": str(port)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
            server = ApiServer(process, port)
            try:
                server.wait_until_ready()
                yield server
            finally:
                server.stop()


class ApiServer:
    """A running API server of the host."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port

    def ask(self, prompt: str, *, key: str | None, session: str | None = None) -> str:
        """The answer to a prompt; the key names who speaks."""
        named = {"X-Hermes-Session-Key": key, "X-Hermes-Session-Id": session}
        answer = self.request(
            "POST",
            "/v1/chat/completions",
            {"model": MODEL, "messages": [{"role": "user", "content": prompt}]},
            **{name: value for name, value in named.items() if value is not None},
        )
        told: str = answer["choices"][0]["message"]["content"]
        return told

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """What a request that succeeds is answered with."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)) as connection:
            content = None if body is None else msgspec.json.encode(body)
            known = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}
            connection.request(method, path, content, known | headers)
            answer = connection.getresponse()
            told = answer.read()
        expect(answer.status < 300, f"{method} {path} was answered {answer.status}: {told[:300]!r}")
        return msgspec.json.decode(told)

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.request("GET", "/health")
            except (OSError, HTTPException):
                time.sleep(0.05)
            else:
                return
        raise CheckFailed("the host's API server did not start")

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()


_PROMPT = "❯"
_CLEAR = "\x05\x15"
"""To the end of the line, and delete up to there."""
_ENTER = "\r"
_ROWS, _COLUMNS = 50, 200
_STYLE = re.compile(r"\x1b\[[0-9;?<>]*[a-zA-Z]")


class DemoTerminal:
    def __init__(self, process: subprocess.Popen[bytes], side: int) -> None:
        self._process = process
        self._side = side
        self._written = b""
        self._seen = 0

    @property
    def text(self) -> str:
        """What it wrote so far, without colours and movements."""
        return _STYLE.sub("", self._written.decode(errors="replace"))

    def type(self, *lines: str) -> None:
        """Type lines. The host takes each when it is done with the one before."""
        for line in lines:
            os.write(self._side, f"{_CLEAR}{line}{_ENTER}".encode())

    def see(self, text: str) -> None:
        """Wait until it writes the text after what was seen before."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := self.text.find(text, self._seen)) < 0:
            if time.monotonic() > deadline or not self._read():
                raise CheckFailed(f"the host did not write {text!r}, but: {self.text[self._seen :][-500:]}")
        self._seen = found + len(text)

    def leave(self) -> str:
        """Quit, and wait for the end; everything that it wrote."""
        self.type("/quit")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and self._read():
            pass
        if self._process.wait(PATIENCE_SECONDS) != 0:
            raise CheckFailed(f"the host ended with {self._process.returncode}: {self.text[-500:]}")
        return self.text

    def _read(self) -> bool:
        """Take what there is to read; False after the end."""
        if select.select([self._side], [], [], 0.1)[0]:
            try:
                more = os.read(self._side, 65536)
            except OSError:
                return False
            self._written += more
            return bool(more)
        return True


@contextmanager
def a_terminal(host: Host, *arguments: str) -> Iterator[DemoTerminal]:
    """The host's chat, ready for the first line, until the end of the block."""
    ours, its = pty.openpty()
    _prepare_terminal(its)
    process = subprocess.Popen(
        host.command("chat", *arguments),
        cwd=host.project,
        env=host.environment,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    try:
        terminal = DemoTerminal(process, ours)
        terminal.see(_PROMPT)
        yield terminal
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(PATIENCE_SECONDS)
        os.close(ours)


def _prepare_terminal(side: int) -> None:
    """Give it a size, and leave the key that clears a line to the host, whatever the host is doing."""
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    attributes = termios.tcgetattr(side)
    attributes[-1][termios.VKILL] = bytes([os.fpathconf(side, "PC_VDISABLE")])
    termios.tcsetattr(side, termios.TCSANOW, attributes)


def _settings(model: DemoModel, more: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    known: dict[str, Mapping[str, Any]] = {
        "model": {
            "default": MODEL,
            "provider": "custom",
            "base_url": model.url,
            "api_key": "not-needed",
            "context_length": 131072,
            "ollama_num_ctx": 0,  # Else each turn asks whether it is Ollama that answers.
        },
        "memory": {"provider": PROVIDER, "memory_enabled": True, "user_profile_enabled": True},
        "security": {"tirith_enabled": False},
        "display": {"busy_input_mode": "queue"},
        "approvals": {"destructive_slash_confirm": False},
        "plugins": {"disabled": ["dashboard_auth/basic"]},  # Else each start takes long to hash a password.
        "agent": {"environment_probe": False},  # Else each start runs six programs for a line of the prompt.
    }
    return {name: {**known.get(name, {}), **more.get(name, {})} for name in (*known, *more)}


def _authority_of_nobody() -> bytes:
    """A certificate of an authority that has signed nothing."""
    key, now = Ed25519PrivateKey.generate(), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "nobody")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    return made.sign(key, None).public_bytes(Encoding.PEM)
