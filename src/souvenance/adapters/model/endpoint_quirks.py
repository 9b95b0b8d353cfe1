"""Dialects: endpoints that call themselves compatible take different things, and say so when asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from souvenance.adapters.model.wire_format import Prompt

_TOO_LONG = ("context length", "context window", "context size", "maximum context", "too many tokens")
_STATUSES = frozenset((400, 404, 405, 415, 422, 500, 501))


class Dialect(Struct, frozen=True):
    """What an endpoint takes, as far as is known. At first it is taken to take everything."""

    json: str = "schema"
    """How it can be held to JSON: by 'schema', as 'object', or by words alone ('')."""
    tools: bool = True
    temperature: bool = True
    long_name: bool = False
    """Whether the bound of a reply is called max_completion_tokens."""
    usage: bool = True
    """Whether it tells at the end of a stream what that cost."""

    def body(self, model: str, prompt: Prompt, *, stream: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": model, "messages": list(prompt.messages), "stream": stream}
        body["max_completion_tokens" if self.long_name else "max_tokens"] = prompt.tokens
        if self.temperature:
            body["temperature"] = 0
        if stream and self.usage:
            body["stream_options"] = {"include_usage": True}
        if prompt.schema is not None and self.json == "schema":
            shape = {"name": "reply", "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        elif prompt.schema is not None and self.json == "object":
            body["response_format"] = {"type": "json_object"}
        if prompt.tools and self.tools:
            body["tools"] = list(prompt.tools)
            body["tool_choice"] = "auto" if prompt.may_call else "none"
        return body

    def humbler(self, status: int, complaint: str, body: Mapping[str, Any]) -> Dialect | None:
        """The dialect to try after that complaint; None if it is not about what was asked for."""
        told = complaint.lower()
        if status not in _STATUSES or any(words in told for words in _TOO_LONG):
            return None
        simpler = {
            "max_tokens": replace(self, long_name=True),
            "temperature": replace(self, temperature=False),
            "stream_options": replace(self, usage=False),
            "tools": replace(self, tools=False),
            "response_format": replace(self, json="object" if self.json == "schema" else ""),
        }
        for name, words in _NAMED.items():
            if name in body and any(word in told for word in words):
                return simpler[name]
        if status in (404, 500):
            return None
        unnamed = ("response_format", "tools", "stream_options", "temperature")
        return next((simpler[name] for name in unnamed if name in body), None)


_NAMED = {
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "temperature": ("temperature",),
    "stream_options": ("stream_options", "include_usage"),
    "response_format": ("response_format", "json_schema", "json_object", "schema", "grammar"),
    "tools": ("tool", "function"),
}
"""By which words a complaint is known to be about which part."""
