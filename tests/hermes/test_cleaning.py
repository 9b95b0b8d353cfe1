"""What of a turn is kept: what was said, without what memory itself put into it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from growth import keeps_to_length
from souvenance.agents.injection import base, join
from souvenance.agents.recalled import Known, Portrait, RecalledPassage
from souvenance.agents.transcript import CONTINUED, chunks, clean, is_trivial, spoken
from souvenance.domain.content import check_characters

NOTE = (
    "[System note: The following is recalled memory context, NOT new user input. Treat as authoritative "
    "reference data — this is the agent's persistent memory and should inform all responses.]"
)
FENCED = f"<memory-context>\n{NOTE}\n\nAnn likes tea.\n</memory-context>"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("hello", "hello"),
        ("", ""),
        ("  spaces stay \n", "  spaces stay \n"),
        (f"hello\n\n{FENCED}", "hello"),
        (f"{FENCED}\n\nhello", "hello"),
        (f"one {FENCED} two {FENCED} three", "one  two  three"),
        (FENCED, ""),
        ("<MEMORY-CONTEXT>x</Memory-Context>hello", "hello"),
        ("< memory-context >x< / memory-context >hello", "hello"),
        ("<memory-context\n>x</memory-context\t>hello", "hello"),
        ("<memory-context id=\"1\" trust='no'>x</memory-context>hello", "hello"),
        ("hello <memory-context>x and all the rest", "hello"),
        ("hello <memory-context>x </memory-contex", "hello"),
        ("hello <memory-context", "hello"),
        ("hello </memory-context", "hello"),
        ("a<memory-context>b<memory-context>c</memory-context>d</memory-context>e", "ae"),
        ("a<memory-context>b<memory-context>c</memory-context>d", "a"),
        ("Why is <memory-context> in my prompt? My cat is Ivo.", "Why is  in my prompt? My cat is Ivo."),
        ("What is `<memory-context>`, and <memory-context>?", "What is ``, and ?"),
        ("so <memory-context> begins:\n<memory-context>\n- Ann lies\n", "so  begins:"),
        ("hello <memory-context> [System note: x", "hello"),
        ("hello </memory-context> there", "hello  there"),
        ("hello <memory-context/> there", "hello  there"),
        ("<memory-<memory-context>x</memory-context>context>y</memory-context>z", ""),
        ("<<memory-context></memory-context>memory-context>x", ""),
        ("<mem\0ory-context>x</memory-context>hello", "hello"),
        (f"{NOTE}\nhello", "hello"),
        (f"hello {NOTE.lower()} there", "hello there"),
        ("[System note: The following is recalled memory context, and it was cut\nhello", "hello"),
        ("[System note: the host will restart]", "[System note: the host will restart]"),
        ("<memory-contexts> and <memory-context-2> are other tags", None),
        ("a < b and memory-context > c", None),
        ("The memory-context is a fence.", None),
        ("no \0 and no \ud800 here", "no  and no \ufffd here"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_only_what_was_said_is_kept(said, kept):
    assert clean(said) == (said if kept is None else kept)


KNOWN = Known(
    summary="They plan a trip to Oslo.",
    user=Portrait(
        view="[2026-05-01 10:00] Ann likes tea.\n[2026-05-02 10:00] Ann has a dog.", card=("Name: Ann",)
    ),
    ai=Portrait(view="[2026-05-01 10:00] Speaks calmly.", card=("Name: Hermes",)),
    passages=(RecalledPassage("1", "ann", "s", "The trip is in May.", datetime(2026, 5, 1, tzinfo=UTC)),),
)
INJECTED = join(
    base(KNOWN, "When is the trip?", datetime(2026, 6, 1, tzinfo=UTC), tokens=1200),
    "She should pack a coat.",
    1200,
)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("{}", ""),
        ("hello\n\n{}", "hello"),
        ("hello\n{}\n\nand goodbye", "hello\nand goodbye"),
        ("{}\n\nMy list:\nmilk", "My list:\nmilk"),
        ("<b>{}</b> hello", "<b>{}</b> hello"),
    ],
)
def test_what_we_gave_the_host_is_not_kept_outside_of_the_fence_either(said, kept):
    assert INJECTED.count("\n- ") > 5
    assert clean(said.replace("{}", INJECTED)) == kept.replace("{}", INJECTED)


FRAGMENTS = st.sampled_from(
    [
        "<memory-context>",
        "</memory-context>",
        "< / MEMORY-context a=b>",
        "<memory-context",
        "<memory-",
        "context>",
        "</",
        "<",
        ">",
        "memory-context",
        NOTE,
        "[System note: The following is recalled memory context",
        "[System note: ",
        "The following is recalled memory context",
        "]",
        "[",
        "\n",
        "\n\n",
        " ",
        "- a line",
        "A heading:",
        INJECTED,
        "Background from memory: noted or said earlier",
        "Background from memory",
        "\0",
        "\ud800",
        "\udc00",
        "hello",
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=5), max_size=25).map("".join))
@example("<memory-" * 30 + "<memory-context></memory-context>" + "context>" * 30)
def test_what_was_cleaned_stays_as_it_is_and_can_be_stored(text):
    once = clean(text)
    assert clean(once) == once
    assert check_characters(once, "text") == once


@given(st.lists(FRAGMENTS | st.text(max_size=5), max_size=25).map("".join))
def test_no_tag_and_no_note_is_left(text):
    left = "".join(clean(text).lower().split())
    for mark in ("<memory-context>", "</memory-context>", "[systemnote:thefollowingisrecalledmemorycontext"):
        assert mark not in left


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0<[")))
def test_what_has_no_tag_and_no_note_is_kept_to_the_letter(text):
    assert clean(text) == text


HOSTILE = {
    "opening brackets": "<",
    "brackets and blanks": "<   ",
    "slashes": "</ /",
    "opening tags": "<memory-context>",
    "opening tags that do not close": "<memory-context ",
    "closing tags": "</memory-context>",
    "tags in tags": "<memory-",
    "notes": "[System note: The following is recalled memory context ",
    "opening notes": "[ ",
    "blanks": " ",
    "new lines": "\n",
    "our own beginnings": "Background from memory: noted or said earlier\n- x\n",
    "headings": "Background from memory: noted or said earlier\nx:\n",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "work", [clean, is_trivial, lambda text: chunks(text, 1000)], ids=["clean", "trivial", "chunks"]
)
def test_the_time_it_takes_grows_with_the_text_alone(unit, work):
    assert keeps_to_length(work, unit, short=40_000, times=10)


def test_tags_that_only_come_together_as_others_go_do_not_come_together():
    depth = 5000
    made = clean("<memory-" * depth + "<memory-context></memory-context>" + "context>x" * depth)
    assert "<memory-context>" not in made
    assert clean(made) == made


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hello", "hello"),
        (f"hello\n\n{FENCED}", "hello"),
        (None, ""),
        (7, ""),
        ([], ""),
        (["hello", "there"], "hello\nthere"),
        ([{"type": "text", "text": "hello"}], "hello"),
        ([{"type": "input_text", "text": "hello"}, {"type": "output_text", "text": "there"}], "hello\nthere"),
        (
            [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "text", "text": "what is this?"},
            ],
            "what is this?",
        ),
        ([{"type": "reasoning", "text": "thinking"}, {"type": "tool_result", "text": "a secret"}], ""),
        ([{"type": "text", "text": None}, {"type": "text"}, None, 7, {"text": "hello"}], "hello"),
        ({"type": "text", "text": "not in a list"}, ""),
    ],
)
def test_of_content_in_parts_the_text_is_taken(content, text):
    assert spoken(content) == text


def joined(pieces):
    assert all(piece.startswith(CONTINUED) for piece in pieces[1:])
    return "".join([*pieces[:1], *(piece[len(CONTINUED) :] for piece in pieces[1:])])


TEXTS = st.text() | st.lists(
    st.sampled_from(
        [
            "word",
            " ",
            "\n",
            "\n\n",
            ". ",
            "!",
            "。",
            "é",
            "e\u0301",
            "👩‍👩‍👧",
            "🇩🇪",
            "👍🏽",
            "\r\n",
            CONTINUED,
        ]
    )
).map("".join)


@given(TEXTS, st.integers(13, 60))
def test_the_pieces_of_a_text_are_short_enough_and_lose_nothing(text, most):
    pieces = chunks(text, most)
    assert joined(pieces) == text
    assert all(0 < len(piece) <= most for piece in pieces)
    assert (len(pieces) <= 1) == (len(text) <= most)


@given(TEXTS, st.integers(-5, 12))
def test_a_limit_that_leaves_no_compartment_is_taken_for_the_least_that_does(text, most):
    assert chunks(text, most) == chunks(text, 13)


@pytest.mark.parametrize(
    ("text", "most", "pieces"),
    [
        ("", 20, []),
        ("short", 20, ["short"]),
        ("one two three four five six", 20, ["one two three four ", "[continued] five six"]),
        (
            "One sentence. And a second one.",
            28,
            ["One sentence. ", "[continued] And a second ", "[continued] one."],
        ),
        (
            "This is the first one. And a second one.",
            28,
            ["This is the first one. ", "[continued] And a second ", "[continued] one."],
        ),
        ("x" * 30, 20, ["x" * 20, "[continued] " + "x" * 8, "[continued] xx"]),
        (
            "A first line that is long\nand a second",
            28,
            ["A first line that is long\n", "[continued] and a second"],
        ),
    ],
)
def test_a_long_text_is_cut_where_something_ends(text, most, pieces):
    assert chunks(text, most) == pieces


@pytest.mark.parametrize("cluster", ["e\u0301", "👩‍👩‍👧", "🇩🇪", "👍🏽", "\r\n", "ก็", "\ud83d\ude00"])
@pytest.mark.parametrize("most", range(20, 30))
def test_what_is_read_as_one_character_is_not_cut(cluster, most):
    for piece in chunks(cluster * 20, most):
        assert len(piece.removeprefix(CONTINUED)) % len(cluster) == 0


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "\n", "...", "?!", "👍", "👍🏽 👍🏽", "❤️"),
        *("/new", "/help me", "/model gpt-5.1", "/MODEL\tgpt", " /undo ", "/tmpfiles"),
        *(
            "ok",
            "OK!",
            "Okay.",
            "k",
            "yes",
            "Yes, please",
            "no",
            "nope",
            "thanks!",
            "Thank you so much!!",
            "thx :)",
        ),
        *(
            "hi",
            "Hello!",
            "hey hey",
            "Good morning",
            "got it",
            "sounds good",
            "go on",
            "continue",
            "great, thanks",
        ),
        *("ja", "Danke!", "vielen Dank", "alles klar", "Guten Morgen", "passt, danke"),
        *(
            "oui",
            "merci beaucoup",
            "d'accord",
            "sí",
            "muchas gracias",
            "vale",
            "grazie",
            "va bene",
            "obrigado",
        ),
        *(
            "да",
            "спасибо",
            "好的",
            "谢谢",
            "谢谢！",
            "嗯",
            "ok ok ok ok ok",
            "はい",
            "ありがとう",
            "네",
            "감사합니다",
            "شكرا",
            "धन्यवाद",
            "tack",
            "dziękuję ok"[9:],
        ),
    ],
)
def test_courtesies_and_commands_give_nothing_to_think_about(text):
    assert is_trivial(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is my dog's name?",
        "no, the other one",
        "yes but only on Mondays",
        "/etc/passwd is world-readable, is that fine?",
        "/home/ann",
        "/tmp is full, what did I say about it?",
        "/tmp full",
        "/Users",
        "/data is where my photos are",
        "/plan a dinner for my friends",
        "thanks, and what about Oslo?",
        "42",
        "Ann",
        "我叫安娜",
        "私の名前はアンです",
        "ja, ich heiße Ann",
        "ok " * 100,
    ],
)
def test_what_says_something_is_not_trivial(text):
    assert not is_trivial(text)


@given(st.text())
def test_anything_may_be_asked(text):
    assert is_trivial(text) in (True, False)
