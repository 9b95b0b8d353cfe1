"""Vercel's AI SDK, from npm, pointed at the chat door and changed in nothing else."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from model.stand_in import Says, Sends
from processes import PATIENCE_SECONDS

PROGRAM = Path(__file__).with_name("vercel_ai") / "talk.mjs"
INSTALLED = Path(__file__).resolve().parents[2] / ".environments" / "vercel-ai"
QUERY = "?api-version=2024-10-21"


def test_it_is_told_what_was_said_before_streams_and_embeds(stage, front):
    assert (INSTALLED / ".ready").exists(), "the AI SDK is not set up: run `make clients`"
    stage.say(front, "I am allergic to plums.", user="ann")
    stage.texts(2)
    stage.model.asked.clear()
    vectors = Sends(b'{"data":[{"index":0,"embedding":[0.5,-1]}],"usage":{"prompt_tokens":1}}')
    stage.model.plays("Plums.", Says(pieces=("One, ", "two.")), vectors)
    ran = subprocess.run(
        ["node", PROGRAM, f"{INSTALLED}/", "Am I allergic to plums or to pears?"],
        env={"PATH": os.environ["PATH"], "DOOR": f"{stage.url}/v1", "CAP": front},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert int(told.pop("recalled")) > 0
    assert told == {"text": "Plums.", "pieces": ["One, ", "two."], "embeddings": [[0.5, -1]]}
    chat = f"/v1/chat/completions{QUERY}"
    assert [heard.path for heard in stage.model.asked] == [chat, chat, f"/v1/embeddings{QUERY}"]
    assert "I am allergic to plums." in stage.model.asked[0].text
