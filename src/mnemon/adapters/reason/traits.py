"""What a clause puts on a card: a label and a value, as in 'Lives in: Lisbon'."""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemon.adapters.reason import values
from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.employment import (
    LATELY,
    accepted,
    employer,
    hired_by,
    joined,
    pursued,
    started,
    work_got,
)
from mnemon.adapters.reason.health import ails, diagnosed, had, taken_for
from mnemon.adapters.reason.homes import home, lives, moved
from mnemon.adapters.reason.household import OF_ANOTHER, everybody, kin, names_in, owned, somebody
from mnemon.adapters.reason.lexicon import (
    LANGUAGES,
    NATIONALITIES,
    RELATIVES,
    TRADES,
    word_set,
)
from mnemon.adapters.reason.person import they
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.values import line, phrase
from mnemon.domain.orders import may_be_an_order
from mnemon.domain.pattern import pattern

_NOT_QUITE = word_set("almost nearly barely hardly")
_RENAMED = pattern(r"my (?:legal |full |first )?name to (.+)")
_GREW = pattern(r"up (?:in|on) (.+)")
_FROM = pattern(r"(?:originally )?from (.+)")
_NO_EMPLOYER = pattern(
    r"(?:home|night|nights|\d|least|my|their|it|myself|themselves|me|them|hours|peanuts|free|fun|tips|money"
    r"|food|nothing|pleasure|commission|minimum|a living|the weekend)\b",
    re.IGNORECASE,
)
_NO_FOOD = pattern(
    r"(?:at|on|in|after|before|and|or|out|another|more|anything|something|alone|with|while|when|until|that|this"
    r"|much|well|enough|like|it|them|from|the|early|late)\b",
    re.IGNORECASE,
)
_NOT_TOLD = pattern(r"not to (?:say|answer|disclose|share|talk|discuss|tell)\b|(?:it|that|this|them)\b")
_POINTING = pattern(r"\b(?:this|that|it|them|him|her)\b|\b(?:these|those)$")
_NO_FIELD = pattern(r"(?:an?|the|my|their|this|progress|general)\b")
_NO_SUBJECT = (
    "for ",
    "hard",
    "real hard",
    "really",
    "so ",
    "a lot",
    "in ",
    "at ",
    "every",
    "about",
    "how",
    "with",
    "to ",
)
_NO_LIKING = pattern(r"(?:being|having to|when|that|to be)\b|.*\b(?:it|that|them|this|these|those)\b")
_ANY = pattern(r"(?:any|much)\s+")
_ARTICLE = pattern(r"(?:an?|the|my|our|their|some)\s+", re.IGNORECASE)
_A_OR_TO = pattern(r"(?:an?|to) ")
_BY_NAME = pattern(r"by (?:the name )?(.+)")
_VEHICLE = pattern(
    r"(?:(?:an?|my|two|the|old|new|used|red|blue|black|white|green|grey|gray|silver|electric|vintage|\d{4})\s)+"
    r"(?P<what>(?:(?i:"
    + either(
        """
        audi, bmw, chevy, chevrolet, citroen, citroën, cupra, dacia, dodge, ducati, fiat, ford, harley, honda,
        hyundai, jaguar, jeep, kawasaki, kia, lexus, mazda, mercedes, mini cooper, mitsubishi, nissan, opel,
        peugeot, porsche, prius, renault, seat ibiza, skoda, škoda, subaru, suzuki, tesla, toyota, vespa,
        volkswagen, volvo, vw, yamaha
        """
    )
    + r"))\b(?: (?:[A-Z][\w-]*|\d{1,4}\b))*(?: (?:van|truck|pickup|estate|bike))?)"
    r"(?=$|[,.;!]| (?:and|but|that|which|from|since|for|now|because|with|named|called)\b)"
)
_FOR_ANOTHER = pattern(r" for (?:my|our|his|her|their|[A-Z])")
_CUT_SHORT = pattern(
    r"\s+(?:when|whenever|while|after|before|if|unless|until|with|without|on|at|in)\b", re.IGNORECASE
)
_CALLED_BY_ALL = pattern(
    r"\b(?:everyone|everybody|people|friends|most people|they all)(?: just)? calls? me ([A-Z][\w'-]+)"
    r"(?=$|[,.;!)])"
)
_BORN_THERE = pattern(r"born in (?:(?:[A-Z][a-z]+ )?(?:19|20)\d\d) in (.+)")
_BASED_THERE = pattern(r"[ ,]+(?:based|living|located|currently) in (.+)")
_BORN = pattern(r"(?:born(?: and raised)?|raised|brought up) (in|on) (.+)")
_BASED = pattern(r"(?:based|located|currently|currently based) (?:in|near) (.+)")
_DIETS = either(
    "vegan, vegetarian, pescatarian, pescetarian, flexitarian, keto, paleo, halal, kosher, carnivore"
)
_DIET = pattern(
    rf"(?:an? )?(?:strict |mostly |lifelong |ovo-|lacto-)*({_DIETS}|gluten[- ]free)\b",
    re.IGNORECASE,
)
_BECAME = pattern(
    rf"(?:an? |fully |completely |mostly )*({_DIETS})"
    r"(?=$|[,.;!]| (?:in|last|this|since|after|because|and|when|two|three|a (?:year|month|few))\b)",
    re.IGNORECASE,
)
_FOND = pattern(
    r"(?:an? )?(?:very |really |huge |big |massive |avid |lifelong )*"
    r"(?:fan of|fond of|keen on|obsessed with|passionate about|lover of|into) (.+)",
    re.IGNORECASE,
)
_WED = pattern(r"(?:married|engaged) to (.+)")
_MARRIED = pattern(
    r"(married|engaged)\b(?! (?:and|but) )"
    r"(?:(?: (?:in|on|last|this|yesterday)\b[^,;]{0,30}?)?,? to (?=[A-Z])(.+))?"
)
_STATUS = pattern(
    r"(?:happily |recently |newly |still |now )?(married|single|divorced|engaged|widowed|separated)"
    r"(?=$|[,.;!]| (?:and|now|but|since|for|again|with (?:an?|one|two|three|four|\d|no)|mom|dad|mother"
    r"|father)\b)",
    re.IGNORECASE,
)
_ENOUGH_OF = pattern(r"enough of (.+)")
_INDEFINITE = pattern(r"(?:an?|the) ")
_TRADE_ENDS = pattern(
    r" (?:at|in|for|of|with|by|from|on|and|specializing|working|turned|who|that|living|based)\b"
)
_PURSUIT = pattern(
    r"(?!(?:amazing|boring|challenging|changing|demanding|draining|exhausting|going|interesting|killing|rewarding"
    r"|tiring)$)[a-z]+ing$"
)
_NOT_ONE = pattern(r"(?:former|ex|aspiring|would-be|wannabe|future|failed|wanna-be)[ -]", re.IGNORECASE)
_IN_JEST = pattern(r" of (?:life|change|growth|chaos|fate|love|sorts|the universe|my own|their own)\b")
_AFTER_A_NAME = pattern(r"$|[,.;(!]|and |from |- ")
_FAVOURITE = pattern(r"(?:all[- ]time |absolute )?(favou?rite [\w' -]{2,40})$")
_HOW_WELL = pattern(r" (?:fluently|natively|perfectly|(?:very |pretty )?well)$", re.IGNORECASE)
_IN_PASSING = pattern(
    r"(?:(?:actually|definitely|still|now|currently|by far|honestly|obviously|of course|hands down),? )+",
    re.IGNORECASE,
)
_WHOSE_NAME = pattern(r"(?:[\w-]+ ){0,4}?([\w-]+?)'?s name$")
_CALLED = pattern(r"(?:named|called) (.+)")
_EMAIL = pattern(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")

Rule = Callable[[Clause], "str | None"]
OwnRule = Callable[[str], "str | None"]
_TASTE = pattern(r"(?:Likes|Dislikes|Prefers|Goal|Favou?rite [^:]*): ")


def label_of(trait: str) -> str:
    """The label in lower case; nothing for a line that has none."""
    label, colon, _ = trait.partition(": ")
    return label.strip().lower() if colon and len(label) <= 40 else ""


def trait_of(clause: Clause) -> str | None:
    """The card's line, or None for what belongs on no card."""
    if not _NOT_QUITE.isdisjoint(clause.group.adverbs):
        found = None
    elif clause.subject in ("my", "our"):
        found = _of_theirs(clause)
    else:
        rule = _RULES.get(clause.lemma)
        found = rule(clause) if rule else None
    if found and _TASTE.match(found) and may_be_an_order(found):
        return None
    return found or somebody(clause)


def _change(clause: Clause) -> str | None:
    named = _RENAMED.match(clause.rest) if clause.happened else None
    found = values.name(named[1]) if named else None
    return line("Name", found) if named and found and LATELY.match(named[1][len(found) :]) else None


def _grow(clause: Clause) -> str | None:
    up = _GREW.match(clause.rest)
    return line("From", values.place(up[1])) if up and clause.happened else None


def _come(clause: Clause) -> str | None:
    source = _FROM.match(clause.rest)
    told = clause.tense == "now" and not clause.group.negated
    return line("From", values.named_place(source[1])) if source and told else None


def _work(clause: Clause) -> str | None:
    if not clause.holds:
        return None
    way, _, what = clause.rest.partition(" ")
    value = phrase(what)
    if value is None:
        return None
    if way == "as":
        return line("Works as", _ARTICLE.sub("", value, 1))
    if way in ("at", "for"):
        employer = values.named_place(what) or value
        return None if _NO_EMPLOYER.match(employer) else line("Works at", employer)
    return line("Works in", value) if way == "in" and not _NO_FIELD.match(value) else None


def _study(clause: Clause) -> str | None:
    if not clause.holds or clause.rest.startswith(_NO_SUBJECT):
        return None
    return line("Studies", phrase(clause.rest))


def _like(label: str, otherwise: str | None) -> Rule:
    """Likes and dislikes; the second label is for 'I don't like'."""

    def rule(clause: Clause) -> str | None:
        told = otherwise if clause.group.negated else label
        value = phrase(clause.rest) if clause.tense in ("now", "perfect") else None
        if told is None or value is None or len(value) > 60 or _NO_LIKING.match(value):
            return None
        if told == otherwise and _CUT_SHORT.match(clause.rest, len(value)):
            return None
        return line(told, value)

    return rule


def _prefer(clause: Clause) -> str | None:
    if not clause.holds:
        return None
    value = clause.rest.rstrip(" .!")
    if _NOT_TOLD.match(value):
        return None
    return line("Prefers", they(value) if len(value) <= 80 and "," not in value else phrase(value))


def _stand(clause: Clause) -> str | None:
    return line("Dislikes", phrase(clause.rest)) if clause.tense == "can" and clause.group.negated else None


def _consume(label: str) -> Rule:
    def rule(clause: Clause) -> str | None:
        if not clause.group.negated or clause.tense not in ("now", "can") or not clause.rest:
            return None
        value = _ANY.sub("", phrase(clause.rest) or "", 1)
        return None if _NO_FOOD.match(value) else line(label, value)

    return rule


def _speak(clause: Clause) -> str | None:
    spoken = {word.strip(",.").lower() for word in clause.rest.split()}
    if clause.tense not in ("now", "can") or clause.group.negated or LANGUAGES.isdisjoint(spoken):
        return None
    first, comma, more = clause.rest.removeprefix("both ").partition(", ")
    listed = comma and more.partition(" ")[0].strip(",.").lower() in LANGUAGES
    value = phrase(f"{first} and {more}" if listed else first)
    return line("Speaks", _HOW_WELL.sub("", value) if value else None)


def _turn(clause: Clause) -> str | None:
    return line("Age", values.age(clause.rest)) or _become(clause) if clause.happened else None


def _become(clause: Clause) -> str | None:
    """'I went vegan in January'."""
    diet = _BECAME.match(clause.rest) if clause.happened else None
    return line("Diet", diet[1]) if diet else None


def _go(clause: Clause) -> str | None:
    if diet := _become(clause):
        return diet
    by = _BY_NAME.match(clause.rest)
    if by is None or clause.tense != "now" or clause.group.negated:
        return None
    return line("Pronouns", values.pronouns(by[1])) or line("Goes by", values.name(by[1]))


def _use(clause: Clause) -> str | None:
    told = clause.tense == "now" and not clause.group.negated
    return line("Pronouns", values.pronouns(clause.rest)) if told else None


def _have(clause: Clause) -> str | None:
    if not clause.holds:
        return None
    return had(clause) or _drive(clause) or owned(clause)


def _take(clause: Clause) -> str | None:
    return taken_for(clause.rest) if clause.holds else None


def _acquire(clause: Clause) -> str | None:
    """'I adopted a dog named Rex', 'I got married', 'I can't get enough of jazz'."""
    if clause.tense == "can":
        enough = _ENOUGH_OF.match(clause.rest) if clause.group.negated else None
        return line("Likes", phrase(enough[1])) if enough else None
    if not clause.happened:
        return None
    if wed := _MARRIED.match(clause.rest):
        return line("Partner", values.name(wed[2])) if wed[2] else line("Relationship", wed[1])
    if work := work_got(clause):
        return work
    found = owned(clause)
    if found and found.startswith("Pet: ") and not found.endswith("fish"):
        return found
    bought = None if _FOR_ANOTHER.search(clause.rest) else _VEHICLE.match(clause.rest)
    return line("Vehicle", bought["what"]) if bought else None


def _drive(clause: Clause) -> str | None:
    """'I drive an old Volvo': by its maker, since of whom 'a bus' is driven is not said."""
    driven = _VEHICLE.match(clause.rest) if clause.holds else None
    return line("Vehicle", driven["what"]) if driven else None


def _be(clause: Clause) -> str | None:
    if clause.tense in ("was", "perfect") and not clause.group.negated:
        if hired := hired_by(clause.rest):
            return hired
        if ailment := diagnosed(clause.rest):
            return ailment
    if clause.tense == "was":
        return _born(clause.rest)
    if clause.tense not in ("state", "perfect") or clause.group.negated:
        return None
    for rule in (_measured, _origin, _condition, _fondness, _trade, _named):
        if found := rule(clause):
            return found
    return None


def _born(rest: str) -> str | None:
    born = _BORN.match(rest)
    if born is None:
        return None
    if day := values.calendar_day(born[2]):
        return line("Birthday", day)
    if year := values.year(born[2]):
        return line("Born", year)
    return line("From", values.place(born[2])) if born[1] == "in" else None


def _measured(clause: Clause) -> str | None:
    return line("Age", values.age(clause.rest)) if clause.tense == "state" else None


def _origin(clause: Clause) -> str | None:
    if source := _FROM.match(clause.rest):
        return line("From", values.place(source[1]))
    if based := _BASED.match(clause.rest):
        return line("Lives in", values.place(based[1]))
    told = clause.rest.rstrip(".").split()
    if (
        told
        and told[0].lower() in NATIONALITIES
        and (len(told) == 1 or told[1] in ("and", "but", "by", "from"))
    ):
        return line("Nationality", told[0])
    return None


def _condition(clause: Clause) -> str | None:
    diet = _DIET.match(clause.rest)
    return ails(clause.rest) or (line("Diet", diet[1]) if diet else None)


def _fondness(clause: Clause) -> str | None:
    if fond := _FOND.match(clause.rest):
        value = phrase(fond[1])
        return line("Likes", value) if value and not _NO_LIKING.match(value) else None
    if wed := _WED.match(clause.rest):
        return line("Partner", values.name(wed[1]))
    status = _STATUS.match(clause.rest)
    return line("Relationship", status[1].lower()) if status else None


def _trade(clause: Clause) -> str | None:
    """'I'm a nurse at St Mary's': the last word before a preposition must be a trade."""
    return _profession(clause.rest) if _INDEFINITE.match(clause.rest) else None


def _profession(rest: str) -> str | None:
    article = _INDEFINITE.match(rest)
    value = phrase(rest[article.end() :] if article else rest)
    if value is None or _IN_JEST.search(value) or _NOT_ONE.match(value):
        return None
    value = _BASED_THERE.sub("", value)
    if article is None and _PURSUIT.match(value):
        return line("Works as", value)
    head = _TRADE_ENDS.split(value)[0].split()
    return line("Works as", value) if head and head[-1].lower().strip(".") in TRADES else None


def _named(clause: Clause) -> str | None:
    """'I'm Ann'."""
    found = values.name(clause.rest)
    if found is None or clause.tense != "state":
        return None
    return line("Name", found) if _AFTER_A_NAME.match(clause.rest[len(found) :].lstrip()) else None


def _after_the_name(rest: str) -> str | None:
    """The trade of 'I'm Ann, product manager at Bolt'."""
    name = values.name(rest)
    return _profession(rest[len(name) + 2 :]) if name and rest.startswith(f"{name}, ") else None


def _of_theirs(clause: Clause) -> str | None:
    what = clause.owned.lower().rstrip(",")
    if clause.lemma != "be" or clause.group.negated or clause.tense != "now" or OF_ANOTHER.search(what):
        return None
    if rule := _OWN_RULES.get(what):
        return rule(clause.rest)
    if favourite := _FAVOURITE.match(what):
        return line(favourite[1].capitalize(), phrase(_IN_PASSING.sub("", clause.rest, 1)))
    if what in ("kids", "children"):
        return line("Children", names_in(clause.rest))
    if whose := _WHOSE_NAME.match(what):
        found = values.any_name(clause.rest)
        return kin(whose[1], names=found) if found else None
    noun = what.rpartition(" ")[2]
    called = _CALLED.match(clause.rest)
    found = values.name(clause.rest)
    if called:
        found = values.name(called[1], values.NO_GIVEN_NAME) or values.lone_name(called[1])
    if found and (called or (noun in RELATIVES and found == clause.rest)):
        return kin(noun, names=found)
    return None


def further(clause: Clause) -> list[tuple[str, str]]:
    """What else a clause puts on a card, each with the statement that says it of {}."""
    found: list[tuple[str, str | None]] = []
    if " me " in clause.text and (called := _CALLED_BY_ALL.search(clause.text)):
        found.append((f"people call {{}} {called[1]}", line("Goes by", called[1])))
    if clause.lemma == "be" and not clause.group.negated and clause.subject == "I":
        if clause.tense == "was" and (there := _BORN_THERE.match(clause.rest)):
            place = values.named_place(there[1])
            found.append((f"{{}} was born in {place}", line("From", place)))
        if clause.tense == "state" and (there := _BASED_THERE.search(clause.rest)):
            place = values.named_place(there[1])
            found.append((f"{{}} is based in {place}", line("Lives in", place)))
        if clause.tense == "state" and (trade := _after_the_name(clause.rest)):
            found.append((f"{{}} works as {trade.partition(': ')[2]}", trade))
    found += everybody(clause)
    return [(said, trait) for said, trait in found if trait and "{" not in trait]


def _own_phrase(label: str) -> OwnRule:
    def rule(rest: str) -> str | None:
        value = _A_OR_TO.sub("", phrase(rest) or "", 1)
        return None if _POINTING.search(value) else line(label, value)

    return rule


def _own_email(rest: str) -> str | None:
    address = _EMAIL.match(rest)
    return line("Email", address[0] if address else None)


_OWN_RULES: dict[str, OwnRule] = {
    **dict.fromkeys(
        ["name", "full name", "first name", "real name", "legal name"],
        lambda rest: line("Name", values.any_name(rest)),
    ),
    **dict.fromkeys(
        ["birthday", "date of birth", "birthdate", "birth date", "bday"],
        lambda rest: line("Birthday", values.calendar_day(rest.removeprefix("on "))),
    ),
    **dict.fromkeys(["job", "profession", "occupation", "job title"], lambda rest: _profession(rest)),
    "new job": lambda rest: employer(rest[3:]) if rest.startswith("at ") else _profession(rest),
    **dict.fromkeys(["hometown", "home town", "home country"], lambda rest: line("From", values.place(rest))),
    "home": home,
    **dict.fromkeys(["pronouns", "preferred pronouns"], lambda rest: line("Pronouns", values.pronouns(rest))),
    **dict.fromkeys(
        ["native language", "mother tongue", "first language", "native tongue"], _own_phrase("Speaks")
    ),
    **dict.fromkeys(["hobby", "main hobby", "biggest hobby", "passion"], _own_phrase("Likes")),
    **dict.fromkeys(["goal", "main goal", "dream", "biggest dream", "long-term goal"], _own_phrase("Goal")),
    **dict.fromkeys(["time zone", "timezone"], _own_phrase("Time zone")),
    "age": lambda rest: line("Age", values.age(rest)),
    **dict.fromkeys(["email", "email address", "e-mail"], _own_email),
}
_RULES: dict[str, Rule] = {
    **dict.fromkeys(["live", "reside"], lives),
    **dict.fromkeys(["move", "relocate"], moved),
    "grow": _grow,
    "come": _come,
    "work": _work,
    "study": _study,
    **dict.fromkeys(["like", "love", "enjoy", "adore"], _like("Likes", "Dislikes")),
    **dict.fromkeys(["hate", "dislike", "detest", "despise", "loathe"], _like("Dislikes", None)),
    "prefer": _prefer,
    "stand": _stand,
    "eat": _consume("Does not eat"),
    "drink": _consume("Does not drink"),
    "speak": _speak,
    "turn": _turn,
    "go": _go,
    "use": _use,
    "take": _take,
    "have": _have,
    **dict.fromkeys(["teach", "run", "manage", "do"], pursued),
    "own": lambda clause: pursued(clause) or _have(clause),
    "drive": _have,
    **dict.fromkeys(["adopt", "get", "buy", "land"], _acquire),
    **dict.fromkeys(["start", "begin"], started),
    "join": joined,
    "accept": accepted,
    "become": _become,
    "change": _change,
    "be": _be,
}
