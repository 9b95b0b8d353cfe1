"""Webhooks: signed, tried again, never to private addresses unless told so, never across workspaces."""

from __future__ import annotations

import hmac
import json
import queue
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise

import pytest

from conversation.world import SECRET, speaking, staged
from processes import PATIENCE_SECONDS
from souvenance.adapters.webhook_sender import HttpWebhookSender
from surfaces.door import serving

HOOK = "https://example.org/hook"


def told(stage):
    """What was carried so far: where, and what it says."""
    found = [(parcel.url, json.loads(parcel.body)) for parcel in stage.webhook_sender.carried]
    stage.webhook_sender.carried.clear()
    return found


@contextmanager
def receiver(*statuses):
    """A receiver on this machine that gives these answers in turn and 200 after them; what it receives."""
    received, answers = queue.Queue(), list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            received.put((self.headers, body))
            self.send_response(answers.pop(0) if answers else 200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *said):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", received
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def private(tmp_path_factory):
    """A server that may call receivers on this machine."""
    home = tmp_path_factory.mktemp("private") / "home"
    with serving(home, SOUVENANCE_WEBHOOK_PRIVATE="1", SOUVENANCE_WEBHOOK_SECRET="a shared secret") as server:
        yield server


def test_a_test_event_arrives_signed(private):
    with receiver() as (url, received), speaking(private, "test") as speaker:
        speaker.told("POST", "/webhooks", {"url": url})
        speaker.told("GET", "/webhooks/test")
        headers, body = received.get(timeout=PATIENCE_SECONDS)
    event = json.loads(body)
    assert (event["type"], event["data"]["workspace_id"]) == ("test.event", "test")
    assert event["timestamp"]
    assert headers["content-type"].startswith("application/json")
    assert headers["x-honcho-signature"] == hmac.new(b"a shared secret", body, "sha256").hexdigest()


def test_an_event_tells_when_a_session_s_work_is_done(private):
    with receiver() as (url, received), speaking(private, "done") as speaker:
        speaker.told("POST", "/webhooks", {"url": url})
        speaker.say("s", "My name is Ann.", peer="ann")
        _, body = received.get(timeout=PATIENCE_SECONDS)
        assert speaker.card("ann")
    event = json.loads(body)
    assert event["type"] == "queue.empty"
    assert event["data"]["session_id"] == "s"
    assert "Ann." not in body.decode()


def test_a_receiver_that_fails_is_asked_again_with_the_same_event(private):
    with receiver(500) as (url, received), speaking(private, "again") as speaker:
        speaker.told("POST", "/webhooks", {"url": url})
        speaker.told("GET", "/webhooks/test")
        first, second = received.get(timeout=PATIENCE_SECONDS), received.get(timeout=PATIENCE_SECONDS)
    assert first[1] == second[1]
    assert first[0]["x-honcho-signature"] == second[0]["x-honcho-signature"]


def test_without_a_configured_secret_the_one_in_the_data_folder_signs(home):
    with (
        receiver() as (url, received),
        serving(home, SOUVENANCE_WEBHOOK_PRIVATE="1") as server,
        speaking(server, "w") as speaker,
    ):
        speaker.told("POST", "/webhooks", {"url": url})
        speaker.told("GET", "/webhooks/test")
        headers, body = received.get(timeout=PATIENCE_SECONDS)
    secret = (home / "webhook.secret").read_bytes().strip()
    assert (home / "webhook.secret").stat().st_mode & 0o077 == 0
    assert headers["x-honcho-signature"] == hmac.new(secret, body, "sha256").hexdigest()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/hook",
        "http://10.1.2.3/",
        "http://192.168.0.1:8080/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://localhost/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "not a url",
        "http://",
        "https://[::1",
        "",
        7,
        None,
    ],
)
def test_a_private_or_impossible_receiver_is_refused_by_default(url):
    with staged(webhook_sender=HttpWebhookSender()) as stage:
        for body in ({"url": url}, *([{}] if url is None else [])):
            assert stage.owner.code("POST", "/webhooks", body) == (422, "invalid_input")
        assert stage.owner.told("GET", "/webhooks")["items"] == []


def test_a_name_that_leads_to_a_private_address_is_never_called():
    with staged(
        webhook_sender=HttpWebhookSender(resolve=lambda host, port: ["93.184.216.34", "10.0.0.7"])
    ) as stage:
        stage.owner.told("POST", "/webhooks", {"url": "https://rebinding.example.org/"})
        stage.owner.told("GET", "/webhooks/test")
        stage.deliver()
        assert stage.outcomes()[-1] == ("work.deliver", "undelivered")
        stage.clock.advance(seconds=86_400)
        assert not stage.worker.work_once()


