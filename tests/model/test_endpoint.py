"""Every way in which an endpoint fails is told as what it is, counted, and not tried again at once."""

from __future__ import annotations

import threading

import pytest

from model.stand_in import Fails, Hangs, Says, Sends
from model.world import Thinker, fact, facts, inquiry
from ports import vacant_port
from souvenance.errors import ModelUnavailable, ModelUnusable

SAID = "Evenings mean sewing, quilts mostly."
GOOD = facts(fact("ann sews quilts", "t1"))
OUTAGES = [
    Fails(429),
    Fails(500),
    Fails(502, told="<html>bad gateway</html>"),
    Fails(503),
    Fails(401),
    Fails(403),
    Fails(404),
    Fails(302, headers={"location": "http://127.0.0.1:1/"}),
    Sends(b""),
    Sends(b"<html>welcome</html>"),
    Sends(b"[1, 2]"),
    Sends(b'{"choices": "none"}'),
    Sends(b"\xff\xfe\x00"),
]


@pytest.mark.parametrize("reply", OUTAGES, ids=str)
def test_an_outage_is_told_as_one_that_passes_and_is_over_when_it_is(thinker, endpoint, reply):
    endpoint.plays(reply, GOOD)
    with pytest.raises(ModelUnavailable) as raised:
        thinker.noted(SAID)
    assert not isinstance(raised.value, ModelUnusable)
    assert "a key" not in f"{raised.value.detail} {raised.value.hint}"
    assert "ann sews quilts" in thinker.noted(SAID)


@pytest.mark.parametrize("reply", [*OUTAGES, Sends(b"{}"), Fails(400), "I can't help with that."], ids=str)
def test_a_call_that_fails_is_counted(thinker, endpoint, reply):
    endpoint.plays(reply)
    with pytest.raises(ModelUnavailable):
        thinker.noted(SAID)
    assert thinker.budget.spent("w")[0].calls_today == len(endpoint.asked) >= 1


def test_nobody_listening_is_an_outage_that_costs_no_tokens(endpoint, tmp_path):
    with vacant_port() as port:
        endpoint.url = f"http://127.0.0.1:{port}/v1"
        thinker = Thinker(endpoint, tmp_path)
        with pytest.raises(ModelUnavailable, match="reached"):
            thinker.noted(SAID)
    spent = thinker.budget.spent("w")[0]
    assert (spent.calls_today, spent.tokens_today) == (1, 0)


def test_a_reply_that_does_not_come_in_time_costs_what_it_might_have_cost(endpoint, tmp_path):
    released = threading.Event()
    endpoint.plays(Hangs(released))
    thinker = Thinker(endpoint, tmp_path, timeout=0.1)
    with pytest.raises(ModelUnavailable, match="in time"):
        thinker.noted(SAID)
    released.set()
    assert thinker.budget.spent("w")[0].tokens_today > 1200


def test_a_stream_that_never_ends_is_ended(endpoint, tmp_path):
    released = threading.Event()
    told = Says(pieces=("quilts ",) * 5, before=lambda at: at > 1 and released.wait(0.2))
    endpoint.plays(told)
    thinker = Thinker(endpoint, tmp_path, timeout=0.3)
    with pytest.raises(ModelUnavailable):
        thinker.told("quilts?", "ann sews quilts", "ann lives by the sea")
    released.set()


def test_a_reply_without_end_is_not_read_to_its_end(thinker, endpoint):
    endpoint.plays(Sends(b'{"choices": [' + b" " * (9 * 1024 * 1024)))
    with pytest.raises(ModelUnavailable, match="bytes"):
        thinker.noted(SAID)


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("30", 30), ("0", 0), ("99999999", 3600), ("Sun, 15 Nov 2026 12:00:00 GMT", None), ("soon", 1)],
)
def test_a_busy_endpoint_is_left_alone_for_as_long_as_it_asks(thinker, endpoint, told, seconds):
    endpoint.plays(Fails(429, headers={"retry-after": told}), GOOD)
    with pytest.raises(ModelUnavailable) as raised:
        thinker.noted(SAID)
    if seconds is None:
        assert 1 <= raised.value.retry_after <= 3600
        return
    assert raised.value.retry_after == seconds
    if seconds:
        with pytest.raises(ModelUnavailable, match="left alone"):
            thinker.noted(SAID)
        assert len(endpoint.asked) == 1
        thinker.clock.advance(seconds=seconds)
    assert "ann sews quilts" in thinker.noted(SAID)


def test_an_endpoint_that_keeps_failing_is_asked_less_and_less(thinker, endpoint):
    endpoint.plays(Fails(503))
    rests = []
    for _ in range(8):
        with pytest.raises(ModelUnavailable):
            thinker.noted(SAID)
        rests.append(thinker.endpoint.rests())
        thinker.clock.advance(seconds=rests[-1])
    assert rests == [0, 4, 8, 16, 32, 60, 60, 60]
    assert thinker.endpoint.trouble == ""
    endpoint.plays(GOOD)
    assert "ann sews quilts" in thinker.noted(SAID)
    assert thinker.endpoint.rests() == 0


