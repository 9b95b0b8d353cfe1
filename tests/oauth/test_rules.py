"""The rules of OAuth that need no server."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.sign_ins import is_target, may_redirect, redirect_matches, typed

HOSTS = st.sampled_from(
    [
        "127.0.0.1",
        "[::1]",
        "localhost",
        "127.0.0.1.evil.example",
        "evil.example",
        "127.0.0.2",
        "[::2]",
        "2130706433",
    ]
)
PIECES = st.sampled_from(
    ["", "/", "/callback", "/callback?a=b", "@evil.example", ":1@evil.example/", "#x", "\\", "%"]
)
URIS = st.builds(
    lambda scheme, host, port, tail: f"{scheme}://{host}{port}{tail}",
    st.sampled_from(["http", "https", "HTTP", "cursor"]),
    HOSTS,
    st.sampled_from(["", ":", ":0", ":1", ":8765", ":65535", ":65536", ":x"]),
    st.builds("".join, st.lists(PIECES, max_size=3)),
) | st.text(max_size=40)


def parts(uri):
    """Without the port, by another parser than the rule's."""
    split = urlsplit(uri)
    return split.scheme, split.hostname, split.path, split.query, split.fragment, split.username


@given(st.sampled_from(["http://127.0.0.1/callback", "http://[::1]:1/", "http://localhost/"]) | URIS, URIS)
def test_a_redirect_never_matches_another_host_path_or_scheme(registered, given):
    if may_redirect(registered) and redirect_matches(registered, given):
        assert may_redirect(given)
        assert parts(registered) == parts(given)
        if registered != given:
            assert urlsplit(given).hostname in ("127.0.0.1", "::1")
            assert urlsplit(given).scheme == "http"


@given(URIS)
def test_no_answer_goes_to_another_machine_in_the_clear_or_to_a_script(uri):
    if may_redirect(uri):
        split = urlsplit(uri)
        assert split.scheme not in ("javascript", "data", "vbscript", "file", "blob", "about", "ftp")
        assert split.scheme != "http" or split.hostname in ("127.0.0.1", "::1", "localhost")
        assert "#" not in uri
        assert split.username is None


@pytest.mark.parametrize("port", ["", ":1", ":8765", ":65535"])
def test_a_loopback_address_matches_with_any_port(port):
    assert redirect_matches("http://127.0.0.1/callback", f"http://127.0.0.1{port}/callback")
    assert redirect_matches("http://[::1]:9/callback", f"http://[::1]{port}/callback")


@pytest.mark.parametrize("given", ["http://localhost:2/callback", "http://127.0.0.1:2/callback"])
def test_a_name_matches_with_its_own_port_alone(given):
    assert not redirect_matches("http://localhost:1/callback", given)
    assert redirect_matches("http://localhost:1/callback", "http://localhost:1/callback")


@given(st.text("BCDFGHJKLMNPQRSTVWXZ", min_size=8, max_size=8))
def test_a_code_to_type_is_read_back_however_it_is_spelled(letters):
    code = f"{letters[:4]}-{letters[4:]}"
    assert typed(code) == typed(code.lower()) == typed(code.replace("-", "")) == code


@given(st.text(max_size=30))
def test_whatever_is_typed_is_a_code_or_none(text):
    code = typed(text)
    assert code is None or typed(code) == code


def test_a_resource_is_this_server_or_not():
    assert is_target("https://m.example", "https://m.example")
    assert is_target("https://m.example/mcp", "https://m.example")
    for other in ("https://m.example.evil", "https://m.example/mcpx", "http://m.example", "", "/mcp"):
        assert not is_target(other, "https://m.example")