def test_a_delivery_is_tried_again_after_longer_and_longer_pauses_and_then_given_up(stage, owner):
    owner.told("POST", "/webhooks", {"url": HOOK})
    stage.webhook_sender.failing = 1000
    owner.told("GET", "/webhooks/test")
    tried = []
    for second in range(8000):
        before = stage.webhook_sender.failing
        if stage.worker.work_once():
            stage.deliver()
        if stage.webhook_sender.failing < before:
            tried.append(second)
        stage.clock.advance(seconds=1)
    pauses = [later - earlier for earlier, later in pairwise(tried)]
    assert pauses == [1, 5, 30, 120, 600, 3600]
    assert stage.outcomes()[-1] == ("work.deliver", "undelivered")


def test_one_receiver_s_trouble_holds_up_no_other_and_no_other_work(stage, owner):
    for number in range(2):
        owner.told("POST", "/webhooks", {"url": f"{HOOK}/{number}"})
    stage.webhook_sender.failing = 1
    owner.told("GET", "/webhooks/test")
    owner.say("s", "My name is Ann.")
    stage.deliver()
    assert owner.held() == ["My name is Ann."]
    first = [url for url, event in told(stage) if event["type"] == "test.event"]
    assert len(first) == 1
    stage.clock.advance(seconds=1)
    stage.deliver()
    again = [url for url, event in told(stage) if event["type"] == "test.event"]
    assert sorted(first + again) == [f"{HOOK}/0", f"{HOOK}/1"]


def test_no_event_of_a_workspace_goes_to_another_s_receivers(stage, owner):
    other = stage.speaker(workspace="v")
    owner.told("POST", "/webhooks", {"url": f"{HOOK}/w"})
    other.told("POST", "/webhooks", {"url": f"{HOOK}/v"})
    owner.say("s", "My name is Ann.")
    other.told("GET", "/webhooks/test")
    stage.deliver()
    stage.deliver("v")
    assert sorted((url, event["data"]["workspace_id"]) for url, event in told(stage)) == [
        (f"{HOOK}/v", "v"),
        (f"{HOOK}/w", "w"),
    ]
    endpoint = other.told("GET", "/webhooks")["items"][0]["id"]
    assert owner.code("DELETE", f"/webhooks/{endpoint}") == (404, "not_found")
    assert [one["url"] for one in owner.told("GET", "/webhooks")["items"]] == [f"{HOOK}/w"]


def test_every_event_is_signed_over_what_is_sent(stage, owner):
    owner.told("POST", "/webhooks", {"url": HOOK})
    owner.told("GET", "/webhooks/test")
    stage.deliver()
    [parcel] = stage.webhook_sender.carried
    assert parcel.signature == hmac.new(SECRET, parcel.body, "sha256").hexdigest()


def test_word_of_an_empty_queue_comes_once_when_nothing_is_left_for_the_session(stage, owner):
    owner.told("POST", "/webhooks", {"url": HOOK})
    owner.say("s", *(f"line {number}" for number in range(20)), ("bob", "hello"))
    owner.say("t", "My name is Ann.")
    stage.deliver()
    events = [event for _, event in told(stage)]
    assert {event["type"] for event in events} == {"queue.empty"}
    assert sorted(event["data"]["session_id"] for event in events) == ["s", "t"]


def test_a_receiver_that_was_removed_is_not_called_any_more(stage, owner):
    endpoint = owner.told("POST", "/webhooks", {"url": HOOK})["id"]
    owner.told("GET", "/webhooks/test")
    assert owner.code("DELETE", f"/webhooks/{endpoint}") == 204
    stage.deliver()
    assert told(stage) == []
    assert owner.code("DELETE", f"/webhooks/{endpoint}") == (404, "not_found")


def test_the_same_receiver_is_registered_once_and_no_more_than_ten_are(owner):
    first = owner.ask("POST", "/webhooks", {"url": HOOK})
    again = owner.ask("POST", "/webhooks", {"url": HOOK})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    for number in range(9):
        owner.told("POST", "/webhooks", {"url": f"{HOOK}/{number}"})
    assert owner.code("POST", "/webhooks", {"url": f"{HOOK}/more"}) == (409, "conflict")


def test_deliveries_that_waited_go_with_their_workspace(stage, owner):
    owner.told("POST", "/webhooks", {"url": HOOK})
    owner.told("GET", "/webhooks/test")
    owner.told("DELETE", "")
    stage.deliver()
    assert told(stage) == []
