"""Regular expressions that cost nothing until they are used.

A host agent may start a process for every turn, and compiling what that turn never matches
would be a good part of its first recall.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, compiled when it is first asked to match. An unreadable one fails then."""
    return cast("re.Pattern[str]", _Deferred(text, flags))


class _Deferred:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
