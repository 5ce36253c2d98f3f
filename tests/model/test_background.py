"""Backgrounds in problems: exact shares, the price that follows from them, and what they do to 2.3."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.errors import ProblemError
from budget_opt.mechanisms.exact import exact
from budget_opt.model.attribute import Attribute
from budget_opt.model.backgrounds.background import Mixture, background_shares, decimal_weights
from budget_opt.model.clusters.block import Block

MARGINAL = (0.6, 0.3, 0.1)

shares = st.lists(st.integers(1, 200), min_size=2, max_size=6).map(
    lambda counts: [count / sum(counts) for count in counts]
)


def attribute(**fields: Any) -> Attribute:
    return Attribute("x", **{"categories": 3, "marginal": MARGINAL, **fields})


def exact_shares(one: Attribute) -> list[Fraction]:
    weights = one.background_weights
    assert weights is not None
    return [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize(
    ("stated", "due"),
    [
        ("marginal", (6, 3, 1)),
        ([0.5, 0.3, 0.2], (5, 3, 2)),
        ((1 / 3, 1 / 3, 1 / 3), (1, 1, 1)),
        ({"mixture": 1}, (6, 3, 1)),
        ({"mixture": 0}, (1, 1, 1)),
        # nine parts of (6, 3, 1) / 10 and one of 1 / 3 each
        ({"mixture": 0.9}, (172, 91, 37)),
        (np.array([0.5, 0.25, 0.25]), (2, 1, 1)),
    ],
)
def test_the_shares_of_a_background_are_exactly_the_stated_decimals(stated: Any, due: Any) -> None:
    one = attribute(background=stated)
    assert one.background_weights == due
    assert one.effective_cardinality == sum(due) / min(due)


def test_the_uniform_background_is_none_and_costs_the_number_of_categories() -> None:
    assert attribute().background_weights is None
    assert attribute().effective_cardinality == 3.0


def test_shares_that_sum_to_nearly_1_are_divided_by_their_sum() -> None:
    one = attribute(background=[0.3333333, 0.3333333, 0.3333333])
    assert exact_shares(one) == [Fraction(1, 3)] * 3


@settings(max_examples=40)
@given(shares, st.integers(0, 1000).map(lambda k: k / 1000))
def test_a_mixture_is_w_times_the_marginal_and_the_rest_uniform(marginal: list[float], w: float) -> None:
    one = Attribute("x", categories=len(marginal), marginal=marginal, background={"mixture": w})
    whole = sum(map(exact, marginal))
    due = [exact(w) * exact(p) / whole + (1 - exact(w)) / len(marginal) for p in marginal]
    assert exact_shares(one) == due
    assert one.background == Mixture(w)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"background": "marginal", "marginal": None}, "needs the marginal"),
        ({"background": {"mixture": 0.5}, "marginal": None}, "needs the marginal"),
        ({"background": [0.5, 0.5]}, "must be 3 shares"),
        ({"background": [0.5, 0.4, 0.2]}, "must sum to 1. It sums to 1.1"),
        ({"background": [1.0, 0.0, 0.0]}, "share of at least 1e-12, and gives 0 to category number 2"),
        ({"background": "marginal", "marginal": (0.5, 0.5, 0.0)}, 'for instance {"mixture": 0.9}'),
        ({"background": {"mixture": 1.0}, "marginal": (0.5, 0.5, 1e-13)}, "gives 1e-13 to category number 3"),
        ({"background": [1e-12, 0.5, 0.5]}, "at least 1e-12, and gives 9.99999999999e-13 to"),
        ({"background": [0.5, 0.5, 2e-6]}, "must sum to 1. It sums to 1.000002"),
        ({"background": Mixture(2.0)}, "must be from 0 to 1"),
        ({"background": Mixture(-1)}, "must be from 0 to 1"),
        ({"background": Mixture(float("nan"))}, "a number, and finite"),
        ({"background": Mixture("x")}, "must be a number"),  # type: ignore[arg-type]  # what Python lets pass
        ({"background": Mixture(None)}, "must be a number"),  # type: ignore[arg-type]
        ({"background": Mixture(True)}, "must be a number"),
        ({"background": "other"}, 'must be "uniform", "marginal", a list of probabilities'),
        ({"background": 3}, 'must be "uniform", "marginal", a list of probabilities'),
        ({"background": {"mix": 0.5}}, '{"mixture": share of the marginal}'),
        ({"background": {"mixture": 1.5}}, "must be from 0 to 1"),
        ({"background": {"mixture": "0.5"}}, "must be a number"),
        ({"background": [0.5, float("nan"), 0.5]}, "a number, and finite"),
        ({"background": [0.5, True, 0.5]}, "must be a number"),
        ({"background": [-0.5, 1.0, 0.5]}, "must have probabilities from 0 to 1"),
    ],
)
def test_what_is_no_background_is_refused_with_the_way_out(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ProblemError, match="background") as caught:
        attribute(**fields)
    assert said in str(caught.value)
    assert len(caught.value.faults) == 1


def test_a_category_of_share_0_is_allowed_once_the_uniform_background_is_mixed_in() -> None:
    one = attribute(marginal=(0.5, 0.5, 0.0), background={"mixture": 0.9})
    assert exact_shares(one)[2] == Fraction(1, 30)


def test_the_missing_category_is_part_of_the_background() -> None:
    one = Attribute(
        "x", categories=["a", "b"], missing="category", marginal=[0.5, 0.4, 0.1], background="marginal"
    )
    assert one.background_weights == (5, 4, 1)


@pytest.mark.parametrize("stated", ["marginal", [0.5, 0.3, 0.2], {"mixture": 0.75}])
@pytest.mark.parametrize("suffix", ["json", "yaml"])
def test_a_problem_with_a_background_is_the_same_after_writing_and_reading(
    stated: Any, suffix: str, tmp_path: Path
) -> None:
    problem = bo.Problem(
        attributes=[attribute(background=stated)], moments=[bo.CrossMoment("x")], total_epsilon=1.0
    )
    problem.write(tmp_path / "problem.json")
    text = (tmp_path / "problem.json").read_text()
    (tmp_path / f"again.{suffix}").write_text(text)  # JSON is YAML
    again = bo.Problem.read(tmp_path / f"again.{suffix}")
    assert again == problem
    assert again.sha256 == problem.sha256
    assert hash(again.attributes[0]) == hash(problem.attributes[0])


def test_a_background_says_that_marginals_are_used_and_the_uniform_one_does_not() -> None:
    def used(**fields: Any) -> bool:
        problem = bo.Problem(
            attributes=[Attribute("x", categories=3, **fields)],
            moments=[bo.CrossMoment("x")],
            total_epsilon=1.0,
        )
        return "marginals" in problem.not_public

    assert used(background=[0.5, 0.3, 0.2])
    assert used(background="marginal", marginal=MARGINAL)
    assert not used()


def spread_by_enumeration(
    p: list[Fraction], q: list[Fraction], scores: list[float] | None
) -> tuple[Fraction, Fraction]:
    """(E f^2, s) / Var f by their definitions in DESIGN 2.3, summed over indicators without scores."""
    r = len(p)
    functions = (
        [[exact(f) for f in scores]]
        if scores is not None
        else [[Fraction(int(v == u)) for u in range(r)] for v in range(r)]
    )
    square = s = variance = Fraction(0)
    for raw in functions:
        centre = sum(a * b for a, b in zip(q, raw, strict=True))
        f = [value - centre for value in raw]
        mean = sum(a * b for a, b in zip(p, f, strict=True))
        square += sum(a * b * b for a, b in zip(p, f, strict=True))
        s += sum(a * b * b for a, b in zip(q, f, strict=True))
        variance += sum(a * b * b for a, b in zip(p, f, strict=True)) - mean**2
    return square / variance, s / variance


@settings(max_examples=40)
@given(st.data(), st.booleans(), st.booleans())
def test_the_spread_of_2_3_is_that_of_any_background_and_marginal(
    data: st.DataObject, with_scores: bool, with_marginal: bool
) -> None:
    q = data.draw(shares)
    r = len(q)
    marginal = data.draw(shares.filter(lambda p: len(p) == r)) if with_marginal and r < 4 else None
    labels = [f"c{i}" for i in range(r)]
    scores = [float((3 * i) % 7 + i) for i in range(r)] if with_scores else None
    one = Attribute("x", categories=labels, marginal=marginal, background=q, scores=scores)
    believed = [1.0] * r if marginal is None else marginal
    p = [exact(share) / sum(map(exact, believed)) for share in believed]
    values = one.score_values
    due = spread_by_enumeration(p, exact_shares(one), None if values is None else list(values))
    assert one.spread == pytest.approx(tuple(map(float, due)), rel=1e-9)


@settings(max_examples=40)
@given(shares, st.booleans())
def test_where_the_background_is_the_marginal_only_lambda_counts(marginal: list[float], named: bool) -> None:
    """a = b = 1 exactly, so that the variance inflation is 1 / lambda^2 and min_variance stays convex."""
    background = "marginal" if named else marginal
    one = Attribute("x", categories=len(marginal), marginal=marginal, background=background)
    assert one.spread == (1.0, 1.0)


@settings(max_examples=40)
@given(shares, shares)
def test_the_background_of_a_cluster_is_the_product_of_its_members(
    first: list[float], second: list[float]
) -> None:
    members = (
        Attribute("a", categories=len(first), background=first),
        Attribute("b", categories=3),
        Attribute("c", categories=len(second), background=second),
    )
    block = Block(members)
    a, c = members[0].background_weights, members[2].background_weights
    assert a is not None
    assert c is not None
    assert block.background_weights == tuple(x * y for x in a for _ in range(3) for y in c)
    assert block.effective_cardinality == pytest.approx(
        members[0].effective_cardinality * 3 * members[2].effective_cardinality
    )
    assert Block(members[1:2]).background_weights is None


def test_weights_of_any_size_become_shares() -> None:
    huge = (10**400, 3 * 10**400)
    assert background_shares(huge).tolist() == [0.25, 0.75]
    assert decimal_weights([1e-300, 1.0]) == (1, 10**300)
