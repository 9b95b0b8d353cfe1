"""What may be cited in an answer: conclusions as they are, and of messages the sentence that says most."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from mnemon.adapters.reason.asked import TALK, Asked
from mnemon.adapters.reason.at_work import gives_work
from mnemon.adapters.reason.clauses import clauses
from mnemon.adapters.reason.days import dated
from mnemon.adapters.reason.lexicon import base_of_past, base_of_third
from mnemon.adapters.reason.pointing import names as names_thing
from mnemon.adapters.reason.referents import NOUNS, meant, pointed_out
from mnemon.adapters.reason.replies import label_replied
from mnemon.adapters.reason.scenes import set_in
from mnemon.adapters.reason.sentences import prose, split
from mnemon.adapters.reason.statements import as_said
from mnemon.adapters.reason.stems import content_stems, stem
from mnemon.adapters.reason.substance import telling_words
from mnemon.adapters.reason.tongues import spoken
from mnemon.adapters.reason.traits import label_of, trait_of
from mnemon.adapters.reason.verbs import ADVERBS
from mnemon.domain.denial import is_denial
from mnemon.domain.pattern import pattern
from mnemon.domain.trust import Trust, own_words, quoted
from mnemon.domain.words import words
from mnemon.ports.reasoner import Statement, Turn

MOST_STATEMENTS = 400
FEW = 2
"""With so many words beside those of a label, a question is about more than the label."""
BRACKETED = pattern(r"\((?:week of |weekend of |about )?\d{4}(?:-\d\d){0,2}\)")
"""A day that was worked out."""
_MOST_CHARS = 300
_MOST_SENTENCES = 100
_HALF, _MORE_THAN_HALF = 0.5, 0.75
_MOST_ITEMS = 8
_SCRAP = 3
"""What has no more words than this only says what the next sentence is about: 'Oh, my back.'"""
_TELLING = frozenset(map(stem, ("said", "quoted")))
_SAID = pattern(r'^\S{1,512} said: "(.*)"$', re.DOTALL)
_REPLIED = pattern(r'^\S{1,512} said: "(?P<said>[^"]*)", asked "(?P<asked>[^"]*)"$')
_TOGETHER = pattern(r"and their (?=\w)")
_NAME = r"[A-ZÀ-Þ][\w-]*"
_OF_SELF = pattern(r"\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|we're|we've)\b", re.IGNORECASE)
"""Not 'us': what is a joy to us all is said of everyone."""
_OF_LISTENER = pattern(
    r"\b(?:your|you're|you've|congrats|congratulations)\b"
    r"|^\W*(?:(?:wow|oh|aww?|yeah|yes|cool|nice|great)\W+)*(?:that|this|those|these|it|sounds)\b[^,;]*"
    r"\b(?:sounds?|looks?|must (?:be|feel|have))\b",
    re.IGNORECASE,
)
"""What is said of whom one speaks to, or of what they told."""
_OF_ANOTHER = pattern(
    r"(?:^|, |\band |\bbut )"
    rf"(?:(?:[Mm]y|[Oo]ur|{_NAME}'s) (?:[a-z-]+ ){{0,2}}?(?P<noun>{NOUNS})(?:,? (?P<called>{_NAME}))?"
    rf"|(?P<pronoun>[Hh]e|[Ss]he|[Tt]hey)|(?P<name>{_NAME})),?"
    r"(?P<being>'s|'re| (?:is|was|are|were)\b)? (?P<rest>[a-z\d].*?)"
    r"(?=(?:,| and| but) (?:[A-Z]|he\b|she\b|my\b)|$)"
)
"""What is told of somebody else."""
_HAS_A_SUBJECT = pattern(
    r"\b(?i:i|i'm|i've|i'll|i'd|my|our|we|he|she|they|it|you|there|this|that|who)\b"
    r"|^[A-ZÀ-Þ]\w+ (?:is|was|has|had)\b"
)
_AGED = pattern(
    rf"\b(?:({NOUNS}) )?({_NAME}|{NOUNS}),? (?:\(|who is |aged? )?\d{{1,3}}(?=\)|,| and\b|$| years)"
    rf"|\b\d{{1,2}}[ -](?:years?|yr)[ -]old ({NOUNS})(?: ({_NAME}))?"
)
_BEGINS_TO_ASK = pattern(
    r"\W*(?:what|how|why|who|which|where|when) (?:are|is|do|does|did|can|could|should|would)\b", re.IGNORECASE
)
_ASKED_WHETHER = pattern(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?)(?: me| us)? (?:if|whether)\b", re.IGNORECASE
)
_SHORT_REPLY = pattern(r"\W*(?:i|i'm|we|we're|no|yes|nope|yep|not)\b(?:\W+[\w']+){0,3}\W*$", re.IGNORECASE)
_IF = pattern(r"\W*(?:if|suppose|imagine)\b", re.IGNORECASE)
_REMARK = pattern(
    r"\W*(?:(?:i think|wow|yes|yeah|and|but)\W+)*it(?:'s| is) (?:\w+ ){1,3}(?:how|that|to)\b"
    r"(?!.*\b(?:i|i'm|my|me)\b)",
    re.IGNORECASE,
)
"""What is found to be so of the world: 'it's amazing how much there is to learn'."""
_SPOKEN_BY = pattern(r"^\W*([A-ZÀ-Þ][\w.-]{0,20}): (?=.*\b(?:I|I'm|I've|my|we|you)\b)", re.MULTILINE)
_NAMED = pattern(r"\d|(?<=[a-z,] )[A-ZÀ-Þ]|[^\x00-\x7f]")


