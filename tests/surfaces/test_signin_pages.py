"""The pages of sign-in as text: what they say, what they post, and that nothing from outside changes them."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from browser import samples
from souvenance.surfaces.http.oauth.messages import ANOTHER_DEVICE, STYLE_SOURCE, Consent

HERE = "127.0.0.1:8765"
ASKED = Consent(
    client="Hermes",
    client_id="hermes-agent",
    source="hermes-desktop",
    where=HERE,
    config_path="~/.hermes/honcho.json",
    signed_in_as="alice",
    workspace_fixed=False,
    workspace="team",
    peer="alice",
    peer_fixed=False,
    namespaces=("personal", "travel", "work"),
    chosen=("personal", "work"),
    access="read",
    write_offered=True,
    ends=(("1 hour", 3600), ("30 days", 2592000)),
    end=2592000,
    csrf="a-token",
    request="a-request",
    action="/oauth/consent",
    registered=False,
)
VOID = {"input", "meta"}
DATA = {"value", "action"}
"""Attributes that hold what came from outside; all others are the page's own."""


class Read(HTMLParser):
    """A page taken apart: its elements, its words, and what its form would post."""

    def __init__(self, page):
        super().__init__()
        self.skeleton, self.open, self.words, self.fields, self.ids = [], [], [], [], []
        self.select = None
        self.feed(page)
        self.close()
        assert self.open == [], "an element is not closed"

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice"
        of = dict(attributes)
        self.skeleton.append((tag, tuple((name, name in DATA or value) for name, value in attributes)))
        self.ids += [of["id"]] if "id" in of else []
        if tag == "input":
            self.fields.append((of["name"], of.get("type", "text"), of.get("value", ""), "checked" in of))
        elif tag == "select":
            self.select = of["name"]
        elif tag == "option":
            self.fields.append((self.select, "option", of["value"], "selected" in of))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.skeleton.append((f"/{tag}", ()))

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def handle_comment(self, data):
        raise AssertionError("a page has no comment")

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def posts(self, name):
        """What the form posts under that name if nobody touches it."""
        return [
            value
            for field, kind, value, on in self.fields
            if field == name and (on or kind not in ("radio", "checkbox", "option"))
        ]


def shape_of(page):
    return Read(page).skeleton


# What the pages say


def test_the_consent_page_says_who_asks_and_for_what():
    text = Read(samples.consent(ASKED)).text
    assert "Hermes asks to use your memory" in text
    assert "You are signed in as alice." in text
    for fact in ("hermes-agent", "hermes-desktop", HERE, "~/.hermes/honcho.json"):
        assert fact in text


def test_who_is_not_whom_the_consent_page_says_can_sign_out():
    page = samples.consent(replace(ASKED, sign_out="/signout"))
    assert "You are signed in as alice. Not you? Sign out" in Read(page).text
    assert "Not you" not in Read(samples.consent(ASKED)).text


def test_the_page_for_signing_out_says_who_is_signed_in_and_what_stays():
    page = Read(samples.sign_out(action="/signout", csrf="a-token", who="alice"))
    assert [field[:2] for field in page.fields] == [("csrf", "hidden")]
    assert "You are signed in as alice. Programs that you let in stay connected." in page.text


def test_the_consent_form_posts_what_the_person_sees():
    page = Read(samples.consent(ASKED))
    posted = {name: page.posts(name) for name in dict.fromkeys(field[0] for field in page.fields)}
    assert posted == {
        "csrf": ["a-token"],
        "request": ["a-request"],
        "peer": ["alice"],
        "workspace": ["team"],
        "namespace": ["personal", "work"],
        "access": ["read"],
        "end": ["2592000"],
    }


def test_a_fixed_peer_and_an_only_workspace_are_told_and_posted_but_not_asked():
    page = Read(samples.consent(replace(ASKED, peer_fixed=True, workspace_fixed=True, workspace="lab")))
    kinds = {name: kind for name, kind, _, _ in page.fields}
    assert (kinds["peer"], page.posts("peer")) == ("hidden", ["alice"])
    assert (kinds["workspace"], page.posts("workspace")) == ("hidden", ["lab"])
    assert "Peer alice" in page.text
    assert "Workspace lab" in page.text


def test_any_workspace_may_be_typed_unless_it_is_fixed():
    page = Read(samples.consent(replace(ASKED, workspace="default")))
    assert ("workspace", "text", "default", False) in page.fields


