import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ports import vacant_port
from surfaces.door import environment, souvenance

pytestmark = pytest.mark.long

A_LINE_ID = "01JD7Y8Q2W3E4R5T6Y7V8J9K0M"
MINT = ("cap", "mint", "--sub", "a", "--ops", "get", "--namespaces", "travel")

REFUSED = {
    ("put", ""): (3, "invalid_input"),
    ("put", "   "): (3, "invalid_input"),
    ("put", "x", "--id", "not-a-ulid"): (3, "invalid_input"),
    ("put", "x", "--id", A_LINE_ID.lower()): (3, "invalid_input"),
    ("put", "x", "--id", A_LINE_ID): (3, "invalid_input"),
    ("put", "x", "-n", "NO WAY"): (3, "invalid_input"),
    ("put", "x", "--kind", "Kind"): (3, "invalid_input"),
    ("put", "x", "--session", " "): (3, "invalid_input"),
    ("put", "x", "--metadata", "{"): (3, "invalid_input"),
    ("put", "x", "--metadata", "[1]"): (3, "invalid_input"),
    ("put", "x" * 70_000): (8, "line_too_long"),
    ("put", os.fsdecode(b"\xff\xfe")): (3, "invalid_input"),
    ("put", "x", "--metadata", os.fsdecode(b'{"a":"\xff"}')): (3, "invalid_input"),
    ("get", "-n", "NO WAY"): (3, "invalid_input"),
    ("get", "x" * 9000): (3, "invalid_input"),
    ("list", "-n", "NO WAY"): (3, "invalid_input"),
    ("list", "--cursor", "nonsense"): (3, "invalid_input"),
    ("snapshot", "-n", "NO WAY"): (3, "invalid_input"),
    ("line", "not-a-ulid"): (3, "invalid_input"),
    ("line", "../../caps/whoami"): (3, "invalid_input"),
    ("line", f"{A_LINE_ID}?x=1"): (3, "invalid_input"),
    ("line", ""): (3, "invalid_input"),
    ("line", A_LINE_ID): (6, "not_found"),
    ("correct", "not-a-ulid"): (3, "invalid_input"),
    ("correct", A_LINE_ID, "x"): (6, "not_found"),
    ("forget",): (3, "invalid_input"),
    ("forget", "not-a-ulid"): (3, "invalid_input"),
    ("forget", A_LINE_ID): (6, "not_found"),
    ("forget", A_LINE_ID, "-n", "travel"): (3, "invalid_input"),
    ("forget", "-n", "NO WAY"): (3, "invalid_input"),
    (*MINT, "--ops", "fly"): (3, "invalid_input"),
    (*MINT, "--sub", ""): (3, "invalid_input"),
    (*MINT, "--sub", "*"): (3, "invalid_input"),
    (*MINT, "--namespaces", "NO WAY"): (3, "invalid_input"),
    (*MINT, "--data-class", "secrets"): (3, "invalid_input"),
    (*MINT, "--ttl", "0"): (3, "invalid_input"),
    (*MINT, "--ttl", "99999999w"): (3, "invalid_input"),
    (*MINT, "--cnf", "not-a-key"): (3, "invalid_input"),
    ("cap", "revoke"): (3, "invalid_input"),
    ("cap", "revoke", "--jti", ""): (3, "invalid_input"),
    ("cap", "revoke", "--jti", "a", "--sub", "b"): (3, "invalid_input"),
    ("cap", "revoke", "junk"): (4, "cap_malformed"),
    ("audit", "proof"): (3, "invalid_input"),
    ("audit", "proof", "999999"): (3, "invalid_input"),
    ("audit", "proof", "0", "--old", "0"): (3, "invalid_input"),
    ("get", "--cap", "junk"): (4, "cap_malformed"),
    ("get", "--cap", "@/no/such/file"): (3, "invalid_input"),
    ("get", "--workspace", " padded "): (3, "invalid_input"),
}
MISUSED = [
    (),
    ("fly",),
    ("config",),
    ("put",),
    ("get", "--fly"),
    ("get", "-k", "21"),
    ("get", "-k", "x"),
    ("get", "--since", "someday"),
    ("put", "x", "--occurred-at", "2026-13-01"),
    (*MINT, "--ttl", "soon"),
    ("cap", "mint"),
    ("audit", "verify", "--rows", "/no/such/file"),
    ("serve", "--port", "70000"),
    ("completion", "tcsh"),
]


def told(command):
    return (
        " ".join(part if len(part) < 40 else f"{part[:8]}..." for part in command)
        .encode("ascii", "backslashreplace")
        .decode()
    )


@pytest.mark.parametrize("asked", REFUSED, ids=told)
def test_bad_input_is_refused_alike_here_and_over_the_network(command, asked):
    exit_code, code = REFUSED[asked]
    refused = command(*asked, exit_code=exit_code)
    assert refused.out == ""
    complaint, *hint = refused.err.splitlines()
    assert re.match(rf"{code}: \S", complaint)
    assert all(line.startswith("  ") for line in hint)
    assert hint or code == "not_found"


