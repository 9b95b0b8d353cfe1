"""Orders: whether a text speaks to a model about its orders, its memory or its user, or poses as its host."""

from __future__ import annotations

import re
import unicodedata

from mnemon.domain.pattern import pattern

_EARLIER = r"previous|prior|earlier|above|preceding|foregoing|former|existing|original|initial|past"
_ANY = (
    rf"(?:(?:all|any|every|each|of|the|your|my|our|these|those|other|and|{_EARLIER}|system|safety) ){{0,5}}"
)
_ORDERS = "instructions?|prompts?|directives?|guidelines?|guardrails?"
_RULES = "rules?|directions?|constraints?|polic(?:y|ies)|programming|training|commands?|orders|restrictions?"
_AI = r"(?:ais?|a\.i\.|llms?|language models?|assistants?|agents?|chat ?bots?|models?|memory systems?)"
_SHALL = "(?:must|should|shall|will|ought to|have to|has to|need to|needs to|are to|is to|please)"
_THE_USER = (
    r"\b(?:the|this|that) user(?:'s)?\b"
    r"(?! (?:interface|experience|guide|manual|stor(?:y|ies)|group|table|database|flow|research|tests?|model"
    r"|service|name|id|account|input|agent|base|count)\b)"
)
_TOLD = r"you(?: (?:were|are|have been|had been)|'ve been|'d been) (?:told|instructed|taught|programmed to)"
_SECRETS = (
    r"(?:api keys?|passwords?|credentials|private keys?|ssh keys?|access tokens?|secrets|seed phrases?)"
)
_SOMEWHERE = r"(?:[^\s@]{1,64}@[^\s@]|https?:|www\.)"

_ROMANCE = (
    "instructions|instrucciones|instruções|instrucoes|istruzioni|consignes|indicaciones|indicações|directives"
    "|directivas|diretivas|diretrizes|direttive|órdenes|ordens|ordini|ordres|règles|reglas|regras|regole"
)
_ROMANCE_ALL = "(?:tou(?:te)?s|tod[ao]s|tutt[ei])"
_ROMANCE_THE = "les|des|las|as|los|os|le|gli|i"
_ROMANCE_EARLIER = (
    r"précéd\w*|antérieur\w*|ci dessus|anterior(?:es)?|previ[ao]s|prévi[ao]s|de arriba|acima|precedenti"
    "|qui sopra"
)
_DE = "anweisung|instruktion|befehl|regel|vorgabe|prompt|direktive|richtlinie|anordnung"
_DE_EARLIER = "vorherigen|bisherigen|obigen|früheren|vorigen"
_NL = "instructies|opdrachten|aanwijzingen|regels|prompts?"
_RU = "инструкци|указани|команд|правил|распоряжени|приказ|промпт"
_ZH = "指令|指示|命令|规则|規則"
_ZH_EARLIER = "之前|以上|所有|先前|前面|上述|此前|一切|全部|以前|你的"

