import json
import re
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from examples import ROOT
from hypothesis import given
from hypothesis import strategies as st
from reference_pages import MADE, REFERENCE, every_command, every_error, renewed

from environments import client_program
from souvenance import Memory
from souvenance.domain import capability
from souvenance.domain.encoding import frame, unb64
from souvenance.gate import gate
from souvenance.gate.operations import EVERY
from souvenance.settings import VARIABLES
from souvenance.surfaces.http.chat.door import PATHS as CHAT_PATHS
from souvenance.surfaces.http.honcho.routes import HONCHO_ROUTES
from souvenance.surfaces.http.routes import ROUTES
from surfaces.declared import OPERATIONS

PAGES = sorted(REFERENCE.glob("*.md"))
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
HELP = dict(every_command())
COMMANDS = set(HELP)
OPTIONS = set(re.findall(r"--[a-z][a-z-]+", " ".join(HELP.values())))
OPTIONS |= {"--embedder", "--only", "--systems"}  # Of bench/recall.py.
OPTIONS |= {"--conversations", "--questions"}  # Of bench/rivals.py.
OPTIONS |= {"--others", "--owners"}  # Of bench/scale.py.
SDK = client_program("honcho-2.7.0").parents[1] / "lib"
SOURCES = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".sql")]
SOURCES += SDK.glob("python*/site-packages/honcho/**/*.py")
WORDS = {word for path in SOURCES for word in re.findall(r"\w+", path.read_text("utf-8").lower())}
WORDS |= {kind.code for kind in every_error()}


def text(name):
    return (REFERENCE / name).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_says_what_the_code_does(page):
    told = page.read_text("utf-8")
    assert told == renewed(told), "run: python tests/docs/reference_pages.py"


def test_every_part_that_is_made_from_the_code_stands_in_one_page():
    found = [name for page in PAGES for name in re.findall(r"<!-- made: (\w+) -->", page.read_text("utf-8"))]
    assert sorted(found) == sorted(MADE)


def test_every_command_error_setting_route_and_operation_is_in_its_page():
    assert {f"### {name}" for name in COMMANDS} <= set(text("cli.md").splitlines())
    assert all(f"| `{kind.code}` |" in text("errors.md") for kind in every_error())
    assert all(f"| `{name}` |" in text("settings.md") for name in VARIABLES)
    assert all(f"### {route.method} {route.path}\n" in text("http.md") for route in ROUTES)
    assert all(f"| `{operation.name}` |" in text("cap.md") for operation in EVERY)
    assert all(f"### {route.method} {route.path}\n" in text("honcho.md") for route in HONCHO_ROUTES)
    assert all(f"Operation `{operation.name}`, " in text("honcho.md") for operation in OPERATIONS)


OPTIONS_OF_OTHERS = {"--hypothesis-profile", "--no-deps", "--scope", "--transport"}
"""Of pip, pytest, and the clients whose setup is shown."""
OPTIONS_OF_OTHERS |= {
    "--cap-drop",
    "--detach",
    "--env",
    "--interactive",
    "--name",
    "--publish",
    "--read-only",
    "--rm",
    "--tmpfs",
    "--volume",
}
OPTIONS_OF_OTHERS |= {"--from-file", "--profile", "--reuse-values", "--set"}
OPTIONS_OF_OTHERS |= {"--home-dir", "--now", "--shell", "--system", "--unit", "--user"}
"""Of Docker, of Compose, kubectl and Helm, and of systemd and who makes users."""
AUTHLIBS = {"insecure_transport", "invalid_client", "invalid_scope"}
"""What the library of the sign-in answers by itself."""
PROCESS_METRICS = {"process_cpu_seconds_total", "process_resident_memory_bytes"}
"""What the library of the metrics adds: telemetry/test_dashboard.py asks for them."""


@pytest.mark.parametrize("command", ["souvenance", "souvenance cap mint", "souvenance demo"])
def test_the_help_in_the_page_is_what_the_program_prints(command):
    printed = subprocess.run(
        [sys.executable, "-m", *command.split(), "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert f"### {command}\n\n```text\n{printed.strip()}\n```\n" in text("cli.md")


class TestNothingIsNamedThatDoesNotExist:
    def test_settings(self):
        assert on_pages(lambda text: set(re.findall(r"\bSOUVENANCE_\w*[A-Z]", text)) - set(VARIABLES)) == {}

    def test_paths(self):
        known = {route.path for route in (*ROUTES, *HONCHO_ROUTES)}.union(CHAT_PATHS)

        def strange(text):
            ours = re.sub(r"<https://[^>]*>", "", text)
            told = re.sub(r"/v3/workspaces/(?:my-app|default)\b", "/v3/workspaces/{workspace_id}", ours)
            return set(re.findall(r"/v[13]/[\w/{}]*\w}?", told)) - known

        assert on_pages(strange) == {}

    def test_operations(self):
        methods = {f"memory.{name}" for name in dir(Memory)}
        known = {operation.name for operation in (*EVERY, *OPERATIONS)} | methods
        named = re.compile(r"\b(?:memory|caps|audit|keys|doctor)\.(?!md\b|json\b)[a-z]+\b")
        assert on_pages(lambda text: set(named.findall(text)) - known) == {}

    def test_commands(self):
        command = re.compile(r"(?:`|\$ |\$\()souvenance ([^`\n|>)]*)")
        assert on_pages(lambda text: [one for one in command.findall(text) if not _known_command(one)]) == {}

    def test_options(self):
        known = OPTIONS | OPTIONS_OF_OTHERS
        assert on_pages(lambda text: set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - known) == {}

    def test_names_in_code(self):
        known = AUTHLIBS | PROCESS_METRICS | WORDS
        assert on_pages(lambda text: set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text)) - known) == {}


