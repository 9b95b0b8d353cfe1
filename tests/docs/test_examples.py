import re
from pathlib import Path

import pytest
from examples import ROOT, Example, examples, matches, pages, play
from reference_pages import every_error

from quick_souvenance import quick_souvenance

CODES = "|".join(kind.code for kind in every_error())


@pytest.fixture(scope="module")
def programs(run_folder):
    with quick_souvenance(run_folder / "quick") as folder:
        yield folder


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_the_page_prints_what_the_page_shows(page, tmp_path, programs):
    assert examples(page)
    for played in play(examples(page), tmp_path, programs):
        shown = played.example.output
        assert matches(shown, played.printed, tmp_path), (played.example.command, shown, played.printed)
        refused = re.match(rf"(?:{CODES}): ", shown) is not None
        assert (played.exit_code != 0) == refused, played


def test_an_example_that_prints_something_else_or_fails_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ echo one\ntwo\n$ NAME=kept\n$ echo $NAME; false\nkept\n```\n```bash\n(exit 3)\n```\n"
    )
    home = tmp_path / "home"
    first, _, third, _ = played = play(examples(page), home)
    assert [one.exit_code for one in played] == [0, 0, 1, 3]
    assert not matches(first.example.output, first.printed, home)
    assert matches(third.example.output, third.printed, home)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("01M7ENKXSQN27K8P92THXMV5N1", "01M7ENZ3Q9VAVX385WN8B8B49M"),
        ("at http://127.0.0.1:8787", "at http://127.0.0.1:43509"),
        ("2026-11-15 03:57  [travel]", "2031-01-02 23:59  [travel]"),
        ("root " + "0a" * 32, "root " + "ff" * 32),
        ('{"id":"x",...}', '{"id":"x","more":1}'),
        ("made: /home/you/.souvenance", "made: /tmp/home/.souvenance"),
    ],
)
def test_what_differs_from_run_to_run_is_matched_by_its_shape_alone(shown, printed):
    home = Path("/tmp/home")
    assert matches(shown, printed, home)
    assert not matches(shown, printed + "!", home)
    assert not matches(shown, "", home)


def test_a_command_may_be_carried_on_over_several_lines(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo a \\\n  b\na b\n\nc\n```\n")
    assert examples(page) == [Example("echo a \\\n  b", "a b\n\nc")]


def test_make_serve_is_souvenance_serve():
    recipe = re.search(r"^serve: .*\n\t@?(.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert recipe[1] == "$(BIN)/souvenance serve"