class Candidate(NamedTuple):
    """A statement as it would be cited."""

    order: int
    statement: Statement
    text: str
    said: str
    """What it says in the words of the peer."""
    stems: frozenset[str]
    label: str
    outdated_by: str | None
    carried: bool
    context: frozenset[str] = frozenset()
    """What was spoken of right before it in the same message, or asked by its peer in the one before."""
    of_another: bool = False
    """Whether the label is of what it tells of somebody else."""
    tells_of_them: bool = False
    """Whether somebody else of whom is asked is the subject of it."""
    owing: str = ""
    """The id of a message before it without which it could not be understood."""
    whole: bool = False
    """Whether all its sentences are cited, for they tell how something is by now."""

    @property
    def stands(self) -> bool:
        return self.outdated_by is None


class _Sentence(NamedTuple):
    """A sentence of a message, with what it owes to the one before it."""

    said: str
    shown: str
    stems: frozenset[str]
    context: frozenset[str]
    meant: frozenset[str] = frozenset()
    """By which stems those are known whom its pronoun means."""
    before: str = ""
    """What was said right before it in another message."""


def gathered(
    statements: Sequence[Statement], asked: Asked, names: frozenset[str], about: str | None
) -> list[Candidate]:
    """What of the statements may be cited; what no longer stands is marked so."""
    usable = [statement for statement in statements[:MOST_STATEMENTS] if statement.text.strip()]
    outdating = {statement.outdated_by for statement in usable}
    found = (
        _as_cited(at, statement, asked, about, whole=statement.id in outdating)
        for at, statement in enumerate(usable)
    )
    return _dated_back([candidate for candidate in found if candidate is not None], names)


def plain_stems(candidate: Candidate, names: frozenset[str]) -> frozenset[str]:
    """What a line says, whoever says it and whichever days are worked out in it."""
    return frozenset(content_stems(BRACKETED.sub("", candidate.text))) - names - _TELLING


