"""The nearest correlation matrix against a convex solver and against statsmodels."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from statsmodels.stats.correlation_tools import corr_nearest

from budget_opt.estimators.matrices.nearest import nearest_correlation
from tests.estimators.release_model import FloatArray


def indefinite(d: int, seed: int) -> FloatArray:
    noise = np.random.default_rng(seed).normal(scale=0.7, size=(d, d))
    matrix = (noise + noise.T) / 2
    np.fill_diagonal(matrix, 1.0)
    return matrix


@pytest.mark.parametrize(("d", "seed"), [(3, 1), (6, 2), (10, 3)])
def test_it_is_the_minimum_that_a_convex_solver_finds(d: int, seed: int) -> None:
    matrix = indefinite(d, seed)
    found = nearest_correlation(matrix)
    assert np.diag(found) == pytest.approx(1, abs=0)
    assert np.linalg.eigvalsh(found)[0] >= -1e-9
    wanted = cp.Variable((d, d), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(wanted - matrix)), [cp.diag(wanted) == 1])
    problem.solve(solver=cp.CLARABEL)
    assert found == pytest.approx(wanted.value, abs=1e-5)
    assert np.sum((found - matrix) ** 2) == pytest.approx(problem.value, rel=1e-6)


@pytest.mark.filterwarnings("ignore::statsmodels.tools.sm_exceptions.IterationLimitWarning")
def test_it_is_that_of_statsmodels() -> None:
    matrix = indefinite(8, 4)
    theirs = corr_nearest(matrix, threshold=1e-12, n_fact=200)
    assert nearest_correlation(matrix) == pytest.approx(theirs, abs=1e-6)


def test_a_correlation_matrix_is_its_own_nearest() -> None:
    matrix = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, -0.3], [0.2, -0.3, 1.0]])
    assert nearest_correlation(matrix) == pytest.approx(matrix, abs=1e-10)


def test_the_example_of_higham_2002() -> None:
    """[[1 1 0][1 1 1][0 1 1]]: Higham, IMA J. Numer. Anal. 22 (2002), section 4."""
    found = nearest_correlation(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]))
    assert found[[0, 1], [1, 2]] == pytest.approx(0.7607, abs=5e-5)
    assert found[0, 2] == pytest.approx(0.1573, abs=5e-5)