_TO_A_MODEL = (
    (
        "ignor disregard forget overrid bypass overrul follow obey discard attention",
        rf"(?:ignore|disregard|forget|override|bypass|overrule|discard|pay no attention to"
        rf"|(?:do not|don't|stop) (?:follow|obey)(?:ing)?) "
        rf"(?:{_ANY}(?:{_ORDERS})|(?:all |any |of |the )*(?:your|{_EARLIER}|system|safety) {_ANY}(?:{_RULES})"
        rf"|everything (?:above|before)"
        rf"|(?:everything|anything|all|what(?:ever)?) (?:that )?{_TOLD}(?! about))\b",
    ),
    (
        "prompt instruction message",
        r"(?:reveal|print|show|repeat|output|leak|disclose|dump) (?:me )?(?:all )?(?:of )?(?:the |your )+"
        r"(?:full |entire |hidden |initial |original )*(?:system (?:prompt|message)|prompt|instructions)\b",
    ),
    (
        "dan mode restrict filter censor jailbr free bound limit",
        r"you are (?:now|no longer) (?:dan\b|in \w+ mode"
        r"|an? (?:unrestricted|unfiltered|uncensored|jailbroken)|free (?:from|of)|bound|restricted|limited)"
        r"|(?:enter|enable|activate|switch to) (?:developer|debug|god|admin|jailbreak|dan) mode\b",
    ),
    (
        "instruction rule directive",
        rf"(?:new|updated|important|further|additional|special|hidden|secret) "
        rf"(?:instructions?(?: (?:for|to) (?:the |any |all |every )?{_AI}\b| ?:)"
        rf"|(?:rules?|directives?) (?:for|to) the (?:ai|llm|language model|assistant|chat ?bot|model)\b)"
        rf"|your (?:new|real|true|actual|only) (?:instructions?|directives?) (?:is|are)\b",
    ),
    (
        "ai a.i. llm model assistant agent bot memory",
        rf"(?:attention|notice|note|message|instructions?|reminder|warning) (?:to|for) "
        rf"(?:the |any |all |every )*{_AI}\b"
        rf"|(?:if|as|since|because) (?:you are |you're )?(?:an? |the )?{_AI},? "
        rf"(?:reading this\b.{{0,20}}|you )?(?:must|should|shall|will|have to|need to|are to)\b"
        rf"|if you(?:'re| are) (?:an? |the )?{_AI}\b"
        rf"|\b{_AI} (?:(?:who|that|which) )?(?:read|see|pars|process|summari[sz]|index)(?:e?s|ing)? this\b"
        rf"(?: (?:text|page|file|message|document|note|post|mail|email))?,? {_SHALL}\b"
        rf"|\b(?:{_AI}|bots?) {_SHALL} (?:\w+ )?(?:remember|memori[sz]e|store|save|note|record|add)\b"
        rf"[^.!?]{{0,60}}\buser\b",
    ),
    (
        "user",
        rf"(?:remember|memori[sz]e|store|save|note|record|update|conclude|add)\b[^.!?]{{0,60}}{_THE_USER}"
        r"|(?:do not|don't|never) (?:tell|inform|mention|reveal|show|say|let|alert|notify)\b"
        r"[^.!?]{0,30}\bthe user\b"
        r"|without (?:telling|informing|asking|notifying|alerting) the user\b",
    ),
    (
        "asks asked",
        r"(?:when(?:ever)?|if)\b[^.!?]{0,40}\bask(?:s|ed)\b[^.!?]{0,40}"
        r"\balways (?:answer|say|reply|respond|claim|state|insist) that\b"
        r"|(?:whenever|(?:every|any|each) ?time) (?:any|some)(?:one|body)\b[^.!?]{0,10}\basks\b"
        r"[^.!?]{0,40}, (?:please |just |then )?(?:answer|say|reply|respond|claim|state|insist)\b[^.!?]{0,30}"
        r"(?: is| are|'s|'re)\b",
    ),
    (
        "key password credential token secret phrase",
        rf"\b(?:send|forward|post|upload|e ?mail|leak|exfiltrate|transmit) (?:me )?(?:all|any|every|your)\b"
        rf"[^.!?]{{0,40}}\b{_SECRETS}\b[^!?]{{0,40}}\bto {_SOMEWHERE}",
    ),
    (
        "ignorier vergiss vergesst vergessen missachte",
        rf"(?:ignorier\w*|vergiss|vergesst|vergessen|missachte\w*) (?:sie )?(?:bitte )?"
        rf"(?:(?:alle|die|deine|eure|ihre|{_DE_EARLIER}) ){{0,2}}"
        rf"(?:(?:{_DE_EARLIER}|deine|eure) (?:\w+ )?\w{{0,12}}(?:{_DE})"
        r"|alles (?:vorherige|obige|bisherige)\b)",
    ),
    (
        "ignor oubli olvid esque desconsider dimentic compte",
        r"ignor(?:a|e|ez|er|es|en|ate) (?:por favor )?(?:tou(?:te)?s |tod[ao]s |tutte )?(?:les|las|as|le)"
        r" (?:instructions|instrucciones|instruções|istruzioni|consignes|indicaciones)"
        r"|(?:ignor(?:a|e|ez|er|es|en|ate|ad|ar)|oubli(?:e|ez|er)|olvid(?:a|e|en|ad|ar)"
        r"|esque(?:ça|ce|cer|çam)|desconsider[ae]|dimentica(?:te|re)?|ne (?:tiens|tenez) pas compte) "
        rf"(?:por favor |per favore )?(?:de )?(?:(?:{_ROMANCE_ALL} )?(?:{_ROMANCE_THE}) (?:{_ROMANCE})"
        rf" (?:\w+ )?(?:{_ROMANCE_EARLIER})"
        rf"|(?:{_ROMANCE_ALL} (?:(?:{_ROMANCE_THE}) )?|(?:{_ROMANCE_ALL} )?(?:tes|vos|tus|suas|tuas|le tue) )"
        rf"(?:{_ROMANCE})\b)",
    ),
    (
        "nutzer anwender",
        r"\b(?:merke? dir|merken sie sich|(?:speicher|notier|vermerk)e?n?(?: sie)?)\b[^.!?]{0,40}"
        r"\b(?:der|die|dem|den) (?:be)?(?:nutzer|anwender)(?:in)?\b",
    ),
    (
        "usuari utilisat",
        r"\b(?:recuerd[ae]|guard[ae]|anot[ae]|memori[zc][ae]|registr[ae])\b[^.!?]{0,40}\b(?:el|la)"
        r" usuari[oa]\b"
        r"|\b(?:retiens|retenez|souviens|enregistrez?|notez?|mémorisez?)\b[^.!?]{0,40}\bl'utilisat(?:eur|rice)\b",
    ),
    (
        "ユーザー 利用者",
        r"(?:ユーザー|利用者)(?:は|が|の)[^。！？]{0,60}(?:と|を|に)(?:記憶|記録|保存|覚え)(?:し)?て",
    ),
    (
        "negeer vergeet",
        rf"(?:negeer|vergeet) (?:alle |de |je |al je )*"
        rf"(?:(?:eerdere|vorige|bovenstaande|voorgaande) |(?<=je ))(?:{_NL})\b",
    ),
    (
        "игнорируй забудь",
        rf"(?:игнорируй|забудь)\w* (?:все |любые |свои |твои )*"
        rf"(?:(?:предыдущие|прежние|прошлые|вышеуказанные) |(?<=свои )|(?<=твои ))(?:{_RU})",
    ),
    ("忽略", rf"忽略(?:掉)?(?:{_ZH_EARLIER}).{{0,8}}(?:{_ZH}|提示|说明|說明|要求)"),
    (
        "无视 無視 忘记 忘記 忘掉 不要理会",
        rf"(?:无视|無視|忘记|忘記|忘掉|不要理会)(?:掉)?(?:{_ZH_EARLIER}).{{0,8}}(?:{_ZH}|提示词)",
    ),
    (
        "無視 忘れ",
        r"(?:以前|これまで|今まで|上記|前)の(?:すべての|全ての)?(?:指示|命令|ルール|プロンプト)"
        r"(?:を|は)?(?:すべて|全て)?(?:無視|忘れ)",
    ),
    ("무시 잊", r"이전(?:의)? (?:모든 )?(?:지시|명령|지침).{0,6}(?:무시|잊)"),
)
"""Parts of words, of which a text has one if it gives a model orders in the way beside them."""

