"""The labels of a card that a question is about."""

from __future__ import annotations

from mnemon.adapters.reason.lexicon import ACQUAINTANCES, RELATIVES, word_set
from mnemon.adapters.reason.stems import stem
from mnemon.domain.pattern import pattern
from mnemon.domain.words import words

KIN = frozenset(name.lower() for name in RELATIVES | ACQUAINTANCES) | {
    "children",
    "partner",
    "relationship",
    "best friend",
}
_CHILDREN = word_set("children son daughter stepson stepdaughter")
_PARTNERS = word_set(
    "partner relationship spouse husband wife boyfriend girlfriend fiance fiancé fiancee fiancée"
)
_FOOD = frozenset(["diet", "does not eat", "does not drink", "allergy"])
_WORK = frozenset(["works as", "works at", "works in", "starts at"])
_HOME = frozenset(["lives in"])
_ABOUT_ABROAD = [
    (
        word_set("wohne wohnst wohnt vivo vives moro mora habite habites j'habite abito abiti woon woont"),
        _HOME,
    ),
    (
        word_set(
            "beruf arbeite arbeitest trabajo trabajas trabalho trabalha travaille travailles lavoro lavori"
            " werk werkt dedico metier"
        ),
        _WORK,
    ),
    (word_set("heisse llamo chamo m'appelle appelle chiamo heet"), frozenset(["name", "goes by"])),
    (
        word_set(
            "allergisch allergie allergien alergico alergica alergia alergias allergique allergies allergico"
            " allergica"
        ),
        frozenset(["allergy"]),
    ),
    (
        word_set("haustier haustiere mascota mascotas animaux hund katze perro gato chien chat"),
        frozenset(["pet"]),
    ),
    (word_set("geburtstag cumpleanos anniversaire"), frozenset(["birthday", "born"])),
]
"""The same in other languages, without accents, as `words` gives them."""
_ABOUT = [
    (
        word_set("live lives living reside home city town country located location based address"),
        _HOME,
    ),
    (word_set("from hometown origin originally nationality grow grew"), frozenset(["from", "nationality"])),
    (word_set("born birthday birth"), frozenset(["birthday", "born", "from"])),
    (word_set("old age"), frozenset(["age", "birthday", "born"])),
    (word_set("job work works working profession occupation career employer company"), _WORK),
    (
        word_set("study studies studying major degree university college school"),
        frozenset(["studies"]),
    ),
    (word_set("name names called call"), frozenset(["name", "goes by"])),
    (word_set("pronoun pronouns"), frozenset(["pronouns"])),
    (word_set("pet pets animal animals dog dogs cat cats"), frozenset(["pet"])),
    (
        word_set("family relatives"),
        KIN,
    ),
    (word_set("kid kids child children"), _CHILDREN),
    (word_set("sibling siblings"), word_set("sister brother stepbrother stepsister twin")),
    (word_set("parent parents"), word_set("mother mom mum father dad stepmother stepfather stepmom stepdad")),
    (word_set("spouse partner married relationship"), _PARTNERS),
    (
        word_set("allergy allergies allergic intolerant intolerance intolerances"),
        frozenset(["allergy"]),
    ),
    (word_set("eat eats food diet dietary drink dinner lunch restaurant"), _FOOD),
    (word_set("vegan vegetarian"), frozenset(["diet"])),
    (
        word_set(
            "like likes love loves enjoy enjoys hobby hobbies interest interests interested prefer prefers"
            " preference preferences fun into"
        ),
        frozenset(["likes", "prefers"]),
    ),
    (
        word_set("dislike dislikes hate hates avoid avoids"),
        frozenset(["dislikes", "does not eat", "does not drink"]),
    ),
    (word_set("language languages speak speaks"), frozenset(["speaks"])),
    (word_set("instruction instructions style tone"), frozenset(["instruction"])),
    (word_set("goal goals dream dreams aim aims ambition ambitions"), frozenset(["goal"])),
    *_ABOUT_ABROAD,
]
"""The words of a question, and the labels of a card that it is about then."""
LABEL_WORDS = frozenset(stem(word) for words_asked, _ in _ABOUT for word in words_asked)
_DOES = pattern(r"\b(?:does|do) (?:\w+ ){1,3}do\b|\bdo for\b")
_HOW_TO_ANSWER = pattern(r"\bshould (?:i|you|we) (?:answer|respond|reply|write|talk)\b")
_STAND = "can't stand"


def labels_asked(question: str) -> frozenset[str]:
    """The labels of a card that the question is about."""
    asked = frozenset(words(question))
    wanted: set[str] = set()
    for about, labels in _ABOUT:
        if not about.isdisjoint(asked):
            wanted |= labels
    if "do" in asked and _DOES.search(question):
        wanted |= _WORK
    if "should" in asked and _HOW_TO_ANSWER.search(question):
        wanted.add("instruction")
    if "stand" in asked and _STAND in question:
        wanted |= {"dislikes", "does not eat", "does not drink"}
    wanted |= {singular for word in asked if (singular := word.removesuffix("s")) in KIN}
    return frozenset(wanted)
