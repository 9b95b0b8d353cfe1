"""The demo with an unmodified Hermes: it plays, it can fail, and it says why when it can't be played."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from demo_model import a_model
from hermes_demo import STEPS, HermesStage
from story import DemoStep, play


def outcomes(output: str) -> dict[str, str]:
    return {line.split()[1]: line.split()[0] for line in output.splitlines()[:-1]}


def test_with_hermes_as_the_host_every_step_is_ok_and_nothing_is_left(
    run_hermes_demo, quick_hermes, temporary, tmp_path
):
    ended = run_hermes_demo(
        "--environment",
        str(quick_hermes),
        HERMES_HOME=str(tmp_path / "mine"),
        SOUVENANCE_HOME=str(tmp_path / "mine"),
        HONCHO_API_KEY="not-a-key",
        HONCHO_BASE_URL="http://127.0.0.1:9",
        API_SERVER_KEY="not-a-key-either",
        HTTP_PROXY="http://127.0.0.1:9",
    )
    assert outcomes(ended.stdout) == dict.fromkeys((step.id for step in STEPS), "ok"), ended.stdout
    assert ended.stdout.splitlines()[-1] == f"{len(STEPS)} ok, 0 skipped, 0 failed"
    assert (ended.returncode, ended.stderr) == (0, "")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "mine").exists()


class Hasty(HermesStage):
    """A stage that does not wait for a store in which nothing will ever be."""

    def wait_for(self, turns: int) -> None:
        pass


@pytest.fixture
def leaky(tmp_path, quick_hermes):
    """An environment like the real one, but for its Hermes."""
    programs = tmp_path / "leaky" / "bin"
    programs.mkdir(parents=True)
    for name in ("python", "souvenance"):
        (programs / name).write_text(f'#!/bin/sh\nexec "{quick_hermes / "bin" / name}" "$@"\n')
    source = Path(__file__).with_name("leaky_hermes.py").read_text("utf-8")
    (programs / "hermes").write_text(f"#!{sys.executable}\n{source}")
    for program in programs.iterdir():
        program.chmod(0o755)
    return programs.parent


def test_on_a_host_that_keeps_nothing_apart_and_in_no_store_every_step_fails(leaky, tmp_path):
    (tmp_path / "stage").mkdir()
    alone = {step.id: DemoStep(step.id, step.perform) for step in STEPS}
    with a_model() as model:
        stage = Hasty(tmp_path / "stage", leaky, model)
        stage.lines["trip"] = "01M7FCQ5V1JBR8NCFGEAS19HVW"
        steps = [alone[name] for name in ("recall", "tell", "audit", "namespace", "users", "orphans")]
        assert stage.souvenance_on(stage.home, "init").exit_code == 0
        with stage:
            results = list(play(steps, stage))
    assert [result.outcome for result in results] == ["FAIL"] * len(steps), results
    assert {result.id: result.seen.partition(":")[0] for result in results if result.id != "orphans"} == {
        "recall": "the model's request has in its fence",
        "tell": "the log has 0 rows of messages that were put",
        "audit": "no row of the log tells that the line was read",
        "namespace": "a host that may read travel alone was told the allergy",
        "users": "a request that names nobody was told a name",
    }


def test_a_host_that_does_not_even_start_makes_the_demo_fail(run_hermes_demo, leaky):
    (leaky / "bin" / "hermes").write_text("#!/bin/sh\nexit 1\n")
    ended = run_hermes_demo("--environment", str(leaky))
    assert outcomes(ended.stdout) == {
        "install": "ok",
        "tell": "FAIL",
        "recall": "skip",
        "audit": "skip",
        "namespace": "skip",
        "users": "FAIL",
        "orphans": "FAIL",
    }, ended.stdout
    assert ended.returncode == 1


def test_where_hermes_can_not_be_installed_it_says_so_and_skips(run_hermes_demo, temporary):
    ended = run_hermes_demo(PIP_NO_INDEX="1", PIP_CONFIG_FILE="/dev/null")
    first, *others, closing = ended.stdout.splitlines()
    assert re.fullmatch(r"skip +install +hermes-agent==0\.19\.0 could not be installed: .+", first)
    assert [line.split()[0] for line in others] == ["skip"] * (len(STEPS) - 1)
    assert closing == f"0 ok, {len(STEPS)} skipped, 0 failed"
    assert ended.returncode == 1
    assert ended.stderr.startswith("Installing Hermes")
    assert list(temporary.iterdir()) == []


def test_an_environment_with_hermes_but_without_souvenance_is_a_failure(run_hermes_demo, leaky):
    (leaky / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
    shutil.rmtree(leaky / "lib", ignore_errors=True)
    ended = run_hermes_demo("--environment", str(leaky))
    assert outcomes(ended.stdout)["install"] == "FAIL", ended.stdout
    assert ended.returncode == 1
