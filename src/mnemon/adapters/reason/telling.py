"""Whether a clause tells something of its author that is worth keeping."""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemon.adapters.reason.clauses import Clause
from mnemon.adapters.reason.cues import elsewhere, names_something, of_their_own, often, specific, tells_when
from mnemon.adapters.reason.lexicon import (
    CHILDREN,
    COMPUTING,
    DULL,
    EVENTS,
    LANGUAGES,
    LASTING,
    NATIONALITIES,
    PETS,
    RELATIVES,
    STEADY_ADJECTIVES,
    VERBS,
    base_of_ing,
    word_set,
)
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.substance import substance
from mnemon.domain.pattern import pattern

_DULL_OBJECT = pattern(
    r"(?:(?:an?|the|some|any|no|another|one|quick|few|lot of|great|good|really|little|bit of|big|cool"
    r"|awesome|exciting|amazing|crazy|fantastic|real-time|up-to-date|current|couple of|of|my|such|so|two"
    r"|many|more|lots of|cute|beautiful|nice|strong|wonderful|special|precious) )*(?:"
    + either(
        """
        ideas?, clues?, feelings?, hunch, points?, requests?, suggestions?, fun, time, day, blast,
        access, choice, doubt, thoughts?, look, guess, sense, hope, faith, respect, clarity, confusion,
        trouble, capability, ability, information, knowledge, limitations?, preferences?,
        recommendations?, tips?, advice, help, more, plans?, change, chance, moment, luck, concerns?,
        understanding, personal, opinions?, emotions, same, others?, things?, news, bond,
        memor(?:y|ies)(?! of), (?:photo|pic|picture)s?(?! (?:of|from|with|at)), work(?: to do)?$
        """
    )
    + r")\b",
    re.IGNORECASE,
)
_GOOD_TIME = pattern(r"(?:time|day|blast|fun)$")
_DULL_LIKING = pattern(
    r"(?:the (?:idea|way|sound|look|vibe|concept|suggestions?|tips?|recommendations?|first|second|third"
    r"|last|one|ones|fact|thought|flavou?r|details?|colou?rs?|options?)|how|when|hearing|seeing"
    r"|to (?:hear|see|know|think|say|learn more|ask)|both|each|all of|some of|most of|working with"
    r"|talking|chatting|helping)\b",
    re.IGNORECASE,
)
_LIKED_AT_SIGHT = pattern(
    r"(?:all )?(?:the|those|these)(?: (?!(?:of|with|in|at|on|about|from|when|to|for)\b)[a-z][a-z'-]*,?){2,}$"
)
"""What is liked where it is seen: 'I love the yellow leaves' is said of the listener's photo."""
_DULL_ASK = pattern(
    r"(?:some|any|help|advice|tips|recommendations?|suggestions?|information|info|ideas?|ways?"
    r"|inspiration|resources|more|forward|something|good|great|the best|at|into|up|like|new (?:ideas"
    r"|ways)|specific|details?|an? (?:good|great|few|list|way|bit|recipe|recommendation|suggestion|quick"
    r"|simple|solution))\b",
    re.IGNORECASE,
)
_DULL_AIM = word_set(
    """
    know see make ask say thank understand hear use do be figure find check clarify confirm get give go
    help let look mention show share tell think try wonder focus create write implement solve fix add
    ensure include keep incorporate consider explore discuss point note print return convert calculate
    generate extract parse avoid emphasize express
    """
)
_DULL_BEING = pattern(
    r"(?:an? )?(?:bit|little|lot|huge help|artificial|(?:large )?language model|llm|chatbot|bot|machine"
    r"|computer program|text-based|ai\b(?:$|,| (?:language|assistant|model|system|chatbot|and|developed"
    r"|created|designed|trained|so))|(?:virtual |digital |helpful )?assistant(?:$| (?:created|made"
    r"|designed|developed|that|here|and|trained)))|the (?:odd )?one",
    re.IGNORECASE,
)
_BEING = pattern(
    r"an? |the |\d{1,3}(?=$|,| and | years| feet| now| ?cm)|to [A-Z]|in (?:my|a|the) |on (?:a|the|my) "
    r"|interested in (?!learning|knowing|hearing|finding|trying|exploring)|(?:"
    + either(
        """
        from, born, raised, based, diagnosed, promoted, accepted, hired, fired, laid off, married,
        engaged, divorced, named, called, located, enrolled, retired, all?ergic, intolerant, into,
        afraid of, scared of, terrified of, fond of, keen on, obsessed with, addicted to,
        passionate about, good at, bad at, terrible at, proficient, fluent, trained, certified,
        qualified, responsible for, pregnant, expecting, half, originally, lactose, gluten, type,
        left.handed, right.handed, colou?r.blind, part of, one of, self-employed, homeschooled, adopted,
        close to my, part-time, full-time, new to
        """
    )
    + r")\b",
    re.IGNORECASE,
)
_PASSING = pattern(
    r"\d+ ?(?:%|percent|minutes?|mins?|hours?|hrs?|seconds?|steps?|blocks?|miles?|km|pages?)(?:\W|$)"
    r"|from work\b",
    re.IGNORECASE,
)
"""How far or how sure somebody is at the moment."""
_FIGURATIVE = pattern(
    r"in (?:fear|hope|denial|peace|harmony|sin|style|sweatpants|pajamas|the moment|the past|the present"
    r"|my (?:head|own (?:head|world|bubble))|a (?:bubble|fantasy))\b",
    re.IGNORECASE,
)
_PLACED = pattern(r"(?:in|at|on|off to|back in|back from|currently in|near|outside) \w", re.IGNORECASE)
_EVALUATED = pattern(
    r"(?:(?:so|really|very|super|pretty|always|just|also|such|an?|the|absolutely|truly|quite|doing|too) )*(?:"
    + either(
        """
        great, awesome, amazing, nice, good, bad, fine, cute, ok, okay, best, fun, funny, wonderful,
        lovely, adorable, sweet, happy, excited, proud, crazy, wild, well, fantastic, perfect, beautiful,
        important, special, mess, blast, everything, incredible, rock, world, inspiration, blown, sore,
        tired, full
        """
    )
    + r")\b[^,]{0,24}$",
    re.IGNORECASE,
)
_GOT = pattern(
    r"(?:an? |my |married|engaged|divorced|promoted|hired|fired|laid|diagnosed|back |accepted|into |two"
    r"|three|four|\d|some |new |the |to (?:see|meet|visit|attend|try))"
)
_GETTING = pattern(r"(?:married|an? |my |divorced|into |ready for my|back into)")
_DULL_HAVING = pattern(
    r"(?:some |a lot of |an? )?(?:trouble|issues?|problems?|difficult|hard|fun|blast|great)"
)
_MERE_MOOD = pattern(
    r"(?:(?:so|really|very|super|just|pretty|always|still|truly|absolutely|totally|feeling) )*(?:"
    r"(?:proud|happy|excited|stoked|thrilled|pumped|glad|pleased|satisfied|grateful|thankful|determined|eager"
    r"|hopeful|curious|nervous|ready) "
    r"(?:of|with|about|for|to see|to keep|to find out) (?:how far|how much|what (?:the future|i|we|lies|comes"
    r"|life)|where (?:this|it|life)|(?:all )?(?:my|our|the) (?:(?:hard )?work|progress|accomplishments?"
    r"|achievements?|efforts?|journey|future)|going|pushing|growing|moving)"
    r"|(?:glad|happy|grateful|thankful|blessed|lucky) (?:that )?(?:we|to have (?:you|them|him|her|it))\b"
    r"|on the hunt$|on a roll$|on cloud nine|over the moon)",
    re.IGNORECASE,
)
"""Pride in oneself and hope in general: it says of nobody what they are proud of."""
_IDIOMS = pattern(
    r"(?:cross|crossing|keep|keeping) (?:my|our) fingers"
    r"|make (?:\w+ )?(?:strides|progress)\b"
    r"|keep (?:going|pushing|growing|moving|striving|grinding|it up|at it|on)\b",
    re.IGNORECASE,
)
_STORY = pattern(r"\bthis [a-z]+ [a-z]")
_US = pattern(r"\b(?:us|any|everyone|people)\b")
_CREED = pattern(r"in [A-Z]")

