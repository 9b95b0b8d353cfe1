"""Patterns that are compiled when they are first needed: a process that derives nothing pays nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_METHODS = ("match", "search", "finditer", "sub", "split")


class Shape:
    """A compiled pattern's methods, there from the first use on."""

    match: Callable[..., re.Match[str] | None]
    search: Callable[..., re.Match[str] | None]
    finditer: Callable[..., Iterator[re.Match[str]]]
    sub: Callable[..., str]
    split: Callable[..., list[str]]

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Callable[..., object]:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)  # type: ignore[no-any-return]


def either(text: str) -> str:
    """The inside of an alternation: the comma-separated forms of a text, each a pattern of its own."""
    return "|".join(form.strip() for form in text.split(",") if form.strip())
