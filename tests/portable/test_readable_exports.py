"""What people read of an export is the export: it comes back as it was, and nothing in it acts on its own."""

from __future__ import annotations

import io
import json
import os
import re
import stat
import zipfile
from contextlib import nullcontext
from datetime import datetime

import pytest
from hypothesis import given as whatever
from hypothesis import settings
from hypothesis import strategies as st

from conversation.world import staged
from portable.journeys import exported, manager
from portable.test_round_trip import lived
from souvenance.adapters.readable_export import Exports
from souvenance.agents.archives import ArchiveImport, write_archive
from souvenance.domain.imports import Upload
from souvenance.errors import ArchiveDamaged, Conflict, InvalidInput, SouvenanceError
from souvenance.gate import messages as m
from souvenance.gate import operations as o

FORMS = {"pages": "markdown", "pages.zip": "markdown", "all.json": "json"}


def asking(stage, workspace="w", **cap):
    cap = manager(stage.world, workspace, **cap)
    return lambda operation, request: stage.world.call(operation, cap, request)


def saved(stage, path, form, owner=None):
    with Exports().writing(path, form=form) as into:
        write_archive(asking(stage), into, workspace="w", owner=owner, made_at="2026-01-01T00:00:00+00:00")
    return path


class Steps:
    def update(self, n_steps):
        """Nobody watches."""


def brought_in(stage, path, ask=None):
    assert Exports().is_archive(path)
    work = ArchiveImport(ask or asking(stage), Exports().reading(path), lambda *_: nullcontext(Steps()))
    work.check()
    return work.take()


@settings(max_examples=6, deadline=None)
@whatever(seed=st.integers(0, 10_000), steps=st.integers(1, 60), name=st.sampled_from(sorted(FORMS)))
def test_what_is_exported_for_people_comes_back_to_the_byte(tmp_path_factory, seed, steps, name):
    folder = tmp_path_factory.mktemp("out")
    with staged() as here, staged() as there:
        lived(here, seed, steps)
        assert brought_in(there, saved(here, folder / name, FORMS[name])).conflicts == []
        assert exported(there.world) == exported(here.world)
        again = brought_in(there, folder / name)
        assert (again.new, again.conflicts) == (0, [])


PIECES = (
    *"ab \n\r\t>^%!<`~[]|#-$=\\\u2028\x85",
    *("\n> ", "\n^01M7ENKXSQN27K8P92THXMV5N1\n", "\n-->\n", "\n<!-- souvenance\n", "```js", "\n---\n"),
)
HOSTILE = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=60),
).filter(str.strip)


@settings(max_examples=25, deadline=None)
@whatever(texts=st.lists(HOSTILE, min_size=1, max_size=6), name=st.sampled_from(sorted(FORMS)))
def test_any_text_comes_back_as_it_was(tmp_path_factory, texts, name):
    folder = tmp_path_factory.mktemp("out")
    with staged() as here, staged() as there:
        cap = manager(here.world, sub="ann")
        for text in texts:
            here.world.put(cap, text, occurred_at=None)
        here.owner.say("talk", *[("ann", text) for text in texts])
        brought_in(there, saved(here, folder / name, FORMS[name]))
        assert exported(there.world) == exported(here.world)


NAMES = (
    "Ann",
    "ann",
    "ANN",
    "a/../b",
    "a:b",
    "..",
    ".hidden",
    "con",
    "Zo\u00eb",
    "Zoe\u0308",
    "]] x",
    "-->",
    "x" * 500,
    "\U0001f600",
)


def test_names_lie_apart_inside_the_folder_whatever_they_are(tmp_path):
    with staged() as here, staged() as there:
        for number, name in enumerate(NAMES):
            here.world.put(manager(here.world, sub=name), f"I am {number}.", occurred_at=None)
        top = saved(here, tmp_path / "pages", "markdown")
        found = sorted(one.relative_to(top).as_posix() for one in top.rglob("*") if one.is_file())
        assert len({one.casefold() for one in found}) == len(found) == len(NAMES) + 1
        assert all(re.fullmatch(r"index\.md|people/[\w-]+\.md", one) for one in found)
        assert max(len(os.fsencode(one.name)) for one in top.rglob("*")) < 255
        assert sorted(os.listdir(tmp_path)) == ["pages"]
        brought_in(there, top)
        assert exported(there.world) == exported(here.world)


def test_files_and_folders_are_their_owner_s_alone(tmp_path):
    with staged() as here:
        here.owner.say("talk", "Hello.")
        for name, form in FORMS.items():
            top = saved(here, tmp_path / name, form)
            for one in (top, *top.rglob("*")) if top.is_dir() else (top,):
                assert not stat.S_IMODE(one.stat().st_mode) & 0o077


