"""The program that the page on OpenAI's clients shows does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "remember-in-any-openai-client.md"


def test_the_program_of_the_page_speaks_and_is_remembered(stage):
    [program] = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    address = stage.url.removeprefix("http://")
    names = {"cap": stage.mint("ann", ops=("chat", "put", "get"), namespaces_allowed=("default",))}
    exec(program.replace("127.0.0.1:8787", address), names)
    names["client"].close()
    assert stage.texts(2) == [("ann", "I am allergic to plums."), ("assistant", "Noted.")]
