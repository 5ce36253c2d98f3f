"""Plans of moments with members of one cluster against the enumerated variance of the corrected moment."""

from __future__ import annotations

import math

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.estimators.channels import Channel, along_all, channel_of
from budget_opt.estimators.estimate import Target
from tests.estimators.release_model import FloatArray

SCORES = ([0.0, 1.0, 3.0], [-2.0, 0.0, 5.0])
MARGINALS = ([0.7, 0.2, 0.1], [0.2, 0.2, 0.6])
BACKGROUNDS = ("uniform", [0.5, 0.3, 0.2])
N = 5000


def allocation(background: str | list[float] = "uniform") -> bo.Allocation:
    attributes = [
        bo.Attribute(name, categories=3, scores=scores, marginal=marginal, background=background)
        for name, scores, marginal in zip("ab", SCORES, MARGINALS, strict=True)
    ]
    problem = bo.Problem(
        attributes=[*attributes, bo.Attribute("c", categories=2)],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("a", "b", "c"), bo.CrossMoment("a", "c")],
        clusters=[["a", "b"]],
        total_epsilon=6.0,
    )
    return bo.allocation_from(problem, {"a": 3.0, "b": 3.0, "c": 2.0})


def centred() -> list[FloatArray]:
    return [np.array(f) - np.dot(p, f) for f, p in zip(SCORES, MARGINALS, strict=True)]


def table(guess: float) -> FloatArray:
    """A joint table with these marginals, this correlation, and squares that multiply, as a plan assumes."""
    product = np.outer(*MARGINALS)
    a, b = centred()
    conditions = [np.outer(row, np.ones(3)) for row in np.eye(3)]
    conditions += [np.outer(np.ones(3), row) for row in np.eye(3)]
    conditions += [np.outer(a, b), np.outer(a**2, b**2)]
    scale = math.sqrt(float((product * np.outer(a**2, b**2)).sum()))
    wanted = [0.0] * 6 + [guess * scale, 0.0]
    moved = np.linalg.lstsq(np.stack([one.ravel() for one in conditions]), np.array(wanted), rcond=None)[0]
    shares = product + moved.reshape(3, 3)
    assert shares.min() > 0
    return shares


@pytest.mark.parametrize("target", ["population", "data"])
@pytest.mark.parametrize("guess", [-0.1, 0.0, 0.1])
@pytest.mark.parametrize("background", BACKGROUNDS)
def test_the_planned_error_of_members_is_the_exact_one(
    guess: float, background: str | list[float], target: Target
) -> None:
    made = allocation(background)
    channels = [channel_of(made["a"]), channel_of(made["b"])]
    shares = table(guess)
    function = np.outer(*centred())
    h = along_all(Channel.unbiased, channels, function)
    second = along_all(Channel.expected, channels, h**2)
    mean = float((shares * function).sum())
    variance = float((shares * second).sum()) - (
        mean**2 if target == "population" else float((shares * function**2).sum())
    )
    planned = bo.plan(made, N, guess={("a", "b"): guess})["a", "b"]
    found = planned.standard_error if target == "population" else planned.standard_error_data
    assert found == pytest.approx(math.sqrt(variance / N), rel=1e-6)


def test_blocks_are_planned_by_their_own_retention_and_silent_members_say_so() -> None:
    """An outsider's inflation is not that of the member that stands at its place."""
    made = allocation()
    plan = bo.plan(made, N)
    for planned, moment in zip(plan.moments, made.moments, strict=True):
        assert moment.variance_inflation is not None
        assert planned.effective_n == pytest.approx(N / moment.variance_inflation)
    problem = made.question
    silent = bo.allocation_from(problem, {"a": 0.0, "b": 0.0, "c": 2.0})
    assert "a, b: not released" in bo.plan(silent, N)["a", "b"].note


def test_a_guess_that_no_squares_allow_leaves_an_error_all_the_same() -> None:
    """Above 1 squares cannot multiply: the term of the guess is cut where it would leave less than none."""
    three = [
        bo.Attribute(name, categories=2, scores=[0.0, 1.0], marginal=[0.9, 0.1]) for name in ("a", "b", "c")
    ]
    problem = bo.Problem(
        attributes=three,
        moments=[bo.CrossMoment("a", "b", "c")],
        clusters=[["a", "b", "c"]],
        total_epsilon=9.0,
    )
    made = bo.allocation_from(problem, dict.fromkeys("abc", 9.0))
    error = bo.plan(made, N, guess=50.0).moments[0].relative_error_data
    assert error is not None
    assert error > 0
