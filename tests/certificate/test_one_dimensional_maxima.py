"""The one-dimensional maxima behind the bound of weighted sums (GLOBAL_SOLVER_PROOFS 1)."""

from __future__ import annotations

import numpy as np

from budget_opt.certificate.boxes.maxima import Psi, peak
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray


def _column(*numbers: float) -> FloatArray:
    return np.array(numbers)[:, None]


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
    count = 80_000
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