_DULL_THINGS = word_set(
    """
    question questions point guess bad apologies apology pleasure understanding issue problem code error
    function query goodness god gosh heart mind thoughts advice suggestion recommendation response
    answer turn concern jaw word take training knowledge purpose programming message request task output
    script previous prompt opinion impression bet fault mistake condolences regards thanks suggestions
    recommendations eyes responses answers conversation input data thinking dreams week day weekend
    morning
    """
)
_REPORTING = word_set(
    "say tell think ask believe suggest recommend claim want wonder know feel mean seem let"
)
_ABLE = word_set("swim drive cook sing dance play speak ride ski surf juggle knit sew bake")
_UNABLE = _ABLE | word_set("eat drink stand afford tolerate digest walk lift run sleep read write")
_ALONE = word_set(
    """
    smoke drink cook paint dance sing meditate knit bake garden swim jog run drive freelance volunteer
    hike surf ski vape snore
    """
)
_BEGUN = word_set("learn plan save train prepare expect organise organize move fly raise retire start")
_TRAVEL = word_set("fly travel visit move go start attend host marry meet leave be return get take")
_SHARED = word_set(
    """
    live have own get adopt move go fly be marry visit expect travel rent buy foster raise love like
    enjoy do take spend celebrate meet start host attend eat camp hike
    """
)
_AT_HAND = word_set(
    """
    have get need want try run write create make add use build find change update fix see set load
    install start plan
    """
)
_HOUSEHOLD = word_set(
    "house home apartment flat family wedding anniversary car garden baby dogs cats honeymoon farm shop"
    " business"
)
_OURS = RELATIVES | PETS | CHILDREN | _HOUSEHOLD

