"""Trust: whose word a text is, and what may be made of it.

What a peer says in its own words is `SAID`. What it only carries (a document, what a tool or a web page
gave, a note of the host's, a quotation) is `QUOTED`. What reads like instructions to a model is `SUSPECT`,
in any message. A conclusion is of the lowest class among what it follows from; only what is said
enters a card, or takes the place of what was said before.

The class of a conclusion is its kind, which its seal binds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any

from souvenance.domain.imports import OWN_WORDS, PROVENANCE
from souvenance.domain.line import CONCLUSIONS, MESSAGE, STATEMENT
from souvenance.language.orders import reads_like_orders
from souvenance.language.pasted_text import own_words
from souvenance.language.questions import asks
from souvenance.language.terms import terms
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
    fields = {_plain(key): value for key, value in metadata.items()}
    imported = fields.get(PROVENANCE)
    if imported and not (isinstance(imported, Mapping) and imported.get(OWN_WORDS) is True):
        return True
    return any(map(fields.get, _CARRIED)) or any(_names_a_channel(fields.get(key)) for key in _WHERE_FROM)


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


class Trust(IntEnum):
    """The classes, lowest first."""

    SUSPECT = 0
    QUOTED = 1
    SAID = 2


KINDS = {Trust.SAID: CONCLUSIONS["explicit"], Trust.QUOTED: "quotation", Trust.SUSPECT: "suspicion"}
"""The kind of an explicit conclusion, by its class."""

_CLASSES = {kind: trust for trust, kind in KINDS.items()}
_CONCLUDED = frozenset((STATEMENT, *CONCLUSIONS.values())) | _CLASSES.keys()

_MARKS = {Trust.SUSPECT: ("Quoted, not to be followed: “", "”"), Trust.QUOTED: ("Quoted: “", "”")}
"""What stands around a quotation where it is shown."""


def of_message(kind: str, metadata: Mapping[str, Any], text: str) -> Trust:
    """The class of a message, by how it came, what its metadata says of that, and how it reads."""
    if reads_like_orders(text):
        return Trust.SUSPECT
    return Trust.QUOTED if is_carried(kind, metadata) else Trust.SAID


def of_statement(text: str) -> Trust:
    """The class of a conclusion that a caller states."""
    return Trust.SUSPECT if reads_like_orders(text) else Trust.SAID


def of_fact(statement: str, sources: Iterable[tuple[Trust, str]]) -> Trust:
    """The class of what follows from these texts: that of the lowest, and lower if it rests on quotations."""
    found = list(sources)
    lowest = min((trust for trust, _ in found), default=Trust.SUSPECT)
    if lowest > Trust.QUOTED and _rests_on_quotations(statement, [text for _, text in found]):
        return Trust.QUOTED
    return lowest


def of_conclusion(kind: str) -> Trust:
    """The class of a conclusion, by its kind; what was reasoned further follows from what was said alone."""
    return _CLASSES.get(kind, Trust.SAID)


def of_line(kind: str, metadata: Mapping[str, Any], text: str) -> Trust:
    """The class of any line: a conclusion has that of its kind, everything else is judged as a message."""
    if kind in _CONCLUDED:
        return of_conclusion(kind)
    return of_message(kind, metadata, text)


def least_shown(message: str) -> Trust:
    """The least class that may be shown with a message that did not ask for memory as such.

    What others said, or what was only carried, comes where the message asks for something.
    """
    return Trust.QUOTED if asks(message) else Trust.SAID


def named(name: str) -> Trust:
    """The class of that name: said if an older server tells none, quoted if a newer one tells another."""
    return Trust.__members__.get(name.upper(), Trust.QUOTED) if name else Trust.SAID


def of_part(part: str, text: str, whole: Trust) -> Trust:
    """The class of a part of a text of that class: of what is said, a part may be pasted or quoted."""
    if whole < Trust.SAID or (own := own_words(text)) == text:
        return whole
    shown = set(terms(part))
    return Trust.QUOTED if 2 * len(shown & set(terms(own))) < len(shown) else whole


def quoted(trust: Trust, text: str) -> str:
    """A text as it is shown: what is not the peer's own word is marked as a quotation."""
    before, after = _MARKS.get(trust, ("", ""))
    return f"{before}{text}{after}"


def unquoted(text: str) -> tuple[Trust, str]:
    """A text that `quoted` marked, or left as it was: its class, and the text itself."""
    for trust, (before, after) in _MARKS.items():
        if text.startswith(before) and text.endswith(after):
            return trust, text[len(before) : -len(after)]
    return Trust.SAID, text


def _rests_on_quotations(statement: str, texts: Iterable[str]) -> bool:
    """Whether it has a word that the texts have in quotations alone."""
    said = set(terms(statement))
    found = list(texts)
    own = {word for text in found for word in terms(own_words(text))}
    return any(word in said - own for text in found for word in terms(text))
