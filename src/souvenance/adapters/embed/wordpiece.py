"""How BERT's uncased models cut text into pieces, and where a text is cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_TOKENS = 128
"""Of a text, with the mark at its beginning and the mark at its end."""

_MOST_CHARACTERS = 8192
"""What no text of so many tokens reaches, unless it is mostly space or one endless word."""


def wordpieces(vocabulary: str) -> Tokenizer:
    """A tokenizer for the pieces of a `vocab.txt`, one on a line.

    The vocabulary's own marks, such as `[SEP]`, are plain text where a text spells them.
    Raises: ValueError if it lacks the marks.
    """
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    pieces = {piece: number for number, piece in enumerate(_lines(vocabulary))}
    marks = ("[CLS]", "[SEP]")
    if missing := [mark for mark in (*marks, "[UNK]") if mark not in pieces]:
        raise ValueError(f"the vocabulary has no {missing[0]}")
    tokenizer = Tokenizer(WordPiece(pieces, unk_token="[UNK]"))  # noqa: S106 - a piece, no password
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(mark, pieces[mark]) for mark in marks]
    )
    return cut_off(tokenizer)


def cut_off(tokenizer: Tokenizer) -> Tokenizer:
    """The same, giving the first tokens of a text and nothing else."""
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer


def tokens(tokenizer: Tokenizer, text: str) -> list[int]:
    """The numbers of a text's first tokens; what is no character reads as a question mark."""
    begun = text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
    return list(tokenizer.encode(begun).ids)


def _lines(vocabulary: str) -> Sequence[str]:
    return [line.rstrip("\r") for line in vocabulary.removesuffix("\n").split("\n")]
