"""The vectors of questions, and which compartments have lines without one.

An embedder takes a moment to load, and may be out of reach. Nobody waits for it longer than they said, and
meanwhile search is by words.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from hashlib import blake2b
from typing import NamedTuple

from souvenance.domain.names import Compartment
from souvenance.errors import SouvenanceError, Unavailable
from souvenance.pauses import out_of_turn
from souvenance.ports.embedder import Embedder

_MOST_REMEMBERED = 256
_LONGEST_TEXT = 2_000
_COMMITTED_MS = 5_000
"""After this long, a line that was being written is committed."""
_LEAVE_ALONE_SECONDS = 1.0
"""How long background work waits after the embedder is loaded, so that questions that waited go first."""
_SOON_SECONDS = 2.0
"""How long a question waits for vectors of new lines. If that fails, none waits for `_REST_MS`."""
_FEW, _BURST_MS = 4, 50
"""How many lines are embedded as they are written, of lines written within this time of each other."""
_SHORT = 1_000
"""The most characters of a line that is embedded as it is written."""
_REST_MS = 30_000
"""How long an embedder that failed is left alone."""
_FORESEEN = 32
"""How many questions may be embedded ahead at a time."""


class _Touch(NamedTuple):
    """When to look for lines without a vector, and when lines that were being written are committed."""

    due: int
    committed: int


class Meaning:
    """The vectors of one process. Thread-safe. Without an embedder it does nothing."""

    def __init__(
        self,
        embedder: Embedder | None,
        *,
        now: Callable[[], int] = lambda: 0,
        patience: float = 0.0,
        without: str = "none: search is by words alone",
        keeps: bool = True,
        english: bool = False,
    ) -> None:
        """`english` says that the embedder knows English alone. Without an embedder, `without` is its
        description, and `keeps` says whether vectors that one made are kept until there is one again."""
        self.keeps = keeps
        self.english = english
        self.embedder = embedder
        self._without = without
        self._now = now
        self._patience = patience
        self._remembered: OrderedDict[str, bytes] = OrderedDict()
        self._made: OrderedDict[bytes, bytes] = OrderedDict()
        """Vectors of lines that were made for a question, by digest of the text."""
        self._coming: dict[bytes, str] = {}
        """Digests of the texts that are being embedded as they are written."""
        self._written_at = -_BURST_MS
        self._burst = 0
        self._expected: set[str] = set()
        self._foreseeing = ThreadPoolExecutor(_FORESEEN, "souvenance-foresight")
        self._touched: dict[Compartment, _Touch] = {}
        self._lost: dict[Compartment, set[str]] = {}
        self._taken: dict[Compartment, set[str]] = {}
        self._lock = threading.Lock()
        self._answered = threading.Condition(self._lock)
        self._asking = 0
        self.loaded = threading.Event()
        self._ended = threading.Event()
        self._loading: threading.Thread | None = None
        self._rests_until = 0
        self._late_until = 0
        """Until then no question waits for vectors of lines, because the embedder was too slow."""
        self.trouble = ""
        """Why the embedder last failed; empty if it works."""

    @property
    def description(self) -> str:
        """The embedder in one line, for people."""
        return self._without if self.embedder is None else self.embedder.description

    @property
    def space(self) -> str:
        return "" if self.embedder is None else self.embedder.space

    def vector(self, question: str) -> bytes | None:
        """The question's vector; None if there is none, or not in time."""
        embedder = self.embedder
        if embedder is None or not self._ready(embedder):
            return None
        text = question[:_LONGEST_TEXT]
        if text in self._expected:
            with out_of_turn(), self._lock:
                self._answered.wait_for(lambda: text not in self._expected)
        found = self._remembered.get(text)
        return self._kept(embedder, text) if found is None else found

    def expect(self, question: str) -> None:
        """Begin to embed the question. The next call of `vector` finds it done, or waits for it."""
        embedder, text = self.embedder, question[:_LONGEST_TEXT]
        if embedder is None or not self.loaded.is_set():
            return
        with self._lock:
            if self._ended.is_set() or text in self._remembered or text in self._expected:
                return
            if self._begun(self._foresee, embedder, text):
                self._expected.add(text)

    def _foresee(self, embedder: Embedder, text: str) -> None:
        try:
            self._kept(embedder, text)
        finally:
            with self._lock:
                self._expected.discard(text)
                self._answered.notify_all()

    def _kept(self, embedder: Embedder, text: str) -> bytes | None:
        found = self._asked(embedder, text)
        if found is not None:
            with self._lock:
                self._remembered[text] = found
                if len(self._remembered) > _MOST_REMEMBERED:
                    self._remembered.popitem(last=False)
        return found

    def passages(self, embedder: Embedder, texts: Sequence[str]) -> list[bytes]:
        """The vectors of texts; those made for a question are used again. Raises: SouvenanceError."""
        keys = [_digest(text) for text in texts]
        found = {key: self._made.pop(key, None) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        if missing:
            found.update(zip(missing, self._embedded(embedder, list(missing.values())), strict=True))
        return [vector for key in keys if (vector := found[key]) is not None]

    def _embedded(self, embedder: Embedder, texts: list[str]) -> list[bytes]:
        """Raises: SouvenanceError, and at once while the embedder is left alone."""
        if self._now() < self._rests_until:
            raise Unavailable(self.trouble)
        try:
            return embedder.passages(texts)
        except SouvenanceError as error:
            self.failed(error)
            raise

    def written(self, compartment: Compartment, line: str) -> None:
        """Begin to make the vector of a line that is being written, for the next question. Where many lines
        come at once, the worker makes the rest."""
        embedder = self.embedder
        if embedder is None:
            return
        self.touch((compartment,))
        if not self.loaded.is_set() or len(text := as_embedded(compartment.owner, line)) > _SHORT:
            return
        now = self._now()
        with self._lock:
            self._burst = self._burst + 1 if now - self._written_at < _BURST_MS else 1
            self._written_at = now
            if self._burst > _FEW or self._ended.is_set() or now < self._rests_until:
                return
            if self._coming or self._begun(self._make_coming, embedder):
                self._coming[_digest(text)] = text

    def _make_coming(self, embedder: Embedder) -> None:
        while True:
            with self._lock:
                texts = dict(self._coming)
                if not texts or self._ended.is_set():
                    self._coming.clear()
                    self._answered.notify_all()
                    return
            try:
                self._make(embedder, texts)
            finally:
                with self._lock:
                    for key in texts:
                        del self._coming[key]
                    self._answered.notify_all()

    @out_of_turn()
    def soon(self, texts: Sequence[str]) -> list[bytes | None]:
        """The vectors of lines for a question that waits; None for one that is not made in time."""
        keys = [_digest(text) for text in texts]
        embedder, now = self.embedder, self._now()
        if now < max(self._rests_until, self._late_until):
            return [self._made.get(key) for key in keys]
        with self._lock:
            done = self._answered.wait_for(lambda: self._coming.keys().isdisjoint(keys), _SOON_SECONDS)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._made}
        if not done:
            self._late_until = now + _REST_MS
        elif missing and embedder is not None:
            with self._lock:
                making = None if self._ended.is_set() else self._begun(self._make, embedder, missing)
            if making is None:
                return [None] * len(texts)
            if wait([making], _SOON_SECONDS).not_done:
                self._late_until = now + _REST_MS
        return [self._made.get(key) for key in keys]

    def _begun(self, work: Callable[..., None], *given: object) -> Future[None] | None:
        """The work, begun in a thread; None while Python exits, when it begins none. Call with the lock."""
        try:
            return self._foreseeing.submit(work, *given)
        except RuntimeError:
            self._ended.set()
            return None

    def _make(self, embedder: Embedder, texts: Mapping[bytes, str]) -> None:
        """Make vectors, for the question that waits and for the worker that stores them later."""
        try:
            made = self._embedded(embedder, list(texts.values()))
        except SouvenanceError:
            return
        with self._lock:
            self._made.update(zip(texts, made, strict=True))
            while len(self._made) > _MOST_REMEMBERED:
                self._made.popitem(last=False)

    def _ready(self, embedder: Embedder) -> bool:
        if self.loaded.is_set():
            return True
        with self._lock:
            if self._loading is None and not self._ended.is_set():
                self._loading = threading.Thread(
                    target=self._load, args=(embedder,), name="souvenance-meaning", daemon=True
                )
                self._loading.start()
        return self.loaded.wait(self._patience)

    def _load(self, embedder: Embedder) -> None:
        if not self._patience and self._ended.wait(_LEAVE_ALONE_SECONDS):
            return
        self._asked(embedder, "")
        self.loaded.set()

    def stop(self) -> None:
        """Stop, and wait for calls under way: a process that ends during one is aborted."""
        with self._lock:
            self._ended.set()
            self._answered.wait_for(lambda: self._asking == 0)
        self._foreseeing.shutdown()

    def _asked(self, embedder: Embedder, text: str) -> bytes | None:
        with self._lock:
            if self._ended.is_set() or self._now() < self._rests_until:
                return None
            self._asking += 1
        try:
            with out_of_turn():
                found = embedder.question(text)
        except SouvenanceError as error:
            self.failed(error)
            return None
        finally:
            with self._lock:
                self._asking -= 1
                self._answered.notify_all()
        self.trouble = ""
        return found

    def failed(self, error: SouvenanceError) -> None:
        """Leave the embedder alone for a while."""
        self.trouble = f"{error.code}: {error.detail}"
        self._rests_until = self._now() + _REST_MS
        with self._lock:
            for compartment, taken in self._taken.items():
                self._lost.setdefault(compartment, set()).update(taken)
            self._taken.clear()

    def touch(self, compartments: Iterable[Compartment]) -> None:
        """Note that these compartments may have lines without a vector."""
        if self.embedder is not None:
            with self._lock:
                now = self._now()
                self._touched.update(dict.fromkeys(compartments, _Touch(now, now + _COMMITTED_MS)))

    def lost(self, compartment: Compartment, line_id: str) -> None:
        """Note that a line's vector can't be decrypted any more."""
        with self._lock:
            self._lost.setdefault(compartment, set()).add(line_id)
        self.touch((compartment,))

    def take_lost(self, compartment: Compartment, most: int) -> list[str]:
        """Some lines of the compartment whose vectors can't be decrypted, each given once."""
        with self._lock:
            lost = self._lost.get(compartment, set())
            taken = sorted(lost)[:most]
            lost.difference_update(taken)
            self._taken.setdefault(compartment, set()).update(taken)
            return taken

    def replaced(self, compartment: Compartment, line_ids: Iterable[str]) -> tuple[int, list[str]]:
        """Now, and those of the lines that `take_lost` gave, each once: they get new vectors now."""
        with self._lock:
            taken = self._taken.get(compartment, set())
            replaced_ids = sorted(taken.intersection(line_ids))
            taken.difference_update(replaced_ids)
            return self._now(), replaced_ids

    @property
    def owes(self) -> bool:
        """Whether a compartment may have lines without a vector, now or later."""
        return bool(self._touched)

    @property
    def behind(self) -> bool:
        """Whether there is something to do now, and the embedder is not left alone."""
        return self._now() >= self._rests_until and self.next_compartment() is not None

    def next_compartment(self) -> Compartment | None:
        """The next compartment that may have lines without a vector."""
        now = self._now()
        with self._lock:
            return next(
                (compartment for compartment, touch in self._touched.items() if touch.due <= now), None
            )

    def done(self, compartment: Compartment) -> None:
        """Note that every line of the compartment has its vector; those being written may still appear."""
        with self._lock:
            touch = self._touched.pop(compartment, None)
            if touch is not None and self._now() < touch.committed:
                self._touched[compartment] = _Touch(touch.committed, touch.committed)


def as_embedded(owner: str, text: str) -> str:
    """The text that is embedded for a line: with its owner's name it says more."""
    return f"{owner}: {text}"


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
