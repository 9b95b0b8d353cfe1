"""Whose words a sentence is in, and of which world: what another says, a jest or a story tells no facts."""

from __future__ import annotations

import re
from functools import lru_cache

from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.shapes import either
from mnemon.domain.pattern import pattern

_KEPT = 64
"""How many sentences are kept in mind: each is asked about more than once."""

_SAYING = word_set(
    """
    said says replied replies claimed claims wrote writes answered shouted shouts whispered whispers yelled
    yells insisted insists exclaimed announced declared declares joked jokes bragged brags boasted boasts
    admitted muttered texted tweeted sang sings
    """
)
_THINKING = word_set("thinks thought believes reckons assumes figures hopes")
_SAYS = "(?i:" + "|".join(sorted(_SAYING)) + ")"
_SAYS_IT = (
    "(?i:"
    + "|".join(sorted(_SAYING | _THINKING))
    + "|told (?:me|us|him|her|them|everyone)|tells (?:me|us|everyone)|(?:used|likes?|loves?) to say"
    r"|keeps? saying|kept saying|would say)"
)
_SOMEONE = "(?i:he|she|they|one|no ?one|nobody|someone|somebody|everyone|everybody|people|who)"
_DETERMINED = "(?i:the|my|our|his|her|their|this|that|some|another|an?)"
_BREAK = r"(?:\s*[,;(–—]\s*|\s-+\s*|[.…]{2,}\s*)"
_BREAKS = frozenset(",;:(–—-.…")
_OFTEN = r"(?: (?:\w+ly|always|often|once|just|then|also|still|sometimes|even|later)){0,3}"
_SAID_AFTER = pattern(
    rf"{_BREAK}(?i:that's|that is|or that's) what "
    rf"(?:{_SOMEONE}|{_DETERMINED} [\w'-]+|[A-Z][\w'-]+){_OFTEN} {_SAYS_IT}|"
    rf"{_BREAK}{_SAYS} (?:{_SOMEONE}|{_DETERMINED}|[A-Z][\w'-]*)\b"
    rf"|{_BREAK}(?i:as |or so |at least |like )?"
    rf"(?:{_SOMEONE}|{_DETERMINED}(?: [\w'-]+){{1,4}}?|[A-Z][\w'-]+(?: [A-Z][\w'-]+)?){_OFTEN} {_SAYS_IT}"
    r"(?=(?: to (?:me|us|him|her|them))?(?:\s*$|\s*[,.;:!)–—-])"
    r"|\s(?:yesterday|once|again|all|every|each|with|when|while|after|before|last|at|on)\b)"
)
"""'I'm a nurse, said the woman', 'I'm a nurse, my friend Eva always says'."""
_SAID_BEFORE = pattern(
    r"\b(?!(?:i|we|you)\b)\w+"
    rf"(?:'(?:s|re) (?:all |just )*like|{_OFTEN} (?:goes|go(?=:)|reads?|(?:used|likes?|loves?) to say"
    r"|(?:was|is|were|are)(?: all| just)* (?:like|all)"
    rf"|told (?:me|us|him|her|them|everyone)|{_SAYS}))"
    r"\s*[,:]\s*(?=(?:i|i'm|i've|my|we|we're|our)\b)"
    r"|\b(?:his|her|their|character|narrator|hero|heroine|protagonist|avatar|persona)\b[^:]{0,60}:\s*"
    r"(?=(?:i|i'm|i've|my|we|we're)\b)",
    re.IGNORECASE,
)
"""'He goes, I'm a vegan', 'my character in the novel says: I am a pirate'."""
_RECITED = pattern(
    r"\b(?:song|chorus|lyrics?|line|saying|quote|poem|proverb|joke|meme|slogan|headline|title)"
    r"(?: (?:just|always|that))* (?:goes|go|says|reads|is|was),? (?:like )?[\"“']?(?:i|i'm|my|we)\b",
    re.IGNORECASE,
)
_SAYING_HINTS = (
    _SAYING
    | _THINKING
    | word_set(
        """
        told tells say saying go goes read reads like all his her their character narrator hero heroine
        protagonist avatar persona
        """
    )
)

_JEST = pattern(
    rf"(?:{_BREAK}|\b(?:just|only|was|i'm|i am) )(?:kidding|joking|messing with (?:you|u))\b"
    r"|\bj/?k\b|\b(?:lol|haha|heh),? (?:no|not|nope|as if)$|\s/s$"
    rf"|{_BREAK}(?:not|psych|as if|yeah,? right|in my dreams|i wish|not really)$",
    re.IGNORECASE,
)
_JEST_HINTS = word_set("kidding joking messing jk j/k")
_JEST_ENDS = word_set("no not nope if /s psych right dreams wish really")
_IN_EARNEST = pattern(r"\b(?:not|no|isn't|wasn't|aren't|never) (?:\w+ )?(?:kidding|joking)\b", re.IGNORECASE)

