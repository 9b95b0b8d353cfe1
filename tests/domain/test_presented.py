"""What a message presents as another's text, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from souvenance.domain.trust import Trust, of_fact, of_part
from souvenance.language.pasted_text import own_words, unpresented

PRESENTED = [
    "Output of the tool:\nI live in Kiel.",
    "<document>I live in Kiel.</document>",
    "<tool_result>I live in Kiel.</tool_result>",
    "<search_results>\n<result>I live in Kiel.</result>\n</search_results>",
    "Transcript:\nBob: I live in Kiel.",
    "Summarise this:\nMy name is Bob. I live in Kiel.",
    "Summarise this: I live in Kiel.",
    "Translate: I live in Kiel.",
    "Can you translate the following into German:\n\nI live in Kiel.\n\nI like tea in Kiel.",
    "[web search result] I live in Kiel.",
    "[Tool output] I live in Kiel.",
    "-----Original Message-----\nI live in Kiel.",
    "-----Ursprüngliche Nachricht-----\nIch wohne in Kiel.",
    "-----Message d'origine-----\nJ'habite à Kiel.",
    "-----Mensaje original-----\nVivo en Kiel.",
    "------------------ 原始邮件 ------------------\n我住在Kiel。",
    "FYI, from Bob's email:\nI live in Kiel. I am allergic to nuts.",
    "A letter from my bank:\nI live in Kiel.",
    "Bob schrieb:\nIch wohne in Kiel.",
    "Am Mo., 4. Mai 2026 um 10:02 Uhr schrieb Bob <bob@example.org>:\nIch wohne in Kiel.",
    "Bob a écrit :\nJ'habite à Kiel.",
    "El lunes Bob escribió:\nVivo en Kiel.",
    "小明写道：\n我住在Kiel。",
    "Bob wrote:\n\nI live in Kiel.",
    "=== README ===\nI live in Kiel.",
    "--- notes.txt ---\nI live in Kiel.",
    "*** Article ***\nI live in Kiel.",
    "Übersetze ins Englische: Ich wohne in Kiel.",
    "Traduis en anglais : J'habite à Kiel.",
    "翻译成英文：我住在Kiel。",
    "英語に翻訳：Kielに住んでいます。",
    "Here is the page I read:\n\nMy name is Bob and I live in Kiel. I work at Acme.",
    "Lyrics: I am a passenger. I live in Kiel.",
    "Tool output: I live in Kiel.",
    "The website says: I live in Kiel.",
]
OWN = [
    "please remember that I always want short answers, I'm from Kiel",
    "Important: my flight to Kiel is at 7",
    "My doctor says: I need to rest in Kiel.",
    "Email: lena@kiel.example",
    "Email:\nlena@kiel.example",
    "Website: https://kiel.example",
    "My notes:\n- I live in Kiel",
    "My address:\nHauptstr. 5, Kiel",
    "My letter to the bank:\nI live in Kiel.",
    "Here's my CV:\nI live in Kiel.",
    "Correct: I live in Kiel.",
    "Edit: I live in Kiel now.",
    "Update: I moved to Kiel.",
    "Yesterday I wrote:\nI live in Kiel.",
    "Gestern schrieb ich:\nIch wohne in Kiel.",
    "Bob wrote:\nI live in Rome.\n\nI live in Kiel though.",
    "Bob said he lives in Rome. I live in Kiel.",
    "I read an article: it says that Kiel is nice.",
    "Can you summarise this? I live in Kiel and have no time.",
    "Can you check this? I live in Kiel.",
    "My grammar is bad: I live in Kiel.",
    "Is this a good idea? I live in Kiel.",
    "Remember: I live in Kiel.",
    "Note: I live in Kiel",
    "FYI: I live in Kiel",
    "Background:\nI live in Kiel.",
    "About me:\nI live in Kiel.",
    "About me: I live in Kiel.",
    "Two things:\n1. I live in Kiel\n2. I like tea",
    "Question: I live in Kiel, do I need a visa?",
    "My favourite text: the Kiel saga",
    "Blood test results:\nI went to Kiel for them.",
    "Food log:\n- ate fish in Kiel",
    "Training log: ran in Kiel",
    "replace <file> with the name. I live in Kiel.",
    "I like the <b>sea</b> in Kiel",
    "[voice message] I live in Kiel.",
    "[Kiel] is where I live",
    "[article](https://example.org) I live in Kiel.",
    "--- I live in Kiel ---",
    "**Kiel** is my home",
    "=== my notes ===\nI live in Kiel",
    "I translate: mostly novels, in Kiel.",
    "Answer: Kiel",
    "Answer this: do I live in Kiel or not?",
    "I got an email from Kiel today.",
    "The output of the factory in Kiel: 200 boats",
    "Here's what I do in Kiel:\n- sail",
    "What I said on the phone: I live in Kiel.",
    "I said: I live in Kiel.",
    "Source: trust me, my brother lives in Kiel",
    "Ich wohne in Kiel.",
    "Wichtig: Ich wohne in Kiel.",
    "J'habite à Kiel : c'est au nord.",
    "Vivo en Kiel: me gusta.",
    "我住在Kiel。",
    "私はKielに住んでいます。",
    "Я живу в Kiel.",
    "Meine E-Mail:\nann@kiel.example",
    "Rewrite my bio: I'm a nurse from Kiel.",
    "My page: kiel.example/ann",
    "Resume: I'm a nurse from Kiel.",
    "VAT: 20 % in Kiel",
    "In brief:\nI live in Kiel.",
    "My output: two boats in Kiel",
    "The essay I wrote:\nI live in Kiel.",
    "Here's the text I'm writing about Kiel:\n- boats",
]


@pytest.mark.parametrize("text", PRESENTED)
def test_what_is_presented_as_another_s_text_is_not_in_own_words(text):
    assert "Kiel" not in own_words(text)
    assert of_fact("ann knows Kiel", [(Trust.SAID, text)]) == Trust.QUOTED


@pytest.mark.parametrize("text", OWN)
def test_what_people_write_for_themselves_stays(text):
    assert "kiel" in own_words(text).lower()


@pytest.mark.parametrize("text", PRESENTED)
def test_what_was_said_before_it_stays(text):
    own = own_words(f"I live in Rome.\n\n{text}")
    assert "Rome" in own
    assert "Kiel" not in own


@pytest.mark.parametrize("label", ["Bob wrote:", "Bob schrieb:", "Bob a écrit :", "小明写道："])
def test_what_follows_somebody_s_paragraph_is_one_s_own(label):
    assert (
        own_words(f"{label}\nI live in Kiel.\nIt rains.\n\nI live in Rome.") == f"{label}\n\nI live in Rome."
    )


def test_what_follows_a_closed_tag_is_one_s_own():
    assert own_words("<document>Kiel</document> I live in Rome.").strip() == "I live in Rome."
    assert own_words("<file>Kiel</file> or <page>Kiel</page> or Rome").split() == ["or", "or", "Rome"]


def test_a_tag_that_nothing_closes_takes_nothing_with_it():
    assert own_words("Replace <document> with the name.") == "Replace <document> with the name."
    assert own_words("</document> I live in Rome") == "</document> I live in Rome"


def test_a_part_of_a_message_is_quoted_if_its_words_are_pasted():
    text = "Summarise this:\nMy name is Bob. I live in Kiel."
    assert of_part("I live in Kiel.", text, Trust.SAID) == Trust.QUOTED
    assert of_part("Summarise this:", text, Trust.SAID) == Trust.SAID
    assert of_part("Summarise this:", text, Trust.SUSPECT) == Trust.SUSPECT
    assert of_part("I live in Kiel.", "I live in Kiel.", Trust.SAID) == Trust.SAID


PIECES = st.sampled_from([*"ab :\n<>/[]-=", " wrote:", "<document>", "</document>", "source: ", "this text"])


@given(st.lists(PIECES, max_size=40).map("".join))
def test_nothing_is_added(text):
    assert len(unpresented(text)) <= len(text)


@pytest.mark.parametrize(
    "text",
    ["<document>" * 10_000 + "</x>", "<document></file>" * 6_000, "a:\n" * 33_000, "x\nsource: a\n" * 8_000,
     "[" * 100_000, "-" * 100_000, "translate " * 10_000, "bob wrote:\nx\n\n" * 6_000],
    ids=lambda text: text[:12],
)  # fmt: skip
def test_a_great_deal_of_it_is_read_to_the_end(text):
    assert isinstance(own_words(text), str)
