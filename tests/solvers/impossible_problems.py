"""Random small problems with every kind of constraint, most of them impossible."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from budget_opt.mechanisms.exact import exact
from budget_opt.model.arrays import Arrays, FloatArray
from tests.solvers.random_problems import build


def crowded_problem(seed: int) -> Arrays:
    """Two to five attributes under floors, and often ceilings, bounds, pins and groups too tight for them."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 6))
    moments = sorted(
        {
            tuple(sorted(rng.choice(m, int(rng.integers(1, min(m, 3) + 1)), replace=False).tolist()))
            for _ in range(int(rng.integers(2, 7)))
        }
    )
    k = len(moments)
    floor = np.where(rng.random(k) < 0.7, rng.uniform(0.05, 0.8, k), 0.0)
    ceiling = np.ones(k)
    if rng.random() < 0.4:
        wanted = np.maximum(rng.uniform(0.02, 0.9, k), 1.05 * floor)
        ceiling = np.where(rng.random(k) < 0.4, np.minimum(wanted, 1.0), 1.0)
    lower, upper = _bounds(rng, m)
    groups = []
    for _ in range(int(rng.choice([0, 1, 2]))):
        members = sorted(rng.choice(m, int(rng.integers(1, m + 1)), replace=False).tolist())
        groups.append(
            (members, _above(lower[members], rng.choice([0.0, 1.0], p=[0.1, 0.9]) * rng.uniform(0, 2)))
        )
    total = _above(lower, rng.choice([0.0, 1.0], p=[0.1, 0.9]) * rng.uniform(0, 6))
    return build(
        "geometric_mean", rng.integers(2, 9, m), moments, total, groups,
        lower=lower, upper=upper, floor=floor, ceiling=ceiling,
    )  # fmt: skip


def _bounds(rng: np.random.Generator, m: int) -> tuple[FloatArray, FloatArray]:
    lower, upper = np.zeros(m), np.full(m, np.inf)
    if rng.random() < 0.5:
        lower = np.where(rng.random(m) < 0.4, rng.uniform(0.1, 2, m).round(3), 0.0)
    if rng.random() < 0.5:
        upper = np.where(rng.random(m) < 0.4, lower + rng.uniform(0, 2, m).round(3), np.inf)
    if rng.random() < 0.3:
        pinned = rng.random(m) < 0.3
        lower = np.where(pinned, rng.choice([0.0, 0.5, 1.0, 2.0]), lower)
        upper = np.where(pinned, lower, upper)
    return lower, upper


def _above(lower: FloatArray, room: float) -> float:
    """A cap that leaves this room, exactly none for 0."""
    return float(sum((exact(e) for e in lower), Fraction(0)) + exact(round(room, 3)))
