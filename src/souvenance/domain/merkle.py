"""Merkle tree of RFC 6962: roots, inclusion and consistency proofs, and their verification.

Leaves and nodes are hashed under different prefixes, an odd node is carried up and never
paired with itself, and every hash depends on order. The log keeps the root of each full tile
of 256 leaves, so that a proof reads a few tiles instead of the whole log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256

from msgspec import Struct

TILE = 256
EMPTY_ROOT = sha256(b"").digest()

HashRange = Callable[[int, int], list[bytes]]
"""(first, end) -> the hashes first..end-1."""


def leaf_hash(data: bytes) -> bytes:
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def root_of(hashes: Sequence[bytes]) -> bytes:
    """The root over these hashes, taken as the lowest level."""
    if not hashes:
        return EMPTY_ROOT
    level = list(hashes)
    while len(level) > 1:
        paired = [node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        if len(level) % 2:
            paired.append(level[-1])
        level = paired
    return level[0]


class Tree(Struct, frozen=True):
    """A log of `size` leaves, read through two functions."""

    size: int
    leaves: HashRange
    tiles: HashRange

    def root(self, size: int | None = None) -> bytes:
        return self._subtree(0, self.size if size is None else size)

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """The audit path of one leaf in the tree of the first `size` leaves."""
        return self._path(index, 0, size)

    def consistency(self, old: int, size: int) -> list[bytes]:
        """The proof that the first `old` leaves are a prefix of the first `size`."""
        return [] if old in (0, size) else self._subproof(old, 0, size, True)

    def _subtree(self, first: int, end: int) -> bytes:
        whole = end // TILE
        if first % TILE or whole * TILE <= first:
            return root_of(self.leaves(first, end))
        hashes = self.tiles(first // TILE, whole)
        if end % TILE:
            hashes.append(root_of(self.leaves(whole * TILE, end)))
        return root_of(hashes)

    def _path(self, index: int, first: int, end: int) -> list[bytes]:
        if end - first == 1:
            return []
        middle = first + _split(end - first)
        if index < middle:
            return [*self._path(index, first, middle), self._subtree(middle, end)]
        return [*self._path(index, middle, end), self._subtree(first, middle)]

    def _subproof(self, old: int, first: int, end: int, complete: bool) -> list[bytes]:
        if old == end:
            return [] if complete else [self._subtree(first, end)]
        middle = first + _split(end - first)
        if old <= middle:
            return [*self._subproof(old, first, middle, complete), self._subtree(middle, end)]
        return [*self._subproof(old, middle, end, False), self._subtree(first, middle)]


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether the path shows the leaf at that index under the root of a tree of that size."""
    climbed = _climbed(index, size - 1, leaf, path) if 0 <= index < size else None
    return climbed is not None and climbed[1] == root


def verify_consistency(old: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]) -> bool:
    """Whether the path shows that the older tree is a prefix of the newer one."""
    if not 0 <= old <= size:
        return False
    if old == size:
        return not path and old_root == root
    if old == 0:
        return not path and old_root == EMPTY_ROOT
    steps = list(path)
    node, last = old - 1, size - 1
    while node % 2:
        node, last = node >> 1, last >> 1
    if node and not steps:
        return False
    return _climbed(node, last, steps.pop(0) if node else old_root, steps) == (old_root, root)


def _climbed(node: int, last: int, found: bytes, path: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """The roots that a path leads to from a node: of the tree that ends with it, and of that which ends with
    `last`. None if the path is not as long as it must be."""
    older = newer = found
    for step in path:
        if last == 0:
            return None
        if node % 2 or node == last:
            older, newer = node_hash(step, older), node_hash(step, newer)
            while node and not node % 2:
                node, last = node >> 1, last >> 1
        else:
            newer = node_hash(newer, step)
        node, last = node >> 1, last >> 1
    return (older, newer) if last == 0 else None


def _split(size: int) -> int:
    """The largest power of two below size."""
    return 1 << (size - 1).bit_length() - 1
