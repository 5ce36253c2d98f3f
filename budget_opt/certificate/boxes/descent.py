"""Many steps on one box, until they gain little (GLOBAL_SOLVER 4.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.bound import Evaluation, Multipliers, Relaxation, evaluate
from budget_opt.certificate.boxes.subgradient import Mixture, subgradient
from budget_opt.model.arrays import FloatArray

_STEPS, _NESTED_STEPS = 110, 250
"""At most; more where the budget is multiplied twice: there are more multipliers, and more to gain."""
_WINDOW, _PROGRESS = 8, 0.1
"""So many steps must gain this share of the gap."""
_LENGTH, _SHORTEN, _PATIENCE = 1.5, 0.7, 4
"""Of a step; after so many without progress they become shorter, from the best point."""
_INERTIA = 0.8
_ROWS, _CHORDS = 0.3, 0.05
"""Prices of groups and of ceilings' chords start at this share of the first row's: few ceilings bind."""
_NESTED = 1e-3
"""Nested multipliers start at this share of the first row's price."""
_IDLE = 0.02
"""Share of the gap that they must close."""


def averaged(point: FloatArray, relaxed: FloatArray) -> FloatArray:
    """Where to put the next tangents: the running mean of relaxed points, in z.

    Single relaxed points swing far; tangents at their mean are much better.
    """
    return relaxed + _INERTIA * (point - relaxed)


def descended(on: Relaxation, cut: float, go_on: Callable[[float], bool]) -> tuple[Relaxation, Evaluation]:
    """The best evaluation of one box on a way down to `cut`, and the relaxation that it is of.

    `go_on` hears the best bound before every step, and may end it.
    """
    found = evaluate(on, _start(on), None, 20)
    best = on, found
    memory: Multipliers | None = None
    length, failures, window = _LENGTH, 0, found.bound
    count = _NESTED_STEPS if np.any(found.multipliers.nested) else _STEPS
    for step in range(1, count):
        lowest = best[1].bound
        if not go_on(float(lowest[0])) or np.all(lowest <= cut):
            break
        mixture = Mixture.of(on, found)
        memory = steps.direction(on.layout, subgradient(on, found, mixture), found.multipliers, memory)
        excess = np.maximum(found.bound - cut, 0.0) * length
        moved = steps.moved(on, found.multipliers, memory, excess)
        on = on.touching(averaged(on.point, mixture.z))
        found = evaluate(on, moved, found.outer.hints)
        failures += 1
        if np.all(found.bound < lowest):
            best, failures = (on, found), 0
        if failures == _PATIENCE:
            (on, found), memory, failures = best, None, 0
            length *= _SHORTEN
        if step % _WINDOW == 0:
            if np.all(window - best[1].bound <= _PROGRESS * (window - cut)):
                break
            window = best[1].bound
    return best[0], _settled(*best, cut)


def _settled(on: Relaxation, best: Evaluation, cut: float) -> Evaluation:
    """Without multiplying the budget twice, where that gains next to nothing."""
    if not np.any(best.multipliers.nested):
        return best
    single = replace(best.multipliers, nested=np.zeros_like(best.multipliers.nested))
    once = evaluate(on, single, best.outer.hints)
    return once if np.all(once.bound - best.bound <= _IDLE * (best.bound - cut)) else best


def _start(on: Relaxation) -> Multipliers:
    """Every row has some price to begin with, at every level."""
    first = evaluate(on, steps.first(on), None, 20).multipliers
    mu = first.mu.copy()
    mu[1:] = _ROWS * mu[0]
    mu[len(mu) - on.ceilings :] = _CHORDS * mu[0]
    nested = first.nested + _NESTED * mu[:, None]
    return replace(first, mu=mu, nu=first.nu + 0.1 * mu[:, None], nested=nested)
