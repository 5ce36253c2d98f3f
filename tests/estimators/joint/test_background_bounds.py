"""The bounds of the unbiased joint table where replaced cells are not drawn uniformly: by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.estimators.channels import Channel, FloatArray, along_all, uniform
from budget_opt.estimators.joint.error_bounds import excess_of, paper_joint_bound, squared_error

channels = st.tuples(
    st.floats(0.05, 0.99), st.lists(st.integers(1, 30), min_size=2, max_size=4).map(np.array)
).map(lambda drawn: Channel("x", drawn[0], drawn[1] / drawn[1].sum()))


def scores(some: list[Channel], report: tuple[int, ...]) -> FloatArray:
    """What one report adds to the unbiased table."""
    one = np.zeros([channel.cardinality for channel in some])
    one[report] = 1.0
    return along_all(Channel.corrected, some, one)


def chance(some: list[Channel], truth: tuple[int, ...], report: tuple[int, ...]) -> float:
    return math.prod(
        channel.retention * (x == y) + (1 - channel.retention) * float(channel.background[y])
        for channel, x, y in zip(some, truth, report, strict=True)
    )


def squared_errors(some: list[Channel]) -> list[float]:
    """n E sum (J - P)^2 for rows that all have one truth, by every report; for every truth."""
    cells = list(itertools.product(*(range(channel.cardinality) for channel in some)))
    tables = {report: scores(some, report) for report in cells}
    found = []
    for truth in cells:
        mean = sum(chance(some, truth, report) * float(np.sum(tables[report] ** 2)) for report in cells)
        found.append(mean - 1.0)
    return found


@settings(max_examples=20)
@given(channels, channels)
def test_the_squared_error_is_at_most_the_bound_and_reaches_it_for_the_rarest_truth(
    first: Channel, second: Channel
) -> None:
    for some in ([first], [first, second]):
        errors = squared_errors(some)
        assert max(errors) == pytest.approx(squared_error(some, 1.0), rel=1e-9)


@given(st.floats(0.05, 0.99), st.integers(2, 6))
def test_of_a_uniform_background_it_is_the_same_for_every_truth(kept: float, r: int) -> None:
    channel = Channel("x", kept, uniform(r))
    assert squared_errors([channel]) == pytest.approx([excess_of(channel)] * r, rel=1e-9)
    assert excess_of(channel) == pytest.approx((1 - 1 / r) * (1 - kept**2) / kept**2, rel=1e-12)


@given(channels)
def test_the_papers_row_of_the_inverse_is_that_of_the_most_common_category(channel: Channel) -> None:
    inverse = channel.corrected(np.eye(channel.cardinality), 0)
    assert 2 * paper_joint_bound([channel], 1.0) == pytest.approx(np.abs(inverse).sum(axis=1).max())
