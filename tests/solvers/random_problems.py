"""Problems as arrays for tests of certificates and solvers: by hand, and at random of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from budget_opt.mechanisms.exact import exact, float_at_most
from budget_opt.model.arrays import MINIMIZED, TOTAL, Arrays, Budget, FloatArray, Objective
from budget_opt.model.objectives import log_retentions, value


def build(
    objective: Objective,
    cardinality: Sequence[float],
    moments: Sequence[Sequence[int]],
    total: float | None = None,
    groups: Sequence[tuple[Sequence[int], float]] = (),
    **given: Any,
) -> Arrays:
    """Arrays of a small problem; `given` holds lower, upper (M,) and weight, floor, ceiling, ... (K,)."""
    m, k = len(cardinality), len(moments)
    lower = np.array(given.get("lower", np.zeros(m)), dtype=np.float64)
    stated = np.array(given.get("upper", np.full(m, np.inf)), dtype=np.float64)
    budgets = [] if total is None else [Budget(TOTAL, np.arange(m), exact(total))]
    budgets += [
        Budget(f"group {i}", np.array(members), exact(cap)) for i, (members, cap) in enumerate(groups)
    ]
    upper = stated.copy()
    for budget in budgets:
        left = budget.cap - _sum(lower[budget.members])
        for i in budget.members:
            upper[i] = max(lower[i], min(upper[i], float_at_most(exact(lower[i]) + left)))
    columns = [i for moment in moments for i in moment]
    starts = np.cumsum([0, *(len(moment) for moment in moments)])
    with np.errstate(divide="ignore"):
        log_floor = np.log(np.array(given.get("floor", np.zeros(k)), dtype=np.float64))
        log_ceiling = np.log(np.array(given.get("ceiling", np.ones(k)), dtype=np.float64))
    incidence = csr_array((np.ones(len(columns)), columns, starts), shape=(k, m))
    return Arrays(
        objective=objective,
        cardinality=np.array(cardinality, dtype=np.float64),
        lower=lower,
        upper=upper,
        stated_upper=stated,
        incidence=incidence,
        weight=np.array(given.get("weight", np.ones(k)), dtype=np.float64),
        log_floor=log_floor,
        log_ceiling=log_ceiling,
        target=np.array(given.get("target", np.ones(k)), dtype=np.float64),
        variance=np.array(given.get("variance", np.ones(k)), dtype=np.float64),
        detail=np.ones(k),
        spread_block=np.arange(m),
        spread_a=np.array(given.get("spread_a", np.ones(m)), dtype=np.float64),
        spread_b=np.array(given.get("spread_b", np.ones(m)), dtype=np.float64),
        spread_incidence=incidence,
        budgets=tuple(budgets),
    )


def _sum(epsilons: FloatArray) -> Fraction:
    return sum((exact(e) for e in epsilons), Fraction(0))


def broken(arrays: Arrays, epsilon: FloatArray) -> list[str]:
    """The constraints that a split breaks, budgets in exact decimals."""
    found = []
    if np.any(epsilon < arrays.lower) or np.any(epsilon > arrays.upper):
        found.append("bounds")
    found += [b.name for b in arrays.budgets if _sum(epsilon[b.members]) > b.cap]
    kept = log_retentions(arrays, epsilon)
    if np.any(kept < arrays.log_floor):
        found.append("floor")
    with_ceiling = arrays.log_ceiling < 0
    if np.any(kept[with_ceiling] > arrays.log_ceiling[with_ceiling]):
        found.append("ceiling")
    return found


def random_split(arrays: Arrays, rng: np.random.Generator, scale: float = 1.0) -> FloatArray:
    """A split within bounds and budgets, often sparse; floors and ceilings may be broken."""
    share = rng.dirichlet(np.full(arrays.blocks, rng.choice([0.2, 1.0, 5.0]))) + 1e-300
    left = min(
        (float(b.cap - _sum(arrays.lower[b.members])) / np.sum(share[b.members]) for b in arrays.budgets),
        default=scale,
    )
    highest = np.where(np.isfinite(arrays.upper), arrays.upper, np.inf)
    split: FloatArray = np.minimum(arrays.lower + (1 - 1e-12) * left * share, highest)
    return split


def no_split_is_beyond(arrays: Arrays, bound: float, seed: int, count: int) -> None:
    """The law of every bound, tried on random splits; those that break a constraint do not count."""
    rng = np.random.default_rng(seed)
    sign = -1.0 if arrays.objective in MINIMIZED else 1.0
    for _ in range(count):
        split = random_split(arrays, rng)
        if not broken(arrays, split):
            assert sign * value(arrays, split) <= sign * bound


def random_problem(
    seed: int, objective: Objective | None = None, *, floors: bool = True, ceilings: bool = False
) -> Arrays:
    """A feasible problem with up to 9 attributes; sizes, totals, weights, bounds, groups, floors all vary."""
    rng = np.random.default_rng(seed)
    kinds: list[Objective] = ["geometric_mean", "max_min", "min_epsilon", "min_variance", "weighted_sum"]
    chosen = objective or kinds[int(rng.integers(5))]
    m, total = (
        int(rng.integers(1, 10)),
        float(10 ** rng.choice([0.8, 0.3, 1.3, -1, -6, 3], p=[0.4, 0.2, 0.2, 0.1, 0.05, 0.05])),
    )
    moments = {
        tuple(sorted(rng.choice(m, min(m, int(rng.integers(1, 5))), replace=False).tolist()))
        for _ in range(int(rng.integers(1, 22)))
    }
    listed, k = sorted(moments), len(moments)
    given: dict[str, Any] = {"weight": _weights(rng, k), **_bounds(rng, m, total)}
    if rng.random() < 0.3:
        given |= {"spread_a": rng.uniform(0.2, 3, m), "spread_b": 10 ** rng.uniform(-1, 2, m)}
    if rng.random() < 0.3:
        given |= {"target": rng.uniform(0.1, 2, k), "variance": rng.uniform(0.1, 2, k)}
    cardinality = (
        rng.integers(2, 17, m) if rng.random() < 0.8 else (2 * 10 ** rng.uniform(0, 5.6, m)).astype(int)
    )
    groups = _groups(rng, m, total, given["lower"])
    plain = build(chosen, cardinality, listed, total, groups, **given)
    kept = np.exp(log_retentions(plain, random_split(plain, rng)))
    if floors and (chosen == "min_epsilon" or rng.random() < 0.4):
        wanted = np.where(rng.random(k) < 0.5, kept * rng.choice([0.5, 0.9, 0.99]), 0.0)
        given["floor"] = np.where(wanted > 1e-290, wanted, 0.0)
    if ceilings:
        wanted = np.where(rng.random(k) < 0.4, kept * rng.choice([1.01, 1.2, 2.0]), 1.0)
        given["ceiling"] = np.where((wanted > 1e-290) & (wanted < 1), wanted, 1.0)
    if chosen == "min_epsilon" and not groups and rng.random() < 0.5:
        return build(chosen, cardinality, listed, None, **given)
    return build(chosen, cardinality, listed, total, groups, **given)


def with_columns(arrays: Arrays, seed: int) -> Arrays:
    """The same blocks as clusters: each with one to three spread columns, of which a moment has one."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, arrays.blocks)
    first = np.cumsum(counts) - counts
    rows = arrays.incidence.indices
    chosen = first[rows] + (rng.random(rows.size) * counts[rows]).astype(np.int64)
    size = int(np.sum(counts))
    return replace(
        arrays,
        spread_block=np.repeat(np.arange(arrays.blocks), counts),
        spread_a=np.where(rng.random(size) < 0.3, 1.0, rng.uniform(1, 3, size)),
        spread_b=np.where(rng.random(size) < 0.3, 1.0, 10 ** rng.uniform(-1, 2, size)),
        spread_incidence=csr_array(
            (np.ones(rows.size), chosen, arrays.incidence.indptr), shape=(arrays.moments, size)
        ),
    )