_REMARKING = DULL - word_set(
    "be call feel have help look notice realise realize remember see send stand talk worry"
)
_OF_SERVICE = pattern(
    r"\bto (?:have been able to )?(?:help|assist|hear|answer|chat|provide|find any)\b|\binformation\b|^sure\b"
)
_OWN_WAYS = word_set("think plan want look try consider hope")
_FELT = pattern(
    r"(?:\w+ ){0,2}\w*(?:ed|ky|ful|py|ous|us|ud|ad|ger|off|busy) (?:to|about|by|with|for|from|in|of|\w+ing) "
)
_MUCH = 3
"""How many words have to say something where no rule tells that a clause is worth it."""

Judge = Callable[[Clause], bool]


def tells(clause: Clause) -> bool:
    """Whether it is a fact about the author, and not talk, mood, or the task at hand."""
    if clause.subject in ("my", "our"):
        return _of_theirs(clause)
    if not clause.rest:
        return clause.lemma in _ALONE or (clause.prefix != "" and clause.lemma in LASTING)
    if (elsewhere(clause.rest) and not _tale(clause)) or _at_hand(clause) or _is_mood(clause):
        return False
    if clause.lemma == "quit" and clause.rest.startswith(("in ", "on ", "at ")):
        return False
    if (clause.lemma == "live" and _FIGURATIVE.match(clause.rest)) or (
        clause.lemma == "be" and _PASSING.match(clause.rest)
    ):
        return False
    if clause.subject == "we" and clause.lemma not in _SHARED and clause.lemma not in _OWN_WAYS:
        return _says_much(clause)
    if clause.tense in ("can", "wish", "owed", "used", "future") and clause.lemma != "be":
        return _BY_TENSE[clause.tense](clause) or _says_much(clause)
    return (_BY_LEMMA.get(clause.lemma) or _BY_TENSE[clause.tense])(clause) or _says_much(clause)