_MARKUP = (
    r"<\|?/?(?:im_start|im_end|system|endoftext|eot_id|start_header_id|assistant|developer)\b[^>\n]{0,20}\|?>",
    r"\[/?(?:inst|system)\]|<</?sys>>",
    r"</?(?:system(?:[-_ ]\w+)?|instructions?|tool_calls?|tool_results?|function_calls?|function_results?)>",
    r"^[ \t>*#-]*(?:system|developer)(?: (?:prompt|message|note|override))?\**[ \t]*:",
    r"^#{2,} *(?:system|instructions?)\b",
)
_PARTS_OF_MARKUP = ("<", "[inst", "[/inst", "[system", "[/system", "system", "developer", "##")
_LIKE_ORDERS = tuple((tuple(parts.split()), pattern(shape)) for parts, shape in _TO_A_MODEL)
_LIKE_MARKUP = pattern("|".join(f"(?:{one})" for one in _MARKUP), re.MULTILINE)
_UNSEEN = pattern(
    "[\u00ad\u034f\u0307\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
"""What is not seen, and the dot that a capital I with a dot leaves behind in lower case."""
_BETWEEN = pattern(r"[\s*_~`\"“”|\\/-]+")
_RUIN = pattern(
    r"\b(?:delet|wip|eras|destroy|dropp?|shredd?|overwrit)(?:e|es|s|ing)?\b[^.;]{0,40}"
    r"\b(?:files?|data|databases?|disks?|drives?|backups?|tables|repos?|repositor(?:y|ies)|servers?|partitions?"
    r"|accounts?)\b"
    rf"|\b(?:send|forward|post|upload|e-?mail|leak|transmit)(?:e|es|s|ing)?\b[^.;]{{0,40}}"
    rf"\b{_SECRETS}\b",
    re.IGNORECASE,
)
"""What nobody's taste is that matters, and what is no order only by the words before it."""


def may_be_an_order(taste: str) -> bool:
    """Whether what somebody is said to like or to aim at would do harm, were it taken for an order."""
    return _RUIN.search(taste) is not None


def reads_like_orders(text: str) -> bool:
    """Whether a text speaks to a model about its orders, its memory or its user, or poses as its host."""
    seen = text.lower() if text.isascii() else _seen(text)
    if _has_any(_PARTS_OF_MARKUP, seen) and _LIKE_MARKUP.search(seen) is not None:
        return True
    shapes = [shape for parts, shape in _LIKE_ORDERS if _has_any(parts, seen)]
    if not shapes:
        return False
    plain = _BETWEEN.sub(" ", seen)
    return any(shape.search(plain) is not None for shape in shapes)


def _seen(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).lower()
    return _UNSEEN.sub("", folded).replace("’", "'").replace("ı", "i")


def _has_any(parts: tuple[str, ...], text: str) -> bool:
    return any(part in text for part in parts)
