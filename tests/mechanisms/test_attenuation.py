"""Theorem 1 of Ruiz 2026 and the variances of DESIGN 2.2 and 2.3, by enumerating the Kronecker matrix.

Everything is in fractions with rational lambda, so that an identity holds exactly or not at all.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.sampler import sampler_for
from budget_opt.model.attribute import Attribute

Exact = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Case:
    """A joint distribution (one axis an attribute), and lambda, scores and background of each attribute."""

    joint: Exact
    retentions: tuple[Fraction, ...]
    scores: tuple[tuple[Fraction, ...], ...]
    backgrounds: tuple[tuple[Fraction, ...], ...]

    @property
    def attributes(self) -> int:
        return self.joint.ndim

    def matrix(self, m: int) -> Exact:
        """P = lambda I + (1 - lambda) 1 q^T, rows the truth."""
        r = self.joint.shape[m]
        kept = self.retentions[m]
        return np.array(
            [[kept * (x == y) + (1 - kept) * self.backgrounds[m][y] for y in range(r)] for x in range(r)],
            dtype=object,
        )

    def released(self) -> Exact:
        """The joint distribution of the reports, by the whole Kronecker matrix."""
        whole = self.matrix(0)
        for m in range(1, self.attributes):
            whole = np.kron(whole, self.matrix(m))
        return (self.joint.ravel() @ whole).reshape(self.joint.shape)


def expectation(joint: Exact, factors: dict[int, list[Fraction]]) -> Fraction:
    """E of the product of one function an attribute."""
    cells = itertools.product(*map(range, joint.shape))
    return sum(
        (joint[cell] * prod(values[cell[m]] for m, values in factors.items()) for cell in cells),
        Fraction(0),
    )


def centred_moment(joint: Exact, scores: dict[int, tuple[Fraction, ...]]) -> Fraction:
    means = {m: expectation(joint, {m: list(f)}) for m, f in scores.items()}
    return expectation(joint, {m: [value - means[m] for value in f] for m, f in scores.items()})


def shares(weights: list[int]) -> tuple[Fraction, ...]:
    return tuple(Fraction(w, sum(weights)) for w in weights)


@st.composite
def cases(draw: st.DrawFn, *, uniform: bool | None = None, largest: int = 4) -> Case:
    shape = draw(st.lists(st.integers(2, 3), min_size=1, max_size=largest))
    cells = prod(shape)
    weights = draw(
        st.lists(st.integers(0, 9), min_size=cells, max_size=cells).filter(lambda cell: sum(cell) > 0)
    )
    flat = draw(st.booleans()) if uniform is None else uniform

    def whole(low: int, high: int, size: int) -> list[int]:
        return draw(st.lists(st.integers(low, high), min_size=size, max_size=size))

    return Case(
        joint=np.array(shares(weights), dtype=object).reshape(shape),
        retentions=tuple(draw(st.fractions(Fraction(1, 50), 1, max_denominator=50)) for _ in shape),
        scores=tuple(tuple(map(Fraction, whole(-5, 5, r))) for r in shape),
        backgrounds=tuple(shares([1] * r if flat else whole(1, 9, r)) for r in shape),
    )


@given(cases())
def test_every_centred_cross_moment_is_multiplied_by_the_product_of_the_retentions(case: Case) -> None:
    """Theorem 1 for every set of at least two of at most four attributes, any scores and backgrounds."""
    released = case.released()
    assert released.sum() == 1
    for order in range(2, case.attributes + 1):
        for members in itertools.combinations(range(case.attributes), order):
            scores = {m: case.scores[m] for m in members}
            kept = prod(case.retentions[m] for m in members)
            assert centred_moment(released, scores) == kept * centred_moment(case.joint, scores)


@given(cases())
def test_a_marginals_deviation_from_the_background_is_multiplied_by_the_retention(case: Case) -> None:
    """The statement for one attribute: P(y = v) - q_v = lambda (P(x = v) - q_v)."""
    released = case.released()
    for m, kept in enumerate(case.retentions):
        for v, q in enumerate(case.backgrounds[m]):
            indicator = {m: [Fraction(v == x) for x in range(case.joint.shape[m])]}
            assert expectation(released, indicator) - q == kept * (expectation(case.joint, indicator) - q)


@given(cases())
def test_the_variance_of_one_reported_attribute_is_that_of_design_2_2(case: Case) -> None:
    released = case.released()
    for m, kept in enumerate(case.retentions):
        f, q = case.scores[m], case.backgrounds[m]
        first, second = list(f), [value**2 for value in f]
        variance = expectation(released, {m: second}) - expectation(released, {m: first}) ** 2
        q_first = sum((a * b for a, b in zip(q, first, strict=True)), Fraction(0))
        q_second = sum((a * b for a, b in zip(q, second, strict=True)), Fraction(0))
        mean = kept * expectation(case.joint, {m: first}) + (1 - kept) * q_first
        assert variance == kept * expectation(case.joint, {m: second}) + (1 - kept) * q_second - mean**2


@pytest.mark.parametrize(("records", "shape"), [(1, (2, 2)), (3, (2, 2)), (2, (2, 2, 2)), (2, (3, 2))])
def test_given_the_data_the_sample_centred_moment_is_multiplied_exactly_for_every_n(
    records: int, shape: tuple[int, ...]
) -> None:
    """DESIGN 2.2: with divisor n, conditionally on the data; all releases of a tiny table enumerated."""
    rng = np.random.default_rng(20261129)
    kept = [Fraction(2, 5), Fraction(1, 3), Fraction(5, 7)][: len(shape)]
    scores = [[Fraction(3), Fraction(-1), Fraction(7)][:r] for r in shape]
    data = [tuple(int(rng.integers(r)) for r in shape) for _ in range(records)]

    def moment(rows: tuple[tuple[int, ...], ...]) -> Fraction:
        means = [Fraction(sum(scores[m][row[m]] for row in rows)) / records for m in range(len(shape))]
        terms = (prod(scores[m][row[m]] - means[m] for m in range(len(shape))) for row in rows)
        return sum(terms, Fraction(0)) / records

    def chance(truth: tuple[int, ...], report: tuple[int, ...]) -> Fraction:
        return prod(k * (x == y) + (1 - k) / r for k, r, x, y in zip(kept, shape, truth, report, strict=True))

    expected = Fraction(0)
    for rows in itertools.product(itertools.product(*map(range, shape)), repeat=records):
        chances = (chance(truth, report) for truth, report in zip(data, rows, strict=True))
        expected += prod(chances) * moment(rows)
    assert expected == prod(kept) * moment(tuple(data))


def spread_factors(case: Case, m: int) -> tuple[list[Fraction], Fraction]:
    """E[(g - mu)^2 | x] of DESIGN 2.3 for each x, scores centred at the background's mean; and mu."""
    q, kept = case.backgrounds[m], case.retentions[m]
    centre = sum((a * b for a, b in zip(q, case.scores[m], strict=True)), Fraction(0))
    f = [value - centre for value in case.scores[m]]
    s = sum((a * b**2 for a, b in zip(q, f, strict=True)), Fraction(0))
    mu = expectation(case.joint, {m: f})
    tau = 1 / kept - 1
    return [(value - mu) ** 2 + tau * value**2 + tau * (1 + tau) * s for value in f], mu


