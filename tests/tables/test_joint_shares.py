"""Which joint tables no originals lead to: sound ones pass, others are found."""

from __future__ import annotations

import numpy as np
import pytest

from budget_opt.tables.joint_shares import least_share

KEPT = [(0.25, 0.5), (0.1, 0.7)]  # two categories and three


def law(row: int, column: int) -> np.ndarray:
    one = np.full(2, 0.25) + 0.5 * (np.arange(2) == row)
    other = np.full(3, 0.1) + 0.7 * (np.arange(3) == column)
    return np.outer(one, other)


def test_the_least_corrected_share_is_that_of_the_inverse_matrices() -> None:
    rows = np.array([[30, 20, 10], [5, 15, 40]])
    inverses = [
        np.linalg.inv(kept * np.eye(r) + other) for r, (other, kept) in zip((2, 3), KEPT, strict=True)
    ]
    truths = np.einsum("ij,ai,bj->ab", rows / rows.sum(), *inverses)
    found = least_share(rows, KEPT, 1e-9)
    assert found.share == pytest.approx(truths.min())
    # the smallest number that a corrected share can be: one row, in another cell of one axis
    ends = [least_share(np.eye(6, dtype=int)[cell].reshape(2, 3), KEPT, 1e-9).share for cell in range(6)]
    assert found.lowest == pytest.approx(min(ends))


@pytest.mark.parametrize("n", [10, 1_000, 10**6, 10**17])
def test_releases_pass_where_all_originals_are_the_same(n: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        rows = rng.multinomial(n, law(0, 1).ravel()).reshape(2, 3)
        assert least_share(rows, KEPT, 1e-3).is_possible


def test_false_alarms_are_as_rare_as_stated() -> None:
    tables = np.random.default_rng(6).multinomial(500, law(1, 2).ravel(), size=2_000).reshape(-1, 2, 3)
    assert np.mean([not least_share(table, KEPT, 0.2).is_possible for table in tables]) <= 0.2


def test_reports_that_depend_on_each_other_more_than_any_originals_make_them_are_found() -> None:
    assert not least_share(10**4 * np.array([[3, 0, 0], [0, 3, 3]]), KEPT, 1e-9).is_possible
    assert least_share(np.array([[3, 0, 0], [0, 3, 3]]), KEPT, 1e-9).is_possible  # so few rows tell nothing
