from datetime import UTC, datetime, timedelta

import pytest

from frames import inside
from souvenance.domain import ulid

A_LINE_ID = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"


def fresh_id(offset=timedelta()):
    moment = datetime.now(UTC) + offset
    return ulid.compose(int(moment.timestamp() * 1000), b"0123456789")


def put(actor, text, namespace="travel", **more):
    answer = actor.post("/v1/memory/put", json={"namespace": namespace, "text": text, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def recalled(actor, query, **more):
    answer = actor.post("/v1/memory/get", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["lines"]


def test_put_answers_201_with_the_lines_place_and_whether_it_was_there_already(actor):
    answer = actor.post("/v1/memory/put", json={"namespace": "travel", "text": "Trip to Chengdu"})
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    told = answer.json()
    assert set(told) == {"id", "namespace", "duplicate"}
    assert ulid.check(told["id"])
    assert (told["namespace"], told["duplicate"]) == ("travel", False)


def test_put_takes_every_field_and_the_line_gives_each_of_them_back(actor, name):
    said = {
        "id": fresh_id(),
        "namespace": "travel",
        "text": "Trip to Chengdu, May 25–29 🐼",
        "kind": "note",
        "session": "call-7",
        "metadata": {"source": "phone", "nested": {"list": [1, 2.5, None, True]}},
        "occurred_at": "2026-05-25T09:00:00+02:00",
        "expires_at": "2126-05-25T09:00:00+02:00",
    }
    assert actor.post("/v1/memory/put", json=said).json() == {
        "id": said["id"],
        "namespace": "travel",
        "duplicate": False,
    }
    line = actor.get(f"/v1/memory/lines/{said['id']}").json()
    cap = actor.get("/v1/caps/whoami").json()["jti"]
    assert datetime.fromisoformat(line.pop("created_at")).tzinfo is not None
    assert line == {
        "id": said["id"],
        "namespace": "travel",
        "kind": "note",
        "text": said["text"],
        "occurred_at": "2026-05-25T07:00:00Z",
        "expires_at": "2126-05-25T07:00:00Z",
        "metadata": said["metadata"],
        "cap": cap,
        "session": "call-7",
        "supersedes": None,
        "invalidated_by": None,
        "trust": "said",
    }


def test_put_without_a_namespace_is_personal(actor):
    assert actor.post("/v1/memory/put", json={"text": "likes tea"}).json()["namespace"] == "personal"


def test_a_retry_under_the_same_id_is_told_so_and_stores_nothing_twice(actor):
    said = {"id": fresh_id(), "text": "likes tea", "namespace": "personal"}
    answers = [actor.post("/v1/memory/put", json=said) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 201]
    assert [answer.json()["duplicate"] for answer in answers] == [False, True, True]
    assert len(actor.post("/v1/memory/list", json={}).json()["lines"]) == 1


def test_another_text_under_a_taken_id_is_a_conflict(actor):
    said = {"id": fresh_id(), "text": "likes tea"}
    actor.post("/v1/memory/put", json=said)
    answer = actor.post("/v1/memory/put", json={**said, "text": "likes coffee"})
    assert (answer.status_code, answer.json()["error"]) == (409, "conflict")
    assert actor.get(f"/v1/memory/lines/{said['id']}").json()["text"] == "likes tea"


def test_an_id_of_another_day_is_refused(actor):
    for offset in (timedelta(days=-30), timedelta(hours=1)):
        answer = actor.post("/v1/memory/put", json={"id": fresh_id(offset), "text": "back-dated"})
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


def test_get_answers_the_best_lines_with_exactly_these_fields(actor):
    line_id = put(actor, "Trip to Chengdu, May 25-29")
    put(actor, "Dentist on Friday")
    answer = actor.post("/v1/memory/get", json={"query": "when is the Chengdu trip?"})
    assert answer.status_code == 200
    assert set(answer.json()) == {"lines"}
    best = answer.json()["lines"][0]
    assert set(best) == {
        "id",
        "namespace",
        "kind",
        "text",
        "created_at",
        "occurred_at",
        "score",
        "matched",
        "cap",
        "trust",
    }
    assert (best["id"], best["namespace"], best["kind"]) == (line_id, "travel", "memory")
    assert best["text"] == "Trip to Chengdu, May 25-29"
    assert best["score"] > 0
    assert best["matched"] is True


def test_a_question_that_shares_no_word_gets_the_newest_lines_marked_as_not_matched(actor):
    put(actor, "Trip to Chengdu, May 25-29")
    [line] = recalled(actor, "who won the chess match?")
    assert (line["matched"], line["score"]) == (False, None)


def test_a_namespace_whose_lines_hold_no_word_can_be_searched_too(actor):
    put(actor, "!?!")
    [line] = recalled(actor, "walk")
    assert (line["text"], line["matched"]) == ("!?!", False)


def test_get_without_a_query_answers_the_newest_lines_first(actor):
    ids = [put(actor, f"line {number}") for number in range(7)]
    lines = actor.post("/v1/memory/get", json={}).json()["lines"]
    assert [line["id"] for line in lines] == sorted(ids, reverse=True)[:5]


def test_k_bounds_the_answer_and_more_than_twenty_is_refused(actor):
    for number in range(25):
        put(actor, f"walk number {number}")
    assert len(recalled(actor, "walk")) == 5
    assert len(recalled(actor, "walk", k=20)) == 20
    for k in (0, 21, -1, "5", 5.5, None):
        answer = actor.post("/v1/memory/get", json={"query": "walk", "k": k})
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


def test_since_and_until_bound_what_is_recalled(actor):
    put(actor, "walk in the park")
    past, future = "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
    assert len(recalled(actor, "walk", since=past, until=future)) == 1
    assert recalled(actor, "walk", since=future) == []
    assert recalled(actor, "walk", until=past) == []


def test_only_the_named_namespaces_are_searched(actor):
    put(actor, "allergic to peanuts", "personal")
    put(actor, "peanuts on the plane", "travel")
    assert {line["namespace"] for line in recalled(actor, "peanuts")} == {"personal", "travel"}
    assert {line["namespace"] for line in recalled(actor, "peanuts", namespaces=["travel"])} == {"travel"}
    assert recalled(actor, "peanuts", namespaces=[]) == []


def test_an_unknown_line_and_a_line_of_another_namespace_are_the_same_404(server, actor, name):
    hidden = put(actor, "allergic to peanuts", "personal")
    narrow = server.actor(name, namespaces=["travel"])
    answers = [narrow.get(f"/v1/memory/lines/{line_id}") for line_id in (hidden, A_LINE_ID)]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["error"] == "not_found"


def test_list_answers_lines_without_their_text_oldest_first_page_by_page(actor):
    ids = sorted(put(actor, f"line {number}", session="s") for number in range(5))
    first = actor.post("/v1/memory/list", json={"limit": 3}).json()
    assert set(first) == {"lines", "cursor"}
    assert [line["id"] for line in first["lines"]] == ids[:3]
    assert set(first["lines"][0]) == {
        "id",
        "namespace",
        "kind",
        "created_at",
        "occurred_at",
        "session",
        "supersedes",
        "invalidated_by",
    }
    rest = actor.post("/v1/memory/list", json={"limit": 3, "cursor": first["cursor"]}).json()
    assert [line["id"] for line in rest["lines"]] == ids[3:]
    assert rest["cursor"] is None


def test_list_goes_on_since_a_moment(actor):
    put(actor, "walk in the park")
    assert len(actor.post("/v1/memory/list", json={"since": "2020-01-01T00:00:00Z"}).json()["lines"]) == 1
    assert actor.post("/v1/memory/list", json={"since": "2999-01-01T00:00:00Z"}).json()["lines"] == []


def test_snapshot_answers_a_profile_of_at_most_eight_kibibytes_and_its_moment(actor):
    put(actor, "is called Kai", "personal", kind="profile")
    for number in range(40):
        put(actor, f"{number} " + "ä" * 300)
    answer = actor.post("/v1/memory/snapshot", json={})
    assert answer.status_code == 200
    assert set(answer.json()) == {"profile", "as_of", "lines"}
    assert datetime.fromisoformat(answer.json()["as_of"]).tzinfo is not None
    profile = answer.json()["profile"]
    assert inside(profile).splitlines()[0].endswith("is called Kai")
    assert 4096 < len(profile.encode()) <= 8192
    assert "is called Kai" not in actor.post("/v1/memory/snapshot", json={"namespaces": ["travel"]}).text


def test_invalidate_answers_201_and_the_new_line_takes_the_old_ones_place(actor):
    old = put(actor, "Trip to Chengdu, May 25-29")
    answer = actor.post("/v1/memory/invalidate", json={"id": old, "text": "Trip to Chengdu, June 1-5"})
    assert answer.status_code == 201
    told = answer.json()
    assert set(told) == {"id", "namespace", "invalidates", "duplicate"}
    assert (told["invalidates"], told["namespace"], told["duplicate"]) == (old, "travel", False)
    assert [line["text"] for line in recalled(actor, "Chengdu")] == ["Trip to Chengdu, June 1-5"]
    assert actor.get(f"/v1/memory/lines/{old}").json()["invalidated_by"] == told["id"]
    assert actor.get(f"/v1/memory/lines/{told['id']}").json()["supersedes"] == old


def test_a_line_can_be_corrected_once(actor):
    old = put(actor, "Trip to Chengdu")
    actor.post("/v1/memory/invalidate", json={"id": old})
    again = actor.post("/v1/memory/invalidate", json={"id": old, "text": "Trip to Xi'an"})
    assert (again.status_code, again.json()["error"]) == (409, "conflict")
    assert recalled(actor, "Chengdu") == []


def test_a_correction_with_its_own_id_can_be_retried(actor):
    old, new = put(actor, "Trip to Chengdu"), fresh_id()
    said = {"id": old, "text": "Trip to Xi'an", "new_id": new}
    answers = [actor.post("/v1/memory/invalidate", json=said).json() for _ in range(2)]
    assert [(answer["id"], answer["duplicate"]) for answer in answers] == [(new, False), (new, True)]


def test_invalidating_what_is_not_there_is_not_found(actor):
    answer = actor.post("/v1/memory/invalidate", json={"id": A_LINE_ID})
    assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_forget_answers_what_went_with_a_receipt_that_is_in_the_log(actor):
    line_id = put(actor, "Trip to Chengdu")
    put(actor, "Dentist on Friday")
    answer = actor.post("/v1/memory/forget", json={"id": line_id})
    assert answer.status_code == 200
    told = answer.json()
    text = told.pop("receipt")
    assert told == {"lines": 1, "keys": 0, "namespaces": ["travel"], "scrubbed": True}
    receipt = actor.post("/v1/receipts/verify", json={"receipt": text}).json()["receipt"]
    [row] = actor.get("/v1/audit", params={"first": receipt["row"], "limit": 1}).json()["rows"]
    assert (row["leaf"], row["operation"], row["lines"]) == (receipt["leaf"], "memory.forget", [line_id])
    assert actor.get(f"/v1/memory/lines/{line_id}").status_code == 404


def test_a_dry_run_of_forget_answers_what_would_go(actor):
    line_id = put(actor, "Trip to Chengdu")
    told = actor.post("/v1/memory/forget", json={"namespace": "travel", "dry_run": True}).json()
    [newest] = told.pop("newest")
    assert told == {"lines": 1, "keys": 2, "namespaces": ["travel"], "scrubbed": False, "dry_run": True}
    assert (newest["id"], newest["text"]) == (line_id, "Trip to Chengdu")
    assert actor.get(f"/v1/memory/lines/{line_id}").status_code == 200


def test_a_receipt_that_nobody_signed_is_refused(actor):
    answer = actor.post("/v1/receipts/verify", json={"receipt": "a.b.c"})
    assert (answer.status_code, answer.json()["error"]) == (400, "receipt_invalid")


def test_forgetting_a_namespace_destroys_its_keys_and_spares_the_others(actor):
    put(actor, "Trip to Chengdu", "travel")
    put(actor, "allergic to peanuts", "personal")
    told = actor.post("/v1/memory/forget", json={"namespace": "travel"}).json()
    assert (told["lines"], told["keys"], told["namespaces"]) == (1, 2, ["travel"])
    assert [line["namespace"] for line in recalled(actor, "anything")] == ["personal"]


def test_forgetting_an_owner_leaves_nothing_of_them_and_everything_of_others(server, actor, name):
    put(actor, "Trip to Chengdu", "travel")
    put(actor, "allergic to peanuts", "personal")
    other = server.actor(f"{name}-other")
    put(other, "Trip to Oslo")
    told = server.owner.post("/v1/memory/forget", json={"owner": name}).json()
    assert (told["lines"], told["namespaces"]) == (2, ["personal", "travel"])
    assert actor.post("/v1/memory/list", json={"history": True}).json()["lines"] == []
    assert len(recalled(other, "Oslo")) == 1


def test_forgetting_an_empty_namespace_succeeds_and_says_nothing(actor):
    told = actor.post("/v1/memory/forget", json={"namespace": "nothing-here"}).json()
    assert (told["lines"], told["keys"], told["namespaces"]) == (0, 0, [])


def test_forget_wants_exactly_one_of_line_namespace_and_owner(actor, name):
    for asked in ({}, {"namespace": "travel", "owner": name}, {"id": A_LINE_ID, "namespace": "travel"}):
        answer = actor.post("/v1/memory/forget", json=asked)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


def test_status_answers_what_the_caps_owner_has_stored(actor, name):
    put(actor, "Trip to Chengdu")
    told = actor.get("/v1/status").json()
    assert set(told) == {
        "workspace",
        "owner",
        "namespaces",
        "audit_rows",
        "conclusions",
        "scrub_pending",
        "reasoner",
        "model",
        "embedder",
        "waiting",
        "renewing",
        "embedder_trouble",
        "uncarried",
        "unfinished_imports",
        "vectors",
    }
    assert (told["workspace"], told["owner"]) == ("default", name)
    assert told["namespaces"] == [{"namespace": "travel", "lines": 1}]


def test_health_answers_without_a_cap(server):
    answer = server.client().get("/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")
    assert set(answer.json()) == {"status", "version", "store", "embedder"}


def test_an_explained_line_has_one_member_more(actor):
    put(actor, "Trip to Chengdu, May 25-29")
    asked = {"query": "Chengdu", "explain": True, "at": "2026-05-20T09:00:00+02:00"}
    [line] = actor.post("/v1/memory/get", json=asked).json()["lines"]
    assert set(line["explanation"]) == {"rank", "by", "score", "signals", "space"}
    assert set(line["explanation"]["signals"]["similar_words"]) == {"value", "weight", "added"}


@pytest.mark.parametrize(
    "wrong", [{"at": "next week"}, {"at": "2026-05-20T09:00:00"}, {"explain": "yes"}, {"floor": 2}]
)
def test_how_a_question_is_asked_must_be_readable(actor, wrong):
    answer = actor.post("/v1/memory/get", json={"query": "Chengdu", **wrong})
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")


def test_reindexing_is_for_the_installations_own_cap(server, actor):
    refused = actor.post("/v1/reindex", json={})
    assert (refused.status_code, refused.json()["error"]) == (403, "cap_scope_mismatch")
    told = server.owner.post("/v1/reindex", json={}).json()
    assert set(told) == {"lines", "vectors", "old_vectors", "done", "trouble"}
