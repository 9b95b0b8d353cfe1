"""The page of a line names those who may see it: all tokens that the gate lets read it, and no other."""

from __future__ import annotations

import re

import pytest

from inspector.scenes import say
from souvenance.domain.capability import read_unverified

W = "/v3/workspaces/home"
READS = ["get", "list"]
TOKENS = {
    "everyone": ("clerk", {"peers": ["*"]}),
    "everyone, one namespace": ("clerk", {"peers": ["*"], "namespaces": ["work"]}),
    "ann": ("ann", {}),
    "ann at work": ("ann", {"namespaces": ["work"]}),
    "ann, one session": ("ann", {"sessions": ["plans"]}),
    "ann, her profile": ("ann", {"ops": ["snapshot"]}),
    "ann, without texts": ("ann", {"ops": ["list"]}),
    "ann elsewhere": ("ann", {"wid": "other"}),
    "ben": ("ben", {}),
    "ben and ann": ("ben", {"peers": ["ann"]}),
    "the agent": ("helper", {}),
    "a session": ("clerk", {"peers": ["*"], "sessions": ["plans"]}),
    "another session": ("clerk", {"peers": ["*"], "sessions": ["office"]}),
    "ann through the agent": ("ann", {"via": ["helper"]}),
    "ben through the agent": ("ben", {"via": ["helper"]}),
    "ann through the agent, one session": ("ann", {"via": ["helper"], "sessions": ["plans"]}),
    "ann through the agent, at work": ("ann", {"via": ["helper"], "namespaces": ["work"]}),
}
"""Whose each token is, and what else it says."""


@pytest.fixture(scope="module")
def lines(server):
    """Lines of each kind, as (owner, id), by a word that only their text holds."""
    said = say(server, "plans", ("ann", "I plan quinces."), ("helper", "Noted: medlars."))
    [at_work] = say(server, "office", ("ann", "The report has persimmons."), namespace="work")
    say(server, "alone", ("ben", "I say nothing of it."), ("helper", "Good."))

    def concluded(text, observer, observed, **more):
        one = {"content": text, "observer_id": observer, "observed_id": observed, **more}
        answer = server.owner.post(f"{W}/conclusions", json={"conclusions": [one]})
        return observer, answer.raise_for_status().json()[0]["id"]

    ann = server.client(server.mint("ann", wid="home"))
    noted = ann.post("/v1/memory/put", json={"text": "Pomelos are mine.", "namespace": "personal"})
    return {
        "quinces": ("ann", said[0]),
        "medlars": ("helper", said[1]),
        "persimmons": ("ann", at_work),
        "loquats": concluded("Ann likes loquats.", "helper", "ann", session_id="plans", source_ids=[said[0]]),
        "rambutans": concluded("Ann likes rambutans.", "helper", "ann"),
        "durians": concluded("Ben likes durians.", "helper", "ben", session_id="alone"),
        "salaks": concluded("The helper likes salaks.", "helper", "helper", session_id="plans"),
        "jujubes": concluded("Ann likes jujubes.", "ann", "ann"),
        "pomelos": ("ann", noted.raise_for_status().json()["id"]),
    }


def read_with(server, visitor, token, lines):
    """The words of all texts that the token is given, by the doors of lines, messages and conclusions."""
    client, browser = server.client(token), visitor(token)
    told = [client.post(f"{W}/conclusions/list", json={}), client.post("/v1/memory/snapshot", json={})]
    for session in ("plans", "office", "alone"):
        told.append(client.post(f"{W}/sessions/{session}/messages/list", json={}))
        told.append(browser.get(f"/inspect/home/sessions/{session}"))
        told += [
            client.get(
                f"{W}/sessions/{session}/context",
                params={"peer_target": observed, "peer_perspective": observer, "tokens": 2000},
            )
            for observer, observed in (("helper", "ann"), ("helper", "ben"), ("helper", "helper"))
        ]
    told += [browser.get(f"/inspect/home/lines/{owner}/{line}") for owner, line in lines.values()]
    return {word for word in lines if any(word in one.text.lower() for one in told)}


def texts_in(page):
    return re.findall(r'<p class="said" dir="auto">([^<]*)</p>', page)


@pytest.fixture(scope="module")
def tokens(server):
    """The tokens of each name."""
    made = {}
    for name, (sub, claims) in TOKENS.items():
        claims = {"wid": "home", "ops": READS, **claims}
        made[name] = server.mint(sub, claims.pop("ops"), claims.pop("namespaces", None), **claims)
    return made


def test_the_readers_of_a_line_are_the_tokens_that_can_read_it(server, visitor, lines, tokens):
    read: dict[str, set[str]] = {word: set() for word in lines}
    for name, token in tokens.items():
        for word in read_with(server, visitor, token, lines):
            read[word].add(name)
    names = {read_unverified(token)[0][-1].jti: name for name, token in tokens.items()}
    owner = visitor()
    for word, (of, line) in lines.items():
        page = owner.get(f"/inspect/home/lines/{of}/{line}").text
        listed = re.findall(r'name="jti" value="([^"]+)"', page)
        assert {names[one] for one in listed if one in names} == read[word], word
    assert len({frozenset(found) for found in read.values()}) > 5
    assert any("through" in name for name in read["rambutans"])


@pytest.mark.parametrize("name", [name for name, (_, claims) in TOKENS.items() if "ops" not in claims])
def test_a_search_finds_what_the_token_opens_and_nothing_else(server, visitor, lines, tokens, name):
    may_read = read_with(server, visitor, tokens[name], lines)
    browser = visitor(tokens[name])
    for word in lines:
        found = texts_in(browser.get("/", params={"w": "home", "q": word}).text)
        assert (any(word in text.lower() for text in found)) == (word in may_read), word
        part = texts_in(browser.get("/", params={"w": "home", "q": word[1:-1]}).text)
        assert not any(word in text.lower() for text in part) or word in may_read, word
