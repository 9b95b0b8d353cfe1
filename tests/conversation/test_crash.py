"""A server under kill -9, and workers that die or fall behind: nothing is lost and nothing is done twice."""

from __future__ import annotations

import random
import re
import signal
import threading
from collections import Counter
from contextlib import contextmanager

import httpx
import pytest
from msgspec.structs import replace

import stores
from conversation.world import Counting, speaking, staged
from reference.text import PLAIN
from souvenance.adapters.document_reader import Documents
from souvenance.adapters.index.ranked import RankedIndex
from souvenance.adapters.key_files import KeyFiles
from souvenance.adapters.system_clock import SystemClock, SystemEntropy
from souvenance.adapters.webhook_sender import HttpWebhookSender
from souvenance.adapters.word_tables import TokenCounter
from souvenance.core.conversation.derive import keep_statements, read_passage
from souvenance.core.request_context import RequestContext, Services
from souvenance.core.vault import Vault
from souvenance.domain.directory import DERIVE
from souvenance.domain.policy import Scope
from souvenance.gate.worker import LEASE_MS, Worker
from surfaces.door import serving, souvenance

LIVES = 12
NAMES = re.compile(r"Z\d+x\d+")


class AfterTheLease:
    """This machine's clock, ahead by the time for which a worker holds its work."""

    def now(self):
        return SystemClock().now() + LEASE_MS + 1000


@contextmanager
def worker_on(home):
    """A worker on a data folder that no server has open, after every lease of the dead has run out."""
    store, entropy = stores.store(home / "souvenance.db"), SystemEntropy()
    services = Services(
        vault=Vault(KeyFiles(home), entropy),
        index=RankedIndex(),
        entropy=entropy,
        tokenizer=TokenCounter(),
        reader=Documents(),
        webhook_sender=HttpWebhookSender(),
        **PLAIN,
    )
    try:
        yield Worker(store=store, clock=AfterTheLease(), services=services, secret=bytes, report=pytest.fail)
    finally:
        store.close()


class Client:
    """Sends batches one after the other; what was not acknowledged is the first thing in its next life."""

    def __init__(self):
        self.sent = []
        self.acknowledged = []
        self._open = None

    def live(self, server, life):
        with speaking(server, "w") as speaker:
            try:
                for number in range(1000):
                    names = [f"Z{life}x{number}{part}" for part in range(1 + number % 3)]
                    said = [f"My friend is called {name}." for name in names]
                    session, texts = self._open = self._open or (f"s{life % 2}", said)
                    self.acknowledged += [one["id"] for one in speaker.say(session, *texts, peer="ann")]
                    self.sent += texts
                    self._open = None
            except httpx.TransportError:
                return


def killed_while_writing(home, client, life, chance):
    """One life of a server, ended at a random moment of a stream of messages."""
    with serving(home) as server:
        known = len(client.acknowledged)
        writer = threading.Thread(target=client.live, args=(server, life))
        writer.start()
        wanted = known + chance.randrange(1, 40)
        while writer.is_alive() and len(client.acknowledged) < wanted:
            writer.join(chance.uniform(0, 0.004))
        server.stop(signal.SIGKILL)
        writer.join()


def test_kills_lose_no_acknowledged_message_and_its_facts_come_exactly_once(home):
    client, chance = Client(), random.Random(2026)
    for life in range(LIVES):
        killed_while_writing(home, client, life, chance)
    with worker_on(home) as worker:
        while worker.work_once():
            pass
    with serving(home) as server, speaking(server, "w") as speaker:
        stored = [
            one for session in ("s0", "s1") for one in every(speaker, f"/sessions/{session}/messages/list")
        ]
        concluded = every(speaker, "/conclusions/list")
        queue = speaker.queue()
    assert len(client.acknowledged) > 5 * LIVES, "the client hardly lived"
    assert set(client.acknowledged) <= {one["id"] for one in stored}
    texts = Counter(one["content"] for one in stored)
    assert max(texts.values()) == 1
    unanswered = set(texts) - set(client.sent)
    assert len(unanswered) <= 3, "only the last life's open batch may be there unacknowledged"
    facts = Counter(name for one in concluded for name in NAMES.findall(one["content"]))
    assert facts == Counter(name for text in texts for name in NAMES.findall(text))
    assert {one["times_derived"] for one in concluded} == {1}
    assert queue["pending_work_units"] == queue["in_progress_work_units"] == 0
    assert queue["completed_work_units"] >= len(stored)
    assert "lines readable" in souvenance("doctor", home=home).out


def every(speaker, path):
    found = speaker.told("POST", path, params={"size": 100})
    items = found["items"]
    for page in range(2, found["pages"] + 1):
        items += speaker.told("POST", path, params={"size": 100, "page": page})["items"]
    return items


