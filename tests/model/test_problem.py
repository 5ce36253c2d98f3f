"""What a problem means: exact budgets, merged moments, scores, domains, arrays and objective values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budget_opt.errors import ProblemError
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.mechanisms.exact import exact
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, Group
from budget_opt.model.objectives import log_inflations, log_retentions, value, value_of
from budget_opt.model.problem import Problem
from tests.strategies import problems


def problem_of(attributes: list[Attribute], **fields: Any) -> Problem:
    moments = [CrossMoment(attributes[0].name)]
    return Problem(attributes=attributes, **{"moments": moments, **fields})


# --- budgets are decimals (DESIGN 2.7, R21) ---


@pytest.mark.parametrize(("pins", "total"), [(3, 0.3), (10, 1.0), (7, 0.7), (6, 0.6)])
def test_pins_of_a_tenth_fit_their_exact_sum_and_one_more_does_not(pins: int, total: float) -> None:
    def pinned(count: int) -> list[Attribute]:
        return [Attribute(f"a{i}", categories=2, epsilon=0.1) for i in range(count)]

    problem = problem_of(pinned(pins), total_epsilon=total)
    assert sum((exact(attribute.lower) for attribute in problem.attributes), Fraction(0)) == exact(total)
    with pytest.raises(ProblemError, match="need"):
        problem_of(pinned(pins + 1), total_epsilon=total)
    group = Group("g", attributes=[f"a{i}" for i in range(pins)], epsilon_max=total)
    assert problem_of(pinned(pins), total_epsilon=9.0, groups=[group]).groups == (group,)
    with pytest.raises(ProblemError, match="need"):
        problem_of(pinned(pins), total_epsilon=9.0, groups=[group.with_fields(epsilon_max=total - 1e-9)])


def test_the_least_overdraft_is_refused() -> None:
    pinned = [Attribute("a", categories=2, epsilon=0.1), Attribute("b", categories=2, epsilon=0.2)]
    assert problem_of(pinned, total_epsilon=0.3)
    with pytest.raises(ProblemError):
        problem_of(pinned, total_epsilon=math.nextafter(0.3, 0))
    with pytest.raises(ProblemError):
        problem_of([pinned[0].with_fields(epsilon=math.nextafter(0.1, 1)), pinned[1]], total_epsilon=0.3)


def test_minima_count_as_pins_do_and_maxima_do_not() -> None:
    low = [Attribute(f"a{i}", categories=2, epsilon_min=0.1) for i in range(4)]
    with pytest.raises(ProblemError, match=r"a0, a1, a2, a3 need 0\.4"):
        problem_of(low, total_epsilon=0.3)
    high = [Attribute(f"a{i}", categories=2, epsilon_max=5) for i in range(4)]
    assert problem_of(high, total_epsilon=0.3)


# --- permuted duplicates (DESIGN 3.1) ---


def merged(*moments: CrossMoment) -> tuple[CrossMoment, ...]:
    attributes = [Attribute(name, categories=3) for name in "abc"]
    return Problem(attributes=attributes, moments=moments, total_epsilon=1.0).moments


def test_permuted_duplicates_become_one_moment_with_the_stricter_bounds() -> None:
    found = merged(
        CrossMoment("a", "b", weight=1.5, floor=0.1, target=2, variance=1),
        CrossMoment("c", "a"),
        CrossMoment("b", "a", weight=0.5, floor=0.2, ceiling=0.9, variance=5),
        CrossMoment("a", "b", weight=0.0, ceiling=0.8),
    )
    assert found == (
        CrossMoment("a", "b", weight=2.0, floor=0.2, ceiling=0.8, target=2, variance=2),
        CrossMoment("c", "a"),
    )


def test_a_duplicate_that_is_not_in_the_objective_does_not_set_its_target() -> None:
    """Weight 0 takes a moment out of `max_min` too."""
    silent = CrossMoment("b", "a", weight=0, target=5, variance=7)
    assert merged(CrossMoment("a", "b"), silent) == (CrossMoment("a", "b"),)
    assert merged(silent, CrossMoment("a", "b"))[0].target == 1
    assert merged(silent, CrossMoment("a", "b"))[0].variance == 1


def test_a_duplicate_has_the_higher_priority_of_those_that_count() -> None:
    silent = CrossMoment("b", "a", weight=0, level=1)
    assert merged(CrossMoment("a", "b", level=3), CrossMoment("b", "a", level=2))[0].level == 2
    assert merged(CrossMoment("a", "b", level=3), silent)[0].level == 3


def test_the_arrays_of_a_level_count_its_moments_and_keep_all_else() -> None:
    """Those of the problem itself are of the first level that has a weight."""
    moments = [
        CrossMoment("a", "b", level=5, weight=2.0),
        CrossMoment("b", "c", level=2, floor=0.01),
        CrossMoment("c", level=1, weight=0.0, ceiling=0.9),
        CrossMoment("a", level=5),
    ]
    attributes = [Attribute(name, categories=3) for name in "abc"]
    problem = Problem(attributes=attributes, moments=moments, total_epsilon=1.0)
    assert problem.levels == (2, 5)
    assert problem.arrays.weight.tolist() == [0.0, 1.0, 0.0, 0.0]
    last = problem.arrays_of_level(5)
    assert last.weight.tolist() == [2.0, 0.0, 0.0, 1.0]
    assert last.floors.tolist() == [1]
    assert last.ceilings.tolist() == [2]
    assert problem.to_dict()["moments"][0]["level"] == 5
    assert problem.sha256 != problem.with_fields(moments=[one.with_fields(level=2) for one in moments]).sha256


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.permutations("ab"), st.integers(0, 10), st.floats(0.1, 10), st.floats(0.1, 10)),
        min_size=2,
        max_size=5,
    ),
    st.sampled_from(("weighted_sum", "min_variance")),
)
def test_merging_changes_no_sum_over_moments(parts: list[Any], objective: Any) -> None:
    moments = [CrossMoment(*names, weight=w, target=t, variance=v) for names, w, t, v in parts]
    if not any(moment.weight > 0 for moment in moments):
        return
    attributes = [Attribute("a", categories=3), Attribute("b", categories=4)]
    problem = Problem(attributes=attributes, moments=moments, total_epsilon=2.0, objective=objective)
    epsilon = np.array([0.7, 1.3])
    kept = float(np.exp(log_retentions(problem.arrays, epsilon)[0]))
    scale = {"weighted_sum": kept, "min_variance": 1 / kept**2}[objective]
    factor = [moment.variance if objective == "min_variance" else 1.0 for moment in moments]
    apart = math.fsum(moment.weight * f * scale for moment, f in zip(moments, factor, strict=True))
    assert len(problem.moments) == 1
    assert value(problem.arrays, epsilon) == pytest.approx(apart, rel=1e-12)


# --- domains and scores ---


def test_the_domain_is_the_declared_one_in_its_order() -> None:
    """R12."""
    text = Attribute("a", categories=["b", "a", "c"], other="c", missing="category").domain
    assert (text.kind, text.labels, text.other, text.missing) == ("text", ("b", "a", "c", None), 2, 3)
    number = Attribute("a", categories=3).domain
    assert (number.kind, number.labels, number.other, number.missing) == ("integer", (0, 1, 2), None, None)
    truth = Attribute("a", categories=[True, False]).domain
    assert (truth.kind, truth.labels) == ("boolean", (True, False))
    bins = Attribute("a", bins=[None, 18, 30.5, 65], scores=[9, 24, 50]).domain
    assert bins.labels == ("(-inf, 18)", "[18, 30.5)", "[30.5, 65]")
    assert bins.edges == (-math.inf, 18.0, 30.5, 65.0)
    assert Attribute("a", bins=[0, 1, None], scores=[0, 1]).domain.labels == ("[0, 1)", "[1, inf)")


@settings(max_examples=40)
@given(
    st.lists(
        st.one_of(st.integers(-(10**20), 10**20), st.floats(-1e100, 1e100)),
        min_size=3,
        max_size=9,
        unique=True,
    ).filter(lambda edges: len(set(map(float, edges))) == len(edges))
)
def test_every_bin_has_its_own_label(edges: list[float]) -> None:
    labels = Attribute("a", bins=sorted(edges)).domain.labels
    assert len(set(labels)) == len(edges) - 1


@pytest.mark.parametrize(
    ("fields", "scores"),
    [
        ({"categories": 3}, (0, 1, 2)),
        ({"categories": ["x", "y"]}, (0, 1)),
        ({"categories": [True, False]}, (0, 1)),
        ({"categories": ["x", "y", "z"]}, None),
        ({"categories": [10, 20, 30]}, None),
        ({"categories": ["x", "y", "z"], "ordered": True}, (0, 1, 2)),
        ({"categories": ["x", "y", "z"], "scores": [5, 5, 1]}, (5, 5, 1)),
        ({"bins": [0, 10, 30]}, (5, 20)),
        ({"bins": [0, 10, None], "scores": [5, 15]}, (5, 15)),
        ({"categories": 3, "missing": "category", "missing_score": 0.5}, (0, 1, 2, 0.5)),
        ({"categories": ["x", "y", "z"], "missing": "category"}, None),
        ({"categories": ["x", "y"], "missing": "category"}, None),
        ({"categories": ["x", "y"], "missing": "category", "missing_score": 0.5}, (0, 1, 0.5)),
    ],
)
def test_scores_are_given_or_mid_points_or_the_index_where_order_means_something(
    fields: dict[str, Any], scores: tuple[float, ...] | None
) -> None:
    attribute = Attribute("a", **fields)
    assert attribute.score_values == scores
    assert attribute.cardinality == len(attribute.domain.labels)
    assert scores is None or len(scores) == attribute.cardinality


def test_a_score_for_missing_answers_without_other_scores_is_refused() -> None:
    with pytest.raises(ProblemError, match=r"missing_score: is 2\.0, has no meaning"):
        Attribute("a", categories=["x", "y", "z"], missing="category", missing_score=2)


@pytest.mark.parametrize("marginal", [[1.0, 1e-320], [1.0, 5e-324], [1.0, 0.0], [0.0, 1.0], [1.0, 1e-301]])
def test_a_marginal_without_variance_is_refused(marginal: list[float]) -> None:
    with pytest.raises(ProblemError, match="variance"):
        Attribute("a", categories=2, marginal=marginal)


def test_a_marginal_whose_categories_have_one_score_is_refused() -> None:
    with pytest.raises(ProblemError, match="variance"):
        Attribute("a", categories=3, scores=[1, 1, 2], marginal=[0.5, 0.5, 0])


def test_a_marginal_beside_faulty_scores_is_told_as_one_fault_of_the_scores() -> None:
    with pytest.raises(ProblemError) as caught:
        Attribute("a", categories=3, scores=[1, 2], marginal=[0.2, 0.3, 0.5])
    assert [fault.where for fault in caught.value.faults] == ["scores"]


# --- a problem does not change ---


def test_a_problem_cannot_be_changed_in_place() -> None:
    problem = problem_of([Attribute("a", categories=2)], total_epsilon=1.0)
    with pytest.raises(ValueError, match="frozen"):
        problem.total_epsilon = 9.0
    with pytest.raises(ValueError, match="frozen"):
        problem.attributes[0].epsilon = 9.0
    assert hash(problem) == hash(problem.with_fields())
    assert problem.with_objective("max_min").objective == "max_min"
    assert problem.objective == "weighted_sum"


def test_problems_are_compared_by_their_fields_whatever_was_computed_from_them() -> None:
    one, same, other = (problem_of([Attribute("a", categories=r)], total_epsilon=1.0) for r in (2, 2, 3))
    assert all(problem.arrays.blocks == 1 and problem.sha256 for problem in (one, same, other))
    assert one == same
    assert one != other
    assert one == problem_of([Attribute("a", categories=2)], total_epsilon=1.0)


# --- arrays ---


@given(problems())
@settings(max_examples=20)
def test_the_arrays_say_what_the_problem_says(problem: Problem) -> None:
    arrays = problem.arrays
    assert (arrays.blocks, arrays.moments) == (len(problem.attributes), len(problem.moments))
    assert arrays.objective == problem.objective
    assert arrays.lower.tolist() == [attribute.lower for attribute in problem.attributes]
    assert arrays.stated_upper.tolist() == [attribute.upper for attribute in problem.attributes]
    assert arrays.cardinality.tolist() == [attribute.cardinality for attribute in problem.attributes]
    for k, moment in enumerate(problem.moments):
        assert {problem.names[i] for i in arrays.members(k)} == set(moment.attributes)
        row = arrays.incidence[[k], :].toarray()[0]
        assert row.tolist() == [float(name in moment.attributes) for name in problem.names]
        assert (k in arrays.floors) == (moment.floor is not None)
        assert (k in arrays.ceilings) == (moment.ceiling is not None)
        assert arrays.log_floor[k] == (-math.inf if moment.floor is None else math.log(moment.floor))
        assert arrays.log_ceiling[k] == (0 if moment.ceiling is None else math.log(moment.ceiling))
        found = (arrays.weight[k], arrays.target[k], arrays.variance[k])
        assert found == (moment.weight, moment.target, moment.variance)
    assert len(arrays.budgets) == len(problem.groups) + (problem.total_epsilon is not None)
    for budget, (name, members, cap) in zip(arrays.budgets, problem.budgets(), strict=True):
        assert (budget.name, budget.cap) == (name, cap)
        assert {problem.names[i] for i in budget.members} == set(members)
    stated = any(problem.attribute(a).marginal is not None for m in problem.moments for a in m.attributes)
    bent = problem.objective == "min_variance" and arrays.ceilings.size > 0 and stated
    assert arrays.is_convex == (problem.objective != "weighted_sum" and not bent)


@given(problems())
@settings(max_examples=20)
def test_the_upper_bound_is_the_last_double_that_every_budget_leaves(problem: Problem) -> None:
    """Nothing that is allowed is cut off, nothing is left that breaks a budget on its own."""
    arrays = problem.arrays
    least = [exact(attribute.lower) for attribute in problem.attributes]

    def fits(i: int, epsilon: float) -> bool:
        others = (
            sum((least[j] for j in budget.members if j != i), exact(epsilon))
            for budget in arrays.budgets
            if i in budget.members
        )
        caps = (budget.cap for budget in arrays.budgets if i in budget.members)
        return all(spent <= cap for spent, cap in zip(others, caps, strict=True))

    for i, attribute in enumerate(problem.attributes):
        upper = float(arrays.upper[i])
        assert attribute.lower <= upper <= attribute.upper
        if math.isinf(upper):
            assert not any(i in budget.members for budget in arrays.budgets)
            continue
        assert fits(i, upper)
        if attribute.epsilon is None and upper < attribute.upper:
            assert not fits(i, math.nextafter(upper, math.inf))


# --- objective values (DESIGN 2.4) ---


@given(problems(), st.data())
@settings(max_examples=20)
def test_the_value_of_each_objective_is_its_formula(problem: Problem, data: st.DataObject) -> None:
    drawn = st.one_of(st.just(0.0), st.floats(1e-3, 20))
    epsilon = np.array([data.draw(drawn) for _ in problem.attributes])
    kept = {
        attribute.name: float(rr.retention(e, attribute.cardinality))
        for attribute, e in zip(problem.attributes, epsilon, strict=True)
    }
    used = [moment for moment in problem.moments if moment.weight > 0]
    weights = [moment.weight for moment in used]
    retentions = [math.prod(kept[name] for name in moment.attributes) for moment in used]

    def inflation(moment: CrossMoment) -> float:
        factors = []
        for name in moment.attributes:
            if kept[name] == 0:
                return math.inf
            a, b = problem.attribute(name).spread
            tau = 1 / kept[name] - 1
            factors.append(1 + tau * a + tau * (1 + tau) * b)
        return math.prod(factors)

    wanted = {
        "weighted_sum": math.fsum(w * r for w, r in zip(weights, retentions, strict=True)),
        "geometric_mean": math.prod(
            r ** (w / sum(weights)) for w, r in zip(weights, retentions, strict=True)
        ),
        "max_min": min((r / moment.target for r, moment in zip(retentions, used, strict=True)), default=0),
        "min_epsilon": math.fsum(epsilon),
        "min_variance": sum(moment.weight * moment.variance * inflation(moment) for moment in used),
    }[problem.objective]
    found = value(problem.arrays, epsilon)
    assert found == pytest.approx(wanted, rel=1e-9)
    log_kept = rr.log_retention(epsilon, problem.arrays.cardinality)
    assert value_of(problem.arrays, epsilon, log_kept) == pytest.approx(wanted, rel=1e-9)
    by_moment = np.exp(log_inflations(problem.arrays, epsilon))
    assert by_moment == pytest.approx([inflation(moment) for moment in problem.moments], rel=1e-9)


def test_uniform_marginals_inflate_the_variance_by_the_squared_retention() -> None:
    attributes = [Attribute("a", categories=4), Attribute("b", categories=7, marginal=[1 / 7] * 7)]
    problem = Problem(attributes=attributes, moments=[CrossMoment("a", "b")], total_epsilon=2.0)
    epsilon = np.array([0.8, 1.2])
    kept = log_retentions(problem.arrays, epsilon)[0]
    assert log_inflations(problem.arrays, epsilon)[0] == pytest.approx(-2 * kept, rel=1e-12)


def test_a_rare_category_costs_far_more_than_the_squared_retention_says() -> None:
    """DESIGN 2.3: at a share of a tenth the effective sample size is far below n R^2."""
    rare = Attribute("abuse", categories=2, marginal=[0.9, 0.1])
    a, b = rare.spread
    assert (a, b) == pytest.approx((0.25 / 0.09, 0.25 / 0.09), rel=1e-12)
    problem = problem_of([rare], total_epsilon=1.0)
    kept = log_retentions(problem.arrays, np.array([1.0]))[0]
    assert np.exp(log_inflations(problem.arrays, np.array([1.0]))[0] + 2 * kept) > 2