def _is_mood(clause: Clause) -> bool:
    """Whether it says how its author feels about nothing in particular."""
    if clause.lemma in ("be", "feel"):
        return _MERE_MOOD.match(clause.rest) is not None
    return _IDIOMS.match(f"{clause.lemma} {clause.rest}") is not None


def _says_much(clause: Clause) -> bool:
    """Whether it is no remark on the talk, and says more than a mood."""
    if clause.lemma == "wait" and clause.tense == "can":
        return clause.group.negated and clause.rest.startswith(("for ", "to ")) and _awaited(clause)
    if clause.lemma in _REMARKING or clause.tense in ("can", "owed"):
        return False
    if _BY_LEMMA.get(clause.lemma) is _like and _is_dull_liking(clause):
        return False
    if clause.tense == "future" and "going" not in clause.group.said:
        own = of_their_own(clause.rest) and clause.lemma not in _DULL_AIM and clause.lemma != "be"
        return own and substance(clause.rest) >= _MUCH - 1
    if clause.lemma == "be" and (
        clause.tense in ("future", "wish")
        or _OF_SERVICE.search(clause.rest)
        or _DULL_BEING.match(clause.rest)
    ):
        return False
    if clause.lemma in ("look", "search") and clause.rest.startswith("for "):
        return False
    felt = clause.lemma == "be" and _FELT.match(clause.rest) is not None
    said = f"{clause.lemma} {clause.rest}"
    return substance(said) + specific(clause) >= (_MUCH - 1 if felt else _MUCH)


def _awaited(clause: Clause) -> bool:
    return substance(clause.rest) >= _MUCH - 1 and specific(clause)


def _tale(clause: Clause) -> bool:
    """Whether 'this' may be meant as in a story: 'I went to this little place in Porto'."""
    if clause.tense != "past" or clause.lemma not in EVENTS or len(clause.rest.split()) < 4:
        return False
    return _STORY.search(clause.rest) is not None and specific(clause)


def _at_hand(clause: Clause) -> bool:
    """Whether it is about the code or the text that is being worked on."""
    if clause.lemma not in _AT_HAND or (clause.lemma == "use" and clause.tense == "now"):
        return False
    return not COMPUTING.isdisjoint(word.strip(".,()'\"") for word in clause.rest.lower().split())


def _of_theirs(clause: Clause) -> bool:
    owned = clause.owned.lower().replace(",", "").split()
    if clause.group.said == "died" and not clause.rest:
        return True
    if not owned or len(owned) > 7 or not clause.rest or elsewhere(clause.rest):
        return False
    if not _DULL_THINGS.isdisjoint(owned) or clause.lemma in _REPORTING:
        return False
    if clause.subject == "our" and _OURS.isdisjoint(owned) and substance(clause.rest) < _MUCH - 1:
        return False
    if clause.subject == "our" and clause.tense == "now" and _US.search(clause.rest):
        return False
    if clause.lemma == "have" and _DULL_OBJECT.match(clause.rest):
        return False
    if clause.group.said in ("will", "can", "won't", "can't") and not specific(clause):
        return False
    if clause.lemma in ("be", "look", "mean") and _EVALUATED.match(clause.rest):
        return substance(clause.rest) >= _MUCH - 1
    return True


def _now(clause: Clause) -> bool:
    if " for a living" in clause.rest:
        return True
    if clause.lemma in DULL:
        return False
    return clause.lemma in LASTING or clause.rest.startswith("by ") or specific(clause)


def _past(clause: Clause) -> bool:
    if clause.lemma in DULL:
        return False
    if clause.lemma in ("quit", "stop") and base_of_ing(clause.rest) in _ALONE:
        return True
    if clause.lemma in EVENTS and len(clause.rest.split()) >= 3 and substance(clause.rest):
        return True
    if clause.lemma == "take" and clause.rest.startswith("up "):
        return True
    return specific(clause) and len(clause.rest.split()) >= (1 if clause.prefix else 2)


