"""When the sum of epsilons is the loss of the whole record, and what other joint mechanisms would give."""

from __future__ import annotations

import math
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.whole_record import (
    CASES,
    Joint,
    cluster,
    column_matrix,
    enumerated,
    independent,
    least_record_loss,
    matrix,
)


@pytest.mark.parametrize(("cardinalities", "epsilons"), CASES[:4])
def test_the_sum_is_exactly_the_loss_of_the_record_for_independent_attributes(
    cardinalities: tuple[int, ...], epsilons: tuple[float, ...]
) -> None:
    largest, ours = enumerated(cardinalities, epsilons)
    assert largest == ours


@st.composite
def cases(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[float, ...]]:
    count = draw(st.integers(2, 4))
    cardinalities = draw(st.lists(st.integers(2, 5), min_size=count, max_size=count))
    epsilons = draw(st.lists(st.integers(2, 30).map(lambda k: k / 10), min_size=count, max_size=count))
    return tuple(cardinalities), tuple(epsilons)


@settings(max_examples=40)
@given(case=cases())
def test_the_least_loss_lies_between_the_largest_epsilon_and_the_sum_and_the_ordered_one_above_it(
    case: tuple[tuple[int, ...], tuple[float, ...]],
) -> None:
    cardinalities, epsilons = case
    least = least_record_loss(cardinalities, epsilons)
    ordered = least_record_loss(cardinalities, epsilons, ordered=True)
    assert max(epsilons) - 1e-7 <= least.record_loss <= ordered.record_loss + 1e-7
    assert ordered.record_loss <= sum(epsilons) + 1e-7
    clustered = cluster(cardinalities, epsilons)
    if clustered is not None:
        assert least.record_loss <= clustered.record_loss + 1e-7


@settings(max_examples=40)
@given(case=cases())
def test_a_smaller_loss_than_the_sum_costs_some_attribute_more_than_its_epsilon(
    case: tuple[tuple[int, ...], tuple[float, ...]],
) -> None:
    cardinalities, epsilons = case
    least = least_record_loss(cardinalities, epsilons)
    if least.record_loss < sum(epsilons) - 1e-6:
        over = [loss - e for loss, e in zip(least.attribute_losses, epsilons, strict=True)]
        assert max(over) > 0
    assert independent(cardinalities, epsilons).attribute_losses == pytest.approx(epsilons)


@pytest.mark.parametrize("make", [independent, least_record_loss, cluster])
def test_every_joint_mechanism_has_the_columns_it_should_and_its_retentions_are_those_of_its_matrix(
    make: type[Joint],
) -> None:
    cardinalities, epsilons = (3, 3), (1.3, 1.3)
    joint = make(cardinalities, epsilons)
    entries = matrix(joint)
    assert entries.sum(axis=1) == pytest.approx(np.ones(9))
    first = entries.reshape(3, 3, 3, 3).sum(axis=3)
    assert first[:, 0] == pytest.approx(column_matrix(1.3, 3))
    scores = np.array([1.0, -2.0, 1.0])
    both = np.outer(scores, np.array([0.0, 1.0, -1.0])).ravel()
    assert entries @ both == pytest.approx(joint.retention((0, 1)) * both)


@pytest.mark.parametrize(
    ("cardinalities", "epsilons"), [((2, 2), (1.0, 0.5)), ((2, 3), (1.0, 0.7)), ((3, 3), (2.0, 1.0))]
)
def test_the_program_in_the_changed_sets_is_that_over_all_entries(
    cardinalities: tuple[int, int], epsilons: tuple[float, float]
) -> None:
    least = least_record_loss(cardinalities, epsilons).record_loss
    assert _possible(cardinalities, epsilons, least + 1e-4)
    assert not _possible(cardinalities, epsilons, least - 1e-4)


def _possible(cardinalities: tuple[int, int], epsilons: tuple[float, float], loss: float) -> bool:
    """Whether any matrix on the records has these columns and this loss, by cvxpy over all entries."""
    records = list(product(*(range(r) for r in cardinalities)))
    size = len(records)
    entries, floor = cp.Variable((size, size), nonneg=True), cp.Variable((1, size), nonneg=True)
    limits = [entries >= np.ones((size, 1)) @ floor, entries <= math.exp(loss) * np.ones((size, 1)) @ floor]
    for axis, (r, epsilon) in enumerate(zip(cardinalities, epsilons, strict=True)):
        own = np.array([[float(record[axis] == code) for code in range(r)] for record in records])
        limits.append(entries @ own == own @ column_matrix(epsilon, r))
    problem = cp.Problem(cp.Minimize(0), limits)
    problem.solve(solver=cp.SCIPY)
    return bool(problem.status == cp.OPTIMAL)