def _as_cited(
    order: int, statement: Statement, asked: Asked, about: str | None, *, whole: bool
) -> Candidate | None:
    """A conclusion as it is; of a message the sentence that says most to the question, and no question.

    The `whole` message, if it is short, where it is known to tell what is asked.
    """
    if statement.peer is None:
        text = _clipped(as_said(statement.text))
        said = _in_own_words(text, about)
        label, of_another = _labelled(said, asked)
        stems = asked.stems_in(text)
        if asked.wanted and (reply := _REPLIED.match(text)):
            label, of_another = label_replied(reply["asked"], reply["said"]), False
            if label and label not in asked.wanted:
                stems = frozenset(content_stems(reply["said"]))
        return Candidate(
            order,
            statement,
            text,
            said,
            stems,
            label,
            statement.outdated_by,
            statement.carried,
            of_another=of_another,
            tells_of_them=_tells_of_them(said, asked),
        )
    if set_in([Turn(statement.id, statement.peer, statement.text, statement.said_at)]).left:
        return None
    sentences = _with_replies(_sentences(statement, asked))
    if statement.peer == about and not asked.whom:
        sentences = [one for one in sentences if not _is_of_listener(one.said)]
    chosen = _chosen(sentences, asked)
    if whole:
        chosen = _whole(sentences, chosen)
    if chosen is None:
        return None
    sentence, label, of_another = chosen
    shown, owing = sentence.shown, ""
    if sentence.before and asked.terms.isdisjoint(sentence.stems) and asked.terms & sentence.context:
        shown, owing = f"{sentence.before} … {shown}", statement.after_id
    elif sentence.meant and sentence.before:
        owing = statement.after_id
    carried = statement.carried or _is_quoted(sentence, statement.text)
    return Candidate(
        order,
        statement,
        _as_quoted(statement, shown, carried=carried),
        sentence.said,
        sentence.stems,
        label,
        statement.outdated_by,
        carried,
        sentence.context,
        of_another,
        _tells_of_them(sentence.said, asked, sentence.meant),
        owing,
        whole,
    )


def _whole(
    sentences: Sequence[_Sentence], chosen: tuple[_Sentence, str, bool] | None
) -> tuple[_Sentence, str, bool] | None:
    """All but the questions as one sentence; if that is long, the one chosen."""
    told = [one for one in sentences if not asks(one.said)]
    if not told or (chosen and sum(len(one.shown) for one in told) > _MOST_CHARS):
        return chosen
    _, label, of_another = chosen or (None, "", False)
    return _joined(told), label, of_another


def _chosen(sentences: Sequence[_Sentence], asked: Asked) -> tuple[_Sentence, str, bool] | None:
    """The sentence that says most to the question, its label, and whether that is somebody else's."""
    telling = [sentence for sentence in sentences if _tells(sentence, asked)]
    if not telling:
        return None
    if asked.whom and not asked.rest and not asked.wanted:
        of_them = [sentence for sentence in telling if asked.whom & sentence.stems]
        return (_joined(of_them or telling[:1]), "", False)
    labelled = [(one, *_labelled(one.said, asked, one.meant)) for one in telling]
    theirs = frozenset(map(stem, asked.theirs))

    def says(one: tuple[_Sentence, str, bool]) -> float:
        sentence, label, _ = one
        return (
            len(asked.terms & sentence.stems)
            + _HALF * len(asked.terms & sentence.context - sentence.stems)
            + (1.0 if label in asked.wanted else 0.0)
            + (1.0 if theirs & sentence.stems else 0.0)
            + _MORE_THAN_HALF * asked.cued(sentence.said)
            + _HALF * _tells_of_them(sentence.said, asked, sentence.meant)
            + (0.1 if label else 0.0)
            + min(len(sentence.stems), 9) / 100
        )

    best = max(labelled, key=says)
    return _with_the_next(best[0], sentences, asked), best[1], best[2]


def _with_the_next(one: _Sentence, sentences: Sequence[_Sentence], asked: Asked) -> _Sentence:
    """With the list that it announces; or with the words after it that go on without a subject, where only
    they tell when, where or how many.
    """
    if one.said.rstrip().endswith(":"):
        at = next(at for at, other in enumerate(sentences) if other is one)
        return _joined(sentences[at : at + 1 + _MOST_ITEMS])
    after = next((later for before, later in pairwise(sentences) if before is one), None)
    if after and len(one.said.split()) <= _SCRAP and _tells(after, asked):
        return _joined([one, after])
    if not asked.cues or asked.cued(one.said):
        return one
    if after is None or not asked.cued(after.said) or asks(after.said) or _HAS_A_SUBJECT.search(after.said):
        return one
    return _joined([one, after])


def _tells(sentence: _Sentence, asked: Asked) -> bool:
    """Whether it is no question, no greeting, and more than a saying, or what was guessed at right before."""
    said = sentence.said
    if asks(said) or sentence.stems <= TALK or _ASKED_WHETHER.search(said):
        return False
    if _tells_nothing_of_self(said) and not _IF.search(asked.question):
        return False
    return asks(sentence.before) or not _is_saying(sentence, asked)


