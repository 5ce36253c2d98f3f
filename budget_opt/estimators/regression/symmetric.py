"""Symmetric matrices: whether they are positive definite, and what they are solved for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from budget_opt.errors import NoiseError
from budget_opt.estimators.channels import FloatArray


@contextmanager
def solvable(what: str) -> Iterator[None]:
    """`NoiseError` in the place of numpy's for a matrix that cannot be inverted, or is not finite."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise NoiseError(
            f"{what}: the reports do not determine its coefficients (a matrix is singular): too few rows, or "
            "combinations of covariates that are empty. Use fewer or coarser covariates, or more rows.",
            what=what,
            standard_error=math.inf,
            limit=math.inf,
        ) from None


def is_definite(matrix: FloatArray) -> bool:
    """Whether the matrix is positive definite."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def inverse_of(matrix: FloatArray) -> FloatArray:
    """The inverse."""
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def solved(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution x of matrix x = right, of least length where there are several."""
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0], dtype=np.float64)


def least_direction(matrix: FloatArray) -> FloatArray:
    """The eigenvector of the least eigenvalue, the diagonal, which must be positive, scaled to 1."""
    scale = np.sqrt(np.diag(matrix))
    return np.asarray(np.linalg.eigh(matrix / np.outer(scale, scale))[1][:, 0], dtype=np.float64)


def least_eigenvalue(matrix: FloatArray) -> float:
    """Of the matrix with its diagonal scaled to 1; 0 where that is not positive."""
    diagonal = np.diag(matrix)
    if not np.all(diagonal > 0):
        return 0.0
    scale = np.sqrt(diagonal)
    return float(np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0])
