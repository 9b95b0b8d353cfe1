"""How another's text is introduced: labels and titles of documents, who wrote it, tasks on it, its source."""

from __future__ import annotations

from souvenance.patterns import pattern


def _words(text: str) -> str:
    return "|".join(text.split())


_DOCUMENT = _words(
    """
    output outputs transcript lyrics article e-mail email mail letter webpage website page document file
    readme excerpt quote snippet passage paragraph abstract text essay newsletter press-release conversation
    logs ausgabe artikel webseite dokument datei auszug zitat liedtext songtext transkript absatz
    suchergebnis suchergebnisse courriel lettre fichier extrait citation paroles transcription texte
    paragraphe artículo correo carta página documento archivo extracto transcripción texto párrafo
    """
) + (
    "|(?:tool|function|search|command|console|terminal|api) (?:results?|response|log)|brief (?:von|vom|aus)"
    "|(?:error|server|build|chat|console) logs?|web (?:page|search)"
)
_EASTERN = _words(
    """
    文章 邮件 郵件 信件 网页 網頁 文档 文檔 输出 輸出 摘录 歌词 歌詞 原文 全文
    記事 メール 手紙 ページ 文書 ファイル 出力 抜粋 引用
    """
)
_GOES_ON = _words(
    """
    of from by that i we he she they on in below about says reads is von aus de du del
    """
)
DOCUMENT = pattern(
    rf"(?:^|[\s(\"'])(?:{_DOCUMENT})(?: (?:{_GOES_ON})\b[^.!?]{{0,60}})?$|(?:{_EASTERN})(?:如下)?$"
)
"""A label that names a document, or what some tool gave."""
CONTACTS = frozenset(["email", "e-mail", "mail", "website", "webseite", "page", "file", "letter", "correo"])
"""Alone they may label where somebody is reached, or what something is."""
TITLE = pattern(
    rf"(?:^|\s)(?:{_DOCUMENT}|license|changelog|message|nachricht|mensaje|\w[\w-]*\.[a-z]{{1,4}})(?:$|\s)"
    r"|原始邮件|转发邮件|轉寄郵件|元のメッセージ|転送"
)
"""What stands between rules: '=== README ==='."""

_SHORT = _words(
    """
    output outputs lyrics transcript article excerpt abstract snippet liedtext songtext artikel transkript
    paroles transcription artículo transcripción 歌词 歌詞 原文
    """
)
_SPEAKING = _words(
    "website webpage site page article email e-mail letter document file tool readme text transcript"
)
BEFORE_TEXT = pattern(
    rf"(?:the |this |an? )?(?:\w+ )?(?:{_SHORT}|(?:tool|function|search) (?:results?|response)) ?[:：]"
    rf"|(?:the|this|that|an?) (?:\w+ )?(?:{_SPEAKING}) (?:says|said|reads|states|goes)[^.!?:]{{0,20}}:"
)
"""A label in whose line the text begins."""

OWN = pattern(
    r"\b(?:my|our|mine|meine?[mnrs]?|unsere?[mnrs]?|mon|ma|mes|notre|nos|mis?|nuestr[ao]s?)\b"
    r"|我的|我们的|私の|僕の|俺の"
)
OF_OWN = pattern(r"\b(?:from|by|von|de|du) (?:my|our|mein\w*|mon|ma|mi)\b")
"""'A letter from my bank' is not one's own."""

_PLAIN_PAST = _words(
    """
    wrote said posted replied commented texted tweeted messaged schrieb sagte antwortete
    """
)
_OTHERS_SAY = _words("writes says schreibt écrit escribió dijo respondió")
WROTE = pattern(
    rf"(?:^|\s)(?:{_PLAIN_PAST}|{_OTHERS_SAY}|a dit)(?: [^!?]{{1,60}})?$"
    r"|(?:写道|寫道|回复|書きました|書いた)$"
)
"""Somebody is said to have written what follows."""
I_WROTE = pattern(
    rf"(?:^|\s)(?:i|we|ich|wir|j'ai|nous|yo)(?: \w+)? (?:{_PLAIN_PAST}|écrit|dit)\b"
    r"|(?:schrieb|sagte|antwortete) (?:ich|wir)\b"
    r"|(?:^|\s)(?:i|we)(?:'m|'ve|'ll| am| have| will)? (?:drafted|made|writ|want|need|plan|work)\w*"
    r"|我.{0,4}(?:写道|寫道|回复)|私.{0,6}書"
)

_POLITE = (
    "please|pls|can you|could you|would you|now|and|hey|hi|ok|okay|bitte|kannst du|s'il te plaît|peux tu"
    "|por favor|puedes|请|請"
)
_PLAIN_TASK = "translate|rewrite|rephrase|proofread|summari[sz]e|paraphrase|übersetze?|traduis|traduce"
_MAY_BE_A_TASK = (
    "correct|edit|improve|revise|shorten|continue|fix|check|reply to|respond to|korrigiere?|corrige"
)
_ON_TEXT = _words(
    """
    this these that following text paragraph sentence sentences email e-mail message grammar spelling
    folgenden satz phrase texte frase texto
    """
)
_SUMMARISE = (
    r"fasse? [^:：.!?]{0,60}zusammen"
    r"|(?:résume|resume) (?:ce|cette|le|la|les|el|los|este|esta) [^:：.!?]{0,60}"
)
TASK = pattern(
    rf"(?:(?:{_POLITE}),? ?){{0,3}}(?:(?:{_PLAIN_TASK})(?: [^:：.!?]{{0,80}})?|{_SUMMARISE}"
    rf"|(?:{_MAY_BE_A_TASK}) [^:：.!?]{{0,60}}\b(?:{_ON_TEXT})\b[^:：.!?]{{0,40}}"
    r"|[^:：。！？.?!]{0,20}(?:翻译|翻譯|总结|總結|润色|改正|修改|翻訳|要約|添削)[^:：。！？]{0,30})[:：]"
)
"""Something is to be done with the text that follows."""
_POINTING = _words(
    """
    this these following diese diesem diesen dieser folgende folgenden cette este esta
    """
)
_LANGUAGE = _words(
    """
    grammar spelling grammatik rechtschreibung grammaire orthographe gramática ortografía
    """
)
CHECK = pattern(
    rf"(?=[^.!?:：？]{{0,100}}(?:\b(?:{_POINTING})\b|这|這|この))"
    rf"(?=[^.!?:：？]{{0,100}}(?:\b(?:{_LANGUAGE})\b|语法|語法|错别字|文法))"
    r"[^.!?:：？]{1,120}[?？:：]"
    r"|(?:is|are) (?:this|these|the following) (?:sentences? |text )?grammatically [^.!?:]{1,40}[?:]"
)
"""Is the text that follows well written?"""
SOURCE = pattern(
    r"(?:sources?|quellen?|fuentes?|来源|來源|出处|出典|출처)"
    r" ?[:：] ?\S[^\n]{0,120}"
)
CHANNEL = pattern(
    r"\[[^\[\]\n]{0,40}\b(?:tool|function|web|search|retrieved|scraped|crawled|ocr|excerpt)\b"
    r"[^\[\]\n]{0,40}\](?!\()"
)
"""'[web search result]'."""
SIGNS = (
    *(":", "：", "[", "</", "--", "==", "**", "__", "~~", "##"),
    *("gramm", "spell", "gramá", "rechtschreib", "orthogra", "ortogra"),
    *("语法", "語法", "错别字", "文法"),
)
"""Text that introduces another's has one of these."""