@pytest.mark.parametrize("name", FORMS)
def test_what_is_there_is_not_written_over(tmp_path, name):
    (tmp_path / name).mkdir()
    with staged() as here, pytest.raises(Conflict, match="exists") as caught:
        saved(here, tmp_path / name, FORMS[name])
    assert caught.value.hint == "Name one that does not."
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_an_export_that_fails_leaves_nothing(tmp_path):
    for name, form in FORMS.items():
        with (
            staged() as here,
            pytest.raises(SouvenanceError),
            Exports().writing(tmp_path / name, form=form) as into,
        ):
            ask = asking(here, namespaces_allowed=["other"])
            write_archive(ask, into, workspace="w", owner="nobody-*", made_at="")
            raise InvalidInput("the disk went away")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FORMS)
def test_one_person_s_export_has_nothing_of_another(tmp_path, name):
    with staged() as here:
        here.owner.say("talk", ("ann", "I like tea."), ("bo", "I keep a secret."))
        here.world.put(manager(here.world, sub="bo"), "Nobody may know.", occurred_at=None)
        path = saved(here, tmp_path / name, FORMS[name], owner="ann")
        held = [one.read_bytes() for one in path.rglob("*.md")] if path.is_dir() else [path.read_bytes()]
        if name.endswith(".zip"):
            held = [zipfile.ZipFile(path).read(one) for one in zipfile.ZipFile(path).namelist()]
        whole = b"".join(held)
        assert b"I like tea." in whole
        assert b"secret" not in whole and b"Nobody may know" not in whole


def test_each_page_that_is_read_for_an_export_has_its_row_in_the_audit_log(tmp_path):
    with staged() as here:
        here.owner.say("talk", "Hello.")
        saved(here, tmp_path / "pages", "markdown")
        assert here.world.outcomes("w")[-1] == ("export.page", "ok")


def told(page):
    """What a page shows: without its front matter and comments."""
    return re.sub(r"<!-- souvenance.*?-->", "", page.split("---\n", 2)[2], flags=re.DOTALL)


def test_pages_have_front_matter_and_links_to_each_other(tmp_path):
    with staged() as here:
        here.owner.say("talk", ("ann", "I live in Oslo."))
        here.rest()
        top = saved(here, tmp_path / "pages", "markdown")
        index, ann, talk = (
            (top / name).read_text() for name in ("index.md", "people/ann.md", "sessions/talk.md")
        )
        said = here.owner.messages("talk")[0]
        assert 'person: "ann"' in ann and 'session: "talk"' in talk
        assert "[[people/ann|ann]]" in index and "[[sessions/talk|talk]]" in index
        assert "> I live in Oslo." in talk and "[[people/ann|ann]]" in talk
        targets = set(re.findall(r"\[\[([^#|\]]+)", told(index) + told(ann) + told(talk)))
        assert all((top / f"{one}.md").is_file() for one in targets)
        for anchor in re.findall(r"\[\[sessions/talk#(\^\w+)", told(ann)):
            assert f"\n{anchor}\n" in talk
        assert said["content"] in talk


ACTIVE = (
    "![x](https://evil.example/a.png) <img src=x> %%hidden `$= dv.current()` `= this.x`\n"
    "```dataviewjs\ndv\n```"
)


def test_nothing_that_was_said_acts_when_a_page_is_opened(tmp_path):
    with staged() as here, staged() as there:
        here.owner.say("talk", ("ann", ACTIVE))
        top = saved(here, tmp_path / "pages", "markdown")
        shown = told((top / "sessions" / "talk.md").read_text())
        for active in ("![x]", " <img", " %%", "`$=", "`= ", "```dataviewjs"):
            assert re.search(r"(?<!\\)" + re.escape(active), shown) is None, active
        brought_in(there, top)
        assert there.owner.texts("talk") == [ACTIVE]


def test_a_long_session_has_several_pages(tmp_path):
    with staged() as here, staged() as there:
        here.owner.say("talk", *[("ann", f"{number} " + "word " * 4000) for number in range(80)])
        top = saved(here, tmp_path / "pages", "markdown")
        assert (top / "sessions" / "talk (2).md").is_file()
        brought_in(there, top)
        assert exported(there.world) == exported(here.world)


