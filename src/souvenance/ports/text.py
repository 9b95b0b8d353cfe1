"""What reads, counts and knows texts: tokenizer, document reader, spelling and thesaurus."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Tokenizer(Protocol):
    """How many tokens a text takes in a language model's window.

    Contract. `count` is never negative, 0 for the empty text, the same for the same text, and close
    enough to what models count for budgets to hold. It takes any `str`, needs no network and
    may be called from several threads. Text that looks like a model's control token is counted as
    text. The first call may load something; the constructor may not.
    """

    def count(self, text: str) -> int: ...


class DocumentReader(Protocol):
    """The text of an uploaded file.

    Contract. The kind of file follows from its media type, or, where that is missing or says
    nothing, from its name. The text that comes back holds neither NUL nor lone surrogates and is not
    blank. Whatever the bytes are, `read` ends within bounded time and memory, runs nothing that is in
    them, and raises nothing but the errors below.

    Raises: FileTooLarge; UnsupportedType for a kind that is not read; InvalidInput, saying why, for a
    file that can't be read as what it is; Unavailable when this machine can't read any such file now.
    """

    def read(self, data: bytes, media_type: str, filename: str | None) -> str: ...


class Spelling(Protocol):
    """Which word was meant by one that nobody knows, so that 'buisiness' finds a business."""

    def meant(self, word: str) -> str | None:
        """The known word one slip away, the commonest of several; None for one that is known or like none."""


class Thesaurus(Protocol):
    """Which search terms are close to one another, so that 'pet' finds what was said of a dog.

    It knows terms as `souvenance.language.terms` makes them, in languages of its choice. Other terms have no
    similar ones.
    """

    def similar(self, term: str) -> Sequence[tuple[str, float]]:
        """Other terms, each with how close it is: above 0 and below 1, the closest first."""
