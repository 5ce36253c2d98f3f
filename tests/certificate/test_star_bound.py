"""The bound of weighted sums: arcs, one-dimensional maxima, weak duality (GLOBAL_SOLVER 2, 6)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.certificate import certify
from budget_opt.certificate.stars.bound import Boxes, StarMultipliers, evaluate
from budget_opt.certificate.stars.descent import Descent, descend, first_multipliers
from budget_opt.certificate.stars.envelopes import envelope
from budget_opt.certificate.stars.maxima import Psi, closed_inner, peak
from budget_opt.certificate.stars.root import root_boxes
from budget_opt.certificate.stars.structure import Degree, Structure
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray
from budget_opt.model.objectives import log_retentions, value
from tests.solvers.random_problems import broken, build, random_problem, random_split


def _column(*numbers: float) -> FloatArray:
    return np.array(numbers)[:, None]


@pytest.mark.parametrize("degree", [2, 3, 4, 5, 6])
def test_every_arc_over_estimates_its_product_on_the_box(degree: int) -> None:
    rng = np.random.default_rng(degree)
    terms = Degree(np.arange(degree)[None, :], np.ones(1))
    for _ in range(50):
        low = rng.random(degree) * rng.choice([0.0, 0.5])
        high = low + (1 - low) * rng.random(degree)
        point = low + (high - low) * rng.random(degree)
        arcs = envelope(terms, low[:, None], high[:, None], point[:, None])
        z = low + (high - low) * rng.random((40, degree))
        for arc, centre in enumerate(terms.centres):
            others = [q for q in range(degree) if q != centre]
            said = arcs.constant[0, arc, 0] + np.sum(
                arcs.linear[0, arc, :, 0] * z + 0.5 * arcs.quadratic[0, arc, :, 0] * z**2, axis=1
            )
            assert np.all(said >= np.prod(z[:, others], axis=1) - 1e-12)


def test_tangent_arcs_touch_at_their_point() -> None:
    terms = Degree(np.array([[0, 1, 2]]), np.ones(1))
    point = _column(0.3, 0.5, 0.7)
    arcs = envelope(terms, _column(0.0, 0.1, 0.2), _column(0.9, 0.8, 1.0), point)
    said = arcs.constant[0, -1, 0] + np.sum(
        arcs.linear[0, -1] * point + 0.5 * arcs.quadratic[0, -1] * point**2
    )
    assert said == pytest.approx(0.3 * 0.5 * 0.7, rel=1e-14)


def _random_psi(rng: np.random.Generator, count: int) -> Psi:
    def size(low: float, high: float) -> FloatArray:
        return 10.0 ** rng.uniform(low, high, count) * (rng.random(count) < 0.8)

    r = np.where(rng.random(count) < 0.5, rng.integers(2, 20, count), 10.0 ** rng.uniform(0.4, 6, count))
    low = rng.random(count) * (rng.random(count) < 0.7) * 0.9
    high = low + (1 - 2**-50 - low) * rng.random(count) ** rng.choice([0.05, 1.0, 4.0], count)
    sign = rng.choice([-1.0, 1.0], (2, count))
    return Psi(
        sign[0] * size(-2, 2), sign[1] * size(-2, 2), size(-2, 2), size(-3, 1), size(-3, 1), r, low, high
    )


def test_the_one_dimensional_maxima_are_never_below_a_fine_grid_and_close_to_it() -> None:
    rng = np.random.default_rng(0)
    psi = _random_psi(rng, 4000)
    found = peak(psi)
    shares = np.concatenate([np.linspace(0, 1, 400), 1 - 10.0 ** np.linspace(-1, -12, 60)])
    values = np.stack([psi.value(psi.low + share * (psi.high - psi.low)) for share in shares])
    on_grid = np.max(values, axis=0)
    size = np.abs(psi.c) + np.abs(psi.d) + psi.d2 + (psi.nu + psi.mu) * 40 + 1e-9
    assert np.all(found.value >= on_grid - 1e-13 * size)
    assert np.quantile((found.value - on_grid) / size, 0.99) < 1e-5
    assert np.all(psi.value(found.z) <= found.value + 1e-13 * size)


def test_the_counterexample_to_the_shape_in_epsilon_is_bounded_in_z() -> None:
    # GLOBAL_SOLVER_PROOFS 1: in epsilon psi is not convex-then-concave here
    r = 101.0
    high = float(rr.retention(1.5, r))
    psi = Psi(*(_column(x) for x in (1.5, 0.0, 0.4 * r, 1.0, 1.495 / r, r, 0.0, high)))
    grid = np.linspace(0, high, 200_001)[None, :]
    assert float(peak(psi).value[0, 0]) >= float(np.max(psi.value(grid)))


def test_the_rare_second_convex_piece_is_covered() -> None:
    # signs of the curvature (+) - + -: where the exact test of GLOBAL_SOLVER_PROOFS 1 finds trouble
    rng = np.random.default_rng(1)
    count = 200_000
    r = 10.0 ** rng.uniform(1, 4, count)
    d2 = np.ones(count)
    nu = d2 * r / (8 * (r - 1)) * rng.uniform(0.2, 1.33, count)
    low, high = np.zeros(count), np.full(count, 0.999)
    psi = Psi(
        rng.normal(size=count),
        rng.normal(size=count),
        d2,
        nu,
        10.0 ** rng.uniform(-8, 0, count),
        r,
        low,
        high,
    )
    found = peak(psi).value
    for share in np.linspace(0, 1, 60) ** 3:
        assert np.all(found >= psi.value(low + share * (high - low)) - 1e-12)


def test_the_closed_inner_maximum_is_never_below_a_grid() -> None:
    rng = np.random.default_rng(2)
    psi = _random_psi(rng, 3000)
    zero = np.zeros_like(psi.c)
    inner = replace(psi, c=zero, nu=zero, d2=zero)
    found = closed_inner(inner).value
    for share in np.linspace(0, 1, 300):
        z = inner.low + share * (inner.high - inner.low)
        assert np.all(found >= inner.value(z) - 1e-13 * (np.abs(inner.d) + 40 * inner.mu))


def _random_multipliers(boxes: Boxes, rng: np.random.Generator, scale: float) -> StarMultipliers:
    base = first_multipliers(boxes)
    shares = []
    for share, degree in zip(base.shares, boxes.structure.degrees, strict=True):
        drawn = rng.exponential(size=share.shape) ** rng.choice([1, 4])
        shares.append(drawn / np.sum(drawn, axis=1, keepdims=True) * degree.weight[:, None, None])
    price = (float(np.max(base.mu, initial=0.0)) + 1e-9) * 10.0 ** rng.uniform(-2, 1)
    return StarMultipliers(
        tuple(shares),
        rng.exponential(size=base.nu.shape) * price * (rng.random(base.nu.shape) < 0.7),
        rng.exponential(size=base.mu.shape) * price,
        rng.exponential(size=base.kappa.shape) * scale * 10.0 ** rng.uniform(-3, 0),
    )


@given(seed=st.integers(0, 10**6), ceilings=st.booleans())
@settings(max_examples=25)
def test_no_feasible_split_passes_the_bound_under_any_multipliers(seed: int, ceilings: bool) -> None:
    arrays = random_problem(seed, "weighted_sum", ceilings=ceilings)
    rng = np.random.default_rng(seed)
    splits = [random_split(arrays, rng) for _ in range(30)]
    feasible = [value(arrays, split) for split in splits if not broken(arrays, split)]
    scale = float(np.max(arrays.weight))
    boxes = root_boxes(arrays, splits[0], scale)
    for _ in range(3):
        multipliers = _random_multipliers(boxes, rng, max(feasible, default=1.0) / scale)
        limit = float(evaluate(boxes, multipliers).bound[0]) * scale
        assert all(reached <= limit for reached in feasible)


@given(seed=st.integers(0, 10**6), width=st.floats(-4, -0.3))
@settings(max_examples=40)
def test_small_boxes_around_a_split_are_never_bounded_below_its_value(seed: int, width: float) -> None:
    # small boxes leave the bound next to no slack, so that a wrong term shows
    rng = np.random.default_rng(seed)
    arrays = random_problem(seed, "weighted_sum", floors=False)
    split = random_split(arrays, rng)
    kept = np.exp(log_retentions(arrays, split))
    floor = np.where((kept > 1e-290) & (rng.random(kept.size) < 0.3), kept * (1 - 1e-9), 0.0)
    with np.errstate(divide="ignore"):
        arrays = replace(arrays, log_floor=np.log(floor))
    scale = float(np.max(arrays.weight))
    root = root_boxes(arrays, split, scale)
    z = root.point
    low = z - (z - root.low) * 10.0**width * rng.random(z.shape)
    high = z + (root.high - z) * 10.0**width * rng.random(z.shape)
    boxes = replace(root, low=np.minimum(low, z), high=np.maximum(high, z), point=z)
    best = descend(boxes, first_multipliers(boxes), Descent(np.zeros(1), np.zeros(1), 8))
    limits = [float(best.bound[0]), float(evaluate(boxes, _random_multipliers(boxes, rng, 0.1)).bound[0])]
    assert min(limits) * scale >= value(arrays, split) * (1 - 1e-13)


def test_many_boxes_at_once_say_what_each_says_alone() -> None:
    arrays = random_problem(5, "weighted_sum")
    rng = np.random.default_rng(5)
    one = root_boxes(arrays, random_split(arrays, rng), 1.0)
    ends = [one.low + (one.high - one.low) * share for share in (0.0, 0.2, 0.5)]
    points = [np.maximum(end, one.point) for end in ends]
    many = replace(one, low=np.hstack(ends), high=np.hstack([one.high] * 3), point=np.hstack(points))
    together = evaluate(many, _random_multipliers(many, np.random.default_rng(0), 1.0))
    for b in range(3):
        alone = replace(one, low=ends[b], point=points[b])
        used = _random_multipliers(many, np.random.default_rng(0), 1.0)
        own = StarMultipliers(
            tuple(share[..., b : b + 1] for share in used.shares),
            used.nu[..., b : b + 1],
            used.mu[..., b : b + 1],
            used.kappa[..., b : b + 1],
        )
        assert evaluate(alone, own).bound[0] == pytest.approx(together.bound[b], rel=1e-9)


def test_the_bound_is_convex_and_its_gradient_a_subgradient() -> None:
    arrays = build(
        "weighted_sum",
        [4, 5, 3, 6],
        [[0, 1], [1, 2], [0, 1, 2], [2, 3], [0, 1, 2, 3]],
        4.0,
        floor=[0.05, 0, 0, 0, 0],
    )
    rng = np.random.default_rng(3)
    boxes = root_boxes(arrays, np.ones(4), 1.0)
    for _ in range(12):
        here, there = (_random_multipliers(boxes, rng, 0.2) for _ in range(2))
        at = evaluate(boxes, here)
        slope = float(np.sum(at.gradient.nu * (there.nu - here.nu)))
        slope += float(np.sum(at.gradient.kappa * (there.kappa - here.kappa)))
        slope += sum(
            float(np.sum(g * (b - a)))
            for g, a, b in zip(at.gradient.shares, here.shares, there.shares, strict=True)
        )
        reached = float(evaluate(boxes, there).bound[0])
        assert reached >= float(at.bound[0]) + slope - 2e-3 * (abs(reached) + abs(slope))


def test_with_a_large_budget_the_root_bound_is_exact() -> None:
    arrays = build("weighted_sum", [4, 4, 4], [[0, 1], [1, 2], [0, 2]], 60.0)
    certificate = certify(arrays, np.full(3, 20.0))
    assert certificate.bound >= certificate.value
    assert certificate.relative_gap <= 1e-6


def test_a_single_active_pair_is_proved_at_the_root() -> None:
    arrays = build("weighted_sum", [4, 4], [[0, 1]], 4.0)
    certificate = certify(arrays, np.array([2.0, 2.0]))
    assert certificate.relative_gap <= 1e-3


def test_weights_of_zero_and_single_attributes_are_understood() -> None:
    arrays = build("weighted_sum", [4, 3, 5], [[0], [1, 2], [0, 1]], 2.0, weight=[1.0, 0.0, 0.0])
    certificate = certify(arrays, np.array([2.0, 0.0, 0.0]))
    assert certificate.value == pytest.approx(float(rr.retention(2.0, 4)))
    assert certificate.relative_gap <= 1e-6
    nothing = replace(arrays, weight=np.zeros(3))
    assert certify(nothing, np.zeros(3)).relative_gap == 0.0


def test_structure_lists_every_ordered_pair_of_a_term_once() -> None:
    arrays = build("weighted_sum", [2] * 4, [[0, 1], [0, 1, 2], [3]], 1.0)
    structure = Structure.of(arrays.incidence, arrays.weight)
    pairs = set(zip(structure.centre.tolist(), structure.other.tolist(), strict=True))
    assert pairs == {(i, j) for i in range(3) for j in range(3) if i != j}
    assert structure.single.tolist() == [0, 0, 0, 1]