_FICTION = either(
    r"""
    novel, story, tale, (?:video ?)?game, film, movie, play, dreams?, nightmare, script, screenplay,
    role-?play, campaign, fantasy, fan ?fic(?:tion)?, sketch, comic, musical, larp, simulation, sitcom,
    imagination, mind, head
    """
)
_GAMES = either(
    """
    minecraft, skyrim, d&d, dnd, dungeons, warcraft, world of warcraft, the sims, sims, roblox, gta, zelda,
    stardew valley, animal crossing, second life, vrchat
    """
)
_COSTUMES = "(?:for|at|on) (?:halloween|carnival|comic-?con|the (?:costume|fancy dress) party|the masquerade)"
_BEING = r"(?:i'm|i am|i live|i work|i have|i own|my name|my \w+ (?:is|are))\b"
_STORY = pattern(
    rf"(?:in {_DETERMINED} (?:[\w'-]+ ){{0,2}}?(?:{_FICTION})(?=,| (?:i|i'm|we|my|he|she|they|that|about)\b)"
    rf"|in (?:{_GAMES})\b|{_COSTUMES}\b).*?\b{_BEING}"
    rf"|i(?:'m| am) an? .* in {_DETERMINED} (?:[\w'-]+ ){{0,2}}?(?:{_FICTION})$",
    re.IGNORECASE,
)
_WORLDS = word_set("universe reality timeline dimension lifetime world life")
_ELSEWHERE = pattern(
    r"\bin (?:another|(?:an?|some|the|my) (?:alternate|alternative|parallel|different|fictional|imaginary"
    r"|perfect|ideal|past|previous|other|next|dream)) "
    rf"(?:{'|'.join(sorted(_WORLDS))})\b",
    re.IGNORECASE,
)
_PLAYED = pattern(
    r"(?:^|[,.!:-] )(?:i(?:'m| am)|my name(?:'s| is)(?! (?:jesus|hermione|hamlet)\b)|call me)"
    r" (?:the )?(?:"
    + either(
        r"""
        batman, superman, spider-?man, iron ?man, wonder woman, catwoman, hulk, captain america, groot,
        spartacus, gandalf, frodo, legolas, sauron, sherlock(?: holmes)?, dracula, frankenstein,
        santa(?: claus)?, jesus(?: christ)?, satan, god, napoleon, yoda, darth vader, luke skywalker,
        chewbacca, james bond,
        harry potter, hermione, dumbledore, voldemort, hamlet, cinderella, pikachu, godzilla, joker, grinch,
        (?:king|queen) of (?!hearts)[a-z]+, pope, inigo montoya, ishmael,
        tarzan, zorro, robin hood, peter pan, king arthur, terminator, wolverine, deadpool, thanos,
        mickey mouse, donald duck, bugs bunny, bond(?=$|[.!]), forrest gump, slim shady, tyler durden,
        heisenberg, optimus prime, indiana jones, (?:captain )?jack sparrow, bruce wayne, tony stark,
        obi-?wan, han solo, anakin skywalker, gollum, bilbo baggins, aragorn, galadriel, katniss everdeen,
        hannibal lecter, norman bates, rocky balboa, michael corleone, tony montana,
        maximus decimus meridius, john doe, jane doe, test user, foo(?:bar)?
        """
    )
    + r")\b",
    re.IGNORECASE,
)
_PLACEHOLDER = pattern(
    r"\{\{? ?[\w .-]{1,30} ?\}|\[(?:[A-Z][A-Z _-]{1,30}|(?:your|my|the|insert|name|first|last|full|city"
    r"|company|job|place|date|age)\b[\w ]{0,30})\]|<(?:your |my |insert )?(?:first |last |full )?"
    r"(?:name|city|company|job|place|date|age|title|employer|country)>|%s\b"
)
"""What a template leaves to be filled in."""
_MARKS_OF_ONE = frozenset("{[<%")
_SCOFFED = pattern(r"(?:yeah,? right|as if|in my dreams|oh,? sure|ha,? sure)\s*[,.:;!…-]", re.IGNORECASE)
_RECITALS = word_set(
    "song chorus lyric lyrics line saying quote poem proverb joke meme slogan headline title"
)
_EXCLAIMED = pattern(r"I(?:'m| am) [A-ZÀ-Þ][\w'-]*(?: [A-ZÀ-Þ][\w'-]*)*!+$")
TAKES_BACK = pattern(
    r"(?:(?:lol|haha|hehe|nah|no|ok|okay)[,.!]* )?(?:(?:i'm |i am |i was )?(?:just |only |totally )*"
    r"(?:kidding|joking|messing with (?:you|u))|j/?k|psych|not really|in my dreams|yeah,? right|as if)"
    r"(?:,? (?:lol|haha|of course|obviously))?[.!…]*$"
    rf"|(?:{_SAYS} {_SOMEONE}|{_SAYS} {_DETERMINED} [\w' -]{{2,60}}|{_SOMEONE}{_OFTEN} {_SAYS})[.!…]*$",
    re.IGNORECASE,
)
"""A sentence that says of the one before that it was a jest, or another's: 'Just kidding!', 'She said.'"""


@lru_cache(_KEPT)
def not_meant(sentence: str) -> bool:
    """Whether another says it, or it is a jest, or so in a story only: nothing that holds of its author."""
    if not _MARKS_OF_ONE.isdisjoint(sentence) and _PLACEHOLDER.search(sentence):
        return True
    text = sentence.strip(" ()[]*_~\"'«»“”")
    if _EXCLAIMED.match(text) or _PLAYED.search(text) or _SCOFFED.match(text):
        return True
    text = text.rstrip(" .!…,;:")
    last = text.rpartition(" ")[2].lower()
    words = {word.strip(",.:;!?()…-") for word in text.lower().split()}
    heard = not _SAYING_HINTS.isdisjoint(words) and not _BREAKS.isdisjoint(text)
    if heard and (_SAID_AFTER.search(text) or _SAID_BEFORE.search(text)):
        return True
    if not _RECITALS.isdisjoint(words) and _RECITED.search(text):
        return True
    jest = last in _JEST_ENDS or not _JEST_HINTS.isdisjoint(words)
    if jest and _JEST.search(text) and not _IN_EARNEST.search(text):
        return True
    elsewhere = not _WORLDS.isdisjoint(words) and _ELSEWHERE.search(text) is not None
    return elsewhere or _STORY.match(text) is not None
