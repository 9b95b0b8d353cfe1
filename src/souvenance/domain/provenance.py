"""Carried: what a line's kind or metadata says of where it came from, if its peer did not say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from souvenance.domain.imports import OWN_WORDS, PROVENANCE
from souvenance.patterns import pattern

_CHANNELS = """
tool tools tool_call tool_calls tool_result tool_results tool_output tool_response tool_message tool_return
tool_use function function_call function_call_output function_result function_output function_response
function_message system system_message system_prompt developer developer_message
relayed document documents file uploaded_file file_search file_search_call attachment upload
web webpage web_page website web_search web_search_call web_search_result web_search_results
web_search_tool_result web_fetch page url search search_result search_results
retrieval retrieved retriever retriever_result rag ocr scrape scraped scraper crawl crawled crawler
"""
_NOT_SPOKEN = frozenset(_CHANNELS.split())
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
    if _plain(kind) in _NOT_SPOKEN:
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
    return isinstance(value, str) and _plain(value) in _NOT_SPOKEN


def _plain(name: str) -> str:
    if len(name) > _LONGEST:
        return ""
    return "_".join(
        _HUMP.sub("_", name).lower().replace("-", " ").replace("_", " ").replace(".", " ").split()
    )
