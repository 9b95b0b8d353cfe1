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
        return model[len(self.prefix) :] if self.strip else model


class ChatSettings(Struct, frozen=True):
    """`souvenance.settings` says what each means."""

    upstreams: tuple[Upstream, ...] = ()
    """None of them: no chat door."""
    user_field: bool = True
    when_store_is_down: str = REFUSE
    workspace: str = "default"
    namespace: str = "default"
    assistant: str = ASSISTANT
    context_tokens: int = 1200
    transcript_tokens: int = 4000
    wait_ms: int = 300
    timeout_seconds: int = 600
    paths: str = ""

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