def test_any_namespace_may_be_typed_where_all_are_offered():
    page = Read(samples.consent(replace(ASKED, namespaces=("*",))))
    assert ("namespace", "text", "personal, work", False) in page.fields
    assert "commas" in page.text


def test_reading_and_writing_are_told_in_words():
    text = Read(samples.consent(replace(ASKED, peer_fixed=True))).text
    assert "See what is remembered of alice, and ask questions about it." in text
    assert "Also remember new things of alice" in text


def test_a_client_that_serves_many_may_be_given_everyone_or_one():
    many = replace(ASKED, everyone_offered=True, everyone=True)
    page = Read(samples.consent(many))
    assert page.posts("everyone") == ["yes"]
    assert "Only that of this peer" in page.text
    assert "That of everyone in this workspace" in page.text
    assert "nothing of other peers" not in page.text
    assert Read(samples.consent(replace(many, everyone=False))).posts("everyone") == ["no"]


def test_writing_is_not_spoken_of_where_it_is_not_offered():
    page = Read(samples.consent(replace(ASKED, write_offered=False, access="write")))
    assert page.posts("access") == ["read"]
    assert "write" not in page.text


@pytest.mark.parametrize("where", [HERE, "localhost:1", "[::1]:8765", "127.0.0.1"])
def test_a_known_client_on_this_machine_needs_no_warning(where):
    assert 'role="note"' not in samples.consent(replace(ASKED, where=where))


@pytest.mark.parametrize(
    "where",
    [
        "agents.example.com:443",
        "127.0.0.1@evil.example",
        "127.0.0.1.evil.example",
        "evil@127.0.0.1",
        "[::1",
        "",
    ],
)
def test_an_answer_that_leaves_this_machine_is_warned_of(where):
    assert "which is not this machine" in Read(samples.consent(replace(ASKED, where=where))).text


def test_the_end_of_a_long_host_is_never_cut_off():
    where = ".".join(["a" * 60] * 3 + ["evil.example:8443"])
    assert Read(samples.consent(replace(ASKED, where=where))).text.count(where) == 2


def test_an_answer_to_any_program_that_takes_a_scheme_is_warned_of():
    text = Read(samples.consent(replace(ASKED, where="cursor:"))).text
    assert "whatever program opens cursor: links here" in text
    assert "which is not this machine" not in text


def test_a_client_that_registered_itself_is_said_to_have_chosen_its_name():
    text = Read(samples.consent(replace(ASKED, registered=True))).text
    assert "Nobody has checked who this is: Hermes is what it calls itself." in text


def test_whoever_typed_a_code_is_told_to_have_asked_for_it():
    text = Read(samples.consent(replace(ASKED, where=ANOTHER_DEVICE))).text
    assert "only if you began it yourself" in text
    assert "which is not this machine" not in text


def test_the_sign_in_page_takes_a_cap_and_says_where_one_is_found():
    page = Read(samples.sign_in(action="/oauth/sign-in", csrf="a-token", asked_by="Hermes"))
    assert [field[:2] for field in page.fields] == [("csrf", "hidden"), ("cap", "password")]
    assert "Hermes asks to use your memory" in page.text
    assert "owner.cap" in page.text
    assert "souvenance cap mint" in page.text


def test_the_device_page_takes_a_code_and_keeps_the_one_it_was_given():
    page = Read(samples.device(action="/oauth/device", csrf="a-token", code="WDJB-MJHT"))
    assert page.posts("user_code") == ["WDJB-MJHT"]


def test_trouble_is_an_alert_and_stands_in_the_title():
    for page in (
        samples.consent(ASKED, trouble="Choose a namespace."),
        samples.sign_in(action="/", csrf="", asked_by=None, trouble="Choose a namespace."),
        samples.device(action="/", csrf="", trouble="Choose a namespace."),
    ):
        assert '<p class="trouble" id="trouble" role="alert"><bdi>Choose a namespace.</bdi></p>' in page
        assert "<title>Not yet: " in page


def test_a_notice_only_says_something():
    page = Read(samples.notice("You are connected", "You can close this page."))
    assert page.fields == []
    assert "You are connected You can close this page." in page.text


