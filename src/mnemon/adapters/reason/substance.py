"""How much a text says beside grammar, mood and praise."""

from __future__ import annotations

from collections.abc import Collection

from mnemon.adapters.reason.lexicon import word_set
from mnemon.domain.words import STOP_WORDS

_EMPTY = STOP_WORDS | word_set(
    """
    after again ago ain't all almost already also always another any anymore anyone anything anyway
    around away back be because before being better both can't cannot cause could couldn't day days
    didn't doesn't doing don't doin doin' down each either else enough especially even ever every
    everyone everything few finally first get gets getting give gives go goes going gonna got gotta
    guess guys haven't here herself himself i'd i'll i've how'd how're how's how've isn't itself just
    keep kind last lately less let let's life like little lot lot's lots made make makes making many may
    maybe me might mine more most much my myself need never new next no none not nothing now off often
    oh ok okay once one ones only other others ours out over own part per please pretty put quite rather
    real really recently right same say see seem should since some someone something somewhere soon sort
    still stuff such sure take takes taking that's there's they're they've thing things think those
    though through time times today together tomorrow tonight until up upon very want was wasn't way
    we'd we'll we're we've well went weren't what'd what're what's where'd where's while who'd who's
    y'all ya whole within without won't yeah yes yesterday yet
    """
)
_MOOD = word_set(
    """
    absolutely adorable bet look looks sound sounds must amazed amazing appreciate appreciated awesome
    awful bad beautiful best big blast blessed brilliant busy chill congrats cool crazy cute damn
    definitely delicious delighted different easy energizing epic excellent excited exciting fab
    fabulous fantastic favorite feel feeling feels felt fine fun funny glad gorgeous grateful great haha
    happier happy hard hope hoping hopefully huge important incredible incredibly insane inspired
    inspiring interesting joy killer long love loved lovely loving lucky mad magical means meant
    memorable mind moment moments motivated motivating nervous nice ok perfect pleased pleasure powerful
    priceless proud psyched pumped relaxing rewarding ride rough sad satisfying scary seriously smile
    sorry special stoked stunning super superb surreal sweet tbh thankful thanks thrilled thrilling
    tired tough totally true truly unbelievable unforgettable unreal upset vibes wait wild wonderful
    word words worth wow yay
    """
)


def substance(text: str, known: Collection[str] = ()) -> int:
    """The number of different words that say something, beside those already known."""
    return len(telling_words(text).difference(known))


def telling_words(text: str) -> set[str]:
    """The words in small letters that are neither grammar nor mood nor praise."""
    return {
        bare
        for word in text.lower().split()
        if (bare := word.strip(".,;:!?\"'()*…–—-").removesuffix("'s"))
        and bare not in _EMPTY
        and bare not in _MOOD
    }
