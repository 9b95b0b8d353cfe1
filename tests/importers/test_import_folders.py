"""Folders of Markdown: vaults of Obsidian and basic-memory, and what MemPalace exports."""

import os
import struct
import zipfile

import pytest

from importers.exports import ANN
from souvenance.adapters.importers import recognised
from souvenance.adapters.importers.note_folders import MemPalace, NoteVault, front_matter
from souvenance.adapters.importers.source_files import MOST_PAGE_BYTES
from souvenance.commands import DataTransfers
from souvenance.domain.imports import ImportedStatement, Skipped, Upload
from souvenance.errors import ImportUnreadable, ImportUnrecognised

# As basic-memory 0.24.1 wrote it, by its command and by its import of a conversation.
COFFEE = """---
title: Coffee
type: note
permalink: main/notes/coffee
tags:
- a
- b
---

# Coffee

## Observations
- [preference] Ann likes pour over #coffee (kitchen)
- [fact] Water at 93 C

## Relations
- relates_to [[Water]]
- brewed in [[Lisbon|the city]]
"""
DINNER = """---
title: Dinner
type: conversation
permalink: main/conversations/20251001-dinner
created: '2025-10-01T10:00:00.000000Z'
modified: '2025-10-01T10:05:00.000000Z'
---

# Dinner

### Human (2025-10-01 10:00:00)
I am allergic to peanuts.
"""
DAY = "Met [[Bo]] at ![[map.png]] the [[Market#Fish|market]].\n\n- [ ] call `Cy`\n"
PAGES = {"notes/Coffee.md": COFFEE, "conversations/20251001-Dinner.md": DINNER, "2026-05-25.md": DAY}

# As MemPalace 3.11.0 wrote it.
INDEX = "# Palace Export — 2026-11-18\n\n\n| Wing | Rooms | Drawers |\n|------|-------|---------|\n"
KITCHEN = """# ann / kitchen

## drawer_ann_kitchen_1

> Ann moved to Lisbon in May.
> She bakes bread.

| Field | Value |
|-------|-------|
| Source | notes.md |
| Filed | 2026-01-02T09:00:00 |
| Added by | mempalace |

---

## drawer_ann_kitchen_2

> > USER: I like tea
> Ok.
> 
> ---
> 
> ## drawer_x

| Field | Value |
|-------|-------|
| Source | unknown |
| Filed | unknown |
| Added by | ann |

---

"""
PALACE = {"index.md": INDEX, "ann/kitchen.md": KITCHEN}