EVERY_PAGE = {
    "sign-in": samples.sign_in(action="/", csrf="", asked_by="Hermes", trouble="No."),
    "device": samples.device(action="/", csrf="", trouble="No."),
    "consent": samples.consent(ASKED, trouble="No."),
    "consent typed": samples.consent(replace(ASKED, namespaces=("*",))),
    "consent of a session": samples.consent(replace(ASKED, sign_out="/signout")),
    "sign-out": samples.sign_out(action="/", csrf="", who="alice"),
    "notice": samples.notice("Done", "Go."),
}
every_page = pytest.mark.parametrize("page", EVERY_PAGE.values(), ids=EVERY_PAGE)


@every_page
def test_a_page_has_no_script_no_style_attribute_and_fetches_nothing(page):
    for tag, attributes in shape_of(page):
        assert tag not in ("script", "link", "img", "iframe", "object", "embed", "base", "a", "svg")
        assert not [
            name for name, _ in attributes if name in ("style", "src", "href") or name.startswith("on")
        ]
    assert not re.search(r"url\(|@import|https?://", page)


@every_page
def test_the_one_stylesheet_is_the_one_that_the_policy_names(page):
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" == STYLE_SOURCE


@every_page
def test_every_field_has_a_label_and_every_reference_an_end(page):
    read = Read(page)
    assert len(set(read.ids)) == len(read.ids)
    labelled = {of["for"] for tag, pairs in read.skeleton if tag == "label" and "for" in (of := dict(pairs))}
    for tag, pairs in read.skeleton:
        of = dict(pairs)
        assert set((of.get("aria-describedby") or "").split()) <= set(read.ids)
        if tag in ("input", "select") and of.get("type") not in ("hidden", "checkbox", "radio"):
            assert of["id"] in labelled


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_everything_can_be_told_from_what_it_stands_on(scheme):
    style = EVERY_PAGE["notice"].split("<style>")[1]
    colours = dict(re.findall(r"--([\w-]+): (#\w{6});", style.split(":root {")[1 + scheme]))
    for ink, sheet in (
        *((ink, sheet) for ink in ("ink", "quiet") for sheet in ("paper", "sheet")),
        ("ink", "warn-sheet"),
        ("ink", "stop-sheet"),
        ("on-accent", "accent"),
        ("on-accent", "accent-over"),
    ):
        assert contrast(colours[ink], colours[sheet]) >= 4.5, (ink, sheet)
    for edge in ("edge", "accent", "warn", "stop"):
        assert contrast(colours[edge], colours["sheet"]) >= 3, edge


# Nothing from outside changes a page

