import re
from datetime import UTC, datetime

from frames import inside
from souvenance.domain import ulid

ULID = r"[0-7][0-9A-HJKMNP-TV-Z]{25}"
DAY = r"\d{4}-\d{2}-\d{2}"


def fresh_id():
    return ulid.compose(int(datetime.now(UTC).timestamp() * 1000), b"0123456789")


def test_put_prints_just_the_id_and_get_the_line_with_its_day_and_namespace(command, compartment):
    printed = command("put", "Trip to Chengdu, May 25–29", "-n", compartment)
    assert re.fullmatch(ULID, printed.out.strip())
    assert printed.err == ""
    found = command("get", "Chengdu", "-n", compartment)
    assert re.fullmatch(rf"{ULID}  {DAY}  \[{compartment}\]  Trip to Chengdu, May 25–29\n", found.out)


def test_put_and_get_in_json(command, compartment):
    said = command("--json", "put", "Trip to Chengdu", "-n", compartment).json()
    assert said == {"id": said["id"], "namespace": compartment, "duplicate": False}
    [line] = command("--json", "get", "Chengdu", "-n", compartment).json()["lines"]
    assert (line["id"], line["text"], line["matched"]) == (said["id"], "Trip to Chengdu", True)


def test_common_options_may_stand_before_and_after_the_commands_name(command, compartment):
    command("put", "Trip to Chengdu", "-n", compartment)
    before = command("--json", "--workspace", "default", "get", "-n", compartment).json()
    after = command("get", "-n", compartment, "--json", "--workspace", "default").json()
    assert before == after
    assert command("audit", "--json", "checkpoint").json()["workspace"] == "default"
    assert command("--workspace", "elsewhere", "get", "-n", compartment).out == "(nothing)\n"


def test_put_reads_a_dash_from_standard_input_whole(command, compartment):
    text = "first line\nsecond line – ünï 🐼\n"
    line = command("put", "-", "-n", compartment, stdin=text).out.strip()
    assert command("--json", "line", line).json()["text"] == text


def test_put_takes_every_option(command, compartment):
    chosen = fresh_id()
    command(
        *(
            "put",
            "Trip to Chengdu",
            "-n",
            compartment,
            "--id",
            chosen,
            "--kind",
            "note",
            "--session",
            "call-7",
        ),
        *("--metadata", '{"from": "phone"}', "--occurred-at", "2026-05-25"),
    )
    line = command("--json", "line", chosen).json()
    assert (line["kind"], line["session"]) == ("note", "call-7")
    assert line["metadata"] == {"from": "phone"}
    assert line["occurred_at"] == "2026-05-25T00:00:00Z"


def test_a_put_repeated_under_one_id_says_so(command, compartment):
    chosen = fresh_id()
    assert command("put", "likes tea", "-n", compartment, "--id", chosen).out == f"{chosen}\n"
    assert (
        command("put", "likes tea", "-n", compartment, "--id", chosen).out
        == f"{chosen}  (was there already)\n"
    )


def test_get_marks_what_did_not_match_and_says_when_there_is_nothing(command, compartment):
    assert command("get", "-n", compartment).out == "(nothing)\n"
    command("put", "Trip to Chengdu", "-n", compartment)
    assert command("get", "where to?", "-n", compartment).out.endswith(
        "Trip to Chengdu  (newest, not matched)\n"
    )


def test_get_takes_k_and_bounds_of_time(command, compartment):
    for number in range(3):
        command("put", f"walk {number}", "-n", compartment)
    assert len(command("get", "walk", "-n", compartment, "-k", "2").out.splitlines()) == 2
    assert command("get", "walk", "-n", compartment, "--since", "2999-01-01").out == "(nothing)\n"
    assert (
        command("get", "walk", "-n", compartment, "--until", "2020-01-01T00:00:00+02:00").out == "(nothing)\n"
    )


def test_get_takes_the_moment_it_is_asked_at_and_says_why_a_line_came(command, compartment):
    for day in ("04", "11"):
        command(
            "put", f"ran in the park {day}", "-n", compartment, "--occurred-at", f"2026-05-{day}T12:00:00Z"
        )
    asked = ("get", "where did I run last week?", "-n", compartment, "-k", "1", "--explain")
    for at, day in (("2026-05-13", "04"), ("2026-05-20", "11")):
        line, why = command(*asked, "--at", at).out.splitlines()
        assert line.endswith(f"ran in the park {day}")
        assert re.fullmatch(r"    1\. relevance \d+\.\d\d, by words alone: .*", why)
        assert "said_then 0." in why


def test_list_prints_ids_and_texts_page_by_page(command, compartment):
    assert command("list", "-n", compartment).out == "(nothing)\n"
    ids = sorted(command("put", f"walk {number}", "-n", compartment).out.strip() for number in range(3))
    page = command("list", "-n", compartment, "--limit", "2").out.splitlines()
    assert [row.split()[0] for row in page] == [*ids[:2], "more:"]
    assert re.fullmatch(rf"{ULID}  {DAY} \d\d:\d\d  \[{compartment}\]  memory  walk 0", page[0])
    rest = command("list", "-n", compartment, "--cursor", page[2].split()[-1])
    assert [row.split()[0] for row in rest.out.splitlines()] == ids[2:]
    told = command("--json", "list", "-n", compartment).json()["lines"]
    assert [(line["text"], line["trust"]) for line in told] == [(f"walk {n}", "said") for n in range(3)]


