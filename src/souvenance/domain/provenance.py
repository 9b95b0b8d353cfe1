"""Where a line came from, by its kind or metadata, if its peer did not say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from souvenance.domain.imports import OWN_WORDS, PROVENANCE
from souvenance.domain.line import MESSAGE
from souvenance.patterns import pattern

_CHANNELS = """
tool tools function system developer relayed document documents file uploaded attachment upload web webpage
website page url search retrieval retrieved retriever rag ocr scrape scraped scraper crawl crawled crawler
"""
_OF_CHANNELS = "call calls result results output response return use prompt search fetch page tool file"
"""What may follow the name of a channel: 'function_call_output', 'web_search_result'."""
_NAMES, _PARTS = frozenset(_CHANNELS.split()), frozenset(_OF_CHANNELS.split())
_MESSAGES = frozenset(("tool_message", "function_message", "system_message", "developer_message"))
_WHERE_FROM = (
    *("role", "type", "kind", "source", "origin", "from", "author", "sender"),
    *("message_type", "msg_type", "source_type", "sender_type", "author_role"),
)
_CARRIED = (
    *("file", "filename", "file_name", "file_id", "file_path", "document_id", "doc_id", "url", "source_url"),
    *("tool", "tool_name", "tool_call_id", "tool_use_id", "function_name"),
)
_HUMP = pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 40
"""No name of a channel is longer."""


def is_carried(kind: str, metadata: Mapping[str, Any]) -> bool:
    """Whether a tool, a file, a page, an import or the host's own notes are named as where it came from.

    However the names are spelt: 'toolResult', 'tool-result' and 'Tool Result' are one.
    """
    if kind != MESSAGE and _is_channel(kind):
        return True
    if not metadata:
        return False
    told = {_plain(key): value for key, value in metadata.items()}
    imported = told.get(PROVENANCE)
    if imported and not (isinstance(imported, Mapping) and imported.get(OWN_WORDS) is True):
        return True
    return any(map(told.get, _CARRIED)) or any(_names_a_channel(told.get(key)) for key in _WHERE_FROM)


def _names_a_channel(value: object) -> bool:
    """Whether it is a channel's name, or has one as its role: {"author": {"role": "tool"}}."""
    if isinstance(value, Mapping):
        value = value.get("role")
    return isinstance(value, str) and _is_channel(value)


def _is_channel(name: str) -> bool:
    plain = _plain(name)
    first, *others = plain.split("_")
    return plain in _MESSAGES or (first in _NAMES and _PARTS.issuperset(others))


def _plain(name: str) -> str:
    if len(name) > _LONGEST:
        return ""
    return "_".join(
        _HUMP.sub("_", name).lower().replace("-", " ").replace("_", " ").replace(".", " ").split()
    )