def _perfect(clause: Clause) -> bool:
    return clause.lemma in LASTING or _past(clause)


def _going(clause: Clause) -> bool:
    if clause.lemma in DULL or (clause.lemma in ("do", "work") and not substance(clause.rest)):
        return False
    if clause.lemma in _BEGUN or clause.lemma in LASTING or specific(clause):
        return True
    return clause.lemma in EVENTS and len(clause.rest.split()) >= 3


def _future(clause: Clause) -> bool:
    if clause.lemma in DULL:
        return False
    return tells_when(clause.rest) or (clause.lemma in _TRAVEL and names_something(clause.rest))


def _can(clause: Clause) -> bool:
    if clause.lemma == "get" and clause.group.negated and clause.rest.startswith("enough of "):
        return not elsewhere(clause.rest.removeprefix("enough of "))
    return clause.lemma in (_UNABLE if clause.group.negated else _ABLE)


def _wish(clause: Clause) -> bool:
    return clause.lemma not in DULL and clause.lemma not in _DULL_AIM and specific(clause)


def _used(clause: Clause) -> bool:
    return clause.lemma not in DULL or clause.lemma == "be"


def _owed(clause: Clause) -> bool:
    return clause.lemma not in DULL and (tells_when(clause.rest) or of_their_own(clause.rest))


def _be(clause: Clause) -> bool:
    rest = clause.rest
    placed = _PLACED.match(rest) is not None and (names_something(rest) or tells_when(rest))
    if clause.tense in ("future", "can", "wish", "owed"):
        return placed
    if _DULL_BEING.match(rest) or _EVALUATED.match(rest):
        return False
    first = rest.split(" ", 1)[0].lower().strip(",.")
    if first in STEADY_ADJECTIVES or first in NATIONALITIES or _BEING.match(rest):
        return not (first == "the" and len(rest.split()) < 3)
    return placed or (rest[:1].isupper() and clause.tense == "state")


def _have(clause: Clause) -> bool:
    dull = _DULL_OBJECT.match(clause.rest)
    if clause.tense == "now":
        return dull is None
    if clause.tense == "going":
        return specific(clause) and _DULL_HAVING.match(clause.rest) is None
    if clause.rest.startswith("to ") and not tells_when(clause.rest):
        return False
    if dull and not (_GOOD_TIME.search(dull[0]) and len(clause.rest.split()) > 5):
        return False
    return specific(clause)


def _take(clause: Clause) -> bool:
    """'I take sumatriptan for migraines'; what else is taken is told as anything that is done."""
    if clause.tense == "now" and " for " in clause.rest:
        return substance(clause.rest) > 1
    return _BY_TENSE[clause.tense](clause)


def _get(clause: Clause) -> bool:
    if clause.tense == "now":
        return often(clause) or clause.rest.startswith("up at")
    if clause.tense in ("past", "perfect"):
        return _GOT.match(clause.rest) is not None and _DULL_OBJECT.match(clause.rest) is None
    return _GETTING.match(clause.rest) is not None or _future(clause)


def _is_dull_liking(clause: Clause) -> bool:
    at_sight = clause.tense == "now" and _LIKED_AT_SIGHT.match(clause.rest) and not often(clause)
    return bool(_DULL_LIKING.match(clause.rest) or at_sight)


def _like(clause: Clause) -> bool:
    if _is_dull_liking(clause):
        return False
    return clause.tense in ("now", "perfect", "going") or specific(clause)