@given(cases())
def test_the_variance_of_a_corrected_moment_is_the_closed_form_of_design_2_3(case: Case) -> None:
    """n Var = E prod[(f - mu)^2 + tau f^2 + tau (1 + tau) s] - mu_S^2, against the released distribution."""
    released = case.released()
    members = range(case.attributes)
    closed, corrected, moment = {}, {}, {}
    for m in members:
        closed[m], mu = spread_factors(case, m)
        q = case.backgrounds[m]
        centre = sum((a * b for a, b in zip(q, case.scores[m], strict=True)), Fraction(0))
        f = [value - centre for value in case.scores[m]]
        # g = f / lambda is unbiased for f
        corrected[m] = [value / case.retentions[m] - mu for value in f]
        moment[m] = [value - mu for value in f]
    mean = expectation(released, corrected)
    assert mean == expectation(case.joint, moment)
    squares = {m: [value**2 for value in corrected[m]] for m in members}
    assert expectation(released, squares) - mean**2 == expectation(case.joint, closed) - mean**2


@given(cases(uniform=True, largest=1))
def test_the_spread_of_an_attribute_is_the_variance_inflation_of_design_2_3(case: Case) -> None:
    """1 + tau a + tau (1 + tau) b of `Attribute.spread` is E (g - mu)^2 / Var f under its marginal."""
    marginal = [float(share) for share in case.joint]
    scores = [float(score) for score in case.scores[0]]
    if len({score for score, share in zip(scores, marginal, strict=True) if share > 0}) < 2:
        return
    attribute = Attribute("x", categories=len(marginal), scores=scores, marginal=marginal)
    a, b = attribute.spread
    factors, mu = spread_factors(case, 0)
    centre = sum(case.scores[0], Fraction(0)) / len(marginal)
    variance = expectation(case.joint, {0: [(value - centre - mu) ** 2 for value in case.scores[0]]})
    wanted = expectation(case.joint, {0: factors}) / variance
    tau = float(1 / case.retentions[0] - 1)
    assert 1 + tau * a + tau * (1 + tau) * b == pytest.approx(float(wanted), rel=1e-11)


