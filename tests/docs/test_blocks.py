"""Every block of every page is run, is data that can be read, or stands here with why it is not run."""

import json
import re
import tomllib
from fnmatch import fnmatch

import pytest
import yaml
from examples import ROOT, RUN, blocks, documents, pages
from test_pages import functions

DATA = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
SHOWN = ("text", "")
"""What is printed, and how something is laid out."""
PROGRAM = re.compile(
    r"^(?:\$ |(?:age-keygen|bash|claude|cp|curl|docker|export|git|helm|hermes|kubectl|make|mkdir|node|npm|pip"
    r"|psql|python3?|sha256sum|souvenance|ssh-keygen|sudo|systemctl|useradd) )",
    re.M,
)
"""A line of a command: a block of text that has one is a program."""

FIRST = "docs/test_first_recall.py::test_the_path_leads_from_an_empty_folder_to_a_recalled_memory"
FRAMEWORK = "test_the_program_of_the_page_recalls_in_a_minute_of_the_processor_what_it_stored"
TYPESCRIPT = "typescript_client/test_typescript_client.py::test_an_example_prints_what_its_comments_say"
HELM = "deploy/test_manifests.py::test_helm_takes_what_the_page_sets_when_it_installs_and_when_it_grows"
SECRETS = "deploy/test_manifests.py::test_the_page_makes_the_secrets_that_compose_mounts"
REGISTRY = "It needs a registry of npm. `make first-recall` runs it."
INSTALLED = "The package is installed already: docs/test_installing.py installs it."
CONTAINERS = "There is no container engine. deploy/test_image.py runs the steps of the image."
CLUSTER = "There is no cluster."
AGENT = "integrations/test_frameworks.py::test_the_agent_of_the_page_asks_memory_and_is_told"
BROWSER = "A person signs in with a browser: tests/oauth and tests/hermes do that."

ELSEWHERE = {
    "clients/typescript/README.md": {"ts": [TYPESCRIPT]},
    "docs/howto/backup.md": {
        "sh": ["The database is the reader's. postgres/test_pgvector_moves.py moves a store into one."]
    },
    "docs/howto/choose-an-embedder.md": {
        "sh": [
            INSTALLED,
            "The model is fetched by hand. tests/adapters reads small ones of its own.",
            "The model is fetched by hand. tests/adapters reads small ones of its own.",
            "It sets variables for an endpoint of the reader's.",
        ]
    },
    "docs/howto/export.md": {"sh": ["age-keygen is not installed. tests/portable makes keys and uses them."]},
    "docs/howto/import.md": {"sh": ["MemPalace is not installed. The page says what was tried by hand."]},
    "docs/howto/install.md": {
        "sh": ["docs/test_installing.py::test_what_the_page_says_installs_a_package_that_works"] * 2
    },
    "docs/howto/objects.md": {"sh": ["It shows three values of a setting, for buckets of the reader's."]},
    "docs/howto/postgresql.md": {
        "sh": [
            "postgres/test_postgres_served.py"
            "::test_the_commands_of_the_page_make_a_memory_in_a_database_of_its_own"
        ],
        "sql": ["Citus is not installed."],
    },
    "docs/howto/remember-in-any-openai-client.md": {
        "js": ["chat/test_page.py::test_the_program_for_vercel_s_sdk_speaks_and_is_remembered"],
        "py": ["chat/test_page.py::test_the_program_of_the_page_speaks_and_is_remembered"],
    },
    "docs/howto/remember-in-hermes.md": {
        "sh": [
            INSTALLED,
            "The dashboard stays open. hermes/test_dashboard.py asks what it asks.",
            "The page has nothing to carry. hermes/test_taking_memory_along.py carries.",
        ],
        "text": ["It needs a conversation with a model. hermes/test_commands.py runs the commands."],
    },
    "docs/howto/run-as-a-service.md": {
        "sh": [
            "surfaces/test_cli_service.py::test_it_is_installed_seen_and_removed",
            "It changes the machine, as root. deploy/test_manifests.py verifies the unit.",
        ]
    },
    "docs/howto/run-in-containers.md": {"sh": [*[CONTAINERS] * 4, SECRETS, SECRETS, HELM, HELM, CLUSTER]},
    "docs/howto/sign-in.md": {"text": [BROWSER, BROWSER]},
    "docs/howto/use-from-typescript.md": {"sh": [REGISTRY], "ts": [TYPESCRIPT] * 6},
    "docs/howto/use-with-frameworks.md": {
        "py": [AGENT] * 2,
        "python": [f"integrations/test_frameworks.py::{FRAMEWORK}"] * 7,
    },
    "docs/reference/support.md": {
        "sh": ["deploy/test_release.py::test_a_release_is_signed_and_the_same_again_and_nothing_is_published"]
    },
    "docs/tutorial/start-here.md": {
        "console": [FIRST] * 8,
        "js": [FIRST] * 3,
        "python": [FIRST] * 4,
        "sh": [REGISTRY] * 3,
    },
}
"""The programs that the test of the examples does not run, by page and kind, in their order: a test that runs
them, or why none does."""


def is_program(kind, body):
    return kind not in DATA and (kind not in SHOWN or PROGRAM.search(body) is not None)


@pytest.mark.parametrize("page", documents(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_program_of_the_page_is_run_or_says_why_not(page):
    left = [
        kind
        for kind, body in blocks(page)
        if is_program(kind, body) and not (kind in RUN and page in pages())
    ]
    listed = ELSEWHERE.get(str(page.relative_to(ROOT)), {})
    assert {kind: left.count(kind) for kind in left} == {kind: len(told) for kind, told in listed.items()}


@pytest.mark.parametrize("page", documents(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_the_page_is_closed_and_its_data_can_be_read(page):
    assert len(re.findall(r"^ *```", page.read_text("utf-8"), re.M)) == 2 * len(blocks(page))
    for kind, body in blocks(page):
        if kind in DATA:
            assert DATA[kind](body)


@pytest.mark.parametrize("page", documents(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_program_that_is_only_indented_is_one_of_make(page):
    """A block without a fence is run by nobody."""
    prose = re.sub(r"^( *)```.*?^\1```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    indented = [line for line in re.findall(r"^    (\S.*)$", prose, re.M) if PROGRAM.search(line)]
    targets = re.findall(r"^([\w%.-]+)(?: [\w %.-]+)?:", (ROOT / "Makefile").read_text("utf-8"), re.M)
    for line in indented:
        made = re.match(r"make ([\w.-]+)", line)
        assert made and any(fnmatch(made[1], one.replace("%", "*")) for one in targets), line


def test_every_test_that_is_named_exists_and_every_folder_and_file_too():
    for told in {one for kinds in ELSEWHERE.values() for several in kinds.values() for one in several}:
        path, _, name = told.partition("::")
        if name:
            assert name in functions(ROOT / "tests" / path), told
        for place in re.findall(r"\b(?:tests/)?([a-z]+/test_\w+\.py)|\btests/([a-z]+)", told):
            assert (ROOT / "tests" / "".join(place)).exists(), told


def test_a_program_is_told_from_what_is_printed():
    assert is_program("sh", "") and is_program("elixir", "")
    assert is_program("text", "$ ls\n") and is_program("text", "made\npip install .\n")
    assert not is_program("text", "souvenance-0.1.0.tar.gz\n") and not is_program("json", "{}")
