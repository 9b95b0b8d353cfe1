"""Whether a question asks how something is, and not how it was; in a few languages."""

from __future__ import annotations

from mnemon.domain.pattern import pattern

_DOES = (
    "runs|uses|lives|works|costs|takes|needs|owns|goes|comes|starts|begins|leaves|ends|opens|closes|likes|come|go"
    "|use"
)
_ENGLISH = pattern(
    r"^\W*(?:(?:so|and|but|ok|okay|hey|please|remind me|tell me|do you (?:know|remember))\b\W*)*"
    r"(?:(?:on |in |at |with )?(?:what|which|who|whom|whose|where|how|when)"
    rf"(?:['’]s|(?: [\w'’-]+){{0,4}}? (?:am|is|are|do|does|have|{_DOES}))|who [a-z]{{3,}}s"
    r"|am|is|are|do|does|have)\b"
)
_WAS = pattern(
    r"\b(?:did|was|were|had|been|used? to|before|after|first|original(?:ly)?|initial(?:ly)?|earli(?:er|est)"
    r"|ever|ago|previous(?:ly)?|former(?:ly)?|past|history|so far|back then|have (?:i|we|you|they) [\w]+ed"
    r"|(?:my|our|his|her|their|the|['’]s) old(?! (?:am|is|are)\b))\b"
)
_ABROAD = pattern(
    r"^\W*(?:(?:und|et|y|e) )?(?:"
    r"wo|wie|wer|wem|wen|wann|wohin|was (?:ist|sind|mach|ess|trink|hab|für|kost|fahr)\w*|habe ich|haben wir"
    r"|bin ich"
    r"|(?:in |an |auf |bei |mit |für |um )?(?:welche[rsnm]?|wie viel|wem)|ist mein\w*"
    r"|où|quand|qui|que|qu['’]est-ce que|(?:à |chez |dans |de |sur |pour |avec )?(?:quel(?:le)?s?|qui)"
    r"|combien|comment|est-ce que|ai-je|suis-je"
    r"|(?:a |en |de |con |para )?(?:d[oó]nde|cu[aá]ndo|qui[eé]n|qu[eé]|cu[aá]l(?:es)?|cu[aá]nt[oa]s?)|c[oó]mo"
    r"|tengo|tenemos|soy|estoy"
    r"|(?:a |em |de |com |para |o )?(?:onde|quando|quem|qual|quais|quant[oa]s?|que)|tenho|temos|sou|estou"
    r")\b"
)
_WAS_ABROAD = pattern(
    r"\b(?:war|waren|hatte|hatten|wurden?|früher|vorher|ehemals?|damals|zuvor|ursprünglich|zuerst|bisher|gewesen"
    r"|ge\w{2,}(?:t|en)\W*$"
    r"|étai\w+|avai\w+|avant|autrefois|auparavant|ancien\w*|précédent\w*"
    r"|(?:j['’]ai|ai-je|avons-nous) \w+(?:é|ée|és|u|is)"
    r"|(?:habit|travaill|viv|all|fais|us)(?:ais|ait|ions)"
    r"|eran?|fue|fueron|estaba|antes|anterior\w*|antigu[oa]s?|antig[oa]s?|(?:ten|viv|hab|hac|com|quer|sol)ía"
    r"|(?:trabaj|us|llam|gust|est)aba|foi|foram|estava|havia|tinha|vivia|(?:mor|trabalh|us|cham)ava)\b"
)
_EASTERN = pattern(r"哪|什么|多少|几|谁|怎么|吗|何|どこ|いつ|誰|だれ|いくら|どの|どれ|ですか|ますか")
_WAS_EASTERN = pattern(
    r"以前|之前|原来|曾经|过去|当时|从前|上次|过吗|前は|前の|かつて|昔|でしたか|ましたか|だった|ていた|最初|第一次"
)


def asks_how_it_is(question: str) -> bool:
    """The question is in small letters."""
    if _ENGLISH.match(question):
        return _WAS.search(question) is None
    if _ABROAD.match(question):
        return _WAS_ABROAD.search(question) is None
    if question.isascii():
        return False
    return _EASTERN.search(question) is not None and _WAS_EASTERN.search(question) is None


def is_english(question: str) -> bool:
    """Whether it asks how something is or was in English. The question is in small letters."""
    return _ENGLISH.match(question) is not None
