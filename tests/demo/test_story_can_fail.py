"""A story that can't fail shows nothing. Here Souvenance is broken under it, and it must see that."""

import json
import re
import socket
import subprocess

import pytest

from story import (
    ALLERGY,
    STEPS,
    TRIP,
    CheckFailed,
    DemoStep,
    Ran,
    Response,
    Stage,
    answered,
    complained,
    play,
    printed,
    refused,
    same,
    summary,
)

SABOTAGE = """
from souvenance.adapters.sql.sqlite import SqliteEngine
from souvenance.domain import audit, capability, policy, seal
from souvenance.gate import gate
from souvenance.surfaces.cli import audit as audit_commands

policy._namespaces = lambda grant, reach: frozenset(reach.namespaces or grant.namespaces)
gate.check_need = lambda grant, need: None
capability.narrows = lambda child, parent: True
capability.Revocations.covers = lambda self, chain: False
seal.seal = lambda line, *, key, epoch, nonce: line.text.encode()
seal.open_sealed = lambda line, *, key: line.sealed.decode()
audit_commands.verify = lambda workspace, rows, saved=None: audit.Checkpoint(workspace, 1, b"")
SqliteEngine.reclaim = lambda self: True
"""
BLIND_TO = {"sealed", "denied", "class", "attenuate", "forge", "revoke", "audit", "tamper", "forget"}


def outcomes(output: str) -> dict[str, str]:
    return {line.split()[1]: line.split()[0] for line in output.splitlines()[:-1]}


def test_each_step_that_expects_a_refusal_a_proof_or_an_absence_fails_on_a_souvenance_without_it(
    run_quick_story, tmp_path
):
    (tmp_path / "sitecustomize.py").write_text(SABOTAGE)
    ended = run_quick_story(PYTHONPATH=str(tmp_path))
    expected = {step.id: "FAIL" if step.id in BLIND_TO else "ok" for step in STEPS}
    assert outcomes(ended.stdout) == expected, ended.stdout
    assert ended.stdout.splitlines()[-1] == "5 ok, 0 skipped, 9 failed"
    assert ended.exit_code == 1


