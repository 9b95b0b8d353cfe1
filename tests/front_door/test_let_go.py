"""What a request found out is let go of when it is answered: the collector need not look for it."""

import gc
import os
import time

import pytest

import souvenance
from souvenance.core.conversation.search import Found
from souvenance.core.request_context import RequestContext

ASKED = "What does my cat like?"
CALLS = {
    "search": lambda memory: memory.peer("ann").search(ASKED),
    "search of a session": lambda memory: memory.peer("ann").session("s1").search(ASKED),
    "context": lambda memory: memory.peer("ann").context(ASKED),
    "context of a session": lambda memory: memory.peer("ann").session("s1").context(ASKED),
    "chat": lambda memory: memory.peer("ann").chat(ASKED),
    "card": lambda memory: memory.peer("ann").card(),
    "conclusions": lambda memory: memory.peer("ann").conclusions(ASKED),
    "get": lambda memory: memory.get(ASKED),
    "put": lambda memory: memory.put("My cat is called Nero."),
    "add": lambda memory: memory.peer("ann").session("s1").add("My cat is called Nero."),
}
TIMES = 3
"""More often than the worker, which goes on beside the requests, may have something in hand at once."""
PATIENCE_SECONDS = 30.0


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SOUVENANCE_")]:
            patch.delenv(name)
        patch.setenv("SOUVENANCE_EMBEDDER", "none")
        with souvenance.open(tmp_path_factory.mktemp("let go")) as opened:
            opened.put("My cat likes the sun.")
            for number in range(3):
                opened.peer("ann").session("s1").add(f"My cat likes the number {number}.")
            yield opened


@pytest.mark.parametrize("name", CALLS)
def test_nothing_that_a_request_found_out_outlives_its_answer(memory, name):
    CALLS[name](memory)
    gc.collect()
    gc.disable()
    try:
        before = left()
        for _ in range(TIMES):
            CALLS[name](memory)
        end = time.monotonic() + PATIENCE_SECONDS
        while (now := left()) > before:
            assert time.monotonic() < end, f"{now - before} more are left"
    finally:
        gc.enable()


def left():
    return sum(type(one) in (Found, RequestContext) for one in gc.get_objects())
