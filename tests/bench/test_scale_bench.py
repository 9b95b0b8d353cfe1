"""The benchmark of scale stores what it says it stores, and asks every server what it says it asks."""

from __future__ import annotations

import pytest

from scale import arguments, measure, show
from scale_crowd import ASSISTANT, CONTEXT, GET, Crowd
from scale_scenes import Cell
from scale_stores import Serving, SqliteStores

SMALL = ("--sessions", "1", "--rounds", "1", "--calls", "2", "--firsts", "1", "--newcomers", "1")
CALLS = {GET, CONTEXT, f"first {GET}", f"first {CONTEXT}"}


def test_an_owner_has_a_thousand_lines_of_which_all_messages_are_in_sessions_of_its_own():
    crowd = Crowd(3)
    assert crowd.lines == 3 * sum(body.lines for body in crowd.bodies(1)) == 3000
    speakers = {said["peer_id"] for session in range(crowd.sessions) for said in crowd.said(1, session)}
    assert speakers == {crowd.person(1), ASSISTANT}
    assert not {body.path for body in crowd.bodies(1)} & {
        body.path for body in crowd.bodies(2) if "sessions" in body.path
    }


@pytest.mark.parametrize("number", range(0, 500, 17))
def test_what_an_owner_is_asked_about_is_something_that_the_owner_said(number):
    crowd = Crowd(3)
    own = [said["content"] for session in range(9) for said in crowd.said(2, session)[::2]]
    asked = crowd.ask(GET, 2, number)
    assert asked.expected in own
    words = asked.body["query"].removeprefix("what did I say about ").split(" and ")
    assert all(word in asked.expected for word in words)


def test_the_largest_total_is_held_against_the_smallest_round_by_round(capsys):
    cells = {
        ("SQLite", 1, lines): Cell(taken={GET: rounds}, right={GET: [True]}, resident=[lines / 100])
        for lines, rounds in ((10_000, [[0.001], [0.004]]), (100_000, [[9.0]] * 2), (50_000, [[0.002]] * 2))
    }
    flat, resident = show({place: cells[place] for place in cells if place[2] != 100_000})
    assert (flat.rounds, flat.met) == ([2.0, 0.5], True)
    assert (resident.rounds, resident.met) == ([500.0], False)
    slow, _ = show(cells)
    assert slow.rounds == [9000.0, 2250.0]
    assert not slow.met
    assert "get    50000" in capsys.readouterr().out


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A folder with a kept store of three owners."""
    folder = tmp_path_factory.mktemp("stores")
    SqliteStores(folder).build(Crowd(3, sessions=1), "none")
    return folder


def test_a_small_run_measures_every_call_on_a_copy_and_leaves_the_kept_store_alone(stores):
    asked = arguments(
        [*SMALL, "--store", str(stores), "--kinds", "sqlite", "--owners", "3", "--processes", "1"]
    )
    (cell,) = measure(asked).values()
    assert set(cell.taken) == CALLS | {"batch", "put"}
    assert all(cell.right[CONTEXT])
    assert min(*cell.rates, *cell.stored, *cell.put, *cell.resident) > 0
    assert [path.name for path in stores.iterdir()] == ["sqlite-3-of-1"]


def test_servers_that_run_already_are_filled_and_asked_as_they_are(stores, capsys):
    server = Serving(SqliteStores(stores).place("3-of-1"), "none")
    try:
        where = ("--base-url", server.base_url, "--api-key", server.key, "--pids", str(server.pid))
        cells = measure(arguments([*SMALL, *where, "--owners", "3,4", "--only", "read"]))
    finally:
        server.stop()
    assert [lines for _, _, lines in cells] == [600, 800]
    assert all(set(cell.taken) == {CONTEXT, f"first {CONTEXT}"} for cell in cells.values())
    assert all(all(cell.right[CONTEXT]) for cell in cells.values())
    assert len(show(cells)) == 3
    assert "as given, 1 serve" in capsys.readouterr().out