def on_pages(found):
    """What is found, by the page; pages without any are left out."""
    told = {str(page.relative_to(ROOT)): found(page.read_text("utf-8")) for page in DOCUMENTS}
    return {page: names for page, names in told.items() if names}


def _known_command(words):
    """Whether the first words name a command, whatever options stand before it."""
    path = "souvenance"
    for word in re.sub(
        r"--(?:home|config|url|cap|holder-key|workspace) (?:\"[^\"]*\"|\S+)|--json", "", words
    ).split():
        if f"{path} {word}" not in COMMANDS:
            break
        path = f"{path} {word}"
    return path not in (
        "souvenance",
        "souvenance cap",
        "souvenance key",
        "souvenance audit",
    ) or words.startswith("--version")


def test_the_gate_in_the_architecture_page_is_the_gate():
    order = re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", gate.__doc__)
    page = (ROOT / "docs/explanation/architecture.md").read_text("utf-8")
    table = page[page.index("| step |") : page.index("Steps 1 to 3")]
    assert re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", table) == order


def test_the_example_cap_verifies_and_says_what_the_page_decodes():
    page = text("cap.md")
    token = "".join(re.search(r"```text cap\n(.*?)```", page, re.S)[1].split())
    public = Ed25519PublicKey.from_public_bytes(unb64(re.search(r"^`([\w-]{43})`", page, re.M)[1]))
    kid = capability.HolderKey.of(public).thumbprint()
    chain = capability.authenticate(token, keys={kid: public}, audience="urn:souvenance:0011223344556677")
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.S)]
    said = [json.loads(unb64(block.split(".")[1])) for block in token.split("~")[:-1]]
    assert said == shown
    assert len(chain.blocks) == 2
    assert not chain.bound


def packed(value):
    """MessagePack as the format page spells it out, and nothing else of it."""
    match value:
        case None:
            return b"\xc0"
        case bytes():
            return _headed(len(value), None, b"\xc4\xc5\xc6") + value
        case str():
            raw = value.encode()
            return _headed(len(raw), (0xA0, 32), b"\xd9\xda\xdb") + raw
        case list() | tuple():
            return _headed(len(value), (0x90, 16), b"\0\xdc\xdd") + b"".join(packed(item) for item in value)
        case int() if value >= 0:
            return _number(value, range(128), b"\xcc\xcd\xce\xcf", signed=False)
        case int():
            return _number(value, range(-32, 0), b"\xd0\xd1\xd2\xd3", signed=True)


def _headed(length, short, heads):
    if short and length < short[1]:
        return bytes([short[0] + length])
    sizes = [(head, size) for head, size in zip(heads, (1, 2, 4), strict=True) if head]
    return next(
        bytes([head]) + length.to_bytes(size, "big") for head, size in sizes if length < 1 << 8 * size
    )


def _number(value, short, heads, *, signed):
    if value in short:
        return bytes([value % 0x100])
    for head, size in zip(heads, (1, 2, 4, 8), strict=True):
        bits = 8 * size - (1 if signed else 0)
        if -(1 << bits) <= value < 1 << bits:
            return bytes([head]) + value.to_bytes(size, "big", signed=signed)
    raise AssertionError(value)


fields = st.one_of(
    st.none(),
    st.binary(max_size=300),
    st.text(max_size=40),
    st.integers(-(1 << 63), (1 << 64) - 1),
    st.lists(st.text(max_size=5), max_size=20),
    st.sampled_from([0, 127, 128, 255, 256, 65535, 65536, 1 << 32, -1, -32, -33, -128, -129]),
    st.sampled_from(["é" * 16, "x" * 70000]),
)


@given(st.lists(fields, max_size=18))
def test_the_framing_rules_of_the_format_page_are_those_of_the_code(given_fields):
    assert frame(*given_fields) == packed(given_fields)


def test_the_framing_example_of_the_format_page_is_right():
    page = " ".join(text("format.md").split())
    shown = re.search(r'`frame\("a", absent, 300, \["b"\]\)` is `([0-9a-f ]+)`', page)[1]
    assert bytes.fromhex(shown) == frame("a", None, 300, ["b"])