class Killed(BaseException):
    """The end of a worker's process in the middle of its work."""


def killing(text):
    raise Killed


@pytest.fixture
def stage(tmp_path):
    with staged(tmp_path, tokenizer=Counting()) as stage:
        yield stage


def dies_deriving(stage):
    """A worker that claims what is due, and is no more."""
    stage.tokenizer.on_count = killing
    with pytest.raises(Killed):
        stage.another_worker().work_once()
    stage.tokenizer.on_count = lambda text: None


def test_the_work_of_a_dead_worker_is_done_once_its_lease_is_over(stage, owner):
    owner.say("s", "My name is Ann.")
    dies_deriving(stage)
    stage.clock.advance(ms=LEASE_MS - 1)
    stage.rest()
    assert owner.held() == []
    assert owner.queue()["in_progress_work_units"] == 1
    stage.clock.advance(ms=1)
    assert owner.queue()["pending_work_units"] == 1
    stage.rest()
    assert [(one["content"], one["times_derived"]) for one in owner.conclusions()] == [("My name is Ann.", 1)]
    assert owner.queue()["completed_work_units"] == 1


def test_what_is_said_while_a_dead_worker_holds_the_session_is_not_forgotten(stage, owner):
    owner.say("s", "My name is Ann.")
    dies_deriving(stage)
    owner.say("s", "I live in Oslo.")
    owner.say("t", "I have a dog called Rex.")
    stage.rest()
    assert owner.held() == ["I have a dog called Rex."]
    stage.clock.advance(ms=LEASE_MS)
    stage.rest()
    assert owner.held() == ["I have a dog called Rex.", "I live in Oslo.", "My name is Ann."]


def test_two_workers_share_the_work_and_do_nothing_twice(stage, owner):
    for number in range(10):
        owner.say(f"s{number}", "I run every day.", f"I own {number} bikes.", "I run every day.")
    workers = [stage.worker, stage.another_worker()]
    while any([worker.work_once() for worker in workers]):
        pass
    facts = Counter((one["content"], one["times_derived"]) for one in owner.conclusions())
    assert facts == {
        ("I run every day.", 2): 10,
        **{(f"I own {number} bikes.", 1): 1 for number in range(10)},
    }
    assert stage.outcomes().count(("work.derive", "ok")) == 10


DELETIONS = {
    "its message": lambda owner, said: owner.told("DELETE", f"/sessions/s/messages/{said['id']}"),
    "its session": lambda owner, said: owner.told("DELETE", "/sessions/s"),
    "its author": lambda owner, said: owner.told("DELETE", "/peers/alice"),
}


@pytest.mark.parametrize("what", DELETIONS)
def test_what_was_deleted_while_it_was_thought_about_is_not_concluded(stage, owner, what):
    [said] = owner.say("s", "My name is Ann.")
    world, scope = stage.world, Scope("w", "souvenance", frozenset(("default",)), None)
    with world.store.read("w") as tx:
        tasks = tx.work.owed("w", (DERIVE,), after=0, limit=10)
        passage = read_passage(
            RequestContext(tx, scope, "souvenance", world.clock.ms, world.services), tasks, "s", "alice"
        )
    DELETIONS[what](owner, said)
    with world.store.write("w") as tx:
        changes = keep_statements(
            RequestContext(tx, scope, "souvenance", world.clock.ms, world.services), passage
        )
    assert changes.put == []
    stage.rest()
    assert (owner.held(), owner.card(), owner.representation()) in (([], None, ""), ([], [], ""))
    assert stage.complaints == []


class Interrupted:
    """A tokenizer during whose first count something else happens."""

    def __init__(self, then):
        self._then = then

    def count(self, text):
        then, self._then = self._then, lambda: None
        then()
        return TokenCounter().count(text)


def test_a_message_deleted_while_its_session_is_summed_up_is_not_in_the_summary(stage, owner):
    said = owner.say("s", *(f"line {number}" for number in range(19)), "the last")
    stage.worker.work_once()
    world = stage.world
    tokenizer = Interrupted(lambda: owner.told("DELETE", f"/sessions/s/messages/{said[3]['id']}"))
    services = replace(world.services, tokenizer=tokenizer)
    Worker(
        store=world.store, clock=world.clock, services=services, secret=lambda: b"", report=print
    ).work_once()
    assert len(owner.texts("s")) == 19
    stage.rest()
    told = [one["content"] for one in owner.summaries("s") if one is not None]
    assert not any("line 3\n" in text for text in told)


def test_the_messages_and_the_work_they_call_for_are_stored_together_or_not_at_all(stage, owner):
    """Whatever is in the book after any commit of messages is also on the list of work."""
    for number in range(5):
        owner.say("s", f"fact {number}")
        counts = owner.queue()
        assert counts["total_work_units"] == len(owner.messages("s"))
