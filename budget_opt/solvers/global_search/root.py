"""The first node: many steps, until they gain little (GLOBAL_SOLVER 4.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import Evaluation, Multipliers, Relaxation, evaluate
from budget_opt.certificate.boxes.subgradient import Mixture, subgradient
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.global_search.node import Batch

_STEPS = 110
_WINDOW, _PROGRESS = 25, 0.02
"""So many steps must gain this share of the gap."""
_PATIENCE, _SHORTEN = 8, 0.7
"""Steps without progress after which they become shorter."""


def first_batch(
    on: Relaxation, ends: tuple[FloatArray, FloatArray], cut: float, proved: Callable[[float], None]
) -> Batch:
    """The root, bounded, as a batch of one; `proved` hears the best bound before every step."""
    start = evaluate(on, steps.first(on), None, 20).multipliers
    mu = start.mu.copy()
    mu[1:] = 0.3 * mu[0]  # to begin with, every row has some price
    best = _descended(on, replace(start, mu=mu, nu=start.nu + 0.1 * mu[:, None]), cut, proved)
    return Batch(*ends, Mixture.of(on, best).z, best.multipliers, best.outer.hints, best.bound)


def _descended(on: Relaxation, start: Multipliers, cut: float, proved: Callable[[float], None]) -> Evaluation:
    best = found = evaluate(on, start, None, 20)
    memory: Multipliers | None = None
    length, patience, mark, window = 1.0, 0, best.bound, best.bound
    for step in range(1, _STEPS):
        proved(float(best.bound[0]))
        if np.all(best.bound <= cut):
            break
        gradient = subgradient(on, found, Mixture.of(on, found))
        memory = steps.direction(on.layout, gradient, found.multipliers, memory)
        excess = np.maximum(found.bound - cut, 0.0) * length
        moved = steps.moved(on.layout, found.multipliers, memory, excess, steps.ROOT_METRIC)
        found = evaluate(on, moved, found.outer.hints, 6)
        if np.all(found.bound < best.bound):
            best = found
        patience += 1
        if np.all(mark - best.bound > _PROGRESS * (mark - cut)):
            mark, patience = best.bound, 0
        if patience >= _PATIENCE:
            length, patience, mark = length * _SHORTEN, 0, best.bound
            found, memory = best, None
        if step % _WINDOW == 0:
            if np.all(window - best.bound <= _PROGRESS * (window - cut)):
                break
            window = best.bound
    return best