def _aim(clause: Clause) -> bool:
    """Wanting, planning, hoping to do something."""
    words = clause.rest.split()
    if clause.tense == "past" and not specific(clause):
        return False
    if words[0] == "to" and len(words) > 2:
        return words[1] not in _DULL_AIM and words[1] in VERBS
    if clause.lemma in ("plan", "save"):
        return words[0] in ("a", "an", "my", "for", "on", "the", "up") and not _DULL_ASK.match(clause.rest)
    if clause.lemma == "dream":
        return words[0] in ("of", "about")
    if clause.lemma not in ("want", "need") or clause.tense not in ("now", "perfect") or len(words) < 2:
        return False
    dull = _DULL_ASK.match(clause.rest) or _DULL_OBJECT.match(clause.rest)
    return words[0] in ("a", "an", "my", "two", "three") and dull is None


def _need(clause: Clause) -> bool:
    return _aim(clause) and (of_their_own(clause.rest) or tells_when(clause.rest) or " by " in clause.rest)


def _look(clause: Clause) -> bool:
    way, _, rest = clause.rest.partition(" ")
    if clause.tense not in ("going", "perfect") or not rest:
        return False
    if way == "to":
        verb = rest.partition(" ")[0]
        return verb in VERBS and verb not in _DULL_AIM
    return way == "for" and _DULL_ASK.match(rest) is None and not elsewhere(rest)


def _think(clause: Clause) -> bool:
    """'I'm thinking of getting a dog'; a bare thought is no fact."""
    words = clause.rest.split()
    if clause.tense not in ("going", "perfect") or len(words) < 3 or words[0] not in ("of", "about"):
        return False
    lemma = base_of_ing(words[1])
    if lemma in ("get", "go", "do", "make"):
        return specific(clause)
    return lemma is not None and lemma not in _DULL_AIM and lemma not in ("have", "start")


def _try(clause: Clause) -> bool:
    words = clause.rest.split()
    if words[0] != "to" or len(words) < 3:
        return clause.tense in ("past", "perfect") and words[0] != "to" and specific(clause)
    if clause.tense not in ("going", "perfect", "now") or words[1] in ("come", "decide", "plan"):
        return False
    return specific(clause) if words[1] in ("learn", "improve") else words[1] not in _DULL_AIM


def _seen(clause: Clause) -> bool:
    if clause.tense == "now":
        return often(clause)
    return clause.tense in ("past", "perfect") and len(clause.rest.split()) > 2 and specific(clause)


def _know(clause: Clause) -> bool:
    spoken = not LANGUAGES.isdisjoint(clause.rest.lower().split())
    return clause.tense == "now" and (spoken or clause.rest.startswith("how to "))


def _believe(clause: Clause) -> bool:
    return clause.tense == "now" and _CREED.match(clause.rest) is not None


def _helped(clause: Clause) -> bool:
    return clause.tense in ("past", "perfect") and of_their_own(clause.rest)


def _turn(clause: Clause) -> bool:
    return clause.tense in ("past", "perfect", "going") and clause.rest[:1].isdigit()


def _come(clause: Clause) -> bool:
    return (clause.tense == "now" and clause.rest.startswith("from ")) or _BY_TENSE[clause.tense](clause)


def _consider(clause: Clause) -> bool:
    return clause.tense in ("going", "perfect") and (specific(clause) or substance(clause.rest) > 0)


_BY_LEMMA: dict[str, Judge] = {
    "be": _be,
    "have": _have,
    "get": _get,
    **dict.fromkeys(["like", "love", "enjoy", "adore", "hate", "prefer", "dislike"], _like),
    **dict.fromkeys(["want", "plan", "hope", "aim", "intend", "dream", "save"], _aim),
    "need": _need,
    "take": _take,
    "look": _look,
    "think": _think,
    "try": _try,
    "see": _seen,
    "find": _seen,
    "know": _know,
    "believe": _believe,
    "help": _helped,
    "turn": _turn,
    "come": _come,
    "consider": _consider,
}
_BY_TENSE: dict[str, Judge] = {
    "now": _now,
    "told": specific,
    "past": _past,
    "perfect": _perfect,
    "going": _going,
    "future": _future,
    "state": _be,
    "was": _be,
    "can": _can,
    "wish": _wish,
    "used": _used,
    "owed": _owed,
}
