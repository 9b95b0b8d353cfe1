from __future__ import annotations

import pytest
from msgspec.structs import replace

from souvenance.domain import merkle
from souvenance.domain.audit import GENESIS, Checkpoint, Event, Row, leaf_of, verify
from souvenance.errors import BrokenAuditChain

EVENT = Event(
    at=1_700_000_000_000,
    actor="ann",
    cap="01ARZ3NDEKTSV4RRFFQ69G5FAV",
    operation="put",
    outcome="ok",
    namespaces=("travel", "work"),
    lines=("01ARZ3NDEKTSV4RRFFQ69G5FAV",),
    detail='{"k":5}',
)


def log(size, workspace="acme", event=EVENT):
    rows, previous = [], GENESIS
    for seq in range(size):
        said = replace(event, at=event.at + seq)
        previous = leaf_of(workspace, seq, said, previous)
        rows.append(Row(workspace, seq, said, previous))
    return rows


def resealed(rows, workspace="acme"):
    """The same rows, numbered and linked anew, as a forger with the whole log would do it."""
    forged, previous = [], GENESIS
    for seq, row in enumerate(rows):
        previous = leaf_of(workspace, seq, row.event, previous)
        forged.append(Row(workspace, seq, row.event, previous))
    return forged


ROWS = log(7)
CHECKPOINT = verify("acme", ROWS[:5])

EDITS = {
    "at": {"at": EVENT.at + 100},
    "actor": {"actor": "mallory"},
    "cap": {"cap": "01BX5ZZKBKACTAV9WEVGEMMVRZ"},
    "operation": {"operation": "get"},
    "outcome": {"outcome": "namespace_denied"},
    "a namespace less": {"namespaces": ("travel",)},
    "namespaces in another order": {"namespaces": ("work", "travel")},
    "namespaces joined": {"namespaces": ("travelwork",)},
    "lines": {"lines": ()},
    "detail": {"detail": ""},
    "a namespace moved to the lines": {"namespaces": ("travel",), "lines": ("work", *EVENT.lines)},
}


@pytest.mark.parametrize("size", [0, 1, 2, 7, 255, 256, 257, 513])
def test_an_untouched_log_verifies_and_gives_its_checkpoint(size):
    rows = log(size)
    found = verify("acme", rows)
    assert found == Checkpoint("acme", size, merkle.root_of([row.leaf for row in rows]))
    assert verify("acme", rows, found) == found


@pytest.mark.parametrize("size", range(8))
def test_a_log_that_only_grew_holds_against_every_older_checkpoint(size):
    older = verify("acme", ROWS[:size])
    assert verify("acme", ROWS, older).size == 7


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("at", [0, 3, 6])
def test_an_edited_row_is_found_and_named(at, edit):
    rows = list(ROWS)
    rows[at] = replace(rows[at], event=replace(rows[at].event, **EDITS[edit]))
    with pytest.raises(BrokenAuditChain, match=f"row {at} "):
        verify("acme", rows)


@pytest.mark.parametrize("at", [0, 3, 6])
def test_an_edited_row_with_a_hash_made_to_match_is_found_by_the_row_after_it(at):
    rows = list(ROWS)
    event = replace(rows[at].event, actor="mallory")
    previous = rows[at - 1].leaf if at else GENESIS
    rows[at] = Row("acme", at, event, leaf_of("acme", at, event, previous))
    if at == 6:
        assert verify("acme", rows, CHECKPOINT).root != verify("acme", ROWS).root
        with pytest.raises(BrokenAuditChain, match="not those of the checkpoint"):
            verify("acme", rows, verify("acme", ROWS))
    else:
        with pytest.raises(BrokenAuditChain, match=f"row {at + 1} "):
            verify("acme", rows)


@pytest.mark.parametrize("at", range(7))
def test_an_altered_hash_is_found_and_named(at):
    rows = list(ROWS)
    rows[at] = replace(rows[at], leaf=bytes(32))
    with pytest.raises(BrokenAuditChain, match=f"row {at} "):
        verify("acme", rows)


