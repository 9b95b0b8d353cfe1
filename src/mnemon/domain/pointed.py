"""Whom 'he' or 'she' means: the only one who was named right before, as in 'I miss Rex. He died in March'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mnemon.domain.pattern import pattern

_KIN = """
aunt boyfriend brother cousin dad daughter fiance fiancé fiancee fiancée father girlfriend grandad granddad
grandfather grandma grandmother grandpa granny grandson granddaughter husband mom mother mum nephew niece
partner sister son spouse stepdad stepmom uncle wife
"""
_PETS = "bird bunny cat dog hamster horse kitten parrot pet pup puppy rabbit"
_OTHERS = """
actor actress animal author baby boss boy celebrity character child coach colleague coworker doctor driver
friend girl guy hero kid king lady landlord man manager mate musician neighbor neighbour nurse owner patient
person player president queen roommate singer stranger student teacher vet victim woman writer
"""
_THEIRS = "|".join((_KIN + _PETS).split())
_SOMEBODY = "|".join((_KIN + _PETS + _OTHERS).split())
_PRONOUN = pattern(r"^(?:and |but |so )?(he|she)\b|\b(him|her)\b", re.IGNORECASE)
_NOUNED = pattern(
    rf"\b(?:(?P<mine>my|our|your) (?:(?!\S*'s )[\w-]+ ){{0,2}}?(?P<noun>{_THEIRS})\b(?!'s|-)"
    r"(?:,? (?:(?:is )?(?:named|called) )?(?P<name>(?-i:[A-ZÀ-Þ])[\w-]+))?"
    rf"|(?:an?|the|his|her|their|some|that|this|another|[\w-]+'s) (?:[\w-]+ )?(?P<other>{_SOMEBODY})\b"
    r"(?! (?:named|called) (?-i:[A-ZÀ-Þ])))",
    re.IGNORECASE,
)
_NAME = pattern(r"[A-ZÀ-Þ][\w-]+(?: [A-ZÀ-Þ][\w-]+)*")
_SMALL_WORDS = """
a an and as at actually all also but by could do everything for from god good great had has have he her
here hey hi his how i i'm i've if in is it its just last like maybe me missing my no nobody not now of oh
ok on our poor sadly she since so sorry that the their then there they this those today tomorrow was we
well what when where which who why with yes yesterday you your
january february march april may june july august september october november december
monday tuesday wednesday thursday friday saturday sunday christmas easter
"""
_NO_NAMES = frozenset(_SMALL_WORDS.split())
_MOST = 300


def points(sentence: str) -> bool:
    """Whether it tells of somebody by a pronoun."""
    return _PRONOUN.search(sentence) is not None


def pointed_out(sentence: str, before: Sequence[str]) -> str | None:
    """The sentence with whom it means in brackets behind the pronoun: 'He [Rex] died in March'.

    None if nobody was named in the sentences before it, or two were.
    """
    pronoun = _PRONOUN.search(sentence)
    named = {who for earlier in before for who in _named(earlier[-_MOST:])}
    if pronoun is None or len(named) != 1 or (who := named.pop()) is None:
        return None
    return f"{sentence[: pronoun.end()]} [{who}]{sentence[pronoun.end() :]}"


def _named(sentence: str) -> Iterator[str | None]:
    """Whoever is named in it; None for one who is nobody of the speaker's."""
    for found in _NOUNED.finditer(sentence):
        if found["other"]:
            yield None
        elif not found["name"]:
            yield f"my {found['noun'].lower()}"
    for found in _NAME.finditer(sentence):
        words = found[0].split()
        while words and words[0].lower() in _NO_NAMES:
            del words[0]
        if words:
            yield " ".join(words)
