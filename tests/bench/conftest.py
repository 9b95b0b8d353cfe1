"""The benchmarks are programs and no package: their folder is where their parts are imported from."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"

if str(BENCH) not in sys.path:
    sys.path.append(str(BENCH))


@pytest.fixture
def datasets(tmp_path):
    """The options that name a LoCoMo and a LongMemEval of one small conversation each."""
    turns = [[f"talk {session} of {turn} things" for turn in range(10)] for session in range(1, 13)]
    turns[4][2] = "My telescope is a Celestron."
    locomo = {
        "id": "1",
        "speakers": ["Ann", "Bob"],
        "sessions": [
            {
                "session": number,
                "date": f"1:00 pm on {number} May, 2023",
                "turns": [
                    {"id": f"D{number}:{turn}", "speaker": ("Ann", "Bob")[turn % 2], "text": text}
                    for turn, text in enumerate(said, 1)
                ],
            }
            for number, said in enumerate(turns, 1)
        ],
        "qa": [{"question": "Which telescope?", "answer": "", "category": 1, "evidence": ["D5:3"]}],
    }
    sessions = [
        {
            "key": f"k{number}",
            "id": f"s{number}",
            "turns": [
                {"role": ("user", "assistant")[turn % 2], "text": text}
                | ({"has_answer": True} if "telescope" in text else {})
                for turn, text in enumerate(said)
            ],
        }
        for number, said in enumerate(turns, 1)
    ]
    question = {
        "id": "q",
        "type": "single-session-user",
        "abstention": False,
        "question": "Which telescope?",
        "answer": "",
        "date": "2023/06/01 (Thu) 10:00",
        "answer_sessions": ["s5"],
        "haystack": [{"session": f"k{n}", "date": "2023/05/20 (Sat) 02:02"} for n in range(1, 13)],
    }
    files = {"locomo": [locomo], "longmemeval": {"sessions": sessions, "questions": [question]}}
    for name, data in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data), "utf-8")
    return [part for name in files for part in (f"--{name}", str(tmp_path / f"{name}.json"))]
