"""What a sentence tells by the way, whatever it is about: 'the bike that I bought', 'Toby, my puppy'."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mnemon.adapters.reason.edges import opened
from mnemon.adapters.reason.household import kin, named_in
from mnemon.adapters.reason.lexicon import ACQUAINTANCES, PETS, RELATIVES, VERBS, base_of_past, word_set
from mnemon.adapters.reason.person import they
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.substance import substance
from mnemon.adapters.reason.voices import not_meant
from mnemon.domain.pattern import pattern

_MOST_CHARS = 400
_ENOUGH = 2
_ENDS = (
    r"(?=$|[,;.!?]|\s[-–—]|\s(?:and|but|so|because|which|that|who|is|was|has|reminds?|makes?|takes?|when)\b)"
)
_NO_NOUN = either(
    """
    and, but, when, how, if, that, is, was, after, since, where, while, why, as, with, from, of, in, on,
    at, to, be, remind, for, by, than, one, only, first, last, best, way, time, thing, things, moment
    """
)
_RELATIVE = pattern(
    r"(?:(?<!of )|(?=my ))\b(?P<thing>(?i:my|our|this|these|the|an?) "
    rf"(?:(?!(?:{_NO_NOUN})\b)[\w'-]+ ){{1,4}}?)"
    rf"(?:that |which )?I"
    rf" (?:just |recently |finally )?(?P<did>[a-z]+(?= )(?: to(?= ))?)(?P<rest>(?: [\w'-]+){{1,7}}?){_ENDS}",
)
_SUBORDINATE = pattern(
    r"(?<!while )(?<!long )(?<!forever )(?<!ages )\b(?:after|since|because|'cause|when) I (?P<did>[a-z]+)"
    rf"(?P<rest> [^,;.!?\"–—]{{3,80}}?){_ENDS}",
)
_GOT_OR_MADE = word_set(
    """
    bought made took found read painted saw built tried wrote cooked baked adopted shot drew attended
    visited watched received posted finished restored planted knitted designed created ordered did won
    caught recorded
    """
)
_NO_EVENT = word_set("be think feel hear mean want know say tell have do like love need hope")
_STRANDED = word_set("to of it them me up out about is was are were has had really")
_MINE = pattern(r"\b(?P<name>[A-Z][a-z]+), my (?P<kind>(?:[a-z]+ ){0,2})(?P<noun>[a-z]+)\b(?!')")
_PARTED = pattern(
    r"(?P<who>[Mm]y (?:[a-z]+ )?[a-z]+(?: [A-Z][a-z]+)?|[A-Z][a-z]+) and I"
    r" (?:(?:just|recently|finally|have|are|sadly) )*"
    r"(?P<did>broke up|broken up|split up|separated|got divorced|divorced|no longer together)"
    r"(?=$|[,;.!]| (?:last|in|on|after|this|yesterday|recently|because|but|and|two|three|for good)\b)"
)
_NO_MORE = pattern(
    r"\b(?:died|dead|passed|miss|missing|missed|lost|losing|rip|r\.i\.p|memory|memories|funeral|grave|buried|grieving"
    r"|goodbye|left|broke|split|ex|divorc\w+|was|were|used to|late|remember\w*|put)\b",
    re.IGNORECASE,
)
"""What is said of somebody who may be theirs no longer."""
_UNSURE = pattern(r"\b(?:if|would|could|might|maybe|should|wish|imagine|you|your)\b")


def by_the_way(sentence: str, about: str, dated: Callable[[str], str]) -> Iterator[tuple[str, str | None]]:
    """Each such thing as a fact's text and its line on a card."""
    if len(sentence) > _MOST_CHARS or '"' in sentence or sentence.endswith("?") or not_meant(sentence):
        return
    for mine in _MINE.finditer(sentence):
        noun = mine["noun"]
        if noun in PETS or noun in RELATIVES or noun in ACQUAINTANCES or noun == "pig":
            text = f"{mine['name']} is {about}'s {mine['kind']}{noun}"
            yield text, kin(noun, kind=mine["kind"], names=mine["name"])
    if not _NO_MORE.search(sentence) and not _UNSURE.search(sentence):
        yield from ((said.format(about), trait) for said, trait in named_in(sentence) if trait)
    if (parted := _PARTED.match(opened(sentence))) and not _UNSURE.search(sentence):
        did = parted["did"].replace("broken", "broke").replace("no longer", "are no longer")
        yield (
            f"{about} and {they(_small(parted['who'])) if ' ' in parted['who'] else parted['who']} {did}",
            None,
        )
    for shape in (_RELATIVE, _SUBORDINATE):
        for found in shape.finditer(sentence):
            if told := _happened(found.groupdict(), sentence[: found.end()], about, dated):
                yield told, None


def _happened(found: dict[str, str], said: str, about: str, dated: Callable[[str], str]) -> str | None:
    did, rest = found["did"], found["rest"].strip()
    if _UNSURE.search(said):
        return None
    if "thing" in found:
        fits = did == "went to" or (did in _GOT_OR_MADE and rest.partition(" ")[0] not in _STRANDED)
    else:
        base = base_of_past(did)
        fits = base in VERBS and base not in _NO_EVENT and substance(rest) >= _ENOUGH
    if not fits:
        return None
    told = " ".join(part for part in (did, _small(they(found.get("thing", "").strip())), they(rest)) if part)
    return f"{about} {dated(told)}"


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]
