"""The few things that are said in so fixed a form that they are sure in other languages too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemon.adapters.reason.lexicon import word_set
from mnemon.adapters.reason.shapes import either
from mnemon.adapters.reason.trades_abroad import GERMAN_TRADES, TRADES_ABROAD
from mnemon.adapters.reason.values import line
from mnemon.domain.pattern import pattern

_NAME = r"(?P<name>[A-ZÀ-Þ][\w'’-]{1,30}(?: [A-ZÀ-Þ][\w'’-]{1,30}){0,2})"
_PLACE = (
    r"(?P<place>(?:(?:La|Le|Los|Las|São|San|Santa|El|den|der|dem|die)\s)?[A-ZÀ-Þ][\w'’-]{1,30}"
    r"(?: [A-ZÀ-Þ][\w'’-]{1,30}){0,2})"
)
_THING = (
    r"(?P<thing>[\w'’-]{3,30}(?: (?:de|du|del|des|von|à) [\w'’-]{3,30})?)"
    r"(?=$|[,.;!]| (?:und|aber|y|pero|et|mais)\b)"
)
_TRADE = (
    r"(?P<trade>[\w'’-]{4,30}(?: (?:de|im|in der) [\w'’-]{3,30})?)"
    r"(?=$|[,.;!]| (?:in|im|bei|en|à|chez|y|und|et)\b)"
)
_GOES_ON = either(
    """
    in, im, bei, am, an der, und, aber, seit, en, y, pero, desde, de profesión, à, au, chez, dans, et, mais,
    depuis, a, e, di, aus, uit, van, ma, da, em, mas, no, na, bij, sinds, op, maar
    """
)
_START = r"(?:^|(?<=[,;:!¡] )|(?<=\by )|(?<=\be )|(?<=\bund )|(?<=\bet )|(?<=\ben ))"
_KIN = {
    **dict.fromkeys(("mann", "ehemann", "marido", "esposo", "mari", "marito", "echtgenoot"), "Husband"),
    **dict.fromkeys(("frau", "ehefrau", "esposa", "mujer", "femme", "moglie", "vrouw"), "Wife"),
    **dict.fromkeys(("sohn", "hijo", "fils", "figlio", "filho", "zoon"), "Son"),
    **dict.fromkeys(("tochter", "hija", "fille", "figlia", "filha", "dochter"), "Daughter"),
    **dict.fromkeys(("bruder", "hermano", "frère", "fratello", "irmão", "broer"), "Brother"),
    **dict.fromkeys(("schwester", "hermana", "sœur", "soeur", "sorella", "irmã", "zus"), "Sister"),
    **dict.fromkeys(("妻子", "老婆", "太太", "妻"), "Wife"),
    **dict.fromkeys(("丈夫", "老公", "夫"), "Husband"),
    **dict.fromkeys(("儿子", "息子"), "Son"),
    **dict.fromkeys(("女儿", "娘"), "Daughter"),
    **dict.fromkeys(("哥哥", "弟弟", "兄", "弟"), "Brother"),
    **dict.fromkeys(("姐姐", "妹妹", "姉", "妹"), "Sister"),
}
_PETS = {
    **dict.fromkeys(
        ("hund", "hündin", "perro", "perra", "chien", "chienne", "cane", "cachorro", "hond", "狗", "犬"),
        "dog",
    ),
    **dict.fromkeys(
        ("katze", "kater", "gato", "gata", "chat", "chatte", "gatto", "gatta", "kat", "猫"), "cat"
    ),
}
_THEIRS = (
    "(?P<kin>" + "|".join(sorted(one for one in (*_KIN, *_PETS) if one.isascii() or one[0] < "一")) + ")"
)
_GIVEN = r"[A-ZÀ-Þ][\w'’-]{1,30}"
_NUMBER = "zwei|drei|vier|fünf|dos|tres|cuatro|cinco|deux|trois|quatre|cinq|[2-9]"
_NO_NAME_DE = either(
    r"""
    vegetarier, veganer, mutter, vater, rentner, single, anfänger, student, neu, \w+erin,
    (?:berlin|wien|hamburg|münchn|köln|schweiz|österreich)er
    """
)
"""What somebody is, after 'ich bin', and no name."""
_FORMS = [
    (
        "Name",
        rf"(?i:me llamo|mi nombre es|me chamo|chamo-me|(?:o )?meu nome é|ich hei(?:ß|ss)e|mein name ist"
        rf"|je m'appelle|mon nom est|mi chiamo|il mio nome è|ik heet|mijn naam is|jag heter|jeg hedder"
        rf"|nazywam się)\s+(?!Programm\b|Hase\b){_NAME}(?!\w)",
    ),
    (
        "Lives in",
        rf"(?i:vivo en|vivo em|vivo a|moro em|moro no|moro na|moro n'|(?:ich )?wohne(?: \w+)? in"
        rf"|(?:ich )?lebe(?: \w+)? in|j'habite(?: \w+)? (?:à|au|en|aux)"
        rf"|je vis (?:à|au|en|aux)|abito a|ik woon(?: \w+)? in|jag bor i|jeg bor i"
        rf"|(?:seit (?:\w+ ){{1,2}})?(?:wohnen wir|wohne ich)(?: \w+)? in"
        rf"|wir (?:wohnen|leben)(?: \w+){{0,2}}? in"
        rf"|vivimos en|(?:nous habitons|on habite|on a déménagé|nous avons déménagé) (?:à|au|en|aux)"
        rf"|nos (?:mudamos|hemos mudado) a"
        rf"|me (?:mudé|he mudado) a|(?:j'ai déménagé|je me suis installée?) (?:à|au|en|aux)"
        rf"|mi sono trasferit[oa] a|(?:eu )?me mudei para|ik ben verhuisd naar)\s+{_PLACE}(?!\w)",
    ),
    ("Lives in", rf"(?i:ich bin|wir sind)(?: \w+){{0,2}}? (?i:nach)\s+{_PLACE} (?i:(?:um)?gezogen)\b"),
    (
        "From",
        rf"(?i:soy de|sou d[eoa]|ich komme(?: ursprünglich)? aus|je viens d(?:e |u |es ))\s*{_PLACE}(?!\w)",
    ),
    (
        "Age",
        r"(?i:tengo|tenho|ich bin|j'ai|ho)\s+(?P<age>\d{1,3})\s+(?i:años|anos|jahre alt|ans|anni)\b",
    ),
    (
        "Allergy",
        r"(?i:ich bin (?:\w+ )?allergisch (?:gegen|auf)|soy (?:\w+ )?al[eé]rgic[oa] (?:a los|a las|al|a la|a)"
        rf"|je suis (?:\w+ )?allergique (?:aux|au|à la|à))\s+{_THING}",
    ),
    (
        "Diet",
        r"(?i:ich bin|ich lebe|ich ernähre mich|soy|je suis)\s+(?P<diet>(?i:vegetarier(?:in)?|veganer(?:in)?"
        r"|vegetarisch|vegan[oae]?|vegetarian[oa]|végétarien(?:ne)?|végane?))"
        r"(?=$|[,.;!]| (?:und|y|et|aber|pero|mais)\b)",
    ),
    (
        "Name",
        rf"(?i:(?:hola|buenas|buenos días|bonjour|salut|coucou|ciao|salve|oi|olá),? "
        rf"(?:soy|je suis|moi c'est|sono|(?:eu )?sou(?: [oa])?))\s+{_NAME}(?=$|[,.;!]| (?:y|et|e)\b)",
    ),
    (
        "Name",
        rf"(?i:(?:hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend)|grüß gott|grüezi)[,!]? ich bin )"
        rf"(?!(?i:{GERMAN_TRADES}|{_NO_NAME_DE})\b){_NAME}(?=$|[,.;!]| und\b)",
    ),
    (
        "Children",
        rf"(?i:(?:ich|wir) haben?|tengo|tenemos|j'ai|nous avons)\s(?i:{_NUMBER})\s"
        rf"(?i:kinder|söhne|töchter|hij[oa]s|enfants|fils|filles)[,:]?\s"
        rf"(?P<names>{_GIVEN}(?:, {_GIVEN})*(?: (?:und|y|et) {_GIVEN}))",
    ),
    ("Works as", rf"(?:{TRADES_ABROAD})(?!['’-])(?=$|[,.;!]| (?i:{_GOES_ON})\b)"),
    ("Works as", rf"(?i:(?:ich )?arbeite als|trabajo como|trabajo de|je travaille comme)\s+{_TRADE}"),
    ("Works at", rf"(?i:ich arbeite bei|ich arbeite für|trabajo en|je travaille chez)\s+{_NAME}(?!\w)"),
    (
        "",
        rf"(?i:meine?|mi|mon|ma|(?:il )?mio|(?:la )?mia|(?:o )?meu|(?:a )?minha|mijn)\s(?i:{_THEIRS})\s"
        rf"(?i:hei(?:ß|ss)t|se llama|s'appelle|si chiama|se chama|heet)\s+{_NAME}(?!\w)",
    ),
    (
        "",
        rf"(?i:(?:ich )?habe|tengo|j'ai|ho|(?:eu )?tenho|(?:ik )?heb)\s(?i:eine?n?|un|une|una|uma?|een)\s"
        rf"(?i:{_THEIRS})\s(?i:namens|der|die|llamad[oa]|que se llama|qui s'appelle|di nome|chamad[oa]"
        rf"|genaamd)\s+{_NAME}(?!\w)",
    ),
]
_REFUSALS = [
    (
        "Allergy",
        r"(?i:ich vertrage (?:\w+ )?keine?n?|no tolero (?:la|el|los|las)"
        rf"|je ne (?:supporte|tolère) pas (?:le |la |les |l'))\s?{_THING}",
    ),
    (
        "Does not eat",
        rf"(?i:ich esse (?:gar |überhaupt )?keine?n?|no como|je ne mange pas (?:de |d'))\s?{_THING}",
    ),
]
"""What is told by a 'no' of its own."""
_SHAPES = [(label, pattern(_START + form), form) for label, form in (*_FORMS, *_REFUSALS)]
_HINTS = word_set(
    """
    llamo nombre chamo chamo-me nome vivo moro heiße heisse name wohne lebe komme m'appelle nom j'habite
    vis viens chiamo abito heet naam woon soy sou tengo tenho bin j'ai ho jag jeg nazywam trabajo arbeite
    travaille suis ernähre esse como mange vertrage tolero supporte tolère tenemos haben llama s'appelle heißt
    heisst mudé mudado mudamos habitons habite wohnen leben vivimos déménagé sind sono mudei ben c'est
    chiama chama faccio mijn habe heb
    """
)
"""One of these words is in every form above."""
_UNREAL = pattern(
    r"\b(?:si(?! chiama)|se(?! (?:llama|chama))|wenn|falls|als ob|imagina|imagine|imaginez|stell dir)\b",
    re.IGNORECASE,
)
_NEGATED = pattern(r"\b(?:no|não|nicht|kein\w*|ne|n'|nem|pas|non|niet)\b", re.IGNORECASE)
_HEARD = word_set(
    """
    sagt sagte sagten meint meinte schrieb erzählte antwortete rief behauptet behauptete dijo dice decía
    respondió contestó dicen disse diz dizia respondeu dit dit-il dit-elle disait répondit detto rispose
    zei zegt säger sagde siger powiedział powiedziała traum sueño sueños rêve sogno sonho roman novela
    scherz spaß broma blague scherzo brincadeira grapje
    """
)
"""What tells that another says it, or that it is a dream or a jest."""

_EASTERN = pattern(r"[\u3040-\u30ff\u4e00-\u9fff]")
_STOP = r"(?=$|[\s，。、,.!！;；])"
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟"
    "汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文張劉陳楊趙黃吳孫馬羅鄭謝韓"
)
_SELF_JA = r"(?:^|(?<=[。！!、\s])|(?<=私は)|(?<=僕は)|(?<=俺は))"
_HELLO_JA = r"(?:はじめまして|初めまして|こんにちは|こんばんは|おはよう(?:ございます)?|どうも)[。！!、\s]*"
_NAME_JA = r"(?P<name>[^はがをの。、\s]{1,12}?)"
_GIVEN_JA = (
    r"(?P<name>(?!エンジニア|コンサル|サラリー|フリー|パート|アルバイト|ベジタリアン|ビーガン)[ァ-ヴ]{2,8})"
)
"""A given name in the letters that no trade of longer standing is written in; one in 'ー' is left out."""
_NAME_ALONE_JA = pattern(r"名前は")
_EASTERN_FORMS = [
    (
        "Name",
        rf"我(?:的名字(?:叫|是)|名?叫)(?P<name>[{_SURNAMES}][\u4e00-\u9fff]{{1,3}}|[A-Z][A-Za-z]+){_STOP}",
    ),
    ("Lives in", rf"我(?:现在|目前)?住在(?P<place>[\u4e00-\u9fffA-Za-z]{{2,10}}){_STOP}"),
    ("Lives in", rf"我(?:刚|已经|上个月|最近)?搬到了?(?P<place>[\u4e00-\u9fffA-Za-z]{{2,8}}?)了?{_STOP}"),
    ("Allergy", r"我对(?P<thing>[^不没，。,.\s]{1,10})过敏(?!吗)"),
    ("Age", r"我(?:今年|现在)?(?P<age>\d{1,3})岁(?!的时候|时|那年)"),
    ("Diet", r"我(?:是)?(?P<diet>吃素|素食者|纯素食者)" + _STOP),
    ("Works as", rf"我是(?:一名|一个|一位|个)(?P<trade>[\u4e00-\u9fff]{{1,8}}[师员生家手工]){_STOP}"),
    (
        "",
        r"我(?:的)?(?P<kin>妻子|老婆|太太|丈夫|老公|儿子|女儿|哥哥|弟弟|姐姐|妹妹|狗|猫)(?:的名字)?叫"
        rf"(?P<name>[\u4e00-\u9fffA-Za-z·]{{2,8}}){_STOP}",
    ),
    ("Name", rf"(?:^|^{_HELLO_JA}|[私僕俺]の)名前は{_NAME_JA}(?:です|と申します|といいます)(?!か)"),
    ("Name", rf"(?:^|^{_HELLO_JA})(?:[私僕俺]は)?{_NAME_JA}(?:と申します|といいます)(?!か)"),
    ("Name", rf"^{_HELLO_JA}(?:[私僕俺]は)?{_GIVEN_JA}です(?=$|[。、！!])"),
    (
        "",
        r"(?P<kin>妻|夫|息子|娘|兄|弟|姉|妹|犬|猫)[がを](?:[一二三四五\d]?[匹人])?(?:飼って|い|生まれ|でき)[^。]{0,6}。"
        rf"名前は{_NAME_JA}です(?!か)",
    ),
    ("Lives in", rf"{_SELF_JA}(?P<place>[^はがもをに。、\s]{{1,10}})に住んで(?:い?(?:ます|る)(?!か)|いて、)"),
    ("Lives in", rf"{_SELF_JA}(?P<place>[^はがもをに。、\s]{{1,10}})に引っ越しました(?!か)"),
    (
        "Allergy",
        rf"{_SELF_JA}(?P<thing>[^はがもを。、\s]{{1,12}}?)の?アレルギー(?:があります|がある|です|持ちです)(?!か)",
    ),
    (
        "Works as",
        r"(?:^|(?<=[。、])|(?<=[私僕俺]は))(?P<trade>[^はがもをに。、\s]{1,8}[師員士者家医手])をしてい(?:ます|る)(?!か)",
    ),
    ("Age", rf"{_SELF_JA}(?:今年)?(?P<age>\d{{1,3}})歳です(?!か)"),
    (
        "",
        rf"{_SELF_JA}(?:私の)?(?P<kin>妻|夫|息子|娘|兄|弟|姉|妹|犬|猫)の名前は"
        r"(?P<name>[^はがをの。、\s]{1,12}?)です(?!か)",
    ),
]
_EASTERN_SHAPES = [(label, pattern(form)) for label, form in _EASTERN_FORMS]
_EASTERN_UNREAL = pattern(
    r"如果|要是|假如|假设|想象|说[：:，]|[？?“”「」『』]|吗|もし|なら|たら|と言|夢|梦|小说|小説"
)
_MOST = 300
_ENOUGH = 2


def spoken(sentence: str, words: list[str], before: str = "") -> list[tuple[str, str]]:
    """What a sentence in another language gives: what is said and the card's line; nothing uncertain.

    Whose name it tells may be said in the sentence `before`.
    """
    if len(sentence) > _MOST or sentence.endswith("?"):
        return []
    found = list(_eastern(sentence, before) if _EASTERN.search(sentence) else _western(sentence, words))
    if len(found) < _ENOUGH:
        return [(sentence.rstrip(" .!。！"), trait) for _, trait in found]
    return found


def _western(sentence: str, words: list[str]) -> Iterator[tuple[str, str]]:
    if _HINTS.isdisjoint(words) or any(mark in sentence for mark in '"«»“”'):
        return
    if not _HEARD.isdisjoint(word.strip(",.;:!()") for word in words):
        return
    text = sentence.rstrip(" .!")
    for label, shape, form in _SHAPES:
        found = shape.search(text)
        if found is None or _UNREAL.search(text, 0, found.end()):
            continue
        begun = max(text.rfind(mark, 0, found.start()) for mark in ",;") + 1
        end = found.start() if (label, form) in _REFUSALS else found.end()
        if not _NEGATED.search(text, begun, end) and (trait := _trait(label, found)):
            yield found[0], trait


def _eastern(sentence: str, before: str) -> Iterator[tuple[str, str]]:
    if _EASTERN_UNREAL.search(sentence):
        return
    if before and _NAME_ALONE_JA.match(sentence):
        sentence = f"{before.rstrip('。')}。{sentence}"
    for label, shape in _EASTERN_SHAPES:
        if (found := shape.search(sentence)) and (trait := _trait(label, found)):
            yield found[0], trait


def _trait(label: str, found: re.Match[str]) -> str | None:
    value = found[found.lastgroup or 0]
    if label:
        return line(label, value)
    whose = found["kin"].lower()
    return line(_KIN[whose], value) if whose in _KIN else line("Pet", f"{value} ({_PETS[whose]})")
