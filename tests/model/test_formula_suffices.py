"""The moments of a formula are what its regression needs: no less, and no more.

An independent check, with dense matrices and none of the package's mathematics: on a random joint table the
exact distribution of a release is the product of the attributes' matrices with it. From that only the
centred moments of the list are read, each divided by its retention, and the corrected marginals. They give
the normal equations, so the coefficients and the residual variance, exactly; without any one of them another.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from math import prod

import numpy as np
import pytest

import budget_opt as bo

SIZES = {"y": 3, "a": 2, "b": 3, "c": 3}
SCORES = {"y": [1.0, 2.0, 5.0], "a": [0.0, 1.0], "b": [1.0, 2.0, 4.0], "c": [0.5, 1.0, 3.0]}
LAMBDA = {"y": 0.7, "a": 0.31, "b": 0.5, "c": 0.12}

Product = Mapping[str, Callable[[float], float]]
"""A product of functions of single attributes; a term is a sum of some."""
Term = list[Product]


def same(x: float) -> float:
    return x


def square(x: float) -> float:
    return x**2


def level(of: str, i: int) -> Callable[[float], float]:
    return lambda x: float(x == SCORES[of][i])


ONE: Term = [{}]
A, B, C = ([{name: same}] for name in "abc")
CASES: dict[str, tuple[Term, list[Term]]] = {
    "y ~ 1": ([{"y": same}], [ONE]),
    "y ~ a": ([{"y": same}], [ONE, A]),
    "y ~ a + b": ([{"y": same}], [ONE, A, B]),
    "y ~ 0 + a + b": ([{"y": same}], [A, B]),
    "y ~ a:b": ([{"y": same}], [ONE, [{"a": same, "b": same}]]),
    "y ~ a * b + c": ([{"y": same}], [ONE, A, B, [{"a": same, "b": same}], C]),
    "y ~ a + I(b**2) + b": ([{"y": same}], [ONE, A, [{"b": square}], B]),
    "np.log(y) ~ a + C(c)": (
        [{"y": lambda x: float(np.log(x))}],
        [ONE, A, [{"c": level("c", 1)}], [{"c": level("c", 2)}]],
    ),
    "y ~ I(b * c)": ([{"y": same}], [ONE, [{"b": same, "c": same}]]),
    "y ~ I((b + c)**2)": (
        [{"y": same}],
        [ONE, [{"b": square}, {"b": lambda x: 2 * x, "c": same}, {"c": square}]],
    ),
    "I(y * b) ~ a": ([{"y": same, "b": same}], [ONE, A]),
    "I(y + b) ~ a": ([{"y": same}, {"b": same}], [ONE, A]),
    "y ~ a:b + c": ([{"y": same}], [ONE, [{"a": same, "b": same}], C]),
}
MORE_THAN_NEEDED = {"I(y + b) ~ a": {frozenset({"y", "b", "a"})}}
"""A factor of several attributes may be any function of them, and this one is a sum."""


def joint_table(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(prod(SIZES.values()), 0.7)).reshape(*SIZES.values())


def released(table: np.ndarray) -> np.ndarray:
    """The distribution of the reports: lambda I + (1 - lambda)/r along every axis."""
    for axis, (name, r) in enumerate(SIZES.items()):
        matrix = LAMBDA[name] * np.eye(r) + (1 - LAMBDA[name]) / r
        table = np.moveaxis(np.tensordot(matrix, table, axes=(1, axis)), 0, axis)
    return table


def mean_of_product(table: np.ndarray, values: Mapping[str, np.ndarray]) -> float:
    shaped = [
        values[name].reshape([-1 if i == axis else 1 for i in range(len(SIZES))])
        for axis, name in enumerate(SIZES)
        if name in values
    ]
    return float((table * reduce(np.multiply, shaped, np.ones(()))).sum())


class Analyst:
    """Has the reports and the list of moments; everything else would be a KeyError."""

    def __init__(self, reports: np.ndarray, moments: Iterable[frozenset[str]]) -> None:
        self._reports, self._known = reports, set(moments)

    def mean(self, name: str, f: np.ndarray) -> float:
        reported = mean_of_product(self._reports, {name: f})
        return (reported - (1 - LAMBDA[name]) * f.mean()) / LAMBDA[name]

    def centred(self, values: Mapping[str, np.ndarray]) -> float:
        """E prod (f - mu) for attributes on the list, as if it were 0 for others."""
        if not values:
            return 1.0
        if len(values) == 1 or frozenset(values) not in self._known:
            return 0.0
        centred = {name: f - mean_of_product(self._reports, {name: f}) for name, f in values.items()}
        return mean_of_product(self._reports, centred) / prod(LAMBDA[name] for name in values)

    def product(self, values: Mapping[str, np.ndarray]) -> float:
        """E prod f from centred moments and means."""
        return sum(
            self.centred({name: values[name] for name in part})
            * prod(self.mean(name, values[name]) for name in values if name not in part)
            for size in range(len(values) + 1)
            for part in itertools.combinations(values, size)
        )


def entry(one: Term, other: Term, expectation: Callable[[dict[str, np.ndarray]], float]) -> float:
    """E of the product of two terms, from expectations of products of functions of single attributes."""
    return sum(
        expectation(
            {
                name: np.array(
                    [p.get(name, lambda _: 1.0)(x) * q.get(name, lambda _: 1.0)(x) for x in scores]
                )
                for name, scores in SCORES.items()
                if name in p or name in q
            }
        )
        for p, q in itertools.product(one, other)
    )


def regression(
    response: Term, terms: list[Term], expectation: Callable[[dict[str, np.ndarray]], float]
) -> np.ndarray:
    """Coefficients and residual variance of least squares."""
    left = np.array([[entry(one, other, expectation) for other in terms] for one in terms])
    right = np.array([entry(one, response, expectation) for one in terms])
    coefficients = np.linalg.solve(left, right)
    return np.append(coefficients, entry(response, response, expectation) - right @ coefficients)


@pytest.mark.parametrize("formula", CASES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_moments_of_the_list_and_no_others_give_the_regression_of_the_original(
    formula: str, seed: int
) -> None:
    response, terms = CASES[formula]
    table = joint_table(seed)
    truth = regression(response, terms, lambda values: mean_of_product(table, values))
    needed = {frozenset(moment.attributes) for moment in bo.moments_from_formula(formula)}
    reports = released(table)
    found = regression(response, terms, Analyst(reports, needed).product)
    np.testing.assert_allclose(found, truth, rtol=1e-9)
    for left_out in needed - MORE_THAN_NEEDED.get(formula, set()):
        if len(left_out) > 1:
            without = regression(response, terms, Analyst(reports, needed - {left_out}).product)
            assert np.abs(without - truth).max() > 1e-6, left_out


def test_least_squares_on_the_cells_themselves_is_that_regression() -> None:
    """The truth of the test above, once more by a weighted fit to the cells of the table."""
    table = joint_table(3)
    cells = list(itertools.product(*SCORES.values()))
    y, a, b, c = np.array(cells).T
    design = np.column_stack([np.ones_like(y), a, b, a * b, c])
    root = np.sqrt(table.ravel())
    fitted = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
    response, terms = CASES["y ~ a * b + c"]
    truth = regression(response, terms, lambda values: mean_of_product(table, values))
    np.testing.assert_allclose(truth[:-1], fitted, rtol=1e-8)
