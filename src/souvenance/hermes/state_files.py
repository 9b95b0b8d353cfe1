"""Small files by which the processes of one profile share state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec

from souvenance.decoders import decodable, settled
from souvenance.files import locked, move
from souvenance.hermes.backend_health import BackendHealth
from souvenance.hermes.delivery import HeardMessages, Transcript

_HEALTH = "health.json"
DELAY = "delay.txt"
"""Says why what is to be written waits."""
MODEL_TROUBLE = "model-trouble.txt"
"""Says why the model did not answer."""
_MOST_KEPT = 5_000
_SALT_BYTES = 16


class StateFiles:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(self, health: BackendHealth) -> None:
        """Note the state of the backend."""
        self.note_trouble(_HEALTH, msgspec.json.encode(health).decode())

    def health(self) -> BackendHealth | None:
        """The state of the backend when it last changed; None if it never failed."""
        return decodable(self.trouble(_HEALTH), BackendHealth)

    def note_trouble(self, name: str, told: str) -> None:
        """Note what goes wrong in the file of that name, if it can be written. An empty text removes it."""
        try:
            if told:
                self._write(self._folder / name, told.encode(errors="replace"))
            else:
                (self._folder / name).unlink(missing_ok=True)
        except OSError:
            return

    def trouble(self, name: str) -> str:
        """What went wrong when it was last tried; empty if nothing did."""
        try:
            return (self._folder / name).read_text(errors="replace")
        except OSError:
            return ""

    @contextmanager
    def once(self, *key: str) -> Iterator[bool]:
        """True until the block was completed once with that key, in any process."""
        self._make(self._folder)
        with locked(self._folder, name="done.lock"):
            done = self.was(*key)
            yield not done
            if not done:
                self._write(self._folder / _done(key), b"")

    def was(self, *key: str) -> bool:
        return (self._folder / _done(key)).exists()

    def title(self, session_id: str) -> str | None:
        """The title that a session of the host began with, empty for none; None if it is not known."""
        try:
            return self._titled(session_id).read_text(errors="replace")
        except OSError:
            return None

    def keep_title(self, session_id: str, title: str) -> None:
        """Note the title with which a session began; the notes of the oldest sessions go."""
        self._keep(self._titled(session_id), title.encode(errors="replace"))

    def _titled(self, session_id: str) -> Path:
        return self._folder / "titles" / sha256(session_id.encode(errors="surrogatepass")).hexdigest()[:32]

    def transcript(self, *conversation: str) -> Transcript:
        try:
            heard = msgspec.json.decode(
                self._transcribed(conversation).read_bytes(), type=settled(HeardMessages)
            )
        except (OSError, msgspec.MsgspecError):
            heard = HeardMessages(os.urandom(_SALT_BYTES))
        return Transcript(heard)

    def keep_transcript(self, heard: HeardMessages, *conversation: str) -> None:
        """Note what was heard of a conversation; the notes of the oldest go."""
        self._keep(self._transcribed(conversation), msgspec.json.encode(heard))

    def _transcribed(self, conversation: tuple[str, ...]) -> Path:
        return self._folder / "transcripts" / sha256(msgspec.json.encode(conversation)).hexdigest()[:32]

    def _keep(self, path: Path, content: bytes) -> None:
        try:
            new = not path.exists()
            self._write(path, content)
            kept = list(os.scandir(path.parent)) if new else []
            if len(kept) > _MOST_KEPT:
                kept.sort(key=lambda entry: entry.stat().st_mtime_ns)
                for entry in kept[: _MOST_KEPT // 10]:
                    os.unlink(entry)
        except OSError:
            return

    def _make(self, folder: Path) -> None:
        """Private, and so is the folder above it, which is the store's too."""
        for one in (self._folder, folder):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _write(self, path: Path, content: bytes) -> None:
        self._make(path.parent)
        part = path.with_name(f".{path.name}.{os.getpid()}")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
        move(part, path)


def _done(key: tuple[str, ...]) -> str:
    return f"done-{sha256(msgspec.json.encode(key)).hexdigest()[:32]}"
