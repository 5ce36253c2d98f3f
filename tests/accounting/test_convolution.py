"""The bracket of (epsilon, delta) against exact enumeration and against dp-accounting (R32)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.accounting.composition import delta_at, epsilon_at
from budget_opt.accounting.convolution import above, below, grid_step
from budget_opt.accounting.loss import three_points
from budget_opt.allocation.allocation import Allocation
from tests.accounting.losses import allocation_of, delta_by_enumeration, losses, splits


@settings(max_examples=25, deadline=None)
@given(splits(), st.floats(0.0, 1.0))
def test_r32_the_bracket_holds_the_sum_over_all_outcomes(allocation: Allocation, share: float) -> None:
    epsilon = share * allocation.loss
    found = delta_at(allocation, epsilon)
    exact = delta_by_enumeration(three_points(allocation), epsilon)
    if epsilon < allocation.loss:
        assert found.lower <= exact <= found.delta
        assert found.delta - found.lower <= 1e-4 * exact + 1e-300


@settings(max_examples=20, deadline=None)
@given(splits(scales=(0.05, 1.0, 5.0)), st.floats(0.0, 0.99), st.integers(-12, 1))
def test_r32_the_bracket_holds_on_a_grid_that_is_far_too_coarse(
    allocation: Allocation, share: float, exponent: int
) -> None:
    """Also where a whole attribute's loss lies inside one step: the bounds are proved, not tuned."""
    points, step = three_points(allocation), 2.0**exponent
    epsilon = share * allocation.loss
    exact = delta_by_enumeration(points, epsilon)
    assert below(points, step).delta(epsilon) <= exact <= above(points, step).delta(epsilon)


@settings(max_examples=15, deadline=None)
@given(splits(most=3), st.floats(-300.0, -0.01))
def test_r32_delta_at_the_epsilon_found_is_at_most_the_one_asked_for(
    allocation: Allocation, exponent: float
) -> None:
    delta = 10.0**exponent
    found = epsilon_at(allocation, delta)
    points = three_points(allocation)
    assert 0 <= found.lower <= found.epsilon <= allocation.loss
    assert delta_by_enumeration(points, found.epsilon) <= delta
    if found.lower > 0:
        assert delta_by_enumeration(points, found.lower * (1 - 1e-12)) >= delta * (1 - 1e-9)


def test_one_attribute_has_the_epsilon_of_its_matrix() -> None:
    """One attribute: delta = truth - exp(epsilon) other."""
    allocation = allocation_of((2.0, 5))
    (point,) = three_points(allocation)
    for delta in (1e-12, 1e-6, 0.01, 0.3):
        expected = math.log((float(point.truth) - delta) / float(point.other))
        found = epsilon_at(allocation, delta).epsilon
        assert expected * (1 - 1e-12) <= found <= expected * (1 + 1e-8)


def test_an_eighth_of_the_step_divides_the_width_of_the_bracket_by_dozens() -> None:
    """Both bounds are of second order."""
    points = losses(*[(0.31 + 0.017 * i, 2 + i) for i in range(30)])
    epsilon = 3.0
    widths = [
        above(points, step).delta(epsilon) - below(points, step).delta(epsilon) for step in (2.0**-6, 2.0**-9)
    ]
    assert 25 < widths[0] / widths[1] < 150


@pytest.mark.parametrize(
    ("total", "delta"),
    [
        *((total, delta) for total in (1e-30, 1.0) for delta in (1e-300, 1e-6)),
        *((1e-9, 1e-6), (1e-3, 1e-300), (300.0, 1e-6), (1e4, 1e-300)),
        *(
            pytest.param(total, delta, marks=pytest.mark.slow)
            for total, delta in ((1e-30, 0.999), (1e-3, 0.5), (1.0, 1e-20), (300.0, 0.999), (1e4, 0.5))
        ),
    ],
)
def test_every_total_and_delta_gives_a_bracket_without_a_warning(total: float, delta: float) -> None:
    sizes = np.full(75, total / 75) * np.resize([0.5, 1.0, 1.5], 75)
    allocation = allocation_of(*zip(sizes.tolist(), np.resize([2, 3, 17, 65536], 75).tolist(), strict=True))
    found = epsilon_at(allocation, delta)
    assert 0 <= found.lower <= found.epsilon <= allocation.loss
    assert found.epsilon - found.lower <= 1e-3 * allocation.loss


def test_five_hundred_mixed_attributes_are_known_to_a_ten_thousandth() -> None:
    found = epsilon_at(five_hundred(), 1e-6)
    assert 0 < found.epsilon - found.lower <= 1e-4 * found.epsilon


def test_r32_epsilon_equals_that_of_dp_accounting() -> None:
    """Its rounding up costs at most a step an attribute; its Fourier transform fails below about 1e-12."""
    library = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    step = 2e-5
    for attributes in (
        [(1.0, 4)],
        [(0.8, 2), (1.3, 17), (0.4, 5)],
        [(0.2 + 0.05 * i, 2 + i) for i in range(12)],
    ):
        allocation = allocation_of(*attributes)
        worse, better = (composed(library, allocation, step, pessimistic=up) for up in (True, False))
        for delta in (0.05, 1e-3, 1e-6, 1e-9):
            found = epsilon_at(allocation, delta)
            theirs = worse.get_epsilon_for_delta(delta)
            assert found.epsilon == pytest.approx(theirs, rel=1e-3)
            assert better.get_epsilon_for_delta(delta) <= found.epsilon * (1 + 1e-9)
            assert found.lower <= theirs * (1 + 1e-9)
        epsilon = 0.4 * allocation.loss
        assert delta_at(allocation, epsilon).delta == pytest.approx(
            worse.get_delta_for_epsilon(epsilon), rel=1e-3
        )


def composed(library, allocation: Allocation, step: float, *, pessimistic: bool):  # type: ignore[no-untyped-def]
    found = None
    for attribute in allocation.attributes:
        one = library.from_randomized_response(
            float(1 - attribute.exact_retention),
            attribute.cardinality,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=step,
        )
        found = one if found is None else found.compose(one)
    return found


def five_hundred() -> Allocation:
    rng = np.random.default_rng(500)
    epsilons = np.round(rng.uniform(0.01, 1.0, 500), 4).tolist()
    return allocation_of(*zip(epsilons, rng.integers(2, 200, 500).tolist(), strict=True))


def test_the_step_is_a_power_of_two() -> None:
    """The rounding bound needs exact grid points."""
    for points in (losses((1.0, 2)), losses((0.3, 7), (1e-9, 2)), losses((50.0, 3))):
        mantissa, _ = math.frexp(grid_step(points))
        assert mantissa == 0.5
