"""Dual steps on a batch of nodes, dropping those that are proved to be no better than the cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import Evaluation, Relaxation, evaluate
from budget_opt.certificate.boxes.subgradient import Mixture, subgradient
from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.global_search.node import Batch, select, tuple_of
from budget_opt.solvers.global_search.question import Question
from budget_opt.solvers.global_search.reduction import reduced

STEPS = 8
_CROWDED = 0.7
"""A batch is copied without its dropped nodes once fewer than this share of it are left."""


@dataclass(frozen=True)
class Bounded:
    """The nodes that survive, with their relaxation and its last evaluation; `kept` (B,) are their indices in the batch given."""

    batch: Batch
    on: Relaxation
    last: Evaluation
    mixture: Mixture
    kept: IntArray


def bounded(question: Question, batch: Batch, cut: float, count: int = STEPS) -> Bounded | None:
    """The batch after `count` dual steps, boxes tightened by reduced costs; None where no node survives."""
    on = question.relaxation(batch.lower, batch.upper, batch.point)
    kept = np.arange(batch.count)
    best, now, hints = batch.bound.copy(), batch.multipliers, batch.hints
    lower, upper = batch.lower, batch.upper
    memory = None
    for step in range(count):
        found = evaluate(on, now, hints, 8 if step == 0 else 4)
        best = np.minimum(best, found.bound)
        lower, upper, possible = reduced(on, found, cut, lower, upper) if step in (count // 2, count - 1) else (
            lower, upper, np.ones(best.size, dtype=bool)
        )
        alive = (best > cut) & possible
        if not np.any(alive):
            return None
        mixture = Mixture.of(on, found)
        if step == count - 1:
            break
        gradient = subgradient(on, found, mixture)
        memory = steps.direction(on.layout, gradient, found.multipliers, memory)
        now = steps.moved(on.layout, found.multipliers, memory, np.maximum(found.bound - cut, 0.0))
        hints = found.outer.hints
        if np.mean(alive) < _CROWDED:
            index = np.flatnonzero(alive)
            on, now, memory = on.only(index), select(now, index), select(memory, index)
            hints = tuple_of(tuple(hint[:, index] for hint in hints))
            lower, upper, best, kept = lower[:, index], upper[:, index], best[index], kept[index]
    after = Batch(lower, upper, mixture.z, found.multipliers, found.outer.hints, best)
    index = np.flatnonzero(alive)
    return Bounded(after, on, found, mixture, kept) if index.size == best.size else _only(
        Bounded(after, on, found, mixture, kept), index
    )
