"""Dual steps on a batch of nodes, dropping those that are proved to be no better than the cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import Evaluation, Relaxation, evaluate
from budget_opt.certificate.boxes.descent import averaged
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.boxes.subgradient import Mixture, subgradient
from budget_opt.certificate.pruning.reduced_costs import reduced
from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.global_search.branching import branching
from budget_opt.solvers.global_search.node import Batch, chosen, select

STEPS = 10
_LENGTH, _SHORTEN = 1.5, 0.7
"""Of the step that would close the whole gap; a box's becomes shorter when a step did not lower its bound."""
_FIRST_PASSES, _PASSES = 4, 2
"""Of the outer maxima: in a new box, and after a step."""
_CROWDED = 0.7
"""A batch is copied without its dropped nodes once fewer than this share of it are left."""


Heard = Callable[[Batch, IntArray, Relaxation, Evaluation, bool], None]
"""Takes an evaluation, which of its nodes are still open, and whether it makes their boxes smaller."""


class Asked(Protocol):
    """What boxes are of: one question, or several side by side."""

    @property
    def layout(self) -> Layout:
        """That of every box."""

    def relaxation(self, lower: FloatArray, upper: FloatArray, point: FloatArray) -> Relaxation:
        """The relaxation on boxes (M, B) with tangents at `point` in z."""

    def only(self, index: IntArray) -> Self:
        """What some of the boxes are of."""


@dataclass(frozen=True)
class Bounded:
    """The survivors: `kept` (B,) their indices in the batch given, `relaxed` (M, B) their relaxed points.

    `attribute` and `at` (B,) say where to split each of them, in epsilon.
    """

    batch: Batch
    kept: IntArray
    relaxed: FloatArray
    attribute: IntArray
    at: FloatArray

    def only(self, index: IntArray, before: int) -> Bounded:
        """Some of the survivors, of a batch that began after so many nodes of this one."""
        return Bounded(
            self.batch.only(index),
            self.kept[index] - before,
            self.relaxed[:, index],
            self.attribute[index],
            self.at[index],
        )


def bounded(
    question: Asked,
    batch: Batch,
    cut: float | FloatArray,
    count: int = STEPS,
    heard: Heard | None = None,
) -> Bounded | None:
    """The batch after `count` dual steps, boxes tightened by reduced costs; None where no node survives.

    `cut` is one for all, or one a node (B,). `heard` is told of every evaluation.
    """
    cut = np.broadcast_to(cut, batch.bound.shape)
    on = question.relaxation(batch.lower, batch.upper, batch.point)
    work = replace(batch, multipliers=steps.seeded(question.layout, batch.multipliers))
    kept = np.arange(batch.count)
    memory, length = None, np.full(batch.count, _LENGTH)
    best, lowest = batch.multipliers, np.full(batch.count, np.inf)
    for step in range(count + 1):
        last, reducing = step == count, step in (count // 2, count)
        found = evaluate(
            on, best if last else work.multipliers, work.hints, _PASSES if step else _FIRST_PASSES
        )
        if heard is not None:
            heard(work, np.flatnonzero(work.bound > cut), on, found, reducing)
        better = found.bound < lowest
        length, lowest = np.where(better, length, length * _SHORTEN), np.minimum(lowest, found.bound)
        best = chosen(better, found.multipliers, best)
        bound, mixture = np.minimum(work.bound, found.bound), Mixture.of(on, found)
        point = averaged(on.point, mixture.z)
        work = replace(work, point=point, bound=bound, hints=found.outer.hints)
        alive = bound > cut
        if reducing:
            lower, upper, possible = reduced(on, found, cut, work.lower, work.upper)
            work = replace(work, lower=lower, upper=upper)
            alive &= possible
        if not np.any(alive):
            return None
        if last:
            break
        memory = steps.direction(on.layout, subgradient(on, found, mixture), found.multipliers, memory)
        excess = np.maximum(found.bound - cut, 0.0) * length
        work = replace(work, multipliers=steps.moved(on, found.multipliers, memory, excess))
        if np.mean(alive) < _CROWDED:
            index = np.flatnonzero(alive)
            on, work, memory, best = (
                on.only(index),
                work.only(index),
                select(memory, index),
                select(best, index),
            )
            question, cut = question.only(index), cut[index]
            kept, length, lowest = kept[index], length[index], lowest[index]
        on = question.relaxation(work.lower, work.upper, work.point) if reducing else on.touching(work.point)
    split = branching(on, found, mixture, work.lower, work.upper)
    index = np.flatnonzero(alive)
    work = replace(work, multipliers=best).only(index)
    return Bounded(work, kept[index], mixture.e[:, index], split.attribute[index], split.at[index])
