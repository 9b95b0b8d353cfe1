"""What a statement denies: 'no longer lives in Berlin' undoes the home, and not what else names Berlin."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from mnemon.domain.abroad import in_english
from mnemon.domain.pattern import pattern
from mnemon.domain.wording import plain

_DENIAL = pattern(
    r"\b(?:no longer|any ?more|not|never|used to|stopped|quit|left|gave|gone|resigned|retired|unemployed"
    r"|broke up|split up|called it quits|goodbye|separated|divorced"
    r"|moved (?:away|out)|sold|lost|died|dead|passed away|ran away"
    r"|laid off|fired|let go|redundant|rehomed|traded|laid me off|let me go|sacked|outgrew|outgrown|dumped"
    r"|(?:fell|fallen) through"
    r"|put (?:\S+ ){1,3}?(?:down|to sleep)"
    r"|give (?:\S+ ){1,3}?(?:away|up)|back (?:together|with|to)|ex(?:-\S+)?|rehired"
    r"|back(?: home| again)?$|found \S+(?: again)?$"
    r"|eat(?:s|ing)? \S+ (?:again|now)|(?:started|begun) (?:to eat|eating))\b|n't\b"
)
_DEAD = (
    r"(?:died|passed away|passed on|(?:is|was|are) dead|was put (?:down|to sleep)|crossed rainbow bridge"
    r"|(?:is|are) no longer with us)"
)
_DIED = rf"\b{_DEAD}\b|\bput (?:\S+ ){{1,3}}?(?:down|to sleep)\b"
_GONE = (
    rf"(?:{_DEAD}|ran away(?! from)|went missing(?! for)|(?:is|are) gone(?! (?:for|until|till))|got run over"
    r"|(?:dumped|divorced|broke up with) (?:me|them)\b"
    r"|left (?:me|them) (?!(?:at|in|on|to|with|alone|an?|the)\b))"
)
_PARTED = (
    r"(?:called it quits|broke up|broken up|split up|separated|got divorced|divorced"
    r"|(?:aren't|(?:are )?(?:no longer|not)) together)"
)
WED = frozenset(["husband", "wife", "spouse", "partner"])
PARTNERS = WED | frozenset(["boyfriend", "girlfriend", "fiance", "fiancé", "fiancee", "fiancée"])

_NOT = r"(?:not|no longer|never|n't|isn't|aren't|doesn't|don't|cannot|can't)(?: (?:actually|really|even))*"
_NO_MORE = r"(?:no longer|used to|stopped|quit|gave up)(?: being)?"
_LATELY = r"(?:(?:has|had|have|just|sadly|suddenly|recently|finally|unexpectedly|peacefully|also|both) )*"
_END = (
    r"(?=$|(?:any ?more|now|currently|right now|these days|after all|at all|at moment|at present|since"
    r"|because|but|so|though|yet|and|last|this|yesterday|next|in \d{4}|full ?time|for good|either|or|to"
    r"|two|three)\b)"
)
"""What may follow where it is denied as such, and not for some hours or on some days."""
_HELD = (
    rf"(?:{_NOT} (?:have|has|own|owns|got)|(?:has|have) no|{_NO_MORE} (?:have|has|own|owns|having)) @ {_END}"
)
_MISNAMED = rf"(?:{_NOT} (?:named|called)|name(?:'s| is)? {_NOT}|(?:name|called|named) {_NOT}) @ {_END}"
_LOST_BY_NAME = (
    rf"(?:sold|lost|rehomed?|buried|gave away|(?:got|get) rid of|(?:had to|have to) say goodbye to) "
    rf"(?:(?:my|our|their|him|her) (?:\S+ )?)?@ {_END}"
    r"|(?:put|g[ai]ve) (?:(?:my|our|their|him|her) )?@ (?:away|up|down|to sleep)\b"
    r"(?! (?:in|on|next|with|for)\b)"
)
_WORK = (
    rf"(?:{_NO_MORE}|{_NOT}) (?:works?|working|employed|be)?(?: ?(?:at|for|as|in|with|by))? ?@ {_END}"
    rf"|{_NO_MORE} (?:works?|working|be|employed) (?:(?:at|for|as|in|with|by) )?@"
    r"|(?:quit|left|lost|resigned from|gave up) (?:(?:my|their|that) )?@ job\b"
    r"|@ (?:job|offer|position|role) (?:(?:has|just) )*(?:fell|fallen) through"
    r"|(?:job|offer|position|role) (?:at|with|from) @ (?:(?:has|just) )*(?:fell|fallen) through"
    rf"|(?:quit|left|lost|resigned|retired|fired|laid off|let go) (?:(?:my|their|from|by|as|job|work"
    rf"|position|at|with|being) )*@ {_END}|(?:left|quit) (?:my |their )?job (?:at|with|for) @"
)
_BOND = (
    rf"@ {_LATELY}(?:{_DEAD}|(?:dumped|divorced|broke up with) (?:me|them)\b|left (?:me|them) {_END})"
    rf"|\b(?:and|me and) @ (?:(?:are|were) )?{_LATELY}{_PARTED}"
    rf"|@ and (?:i|me) (?:(?:are|were) )?{_LATELY}{_PARTED}"
    r"|(?:broke up|split up|split|broken up) with (?:him |her )?@"
    rf"|separated from @|(?:divorced|dumped|lost) @ {_END}|left @ {_END}"
    rf"|{_NOT} (?:with|together with|married to|engaged to|dating|seeing) @ {_END}|{_MISNAMED}"
    rf"|{_NO_MORE} (?:be )?(?:with|together with|married to|engaged to|dating|seeing) @"
    rf"|\bex(?:[ -](?:{'|'.join(sorted(PARTNERS))}))? @|@ is (?:now )?my ex\b"
)
_BEING = (
    rf"(?:{_NOT}|{_NO_MORE}) (?:be )?(?:(?:from|allergic to|intolerant to|strictly|named|called) )*"
    rf"(?:(?:\S+ ){{1,3}}(?:or|nor) )?@ {_END}"
    rf"|{_NO_MORE} (?:be )?(?:(?:from|allergic to) )?@|{_HELD}|{_MISNAMED}|@ {_LATELY}{_DEAD}"
    rf"|(?:{_NOT} have|{_NOT} has|{_NO_MORE} has|(?:has|have) no) (?:\S+ )?(?:(?:named|called) )?@ "
    rf"(?:allergy )?{_END}|@ (?:is |are )?{_NOT} (?:my|their) favou?rite|lost @ {_END}"
)
_LIKING = r"(?:likes?|liked|loves?|loved|enjoys?|liking|enjoying|fond of|into|fan of|be fan of)"
_CUES = {
    "lives in": pattern(
        rf"(?:{_NOT}|{_NO_MORE}) (?:live|lives|living|based|be)(?: (?:in|near|at|outside))? @ {_END}"
        rf"|{_NO_MORE} (?:live|lives|living|based) (?:\S+ )?@|moved (?:away|out)(?: (?:from|of))? @"
        r"|left @ for good"
    ),
    **dict.fromkeys(("works as", "works at", "works in", "starts at"), pattern(_WORK)),
    "studies": pattern(
        rf"(?:{_NO_MORE}|{_NOT}) (?:stud(?:y|ies|ying) )?@ {_END}|(?:quit|dropped(?: out of)?) @ {_END}"
    ),
    "pet": pattern(rf"@ {_LATELY}{_GONE}|{_LOST_BY_NAME}|{_HELD}|{_MISNAMED}|{_NOT} @ {_END}"),
    "vehicle": pattern(
        rf"(?:sold|traded(?: in)?|crashed|wrecked|totaled|totalled|scrapped|gave away|rid of) "
        rf"(?:(?:my|our|their|old) )*@|{_HELD}|(?:{_NOT}|{_NO_MORE}) (?:drives?|driving) @ {_END}"
    ),
    "likes": pattern(rf"(?:{_NOT}|{_NO_MORE}) {_LIKING} @ {_END}"),
    "dislikes": pattern(rf"(?:{_NOT}|{_NO_MORE}) (?:dislikes?|hates?|hating|minds?) @ {_END}"),
    "speaks": pattern(rf"(?:{_NOT}|{_NO_MORE}) (?:speaks?|speaking) @ {_END}"),
    **dict.fromkeys(PARTNERS, pattern(_BOND)),
}
"""How a trait is denied by its value, which stands as @; a mere 'not' somewhere around it denies nothing."""
_OTHERWISE = pattern(_BEING)
"""What else denies a trait: being it, or having it."""
_NAMES = frozenset(["name", "goes by"])
_NAMING = pattern(r" (?:names?|named|called|calls?|go|goes) (?:\S+ )*$|^ (?:is|am|isn't|was) (?:\S+ ){0,2}$")
"""What stands before a name where it is denied to be one; elsewhere it only says who somebody is."""
_OF_THEMSELVES = _CUES.keys() - {"pet"} - PARTNERS | {"diet", "allergy", "relationship", "from", "age"}
"""What is so of somebody, whatever is no longer so of their sister."""
_OF_THEIRS = pattern(
    r"\S+'s? (?!(?:job|work|home|diet|allergy|profession|occupation)\b)|\S+ said: .(?:[Mm]y|[Oo]ur) "
)
_HAS_NONE = pattern(
    r"(?:(?:n't|not) (?:have|own)|no longer (?:has|have|owns?)|(?:has|have) no)(?: any)? (?P<kind>\S+)"
    r" (?=$|(?:any ?more|now|currently|at (?:all|moment|present))\b)"
)
_ENDS_A_BOND = pattern(rf"{_DIED}|\b{_PARTED}\b")
_BOTH_PARTED = pattern(
    r"^ said we(?:'ve|'re)? (?:(?:have|are|had|sadly|recently|finally|just|now) )*"
    r"(?:broke|broken|split) up\b|^ said we(?:'ve|'re)? (?:(?:have|are|had|recently|just|now) )*"
    r"(?:separated|got(?:ten)? divorced|divorced|no longer together|not together any ?more)\b"
)
"""'We broke up' is said of one's partner, if one is known."""
_LEFT_WORK = pattern(
    r"^ (?:said )?(?:i )?(?:just |recently |finally )*(?:(?:got|was|were|been|has been|have been) "
    r"(?:laid off|fired|let go|made redundant)|(?:lost|quit|left|resigned from) (?:their|my) job|resigned)\b"
    r"|^ said (?:they(?:'ve)?|\S+|(?:my )?(?:boss|company|employer|manager)) (?:(?:have|has|just|finally) )*"
    r"(?:laid me off|fired me|sacked me|let me go)\b(?! (?:home|early|first|in|to)\b)"
)
_LEFT_WORKING = pattern(
    r"^ (?:said )?(?:i )?(?:just |recently |finally |is |am |has |now )*retired (?=$|(?:last|in|at|from|now"
    r"|this|on|early|and|after|two|three|\d\S*|yesterday|when)\b)"
)
_MEAT = "(?:meat|chicken|fish|seafood)"
_EATS_AGAIN = pattern(
    r"\beat(?:s|ing)? (?:meat|chicken|fish|seafood|dairy|cheese|eggs?) again\b"
    rf"|\b(?:(?:started|begun) (?:to eat|eating) {_MEAT}|eats? {_MEAT} now)\b"
)
_QUIT_A_JOB = pattern(
    r"^ (?:said )?(?:i )?(?:just |recently |finally |has |have )*(?:quit|left|resigned from|gave up|lost)"
    r" (?:(?:my|their|that) )?(?P<what>(?!(?:my|their|that)\b)\S+(?: \S+){0,3}?) job\b"
)
"""'Quit the bubble tea job': which it was is told by what it is like."""
_OUTGREW = pattern(r"\boutgr(?:ew|own) (?:my|their) (?P<what>.+?) allergy\b")
_UNMARKED = r"(?:(?!\S*'s? )\S+ ){0,2}?"
_WENT = pattern(
    rf"^ (?:said )?(?:my |our )?{_UNMARKED}(?P<who>\S+) (?:(?:has|had|have|just|sadly|suddenly|recently) )*"
    rf"{_GONE}\b"
)
_LOST = pattern(
    r"\b(?:lost|sold|buried|rehomed|rehome|(?:give|gave|put|putting|giving|sell|let)) (?:their|my|our)"
    rf" {_UNMARKED}(?P<who>\S+)(?: (?:away|up|down|to sleep|go))? "
    r"(?=$|(?:last|yesterday|today|this|to|two|three|few|years?|months?|weeks?|suddenly|when|after|because"
    r"|and|for|in (?:\d{4}|january|february|march|april|may|june|july|august|september|october|november"
    r"|december))\b)"
)
_FINAL = pattern(_DIED)
_AGAIN = pattern(r" (?:back|rehired|found) ")
_RESUMED = {
    **dict.fromkeys(
        PARTNERS,
        pattern(
            r"back (?:together )?with @|@ and i (?:(?:are|got|get|have|gotten) )+back together|@ took me back"
        ),
    ),
    "pet": pattern(
        rf"@ {_LATELY}(?:came|come|is) (?:back|home) (?!from\b)|(?:found|got) @ (?:back |again )?$"
    ),
    "vehicle": pattern(r"(?:got|bought) (?:my |their )?@ back\b"),
    "diet": pattern(r"(?:went|gone) back to (?:being |eating )?@"),
    "works at": pattern(r"rehired (?:at|by) @|(?:went|gone) back to (?:(?:work|working) (?:at|for) @|@ $)"),
}
"""How what had come to an end begins again; the value stands as @."""
_BOTH_BACK = pattern(
    rf"^ said (?:we(?:'re|'ve)?|my (?:{'|'.join(sorted(PARTNERS))}) and i) (?:(?:just|have|are|got|gotten|get"
    r"|finally|recently) )*back together (?!for\b)"
)
_NEGATES = pattern(rf"\b(?:{_NOT}|{_NO_MORE}|no)\b|n't\b")
_HEDGED = pattern(
    r"\b(?:not|never|almost|nearly|wants?|going to|would|could|might|if|thinks?|thinking|considering|wish\w*"
    r"|afraid|worried|scared|hopes?|dream\w*|nightmare|thought|tried|trying)\b|n't\b"
)
"""What makes 'gave Rex away' no end."""
_OF_OTHERS = pattern(
    r" (?:said )?(?:my |our )?(?:\S+ )?(?:friend|neighbou?r|boss|colleague|coworker|sister|brother|mom|mum"
    r"|mother|dad|father|aunt|uncle|cousin|roommate|teacher|doctor|parent|landlord|ex|son|daughter|grandma"
    r"|grandpa)s?'s? (?!name\b)"
)
"""'Our neighbor's dog' is of nobody who says it."""
_CARS = frozenset(["car", "truck", "van", "motorcycle", "motorbike", "bike", "scooter", "suv", "pickup"])
_KEPT = 1 << 10
"""How many values are kept in mind: the same few come again and again."""


