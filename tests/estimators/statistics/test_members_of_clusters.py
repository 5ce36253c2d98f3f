"""Statistics of members of one cluster: covariances against the dense matrix, and tests of independence."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.statistics import null_weights
from budget_opt.estimators.statistics.corrected import CorrectedTable
from budget_opt.estimators.statistics.independence import Method, independence_test
from budget_opt.estimators.statistics.null_weights import (
    LARGEST_INFLUENCE,
    Margin,
    weights_of_clusters,
    weights_of_rows,
)
from tests.estimators.statistics.simulation import channels_of, independent, strong
from tests.estimators.statistics.test_coverage_by_simulation import MEMBERS
from tests.estimators.statistics.test_independence import counted, rejected, reports

SHAPE = (3, 2, 2)


def pair_and_outsider() -> tuple[Channel, ...]:
    """Members first and last, any backgrounds."""
    rng = np.random.default_rng(1)
    laws = [rng.dirichlet(np.full(r, 3.0)) for r in SHAPE]
    return (
        Channel("a", 0.6, laws[0], cluster="a + b"),
        Channel("c", 0.5, laws[1]),
        Channel("b", 0.6, laws[2], cluster="a + b"),
    )


def unbiased_indicators(channels: tuple[Channel, ...], named: tuple[int, ...]) -> FloatArray:
    """h_A(y) of every report (rows) and cell of the attributes named (columns), by the inverse itself."""
    shape = [SHAPE[axis] for axis in named]
    cells = math.prod(shape)
    law = along_all(Channel.spread, [channels[axis] for axis in named], np.eye(cells).reshape(*shape, cells))
    inverse = np.linalg.inv(law.reshape(cells, cells))  # columns by the truth: P transposed
    own = inverse.T.reshape([SHAPE[axis] if axis in named else 1 for axis in range(3)] + [cells])
    return np.broadcast_to(own, (*SHAPE, cells)).reshape(-1, cells)


@pytest.mark.parametrize("target", ["population", "data"])
@pytest.mark.parametrize(
    "named",
    [((0, 2), (0,)), ((0,), (2,)), ((0, 1, 2), (0, 1)), ((1,), (0, 2)), ((0, 2), (0, 2)), ((0,), (0,))],
)
def test_covariances_of_cells_that_share_a_cluster_are_those_of_the_dense_inverse(
    named: tuple[tuple[int, ...], tuple[int, ...]], target: Target
) -> None:
    """Of cells and margins that name the same members of a cluster, others, or some of them."""
    channels, n = pair_and_outsider(), 1000
    shares = np.random.default_rng(2).dirichlet(np.ones(12)).reshape(SHAPE)
    table = CorrectedTable(channels, shares, shares / n, n, target)
    whole = tuple(sorted(set(named[0]) | set(named[1])))
    first, second, both = (unbiased_indicators(channels, axes) for axes in (*named, whole))
    weights = shares.ravel() / n
    found = table.covariances(*named)
    for cell in product(*(range(SHAPE[axis]) for axis in whole)):
        at = dict(zip(whole, cell, strict=True))
        columns = [
            h[:, np.ravel_multi_index([at[axis] for axis in axes], [SHAPE[axis] for axis in axes])]
            for h, axes in ((first, named[0]), (second, named[1]), (both, whole))
        ]
        a, b, ab = columns
        if target == "population":
            expected = weights @ ((a - shares.ravel() @ a) * (b - shares.ravel() @ b)) * n / (n - 1)
        else:
            expected = weights @ (a * b - ab)
        place = tuple(at.get(axis, 0) if found.shape[axis] > 1 else 0 for axis in range(3))
        assert found[place] == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_false_alarms_of_members_are_5_percent_and_association_is_found() -> None:
    """300 releases at 6 standard deviations of the simulation (7.5 points); 100 of three attributes (13)."""
    share = rejected(independent((3, 3)), MEMBERS, "corrected", 300)
    assert abs(share - 0.05) <= 6 * math.sqrt(0.05 * 0.95 / 300)
    assert rejected(strong((3, 3)), MEMBERS, "corrected", 20) > 0.9
    three = np.multiply.outer(independent((3, 3)), [0.7, 0.3])
    channels = (*MEMBERS, Channel("c", 0.6, np.array([0.5, 0.5])))
    share = rejected(three, channels, "corrected", 100, n=10_000)
    assert abs(share - 0.05) <= 6 * math.sqrt(0.05 * 0.95 / 100)


@pytest.mark.parametrize("method", ["released", "likelihood", "permutation"])
def test_the_released_table_of_members_is_not_tested_since_it_depends_without_the_originals(
    method: Method,
) -> None:
    """With the refusal gone, it would find an association of independent attributes nearly always."""
    rows = reports(independent((3, 3)), MEMBERS, 1, 3)[0]
    with pytest.raises(InputError, match=r"a and b are randomized together.*Use method=.corrected"):
        independence_test(counted(rows), MEMBERS, method)
    apart = channels_of((3, 3), (0.5, 0.5))
    assert rejected_as(apart, method) > 0.9


def rejected_as(channels: tuple[Channel, ...], method: Method) -> float:
    """How often the released table of independent members is rejected, taken for attributes alone."""
    tables = reports(independent((3, 3)), MEMBERS, 20, 5, n=10_000)
    found = [
        independence_test(counted(one), channels, method, permutations=199).p_value < 0.05 for one in tables
    ]
    return float(np.mean(found))


def test_the_weights_of_clusters_are_those_of_rows_where_nothing_is_shared() -> None:
    channels = channels_of((3, 4), (0.5, 0.6))
    shares = independent((3, 4))
    law = along_all(Channel.spread, channels, shares)
    margins = [
        Margin(channel, law.sum(axis=1 - axis), shares.sum(axis=1 - axis), np.zeros(channel.cardinality))
        for axis, channel in enumerate(channels)
    ]
    found = weights_of_clusters(margins, channels, law)
    assert np.sort(found) == pytest.approx(np.sort(weights_of_rows(margins)), rel=1e-9)


def test_large_tables_of_members_take_equal_weights_and_larger_ones_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = counted(reports(independent((3, 3)), MEMBERS, 1, 3)[0])
    exact = independence_test(counts, MEMBERS, "corrected")
    monkeypatch.setattr(null_weights, "LARGEST_KERNEL", 8)
    rough = independence_test(counts, MEMBERS, "corrected")
    assert exact.weights is not None
    assert rough.weights is not None
    assert sum(rough.weights) == pytest.approx(sum(exact.weights), rel=1e-9)
    assert rough.p_value == pytest.approx(exact.p_value, abs=0.05)
    r = math.isqrt(LARGEST_INFLUENCE) + 1
    large = [Channel(name, 0.5, np.full(r, 1 / r), cluster="a + b") for name in "ab"]
    with pytest.raises(InputError, match="at most one of each cluster"):
        independence_test(counted(np.ones((r, r), dtype=np.int64)), large, "corrected")
