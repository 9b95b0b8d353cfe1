import httpx
import pytest

from processes import PATIENCE_SECONDS
from surfaces.door import serving


def refused(answer):
    assert set(answer.json()) == {"error", "detail", "hint"}
    return answer.status_code, answer.json()["error"]


@pytest.fixture
def port(server):
    return server.url.rsplit(":", 1)[1]


@pytest.mark.parametrize("path", ["/health", "/openapi.json", "/v1/status"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example:{port}",
        "127.0.0.1@evil.example",
        "192.168.0.1",
        "[::2]",
        "[",
        "",
    ],
)
def test_a_foreign_host_is_refused_even_with_the_owners_cap(server, port, path, host):
    answer = server.owner.get(path, headers={"host": host.format(port=port)})
    assert refused(answer) == (403, "host_refused")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:{port}",
        "127.0.0.1:1",
        "localhost",
        "localhost:{port}",
        "LocalHost",
        "localhost.",
        "[::1]",
        "[::1]:{port}",
        "127.8.9.1",
    ],
)
def test_every_name_of_loopback_is_served(server, port, host):
    assert server.owner.get("/v1/status", headers={"host": host.format(port=port)}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://evil.example:{port}",
        "null",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "http://localhost:{port}",
        "file://",
        "",
        "127.0.0.1:{port}",
        "http://[",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port}@evil.example",
    ],
)
@pytest.mark.parametrize("path", ["/health", "/v1/status"])
def test_a_page_of_another_origin_is_refused_even_with_the_owners_cap(server, port, path, origin):
    answer = server.owner.get(path, headers={"origin": origin.format(port=port)})
    assert refused(answer) == (403, "host_refused")


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:{port}"])
def test_a_page_of_the_same_origin_is_served(server, port, host):
    name = host.format(port=port)
    answer = server.owner.get("/v1/status", headers={"host": name, "origin": f"http://{name}"})
    assert answer.status_code == 200


def test_a_refused_page_learns_nothing_from_cross_origin_headers(server):
    answer = server.owner.get("/v1/status", headers={"origin": "https://evil.example"})
    assert not [header for header in answer.headers if header.startswith("access-control-")]


def test_an_unknown_path_is_no_way_around_the_guard(server):
    for path in ("/nothing", "/v1/status/"):
        answer = server.owner.get(path, headers={"host": "evil.example"})
        assert "evil.example" not in answer.text + str(dict(answer.headers))
        assert answer.status_code in (403, 404)


def test_a_server_with_host_names_answers_to_those_only(tmp_path):
    names = ("--host-name", "memory.example", "--host-name", "Memory.Lan")
    with serving(tmp_path / "home", "--host", "0.0.0.0", "--allow-remote", *names) as server:
        port = server.url.rsplit(":", 1)[1]
        health = f"http://127.0.0.1:{port}/health"
        for name in ("evil.example", "127.0.0.1", f"localhost:{port}", "x.memory.example"):
            assert refused(httpx.get(health, headers={"host": name}, timeout=PATIENCE_SECONDS)) == (
                403,
                "host_refused",
            )
        for name in ("memory.example", f"memory.example:{port}", "MEMORY.example", "memory.lan"):
            assert httpx.get(health, headers={"host": name}, timeout=PATIENCE_SECONDS).status_code == 200, (
                name
            )


def test_a_remote_server_still_refuses_pages_of_other_origins_and_requests_without_a_cap(tmp_path):
    with serving(tmp_path / "home", "--host", "0.0.0.0", "--allow-remote") as server:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert refused(server.owner.get("/v1/status", headers={"origin": "https://evil.example"})) == (
            403,
            "host_refused",
        )
        assert refused(server.client().get("/v1/status")) == (401, "cap_missing")


METADATA = [
    "/.well-known/oauth-authorization-server",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
]


@pytest.mark.parametrize("path", METADATA)
def test_a_page_of_any_origin_may_read_what_the_server_says_of_signing_in(server, path):
    origin = {"origin": "https://inspector.example"}
    answer = httpx.get(f"{server.url}{path}", headers=origin, timeout=PATIENCE_SECONDS, trust_env=False)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert "access-control-allow-credentials" not in answer.headers
    asked = {**origin, "access-control-request-method": "GET"}
    first = httpx.options(f"{server.url}{path}", headers=asked, timeout=PATIENCE_SECONDS, trust_env=False)
    assert (first.status_code, first.headers["access-control-allow-origin"]) == (204, "*")
    assert first.headers["access-control-allow-headers"] == "mcp-protocol-version"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", METADATA[0]),
        ("GET", "/.well-known/other"),
        ("GET", f"{METADATA[0]}/"),
        ("OPTIONS", "/v1/status"),
        ("OPTIONS", "/mcp"),
        ("POST", "/oauth/token"),
        ("GET", "/authorize"),
    ],
)
def test_a_page_of_another_origin_gets_nothing_else(server, method, path):
    answer = server.owner.request(method, path, headers={"origin": "https://inspector.example"})
    assert refused(answer) == (403, "host_refused")


@pytest.mark.parametrize("path", METADATA)
def test_a_foreign_host_is_refused_there_too(server, path):
    answer = server.owner.get(path, headers={"host": "evil.example", "origin": "http://evil.example"})
    assert refused(answer) == (403, "host_refused")