def _tells_nothing_of_self(said: str) -> bool:
    """Whether it gives work, only supposes something, or remarks on the world."""
    return _IF.match(said) is not None or _REMARK.match(said) is not None or gives_work(said.lower())


def _with_replies(sentences: Sequence[_Sentence]) -> list[_Sentence]:
    """The same; what somebody asked whether it is so, with the few words by which that is answered."""
    found: list[_Sentence] = []
    for one in sentences:
        if found and _ASKED_WHETHER.search(found[-1].said) and _SHORT_REPLY.match(one.said):
            found[-1] = _joined([found[-1], one])._replace(said=one.said)
        else:
            found.append(one)
    return found


def _joined(sentences: Sequence[_Sentence]) -> _Sentence:
    """Several sentences as one."""
    first = sentences[0]
    return first._replace(
        said=" ".join(one.said for one in sentences),
        shown=" ".join(one.shown for one in sentences),
        stems=first.stems.union(*(one.stems for one in sentences)),
    )


def retold(one: Candidate, said: str) -> Candidate:
    """The same message with other sentences of it; a conclusion as it is."""
    if one.statement.peer is None:
        return one
    stems = one.stems | frozenset(content_stems(said))
    return one._replace(text=_as_quoted(one.statement, said, carried=one.carried), said=said, stems=stems)


def sentences_of(statement: Statement) -> list[str]:
    found = [sentence for line in prose(statement.text) for sentence in split(line)]
    return (found or [as_said(statement.text)])[:_MOST_SENTENCES]


def _as_quoted(statement: Statement, said: str, *, carried: bool) -> str:
    text = _clipped(dated(said, statement.said_at, None)).replace('"', "'")
    return quoted(Trust.QUOTED, text) if carried else f'{statement.peer} said: "{text}"'


def _sentences(statement: Statement, asked: Asked) -> list[_Sentence]:
    """The sentences of a message, each with whom it means and what was spoken of right before."""
    said = sentences_of(statement)
    found: list[_Sentence] = []
    before = _last_sentence(statement.after)
    context = frozenset(content_stems(before)) if asks(before) else frozenset[str]()
    for sentence, who in zip(said, meant(said, statement.after), strict=True):
        stems = asked.stems_in(sentence)
        shown = sentence if who is None else pointed_out(sentence, who)
        told_of = frozenset[str]() if who is None else who.stems
        found.append(_Sentence(sentence, shown, stems | told_of, context, told_of, before))
        before = ""
        context = stems
    return found


def _last_sentence(text: str) -> str:
    """The last sentence of a message."""
    sentences = [sentence for line in prose(text[-_MOST_CHARS:]) for sentence in split(line)] if text else []
    return sentences[-1] if sentences else ""


def asks(sentence: str) -> bool:
    return sentence.rstrip(" \"')").endswith(("?", "？")) or _BEGINS_TO_ASK.match(sentence) is not None


def _is_quoted(sentence: _Sentence, message: str) -> bool:
    """Whether a sentence is one that the message only pastes or quotes, or has somebody else say."""
    if _SPOKEN_BY.match(sentence.said) and len(set(_SPOKEN_BY.findall(message))) > 1:
        return True
    own, stems = own_words(message), sentence.stems
    return own != message and 2 * len(stems & frozenset(content_stems(own))) < len(stems)


def _dated_back(candidates: Sequence[Candidate], names: frozenset[str]) -> list[Candidate]:
    """The same; a message that says what a conclusion says which no longer stands is outdated with it."""
    by_id = {one.statement.id: one for one in candidates}
    old = [(one, plain_stems(one, names)) for one in candidates if not one.stands]
    if not old:
        return list(candidates)

    def outdated_by(message: Candidate) -> str | None:
        stems = plain_stems(message, names)
        for one, before in old:
            latest = by_id.get(one.outdated_by or "")
            if (
                before
                and before <= stems
                and is_denial(message.said) == is_denial(one.said)
                and (latest is None or not _says(message, stems, latest, names))
            ):
                return one.outdated_by
        return None

    return [
        one if one.statement.peer is None or not one.stands else one._replace(outdated_by=outdated_by(one))
        for one in candidates
    ]


