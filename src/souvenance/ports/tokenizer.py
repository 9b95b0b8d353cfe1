"""The tokenizer: how many tokens a text takes in a language model's window.

Contract. `count` is never negative, 0 for the empty text, the same for the same text, and close
enough to what models count for budgets to hold. It takes any `str`, needs no network and
may be called from several threads. Text that looks like a model's control token is counted as
text. The first call may load something; the constructor may not.
"""

from __future__ import annotations

from typing import Protocol


class Tokenizer(Protocol):
    def count(self, text: str) -> int: ...
