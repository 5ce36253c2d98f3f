"""What `bo.design` refuses or cannot do: told by name, without false proof, with a way out that works."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import pytest

import budget_opt as bo
from budget_opt.errors import InfeasibleError, InputError, NotSolvedError
from budget_opt.model.arrays import Objective


def chain(objective: Objective = "geometric_mean", total: float = 4.0, **fields: object) -> bo.Problem:
    """Three attributes, two of them linked with the third."""
    return bo.Problem(
        **{
            "attributes": [
                bo.Attribute(name, categories=r) for name, r in zip("abc", (2, 3, 4), strict=True)
            ],
            "moments": [bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c")],
            "total_epsilon": total,
            "objective": objective,
            "clusters": "auto",
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: bo.design(chain(), max_cells=3), "max_cells"),
        (lambda: bo.design(chain(), time_limit=-1.0), "time_limit"),
        (lambda: bo.design(chain(), gap=2.0), "gap"),
        (lambda: bo.design(chain(), n=0), "n: "),
        (lambda: bo.design(chain(), dependence={("a", "nobody"): 1.0}), "dependence"),
        (lambda: bo.design(chain(), dependence={("a", "c"): -1.0}), "dependence"),
        (lambda: bo.design(chain(), progress=3), "progress: is a int, must be a function"),  # type: ignore[arg-type]
        (lambda: bo.design("problem.json"), "problem"),  # type: ignore[arg-type]
    ],
)
def test_arguments_outside_their_range_are_refused_by_name(make: Callable[[], object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_a_total_delta_is_refused_with_what_leads_to_a_split_that_keeps_it() -> None:
    problem = chain(total_delta=1e-6)
    with pytest.raises(InputError, match="total_delta: is 1e-06, and no bound over all partitions") as caught:
        bo.design(problem)
    told = re.search(r"the delta: (bo\.solve\(.*\))\. A split", str(caught.value))
    assert told is not None
    allocation = eval(told.group(1), {"bo": bo, "problem": problem})
    assert allocation.question.clusters == bo.design(chain()).problem.clusters
    assert allocation.total_delta == 1e-6
    bo.verify(allocation, problem=allocation.question).require()


def test_too_many_combinations_of_groupings_are_counted_by_attribute() -> None:
    candidates = [[[0, 1], [2, 3]], [[0], [1, 2, 3]], [[0, 1, 2], [3]], [[0], [1], [2, 3]]]
    attributes = [bo.Attribute(name, categories=4, groupings=candidates) for name in "abc"]
    with pytest.raises(InputError, match=r"groupings: 125 combinations \(5 of a x 5 of b x 5 of c, the decl"):
        bo.design(chain(attributes=attributes))


@pytest.mark.parametrize("objective", ["geometric_mean", "weighted_sum", "max_min", "min_variance"])
def test_a_total_too_small_for_the_objectives_digits_is_not_called_impossible(objective: Objective) -> None:
    # clusters of two are as large as 4 cells allow, and none is: products of two lambdas of 1e-301
    with pytest.raises(NotSolvedError, match=r"a number can tell from (0|infinite)\.") as caught:
        bo.design(chain(objective, 1e-300), max_cells=4)
    assert "1e-300 is enough for all floors" in str(caught.value)
    assert "impossible" not in str(caught.value)


@pytest.mark.parametrize("objective", ["weighted_sum", "geometric_mean"])
def test_minima_beyond_the_total_rule_out_partitions_and_the_bound_stays_one(objective: Objective) -> None:
    attributes = [bo.Attribute(name, categories=2, epsilon_min=1.0) for name in "abcd"]
    moments = [
        bo.CrossMoment(*pair, weight=1.0 + i) for i, pair in enumerate(itertools.combinations("abcd", 2))
    ]
    problem = chain(objective, 2.0, attributes=attributes, moments=moments, max_cells=8)
    design = bo.design(problem)
    assert design.status == "optimal"
    assert design.value is not None
    # two pairs, 1 nat each: any more blocks need more than the total
    values = []
    for first, second in (("ab", "cd"), ("ac", "bd"), ("ad", "bc")):
        split = bo.solve(problem.with_fields(clusters=[list(first), list(second)])).objective.value
        assert split is not None
        values.append(split)
    for joined in itertools.combinations("abcd", 3):
        split = bo.solve(problem.with_fields(clusters=[list(joined)])).objective.value
        assert split is not None
        values.append(split)
    assert design.value == pytest.approx(max(values), rel=1e-6)
    assert design.bound >= design.value


def test_what_none_needs_less_than_is_rounded_down_where_it_is_told() -> None:
    problem = chain(moments=[bo.CrossMoment("a", "b", floor=0.9), bo.CrossMoment("b", "c", floor=0.8)])
    with pytest.raises(InfeasibleError) as caught:
        bo.design(problem)
    told = re.search(r"none needs less than (\S+), which is proved", str(caught.value))
    assert told is not None
    assert caught.value.why.least_total_bound is not None
    assert float(told.group(1)) <= caught.value.why.least_total_bound
