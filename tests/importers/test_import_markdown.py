"""Notes in Markdown: what is a statement in them, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importers.exports import ANN
from souvenance.adapters.importers.note_folders import Markdown, MarkdownNote, notes
from souvenance.domain.imports import ImportedStatement, Skipped
from souvenance.errors import ImportUnreadable

PAGE = """---
title: notes
---
# USER.md

Ann works at a bakery
in Lisbon.

## Food
- likes **green tea** and [jazz](https://example.org/jazz)
- Allergies:
  - peanuts
  - [ ] penicillin
1. eats at `noon`

```python
likes = "nothing of this"
```

> somebody else said this

| a | b |
|---|---|

<!-- a comment
- that hides an item -->
### Drinks
* no coffee
"""


def told(text):
    return [
        ": ".join((*one.under, one.text)) for one in notes(text, "USER.md") if isinstance(one, MarkdownNote)
    ]


def test_items_and_paragraphs_are_statements_under_their_headings():
    assert told(PAGE) == [
        "Ann works at a bakery in Lisbon.",
        "Food: likes green tea and jazz",
        "Food: Allergies: peanuts",
        "Food: Allergies: penicillin",
        "Food: eats at noon",
        "Drinks: no coffee",
    ]


def test_what_is_no_statement_is_counted():
    assert [(one.why, one.place) for one in notes(PAGE, "USER.md") if isinstance(one, Skipped)] == [
        ("code", "USER.md, line 16"),
        ("quotations", "USER.md, line 20"),
        ("tables", "USER.md, line 22"),
    ]


def test_entries_between_section_signs_are_statements():
    assert told("prefers tea\n§\nlives in Lisbon\nwith a cat\n§\n") == [
        "prefers tea",
        "lives in Lisbon with a cat",
    ]


def test_a_name_that_obsidian_gave_a_block_is_no_statement():
    assert told("prefers tea\n\n^3f2a1b\n\nlives in Lisbon\n") == ["prefers tea", "lives in Lisbon"]


def test_an_indented_block_is_code_and_an_unclosed_fence_ends_with_the_page():
    assert told("before\n\n    x = 1\n\nafter\n```\nrest") == ["before", "after"]


def test_the_file_tells_of_the_peer_line_by_line(tmp_path):
    path = tmp_path / "USER.md"
    path.write_text(PAGE)
    found = [one for one in Markdown(path, ANN).records() if isinstance(one, ImportedStatement)]
    assert {(one.observer, one.observed) for one in found} == {("ann", "ann")}
    assert found[1].place == "USER.md, line 10"
    assert found[1].origin == {"file": "USER.md"}


@given(st.text(alphabet=st.sampled_from("-*#>`~|§ \n\tabc:.1[]()<!"), max_size=200))
def test_any_page_is_read_to_its_end(text):
    for one in notes(text, "USER.md"):
        assert isinstance(one, Skipped) or one.text.strip()


def test_what_is_not_text_is_refused_with_its_line(tmp_path):
    path = tmp_path / "USER.md"
    path.write_bytes(b"fine\n\xff\xfe")
    with pytest.raises(ImportUnreadable, match="line 2: it is not text"):
        list(Markdown(path, ANN).records())