def _weights(rng: np.random.Generator, k: int) -> FloatArray:
    weight = rng.lognormal(0, 1, k) if rng.random() < 0.8 else 10 ** rng.uniform(-6, 6, k)
    if rng.random() < 0.3:
        weight[rng.random(k) < 0.3] = 0.0
    if not weight.any():
        weight[0] = 1.0
    return np.asarray(weight)


def _bounds(rng: np.random.Generator, m: int, total: float) -> dict[str, FloatArray]:
    lower, upper = np.zeros(m), np.full(m, np.inf)
    if rng.random() < 0.3:
        lower = np.where(rng.random(m) < 0.3, total / m * rng.random(m) * 0.5, 0.0)
    if rng.random() < 0.3:
        upper = np.where(rng.random(m) < 0.3, lower + total / m * rng.random(m) * 2, np.inf)
    if rng.random() < 0.2:
        pinned = rng.random(m) < 0.2
        lower = np.where(pinned, total / m * 0.4, lower)
        upper = np.where(pinned, lower, upper)
    return {"lower": lower, "upper": upper}


def _groups(
    rng: np.random.Generator, m: int, total: float, lower: FloatArray
) -> list[tuple[list[int], float]]:
    if m == 1 or rng.random() > 0.3:
        return []
    groups = []
    for _ in range(int(rng.integers(1, 4))):
        members = sorted(rng.choice(m, int(rng.integers(1, m + 1)), replace=False).tolist())
        cap = float(np.sum(lower[members]) * 1.001 + total * rng.random() * len(members) / m * 1.5 + 1e-12)
        groups.append((members, cap))
    return groups