_SAID = pattern(r'(?P<who>\S+) said: "(?P<words>[^"]*)"$')


class Denial(Struct, frozen=True):
    """What is said not to be so any more."""

    told: str
    """In plain words between spaces, without whom it is said of: their id may be their name."""
    of_theirs: bool
    """Whether it is said of somebody or something of theirs."""
    gone: str
    """Who or what is gone, by what it is of theirs: 'dog', 'husband'; nothing if it is not said so."""
    final: bool
    """Whether it can't be otherwise again."""
    unnamed: frozenset[str]
    """The labels of what it may undo without a name."""
    hedged: bool
    """Whether it tells of no end, but that there is none, or of what was nearly one."""
    negates: bool
    """Whether it can be no longer so itself, as an event can't."""
    resumes: bool = False
    """Whether it tells that something is so again."""

    def names(self, value: str) -> bool:
        """Whether it says that value by its name."""
        return _parts(value)[0] in self.told


def is_denial(statement: str) -> bool:
    """Whether a statement without a trait may deny one."""
    return _DENIAL.search(plain(_told_in_english(statement))) is not None


@lru_cache(_KEPT)
def read(statement: str) -> Denial:
    """The denial that a statement is."""
    statement = _told_in_english(statement)
    told = f" {plain(statement.partition(' ')[2])} "
    of_theirs = _OF_THEIRS.match(statement) is not None
    if _OF_OTHERS.match(told):
        return Denial("", of_theirs, "", False, frozenset(), False, False)
    gone = _WENT.search(told) or _LOST.search(told)
    hedged = _HEDGED.search(told) is not None
    return Denial(
        told,
        of_theirs,
        _one(gone["who"]) if gone and not hedged else "",
        _FINAL.search(told) is not None,
        _unnamed(told, of_theirs),
        hedged,
        _NEGATES.search(told) is not None,
        not hedged and _AGAIN.search(told) is not None,
    )


