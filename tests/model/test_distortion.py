"""The largest expected share of changed cells: a least lambda, kept exactly by the sampler's integers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import InfeasibleError, ProblemError
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.samplers import any_sampler_for
from budget_opt.model.clusters.block import Block
from budget_opt.model.distortion import distortion


def problem(total: float = 6.0, clusters: Any = (), **fields: Any) -> bo.Problem:
    return bo.Problem(
        attributes=[bo.Attribute("a", **{"categories": 4, **fields}), bo.Attribute("b", categories=3)],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("b", weight=5.0)],
        total_epsilon=total,
        clusters=clusters,
    )


def changed(attribute: bo.Attribute, sampler: Any) -> Fraction:
    """The expected share of changed cells, from the probabilities of all reports."""
    r = attribute.cardinality
    shares = [exact(share) for share in attribute.shares or [1.0] * r]
    whole = sum(shares, Fraction(0))
    kept = sum((p * sampler.probability(code, code) for code, p in enumerate(shares)), Fraction(0))
    return 1 - kept / whole


@settings(max_examples=40)
@given(
    st.integers(2, 40),
    st.integers(1, 99),
    st.sampled_from([None, "marginal"]),
    st.lists(st.integers(1, 9), min_size=40),
)
def test_the_least_epsilon_of_a_distortion_is_kept_exactly_by_some_width(
    r: int, percent: int, background: str | None, weights: list[int]
) -> None:
    marginal = [weight / sum(weights[:r]) for weight in weights[:r]]
    fields = {} if background is None else {"marginal": marginal, "background": background}
    attribute = bo.Attribute("a", categories=r, distortion_max=percent / 100, **fields)
    block = Block((attribute,))
    if block.lower == 0:
        assert distortion(attribute, Fraction(0)) <= exact(percent / 100)
        return
    sampler = any_sampler_for(block.lower, r, attribute.background_weights, least_bits=128)
    assert sampler is not None
    assert sampler.retention >= block.least_retention
    assert distortion(attribute, block.least_retention) == exact(percent / 100)
    assert changed(attribute, sampler) <= exact(percent / 100) + Fraction(r, 2**120)
    assert distortion(attribute, sampler.retention) <= exact(percent / 100)


@pytest.mark.parametrize("limit", [0.5, 0.01, 1e-12])
@pytest.mark.parametrize("clusters", [(), [("a", "b")]])
def test_a_solved_split_keeps_the_distortion_exactly_and_verifies(limit: float, clusters: Any) -> None:
    asked = problem(80.0, clusters, distortion_max=limit)
    allocation = bo.solve(asked)
    block = allocation.block_of("a")
    attribute = asked.attribute("a")
    assert distortion(attribute, block.exact_retention) <= exact(limit)
    report = bo.verify(allocation, problem=asked).require()
    assert any("changed cells of a" in check.claim and check.holds for check in report.checks)


def test_in_a_cluster_the_own_column_of_the_member_keeps_the_distortion() -> None:
    asked = problem(6.0, [("a", "b")], distortion_max=0.2)
    allocation = bo.solve(asked)
    column = allocation["a"].column_sampler
    assert column is not None
    assert changed(asked.attribute("a"), column) <= Fraction(1, 5)
    assert asked.block_of("a").lower > problem(6.0, distortion_max=0.2).block_of("a").lower


def test_a_split_that_changes_more_cells_fails_verification() -> None:
    asked = problem(6.0, distortion_max=0.2)
    allocation = asked.allocation_from({"a": 2.4, "b": 3.6})
    report = bo.verify(allocation, problem=asked)
    assert ["changed cells of a" in check.claim for check in report.failed] == [True]
    dropped = asked.allocation_from({"a": 0, "b": 3.6})
    assert any("changed cells of a" in check.claim for check in bo.verify(dropped, problem=asked).failed)


def test_another_background_counts_by_the_marginal_or_else_by_the_worst_population() -> None:
    listed = [0.1, 0.2, 0.3, 0.4]
    known = bo.Attribute(
        "a", categories=4, background=listed, marginal=[0.4, 0.3, 0.2, 0.1], distortion_max=0.2
    )
    unknown = bo.Attribute("a", categories=4, background=listed, distortion_max=0.2)
    assert distortion(known, Fraction(0)) == 1 - Fraction(20, 100)
    assert distortion(unknown, Fraction(0)) == 1 - Fraction(1, 10)
    assert unknown.least_retention > known.least_retention > 0


@pytest.mark.parametrize("limit", [0, -0.1, 1.5, float("nan"), "0.1", True])
def test_r13_a_share_that_is_none_is_refused_by_its_name(limit: Any) -> None:
    with pytest.raises(ProblemError, match="distortion_max"):
        bo.Attribute("a", categories=4, distortion_max=limit)


def test_a_distortion_above_what_nothing_released_has_asks_for_nothing() -> None:
    assert problem(distortion_max=0.75).block_of("a").lower == 0


def test_impossible_distortions_are_explained() -> None:
    with pytest.raises(ProblemError, match="distortion_max of a need"):
        problem(1.0, distortion_max=0.05)
    with pytest.raises(ProblemError, match="needs an epsilon of at least"):
        problem(distortion_max=0.05, epsilon_max=1.0)
    asked = problem(4.0, distortion_max=0.1)
    asked = asked.with_fields(moments=[bo.CrossMoment("a", "b", floor=0.3)])
    with pytest.raises(InfeasibleError) as caught:
        bo.solve(asked)
    told = str(caught.value)
    assert "(of distortion_max 0.1)" in told
    member = next(one for one in caught.value.why.conflict if one.kind == "epsilon_min")
    assert (member.name, member.distortion) == ("a", 0.1)


def test_the_allocation_does_not_carry_the_limit() -> None:
    allocation = bo.solve(problem(distortion_max=0.2))
    assert "distortion_max" not in allocation.to_dict()["attributes"][0]


def test_a_split_is_explained_by_the_distortion_that_holds_it() -> None:
    asked = problem(4.0, distortion_max=0.2)
    told = " ".join(str(bo.explain(bo.solve(asked), asked)).split())
    assert "its distortion_max asks for it" in told
