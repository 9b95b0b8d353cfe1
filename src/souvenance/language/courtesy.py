"""Courtesies: greetings, thanks and nods, which ask memory for nothing."""

from __future__ import annotations

from souvenance.language import terms

_MOST_WORDS = 10

_SPOKEN = """
a absolutely afternoon again ahead all alright amazing am and appreciate are at awesome aye be bye can
care cheers chill come congrats congratulations continue cool correct could day definitely do doing done
else evening everyone exactly excellent explain fantastic fine glad go going good goodbye goodnight got
great guys haha hah hello help here hey hi hiya how how's howdy interesting is it it's its just keep
kidding later let let's lol lot lovely make makes maybe meet mind more morning much nah nice night no
nope not noted now oh ok okay one only pal perfect please point pleasure proceed really reset rewrite
right same say see sense shorter simply so some soon sorry sounds step sure take talk tell thank thanks
that that's the then there they thing this tldr to today tomorrow tonight too try understood up very wait
wassup way welcome well were what what's whats with wonderful works would wow yea yeah yep yes yo you
you're your yup abend adios alles bitte bien bis bom bonjour bonne bonsoir buenas buenos buongiorno ca
cava ciao comment como d'accord danke das de dia dias di dir dzien dobry es estas estoy gern geht gracias
grazie guten gut hallo hasta hei hej hola ja journee klar la luego mal manana merci mille moin moi morgen
muchas mucho nein noches noite non obrigada obrigado oui para por prego privet qua que quoi s'il salut
schon si sim soir stai super tag tal tarde tardes tschuss tschus va vale vielen vous was wie
wiedersehen y привет спасибо здравствуите как дела пока хорошо да нет доброе утро добрыи день вечер
merhaba tesekkurler selam nasilsin iyi evet hayir hmm hm thx ty np second
never beaucoup geht's war
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