def folder(top, pages):
    for name, text in pages.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def zipped(path, pages, prefix=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in pages.items():
            archive.writestr(prefix + name, text)
    return path


def records(made, path, kind=ImportedStatement):
    return [one for one in made(path, ANN).records() if isinstance(one, kind)]


def test_a_vault_is_read_page_by_page_with_titles_times_and_categories(tmp_path):
    found = {one.text: one for one in records(NoteVault, folder(tmp_path / "vault", PAGES))}
    assert list(found) == [
        "2026-05-25: Met Bo at map.png the market.",
        "2026-05-25: call Cy",
        "Dinner: Human (2025-10-01 10:00:00): I am allergic to peanuts.",
        "Coffee: Ann likes pour over #coffee (kitchen)",
        "Coffee: Water at 93 C",
        "Coffee: relates to Water",
        "Coffee: brewed in the city",
    ]
    day, _, dinner, coffee = list(found.values())[:4]
    assert day.at.date().isoformat() in ("2026-05-24", "2026-05-25")
    assert dinner.at.isoformat() == "2025-10-01T10:00:00+00:00"
    assert coffee.at is None
    assert coffee.origin == {
        "file": "notes/Coffee.md",
        "tags": ["a", "b"],
        "permalink": ["main/notes/coffee"],
        "category": "preference",
    }
    assert coffee.place == "notes/Coffee.md, line 13"


def test_a_folder_and_its_zip_say_the_same(tmp_path):
    plain = [one.text for one in records(NoteVault, folder(tmp_path / "vault", PAGES))]
    path = zipped(tmp_path / "vault.zip", PAGES)
    for source in (path, Upload("vault.zip", path.read_bytes())):
        assert [one.text for one in records(NoteVault, source)] == plain


def test_folders_and_zips_are_recognised(tmp_path):
    assert recognised(str(folder(tmp_path / "vault", PAGES))) == "vault"
    assert recognised(str(zipped(tmp_path / "vault.zip", PAGES, "My vault/"))) == "vault"
    assert recognised(str(folder(tmp_path / "palace", PALACE))) == "mempalace"
    assert recognised(str(zipped(tmp_path / "palace.zip", PALACE, "out/"))) == "mempalace"
    (tmp_path / "empty").mkdir()
    for other in (tmp_path / "empty", zipped(tmp_path / "other.zip", {"a.txt": "x"})):
        with pytest.raises(ImportUnrecognised, match="holds nothing that can be imported"):
            recognised(str(other))


def test_a_vault_is_taken_in_once_and_a_new_note_is_added(tmp_path, mine):
    top = folder(tmp_path / "vault", PAGES)
    assert mine.look_through(DataTransfers().open_source(str(top), None, ANN)).conclusions == 7
    assert mine.take(DataTransfers().open_source(str(top), None, ANN)).conclusions == 7
    (top / "new.md").write_text("Ann sings.\n")
    again = mine.take(DataTransfers().open_source(str(top), None, ANN))
    assert (again.conclusions, again.there) == (1, 7)


def test_a_palace_tells_each_drawer_as_it_was_filed(tmp_path):
    first, second = records(MemPalace, folder(tmp_path / "palace", PALACE))
    assert (first.id, first.text) == ("drawer_ann_kitchen_1", "Ann moved to Lisbon in May.\nShe bakes bread.")
    assert first.at.isoformat() == "2026-01-02T09:00:00+00:00"
    assert first.origin == {"wing": "ann", "room": "kitchen", "source": "notes.md", "by": "mempalace"}
    assert (second.text, second.at) == ("> USER: I like tea\nOk.\n\n---\n\n## drawer_x", None)


def test_a_drawer_that_can_not_be_read_is_not_passed_over(tmp_path):
    bent = {**PALACE, "ann/kitchen.md": KITCHEN.replace("| Field | Value |", "| Other |", 1)}
    with pytest.raises(ImportUnreadable, match=r"ann/kitchen\.md: not all of its drawers"):
        records(MemPalace, folder(tmp_path / "palace", bent))


def test_nothing_outside_a_vault_is_read_and_what_is_left_out_is_counted(tmp_path):
    top = folder(tmp_path / "vault", {"a.md": "Ann sings.\n", ".obsidian/b.md": "hidden\n", "c.canvas": "{}"})
    (tmp_path / "secret.md").write_text("Nobody may know.\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "d.md").write_text("Nor this.\n")
    (top / "link.md").symlink_to(tmp_path / "secret.md")
    (top / "linked").symlink_to(tmp_path / "outside")
    (top / "round").symlink_to(top)
    os.mkfifo(top / "pipe.md")
    assert [one.text for one in records(NoteVault, top)] == ["a: Ann sings."]
    found = sorted((one.why, one.place) for one in records(NoteVault, top, Skipped))
    assert [why for why, _ in found] == [
        "files that are not Markdown",
        "links to other files and folders",
        "links to other files and folders",
        "links to other files and folders",
        "pipes and devices",
    ]
    assert [place for _, place in found[-3:]] == ["linked", "round", "pipe.md"]


def linked(path):
    """A zip with a symbolic link in it."""
    about = zipfile.ZipInfo("link.md")
    about.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(about, "/etc/passwd")
        archive.writestr("a.md", "Ann sings.\n")
    return path


def test_a_link_in_a_zip_is_no_page(tmp_path):
    path = linked(tmp_path / "vault.zip")
    assert [one.text for one in records(NoteVault, path)] == ["a: Ann sings."]
    [left] = records(NoteVault, path, Skipped)
    assert (left.why, left.place) == ("links to other files and folders", "link.md")


def test_what_is_no_page_in_a_zip_is_counted_as_in_a_folder(tmp_path):
    files = {"a.md": "Ann sings.", "sub/b.png": "x", ".obsidian/app.json": "{}", "sub/.c.txt": "x"}
    [left] = records(NoteVault, zipped(tmp_path / "vault.zip", files), Skipped)
    assert (left.why, left.place) == ("files that are not Markdown", "sub/b.png")


def bomb(path):
    """Many members that share the bytes of one."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.md", b"a" * (8 << 20))
    raw = path.read_bytes()
    start = raw.rindex(b"PK\x01\x02")
    entry, end = raw[start : raw.rindex(b"PK\x05\x06")], raw[raw.rindex(b"PK\x05\x06") :]
    entries = b"".join(
        entry.replace(b"a.md", f"{number:04}".encode()[:1] + b".md") for number in range(9) for _ in range(5)
    )
    counted = struct.pack("<HHII", 45, 45, len(entries), start)
    path.write_bytes(raw[:start] + entries + end[:8] + counted + end[20:])
    return path


@pytest.mark.parametrize("name", ["../a.md", "/a.md", "b/../../a.md", "C:/a.md", "..\\a.md"])
def test_a_zip_whose_names_lead_out_of_it_is_refused(tmp_path, name):
    with pytest.raises(ImportUnreadable, match="leads out of it"):
        records(NoteVault, zipped(tmp_path / "vault.zip", {name: "x"}))


def test_a_zip_that_would_be_far_larger_is_refused(tmp_path):
    with pytest.raises(ImportUnreadable, match="more than 200 times"):
        records(NoteVault, bomb(tmp_path / "vault.zip"))


def test_a_page_that_is_too_large_or_no_text_is_refused_by_name(tmp_path):
    top = folder(tmp_path / "vault", {"sub/a.md": "x"})
    for content, said in (
        (b"a" * (MOST_PAGE_BYTES + 1), "is larger than"),
        (b"x\n\xff", "line 2: it is not text"),
    ):
        (top / "sub" / "a.md").write_bytes(content)
        with pytest.raises(ImportUnreadable, match=rf"sub/a\.md.* {said}|sub/a\.md, {said}"):
            records(NoteVault, top)


FRONT = """---
title: "A: title"
tags: [x, 'y']
nested:
  deep: {a: 1}
created: {{date}}
# a comment
title: [again
--- x
aliases:
  - one
  - "two"
---
text
"""


def test_front_matter_that_lies_is_left_out_and_counted(tmp_path):
    found, left = front_matter(FRONT, "a.md")
    assert found["tags"] == ["x", "y"] and found["aliases"] == ["one", "two"]
    assert [one.why for one in left] == ["front matter that is no plain value"] * 2
    top = folder(
        tmp_path / "vault",
        {"a.md": FRONT, "b.md": "---\ncreated: 9999-99-99\ntags: " + "&a " * 9 + "\n---\nAnn sings."},
    )
    assert "b: Ann sings." in [one.text for one in records(NoteVault, top)]
    whys = [one.why for one in records(NoteVault, top, Skipped)]
    assert whys.count("times in front matter that can't be read") == 2


def test_a_page_without_front_matter_has_none():
    assert front_matter("text\n---\na: b\n---\n", "a.md") == ({}, [])
