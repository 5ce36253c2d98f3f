"""All pairs in one pass: matrix products over blocks of rows, in memory that does not grow with them.

Letters as in `scored`; C the corrected covariance of a pair, S = sqrt(V_a V_b), P = X_a X_b - C and
H = (Q_a + Q_b) / 2 the influence functions of C and of log S. Each entry needs Var P, Cov(P, H) and Var H:

    population  sum W2 P P' and so on over (sum W1)^2, times `sampling_factor`
    data        P: D_a X_b^2 + X_a^2 D_b - D_a D_b     P, H: (E_a X_b + X_a E_b) / 2     H: (F_a + F_b) / 4

since given the truths the two reports are independent, and each factor is unbiased for its own given them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.errors_of_means import sampling_factor
from budget_opt.estimators.matrices.member_pairs import MemberPair
from budget_opt.estimators.matrices.scored import Scored
from budget_opt.estimators.releases.counting import Cells
from budget_opt.tables.counting import IntArray

_ROWS = 8192
"""Rows a block: the numbers of 68 attributes stay within some 30 MB."""


@dataclass(frozen=True)
class PairErrors:
    """Var P, Cov(P, H) and Var H of every pair, of means over the rows, each of shape (d, d)."""

    product: FloatArray
    crossed: FloatArray
    scale: FloatArray


@dataclass(frozen=True)
class PairSums:
    """C of every pair in units u_a u_b, shape (d, d) (the diagonal has no meaning), and its errors.

    `squares` and `fourths` are the means of P^2 and P^4 over the rows. Of two members of one cluster, whose
    reports are not independent given the truths, the entries are those of `member_pairs`.
    """

    covariance: FloatArray
    errors: dict[Target, PairErrors]
    squares: FloatArray
    fourths: FloatArray


def pair_sums(cells: Cells, attributes: Sequence[Scored], members: Sequence[MemberPair] = ()) -> PairSums:
    """The sums of all pairs, from cells in the order of `attributes`; `members` are pairs within clusters."""
    d = len(attributes)
    noise = [one.noise for one in attributes]
    first = _Sums(d)
    for codes, w1, w2 in _blocks(cells):
        first.add(codes, w1, w2, attributes, noise, weighted=cells.weights is not None)
    c = first.first / cells.total
    total_second = cells.total**2 / cells.effective
    squared = cells.total**2
    scale = sampling_factor(cells.effective) / squared
    product = first.squares - 2 * c * first.second + c * c * total_second
    crossed = first.scored_influence - c * first.influence_total[:, None]
    halves = np.diag(first.influence)
    population = PairErrors(
        product * scale,
        (crossed + crossed.T) / 2 * scale,
        (halves[:, None] + halves[None, :] + 2 * first.influence) / 4 * scale,
    )
    given = first.noisy_squares
    own = first.influence_noise
    data = PairErrors(
        (given + given.T - first.noise) / squared,
        (first.noisy_influence + first.noisy_influence.T) / 2 / squared,
        (own[:, None] + own[None, :]) / 4 / squared,
    )
    public = np.array([one.design.retention == 1 for one in attributes])
    errors = _without_contradictions(population, data, ~np.outer(public, public))
    fourths = first.fourths - 4 * c * first.cubes + 6 * c**2 * first.squares - 4 * c**3 * first.second
    return _with_members(PairSums(c, errors, product / total_second, fourths / total_second + c**4), members)


def _with_members(found: PairSums, members: Sequence[MemberPair]) -> PairSums:
    """The same with the entries of members of one cluster, whose reports are not independent."""
    moments = [pair.moment for pair in members]

    def entered(matrix: FloatArray, numbers: Iterable[float]) -> FloatArray:
        changed = matrix.copy()
        for pair, number in zip(members, numbers, strict=True):
            a, b = pair.places
            changed[a, b] = changed[b, a] = number
        return changed

    def errors_from(target: Target) -> PairErrors:
        errors, own = found.errors[target], [pair.errors(target) for pair in members]
        return PairErrors(
            entered(errors.product, (one[0, 0] for one in own)),
            entered(errors.crossed, (one[0, 2] for one in own)),
            entered(errors.scale, (one[2, 2] for one in own)),
        )

    return PairSums(
        entered(found.covariance, (one.value for one in moments)),
        {target: errors_from(target) for target in found.errors},
        entered(found.squares, (one.square for one in moments)),
        entered(found.fourths, (one.fourth for one in moments)),
    )


def _without_contradictions(
    population: PairErrors, data: PairErrors, randomized: npt.NDArray[np.bool_]
) -> dict[Target, PairErrors]:
    """As `errors_of_means.larger`, entry by entry; the three errors of an entry stay together."""
    nothing = np.zeros_like(data.product)
    data = _chosen(randomized, data, PairErrors(nothing, nothing, nothing))
    wrong = (data.product <= 0) & randomized
    smaller = population.product < data.product
    return {
        "population": _chosen(smaller & ~wrong, data, population),
        "data": _chosen(wrong, population, data),
    }


def _chosen(where: npt.NDArray[np.bool_], one: PairErrors, other: PairErrors) -> PairErrors:
    return PairErrors(
        np.where(where, one.product, other.product),
        np.where(where, one.crossed, other.crossed),
        np.where(where, one.scale, other.scale),
    )


class _Sums:
    """Sums over rows of products of two attributes' numbers; entry [a, b] has the first-named factor of a."""

    def __init__(self, d: int) -> None:
        self.first, self.second, self.squares = (np.zeros((d, d)) for _ in range(3))
        self.cubes, self.fourths = (np.zeros((d, d)) for _ in range(2))
        self.scored_influence, self.influence = np.zeros((d, d)), np.zeros((d, d))
        self.noisy_squares, self.noise, self.noisy_influence = (np.zeros((d, d)) for _ in range(3))
        self.influence_total, self.influence_noise = np.zeros(d), np.zeros(d)

    def add(
        self,
        codes: IntArray,
        w1: FloatArray,
        w2: FloatArray,
        attributes: Sequence[Scored],
        noise: Sequence[tuple[FloatArray, FloatArray, FloatArray]],
        *,
        weighted: bool,
    ) -> None:
        """Add a block of rows, codes of shape (d, rows)."""
        x = _read([one.score for one in attributes], codes)
        q = _read([one.relative for one in attributes], codes)
        d, e, f = (_read([one[m] for one in noise], codes) for m in range(3))
        root = np.sqrt(w2)
        self.second += _gram(x * root)
        self.first = self.first + _gram(x * np.sqrt(w1)) if weighted else self.second
        squares = x * x
        # with the root of W2 in both factors a product with itself is symmetric, which BLAS uses
        weighted_squares, weighted_noise = squares * root, d * root
        weighted_x, weighted_q = x * root, q * root
        self.squares += _gram(weighted_squares)
        self.cubes += _gram(weighted_squares * x)
        self.fourths += _gram(weighted_squares * squares)
        self.influence += _gram(weighted_q)
        self.noise += _gram(weighted_noise)
        self.noisy_squares += weighted_noise @ weighted_squares.T
        self.scored_influence += (weighted_x * q) @ weighted_x.T
        self.noisy_influence += (e * root) @ weighted_x.T
        self.influence_total += q @ w2
        self.influence_noise += f @ w2


def _gram(table: FloatArray) -> FloatArray:
    product: FloatArray = table @ table.T
    return product


def _read(functions: Sequence[FloatArray], codes: IntArray) -> FloatArray:
    """The functions of the categories at the codes, shape (d, rows)."""
    out = np.empty(codes.shape)
    for function, column, line in zip(functions, codes, out, strict=True):
        np.take(function, column, out=line, mode="clip")  # "raise" would copy; the codes are in range
    return out


def _blocks(cells: Cells) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
    """Codes of shape (d, rows) with W1 and W2, in blocks of few rows."""
    for codes, first, second in cells.blocks():
        for start in range(0, first.size, _ROWS):
            part = slice(start, start + _ROWS)
            yield np.stack([column[part].astype(np.intp) for column in codes]), first[part], second[part]
