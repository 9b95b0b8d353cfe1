"""Webhooks reach public receivers and nobody else, once per attempt and in bounded time."""

from __future__ import annotations

import datetime as dt
from threading import Event

import pytest

from adapters.receivers import Authority, receiver, rude
from ports import vacant_port
from souvenance.adapters.webhook_sender import HttpWebhookSender, system_addresses
from souvenance.domain.webhooks import sign
from souvenance.errors import InvalidInput
from souvenance.ports.webhook_sender import Undelivered, WebhookDelivery

BODY = b'{"type":"test.event"}'
NAME = "hooks.example.test"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))


def parcel(url, **changes):
    return WebhookDelivery(url, BODY, sign(b"secret", BODY), **changes)


def at(*addresses):
    """A resolver that knows every name, and counts how often it was asked."""

    def resolve(host, port):
        resolve.asked.append((host, port))
        return list(addresses)

    resolve.asked = []
    return resolve


def failure(webhook_sender, url):
    with pytest.raises(Undelivered) as failed:
        webhook_sender.deliver(parcel(url))
    return failed.value


def test_an_event_arrives_signed_and_as_it_was_given():
    with receiver() as server:
        url = f"http://127.0.0.1:{server.port}/hook?a=1"
        HttpWebhookSender(allow_private=True).deliver(parcel(url, headers=(("X-Attempt", "1"),)))
    [(path, headers, body)] = server.received
    assert (path, body) == ("/hook?a=1", BODY)
    assert headers["X-Honcho-Signature"] == sign(b"secret", body)
    assert headers["Host"] == f"127.0.0.1:{server.port}"
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Attempt"] == "1"
    assert headers["User-Agent"].startswith("souvenance/")


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_a_delivery(status):
    with receiver(status) as server:
        HttpWebhookSender(allow_private=True).deliver(parcel(f"http://127.0.0.1:{server.port}/"))
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("status", "retry"),
    [
        (400, False),
        (401, False),
        (404, False),
        (410, False),
        (408, True),
        (429, True),
        (500, True),
        (503, True),
    ],
)
def test_a_refusal_is_final_and_an_outage_is_not(status, retry):
    with receiver(status) as server:
        failed = failure(HttpWebhookSender(allow_private=True), f"http://127.0.0.1:{server.port}/")
    assert (failed.reason, failed.retry) == (f"the receiver answered {status}", retry)
    assert len(server.received) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    with receiver() as elsewhere:
        headers = {"Location": f"http://127.0.0.1:{elsewhere.port}/"}
        with receiver(status, headers) as server:
            assert failure(HttpWebhookSender(allow_private=True), f"http://127.0.0.1:{server.port}/").retry
    assert len(server.received) == 1
    assert elsewhere.received == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["::1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::ffff:127.0.0.1"],
        ["fe80::1%lo"],
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "2606:4700::1111"],
    ],
)
def test_a_name_with_any_address_that_is_not_public_gets_no_connection(addresses):
    with receiver() as server:
        failed = failure(HttpWebhookSender(resolve=at(*addresses)), f"http://{NAME}:{server.port}/")
    assert (failed.reason, failed.retry) == ("the host has an address that is not public", False)
    assert server.received == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "2130706433"])
def test_a_near_receiver_is_refused_when_stored_and_again_when_delivered_to(host):
    resolve = at("127.0.0.1")
    webhook_sender = HttpWebhookSender(resolve=resolve)
    url = f"http://{host}:8080/"
    with pytest.raises(InvalidInput):
        webhook_sender.check(url)
    assert not failure(webhook_sender, url).retry
    assert resolve.asked == []


def test_checking_a_url_gives_the_spelling_to_store():
    assert HttpWebhookSender().check("HTTPS://Example.com:443") == "https://example.com/"
    assert HttpWebhookSender(allow_private=True).check("http://LOCALHOST:8080/x") == "http://localhost:8080/x"


def test_a_name_is_looked_up_once_and_that_very_address_is_called():
    """127.0.0.2 and 127.0.0.1 are both this machine, but the receiver listens on the former only."""
    with receiver(host="127.0.0.2") as server:
        answers = [["127.0.0.2"], ["127.0.0.1"]]
        asked = []

        def resolve(host, port):
            asked.append((host, port))
            return answers.pop(0)

        HttpWebhookSender(allow_private=True, resolve=resolve).deliver(
            parcel(f"http://{NAME}:{server.port}/")
        )
    assert asked == [(NAME, server.port)]
    [(_, headers, _)] = server.received
    assert headers["Host"] == f"{NAME}:{server.port}"


def test_the_next_address_is_tried_when_one_does_not_answer():
    with receiver() as server:
        webhook_sender = HttpWebhookSender(allow_private=True, resolve=at("127.0.0.3", "127.0.0.1"))
        webhook_sender.deliver(parcel(f"http://{NAME}:{server.port}/"))
    assert len(server.received) == 1


def test_no_proxy_of_the_environment_is_used(monkeypatch):
    with receiver() as server, vacant_port() as port:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        HttpWebhookSender(allow_private=True).deliver(parcel(f"http://127.0.0.1:{server.port}/"))
    assert len(server.received) == 1