def test_a_correction_takes_the_lines_place_and_both_tell_of_each_other(command, compartment):
    old = command("put", "Trip to Chengdu", "-n", compartment).out.strip()
    new, _, of = command("correct", old, "Trip to Xi'an").out.partition("  replaces ")
    assert of.strip() == old
    assert "Xi'an" in command("get", "trip", "-n", compartment).out
    assert "Chengdu" not in command("get", "trip", "-n", compartment).out
    assert command("line", old).out.endswith(f"Trip to Chengdu\nreplaced by {new}\n")
    assert command("line", new).out.endswith(f"Trip to Xi'an\nreplaces {old}\n")
    assert f"{old}  " not in command("list", "-n", compartment).out
    assert f"replaced by {new}" in command("list", "-n", compartment, "--history").out


def test_a_correction_without_a_text_only_withdraws(command, compartment):
    old = command("put", "Trip to Chengdu", "-n", compartment).out.strip()
    told = command("--json", "correct", old).json()
    assert (told["invalidates"], told["duplicate"]) == (old, False)
    assert command("get", "trip", "-n", compartment).out == "(nothing)\n"


def test_snapshot_prints_the_profile(command, compartment):
    command("put", "is called Kai", "-n", compartment, "--kind", "profile")
    assert re.fullmatch(
        rf"{ULID}  {DAY}  \[{compartment}\]  is called Kai\n", command("snapshot", "-n", compartment).out
    )
    told = command("snapshot", "-n", compartment, "--json").json()
    assert set(told) == {"profile", "as_of", "lines"}
    prompt = command("snapshot", "-n", compartment, "--as-prompt").out
    assert prompt.rstrip("\n") == told["profile"]
    assert re.fullmatch(rf"- {DAY} \[{compartment}\] is called Kai", inside(told["profile"]))


def test_forget_says_what_went_and_where_the_receipt_is(command, compartment):
    line = command("put", "Trip to Chengdu", "-n", compartment).out.strip()
    told = command("forget", line, "--yes")
    assert re.fullmatch(
        r"forgot 1 line and 0 keys; bytes (gone|go when no other process holds the store); audit row \d+\n",
        told.out,
    )
    assert command("line", line, exit_code=6).err.startswith("not_found: ")
    command("put", "Trip to Xi'an", "-n", compartment)
    gone = command("--json", "forget", "-n", compartment, "--yes").json()
    assert (gone["lines"], gone["keys"], gone["namespaces"]) == (1, 2, [compartment])
    assert command("get", "-n", compartment).out == "(nothing)\n"


def test_forgetting_an_owner_leaves_others_alone(command, compartment):
    mint = ("cap", "mint", "--ops", "put,get", "--namespaces", compartment, "--sub")
    guest = command(*mint, f"guest-{compartment}").out.strip()
    other = command(*mint, f"other-{compartment}").out.strip()
    for cap in (guest, other):
        command("--cap", cap, "put", "hello", "-n", compartment)
    assert command("--json", "forget", "--owner", f"guest-{compartment}", "--yes").json()["lines"] == 1
    assert command("--cap", guest, "get", "-n", compartment).out == "(nothing)\n"
    assert "hello" in command("--cap", other, "get", "-n", compartment).out


def test_status_says_what_is_stored_for_whom(command, compartment):
    command("put", "hello", "-n", compartment)
    told = command("status").out
    assert "workspace default, owner owner" in told
    assert re.search(rf"  {compartment} +1 line", told)
    assert "  embedder             none: search is by words alone (SOUVENANCE_EMBEDDER=none)" in told
    assert {"namespace": compartment, "lines": 1} in command("--json", "status").json()["namespaces"]


def test_the_cap_may_come_from_the_command_a_file_or_the_environment(command, compartment, tmp_path):
    command("put", "hello", "-n", compartment)
    minted = command("cap", "mint", "--sub", "owner", "--ops", "get", "--namespaces", compartment).out.strip()
    file = tmp_path / "my.cap"
    file.write_text(f"{minted}\n")
    for found in (
        command("--cap", minted, "get"),
        command("get", "--cap", f"@{file}"),
        command("get", settings={"SOUVENANCE_CAP": minted}),
        command("get", settings={"SOUVENANCE_CAP": f"@{file}"}),
    ):
        assert found.out.endswith("hello  (newest, not matched)\n")
    assert command("--cap", minted, "put", "no", exit_code=5).err.startswith("cap_op_mismatch: ")


def test_what_was_only_carried_is_printed_as_a_quotation(command, compartment):
    line = command("put", "The vault is cold", "-n", compartment, "--kind", "document").out.strip()
    assert command("get", "vault", "-n", compartment).out.endswith("Quoted: “The vault is cold”\n")
    assert command("line", line).out.endswith("Quoted: “The vault is cold”\n")
    assert "vault" not in command("snapshot", "-n", compartment).out
    (found,) = command("--json", "get", "vault", "-n", compartment).json()["lines"]
    assert (found["text"], found["trust"]) == ("The vault is cold", "quoted")
