"""The star bound on many boxes at once: never violated, whatever the multipliers (GLOBAL_SOLVER 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from budget_opt.certificate.boxes import steps
from budget_opt.certificate.boxes.arcs import arcs_of
from budget_opt.certificate.boxes.bound import Limits, Multipliers, Relaxation, Rows, evaluate
from budget_opt.certificate.boxes.curvature import curvature, largest_curvature, least_log_curvature
from budget_opt.certificate.boxes.inner import Interval, inner_maxima
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.boxes.subgradient import Mixture, subgradient
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import log_retentions
from tests.solvers.random_problems import build, random_split


def random_arrays(seed: int, largest: int = 5, *, floored: bool = True) -> Arrays:
    """A random problem with moments of orders 1 to `largest`, floors, ceilings and two groups."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(4, 8))
    moments = {
        tuple(sorted(rng.choice(m, int(rng.integers(1, min(largest, m) + 1)), replace=False).tolist()))
        for _ in range(14)
    }
    total = float(rng.uniform(1, 12))
    floor = np.where(rng.random(len(moments)) < 0.2, 1e-9, 0.0) * floored
    groups = [([0, 1, 2], total * 0.5), ([1, 3], total * 0.4)]
    weight = rng.lognormal(0, 1, len(moments))
    given = {"weight": weight, "floor": floor}
    plain = build("weighted_sum", rng.integers(2, 40, m), sorted(moments), total, groups, **given)
    kept = np.exp(log_retentions(plain, np.full(m, 0.7 * total / m)))
    given["ceiling"] = np.where(rng.random(len(moments)) < 0.3, kept, 1.0)
    return build("weighted_sum", plain.cardinality, sorted(moments), total, groups, **given)


def relaxation(
    arrays: Arrays, rng: np.random.Generator, count: int
) -> tuple[Relaxation, FloatArray, FloatArray]:
    """Random boxes around random splits, with all budgets as rows; the relaxation and the ends."""
    splits = np.stack([0.6 * random_split(arrays, rng) for _ in range(count)], axis=1)
    width = 10.0 ** rng.uniform(-9, 1, (arrays.blocks, count))
    lower = np.maximum(splits - width * rng.random(splits.shape), 0.0)
    upper = np.minimum(splits + width * rng.random(splits.shape), arrays.upper[:, None])
    rows = np.zeros((len(arrays.budgets), arrays.blocks, 1))
    for row, budget in zip(rows, arrays.budgets, strict=True):
        row[budget.members] = 1.0
    caps = np.array([[float(budget.cap)] for budget in arrays.budgets])
    r = arrays.cardinality[:, None]
    point = rr.retention(lower + (upper - lower) * rng.random(splits.shape), r)
    limits = Limits(
        arrays.incidence[arrays.floors].toarray(),
        arrays.log_floor[arrays.floors],
        arrays.incidence[arrays.ceilings].toarray(),
        arrays.log_ceiling[arrays.ceilings],
    )
    layout = Layout.of(arrays.incidence, arrays.weight, np.exp(arrays.log_ceiling))
    return Relaxation.of(layout, r, (lower, upper), point, Rows(rows, caps, False), limits), lower, upper


def random_multipliers(on: Relaxation, rng: np.random.Generator) -> Multipliers:
    base = steps.first(on)
    scale = 10.0 ** rng.uniform(-3, 1, on.count)
    shares = []
    for share, degree in zip(base.shares, on.layout.degrees, strict=True):
        random = rng.exponential(size=share.shape) * (rng.random(share.shape) < 0.6) + 1e-9
        shares.append(random * (degree.weight[:, None] / np.sum(random, axis=1))[:, None])
    positive = [
        scale * rng.exponential(size=x.shape) * (rng.random(x.shape) < 0.6)
        for x in (base.nu, base.nested, base.mu, base.kappa, base.capped)
    ]
    return Multipliers(tuple(shares), *positive)


@pytest.mark.parametrize("seed", range(1, 13))
def test_no_feasible_point_of_a_box_passes_its_bound(seed: int) -> None:
    arrays, rng = random_arrays(seed, 6), np.random.default_rng(seed)
    on, lower, upper = relaxation(arrays, rng, 24)
    bounds = [evaluate(on, random_multipliers(on, rng), None, passes).bound for passes in (1, 3, 9)]
    bound = np.min(bounds, axis=0)
    met = 0
    for _ in range(60):
        points = lower + rng.random(lower.shape[1]) * (upper - lower) * rng.beta(0.6, 0.6, lower.shape)
        kept = rr.log_retention(np.maximum(points, 1e-300), on.r)
        logs = arrays.incidence @ kept
        feasible = np.all(logs >= arrays.log_floor[:, None], axis=0)
        feasible &= np.all(logs <= arrays.log_ceiling[:, None], axis=0)
        for budget in arrays.budgets:
            feasible &= np.sum(points[budget.members], axis=0) <= float(budget.cap)
        met += int(np.sum(feasible))
        assert np.all(arrays.weight @ np.exp(logs[:, feasible]) <= bound[feasible])
    assert met > 60


