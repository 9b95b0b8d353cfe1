"""The programs that the page on OpenAI's clients shows do what the page says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from chat.test_vercel_ai import INSTALLED
from processes import PATIENCE_SECONDS

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "remember-in-any-openai-client.md"


def shown(kind, stage):
    [program] = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    return program.replace("127.0.0.1:8787", stage.url.removeprefix("http://"))


def of_ann(stage):
    return stage.mint("ann", ops=("chat", "put", "get"), namespaces_allowed=("default",))


def test_the_program_of_the_page_speaks_and_is_remembered(stage):
    names = {"cap": of_ann(stage)}
    exec(shown("py", stage), names)
    names["client"].close()
    assert stage.texts(2) == [("ann", "I am allergic to plums."), ("assistant", "Noted.")]


def test_the_program_for_vercel_s_sdk_speaks_and_is_remembered(stage, tmp_path):
    (tmp_path / "node_modules").symlink_to(INSTALLED / "node_modules")
    (tmp_path / "main.mjs").write_text(f"const cap = process.env.CAP;\n{shown('js', stage)}", "utf-8")
    ran = subprocess.run(
        ["node", tmp_path / "main.mjs"],
        env={"PATH": os.environ["PATH"], "CAP": of_ann(stage)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    assert stage.texts(2) == [("ann", "I am allergic to plums."), ("assistant", "Noted.")]
