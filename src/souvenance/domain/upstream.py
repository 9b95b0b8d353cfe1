"""Upstreams: the model endpoints that the chat door stands in front of, and what it does between."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote_plus, urlsplit

from msgspec import Struct

ASSISTANT = "assistant"
"""The peer that models speak as, unless told otherwise."""

REFUSE, PASS_WITHOUT_MEMORY = WHEN_STORE_IS_DOWN = ("refuse", "pass_without_memory")

_ASKING_A_MODEL = """
    audio/speech audio/transcriptions audio/translations completions embeddings images/edits
    images/generations images/variations moderations rerank
"""
"""Paths at which an endpoint says what a model makes of a request, and makes nothing that it keeps."""
_SECRETS = ("key", "token", "secret")
"""How the names of parameters end that belong into no address."""


def is_address(url: str) -> bool:
    """Whether an endpoint may have that address. A query may say more of it, and no secret."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        asked = [name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    except ValueError:
        return False
    return good and not (parts.username or parts.fragment or any(one.endswith(_SECRETS) for one in asked))


def below(url: str, path: str) -> str:
    """The address of what an endpoint has under that path; the query of its own address stays behind it."""
    parts = urlsplit(url)
    return parts._replace(path=f"{parts.path.rstrip('/')}{path}").geturl()


def asking(url: str, query: str) -> str:
    """The address with a client's query behind its own. What its own says, no client changes."""
    parts = urlsplit(url)
    own = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    added = [one for one in query.split("&") if one and unquote_plus(one.partition("=")[0]) not in own]
    return parts._replace(query="&".join(filter(None, (parts.query, *added)))).geturl()


class Upstream(Struct, frozen=True):
    """A model endpoint and the models that are asked for there.

    The key is the key itself, or `@` and its file.
    """

    url: str
    key: str | None = None
    prefix: str = ""
    """How the names of its models begin."""
    strip: bool = False
    """Whether the prefix is ours alone, and the endpoint's own names go without it."""

    def named(self, model: str) -> str:
        """What the endpoint calls the model."""
        return model[len(self.prefix) :] if self.strip else model


class ChatSettings(Struct, frozen=True):
    upstreams: tuple[Upstream, ...] = ()
    """None of them: no chat door."""
    user_field: bool = True
    """Whether OpenAI's `user` says who speaks."""
    when_store_is_down: str = REFUSE
    """What becomes of a chat while the store is out of reach: one of `WHEN_STORE_IS_DOWN`."""
    workspace: str = "default"
    """Where those speak whose caps are of every workspace."""
    namespace: str = "default"
    """Where a conversation lies, if the cap opens it."""
    assistant: str = ASSISTANT
    context_tokens: int = 1200
    """How much of memory a message is given."""
    transcript_tokens: int = 4000
    """How much of a stored conversation stands in for what the client left out."""
    wait_ms: int = 300
    """How long a chat waits for what memory recalls. It always waits for the gate's verdict."""
    timeout_seconds: int = 600
    """How long an endpoint may be silent."""
    paths: str = ""
    """Further paths that a token of some people may POST to, with commas between them."""

    def opens(self, path: str) -> bool:
        """Whether a token of some people may POST to that path below /v1."""
        named = (one.strip(" /") for one in self.paths.split(","))
        return path.removeprefix("/") in (*_ASKING_A_MODEL.split(), *filter(None, named))

    def serving(self, model: str) -> Upstream | None:
        """Where the model is asked for: the longest prefix decides."""
        found = [one for one in self.upstreams if model.startswith(one.prefix)]
        return max(found, key=lambda one: len(one.prefix), default=None)

    @property
    def forwards(self) -> str:
        """Where the models are asked for, in words."""
        return ", ".join(
            f"{one.prefix}* to {one.url}" if one.prefix else f"to {one.url}" for one in self.upstreams
        )