def _told_in_english(statement: str) -> str:
    """The statement, with what was said in another language as it would be said in English."""
    said = _SAID.match(statement)
    told = in_english(said["words"]) if said else None
    return statement if said is None or told is None else f'{said["who"]} said: "{told}"'


def _unnamed(told: str, of_theirs: bool) -> frozenset[str]:
    """The labels of what is undone where it needs no name to tell who or what is meant: 'got divorced'."""
    found: set[str] = set()
    if not of_theirs:
        if _HAS_NONE.search(told):
            found.add("pet")
        if _QUIT_A_JOB.search(told):
            found |= {"works at", "works as"}
        if _LEFT_WORK.search(told):
            found |= {"works at", "works as"}
        if _LEFT_WORKING.search(told):
            found |= {"works at", "works as", "works in"}
        if _EATS_AGAIN.search(told):
            found.add("diet")
        if _OUTGREW.search(told):
            found.add("allergy")
        if _BOTH_PARTED.search(told):
            found |= PARTNERS | {"relationship"}
        if " got divorced " in told:
            found |= WED
    if _ENDS_A_BOND.search(told):
        begun = told.removeprefix(" said my").split(maxsplit=1)
        found |= PARTNERS & (set(begun[:1]) if of_theirs else set(told.split()))
    return frozenset(found)


