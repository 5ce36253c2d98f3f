"""Releases with real words have the claimed distribution: R9, R33.

Every count of reports is binomial with a known probability; each test has a false-alarm rate of at most
1e-9 a call of `assert_binomial`. With the 400,000 cells used a category's count is found
wrong when its probability is off by 7 standard deviations, that is by 0.0055 or less: p + (1-p) p for
p is off by 0.2 at r = 2 and epsilon 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from budget_opt.allocation import Allocation
from budget_opt.model.attribute import Attribute
from budget_opt.randomizer.table import randomize_table
from budget_opt.tables.reading import read_codes
from tests.randomizer.exact_counts import assert_binomial, claimed

ROWS = 400_000

EvenSplit = Callable[..., Allocation]


def matrix(allocation: Allocation, name: str) -> npt.NDArray[np.float64]:
    return claimed(allocation[name])


def released_codes(table: pa.Table, allocation: Allocation) -> dict[str, npt.NDArray[np.int64]]:
    released = randomize_table(table, allocation, row_order="public").table
    domains = {attribute.name: attribute.domain for attribute in allocation.attributes}
    return {
        name: codes.astype(np.int64) for name, codes in read_codes(released, domains, released=True).items()
    }


@pytest.mark.parametrize(
    ("r", "epsilon"), [(2, 0.1), (2, 1.0), (3, 2.5), (5, 1.0), (17, 3.0), (130, 4.0), (300, 6.0)]
)
def test_r9_every_row_of_the_matrix_is_met(r: int, epsilon: float, even_split: EvenSplit) -> None:
    allocation = even_split(epsilon, Attribute("x", categories=r))
    rows = matrix(allocation, "x")
    for truth in {0, r // 2, r - 1}:
        table = pa.table({"x": np.full(ROWS, truth, dtype=np.int64)})
        counts = np.bincount(released_codes(table, allocation)["x"], minlength=r)
        assert_binomial(counts, ROWS, rows[truth])


@pytest.mark.parametrize("epsilon", [30.0, 60.0])
def test_r9_wide_words_report_the_truth_as_often_as_claimed(epsilon: float, even_split: EvenSplit) -> None:
    """At these epsilons no cell of 400,000 changes, but with probability 4e-8 or less; 64 and 128 bits."""
    allocation = even_split(epsilon, Attribute("x", categories=3))
    table = pa.table({"x": np.arange(ROWS, dtype=np.int64) % 3})
    changed = np.count_nonzero(released_codes(table, allocation)["x"] != np.arange(ROWS) % 3)
    assert_binomial(np.array([changed]), ROWS, np.array([2 * allocation["x"].other_probability]))


def test_r9_r33_two_attributes_are_randomized_independently(even_split: EvenSplit) -> None:
    """Same domain, same epsilon, same truth: the joint table of the reports is the product of the rows.

    One stream for both would put everything on the diagonal.
    """
    allocation = even_split(2.0, Attribute("a", categories=4), Attribute("b", categories=4))
    table = pa.table({name: np.full(ROWS, 2, dtype=np.int64) for name in ("a", "b")})
    codes = released_codes(table, allocation)
    counts = np.bincount(4 * codes["a"] + codes["b"], minlength=16)
    assert_binomial(counts, ROWS, np.outer(matrix(allocation, "a")[2], matrix(allocation, "b")[2]).ravel())


def test_r9_r33_neighbouring_rows_and_two_releases_are_independent(even_split: EvenSplit) -> None:
    allocation = even_split(1.0, Attribute("x", categories=3))
    table = pa.table({"x": np.zeros(ROWS, dtype=np.int64)})
    first, second = (released_codes(table, allocation)["x"] for _ in range(2))
    row = matrix(allocation, "x")[0]
    assert_binomial(np.bincount(3 * first + second, minlength=9), ROWS, np.outer(row, row).ravel())
    pairs = np.bincount(3 * first[0::2] + first[1::2], minlength=9)
    assert_binomial(pairs, ROWS // 2, np.outer(row, row).ravel())


def test_r9_the_first_and_the_last_cells_of_a_chunk_are_randomized_like_all(even_split: EvenSplit) -> None:
    """Three rows of 1,000 releases: one that keeps the truth is off by 0.27, and 0.11 is found."""
    allocation = even_split(1.0, Attribute("x", categories=2))
    table = pa.table({"x": np.zeros(3, dtype=np.int64)})
    reports = np.array([released_codes(table, allocation)["x"] for _ in range(1000)])
    changed = np.count_nonzero(reports, axis=0)
    assert_binomial(changed, 1000, np.full(3, allocation["x"].other_probability))