@pytest.mark.parametrize("degree", [2, 3, 4, 5, 6])
def test_every_arc_over_estimates_its_product(degree: int) -> None:
    rng = np.random.default_rng(degree)
    layout = Layout.of(
        build("weighted_sum", [3.0] * degree, [range(degree)], 1.0).incidence, np.ones(1)
    ).degrees[0]
    low = rng.random((degree, 60)) * rng.choice([0.0, 0.5], 60)
    high = low + (1 - low) * rng.random(low.shape)
    arcs = arcs_of(layout, low, high, low + (high - low) * rng.random(low.shape))
    for _ in range(40):
        z = low + (high - low) * rng.random(low.shape)
        whole = arcs.constant[0] + np.sum(arcs.linear[0] * z + 0.5 * arcs.bend[0] * z**2, axis=0)
        assert np.all(whole >= np.prod(z, axis=0) - 1e-12)
        if arcs.stars is not None:
            for centre in range(degree):
                others = np.delete(z, centre, axis=0)
                said = arcs.stars.constant[0, centre] + np.sum(arcs.stars.linear[0, centre] * others, axis=0)
                said += 0.5 * np.sum(arcs.stars.bend[0, centre] * others**2, axis=0)
                assert np.all(said >= np.prod(others, axis=0) - 1e-12)
        if arcs.facets is not None and layout.nesting is not None:
            for slot, rest in enumerate(layout.nesting.rest):
                said = arcs.facets.constant[0, slot] + np.sum(arcs.facets.slope[0, slot] * z[rest], axis=0)
                assert np.all(said >= np.prod(z[rest], axis=0) - 1e-12)


def test_innermost_maxima_are_never_below_a_grid_and_close_to_it() -> None:
    rng = np.random.default_rng(0)
    shape = 300, 40
    r = rng.integers(2, 400, (shape[0], 1)).astype(float)
    least = rng.random(shape) * 2 * (rng.random(shape) < 0.7)
    most = least + rng.random(shape) * 8
    low, high = rr.retention(least, r), rr.retention(most, r)
    w = rng.exponential(size=shape)
    nu = 10.0 ** rng.uniform(-5, 1, shape)
    found = inner_maxima(w, nu, Interval(r, low, high, least, most)).value
    best = np.full(shape, -np.inf)
    for share in np.linspace(0, 1, 400):
        z = np.clip(rr.retention(least + share * (most - least), r), low, high)
        best = np.maximum(best, w * z - nu * (rr.epsilon_for_retention(z, r) - least))
    assert np.all(found >= best - 1e-12)
    assert np.quantile(found - best, 0.999) < 1e-3


@pytest.mark.parametrize("seed", [3, 4])
def test_the_subgradient_is_the_derivative_of_the_bound(seed: int) -> None:
    arrays, rng = random_arrays(seed, 6, floored=False), np.random.default_rng(seed)
    on, _, _ = relaxation(arrays, rng, 20)
    now = evaluate(on, random_multipliers(on, rng), None, 60).multipliers
    found = evaluate(on, now, None, 60)
    slope = subgradient(on, found, Mixture.of(on, found))
    step = 1e-7

    def close(parts: FloatArray, moved: Callable[[float], Multipliers]) -> float:
        """The share of boxes on which differences agree with the derivative; the bound has kinks."""
        ahead, behind = (evaluate(on, moved(sign * step), None, 60).bound for sign in (1, -1))
        expected = np.sum(parts, axis=tuple(range(parts.ndim - 1)))
        near = np.abs((ahead - behind) / (2 * step) - expected) <= 1e-4 * (1 + np.abs(expected))
        return float(np.mean(near))

    for name in ("nu", "nested", "mu", "capped"):
        size = getattr(now, name)
        along = rng.random(size.shape)
        if name == "mu":
            along[0] = 0.0  # the first row's is found by the evaluation

        def priced(step: float, name: str = name, along: FloatArray = along) -> Multipliers:
            return replace(now, **{name: getattr(now, name) + step * along})

        assert close(getattr(slope, name) * along, priced) > 0.7
    for index, degree in enumerate(on.layout.degrees):
        along = rng.random(now.shares[index].shape) * degree.weight[:, None, None]

        def shared(step: float, index: int = index, along: FloatArray = along) -> Multipliers:
            shares = list(now.shares)
            shares[index] = shares[index] + step * along
            return replace(now, shares=tuple(shares))

        assert close(slope.shares[index] * along, shared) > 0.85


@pytest.mark.parametrize("cardinality", [2, 3, 12, 34, 35, 60, 700, 10**5])
def test_curvature_ranges_contain_the_curvature_between(cardinality: int) -> None:
    rng = np.random.default_rng(cardinality)
    r = np.full((200, 1), float(cardinality))
    low = 10.0 ** rng.uniform(-6, 1.2, r.shape)
    high = low + 10.0 ** rng.uniform(-6, 1.2, r.shape)
    most, least = largest_curvature(low, high, r), least_log_curvature(low, high, r)
    for share in np.linspace(0, 1, 50):
        e = low + share * (high - low)
        assert np.all(curvature(e, r) <= most + 1e-15)
        assert np.all(-rr.log_retention_curvature(e, r) >= least * (1 - 1e-11))
