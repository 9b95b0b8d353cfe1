"""The threads that do requests' work, in turn by token; and what every HTTP door does alike."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from contextvars import copy_context
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from souvenance.domain.proof import Bound, bound_headers
from souvenance.errors import RateLimited, SouvenanceError, Unauthenticated
from souvenance.gate.gate import Gate
from souvenance.gate.operation import Operation
from souvenance.gate.token_verifier import Credentials
from souvenance.pauses import may_pause, pause, taking_turns, urgent
from souvenance.surfaces.http.routes import status_of
from souvenance.surfaces.http.telemetry.observer import note

_T = TypeVar("_T")
_Job = Callable[[], None]


class FairThreads:
    """One queue for each caller. The threads take the next job from each queue in turn. Of several threads no
    caller ever has all.

    A job runs in the context of whoever submitted it: of which request it is.
    """

    def __init__(
        self,
        threads: int,
        name: str,
        *,
        most_waiting: int | None = None,
        pauses: bool = True,
        in_turn: bool = False,
    ) -> None:
        """With `in_turn` only one of the threads works at a time, but for what it waits for out of turn."""
        self._pauses = pauses
        self._turn = threading.Lock() if in_turn else None
        self._threads = ThreadPoolExecutor(threads, name)
        self._at_once = 1 if in_turn else threads
        self._share = max(1, threads - max(1, threads // 4))  # For one caller.
        self._running: Counter[str] = Counter()
        self._most = most_waiting
        self._queues: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._lock = threading.Lock()
        self._mine = threading.local()

    def run(self, caller: str, work: Callable[..., _T], *args: Any) -> _T:
        """What the work gives, waited for; done at once in one of these threads. Raises: RateLimited."""
        if getattr(self._mine, "busy", False):
            return work(*args)
        return self.submit(caller, work, *args).result()

    def waits_for_others(self, caller: str) -> bool:
        """Whether a job of this caller would wait for jobs of others."""
        with self._lock:
            others = {*self._running, *self._queues} - {caller}
            return bool(others) and self._running.total() >= self._at_once

    def submit(self, caller: str, work: Callable[..., _T], *args: Any) -> Future[_T]:
        """Raises: RateLimited if as many jobs of the caller wait as may."""
        future: Future[_T] = Future()
        context = copy_context()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(context.run(work, *args))
            except BaseException as error:  # noqa: BLE001 - it is for whoever waits for the result
                future.set_exception(error)

        with self._lock:
            queue = self._queues.setdefault(caller, deque())
            if self._most is not None and len(queue) >= self._most:
                raise RateLimited(f"{len(queue)} requests of this token wait already", retry_after=1)
            queue.append(job)
        self._threads.submit(self._run_next)
        return future

    def _run_next(self) -> None:
        self._mine.busy = True
        with nullcontext() if self._turn is None else taking_turns(self._turn):
            with self._lock:
                caller = next((one for one in self._queues if self._running[one] < self._share), None)
                if caller is None:
                    return  # Whichever job ends next has the next one looked for.
                queue = self._queues.pop(caller)
                job = queue.popleft()
                if queue:
                    self._queues[caller] = queue
                self._running[caller] += 1
            with may_pause() if self._pauses else nullcontext():
                pause()
                job()
        with self._lock:
            self._running -= Counter((caller,))
            if self._queues:
                self._threads.submit(self._run_next)


HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
encode = msgspec.json.Encoder().encode

Endpoint = Callable[[Request], Awaitable[Response]]
Reads = Callable[[], Any]
"""Reads the request, once the cap is admitted."""

_Piece = TypeVar("_Piece")

MOST_WAITING = 256
"""Requests of one token that may wait for threads of one kind. One more is refused."""

LOCAL = "local"
"""What clients of a local server without keys send in place of one."""


class RequestThreads:
    """The threads that do what the event loop must not wait for. Each kind serves the tokens in turn.

    Searching is computing, and so is preparing what will be written; threads that compute only take the
    interpreter's lock from each other, so one computes at a time, and another while that one waits for an
    embedder. A verdict computes next to nothing and must not wait for a search, so it has threads of its own,
    for which the others pause, and so has what is about tokens and the log. Writing waits for the disk: those
    are more. A question may wait for a model, and nobody who writes should wait for that.
    """

    def __init__(self, gate: Gate) -> None:
        self._verdicts = FairThreads(2, "souvenance-verdicts", pauses=False)
        self._ruling = FairThreads(2, "souvenance-ruling", most_waiting=MOST_WAITING)
        self._computing = FairThreads(4, "souvenance-computing", most_waiting=MOST_WAITING, in_turn=True)
        self._waiting = FairThreads(8, "souvenance-waiting", most_waiting=MOST_WAITING)
        self._thinking = FairThreads(32, "souvenance-thinking", most_waiting=MOST_WAITING)
        gate.computing = self._computing.run

    async def call(
        self,
        gate: Gate,
        operation: Operation,
        credentials: Credentials,
        read: Reads,
        encoded: Callable[[Any], Any] | None = None,
    ) -> Any:
        """What the gate answers, as `encoded` writes it, in the same thread. Raises: SouvenanceError."""

        def work(read: Reads) -> Any:
            found = gate.call(operation, credentials, read)
            pause()
            return found if encoded is None else encoded(found)

        caller = gate.caller(credentials)
        if not caller or operation.verdict:
            return await self.judge(gate, credentials, work, read)
        pool = self._thinking if operation.waits else self._waiting if operation.writes else self._computing
        if operation.need.op in (None, "grant", "revoke", "audit"):  # Those of tokens and the log.
            pool = self._ruling
        if pool.waits_for_others(caller):  # It is judged before that.
            await self.judge(gate, credentials, gate.admit, operation, credentials)
        try:
            job = pool.submit(caller, work, read)
        except RateLimited as error:
            return await self.judge(gate, credentials, gate.admit, operation, credentials, error)
        return await asyncio.wrap_future(job)

    async def judge(
        self, gate: Gate, credentials: Credentials, work: Callable[..., _Piece], *args: Any
    ) -> _Piece:
        """What comes of something that only judges the token. Raises: SouvenanceError."""
        caller = gate.caller(credentials)  # Nobody's tokens are judged as well, and hold up no one.
        with urgent() if caller else nullcontext():
            return await asyncio.wrap_future(self._verdicts.submit(caller, work, *args))

    async def do(
        self, gate: Gate, credentials: Credentials, work: Callable[[], _Piece], *, writes: bool = False
    ) -> _Piece:
        """What comes of something that only reads, or that writes. Raises: SouvenanceError."""
        pool = self._waiting if writes else self._computing
        return await asyncio.wrap_future(pool.submit(gate.caller(credentials), work))

    async def next(self, pieces: Iterator[_Piece]) -> _Piece:
        """The next of what is waited for. Raises: SouvenanceError."""
        return await asyncio.wrap_future(self._thinking.submit(f"answer {id(pieces)}", next, pieces))


def credentials_of(request: Request, body: bytes) -> Credentials:
    proof = request.headers.get("dpop")
    if proof is None:  # Nothing is bound to this request, and what would be is not looked up.
        return Credentials(token_of(request), None, Bound("", "", body))
    query = f"?{request.url.query}" if request.url.query else ""
    bound = Bound(request.method, request.url.path + query, body, bound_headers(request.headers.items()))
    return Credentials(token_of(request), proof, bound)


def token_of(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() not in ("bearer", "dpop"):
        return None
    token = token.strip()
    trusted: str | None = request.scope.get("souvenance.trusted")
    return trusted if token == LOCAL else token


def json_answer(status: int, content: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(encode(content), status, {**HEADERS, **(headers or {})}, "application/json")


def refusal(error: SouvenanceError) -> Response:
    """A refusal as Souvenance's own API has it."""
    note(error)
    body = {"error": error.code, "detail": error.detail, "hint": error.hint}
    return json_answer(status_of(type(error)), body, refusal_headers(error))


def refusal_headers(error: SouvenanceError) -> dict[str, str]:
    headers: dict[str, str] = {}
    if isinstance(error, RateLimited):
        headers["retry-after"] = str(error.retry_after)
    elif error.retryable:
        headers["retry-after"] = "1"
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = f'Bearer error="invalid_token", error_description="{error.code}"'
    return headers
