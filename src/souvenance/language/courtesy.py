"""Courtesies: greetings, thanks and nods, which ask memory for nothing."""

from __future__ import annotations

from souvenance.language import terms

_MOST_WORDS = 10

_SPOKEN = """
a again all alright am and are at be bye can come continue cool day do doing evening fine go going good
goodbye got great haha hello help here hey hi hm hmm how how's is it it's its just later let let's lol lot
meet mind more morning much nah never nice night no nope now oh ok okay on one perfect please really right
say see so soon sorry sounds sure take tell thank thanks that that's the then there this thx to today
tomorrow too try understood up very wait welcome well were what what's whats with would wow yea yeah yep yes
yo you you're your yup bien bitte bonjour ca d'accord danke das de es estas geht geht's gracias gut guten
hallo hola ja la merci morgen nein non oui por que salut si super tag tal tschuss va was wie да вечер дела
день добрыи доброе здравствуите как нет пока привет спасибо утро хорошо
"""
"""As words are compared: in lower case and without accents."""
_COURTEOUS = frozenset(_SPOKEN.split())
_UNSPACED = (
    "你好", "谢谢", "您好", "再见", "早上好", "晚安", "好的", "こんにちは",
    "ありがとう", "おはよう", "おやすみ", "안녕", "감사", "고마", "नमस्ते", "धन्यवाद",
    "مرحبا", "شكرا", "שלום", "תודה", "สวัสดี", "ขอบคุณ",
)  # fmt: skip
_SHORT = 12


def is_courtesy(text: str) -> bool:
    """Whether the text is nothing but a courtesy, a nod or a word to go on."""
    plain = text.strip().strip("!?.,;:。！？、~ ")
    if len(plain) <= _SHORT and plain.startswith(_UNSPACED):
        return True
    said = terms.words(text)
    return len(said) <= _MOST_WORDS and all(word in _COURTEOUS or not _is_spelt(word) for word in said)


def _is_spelt(word: str) -> bool:
    """Whether it has a letter or a digit; an emoji has none."""
    return any(map(str.isalnum, word))
