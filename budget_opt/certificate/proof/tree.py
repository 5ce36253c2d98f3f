"""A tree of boxes, one node after the other, breadth first; what a node is follows from its place alone.

The first `roots` nodes are the boxes that the tree begins with. The children of all nodes follow in the
order of their parents, so that no node can be its own descendant, none can be left out, and the children of
a split are both of its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.certificate.proof.packing import Numbers
from budget_opt.model.arrays import BoolArray, FloatArray, IntArray

LEAF, AGAIN = -1, -2
"""In place of the attribute that is split: nothing follows; the same box, smaller, follows."""


@dataclass(frozen=True)
class Tree:
    """N nodes: `attribute` (N,) that is split, or LEAF, or AGAIN; `at` (N,) the epsilon between both parts.

    `bounded` (N,) says which nodes have a row in `numbers`: the tangent point in z ("point") and the
    multipliers at which the bound of their box is evaluated, in the order of the nodes.
    """

    attribute: IntArray
    at: FloatArray
    bounded: BoolArray
    numbers: Mapping[str, Numbers]
    roots: int = 1

    @property
    def count(self) -> int:
        """N."""
        return int(self.attribute.size)

    @cached_property
    def children(self) -> IntArray:
        """The number of children of each node, (N,)."""
        return np.where(self.attribute >= 0, 2, np.where(self.attribute == AGAIN, 1, 0))

    @cached_property
    def first(self) -> IntArray:
        """The index of each node's first child, (N,)."""
        first: IntArray = self.roots + np.cumsum(self.children) - self.children
        return first

    @cached_property
    def row(self) -> IntArray:
        """The row of each bounded node in `numbers`, (N,)."""
        row: IntArray = np.cumsum(self.bounded) - 1
        return row

    @property
    def is_whole(self) -> bool:
        """True where every node but the roots is a child of a node before it, and none is missing."""
        ends = np.cumsum(self.children) + self.roots
        met = np.concatenate([[self.roots], ends[:-1]]) > np.arange(self.count)
        return self.count >= self.roots and bool(np.all(met)) and int(ends[-1]) == self.count