@pytest.mark.parametrize("asked", [("put", ""), ("line", A_LINE_ID), ("get", "--cap", "junk")])
@pytest.mark.parametrize("before", [True, False])
def test_with_json_a_refusal_is_json_on_standard_error(command, asked, before):
    exit_code, code = REFUSED[asked]
    asked = ("--json", *asked) if before else (*asked, "--json")
    refused = command(*asked, exit_code=exit_code)
    assert refused.out == ""
    assert set(refused.complaint()) == {"error", "detail", "hint"}
    assert refused.complaint()["error"] == code


@pytest.mark.parametrize("asked", MISUSED, ids=told)
def test_wrong_usage_ends_with_2_and_says_how_to_get_help(tmp_path, asked):
    misused = souvenance(*asked, home=tmp_path / "home", exit_code=2)
    assert misused.out == ""
    assert misused.err.startswith("Usage: souvenance")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("asked", [("--json", "get", "--since", "someday"), ("get", "--fly", "--json")])
def test_with_json_wrong_usage_is_json_too(tmp_path, asked):
    misused = souvenance(*asked, home=tmp_path / "home", exit_code=2)
    assert misused.out == ""
    assert set(misused.complaint()) == {"error", "detail", "hint"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SOUVENANCE_HOEM", "x"),
        ("SOUVENANCE_QQQQQ", "x"),
        ("SOUVENANCE_BODY_BYTES", "many"),
        ("SOUVENANCE_BODY_BYTES", "0"),
        ("SOUVENANCE_LINE_BYTES", "-1"),
        ("SOUVENANCE_INDEX_MB", "0"),
        ("SOUVENANCE_REQUESTS_PER_MINUTE", "1.5"),
    ],
)
def test_an_unknown_or_wrong_setting_is_named(tmp_path, name, value):
    refused = souvenance("status", home=tmp_path / "home", settings={name: value}, exit_code=11)
    assert refused.err.startswith(f"misconfigured: {name} ")
    assert not (tmp_path / "home").exists()


def test_an_empty_cap_is_a_missing_cap_and_not_the_owners(command):
    refused = command("get", "--cap", "", exit_code=4)
    assert refused.err.startswith("cap_missing: ")


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"junk"])
def test_a_cap_file_that_holds_no_cap_is_a_clear_error(command, tmp_path, content):
    file = tmp_path / "a.cap"
    file.write_bytes(content)
    refused = command("get", "--cap", f"@{file}", exit_code=None)
    assert refused.exit_code in (3, 4)
    assert re.match(r"(cap_missing|cap_malformed|invalid_input): ", refused.err)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"AAAA", b"not a key"])
def test_a_holder_key_file_that_holds_no_key_is_a_clear_error(command, tmp_path, content):
    file = tmp_path / "holder.key"
    file.write_bytes(content)
    bound = command(*MINT, "--cnf", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").out.strip()
    refused = command("get", "--cap", bound, "--holder-key", str(file), exit_code=3)
    assert refused.err.startswith("invalid_input: ")


def test_standard_input_that_is_not_text_is_a_clear_error(command):
    refused = command("put", "-", stdin=b"\xff\xfe\x00", exit_code=3)
    assert refused.err.startswith("invalid_input: ")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "127.0.0.1:1",
        "ftp://127.0.0.1",
        "http://[",
        "nonsense",
    ],
)
def test_a_server_that_is_not_there_is_a_clear_error(tmp_path, url):
    home = tmp_path / "home"
    souvenance("init", home=home)
    with vacant_port() as port:
        refused = souvenance("get", home=home, url=url.format(port=port), exit_code=9)
    assert refused.out == ""
    assert refused.err.startswith("server_unreachable: ")
    assert "souvenance serve" in refused.err


