"""Covariances of corrected cells against the dense matrix, for both targets and with survey weights."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.statistics.corrected import CorrectedTable, corrected_table
from tests.estimators.release_model import matrix
from tests.estimators.statistics.simulation import channels_of, designs

SHAPE = (3, 2, 4)
CHANNELS = channels_of(SHAPE, (0.3, 0.8, 0.5))


def tables(target: Target) -> tuple[CorrectedTable, Counts]:
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 9, SHAPE)
    one = rng.uniform(0.5, 2, SHAPE)
    counts = Counts(("a", "b", "c"), rows, rows * one, rows * one**2)
    return corrected_table(counts, CHANNELS, target), counts


def dense_covariance(table: CorrectedTable) -> FloatArray:
    """Of all cells, from h as a dense matrix (reports x truths)."""
    h = reduce(np.kron, [np.linalg.inv(matrix(one)) for one in designs(CHANNELS)])
    squares, pi = table.squares.ravel(), table.cells.ravel()
    if table.target == "population":
        centred = h - pi
        moments: FloatArray = centred.T @ (squares[:, None] * centred) * table.n / (table.n - 1)
        return moments
    given: FloatArray = h.T @ (squares[:, None] * h) - np.diag(squares @ h)
    return given


def indicator(cell: tuple[int, ...], named: tuple[int, ...]) -> FloatArray:
    grid = np.zeros(SHAPE)
    grid[tuple(cell[axis] if axis in named else slice(None) for axis in range(3))] = 1
    return grid.ravel()


@pytest.mark.parametrize("target", ["population", "data"])
@pytest.mark.parametrize(
    ("first", "second"), [((0, 1), (0,)), ((0, 1), (1,)), ((0,), (1,)), ((2,), (2,)), ((0, 1, 2), (0, 1, 2))]
)
def test_covariances_of_cells_and_margins_are_those_of_the_dense_matrix(
    target: Target, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    table, _ = tables(target)
    dense = dense_covariance(table)
    found = table.covariances(first, second)
    for cell in np.ndindex(found.shape):
        expected = indicator(cell, first) @ dense @ indicator(cell, second)
        assert found[cell] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("target", ["population", "data"])
def test_variances_and_those_of_linear_functions_are_those_of_the_dense_matrix(target: Target) -> None:
    table, _ = tables(target)
    dense = dense_covariance(table)
    assert table.variances.ravel() == pytest.approx(np.diag(dense), rel=1e-9)
    a = np.random.default_rng(1).normal(size=SHAPE)
    assert table.variance_of(a) == pytest.approx(a.ravel() @ dense @ a.ravel(), rel=1e-9)


def test_tables_along_further_axes_are_those_one_by_one() -> None:
    one, _ = tables("population")
    other = CorrectedTable(CHANNELS, one.shares[::-1], one.squares[::-1], one.n, "population")
    both = CorrectedTable(
        CHANNELS,
        np.stack([one.shares, other.shares], -1),
        np.stack([one.squares, other.squares], -1),
        one.n,
        "population",
    )
    gradient = np.random.default_rng(2).normal(size=SHAPE)
    for place, alone in enumerate((one, other)):
        assert both.variances[..., place] == pytest.approx(alone.variances)
        assert both.covariances((0,), (1,))[..., place] == pytest.approx(alone.covariances((0,), (1,)))
        stacked = both.variance_of(gradient[..., None])
        assert stacked[place] == pytest.approx(alone.variance_of(gradient))


def test_one_row_has_no_error() -> None:
    with pytest.raises(InputError, match="1 rows"):
        corrected_table(Counts(("a",), np.array([1, 0, 0])), CHANNELS[:1], "population")
