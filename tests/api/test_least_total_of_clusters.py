"""`bo.least_total` of errors inside a cluster: the guess shifts them, as `bo.plan` says it does."""

from __future__ import annotations

import pytest

import budget_opt as bo
from budget_opt.estimators.estimate import Target

N = 5000


def problem(skewed: float) -> bo.Problem:
    return bo.Problem(
        attributes=[
            bo.Attribute("a", categories=3, scores=[0.0, 1.0, 3.0], marginal=[0.7, 0.2, 0.1]),
            bo.Attribute("b", categories=2, scores=[0.0, 1.0], marginal=[skewed, 1 - skewed]),
            bo.Attribute("c", categories=2),
        ],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c")],
        clusters=[["a", "b"]],
        total_epsilon=6.0,
    )


@pytest.mark.parametrize("target", ["population", "data"])
@pytest.mark.parametrize("guess", [-0.4, 0.0, 0.4, 1.0])
@pytest.mark.parametrize("skewed", [0.1, 0.95])
def test_a_plan_of_the_answer_states_the_wanted_error_and_of_less_a_larger_one(
    skewed: float, guess: float, target: Target
) -> None:
    wanted = 0.05
    asked, of_pair = problem(skewed), {("a", "b"): guess}
    answer = bo.least_total(asked, standard_error={("a", "b"): wanted}, n=N, guess=of_pair, target=target)
    total = answer.total_epsilon
    assert answer.bound <= total <= answer.bound * (1 + 1e-6)
    split = {name: answer.allocation[name].epsilon for name in "abc"}
    less = bo.allocation_from(asked, {**split, "a": split["a"] * (1 - 1e-4), "b": split["b"] * (1 - 1e-4)})
    reached = []
    for allocation in (answer.allocation, less):
        planned = bo.plan(allocation, N, guess=of_pair)["a", "b"]
        reached.append(planned.relative_error if target == "population" else planned.relative_error_data)
    assert reached[0] == answer.moments[0].relative_error
    assert reached[0] is not None
    assert reached[1] is not None
    assert reached[0] <= wanted < reached[1]
    assert reached[0] == pytest.approx(wanted, rel=1e-6)
    assert answer.moments[0].binding


def test_the_sign_of_the_guess_moves_the_total() -> None:
    """Both members are skewed upwards, so a positive link costs less than its opposite."""
    totals = [
        bo.least_total(
            problem(0.95), standard_error={("a", "b"): 0.1}, n=N, guess={("a", "b"): guess}, target="data"
        ).total_epsilon
        for guess in (-0.5, 0.0, 0.5)
    ]
    assert len({round(total, 3) for total in totals}) == 3
    assert totals in (sorted(totals), sorted(totals, reverse=True))