@given(cases(uniform=True, largest=1))
def test_the_spread_of_a_nominal_attribute_sums_over_its_indicators(case: Case) -> None:
    r = case.joint.size
    marginal = [float(share) for share in case.joint]
    if max(marginal) == 1 or r == 2:  # two labels have scores
        return
    attribute = Attribute("x", categories=[f"c{i}" for i in range(r)], marginal=marginal)
    above, below = Fraction(0), Fraction(0)
    for category in range(r):
        indicator = tuple(Fraction(x == category) for x in range(r))
        one = Case(case.joint, case.retentions, (indicator,), case.backgrounds)
        above += expectation(case.joint, {0: spread_factors(one, 0)[0]})
        share = case.joint[category]
        below += share * (1 - share)
    a, b = attribute.spread
    tau = float(1 / case.retentions[0] - 1)
    assert 1 + tau * a + tau * (1 + tau) * b == pytest.approx(float(above / below), rel=1e-11)


@pytest.mark.parametrize("r", [2, 3, 7])
def test_uniform_shares_have_spread_1_stated_or_not(r: int) -> None:
    assert Attribute("x", categories=r).spread == (1.0, 1.0)
    assert Attribute("x", categories=r, marginal=[1 / r] * r).spread == pytest.approx((1.0, 1.0))
    nominal = Attribute("x", categories=[f"c{i}" for i in range(r)], marginal=[1 / r] * r)
    assert nominal.spread == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("share", [1e-3, 1e-9, 1e-15, 1e-17, 1e-100, 1e-290])
@pytest.mark.parametrize("common_first", [True, False])
@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]], ids=len)
def test_the_spread_of_a_rare_category_keeps_its_digits(
    share: float, common_first: bool, labels: list[str]
) -> None:
    """No variance is a difference of two numbers of size 1."""
    r = len(labels)
    shares = [1 - share, share, *[0.0] * (r - 2)]
    attribute = Attribute("x", categories=labels, marginal=shares if common_first else shares[::-1])
    p = Fraction(share)
    wanted = Fraction(1, 4) / (p * (1 - p)) if r == 2 else (1 - Fraction(1, r)) / (2 * p * (1 - p))
    assert attribute.spread == pytest.approx((float(wanted), float(wanted)), rel=1e-12)


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=24, max_size=24),
    totals=st.lists(st.floats(0.05, 8), min_size=3, max_size=3),
)
def test_theorem_1_holds_for_the_matrices_of_the_package_and_of_the_sampler(
    weights: list[float], totals: list[float]
) -> None:
    """In floats with `transition_matrix`, and with the integers that are really drawn from."""
    shape = (2, 3, 4)
    joint = np.array(weights).reshape(shape) / np.sum(weights)
    scores = [np.linspace(-1, 2, r) ** 2 for r in shape]

    def moment(table: npt.NDArray[np.float64]) -> float:
        grid = np.ones(shape)
        for m, f in enumerate(scores):
            mean = np.sum(table * f.reshape([-1 if m == k else 1 for k in range(3)]))
            grid = grid * (f - mean).reshape([-1 if m == k else 1 for k in range(3)])
        return float(np.sum(table * grid))

    for exactly in (False, True):
        kept = []
        whole = np.ones((1, 1))
        for e, r in zip(totals, shape, strict=True):
            sampler = sampler_for(e, r)
            assert sampler is not None
            kept.append(float(sampler.retention) if exactly else float(rr.retention(e, r)))
            whole = np.kron(whole, rr.transition_matrix(kept[-1], np.full(r, 1 / r)))
        released = (joint.ravel() @ whole).reshape(shape)
        assert moment(released) == pytest.approx(prod(kept) * moment(joint), rel=1e-9, abs=1e-14)