def test_json_says_when_in_words_of_its_own(tmp_path):
    with staged() as here:
        here.owner.say("talk", ("ann", "Hello."))
        first, *records = json.loads(saved(here, tmp_path / "all.json", "json").read_bytes())
        assert first["souvenance"]["about"] == {"workspace": "w"}
        line = next(one for one in records if one["record"] == "line")
        assert datetime.fromisoformat(line["when"]).timestamp() == pytest.approx(
            line["created_at"] / 1000, abs=1
        )


def test_what_was_changed_on_a_page_is_told_where_it_is_known_and_taken_where_it_is_not(tmp_path):
    with staged() as here, staged() as there:
        here.owner.say("talk", ("ann", "I live in Oslo."))
        page = saved(here, tmp_path / "pages", "markdown") / "sessions" / "talk.md"
        page.write_bytes(page.read_bytes().replace(b"Oslo", b"Bergen").replace(b"\n", b"\r\n"))
        assert brought_in(here, tmp_path / "pages").conflicts != []
        brought_in(there, tmp_path / "pages")
        assert there.owner.texts("talk") == ["I live in Bergen."]


def harmed(top, how):
    page = top / "sessions" / "talk.md"
    match how:
        case "a page is missing":
            page.unlink()
        case "a page is there twice":
            (top / "sessions" / "talk copy.md").write_bytes(page.read_bytes())
        case "a page is of something else":
            (top / "mine.md").write_text("# My own note\n")
        case "a text is missing":
            page.write_text(page.read_text().replace("> I live in Oslo.\n", "").replace("> [!quote]", ""))
        case "a record is cut":
            page.write_text(page.read_text().replace('"record":"line"', '"record":"line'))
        case "a record has an owner that is none":
            page.write_text(page.read_text().replace('"owner":"ann"', '"owner":"@sessions"'))
        case "the index says nothing":
            index = top / "index.md"
            index.write_text(re.sub(r"\n\{.*\n", "\n", index.read_text()))
        case "it is of a later format":
            index = top / "index.md"
            index.write_text(index.read_text().replace('"format":1', '"format":9'))
        case "a page is not text":
            page.write_bytes(b"\xff\xfe")


@pytest.mark.parametrize(
    "how",
    [
        "a page is missing",
        "a page is there twice",
        "a page is of something else",
        "a text is missing",
        "a record is cut",
        "a record has an owner that is none",
        "the index says nothing",
        "it is of a later format",
        "a page is not text",
    ],
)
def test_an_export_that_was_harmed_is_refused_before_anything_is_written(tmp_path, how):
    with staged() as here, staged() as there:
        here.owner.say("talk", ("ann", "I live in Oslo."))
        harmed(saved(here, tmp_path / "pages", "markdown"), how)
        with pytest.raises((ArchiveDamaged, InvalidInput)):
            brought_in(there, tmp_path / "pages")
        assert [one for one in exported(there.world).splitlines() if b'"record":"line"' in one] == []


def test_what_leads_out_of_a_folder_is_not_read(tmp_path):
    with staged() as here, staged() as there:
        here.owner.say("talk", ("ann", "I live in Oslo."))
        top = saved(here, tmp_path / "pages", "markdown")
        (tmp_path / "outside.md").write_text("# Not yours\n")
        (top / "link.md").symlink_to(tmp_path / "outside.md")
        (top / "loop").symlink_to(top)
        os.mkfifo(top / "pipe.md")
        (top / ".obsidian").mkdir()
        (top / ".obsidian" / "app.md").write_text("{}")
        assert brought_in(there, top).conflicts == []


def test_an_export_is_sent_as_a_zip_too(tmp_path):
    with staged() as here, staged() as there:
        here.owner.say("talk", ("ann", "I live in Oslo."))
        sink = io.BytesIO()
        with Exports().packing(sink, "markdown") as into:
            write_archive(asking(here), into, workspace="w", owner=None, made_at="2026-01-01T00:00:00+00:00")
        brought_in(there, Upload("pages.zip", sink.getvalue()))
        assert exported(there.world) == exported(here.world)


def test_only_an_archive_is_encrypted(tmp_path):
    with (
        pytest.raises(InvalidInput, match="only an archive"),
        Exports().writing(tmp_path / "x.zip", ["age1x"], "markdown"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_workspace_comes_back_under_another_name_too(tmp_path):
    with staged() as here, staged() as there:
        cap = manager(here.world, sub="ann")
        here.world.call(o.PUT, cap, m.Put(text="I like tea."))
        ask = asking(there, "other")
        brought_in(there, saved(here, tmp_path / "pages", "markdown"), ask)
        assert exported(there.world, manager(there.world, "other")) != b""
