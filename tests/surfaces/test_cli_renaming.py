"""Renaming from the command line, on a data folder and through a server."""

from __future__ import annotations

import pytest


@pytest.fixture
def minted(command, name):
    """A cap of an actor of its own, with which something was put."""
    asked = ("--sub", name, "--ops", "put,get", "--namespaces", "*")
    cap = command("cap", "mint", *asked).out.strip()
    command("put", "Trip to Chengdu", "--cap", cap)
    return cap


def test_what_is_remembered_goes_along_once(command, name, minted):
    told = command("rename", name, f"{name}-b")
    assert told.out == f"workspace default: 1 line of {name} moved to {name}-b\n"
    other = command("cap", "mint", "--sub", f"{name}-b", "--ops", "get", "--namespaces", "*").out.strip()
    assert "Trip to Chengdu" in command("get", "Chengdu", "--cap", other).out
    assert command("get", "Chengdu", "--cap", minted).out == "(nothing)\n"
    again = command("rename", name, f"{name}-b", "--yes", "--json").json()
    assert again == {"workspace": "default", "lines": 0}


def test_what_is_not_there_is_said_to_be_so(command, name):
    told = command("rename", name, f"{name}-b", "--workspace", "elsewhere")
    assert told.out == f"workspace elsewhere: nothing is remembered of {name}\n"


def test_a_cap_of_one_s_own_memory_renames_nobody(command, name, minted):
    refused = command("rename", name, f"{name}-b", "--cap", minted, "--json", exit_code=5)
    assert refused.complaint()["error"] == "cap_scope_mismatch"
    assert "Trip to Chengdu" in command("get", "Chengdu", "--cap", minted).out
