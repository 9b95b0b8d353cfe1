"""Token counts: what `o200k_base` counts, from a table in the package."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.make_token_table import TABLE, table
from souvenance.adapters import word_tables
from souvenance.adapters.word_tables import TokenCounter

VECTORS = json.loads((Path(__file__).parent / "vectors" / "o200k.json").read_text("utf-8"))
MADE = "72d349facc17ffcda580ceb51070a2b7eb9b950ebe04cf8133db5c4c8609f047"
steady = settings(deadline=None, derandomize=True)
tokens = TokenCounter()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: ascii(vector["text"][:24]))
def test_a_text_counts_as_o200k_base_counts_it(vector):
    assert tokens.count(vector["text"]) == vector["tokens"]


def test_the_table_is_the_one_made_from_the_published_ranks():
    assert hashlib.sha256(TABLE.read_bytes()).hexdigest() == MADE


def test_of_two_tokens_with_one_checksum_the_lower_rank_is_kept():
    first, second = b"plumless", b"buckeroo"
    made = table({second: 7, first: 3})
    assert len(made) == 65_536 + 6
    assert made[-4:] == (3).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("text", "counted"),
    [(" " * 5000 + "x", 41), ("-" * 2000, 31), ("a" * 1000, 125), ("ab" * 3000, 1500), ("\n" * 2000, 125)],
    ids=["spaces", "dashes", "one letter", "two letters", "newlines"],
)
def test_a_long_unbroken_run_counts_nearly_as_it_should(text, counted):
    assert tokens.count(text) == pytest.approx(counted, rel=0.05)


@given(st.text(st.characters(codec=None)))
@steady
def test_any_text_has_a_count_between_nothing_and_its_bytes(text):
    counted = tokens.count(text)
    assert bool(text) <= counted <= len(text.encode("utf-8", "surrogatepass"))


@given(st.text(), st.text())
@steady
def test_a_line_break_between_two_texts_adds_up(first, second):
    """So a budget may be filled line by line."""
    first, second = " ".join(first.split()), " ".join(second.split())
    whole = tokens.count(f"{first}\n{second}")
    assert abs(whole - tokens.count(first) - tokens.count(second)) <= 2


def test_the_count_of_a_text_does_not_depend_on_what_was_counted_before():
    fresh = TokenCounter()
    for number in range(40_000):
        fresh.count(f"w{number:x}q")
    assert [fresh.count(vector["text"]) for vector in VECTORS] == [vector["tokens"] for vector in VECTORS]


def test_many_threads_may_start_counting_at_once(monkeypatch):
    monkeypatch.setattr(word_tables, "_TokenTable", word_tables._TokenTable.__wrapped__)  # Reads it anew.
    fresh = TokenCounter()
    with ThreadPoolExecutor(8) as pool:
        counted = list(pool.map(fresh.count, [vector["text"] for vector in VECTORS] * 8))
    assert counted == [vector["tokens"] for vector in VECTORS] * 8


def test_counting_opens_no_connection_and_loads_nothing_heavy():
    script = """
import sys
def refuse(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"{event} while counting")
sys.addaudithook(refuse)
from souvenance.adapters.word_tables import TokenCounter
print(TokenCounter().count("Olá, how are you?"), {"numpy", "ssl", "socket"} & set(sys.modules))
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["6", "set()"]