@pytest.mark.parametrize("at", range(6))
def test_a_removed_row_is_found_and_named(at):
    with pytest.raises(BrokenAuditChain, match=f"row {at} is missing"):
        verify("acme", [*ROWS[:at], *ROWS[at + 1 :]])


@pytest.mark.parametrize("at", range(6))
def test_reordered_rows_are_found(at):
    rows = list(ROWS)
    rows[at], rows[at + 1] = rows[at + 1], rows[at]
    with pytest.raises(BrokenAuditChain, match=f"row {at} "):
        verify("acme", rows)


def test_a_row_told_twice_is_found():
    with pytest.raises(BrokenAuditChain, match="row 4 "):
        verify("acme", [*ROWS[:4], ROWS[3], *ROWS[4:]])


@pytest.mark.parametrize("left", range(5))
def test_a_log_cut_short_is_found_with_a_checkpoint(left):
    assert verify("acme", ROWS[:left]).size == left
    with pytest.raises(BrokenAuditChain, match=f"saw 5 rows, {left} are left"):
        verify("acme", ROWS[:left], CHECKPOINT)


@pytest.mark.parametrize(
    "forge",
    [
        lambda rows: [*rows[:2], replace(rows[2], event=replace(rows[2].event, actor="mallory")), *rows[3:]],
        lambda rows: [*rows[:2], *rows[3:]],
        lambda rows: [rows[1], rows[0], *rows[2:]],
        lambda rows: [rows[0], *rows],
    ],
    ids=["edited", "removed", "reordered", "inserted"],
)
def test_a_log_that_was_forged_as_a_whole_is_found_with_a_checkpoint(forge):
    forged = resealed(forge(ROWS))
    verify("acme", forged)
    with pytest.raises(BrokenAuditChain, match="first 5 rows"):
        verify("acme", forged, CHECKPOINT)


def test_a_forged_end_behind_the_checkpoint_is_not_held_against_it():
    assert verify("acme", resealed([*ROWS[:5], ROWS[6]]), CHECKPOINT).size == 6


def test_rows_of_another_workspace_do_not_pass_for_this_ones():
    theirs = log(7, "other")
    with pytest.raises(BrokenAuditChain, match="row 0 "):
        verify("acme", theirs)
    with pytest.raises(BrokenAuditChain, match="row 0 "):
        verify("acme", [replace(row, workspace="acme") for row in theirs])
    with pytest.raises(BrokenAuditChain, match="row 3 "):
        verify("acme", [*ROWS[:3], *theirs[3:]])


def test_a_checkpoint_of_another_workspace_is_not_held_against():
    with pytest.raises(BrokenAuditChain, match="workspace 'other'"):
        verify("acme", ROWS, verify("other", log(5, "other")))


def test_a_checkpoint_with_an_altered_root_does_not_hold():
    for root in (bytes(32), b"", verify("acme", ROWS[:4]).root):
        with pytest.raises(BrokenAuditChain):
            verify("acme", ROWS, replace(CHECKPOINT, root=root))


@pytest.mark.parametrize("seq", [0, 3, 255, 256, 299])
def test_each_row_is_proved_under_the_checkpoint(seq):
    rows = log(300)
    found = verify("acme", rows)
    leaves = [row.leaf for row in rows]
    tree = merkle.Tree(
        size=300,
        leaves=lambda first, end: leaves[first:end],
        tiles=lambda first, end: [merkle.root_of(leaves[256 * n : 256 * (n + 1)]) for n in range(first, end)],
    )
    path = tree.inclusion(seq, found.size)
    assert merkle.verify_inclusion(rows[seq].leaf, seq, found.size, path, found.root)
    assert not merkle.verify_inclusion(rows[seq].leaf, seq, found.size, path, verify("acme", rows[:299]).root)
