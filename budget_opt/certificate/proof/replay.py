"""The walk through a tree of boxes: every step is valid by itself, whatever the tree says.

A box starts as its parent's box, as this walk left it, cut at the stated split. Constraints, first-order
conditions, the order of interchangeable attributes and the tangent plane at a stated point make it smaller or
end it; the star bound at the stated multipliers, rounding included, bounds it, and excludes values of single
attributes that lead to nothing above `cut`. At the end

    no feasible split has a larger weighted sum than  max(cut, bounds of the boxes that nothing follows),

because an optimum above `cut` would obey all that was asked for and lie in one of those boxes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from budget_opt.certificate.boxes.bound import Multipliers, cut_off, evaluate
from budget_opt.certificate.proof.packing import Numbers, rows_of, template, unpacked
from budget_opt.certificate.proof.tree import Tree
from budget_opt.certificate.pruning.hull import Tangent, tangent_bounds
from budget_opt.certificate.pruning.question import Question
from budget_opt.certificate.pruning.reduced_costs import reduced
from budget_opt.certificate.pruning.tightening import by_constraints, by_first_order, values_and_pulls
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import BoolArray, FloatArray, IntArray

_WIDTH, _WORK = 256, 6_000_000
"""Boxes side by side, and numbers in them, at the most."""
_OUTWARD = 1e-12


@dataclass(frozen=True)
class Boxes:
    """B boxes lower <= e <= upper (M, B) and their proved bounds (B,), -inf where nothing is in."""

    lower: FloatArray
    upper: FloatArray
    bound: FloatArray

    @property
    def count(self) -> int:
        """B."""
        return int(self.bound.size)

    def only(self, index: IntArray) -> Boxes:
        """Some of the boxes."""
        return Boxes(self.lower[:, index], self.upper[:, index], self.bound[index])

    def where(self, these: BoolArray, other: Boxes) -> Boxes:
        """These boxes (B,) and the others elsewhere."""
        return Boxes(
            np.where(these, self.lower, other.lower),
            np.where(these, self.upper, other.upper),
            np.where(these, self.bound, other.bound),
        )


@dataclass(frozen=True)
class Ground:
    """What all boxes of one walk share; `cut` in the question's unit, above which nothing is given up.

    `tangent` is the plane of the hull test, None where there is none.
    """

    question: Question
    cut: float
    tangent: Tangent | None

    @cached_property
    def like(self) -> Multipliers:
        """Multipliers of one box, for their shapes."""
        return template(self.question)

    @property
    def width(self) -> int:
        """Boxes side by side."""
        return max(8, min(_WIDTH, _WORK // self.question.layout.work))

    def root(self) -> Boxes:
        """The box of the whole problem."""
        return Boxes(self.question.lower, self.question.upper, np.full(1, np.inf))

    def tightened(self, boxes: Boxes) -> Boxes:
        """The boxes without what no optimum above the cut can be, but for the star bound."""
        question = self.question
        lower, upper, possible = by_constraints(question, boxes.lower, boxes.upper)
        lower, upper = np.where(possible, lower, boxes.lower), np.where(possible, upper, boxes.upper)
        _, pull_low = values_and_pulls(question.layout, rr.retention(lower, question.r))
        most, pull_high = values_and_pulls(question.layout, rr.retention(upper, question.r))
        small_lower, small_upper, told = by_first_order(question, lower, upper, pull_low, pull_high)
        possible &= told
        lower, upper = np.where(possible, small_lower, lower), np.where(possible, small_upper, upper)
        bound = np.where(possible, np.minimum(boxes.bound, most * (1 + _OUTWARD)), -np.inf)
        left = np.flatnonzero(bound > self.cut)
        if self.tangent is not None and left.size:
            plane = tangent_bounds(question, self.tangent, lower[:, left], upper[:, left])
            bound[left] = np.minimum(bound[left], plane)
        return Boxes(lower, upper, bound)

    def bounded(self, boxes: Boxes, numbers: dict[str, Numbers]) -> Boxes:
        """The boxes bounded at the multipliers of their rows, and smaller by reduced costs."""
        rows = dict(numbers)
        point = rows.pop("point").T.astype(np.float64)
        multipliers = unpacked(rows, self.like, self.question.layout)
        on = self.question.relaxation(boxes.lower, boxes.upper, np.where(np.isfinite(point), point, 0.0))
        with np.errstate(over="ignore", invalid="ignore"):
            found = evaluate(on, multipliers, passes=0)
            lower, upper, possible = reduced(on, found, self.cut, boxes.lower, boxes.upper)
        # what is not a number proves nothing
        sound = np.isfinite(found.bound)
        lower, upper = np.where(sound, lower, boxes.lower), np.where(sound, upper, boxes.upper)
        bound = np.where(sound, np.minimum(boxes.bound, found.bound), boxes.bound)
        return Boxes(lower, upper, np.where(sound & ~possible, -np.inf, bound))

    def in_objective_unit(self, bound: float) -> float:
        """A bound of the weighted sum, rounded up."""
        question = self.question
        return float(np.nextafter(bound * question.scale * cut_off(question.layout), np.inf))


@dataclass(frozen=True)
class Walked:
    """Where a walk ends: `bound` (N,) of every node that was met, -inf elsewhere or where nothing is in.

    `proved` is the bound of the whole, in the question's unit. `open` are the leaves above the cut, and
    `boxes` their boxes. `checked` counts the boxes met, `leaves` those that nothing follows, or needs to.
    """

    proved: float
    bound: FloatArray
    open: IntArray
    boxes: Boxes
    checked: int
    leaves: int


def walk(ground: Ground, tree: Tree, start: Boxes, check: Callable[[], None] | None = None) -> Walked:
    """Walk a whole tree from the boxes of its roots; `check` is called now and then and may raise."""
    bound = np.full(tree.count, -np.inf)
    level = np.arange(tree.roots)
    boxes = start
    ends: list[tuple[IntArray, Boxes]] = []
    checked = leaves = 0
    while level.size:
        following: list[tuple[IntArray, Boxes]] = []
        for begin in range(0, level.size, ground.width):
            if check is not None:
                check()
            part = slice(begin, begin + ground.width)
            index = level[part]
            found = _visited(ground, tree, index, boxes.only(np.arange(boxes.count)[part]))
            bound[index] = found.bound
            above = found.bound > ground.cut
            childless = tree.children[index] == 0
            checked, leaves = checked + index.size, leaves + int(np.sum(~above | childless))
            left = np.flatnonzero(above & childless)
            ends.append((index[left], found.only(left)))
            going = np.flatnonzero(above & ~childless)
            following.append(_children(tree, index[going], found.only(going)))
        level, boxes = _joined(following)
        order = np.argsort(level, kind="stable")
        level, boxes = level[order], boxes.only(order)
    index, left_open = _joined(ends)
    proved = max(ground.cut, float(np.max(left_open.bound, initial=-np.inf)))
    return Walked(proved, bound, index, left_open, checked, leaves)


def _visited(ground: Ground, tree: Tree, index: IntArray, boxes: Boxes) -> Boxes:
    """The boxes of some nodes as the walk leaves them."""
    found = ground.tightened(boxes)
    wanted = np.flatnonzero((found.bound > ground.cut) & tree.bounded[index])
    if not wanted.size:
        return found
    better = ground.bounded(found.only(wanted), rows_of(tree.numbers, tree.row[index[wanted]]))
    found.lower[:, wanted], found.upper[:, wanted] = better.lower, better.upper
    found.bound[wanted] = better.bound
    return found


def _children(tree: Tree, index: IntArray, boxes: Boxes) -> tuple[IntArray, Boxes]:
    """The children of some nodes: the same box, or both parts of it."""
    again = np.flatnonzero(tree.attribute[index] < 0)
    split = np.flatnonzero(tree.attribute[index] >= 0)
    first, second = halves(boxes.only(split), tree.attribute[index[split]], tree.at[index[split]])
    child = tree.first[index]
    return _joined([(child[again], boxes.only(again)), (child[split], first), (child[split] + 1, second)])


def halves(boxes: Boxes, attribute: IntArray, at: FloatArray) -> tuple[Boxes, Boxes]:
    """Both parts of every box, split in one attribute (B,) at an epsilon (B,); together they are the box."""
    every = np.arange(boxes.count)
    at = np.where(np.isfinite(at), at, 0.0)
    at = np.clip(at, boxes.lower[attribute, every], boxes.upper[attribute, every])
    first, second = boxes.only(every), boxes.only(every)
    first.upper[attribute, every] = at
    second.lower[attribute, every] = at
    return first, second


def _joined(parts: list[tuple[IntArray, Boxes]]) -> tuple[IntArray, Boxes]:
    """Nodes and boxes side by side."""
    return np.concatenate([index for index, _ in parts]), Boxes(
        np.concatenate([boxes.lower for _, boxes in parts], axis=1),
        np.concatenate([boxes.upper for _, boxes in parts], axis=1),
        np.concatenate([boxes.bound for _, boxes in parts]),
    )
