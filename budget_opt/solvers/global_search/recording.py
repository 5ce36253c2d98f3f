"""What a search did, so that it can be walked again: splits, and the best multipliers of every node."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from budget_opt.certificate.boxes.bound import Evaluation, Relaxation
from budget_opt.certificate.proof.packing import Numbers, packed
from budget_opt.certificate.proof.tree import AGAIN, LEAF, Tree
from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.global_search.node import Batch, Node


@dataclass
class Recording:
    """Nodes by name, 0 the root; names are given in the order in which nodes are made."""

    attribute: list[int] = field(default_factory=lambda: [LEAF])
    at: list[float] = field(default_factory=lambda: [0.0])
    first: list[int] = field(default_factory=lambda: [-1])
    parent: list[int] = field(default_factory=lambda: [-1])
    best: list[float] = field(default_factory=lambda: [np.inf])
    numbers: dict[int, Numbers] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    tip: dict[int, int] = field(default_factory=dict)
    settled: set[int] = field(default_factory=set)

    def root(self) -> int:
        """The root of one more tree."""
        name = len(self.attribute)
        self._append(-1, 1)
        return name

    def child(self, node: Node) -> int:
        """The first child of a node of the search, as that says."""
        return self.again(node.name) if node.again else self.split(node.name, node.attribute, node.at)

    def again(self, name: int) -> int:
        """A child that is the same box, to be bounded once more."""
        return self._children(name, AGAIN, 0.0, 1)

    def split(self, name: int, attribute: int, at: float) -> int:
        """The first child of a split; the second has the next name."""
        return self._children(name, attribute, at, 2)

    def _children(self, name: int, attribute: int, at: float, count: int) -> int:
        name, first = self.tip.get(name, name), len(self.attribute)
        self.attribute[name], self.at[name], self.first[name] = attribute, at, first
        self._append(name, count)
        return first

    def _append(self, parent: int, count: int) -> None:
        self.attribute += [LEAF] * count
        self.at += [0.0] * count
        self.first += [-1] * count
        self.parent += [parent] * count
        self.best += [np.inf] * count

    def heard(self, batch: Batch, still: IntArray, on: Relaxation, found: Evaluation, reducing: bool) -> None:
        """Keep the multipliers of an evaluation for the nodes `still` open whose box it makes smaller.

        Until then those of the least bound are kept; what comes after is told of a child, the smaller box.
        """
        tips = [self._unsettled(int(name)) for name in batch.name[still]]
        kept = [i for i, tip in enumerate(tips) if reducing or found.bound[still[i]] < self.best[tip]]
        if kept:
            arrays = {"point": on.point.T.astype(np.float32), **packed(found.multipliers)}
            self.shapes = {part: array.shape[1:] for part, array in arrays.items()}
            index = still[kept]
            rows = [array[index].reshape(index.size, -1) for array in arrays.values()]
            for i, row in zip(kept, np.concatenate(rows, axis=1), strict=True):
                self.numbers[tips[i]], self.best[tips[i]] = row.copy(), float(found.bound[still[i]])
        if reducing:
            self.settled.update(tips)

    def _unsettled(self, name: int) -> int:
        """The last of the boxes of a node, a new one where that has all it needs."""
        if self.tip.get(name, name) in self.settled:
            self.tip[name] = self.again(name)
        return self.tip.get(name, name)

    def nearest(self, name: int) -> int:
        """The node itself or the nearest node above it that has numbers; -1 where none has."""
        while name >= 0 and name not in self.numbers:
            name = self.parent[name]
        return name

    def rows(self, names: IntArray | list[int]) -> dict[str, Numbers]:
        """The numbers of some nodes, side by side; each has some."""
        stacked = np.stack([self.numbers[int(name)] for name in names])
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes.values()])[:-1]
        parts = np.split(stacked, ends, axis=1)
        return {
            part: rows.reshape(len(stacked), *shape)
            for (part, shape), rows in zip(self.shapes.items(), parts, strict=True)
        }

    def tree(self) -> tuple[Tree, IntArray]:
        """The tree, breadth first, and the name of each of its nodes."""
        order, place = [0], 0
        while place < len(order):
            name = order[place]
            first, split = self.first[name], self.attribute[name] >= 0
            if first >= 0:
                order += [first, first + 1] if split else [first]
            place += 1
        names = np.array(order)
        bounded = np.array([name in self.numbers for name in order])
        rows = self.rows(names[bounded]) if np.any(bounded) else {}
        return Tree(np.array(self.attribute)[names], np.array(self.at)[names], bounded, rows), names


def pruned(tree: Tree, bound: FloatArray, enough: float) -> Tree:
    """The tree without what follows a node whose bound (N,) is `enough` already, or was never met.

    Nodes that lose their children stay as leaves; their numbers stay where they are what bounds them.
    """
    kept = np.zeros(tree.count, dtype=bool)
    kept[: tree.roots] = True
    attribute = np.where(bound <= enough, LEAF, tree.attribute)
    for k in range(tree.count):
        if kept[k] and attribute[k] != LEAF:
            kept[tree.first[k] : tree.first[k] + tree.children[k]] = True
    bounded = tree.bounded & kept
    rows = tree.row[bounded]
    numbers = {part: array[rows] for part, array in tree.numbers.items()}
    return Tree(
        attribute[kept], np.where(attribute < 0, 0.0, tree.at)[kept], bounded[kept], numbers, tree.roots
    )