def undoes(denial: Denial, label: str, value: str) -> bool:
    """Whether the trait of that label and value is no longer so."""
    name, kind = _parts(value)
    if label == "vehicle":
        words = name.split()
        name = next((f" {word} " for word in words if f" {word} " in denial.told), f" {words[0]} ")
    if name not in denial.told or name.isspace() or (label == "allergy" and label in denial.unnamed):
        return label in denial.unnamed and _undoes_unnamed(denial, label, value, kind)
    if denial.of_theirs and label in _OF_THEMSELVES:
        return False
    if label in _NAMES:
        return denial.negates and _NAMING.search(denial.told[: denial.told.find(name) + 1]) is not None
    found = _CUES.get(label, _OTHERWISE).search(denial.told.replace(name, " @ "))
    return found is not None and (not denial.hedged or _NEGATES.search(found[0]) is not None)


def resumes(denial: Denial, label: str, value: str) -> bool:
    """Whether the trait of that label and value, which had ended, is so again."""
    if not denial.resumes:
        return False
    if _BOTH_BACK.search(denial.told):
        return label in PARTNERS or label == "relationship"
    name, cue = _parts(value)[0], _RESUMED.get(label)
    return cue is not None and cue.search(denial.told.replace(name, " @ ")) is not None


def may_undo(denial: Denial, label: str, value: str) -> bool:
    """Whether the trait is of the kind that is gone, so that it is meant if no other is."""
    gone = denial.gone
    if label == "vehicle":
        return gone in _CARS and not denial.of_theirs
    if gone in PARTNERS:
        return label == gone or label == "relationship" or (label in WED and gone in WED)
    return gone != "" and gone == (_parts(value)[1] if label == "pet" else label)