def test_while_it_is_left_alone_the_status_says_why(thinker, endpoint):
    endpoint.plays(Fails(429, headers={"retry-after": "30"}))
    with pytest.raises(ModelUnavailable):
        thinker.noted(SAID)
    assert "429" in thinker.model.standing("w").trouble


def complains(*words):
    """An endpoint that refuses whatever has one of these parts, and says so."""

    def reply(asked):
        bad = next((word for word in words if word in asked.body), None)
        return GOOD if bad is None else Fails(400, {"error": {"message": f"{bad} is not supported"}})

    return reply


@pytest.mark.parametrize(
    "parts",
    [
        ("response_format",),
        ("temperature",),
        ("max_tokens",),
        ("temperature", "max_tokens", "response_format"),
    ],
    ids=str,
)
def test_an_endpoint_that_takes_less_is_asked_for_less_and_that_is_remembered(thinker, endpoint, parts):
    endpoint.plays(complains(*parts))
    assert "ann sews quilts" in thinker.noted(SAID)
    tries = len(endpoint.asked)
    assert tries > 1
    assert thinker.budget.spent("w")[0].calls_today == tries
    assert "ann sews quilts" in thinker.noted(SAID)
    assert len(endpoint.asked) == tries + 1


def test_json_is_asked_for_by_schema_then_as_an_object_then_in_words(thinker, endpoint):
    endpoint.plays(complains("response_format"))
    thinker.noted(SAID)
    asked = [one.body.get("response_format", {}).get("type") for one in endpoint.asked]
    assert asked == ["json_schema", "json_object", None]
    assert all("JSON" in one.system for one in endpoint.asked)
    schema = endpoint.asked[0].body["response_format"]["json_schema"]
    assert schema["strict"]
    assert set(schema["schema"]["properties"]) == {"add", "replace", "retire", "keep"}


def test_a_complaint_that_names_nothing_is_taken_to_be_about_the_form(thinker, endpoint):
    endpoint.plays(lambda asked: Fails(400) if "response_format" in asked.body else GOOD)
    assert "ann sews quilts" in thinker.noted(SAID)


def test_what_is_refused_whatever_its_form_teaches_nothing(thinker, endpoint):
    endpoint.plays(Fails(400))
    with pytest.raises(ModelUnusable):
        thinker.noted(SAID)
    assert thinker.endpoint.dialect.json == "schema"
    assert thinker.endpoint.rests() == 0


def test_a_prompt_that_is_too_long_is_not_asked_again_in_another_form(thinker, endpoint):
    endpoint.plays(Fails(400, {"error": {"message": "maximum context length is 2048 tokens"}}))
    with pytest.raises(ModelUnusable):
        thinker.noted(SAID)
    assert len(endpoint.asked) == 1


def test_an_endpoint_that_does_not_stream_answers_too(thinker, endpoint):
    whole = b'{"choices": [{"message": {"content": "ann sews quilts [s1]."}, "finish_reason": "stop"}]}'
    endpoint.plays(Sends(whole))
    pieces, told = thinker.told("What does ann sew?", "ann sews quilts", streamed=True)
    assert ("".join(pieces), told.cited) == ("ann sews quilts.", ("known1",))


def test_the_key_goes_with_every_call_and_into_no_file(thinker, endpoint, tmp_path):
    endpoint.plays(GOOD)
    thinker.noted(SAID)
    assert endpoint.asked[0].headers["authorization"] == "Bearer a key"
    assert not any(b"a key" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_without_a_key_none_is_sent(endpoint, tmp_path):
    endpoint.plays(GOOD)
    Thinker(endpoint, tmp_path, key=None).noted(SAID)
    assert "authorization" not in endpoint.asked[0].headers


@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_under_way_is_broken_off_when_the_process_stops(thinker, endpoint, streamed):
    released = threading.Event()
    endpoint.plays(Hangs(released))
    failures = []

    def think():
        try:
            if streamed:
                for _ in thinker.model.tell(
                    thinker.workspace, inquiry("quilts?", "ann sews quilts", shape={"type": "object"})
                ):
                    pass
            thinker.noted(SAID)
        except ModelUnavailable as error:
            failures.append(error)

    thread = threading.Thread(target=think, daemon=True)
    thread.start()
    endpoint.wait(1)
    thinker.model.stop()
    thread.join(10)
    released.set()
    assert not thread.is_alive()
    assert len(failures) == 1
    with pytest.raises(ModelUnavailable):
        thinker.noted(SAID)
    assert len(endpoint.asked) == 1


def test_the_query_of_its_address_goes_with_every_call(endpoint, tmp_path):
    endpoint.url += "?api-version=2024-10-21"
    endpoint.plays(GOOD)
    Thinker(endpoint, tmp_path).noted(SAID)
    assert endpoint.asked[0].path == "/v1/chat/completions?api-version=2024-10-21"