def test_where_nothing_can_serve_the_story_says_what_to_install_and_skips_the_rest(run_story, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['uvicorn'] = None\n")
    ended = run_story(PYTHONPATH=str(tmp_path))
    assert set(outcomes(ended.stdout).values()) == {"skip"}, ended.stdout
    assert "pip install 'souvenance[serve]'" in ended.stdout.splitlines()[0]
    assert ended.returncode == 1


def test_a_memory_that_recalls_nothing_fails_in_json_too_and_a_kept_folder_is_told(
    run_quick_story, tmp_path, temporary
):
    (tmp_path / "sitecustomize.py").write_text(
        "from souvenance.core.recall import RecallQuery\nRecallQuery.lines = lambda asked: []\n"
    )
    ended = run_quick_story("--json", "--keep", PYTHONPATH=str(tmp_path))
    told = json.loads(ended.stdout)
    by_outcome = {
        outcome: [step["id"] for step in told["steps"] if step["outcome"] == outcome]
        for outcome in ("ok", "skip", "FAIL")
    }
    assert by_outcome == {
        "ok": ["serve", "learn", "pin", "sealed", "class", "audit", "tamper"],
        "skip": ["denied", "attenuate", "forge", "revoke"],
        "FAIL": ["recall", "narrow", "forget"],
    }
    assert (told["ok"], told["skipped"], told["failed"]) == (7, 4, 3)
    assert all(step["seen"] for step in told["steps"])
    assert ended.exit_code == 1
    assert [str(folder) for folder in temporary.iterdir()] == [told["folder"]]
    kept = [path.read_bytes() for path in temporary.rglob("*") if path.is_file()]
    assert len(kept) > 4
    assert not any(said.encode() in content for said in (TRIP, ALLERGY) for content in kept)


def test_without_a_server_the_other_steps_are_skipped_and_the_story_fails(run_story, tmp_path, temporary):
    (tmp_path / "uvicorn.py").write_text("raise ImportError('no server today')\n")
    ended = run_story(PYTHONPATH=str(tmp_path))
    first, *others, closing = ended.stdout.splitlines()
    assert re.fullmatch(r"FAIL serve +the server did not start: .*no server today Run: pip install .*", first)
    assert [line.split()[0] for line in others] == ["skip"] * (len(STEPS) - 1)
    assert closing == f"0 ok, {len(STEPS) - 1} skipped, 1 failed"
    assert ended.returncode == 1
    assert list(temporary.iterdir()) == []


def refusal(code: str) -> bytes:
    return b'{"error":"%s","detail":"no","hint":""}' % code.encode()


def captured(status: int, body: bytes) -> Response:
    return Response(status, (("content-type", "application/json"),), body)


@pytest.mark.parametrize(
    "response",
    [
        captured(403, refusal("cap_op_mismatch")),
        captured(401, refusal("namespace_denied")),
        captured(403, b'{"detail":"namespace_denied"}'),
        captured(403, b"namespace_denied"),
        captured(200, b'{"lines":[]}'),
        captured(500, refusal("internal_error")),
    ],
)
def test_any_other_answer_than_the_canonical_refusal_is_a_failure(response):
    assert refused(captured(403, refusal("namespace_denied")), status=403, code="namespace_denied")
    with pytest.raises(CheckFailed, match="wanted 403 namespace_denied"):
        refused(response, status=403, code="namespace_denied")


@pytest.mark.parametrize(
    "ran",
    [
        Ran(0, "{}", ""),
        Ran(5, "", refusal("namespace_denied").decode()),
        Ran(4, "", refusal("cap_scope_mismatch").decode()),
        Ran(5, refusal("cap_scope_mismatch").decode(), ""),
        Ran(1, "", "Traceback: cap_scope_mismatch"),
    ],
)
def test_a_command_that_ends_in_any_other_way_is_a_failure(ran):
    told = Ran(5, "", refusal("cap_scope_mismatch").decode())
    assert complained(told, exit_code=5, code="cap_scope_mismatch")
    with pytest.raises(CheckFailed):
        complained(ran, exit_code=5, code="cap_scope_mismatch")


def test_answers_that_differ_in_one_byte_or_header_are_not_the_same():
    one = captured(403, refusal("namespace_denied"))
    same(one, captured(403, refusal("namespace_denied")))
    with pytest.raises(CheckFailed):
        same(one, captured(403, refusal("namespace_denied") + b" "))
    with pytest.raises(CheckFailed):
        same(one, one._replace(headers=(*one.headers, ("x-more", "1"))))


def test_a_refusal_where_an_answer_is_due_is_a_failure():
    with pytest.raises(CheckFailed):
        answered(captured(403, refusal("namespace_denied")))
    with pytest.raises(CheckFailed):
        printed(Ran(5, "", "namespace_denied"))


def test_a_wrong_captured_response_makes_the_step_fail_and_counts_as_failed(tmp_path):
    wrong = captured(403, refusal("cap_op_mismatch"))
    steps = [
        DemoStep("negative", lambda stage: refused(wrong, status=403, code="namespace_denied")),
        DemoStep("after", lambda stage: "never", ("negative",)),
        DemoStep("apart", lambda stage: "seen"),
    ]
    results = list(play(steps, Stage(tmp_path)))
    assert [result.outcome for result in results] == ["FAIL", "skip", "ok"]
    assert summary(results) == {"ok": 1, "skipped": 1, "failed": 1}


def test_what_a_step_saw_is_one_line_whatever_it_holds(tmp_path):
    (result,) = play([DemoStep("odd", lambda stage: "a\nb\r\n  c")], Stage(tmp_path))
    assert result.line == "ok   odd        a b c"


def test_a_server_that_never_answers_is_a_failure_and_not_a_wait_without_end(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        stage = Stage(tmp_path, patience=0.05)
        stage.port = silent.getsockname()[1]
        (result,) = play([DemoStep("ask", lambda stage: str(stage.ask("GET", "/health", cap="")))], stage)
    assert (result.outcome, result.seen) == ("FAIL", "timed out")


def test_a_process_that_never_ends_is_a_failure_and_not_a_wait_without_end(tmp_path):
    stage = Stage(tmp_path, patience=0.001)
    with pytest.raises(subprocess.TimeoutExpired):
        stage.souvenance("put", "anything", cap="")
    with stage, pytest.raises(CheckFailed, match="said nothing"):
        stage.serve()
