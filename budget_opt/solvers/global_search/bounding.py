"""Dual steps on a batch of nodes, dropping those that are proved to be no better than the cut."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import evaluate
from budget_opt.certificate.boxes.subgradient import Mixture, subgradient
from budget_opt.certificate.pruning.question import Question
from budget_opt.certificate.pruning.reduced_costs import reduced
from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.global_search.branching import branching
from budget_opt.solvers.global_search.node import Batch, chosen, select

_LENGTH = 0.3
"""Of the step that would close the whole gap: what a box cannot close by steps it must not be asked to."""
STEPS = 8
_FIRST_PASSES, _PASSES = 8, 4
"""Of the outer maxima: in a new box, and after a step."""
_CROWDED = 0.7
"""A batch is copied without its dropped nodes once fewer than this share of it are left."""


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


def bounded(question: Question, batch: Batch, cut: float, count: int = STEPS) -> Bounded | None:
    """The batch after `count` dual steps, boxes tightened by reduced costs; None where no node survives."""
    on = question.relaxation(batch.lower, batch.upper, batch.point)
    work = batch
    kept, memory = np.arange(batch.count), None
    for step in range(count):
        found = evaluate(on, work.multipliers, work.hints, _FIRST_PASSES if step == 0 else _PASSES)
        work = replace(
            work,
            bound=np.minimum(work.bound, found.bound),
            multipliers=found.multipliers,
            hints=found.outer.hints,
        )
        alive = work.bound > cut
        last = step == count - 1
        if last or step == count // 2:
            lower, upper, possible = reduced(on, found, cut, work.lower, work.upper)
            work = replace(work, lower=lower, upper=upper)
            alive &= possible
        if not np.any(alive):
            return None
        if step == 0:
            start, at_start = found.multipliers, found.bound
        mixture = Mixture.of(on, found)
        if last:
            break
        memory = steps.direction(on.layout, subgradient(on, found, mixture), found.multipliers, memory)
        moved = steps.moved(
            on.layout, found.multipliers, memory, np.maximum(found.bound - cut, 0.0) * _LENGTH
        )
        work = replace(work, multipliers=moved)
        if np.mean(alive) < _CROWDED:
            index = np.flatnonzero(alive)
            on, work, memory, kept = on.only(index), work.only(index), select(memory, index), kept[index]
            start, at_start = select(start, index), at_start[index]
    split = branching(on, found, mixture, work.lower, work.upper)
    index = np.flatnonzero(alive)
    # steps that led far astray are taken back for the children
    better = found.bound <= at_start + np.maximum(at_start - cut, 0.0)
    multipliers = work.multipliers if np.all(better) else chosen(better, work.multipliers, start)
    work = replace(work, point=mixture.z, multipliers=multipliers)
    return Bounded(
        work.only(index), kept[index], mixture.e[:, index], split.attribute[index], split.at[index]
    )
