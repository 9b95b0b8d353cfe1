"""Hermes' own model, asked in the background and through Hermes.

It looks like any other endpoint: a chat-completions request goes in, a reply comes out. There is no key and
no address. Hermes chooses the model, pays from its own account and books the cost under the
task `souvenance`; `auxiliary.souvenance` in its config.yaml names another model for it.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import Any

import httpx
import msgspec

from souvenance.agents.redaction import redact
from souvenance.hermes.configuration import TASK
from souvenance.hermes.profile_runtime import TurnsUnderWay, fulfil

URL = "http://hermes.invalid/v1"
"""A placeholder: requests go to Hermes itself."""
NAME = "Hermes' own"
MISSING = "this Hermes offers its model to no plugin"
_STEP_SECONDS = 0.2
_MOST_CHARS = 200
_PASSED_ON = ("temperature", "max_tokens")
_NEEDED = {"task", "messages", "timeout", "extra_body", *_PASSED_ON}

Call = Callable[..., Any]


def offered() -> Call | None:
    """How Hermes is asked to call its model; None where it offers no way."""
    try:
        from agent.auxiliary_client import call_llm  # type: ignore[import-not-found]

        known = inspect.signature(call_llm).parameters
    except Exception:  # noqa: BLE001 - a host that can't even load it offers none
        return None
    return call_llm if known.keys() >= _NEEDED else None


class HostModel(httpx.BaseTransport):
    """Carries requests to Hermes' model, each on a thread of its own, while no turn is under way."""

    def __init__(self, call: Call, turns: TurnsUnderWay, note: Callable[[str], None]) -> None:
        """`note` gets every error as text, and an empty text once a call succeeds."""
        self._call = call
        self._turns = turns
        self._note = note
        self._stopped: Future[Any] = Future()
        self._lock = threading.Lock()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Raises: httpx.TransportError."""
        asked = msgspec.json.decode(request.read(), type=dict[str, Any])
        seconds = float(request.extensions["timeout"]["read"])
        self._wait_for_turns(seconds)
        answer: Future[Any] = Future()
        work = partial(self._turns.context.copy().run, self._call, **_arguments(asked, seconds))
        threading.Thread(
            target=fulfil, args=(answer, work), name="souvenance-host-model", daemon=True
        ).start()
        wait((answer, self._stopped), seconds, FIRST_COMPLETED)
        if not answer.done():
            if self._stopped.done():
                raise httpx.ReadError("this process stops")
            self._note(f"it did not answer within {seconds:.0f} s")
            raise httpx.ReadTimeout("it did not answer in time")
        return self._response(answer)

    def close(self) -> None:
        with self._lock:
            if not self._stopped.done():
                self._stopped.set_result(None)

    def _wait_for_turns(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self._turns.busy():
            wait((self._stopped,), _STEP_SECONDS)
            if self._stopped.done() or time.monotonic() > until:
                raise httpx.ConnectTimeout("a turn is under way")

    def _response(self, answer: Future[Any]) -> httpx.Response:
        error = answer.exception()
        try:
            if error is None:
                content = msgspec.json.encode(_reply(answer.result()))
                self._note("")
                return httpx.Response(200, content=content)
        except (AttributeError, IndexError, TypeError) as unknown:
            self._note("its reply has a shape that is not known")
            raise httpx.RemoteProtocolError(str(unknown)) from None
        reason = _words(error)
        self._note(reason)
        status = getattr(error, "status_code", None)
        if isinstance(status, int) and 400 <= status < 600:
            headers = getattr(getattr(error, "response", None), "headers", None) or {}
            wait_for = {"retry-after": headers["retry-after"]} if "retry-after" in headers else {}
            return httpx.Response(status, text=str(error), headers=wait_for)
        if "timeout" in type(error).__name__.lower():
            raise httpx.ReadTimeout(reason)
        raise httpx.ConnectError(reason)


def _arguments(asked: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    arguments = {name: asked[name] for name in _PASSED_ON if name in asked}
    shape = {"response_format": asked["response_format"]} if "response_format" in asked else None
    return {**arguments, "task": TASK, "messages": asked["messages"], "timeout": seconds, "extra_body": shape}


def _reply(response: Any) -> dict[str, Any]:
    choice = response.choices[0]
    usage = getattr(response, "usage", None)
    used = [getattr(usage, name, None) for name in ("total_tokens", "prompt_tokens", "completion_tokens")]
    total, *parts = (one if isinstance(one, int) else 0 for one in used)
    return {
        "choices": [
            {
                "message": {"content": _text(choice.message.content)},
                "finish_reason": getattr(choice, "finish_reason", None) or "stop",
            }
        ],
        "usage": {"total_tokens": total or sum(parts) or None},
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    texts = (one.get("text") if isinstance(one, dict) else getattr(one, "text", None) for one in parts)
    return "".join(text for text in texts if isinstance(text, str))


def _words(error: BaseException) -> str:
    """An error on one line, without keys that may stand in it."""
    text = " ".join(redact(str(error)).split())[:_MOST_CHARS]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
