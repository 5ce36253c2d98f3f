"""`verify`: what an allocation says of its optimum, against bounds that are found here."""

from __future__ import annotations

from functools import cache

import pytest

from budget_opt.allocation import Allocation, Statement, allocate
from budget_opt.certificate.certify import certify
from budget_opt.model.arrays import OBJECTIVES
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.verifier.static import verify_allocation
from tests.verifier.sample_allocations import asked, failed, with_outcome


@cache
def solved(objective: str) -> Allocation:
    from budget_opt import solve

    floors = [CrossMoment("smoker", "income", floor=0.1), CrossMoment("income", "region", weight=2.0)]
    return solve(asked(objective=objective, moments=floors, groups=[]))


@pytest.fixture(scope="module", params=OBJECTIVES)
def best(request: pytest.FixtureRequest) -> Allocation:
    return solved(request.param)


def test_a_solved_allocation_passes(best: Allocation) -> None:
    assert failed(best, best.question) == set()
    assert best.objective.bound is not None


def better(allocation: Allocation, share: float) -> float:
    """A bound nearer to the value, and past it, by this share of the value."""
    outcome = allocation.objective
    assert outcome.value is not None
    up = outcome.kind in ("min_epsilon", "min_variance")
    return outcome.value * (1 + share if up else 1 - share)


def test_a_bound_that_is_too_good_to_be_true_fails(best: Allocation) -> None:
    """The split itself is better than the bound allows."""
    flattered = allocate(
        best.question, best.epsilons, Statement(bound=better(best, 1e-3), gap_tolerance=1e-6, solver="x")
    )
    assert f"bound of {best.objective.kind}" in failed(flattered, best.question)


def test_a_poor_split_that_claims_to_be_optimal_fails(best: Allocation) -> None:
    """Its bound is its own value, so that the file agrees with itself; only the problem tells."""
    problem, poor = best.question, best.epsilons
    if problem.objective == "min_epsilon":
        poor[2] += 0.3
    else:
        poor[2], poor[0] = 0.8 * poor[2], min(poor[0] + 0.2 * poor[2], 1.5)
    attained = allocate(problem, poor, Statement()).objective.value
    flattered = allocate(problem, poor, Statement(bound=attained, gap_tolerance=1e-5, solver="x"))
    assert flattered.objective.status == "optimal"
    claims = {f"bound of {problem.objective}", "the split is optimal: relative gap"}
    refuted = failed(flattered, problem) & claims
    # a weighted sum is not convex: there a better split is found, which refutes the bound
    assert f"bound of {problem.objective}" in refuted


def test_a_bound_that_only_a_search_can_prove_is_a_note_and_no_failure() -> None:
    best = solved("weighted_sum")
    judged = certify(best.question.arrays, best.epsilons)
    bound = judged.value * (1 + 0.1 * judged.relative_gap) if judged.relative_gap > 1e-4 else judged.bound
    stated = allocate(best.question, best.epsilons, Statement(bound=bound, gap_tolerance=1e-9, solver="x"))
    report = verify_allocation(stated, best.question)
    assert report.holds


def test_a_split_that_is_not_quite_optimal_fails_even_where_its_bound_is_plausible() -> None:
    """A stated bound may be a little better than the one proved here; a gap above the tolerance may not."""
    best = solved("geometric_mean")
    problem, poor = best.question, best.epsilons
    poor[0] *= 0.97
    certificate = certify(problem.arrays, poor)
    gap = certificate.relative_gap
    assert 1e-5 < gap < 0.1
    bound = certificate.value * (1 + 0.6 * gap)
    claim = allocate(problem, poor, Statement(bound=bound, gap_tolerance=gap / 1.5, solver="x"))
    assert claim.objective.status == "optimal"
    claims = failed(claim, problem, gap=gap / 1.5)
    assert "the split is optimal: relative gap" in claims
    assert "bound of geometric_mean" not in claims


def test_an_optimum_without_a_bound_fails(best: Allocation) -> None:
    claims = failed(with_outcome(best, bound=None, relative_gap=None), best.question)
    assert claims == {
        f"stated {best.objective.kind}: value, gap and status",
        "the stated relative gap",
    }
