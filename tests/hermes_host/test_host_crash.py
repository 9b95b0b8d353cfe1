"""A host that dies, and two at once on one home: what was said is stored, once."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

from demo_host import Host
from demo_model import LINE
from hermes_host.host import ENVIRONMENT, RECALLS, Talk, a_host, stored
from processes import until
from souvenance.adapters.write_queue import SealedWriteQueue


@contextmanager
def nobody_can_write(store):
    """The store held as a writer in another process would hold it."""
    with closing(sqlite3.connect(store / "souvenance.db", isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield
        database.execute("ROLLBACK")


def with_answers(prompts):
    return [text for prompt in prompts for text in (prompt, LINE)]


def test_a_crash_and_two_hosts_at_once_on_one_home_lose_double_and_disorder_nothing(folder, model):
    host = a_host(folder, model)
    with Host(ENVIRONMENT, folder, model, RECALLS).serving() as server:  # One that a signal really kills.
        jane = Talk(server, model, "user:jane")
        jane.ask("Hello.")
        write_queue = SealedWriteQueue(host.store / "write-queue")
        with stored(host.store) as store:
            store.until(lambda store: "Hello." in store.said())
        with nobody_can_write(host.store):
            jane.ask("My canoe is in Umeå.")
            until(lambda: write_queue.standing().waiting == 1)
            server.kill()
    assert write_queue.standing().waiting == 1
    with host.serving() as server, stored(host.store) as store, ThreadPoolExecutor() as pool:
        beside = pool.submit(host.once, "My lucky town is Nuuk.")
        jane, kim = Talk(server, model, "user:jane"), Talk(server, model, "user:kim")
        prompts = [f"My lucky number {one} is {one * 7919}." for one in range(8)]
        for prompt in prompts:
            kim.ask(prompt)
        jane.ask("Good morning.")
        [asked] = jane.ask("Where is my canoe?")
        beside.result()
        store.until(lambda store: {"Where is my canoe?", prompts[-1]} <= set(store.said()))
        said = {peer: store.said_with(peer) for peer in ("api-user-jane", "api-user-kim", "ann")}
    assert "Umeå" in asked.memory
    canoe = ["Hello.", "My canoe is in Umeå.", "Good morning.", "Where is my canoe?"]
    assert said["api-user-jane"] == with_answers(canoe)
    assert said["api-user-kim"] == with_answers(prompts)
    assert said["ann"][-2:] == with_answers(["My lucky town is Nuuk."])