def _says(message: Candidate, stems: frozenset[str], latest: Candidate, names: frozenset[str]) -> bool:
    """Whether a message says what holds by now, or was said after that."""
    if message.statement.said_at > latest.statement.said_at:
        return True
    return plain_stems(latest, names) <= stems and is_denial(message.said) == is_denial(latest.said)


def _is_of_listener(sentence: str) -> bool:
    return _OF_LISTENER.search(sentence) is not None and not _OF_SELF.search(sentence)


def _is_saying(sentence: _Sentence, asked: Asked) -> bool:
    """Whether it names nobody and nothing, and says next to nothing beside the words of the question.

    What begins with a deed tells it: 'Graduated at last!'
    """
    said, terms = sentence.said, asked.terms
    if not terms or asked.abroad or asked.proper & sentence.stems:
        return False
    if _OF_SELF.search(said) or _NAMED.search(said) or names_thing(said):
        return False
    told = telling_words(said)
    if base_of_past(deed := said.partition(" ")[0].lower()) and deed in told:
        return False
    return sum(stem(word) not in terms for word in told) < FEW


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else text[:_MOST_CHARS].rpartition(" ")[0] + " …"


def _in_own_words(text: str, about: str | None) -> str:
    """A conclusion as its peer would say it."""
    said = _SAID.match(text)
    return said[1] if said else _first_person(text, about)


def _labelled(said: str, asked: Asked, meant: frozenset[str] = frozenset()) -> tuple[str, bool]:
    """The label of a card that it is about, and whether it is somebody else's of whom is asked."""
    if not asked.wanted:
        return "", False
    label = _label(said)
    if label in asked.wanted or not asked.whom:
        return label, False
    if "age" in asked.wanted and _tells_an_age(said, asked):
        return "age", True
    for other in _of_them(said, asked, meant):
        if (theirs := _label(_as_if_own(other))) in asked.wanted:
            return theirs, True
    return label, False


def _tells_an_age(said: str, asked: Asked) -> bool:
    """Whether how old somebody is of whom is asked stands right beside them: 'Leo (6)'."""
    aged = (_stems(*found.groups()) for found in _AGED.finditer(said[:_MOST_CHARS]))
    return any(asked.whom & stems for stems in aged)


def _tells_of_them(said: str, asked: Asked, meant: frozenset[str] = frozenset()) -> bool:
    return bool(asked.whom) and any(_of_them(said, asked, meant))


def _of_them(said: str, asked: Asked, meant: frozenset[str]) -> Iterator[re.Match[str]]:
    """Where a sentence tells something of somebody else of whom is asked."""
    for other in _OF_ANOTHER.finditer(said[:_MOST_CHARS]):
        told_of = meant if other["pronoun"] else _stems(other["noun"], other["called"], other["name"])
        if asked.whom & told_of:
            yield other


def _as_if_own(other: re.Match[str]) -> str:
    """What is told of somebody else as they would say it: 'She's a nurse' as 'I am a nurse'."""
    return f"I am {other['rest']}" if other["being"] else _first_person(f"x {other['rest']}", "x")


def _stems(*said: str | None) -> frozenset[str]:
    return frozenset(stem(word) for one in said if one for word in words(one))


def _label(sentence: str) -> str:
    said = sentence[:_MOST_CHARS]
    for clause in clauses(said):
        if trait := trait_of(clause):
            return label_of(trait)
    return next((label_of(trait) for _, trait in spoken(said, said.lower().split())), "")


def _first_person(text: str, about: str | None) -> str:
    """'ann lives in Lisbon' as ann would say it."""
    name = (
        about
        if about and text.startswith((f"{about} ", f"{about}'s "))
        else text.partition(" ")[0].removesuffix("'s")
    )
    rest = text[len(name) :]
    if rest.startswith("'s "):
        return "My " + rest[3:]
    rest = rest.strip()
    if together := _TOGETHER.match(rest):
        who, _, did = rest[together.end() :].partition(" ")
        return f"My {who} and I {did}"
    told = rest.split(" ")
    for at, word in enumerate(told):
        if word not in ADVERBS:
            told[at] = {"is": "am", "has": "have", "does": "do"}.get(word) or base_of_third(word) or word
            break
    return "I " + " ".join(told)
