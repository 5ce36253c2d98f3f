"""R30: intervals of covariances, variances and correlations over 10,000 repetitions, each target's own truth.

Nominal 95 % lies between 94 and 96: with a true coverage of 95 % a false alarm has probability 5e-6 an
interval, and the seeds are fixed. Standard errors are compared with the spread of the estimates at 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from budget_opt.estimators.estimate import Target
from budget_opt.estimators.matrices.correlations import correlations_from
from budget_opt.estimators.matrices.covariances import covariances_from, second_moments
from budget_opt.estimators.moments.designs import Design
from tests.estimators.release_model import FloatArray, design, skewed, sparse
from tests.estimators.surveys import survey

DESIGNS = [design("b", 0.55, [0, 1, 3]), design("c", 0.6, [-2, 0, 5]), design("d", 0.7, [0, 1])]
SHAPE = (3, 3, 2)


def covariances_of(table: FloatArray, designs: Sequence[Design]) -> FloatArray:
    """The covariance matrix of a table by its definition."""
    grids = np.meshgrid(*(one.scores for one in designs), indexing="ij")
    scores = np.stack([grid.ravel() for grid in grids])
    return np.cov(scores, aweights=table.ravel(), ddof=0)


def correlations_of(covariances: FloatArray) -> FloatArray:
    root = np.sqrt(np.diag(covariances))
    return covariances / np.outer(root, root)


def tables(kind: str) -> list[FloatArray]:
    first, second = skewed(np.random.default_rng(3), SHAPE), sparse(np.random.default_rng(6), SHAPE)
    return {"skewed": [first], "sparse": [second], "weighted": [first, second]}[kind]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "target"),
    # of the population the last is a public column, of the data the first two are members of a cluster
    [("skewed", "population"), ("weighted", "data")],
)
def test_r30_intervals_of_covariances_and_correlations_cover(kind: str, target: Target) -> None:
    rng = np.random.default_rng([len(kind), len(target)])
    designs = [*DESIGNS[:2], replace(DESIGNS[2], retention=1.0)]
    if target == "data":
        designs = [*(replace(one, retention=0.6, cluster="b + c") for one in DESIGNS[:2]), DESIGNS[2]]
    made = survey(tables(kind), designs, 4_000, target, rng)
    covariance = covariances_of(made.truth, DESIGNS)
    truth = np.stack([covariance, correlations_of(covariance)])
    values, errors, covered = [], [], np.zeros(truth.shape)
    for counts in made.releases("bcd"):
        sums = second_moments(counts.cells, designs)
        found = [covariances_from(sums, target), correlations_from(sums, target)]
        low, high = (np.stack(ends) for ends in zip(*(one.interval() for one in found), strict=True))
        covered += (low <= truth) & (truth <= high)
        values.append([one.values for one in found])
        errors.append([one.standard_errors for one in found])
    assert np.all(np.isfinite(values))
    for kind_of, first_diagonal in ((0, 0), (1, 1)):
        places = (kind_of, *np.triu_indices(3, first_diagonal))
        share = covered[places] / len(values)
        assert np.all((share >= 0.94) & (share <= 0.96)), share
        measured = np.var(values, axis=0)[places]
        assert np.mean(np.square(errors), axis=0)[places] == pytest.approx(measured, rel=0.1)
        bias = np.abs(np.mean(values, axis=0) - truth)[places]
        assert np.all(bias <= 0.1 * np.sqrt(measured))