def kind_of(value: str) -> str:
    """The kind of one that has a name, as 'dog' of 'Rex (dog)'; nothing of another."""
    return _parts(value)[1]


def name_of(value: str) -> str:
    """What a value names, in plain words."""
    return _parts(value)[0].strip()


def _undoes_unnamed(denial: Denial, label: str, value: str, kind: str) -> bool:
    """Whether it is that value of the label that a denial without a name undoes."""
    if label == "pet":
        none = _HAS_NONE.search(denial.told)
        return none is not None and _one(none["kind"]) in (kind, "pet")
    if label in ("works at", "works as") and (job := _QUIT_A_JOB.search(denial.told)):
        return set(job["what"].split()) <= set(plain(value).split())
    if label == "works as" and " at " not in value:
        return "works in" in denial.unnamed
    if label == "allergy":
        outgrown = _OUTGREW.search(denial.told)
        return outgrown is not None and _one(outgrown["what"]) == _one(name_of(value))
    return True


@lru_cache(_KEPT)
def _parts(value: str) -> tuple[str, str]:
    """What a value names, between spaces, and of which kind that is: ' rex ' and 'dog' of 'Rex (dog)'."""
    name, _, kind = value.partition(" (")
    return f" {plain(name)} ", _one(plain(kind).rpartition(" ")[2])


def _one(kind: str) -> str:
    return kind.removesuffix("s")