TAGS = ["<script>alert(1)</script>", "</style>", "</title>", "</bdi>", "</form>", "<!--", "-->", "<![CDATA["]
MARKS = ["&quot;", "&#34;", "&", "<", ">", '"', "'", "=", " onfocus=x ", "\x00", "\r\n", "\u202e", "é", "😀"]
HOSTILE = st.one_of(
    st.text(min_size=1, max_size=30),
    st.lists(st.sampled_from([*TAGS, *MARKS]), min_size=1, max_size=6).map("".join),
)
NAMES = st.lists(HOSTILE.filter(lambda text: text != "*"), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def views(draw):
    """A view of hostile text, and one of the same shape that is harmless."""
    namespaces = draw(st.one_of(st.just(("*",)), NAMES))
    some = draw(st.lists(st.booleans(), min_size=len(namespaces), max_size=len(namespaces)))
    texts = {
        name: draw(HOSTILE)
        for name in ("client", "client_id", "signed_in_as", "peer", "csrf", "request", "action")
    }
    ends = draw(st.lists(HOSTILE, min_size=1, max_size=3))
    view = Consent(
        **texts,
        source=draw(st.none() | HOSTILE),
        config_path=draw(st.none() | HOSTILE),
        where=draw(st.sampled_from([HERE, ANOTHER_DEVICE, "cursor:"]) | HOSTILE.map("{}.example".format)),
        workspace=draw(HOSTILE),
        workspace_fixed=draw(st.booleans()),
        peer_fixed=draw(st.booleans()),
        namespaces=namespaces,
        chosen=tuple(one for one, on in zip(namespaces, some, strict=True) if on),
        access=draw(st.sampled_from(["read", "write"])),
        write_offered=draw(st.booleans()),
        ends=tuple((label, at) for at, label in enumerate(ends)),
        end=0,
        registered=draw(st.booleans()),
        everyone_offered=draw(st.booleans()),
        everyone=draw(st.booleans()),
    )
    mild = {name: f"n{at}" for at, name in enumerate(namespaces)} if namespaces != ("*",) else {"*": "*"}
    harmless = replace(
        view,
        **dict.fromkeys(texts, "x"),
        source=view.source and "x",
        config_path=view.config_path and "x",
        where=view.where if view.where in (HERE, ANOTHER_DEVICE, "cursor:") else "x.example",
        workspace="x",
        namespaces=tuple(mild.values()),
        chosen=tuple(mild[one] for one in view.chosen),
        ends=tuple(("x", at) for at in range(len(ends))),
    )
    return view, harmless


@given(views(), HOSTILE)
def test_no_text_adds_an_element_or_an_attribute_to_the_consent_page(both, trouble):
    view, harmless = both
    assert shape_of(samples.consent(view, trouble=trouble)) == shape_of(
        samples.consent(harmless, trouble="x")
    )


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_no_text_adds_an_element_or_an_attribute_to_the_other_pages(one, two, three, four):
    assert shape_of(samples.notice(one, two)) == shape_of(samples.notice("x", "x"))
    device = samples.device(action=one, csrf=two, code=three, trouble=four)
    assert shape_of(device) == shape_of(samples.device(action="x", csrf="x", code="x", trouble="x"))
    sign_in = samples.sign_in(action=one, csrf=two, asked_by=three, trouble=four)
    assert shape_of(sign_in) == shape_of(samples.sign_in(action="x", csrf="x", asked_by="x", trouble="x"))


@given(views())
def test_the_form_carries_every_value_back_as_it_was(both):
    view, _ = both
    page = Read(samples.consent(view))
    assert page.posts("csrf") == [view.csrf]
    assert page.posts("request") == [view.request]
    assert page.posts("peer") == [view.peer]
    assert page.posts("workspace") == [view.workspace]
    if view.namespaces != ("*",):
        assert page.posts("namespace") == list(view.chosen)


@given(st.text(st.characters(), max_size=300), st.text(st.characters(), max_size=300))
def test_every_page_can_be_sent_whatever_it_holds(one, two):
    """Lone surrogates too, which no encoding has."""
    view = replace(ASKED, client=one, peer=two, workspace=one, namespaces=(one,), csrf=two)
    for page in (
        samples.consent(view),
        samples.notice(one, two),
        samples.sign_in(action=one, csrf=two, asked_by=one),
    ):
        page.encode()


def name_on(page):
    """The client's name as the heading shows it."""
    return (
        Read(page)
        .text.split(" asks to use your memory")[0]
        .removeprefix("Allow access? · Souvenance Souvenance ")
    )


@given(st.text(st.characters(), min_size=1))
@example("Hermes\u202egnp.exe")
@example("Her\u200bmes")
@example("\u2066Hermes\u2069")
@example("Hermes" + " \u00a0\u2003" * 300 + "x")
@example("Z" + "\u0335" * 400)
@example("\u3164\u2800")
@example("\U000e0041\U000e0042")
def test_nothing_in_a_name_is_hidden_from_the_reader(name):
    shown = name_on(samples.consent(replace(ASKED, client=name)))
    assert 0 < len(shown) <= 80
    assert not [
        one for one in shown if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    ]
    assert not re.search(r"\s\s|\u3164|\u2800", shown)
    assert name_on(samples.consent(replace(ASKED, client=shown))) == shown


def test_a_direction_mark_in_a_name_is_seen_as_one():
    assert name_on(samples.consent(replace(ASKED, client="Hermes\u202egnp.exe"))) == "Hermes\ufffdgnp.exe"


def test_a_tower_of_accents_does_not_reach_the_line_above():
    assert (
        name_on(samples.consent(replace(ASKED, client="Z" + "\u0335" * 50 + "a"))) == "Z" + "\u0335" * 3 + "a"
    )


def test_an_ordinary_name_in_any_script_is_shown_as_it_is():
    for name in ("Hermes Agent", "Café à côté", "メモ帳", "ผู้ช่วย", "مساعد", "O’Brien & Söhne"):
        assert name_on(samples.consent(replace(ASKED, client=name))) == name


def test_a_name_that_goes_on_and_on_is_cut():
    shown = name_on(samples.consent(replace(ASKED, client="m" * 5000)))
    assert shown == "m" * 79 + "…"
