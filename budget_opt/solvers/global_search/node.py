"""Nodes of the search, one by one in the queue and side by side in a batch."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from budget_opt.certificate.boxes.bound import Multipliers
from budget_opt.certificate.boxes.outer import Hints
from budget_opt.model.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Batch:
    """B nodes: boxes in epsilon, tangent points in z (M, B), multipliers, hints, proved bounds (B,).

    `name` (B,) is what a record calls them; nobody else looks at it.
    """

    lower: FloatArray
    upper: FloatArray
    point: FloatArray
    multipliers: Multipliers
    hints: Hints
    bound: FloatArray
    name: IntArray

    @property
    def count(self) -> int:
        """B."""
        return int(self.bound.size)

    def only(self, index: IntArray) -> Batch:
        """Some of the nodes."""
        return Batch(
            self.lower[:, index],
            self.upper[:, index],
            self.point[:, index],
            select(self.multipliers, index),
            tuple_of(tuple(hint[:, index] for hint in self.hints)),
            self.bound[index],
            self.name[index],
        )

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """The nodes of all batches, in order."""

        def side_by_side(parts: Iterable[FloatArray]) -> FloatArray:
            return np.concatenate(list(parts), axis=-1)

        return cls(
            side_by_side(batch.lower for batch in batches),
            side_by_side(batch.upper for batch in batches),
            side_by_side(batch.point for batch in batches),
            joined([batch.multipliers for batch in batches]),
            tuple_of(tuple(map(side_by_side, zip(*(batch.hints for batch in batches), strict=True)))),
            side_by_side(batch.bound for batch in batches),
            np.concatenate([batch.name for batch in batches]),
        )


def joined(parts: Sequence[Multipliers]) -> Multipliers:
    """The multipliers of the boxes of all parts, in order."""
    shares = zip(*(part.shares for part in parts), strict=True)
    return Multipliers(
        tuple(np.concatenate(one, axis=-1) for one in shares),
        *(
            np.concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in ("nu", "nested", "mu", "kappa", "capped")
        ),
    )


def select(multipliers: Multipliers, index: IntArray) -> Multipliers:
    """The multipliers of some of the boxes."""
    return Multipliers(
        tuple(share[:, :, index] for share in multipliers.shares),
        multipliers.nu[:, :, index],
        multipliers.nested[:, :, index],
        multipliers.mu[:, index],
        multipliers.kappa[:, index],
        multipliers.capped[:, index],
    )


def chosen(better: BoolArray, one: Multipliers, other: Multipliers) -> Multipliers:
    """Those of `one` for the boxes where it is better (B,), of `other` elsewhere."""

    def of(first: FloatArray, second: FloatArray) -> FloatArray:
        mixed: FloatArray = np.where(better, first, second)
        return mixed

    shares = tuple(of(a, b) for a, b in zip(one.shares, other.shares, strict=True))
    return Multipliers(
        shares,
        of(one.nu, other.nu),
        of(one.nested, other.nested),
        of(one.mu, other.mu),
        of(one.kappa, other.kappa),
        of(one.capped, other.capped),
    )


def tuple_of(hints: tuple[FloatArray, ...]) -> Hints:
    """Three hints as their type."""
    point, left, right = hints
    return point, left, right


@dataclass(frozen=True)
class Node:
    """One node, bounded: where to split it (attribute, epsilon), or `again` to bound it once more.

    `numbers` are its point, hints and multipliers in a row, `name` what a record calls it.
    """

    lower: FloatArray
    upper: FloatArray
    bound: float
    attribute: int
    at: float
    again: bool
    numbers: FloatArray
    name: int


def flattened(batch: Batch) -> FloatArray:
    """Point, hints and multipliers of every node as columns."""
    m = batch.multipliers
    parts = [batch.point, *batch.hints, *m.shares, m.nu, m.nested, m.mu, m.kappa, m.capped]
    return np.concatenate([part.reshape(-1, batch.count) for part in parts])


def gathered(nodes: list[Node], like: Multipliers) -> Batch:
    """The nodes side by side; `like` gives the shapes."""
    numbers = np.stack([node.numbers for node in nodes], axis=1)
    attributes, count = nodes[0].lower.size, len(nodes)
    shapes = [(attributes,)] * 4
    shapes += [share.shape[:-1] for share in like.shares]
    shapes += [part.shape[:-1] for part in (like.nu, like.nested, like.mu, like.kappa, like.capped)]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    parts = [part.reshape(*shape, count) for part, shape in zip(np.split(numbers, ends), shapes, strict=True)]
    multipliers = Multipliers(tuple(parts[4:-5]), *parts[-5:])
    return Batch(
        np.stack([node.lower for node in nodes], axis=1),
        np.stack([node.upper for node in nodes], axis=1),
        parts[0],
        multipliers,
        (parts[1], parts[2], parts[3]),
        np.array([node.bound for node in nodes]),
        np.array([node.name for node in nodes]),
    )


@dataclass
class Queue:
    """Open nodes, the one with the largest bound first; among equals the oldest."""

    entries: list[tuple[float, int, Node]] = field(default_factory=list)
    made: int = 0

    def push(self, node: Node) -> None:
        """Add a node."""
        heapq.heappush(self.entries, (-node.bound, self.made, node))
        self.made += 1

    def pop(self, count: int, above: float) -> list[Node]:
        """At most `count` nodes with a bound above `above`, the largest bounds first."""
        found: list[Node] = []
        while self.entries and len(found) < count and -self.entries[0][0] > above:
            found.append(heapq.heappop(self.entries)[2])
        return found

    @property
    def bound(self) -> float:
        """The largest bound, -inf where none is open."""
        return -self.entries[0][0] if self.entries else -np.inf