class NotSouvenance(BaseHTTPRequestHandler):
    """A server of another kind on the port that Souvenance was expected on."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *args):
        pass


@pytest.mark.parametrize("status", [200, 201, 302, 404, 500])
@pytest.mark.parametrize("body", [b"<html>hello</html>", b"", b"[]", b'{"lines": 5}', b"\xff"])
def test_a_server_that_is_not_souvenance_is_a_clear_error(tmp_path_factory, status, body):
    home = tmp_path_factory.getbasetemp() / "beside-another-server"
    if not home.exists():
        souvenance("init", home=home)
    with HTTPServer(("127.0.0.1", 0), NotSouvenance) as other:
        other.status, other.body = status, body
        thread = threading.Thread(target=other.handle_request)
        thread.start()
        refused = souvenance("get", home=home, url=f"http://127.0.0.1:{other.server_port}", exit_code=9)
        thread.join()
    assert refused.err.startswith("server_unreachable: ")


def test_a_reader_that_goes_away_is_no_error_of_ours(command):
    """As in: souvenance audit list | head -1."""
    reading, writing = os.pipe()
    os.close(reading)
    settings = {
        "SOUVENANCE_HOME": str(command.keywords["home"]),
        "SOUVENANCE_URL": command.keywords.get("url", ""),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "souvenance", "audit", "list"],
        env=environment(**settings),
        stdout=writing,
        stderr=subprocess.PIPE,
    )
    os.close(writing)
    assert ended.stderr == b""
    assert ended.returncode in (0, 141)


def test_the_command_line_closes_what_it_opens(command):
    settings = {
        "SOUVENANCE_HOME": str(command.keywords["home"]),
        "SOUVENANCE_URL": command.keywords.get("url", ""),
    }
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-m", "souvenance", "get"],
        env=environment(**settings),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0
    assert ended.stderr == ""


def test_a_missing_root_key_is_a_clear_error_and_makes_no_new_one(tmp_path):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    (home / "root.key").unlink()
    refused = souvenance("get", home=home, exit_code=11)
    assert refused.err.startswith("misconfigured: ")
    assert "root.key" in refused.err
    assert not (home / "root.key").exists()


@pytest.mark.parametrize("file", ["root.key", "signing.key"])
def test_a_damaged_key_file_is_a_clear_error(tmp_path, file):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    for content in (b"", b"{}", b"[]", b"\xff", b'{"current": "x", "keys": {"x": 5}}'):
        (home / file).write_bytes(content)
        refused = souvenance("get", home=home, exit_code=11)
        assert refused.err.startswith("misconfigured: ")
        assert file in refused.err


@pytest.mark.parametrize("file", ["root.key", "signing.key", "owner.cap"])
def test_a_secret_that_others_can_read_is_refused(tmp_path, file):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    (home / file).chmod(0o644)
    refused = souvenance("get", home=home, exit_code=11)
    assert refused.err.startswith("misconfigured: ")
    assert "chmod 600" in refused.err


@pytest.mark.embedded("it damages the file")
def test_a_file_that_is_no_database_is_a_clear_error(tmp_path):
    home = tmp_path / "home"
    souvenance("put", "hello", home=home)
    (home / "souvenance.db").write_bytes(b"this is not a database at all, and long enough to look at" * 20)
    refused = souvenance("get", home=home, exit_code=10)
    assert refused.err.startswith("integrity_error: ")


WITHOUT = """
import sys
from importlib.machinery import PathFinder

missing = sys.argv.pop(1)

class Missing:
    def find_spec(name, path=None, target=None):
        return None if name == missing else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Missing if finder is PathFinder else finder for finder in sys.meta_path]
from souvenance.commands import main
main()
"""


def run_without(module, home, *command):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, module, *command],
        env=environment(SOUVENANCE_HOME=str(home), HERMES_HOME=str(home)),
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("command", [("serve", "--port", "0"), ("work", "--port", "0")])
def test_where_nothing_can_serve_it_is_said_what_to_install(tmp_path, command):
    refused = run_without("starlette", tmp_path / "home", *command)
    assert refused.returncode == 11
    assert refused.stderr.startswith("misconfigured: the HTTP server is not installed")
    assert "pip install 'souvenance[serve]'" in refused.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("get", "--url", "http://127.0.0.1:1", "--cap", "x"),
        ("--json", "status", "--url", "http://127.0.0.1:1", "--cap", "x"),
        ("import", "http://127.0.0.1:1"),
        ("login", "--device", "--url", "http://127.0.0.1:1"),
    ],
    ids=" ".join,
)
def test_without_httpx_it_is_said_what_to_install(tmp_path, command):
    (tmp_path / "home").mkdir(mode=0o700)
    refused = run_without("httpx", tmp_path / "home", *command)
    assert refused.returncode == 11
    assert "httpx" in refused.stderr
    assert "pip install 'souvenance[client]'" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("name", "meant"),
    [("SOUVENANCE_OBJEKTS", "SOUVENANCE_OBJECTS"), ("SOUVENANCE_STROE", "SOUVENANCE_STORE")],
)
def test_a_misspelled_setting_is_answered_with_the_one_that_was_meant(tmp_path, name, meant):
    refused = souvenance("status", home=tmp_path / "home", settings={name: "x"}, exit_code=11)
    assert refused.err == f"misconfigured: {name} is not a setting\n  Did you mean {meant}?\n"


@pytest.mark.parametrize("asked", [("line",), ("correct",), ("forget",), ("put", "x", "--id")], ids=" ".join)
def test_what_is_no_id_is_named_with_what_ids_look_like(command, asked):
    refused = command(*asked, "nonsense", exit_code=3)
    assert refused.err == (
        'invalid_input: "nonsense" is not a line id\n'
        "  Ids look like 01M7ENKXSQN27K8P92THXMV5N1; 'souvenance list' shows them.\n"
    )
