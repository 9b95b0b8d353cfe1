"""The TypeScript client against a server: built by its compiler, and run by Node."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from souvenance.memory.sync import LineMethods, Memory, Peer, Session
from souvenance.version import __version__
from surfaces.door import serving
from typescript_client.api_types import CLIENT, RENEW, ROOT, TYPES, api_types
from typescript_client.programs import built, finished, moved, silent, started

HERE = Path(__file__).parent
PAGES = {"page": ROOT / "docs/howto/use-from-typescript.md", "readme": CLIENT / "README.md"}
OWN = ("scenarios.ts", "wrong_arguments.ts", "process.d.ts")
OPS = ["get", "put", "list", "invalidate", "forget"]
"""What the page grants."""


IN_A_PAGE = """async ([url, token]) => {
    const { Souvenance } = await import("/app/index.js");
    const memory = new Souvenance({ url, token });
    try {
        await memory.put("I live in Lisbon");
        return (await memory.get("Where do I live?")).map((line) => line.text);
    } catch (error) {
        return error.code;
    }
}"""


def from_package(programs, route):
    """Answers for a site: an empty page, and the modules of the client."""
    name = route.request.url.rpartition("/")[2]
    module = programs / "node_modules/souvenance/dist" / name
    body = module.read_text("utf-8") if name else "<!doctype html><title>A page</title>"
    route.fulfill(body=body, content_type="text/javascript" if name else "text/html")


def example(page: Path) -> str:
    """The blocks of a page, as one program."""
    return "".join(re.findall(r"^```ts\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    sources = {name: (HERE / name).read_text("utf-8") for name in OWN}
    sources |= {f"{name}.ts": example(page) for name, page in PAGES.items()}
    return built(tmp_path_factory.mktemp("programs"), sources)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "home") as server:
        yield server


@pytest.fixture(scope="module")
def told(programs, tmp_path_factory):
    """What came of each scenario."""
    home = tmp_path_factory.mktemp("stopped") / "home"
    with serving(home) as server, silent() as silent_url, moved(server.url) as moved_url:
        token = server.mint("me", [*OPS, "snapshot", "grant"], wid="*", peers=["*"])
        narrow = server.mint("me", ["get", "list"], ["travel"])
        process = started(programs / "scenarios.js", server.url, token, narrow, silent_url, moved_url)
        assert process.stdout.readline() == "Stop the server now.\n", finished(process)
        server.stop()
        return json.loads(finished(process, "It is stopped.\n"))


@pytest.mark.parametrize("name", PAGES)
def test_an_example_prints_what_its_comments_say(name, programs, server):
    page = example(PAGES[name])
    programs.joinpath(f"{name}.js").write_text(
        programs.joinpath(f"{name}.js").read_text("utf-8").replace("http://127.0.0.1:8787", server.url)
    )
    token = server.mint(name, OPS, peers=["*"])
    printed = finished(started(programs / f"{name}.js", SOUVENANCE_CAP=token))
    assert printed.splitlines() == re.findall(r"console\.log\(.*\); // (.*)$", page, re.M)


def test_the_types_are_those_of_the_servers_openapi_description(server, tmp_path):
    assert TYPES.read_text("utf-8") == api_types(server.openapi, tmp_path), f"Run: {RENEW}"


def test_the_readme_begins_with_an_example_of_five_lines():
    assert len(example(PAGES["readme"]).strip().splitlines()) == 5


def test_the_package_depends_on_nothing_when_it_runs():
    package = json.loads((CLIENT / "package.json").read_text("utf-8"))
    assert "dependencies" not in package
    assert package["private"]


def test_the_package_has_the_servers_version():
    for name in ("package.json", "package-lock.json"):
        assert json.loads((CLIENT / name).read_text("utf-8"))["version"] == __version__


def test_lines_are_put_found_corrected_and_forgotten(told):
    lines = told["lines"]
    found, old = lines["found"], lines["old"]
    assert (found["text"], found["matched"], found["occurredAt"]) == (
        "I live in Lisbon",
        True,
        "2026-03-04T05:06:07.000Z",
    )
    assert old == {
        **found,
        "score": None,
        "metadata": {"from": "a form"},
        "replacedBy": lines["corrected"],
    }
    assert lines["now"] == ["I live in Porto"]
    assert lines["ever"] == ["I live in Lisbon", "I live in Porto"]
    assert "I live in Porto" in lines["snapshot"]
    assert (lines["would"]["lines"], lines["would"]["receipt"]) == (1, "")
    assert (lines["forgotten"]["lines"], lines["forgotten"]["namespaces"]) == (2, ["personal"])
    assert lines["forgotten"]["receipt"].startswith("eyJ")
    assert lines["left"] == []


def test_a_list_is_read_in_pages(told):
    assert told["pages"] == 103


@pytest.mark.parametrize(
    ("refused", "code", "status"),
    [
        ("denied", "namespace_denied", 403),
        ("writes", "cap_op_mismatch", 403),
        ("unknown", "not_found", 404),
        ("wrong", "invalid_input", 400),
        ("malformed", "cap_malformed", 401),
        ("elsewhere", "invalid_input", 400),
        ("nobody", "invalid_input", 400),
        ("nameless", "invalid_input", 400),
    ],
)
def test_a_refusal_has_the_servers_code_and_a_hint(refused, code, status, told):
    error = told["refusals"][refused]
    assert (error["code"], error["status"], error["retryable"]) == (code, status, False)
    assert error["hint"]
    assert error["message"]


def test_a_narrow_token_opens_its_namespace_alone(told):
    seat = ["prefers the window seat"]
    assert told["narrowToken"] == {"found": seat, "ofAnother": [], "listed": seat}


def test_a_peer_has_lines_that_no_other_peer_finds(told):
    assert told["peers"] == {"ann": ["prefers tea"], "bob": []}


def test_a_workspace_keeps_apart_what_is_in_another(told):
    found = told["workspaces"]
    assert found["work"] == [["the build is green"], ["The build is green."]]
    assert found["peer"] == ["The build is green."]
    assert not any("build" in text for text in found["here"])
    assert found["conversation"]["code"] == "not_found"


def test_a_conversation_is_kept_searched_and_asked_without_a_model(told):
    talk = told["conversation"]
    first, second, third = (
        "My name is Ann. I have a dog called Rex.",
        "Nice to meet you!",
        "I'm allergic to nuts.",
    )
    assert talk["said"].items() >= {"text": first, "peer": "ann", "metadata": {"mood": "good"}}.items()
    assert talk["context"] == [["ann", first], ["bot", second], ["ann", third]]
    assert talk["read"] == [first, second, third]
    assert (talk["searched"], talk["searchedByPeer"]) == ([third], [first])
    assert all("Rex" in answer for answer in talk["answers"])
    assert (talk["known"], talk["card"]) == ("string", True)
    assert talk["unknown"] is None
    assert talk["deleted"]


def test_facts_are_waited_for_stated_found_and_forgotten_as_from_python(told):
    facts = told["facts"]
    assert facts["waited"] is True
    assert facts["told"] == {
        "text": "ann has a dog called Rex",
        "observer": "ann",
        "about": "ann",
        "level": "explicit",
        "session": "monday",
        "id": 26,
        "dated": True,
    }
    assert facts["noted"] == ["ann has a dog called Rex"]
    assert "ann has a dog called Rex" in facts["newest"] and len(facts["newest"]) > 1
    assert facts["aboutBob"] == [["bob likes jazz", True]]
    assert facts["card"] == facts["read"] == ["Name: Ann", "Pet: Rex"]
    assert facts["left"] == ["I live in Lisbon."]
    assert (facts["peers"], facts["sessions"]) == (["ann", "bob"], ["monday"])
    assert facts["namespaces"] == ["default", "work"]
    assert facts["wrong"]["code"] == "not_found"


def test_it_has_every_method_of_the_python_client():
    """`open` and `close` have no counterpart: a client holds nothing open."""
    source = "".join(path.read_text("utf-8") for path in CLIENT.glob("src/*.ts") if path != TYPES)
    methods = set(re.findall(r"^  (?:async )?\*?(\w+)\(", source, re.M))
    for kind in (Memory, Peer, Session):
        names = [name for name in vars(kind) if not name.startswith("_")] + [
            name for name in vars(LineMethods) if not name.startswith("_")
        ]
        missing = {re.sub(r"_(\w)", lambda found: found[1].upper(), name) for name in names} - methods
        assert missing <= {"close"}, kind


def test_what_is_safe_to_repeat_is_sent_again_when_an_answer_is_lost(told):
    repeats = told["repeats"]
    assert repeats["read"] == [True, 3]
    assert repeats["added"] == ["once", 3]
    assert repeats["stored"] == ["once"]
    assert repeats["named"] == [True, 2]
    assert repeats["lines"].count("surely") == 1


def test_another_write_is_not_sent_again_when_its_answer_is_lost(told):
    error, requests = told["repeats"]["written"]
    assert (error["code"], error["status"], requests) == ("server_unreachable", 0, 1)
    assert told["repeats"]["lines"].count("perhaps") == 1


def test_every_call_is_sent_again_when_the_server_was_busy(told):
    assert told["repeats"]["busy"] == ["string", 2]
    assert told["repeats"]["lines"].count("later") == 1


def test_a_call_is_given_up_after_three_requests(told):
    error, requests = told["repeats"]["gone"]
    assert (error["code"], error["retryable"], requests) == ("server_unreachable", True, 3)
    assert "the connection was lost" in error["message"]


def test_an_aborted_call_throws_the_reason_of_its_signal_and_is_not_repeated(told):
    assert told["endings"]["aborted"]["name"] == "AbortError"
    assert told["endings"]["requests"] == 1
    assert told["endings"]["before"] == {"name": "Error", "message": "enough"}


def test_a_server_that_does_not_answer_in_time_is_unreachable(told):
    late = told["endings"]["late"]
    assert (late["code"], late["message"]) == ("server_unreachable", "no answer within 30 ms")


def test_what_is_not_souvenance_is_unreachable(told):
    foreign = told["endings"]["foreign"]
    assert (foreign["code"], foreign["status"]) == ("server_unreachable", 502)


def test_no_other_address_is_given_the_token(told):
    moved = told["endings"]["moved"]
    assert (moved["code"], moved["status"]) == ("server_unreachable", 307)


def test_a_stopped_server_is_unreachable(told):
    stopped = told["stopped"]
    assert (stopped["code"], stopped["status"], stopped["retryable"]) == ("server_unreachable", 0, True)
    assert "souvenance serve" in stopped["hint"]


def test_a_page_uses_it_if_it_has_the_servers_origin(programs, server, browser):
    token = server.mint("visitor", ["put", "get"])
    page = browser.new_page()
    page.route("**/app/*", partial(from_package, programs))
    page.goto(f"{server.url}/app/")
    assert page.evaluate(IN_A_PAGE, [server.url, token]) == ["I live in Lisbon"]
    page.goto(f"{server.url.replace('127.0.0.1', 'localhost')}/app/")
    assert page.evaluate(IN_A_PAGE, [server.url, token]) == "server_unreachable"
