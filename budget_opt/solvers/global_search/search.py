"""Best-first branch and bound in wide batches."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from budget_opt.certificate.boxes.bound import cut_off
from budget_opt.certificate.proof.packing import template
from budget_opt.certificate.pruning.hull import Tangent, tangent_at, tangent_bounds
from budget_opt.certificate.pruning.question import Question
from budget_opt.certificate.pruning.tightening import by_constraints, by_first_order, values_and_pulls
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import BoolArray, FloatArray
from budget_opt.solvers.global_search.bounding import Bounded, Heard, bounded
from budget_opt.solvers.global_search.node import Batch, Node, Queue, flattened, gathered
from budget_opt.solvers.global_search.recording import Recording
from budget_opt.solvers.global_search.root import first_batch

_WIDTH = 256
_WORK = 6_000_000
"""Numbers in one batch at most."""
_POINTS, _EARLY, _SELDOM = 4, 4, 10
"""Relaxed points tried at a time: after each of the first batches, then after every so many."""
_AGAIN = 0.7
"""A box that shrank to this share of its width by tightening alone is bounded again before it is split."""
Told = Callable[[float, int], None]
Rounds = Generator[Batch, Bounded | None, None]
"""Gives batches to be bounded, and takes what is left of each."""


class Incumbent(Protocol):
    """The best split known, and what tries to better it."""

    @property
    def value(self) -> float:
        """Its weighted sum."""

    @property
    def split(self) -> FloatArray:
        """The split (M,)."""

    def improve(self, points: FloatArray, *, thoroughly: bool) -> bool:
        """Try relaxed points (M, S), the most promising first; True where the split became better."""


@dataclass
class Search:
    """The state of one search; nodes at or below `cut` are dropped (in the question's unit).

    `bound` is proved at any moment, also between two steps: no feasible split has a larger weighted sum.
    `recording` takes down what is needed to walk the same boxes again; it calls the root `name`.
    """

    question: Question
    gap: float
    incumbent: Incumbent
    check: Callable[[], None]
    queue: Queue = field(default_factory=Queue)
    nodes: int = 0
    in_hand: float = np.inf
    tangent: Tangent | None = None
    recording: Recording | None = None
    name: int = 0

    def __post_init__(self) -> None:
        question = self.question
        most, _ = values_and_pulls(question.layout, rr.retention(question.upper, question.r))
        self.in_hand = min(self.in_hand, float(most[0]) * (1 + 1e-12))

    @property
    def cut(self) -> float:
        """Slightly below value (1 + gap), so that a search that ends has proved the gap."""
        return (
            self.incumbent.value
            * (1.0 + 0.99 * self.gap)
            / self.question.scale
            / cut_off(self.question.layout)
        )

    @property
    def bound(self) -> float:
        """The largest of: open nodes, nodes in hand, and the cut, up to which everything else was dropped."""
        highest = max(self.queue.bound, self.in_hand, self.cut)
        return float(np.nextafter(highest * self.question.scale * cut_off(self.question.layout), np.inf))

    def run(self, told: Told) -> None:
        """Search until no node is above the cut; `told` hears bound and nodes after every batch."""
        rounds, survived = self.rounds(told), None
        with suppress(StopIteration):
            while True:
                batch = rounds.send(survived)
                survived = bounded(self.question, batch, self.cut, heard=self.heard)

    def rounds(self, told: Told) -> Rounds:
        """The batches of the search, each to be bounded by whoever runs it.

        Whatever ends it, and between any two rounds, `bound` is proved.
        """
        self.renew_tangent()
        root = self._root(told)
        self._take((yield root), root)
        self.in_hand = -np.inf
        yield from self.further(told)

    @property
    def width(self) -> int:
        """Boxes in one batch."""
        return max(8, min(_WIDTH, _WORK // self.question.layout.work))

    def further(self, told: Told, *, led: bool = False) -> Rounds:
        """The batches that follow from the queue; a search that was `led` has a good split already."""
        like, width = template(self.question), self.width
        turn = _EARLY if led else 0
        while self.queue.bound > self.cut:
            self.check()
            self.in_hand = self.queue.bound
            parents = self.queue.pop(width // 2, self.cut)
            batch = self.tightened(_children(gathered(parents, like), parents, self.recording))
            survived = None
            if batch is not None:
                self.nodes += batch.count
                survived = yield batch
                self._take(survived, batch)
            self.in_hand = -np.inf
            if survived is not None and (turn < _EARLY or turn % _SELDOM == 0):
                self._improve(survived, thoroughly=turn < 2 or turn % (4 * _SELDOM) == 0)
            turn += 1
            told(self.bound, self.nodes)

    @property
    def heard(self) -> Heard | None:
        """What hears of every evaluation."""
        return None if self.recording is None else self.recording.heard

    def _root(self, told: Told) -> Batch:
        """The root after many steps."""
        question = self.question
        self.nodes = 1

        def proved(bound: float) -> None:
            self.in_hand = min(self.in_hand, bound)
            told(self.bound, self.nodes)
            self.check()

        ends = question.lower, question.upper
        on = question.relaxation(*ends, rr.retention(self.incumbent.split[:, None], question.r))
        return replace(first_batch(on, ends, self.cut, proved), name=np.array([self.name]))

    def _improve(self, survived: Bounded, *, thoroughly: bool) -> None:
        """Try the relaxed points of the most promising nodes."""
        order = np.argsort(-survived.batch.bound, kind="stable")[:_POINTS]
        if self.incumbent.improve(survived.relaxed[:, order], thoroughly=thoroughly):
            self.renew_tangent()

    def renew_tangent(self) -> None:
        """The hull test's plane at the best split."""
        if len(self.question.caps) == 1 and not self.question.log_ceiling.size:
            self.tangent = tangent_at(self.question, self.incumbent.split)

    def _take(self, found: Bounded | None, batch: Batch) -> None:
        """Queue the survivors of a batch."""
        if found is None:
            return
        after = found.batch
        width_before = np.sum(batch.upper - batch.lower, axis=0)[found.kept]
        self.push(found, np.sum(after.upper - after.lower, axis=0) < _AGAIN * width_before)

    def push(self, found: Bounded, again: BoolArray) -> None:
        """Queue nodes to be split, or bounded `again` (B,) before."""
        after = found.batch
        numbers = flattened(after)
        for b in range(after.count):
            self.queue.push(
                Node(
                    after.lower[:, b].copy(),
                    after.upper[:, b].copy(),
                    float(after.bound[b]),
                    int(found.attribute[b]),
                    float(found.at[b]),
                    bool(again[b]),
                    numbers[:, b].copy(),
                    int(after.name[b]),
                )
            )

    def tightened(self, batch: Batch) -> Batch | None:
        """Boxes tightened before any dual step, without those that cannot hold a better optimum."""
        question = self.question
        lower, upper, possible = by_constraints(question, batch.lower, batch.upper)
        index = np.flatnonzero(possible)
        batch, lower, upper = batch.only(index), lower[:, index], upper[:, index]
        if not index.size:
            return None
        _, pull_low = values_and_pulls(question.layout, rr.retention(lower, question.r))
        most, pull_high = values_and_pulls(question.layout, rr.retention(upper, question.r))
        lower, upper, possible = by_first_order(question, lower, upper, pull_low, pull_high)
        most = most * (1 + 1e-12)
        possible &= most > self.cut
        if self.tangent is not None:
            possible &= tangent_bounds(question, self.tangent, lower, upper) > self.cut
        index = np.flatnonzero(possible)
        if not index.size:
            return None
        batch = batch.only(index)
        bound = np.minimum(batch.bound, most[index])
        return replace(batch, lower=lower[:, index], upper=upper[:, index], bound=bound)


def _children(batch: Batch, nodes: list[Node], recording: Recording | None) -> Batch:
    """Both parts of every node; a node that is to be bounded again stays whole."""
    split = [b for b, node in enumerate(nodes) if not node.again]
    index = np.array([*range(len(nodes)), *split])
    children = batch.only(index)
    lower, upper, name = children.lower, children.upper, children.name
    if recording is not None:
        for b, node in enumerate(nodes):
            name[b] = recording.child(node)
        name[len(nodes) :] = name[split] + 1
    for second, b in enumerate(split, start=len(nodes)):
        upper[nodes[b].attribute, b] = nodes[b].at
        lower[nodes[b].attribute, second] = nodes[b].at
    return children
