"""Prompts: the instructions are files, and quoted text can't pose as a part of them.

Quoted text goes in as JSON, one object per line, between two marks that no quoted text can contain: they
are named after a hash of what is between them, and no angle bracket leaves the JSON unescaped. So neither
the marks nor the control tokens of a model's own template can be forged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from importlib import resources
from string import Template
from typing import Any

import msgspec

from souvenance.domain.timestamps import to_datetime

_FOLDER = "prompts"
_ESCAPED = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "\u2028": "\\u2028", "\u2029": "\\u2029", "\u0085": "\\u0085"}
)
_TEMPLATE_MARKS = ("[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CALLS]")


@cache
def _template(name: str) -> Template:
    return Template(resources.files(__package__).joinpath(_FOLDER, f"{name}.md").read_text("utf-8"))


def prompt(name: str, **filled: str) -> str:
    """The prompt of that name with its blanks filled, each of them once and all of them. Raises: KeyError for
    a blank that stays empty."""
    return _template(name).substitute(filled).strip()


def fenced(rows: Sequence[Mapping[str, Any]]) -> str:
    """Quoted data, between marks of its own."""
    quoted = "\n".join(map(quote, rows))
    mark = blake2b(quoted.encode(), digest_size=6).hexdigest()
    return f"<data-{mark}>\n{quoted}\n</data-{mark}>"


def quote(value: Any) -> str:
    """One value as JSON in one line that holds no mark of anybody's."""
    text = msgspec.json.encode(value).decode().translate(_ESCAPED)
    for mark in _TEMPLATE_MARKS:
        if mark in text:
            text = text.replace(mark, mark.replace("[", "\\u005b"))
    return text


def day(moment: int) -> str:
    """The day of a moment as a line of a prompt shows it; nothing for one that no calendar has."""
    try:
        return to_datetime(moment).strftime("%Y-%m-%d (%A)")
    except (OverflowError, ValueError):
        return ""