def test_tls_names_and_checks_the_host_of_the_url(authority):
    with receiver(tls=authority.context(NAME)) as server:
        webhook_sender = HttpWebhookSender(
            allow_private=True, resolve=at("127.0.0.1"), trust=authority.trusted
        )
        webhook_sender.deliver(parcel(f"https://{NAME}:{server.port}/"))
    assert server.asked_for == [NAME]
    assert len(server.received) == 1


def test_tls_to_an_address_checks_the_address(authority):
    with receiver(tls=authority.context("127.0.0.1")) as server:
        webhook_sender = HttpWebhookSender(allow_private=True, trust=authority.trusted)
        webhook_sender.deliver(parcel(f"https://127.0.0.1:{server.port}/"))
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("names", "lasting"),
    [(["other.example.test"], 36500), (["127.0.0.1"], 36500), ([NAME], 1)],
    ids=["another name", "only the address", "expired"],
)
def test_a_certificate_that_does_not_fit_gets_no_event(authority, names, lasting):
    with receiver(tls=authority.context(*names, lasting=dt.timedelta(days=lasting))) as server:
        webhook_sender = HttpWebhookSender(
            allow_private=True, resolve=at("127.0.0.1"), trust=authority.trusted
        )
        failed = failure(webhook_sender, f"https://{NAME}:{server.port}/")
    assert "certificate" in failed.reason
    assert failed.retry
    assert server.received == []


def test_a_certificate_of_an_unknown_issuer_gets_no_event(authority):
    with receiver(tls=authority.context(NAME)) as server:
        webhook_sender = HttpWebhookSender(allow_private=True, resolve=at("127.0.0.1"))
        assert "certificate" in failure(webhook_sender, f"https://{NAME}:{server.port}/").reason
    assert server.received == []


def test_a_receiver_that_is_not_there_is_tried_again_later():
    with vacant_port() as port:
        assert failure(HttpWebhookSender(allow_private=True), f"http://127.0.0.1:{port}/").retry


def test_a_name_that_cannot_be_looked_up_is_tried_again_later():
    def resolve(host, port):
        raise OSError("no such name")

    assert failure(HttpWebhookSender(resolve=resolve), f"https://{NAME}/").retry


def test_a_name_without_addresses_is_tried_again_later():
    assert failure(HttpWebhookSender(resolve=at()), f"https://{NAME}/").retry


def test_a_look_up_that_hangs_does_not_hold_the_webhook_sender():
    release = Event()

    def resolve(host, port):
        release.wait()
        return []

    failed = failure(HttpWebhookSender(resolve=resolve, seconds=0.1), f"https://{NAME}/")
    release.set()
    assert (failed.reason, failed.retry) == ("the receiver took too long", True)


def silent(line):
    while line.recv(65536):
        pass


def for_ever(piece):
    def behave(line):
        while True:
            line.sendall(piece)

    return behave


@pytest.mark.parametrize(
    "behave",
    [silent, for_ever(b"HTTP/1.1 100 Continue\r\n\r\n")],
    ids=["silent", "always about to answer"],
)
def test_a_receiver_that_never_answers_is_left_when_the_time_is_up(behave):
    with rude(behave) as port:
        failed = failure(HttpWebhookSender(allow_private=True, seconds=0.3), f"http://127.0.0.1:{port}/")
    assert (failed.reason, failed.retry) == ("the receiver took too long", True)


@pytest.mark.parametrize(
    "behave",
    [
        lambda line: None,
        lambda line: line.sendall(b"SSH-2.0-OpenSSH_9.6\r\n"),
        lambda line: line.sendall(b"HTTP/1.1 2"),
        lambda line: line.sendall(b"HTTP/1.1 99999 What\r\n\r\n"),
        for_ever(b"HTTP/1.1 200 OK "),
        lambda line: line.sendall(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 500),
    ],
    ids=["hangs up", "speaks SSH", "breaks off", "odd status", "endless line", "endless headers"],
)
def test_an_answer_that_is_no_http_is_a_failure_to_be_retried(behave):
    with rude(behave) as port:
        failed = failure(HttpWebhookSender(allow_private=True), f"http://127.0.0.1:{port}/")
    assert failed.reason.startswith("no answer")
    assert failed.retry


@pytest.mark.parametrize(
    "body",
    [
        lambda line: line.sendall(b"half"),
        lambda line: None,
    ],
    ids=["broken off", "missing"],
)
def test_what_follows_a_good_status_does_not_matter(body):
    def behave(line):
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        body(line)

    with rude(behave) as port:
        HttpWebhookSender(allow_private=True).deliver(parcel(f"http://127.0.0.1:{port}/"))


def test_an_endless_answer_is_not_heard_to_its_end():
    sent = []

    def behave(line):
        line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            sent.append(line.send(b"x" * 65536))

    with rude(behave) as port:
        HttpWebhookSender(allow_private=True).deliver(parcel(f"http://127.0.0.1:{port}/"))
    assert sum(sent) < 32 * 1024 * 1024


def test_an_answer_to_tls_in_plain_text_is_a_failure(authority):
    with rude(lambda line: line.sendall(OK)) as port:
        webhook_sender = HttpWebhookSender(allow_private=True, trust=authority.trusted)
        assert failure(webhook_sender, f"https://127.0.0.1:{port}/").retry


def test_the_machine_knows_its_own_name():
    found = system_addresses("localhost", 80)
    assert set(found) & {"127.0.0.1", "::1"}
    assert len(found) == len(set(found))
