"""Scores that an estimate can be made of, and clear errors for all others: R13."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.errors import InputError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.moments.designs import designs_of
from budget_opt.estimators.moments.moment import moment_from_counts
from budget_opt.estimators.moments.options import MomentOptions
from budget_opt.estimators.moments.released_moments import moments
from tests.estimators.release_model import allocation_like, design
from tests.estimators.survey_release import allocation, frame

TARGETS: tuple[Target, ...] = ("population", "data")


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (["x", "y"], "'smoker': the score 'x' is not a number"),
        (["0", "1"], "'smoker': the score '0' is not a number"),
        ([False, True], "'smoker': the score False is not a number"),
        (np.array([False, True]), "'smoker': the score .*False.* is not a number"),
        ([0, None], "'smoker': the score None is not a number"),
        ([0, 1j], "'smoker': the score 1j is not a number"),
        ([[0], [1]], "'smoker': the score .* is not a number"),
        ("01", "'smoker': the scores are '01', must be a list"),
        ({0: 1, 1: 2}, "'smoker': the scores are .* must be a list"),
        ({0, 1}, "'smoker': the scores are .* must be a list"),
        (np.eye(2), "'smoker': the scores are (.|\n)* must be a list"),
        (np.array(1), "'smoker': the scores are .* must be a list"),
        (3, "'smoker': the scores are 3, must be a list"),
        ([], "'smoker': 0 scores are given, the domain has 2"),
        ([0, 1, 2], "'smoker': 3 scores are given, the domain has 2"),
        ([0, math.nan], "'smoker': every score must be a finite number"),
        ([0, -math.inf], "'smoker': every score must be a finite number"),
        ([0, 10**400], "'smoker': every score must be a finite number"),
        ([0, Decimal("sNaN")], "'smoker': every score must be a finite number"),
        ([0, 1e308], "'smoker' up to 1e[+]308: their products, .* the largest double"),
        ([0, 1e-200], "'smoker' up to 1e-200: their products, .* the least double"),
    ],
    ids=lambda item: repr(item)[:20],
)
def test_r13_scores_that_are_no_moderate_finite_numbers_are_refused_by_attribute(
    scores: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        designs_of(allocation_like(), ("smoker",), {"smoker": scores})


def test_r13_scores_may_be_any_kind_of_real_number() -> None:
    for scores in (
        [0, 0.5],
        (Fraction(0), Fraction(1, 2)),
        [0, Decimal("0.5")],
        np.array([0, 0.5], np.float32),
    ):
        assert designs_of(allocation_like(), ("smoker",), {"smoker": scores})[0].scores.tolist() == [0, 0.5]


@pytest.mark.parametrize("scores", [[0, 1], "smoker", 1])
def test_r13_scores_that_are_no_mapping_are_refused(scores: Any) -> None:
    with pytest.raises(InputError, match=r"scores: is a .*, must map names"):
        designs_of(allocation_like(), ("smoker",), scores)
    with pytest.raises(InputError, match=r"scores: is a .*, must map names"):
        moments(pa.table({"smoker": ["yes"]}), allocation_like(), [("smoker",)], MomentOptions(scores=scores))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", [1, 2, 3, 4, 6])
def test_r13_scores_of_any_size_give_a_finite_estimate_or_an_error_that_names_them(
    order: int, target: Target
) -> None:
    """A moment is homogeneous in its scores; every estimate that is given keeps that to rounding."""
    counts = np.random.default_rng(order).integers(0, 2**62 // 2**order, size=(2,) * order)
    unit = moment_from_counts(counts, [design(f"a{m}", 0.4, [-1, 1]) for m in range(order)], target=target)
    given, refusals = [], []
    for exponent in (*range(-1000, 1000, 50), 1023):
        size = 2.0**exponent
        designs = [design(f"a{m}", 0.4, [-size, size]) for m in range(order)]
        try:
            estimate = moment_from_counts(counts, designs, target=target)
        except InputError as error:
            refusals.append(str(error))
            continue
        given.append(exponent)
        assert estimate.value == pytest.approx(unit.value * size**order, rel=1e-9)
        assert estimate.standard_error == pytest.approx(unit.standard_error * size**order, rel=1e-9)
    assert given == list(range(given[0], given[-1] + 1, 50))
    assert given[0] <= -400 / order + 50
    assert given[-1] >= 400 / order - 50
    assert all(f"attribute 'a{m}' up to" in refusal for refusal in refusals for m in range(order))


@pytest.mark.filterwarnings("error")
def test_r13_one_large_and_one_small_score_do_not_hide_each_other() -> None:
    designs = [design("a", 0.4, [0, 1e200]), design("b", 0.4, [0, 1e-200])]
    with pytest.raises(InputError, match=r"'a' up to 1e[+]200, attribute 'b' up to 1e-200"):
        moment_from_counts(np.array([[4, 1], [2, 3]]), designs)
    zero = [design("a", 0.4, [0, 0]), design("b", 0.4, [0, 1])]
    assert moment_from_counts(np.array([[4, 1], [2, 3]]), zero).value == 0


@pytest.mark.parametrize("origin", [0.0, 1e15, -1e15, 1.7e9])
@pytest.mark.parametrize("target", TARGETS)
def test_r13_scores_far_from_zero_give_the_numbers_of_those_at_zero(origin: float, target: Target) -> None:
    """Such as times in microseconds: their squares have no digits left for the differences."""
    e = bo.estimate
    near: dict[str, Any] = {"smoker": [0, 1], "income": [0, 1, 2]}
    far = {name: [origin + score for score in scores] for name, scores in near.items()}

    def both(what: Callable[..., Any], *names: str) -> Iterator[Any]:
        for scores in (far, near):
            given = {name: scores[name] for name in names}
            yield what(frame(), allocation(), *names, scores=given, target=target, noise_limit=math.inf)

    for name in ("smoker", "income"):
        one, other = both(e.moment, name)
        assert one.value - origin == pytest.approx(other.value, abs=0.2)
        assert one.raw - origin == pytest.approx(other.raw, abs=0.2)
        assert one.interval()[0] - origin == pytest.approx(other.interval()[0], abs=0.2)
        assert (one.standard_error, one.effective_n) == (other.standard_error, other.effective_n)
        assert one.usefulness == other.usefulness
    one, other = both(e.moment, "smoker", "income")
    assert (one.value, one.standard_error) == (other.value, other.standard_error)
    one, other = both(e.covariance, "smoker", "income")
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.standard_errors, other.standard_errors)


def test_r13_bootstrap_errors_of_scores_far_from_zero_have_their_digits() -> None:
    one, other = (
        bo.estimate.moment(frame(), allocation(), "income", scores={"income": scores}, bootstrap=20)
        for scores in ([1e15, 1e15 + 1, 1e15 + 2], [0, 1, 2])
    )
    assert np.array_equal(one.bootstrap.errors, other.bootstrap.errors)
