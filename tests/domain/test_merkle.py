from __future__ import annotations

from hashlib import sha256
from itertools import combinations_with_replacement

import pymerkle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from souvenance.domain import merkle

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 254, 255, 256, 257, 258, 511, 512, 513, 767, 768, 769, 1000)
BOUNDARIES = (1, 2, 255, 256, 257, 511, 512, 513, 768)
ENTRIES = [n.to_bytes(4, "big") for n in range(max(SIZES))]
LEAVES = [merkle.leaf_hash(entry) for entry in ENTRIES]

# The leaves and roots that Certificate Transparency implementations share as test data.
KNOWN_ENTRIES = (
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
)
KNOWN_ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


def tree_of(leaves):
    return merkle.Tree(
        size=len(leaves),
        leaves=lambda first, end: list(leaves[first:end]),
        tiles=lambda first, end: [
            merkle.root_of(leaves[tile * merkle.TILE : (tile + 1) * merkle.TILE])
            for tile in range(first, end)
        ],
    )


TREE = tree_of(LEAVES)


@pytest.fixture(scope="module")
def oracle():
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for entry in ENTRIES:
        tree.append_entry(entry)
    return tree


def rfc_root(leaves):
    """MTH of RFC 6962, section 2.1, word by word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = rfc_split(len(leaves))
    return sha256(b"\x01" + rfc_root(leaves[:k]) + rfc_root(leaves[k:])).digest()


def rfc_path(m, leaves):
    """PATH of RFC 6962, section 2.1.1."""
    if len(leaves) == 1:
        return []
    k = rfc_split(len(leaves))
    if m < k:
        return [*rfc_path(m, leaves[:k]), rfc_root(leaves[k:])]
    return [*rfc_path(m - k, leaves[k:]), rfc_root(leaves[:k])]


def rfc_proof(m, leaves, whole=True):
    """SUBPROOF of RFC 6962, section 2.1.2."""
    if m == len(leaves):
        return [] if whole else [rfc_root(leaves)]
    k = rfc_split(len(leaves))
    if m <= k:
        return [*rfc_proof(m, leaves[:k], whole), rfc_root(leaves[k:])]
    return [*rfc_proof(m - k, leaves[k:], False), rfc_root(leaves[:k])]


def rfc_split(n):
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def picked(size):
    return sorted({0, 1, size // 2, size - 2, size - 1, 254, 255, 256, 257, 511, 512} & set(range(size)))


@pytest.mark.parametrize("size", range(9))
def test_the_known_trees_have_their_known_roots(size):
    leaves = [merkle.leaf_hash(bytes.fromhex(entry)) for entry in KNOWN_ENTRIES[:size]]
    assert merkle.root_of(leaves).hex() == tree_of(leaves).root().hex() == KNOWN_ROOTS[size]


def test_leaves_and_nodes_can_not_be_taken_for_one_another():
    left, right = LEAVES[:2]
    assert merkle.leaf_hash(left + right) != merkle.node_hash(left, right)
    assert merkle.node_hash(left, right) != merkle.node_hash(right, left)
    assert merkle.root_of([left, right, right]) != merkle.root_of([left, right, right, right])


@pytest.mark.parametrize("size", SIZES)
def test_roots_are_those_of_the_oracle(oracle, size):
    assert TREE.root(size) == merkle.root_of(LEAVES[:size]) == oracle.get_root(size)


def test_every_inclusion_path_of_a_small_tree_is_that_of_the_oracle(oracle):
    for size in range(1, 66):
        for index in range(size):
            path = TREE.inclusion(index, size)
            assert [LEAVES[index], *path] == oracle.prove_inclusion(index + 1, size).path, (index, size)
            root = oracle.get_root(size)
            assert merkle.verify_inclusion(LEAVES[index], index, size, path, root), (index, size)


@pytest.mark.parametrize("size", SIZES)
def test_inclusion_paths_are_those_of_the_oracle_across_tiles(oracle, size):
    for index in picked(size):
        path = TREE.inclusion(index, size)
        assert [LEAVES[index], *path] == oracle.prove_inclusion(index + 1, size).path
        assert path == rfc_path(index, LEAVES[:size])
        assert merkle.verify_inclusion(LEAVES[index], index, size, path, oracle.get_root(size))


def test_every_consistency_proof_of_a_small_tree_is_that_of_the_rfc(oracle):
    for old, size in combinations_with_replacement(range(1, 40), 2):
        path = TREE.consistency(old, size)
        assert path == rfc_proof(old, LEAVES[:size]), (old, size)
        roots = oracle.get_root(old), oracle.get_root(size)
        assert merkle.verify_consistency(old, roots[0], size, roots[1], path), (old, size)


@pytest.mark.parametrize("size", SIZES)
def test_consistency_proofs_are_those_of_the_rfc_across_tiles(oracle, size):
    for old in (old for old in BOUNDARIES if old <= size):
        path = TREE.consistency(old, size)
        old_root, root = oracle.get_root(old), oracle.get_root(size)
        assert path == rfc_proof(old, LEAVES[:size]), old
        assert merkle.verify_consistency(old, old_root, size, root, path), old
        pymerkle.verify_consistency(old_root, root, oracle.prove_consistency(old, size))


def test_an_empty_tree_is_a_prefix_of_every_tree():
    assert TREE.consistency(0, 5) == []
    assert merkle.verify_consistency(0, merkle.EMPTY_ROOT, 5, TREE.root(5), [])
    assert merkle.verify_consistency(0, merkle.EMPTY_ROOT, 0, merkle.EMPTY_ROOT, [])
    assert not merkle.verify_consistency(0, TREE.root(1), 5, TREE.root(5), [])
    assert not merkle.verify_consistency(0, merkle.EMPTY_ROOT, 5, TREE.root(5), [LEAVES[0]])


def altered(digest):
    return bytes([digest[0] ^ 1]) + digest[1:]


def spoilt(path):
    """The path with one step altered, missing, doubled or out of place."""
    for at in range(len(path)):
        yield [*path[:at], altered(path[at]), *path[at + 1 :]]
        yield [*path[:at], *path[at + 1 :]]
        yield [*path[: at + 1], *path[at:]]
    for at in range(len(path) - 1):
        yield [*path[:at], path[at + 1], path[at], *path[at + 2 :]]
    yield [*path, LEAVES[0]]
    yield [LEAVES[0], *path]


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 8, 13, 255, 256, 257, 513])
def test_an_inclusion_proof_that_is_not_true_fails(size):
    root = TREE.root(size)
    for index in picked(size):
        path = TREE.inclusion(index, size)
        assert merkle.verify_inclusion(LEAVES[index], index, size, path, root)
        assert not merkle.verify_inclusion(altered(LEAVES[index]), index, size, path, root)
        assert not merkle.verify_inclusion(LEAVES[index], index, size, path, altered(root))
        assert not [
            one for one in spoilt(path) if merkle.verify_inclusion(LEAVES[index], index, size, one, root)
        ]
        for wrong in {-1, index - 1, index + 1, size, size + 1} - {index}:
            assert not merkle.verify_inclusion(LEAVES[index], wrong, size, path, root)


@pytest.mark.parametrize(("index", "size"), [(0, 4), (3, 4), (5, 7), (6, 7), (255, 256), (256, 257)])
def test_a_leaf_is_not_included_in_a_tree_of_another_height(index, size):
    path, root = TREE.inclusion(index, size), TREE.root(size)
    for other in (1, 2, size * 2, size * 2 + 1, 1 << 20):
        assert not merkle.verify_inclusion(LEAVES[index], index, other, path, root)


@pytest.mark.parametrize(("index", "size"), [(0, 1), (0, 2), (1, 2), (0, 8), (7, 8), (4, 5)])
@pytest.mark.parametrize("steps", range(6))
def test_a_path_too_short_or_too_long_for_the_tree_fails_even_under_a_root_made_for_it(index, size, steps):
    if steps == len(TREE.inclusion(index, size)):
        steps += 1
    for root in folded(LEAVES[0], LEAVES[1 : steps + 1]):
        assert not merkle.verify_inclusion(LEAVES[0], index, size, LEAVES[1 : steps + 1], root)


def test_a_consistency_path_too_short_or_too_long_fails_even_under_roots_made_for_it():
    old_root = LEAVES[0]
    for size, steps in ((8, 1), (8, 3), (3, 2), (5, 1), (1000, 4)):
        for root in folded(old_root, LEAVES[1 : steps + 1]):
            assert not merkle.verify_consistency(2, old_root, size, root, LEAVES[1 : steps + 1])
    first, second, third, beyond = LEAVES[:4]
    older = merkle.node_hash(beyond, merkle.node_hash(third, first))
    newer = merkle.node_hash(beyond, merkle.node_hash(third, merkle.node_hash(first, second)))
    assert not merkle.verify_consistency(3, older, 4, newer, [first, second, third, beyond])


def folded(digest, path):
    """Every root to which the path may lead, whichever side each step stands on."""
    if not path:
        return [digest]
    return [
        root
        for node in (merkle.node_hash(digest, path[0]), merkle.node_hash(path[0], digest))
        for root in folded(node, path[1:])
    ]


def test_an_inner_node_is_no_leaf():
    root, inner = TREE.root(4), TREE.root(2)
    assert not merkle.verify_inclusion(inner, 0, 4, [TREE.inclusion(0, 4)[1]], root)


@pytest.mark.parametrize(
    ("old", "size"),
    [(1, 2), (1, 3), (2, 3), (3, 4), (4, 7), (6, 7), (7, 8), (255, 256), (256, 257), (300, 513)],
)
def test_a_consistency_proof_that_is_not_true_fails(old, size):
    path, old_root, root = TREE.consistency(old, size), TREE.root(old), TREE.root(size)
    assert merkle.verify_consistency(old, old_root, size, root, path)
    assert not merkle.verify_consistency(old, altered(old_root), size, root, path)
    assert not merkle.verify_consistency(old, old_root, size, altered(root), path)
    assert not merkle.verify_consistency(old, root, size, old_root, path)
    assert not [one for one in spoilt(path) if merkle.verify_consistency(old, old_root, size, root, one)]
    assert not merkle.verify_consistency(old, old_root, old - 1, root, path)
    assert not merkle.verify_consistency(-1, old_root, size, root, path)


@pytest.mark.parametrize("changed", [0, 5, 254, 255, 256, 300])
def test_a_tree_whose_past_was_changed_has_no_proof(changed):
    rewritten = [*LEAVES[:changed], altered(LEAVES[changed]), *LEAVES[changed + 1 : 600]]
    later = tree_of(rewritten)
    for old in (301, 512, 513):
        assert not merkle.verify_consistency(
            old, TREE.root(old), 600, later.root(), later.consistency(old, 600)
        )
        assert not merkle.verify_consistency(
            old, TREE.root(old), 600, later.root(), TREE.consistency(old, 600)
        )


def test_a_tree_cut_short_is_no_later_tree():
    assert not merkle.verify_consistency(7, TREE.root(7), 5, TREE.root(5), [])
    assert not merkle.verify_consistency(7, TREE.root(7), 7, TREE.root(5), [])
    assert merkle.verify_consistency(7, TREE.root(7), 7, TREE.root(7), [])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_any_row_and_any_earlier_tree_are_proved(data):
    size = data.draw(st.integers(1, len(LEAVES)))
    index = data.draw(st.integers(0, size - 1))
    old = data.draw(st.integers(0, size))
    root = TREE.root(size)
    assert root == rfc_root(LEAVES[:size])
    assert merkle.verify_inclusion(LEAVES[index], index, size, TREE.inclusion(index, size), root)
    assert merkle.verify_consistency(old, TREE.root(old), size, root, TREE.consistency(old, size))


def test_a_proof_reads_few_leaves_and_tiles():
    read = []

    def counted(first, end):
        read.append(end - first)
        return LEAVES[first:end]

    tree = merkle.Tree(size=len(LEAVES), leaves=counted, tiles=TREE.tiles)
    assert tree.inclusion(700, 1000) == TREE.inclusion(700, 1000)
    assert sum(read) <= 2 * merkle.TILE
