"""Conflicts are irreducible, the fewest floors to give up are the fewest, and every advice works.

Brute force over subsets, each judged by cvxpy: a set is irreducible if it is impossible and every subset with
one member less is possible; smaller subsets are then possible as well.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from budget_opt.errors import InfeasibleError, NotSolvedError
from budget_opt.model.arrays import TOTAL, Arrays
from budget_opt.solvers.answer import Clock, Settings
from budget_opt.solvers.conflicts import deciding, explaining, relaxation
from budget_opt.solvers.conflicts.constraints import (
    Constraint,
    System,
    constraints_of,
    holds,
    limit_of,
    with_limit,
)
from budget_opt.solvers.conflicts.explaining import Explanation, explain
from budget_opt.solvers.conflicts.giving_up import fewest_given_up
from budget_opt.solvers.conflicts.hitting import least_hitting
from budget_opt.solvers.explanation import Names, infeasible
from budget_opt.solvers.table import solve
from tests.solvers.impossible_problems import crowded_problem
from tests.solvers.independent_judge import UNCLEAR, margin_by_cvxpy
from tests.solvers.random_problems import build

SECONDS = 60.0


def _explained(seeds: range) -> list[tuple[Arrays, Explanation]]:
    """The impossible ones of random problems; cvxpy agrees that the others are possible."""
    found = []
    for seed in seeds:
        arrays = crowded_problem(seed)
        try:
            solve(arrays, Settings(solver="interior point", explanation_limit=0.0))
        except InfeasibleError:
            found.append((arrays, explain(arrays, SECONDS)))
        except NotSolvedError:
            assert abs(margin_by_cvxpy(arrays, constraints_of(arrays))) < 1e-3
        else:
            assert margin_by_cvxpy(arrays, constraints_of(arrays)) > -UNCLEAR
    assert len(found) >= len(seeds) // 2
    return found


@pytest.mark.parametrize("start", [0, pytest.param(8, marks=pytest.mark.slow)])
def test_a_conflict_is_impossible_and_every_subset_of_it_is_possible(start: int) -> None:
    for arrays, found in _explained(range(start, start + 8)):
        members = set(found.members)
        assert found.conflict.irreducible
        assert margin_by_cvxpy(arrays, members) < UNCLEAR
        for one in members:
            assert margin_by_cvxpy(arrays, members - {one}) > -UNCLEAR, (one, members)


@pytest.mark.parametrize("start", [100, 116])
def test_no_fewer_floors_and_ceilings_can_be_given_up(start: int) -> None:
    for arrays, found in _explained(range(start, start + 4)):
        kept, given = constraints_of(arrays), found.given_up.wishes
        assert found.given_up.fewest == len(given)
        assert margin_by_cvxpy(arrays, kept - given) > -UNCLEAR
        wishes = sorted(System.of(arrays).wishes)
        for fewer in combinations(wishes, len(given) - 1):
            assert margin_by_cvxpy(arrays, kept - set(fewer)) < UNCLEAR


@pytest.mark.parametrize("start", [pytest.param(200, marks=pytest.mark.slow), 208])
def test_every_number_that_is_advised_does_and_a_smaller_change_does_not(start: int) -> None:
    for arrays, found in _explained(range(start, start + 8)):
        kept = constraints_of(arrays)
        (total,) = (one for one in kept if one.kind == "total_epsilon")

        def with_number(
            one: Constraint, limit: float, arrays: Arrays = arrays, kept: frozenset[Constraint] = kept
        ) -> float:
            return margin_by_cvxpy(with_limit(arrays, one, limit), kept)

        if found.least_total is not None:
            assert with_number(total, found.least_total.enough) > -UNCLEAR
            assert with_number(total, found.least_total.bound * (1 - 1e-3)) < UNCLEAR
        else:
            assert found.no_total
            assert margin_by_cvxpy(arrays, kept - {total}) < UNCLEAR
        for one, change in found.enough.items():
            if change.total is not None:
                both = with_limit(with_limit(arrays, one, change.limit), total, change.total)
                assert margin_by_cvxpy(both, kept) > -UNCLEAR
                assert margin_by_cvxpy(arrays, kept - {one}) < UNCLEAR
                continue
            assert with_number(one, change.limit) > -UNCLEAR
            nearly = change.limit + 0.02 * (limit_of(arrays, one) - change.limit)
            assert with_number(one, nearly) < UNCLEAR
        if found.common_factor is not None and not arrays.ceilings.size:
            assert np.log(found.common_factor.enough) == pytest.approx(
                margin_by_cvxpy(arrays, kept), abs=1e-4
            )
            assert found.common_factor.enough == pytest.approx(found.common_factor.bound, rel=1e-5)
        if found.lowered is not None:
            lowered = arrays
            for one in found.lowered.floors:
                lowered = with_limit(lowered, one, limit_of(arrays, one) * found.lowered.factor)
            assert margin_by_cvxpy(lowered, kept) > -UNCLEAR


def _many(attributes: int, floors: int, total: float) -> Arrays:
    rng = np.random.default_rng(5)
    sizes = rng.integers(2, 4, floors)
    moments = sorted({tuple(sorted(rng.choice(attributes, n, replace=False).tolist())) for n in sizes})
    floor = rng.uniform(0.1, 0.6, len(moments))
    return build("geometric_mean", rng.integers(2, 9, attributes), moments, total, floor=floor)


def test_when_the_time_is_up_the_set_is_said_to_be_not_shown_irreducible() -> None:
    arrays = _many(30, 120, 70.0)
    hurried = explain(arrays, 0.0)
    assert not hurried.conflict.irreducible
    assert margin_by_cvxpy(arrays, hurried.members) < UNCLEAR
    assert hurried.given_up.fewest < len(hurried.given_up.wishes)
    with pytest.raises(InfeasibleError, match="not shown irreducible: some may play no part") as caught:
        solve(arrays, Settings(explanation_limit=0.0))
    assert not caught.value.why.irreducible
    assert "at least 1 must go" in str(caught.value)
    assert caught.value.least_total is not None


def test_the_filter_asks_for_the_time_before_every_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(None)
    asked = []
    monkeypatch.setattr(Clock, "check", lambda self, share=1.0: asked.append(share))
    monkeypatch.setattr(explaining, "Clock", lambda _limit: clock)
    explain(_many(6, 8, 5.0), 1.0)
    assert len(asked) > 10


def test_interruption_leaves_a_valid_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = _many(8, 12, 9.0)
    calls = []

    def interrupted(*given: object, **named: object) -> object:
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return deciding.decide(*given, **named)

    for module in ("filtering", "giving_up", "ways_out"):
        monkeypatch.setattr(f"budget_opt.solvers.conflicts.{module}.decide", interrupted)
    found = explain(arrays, SECONDS)
    assert not found.conflict.irreducible
    assert margin_by_cvxpy(arrays, found.members) < UNCLEAR


def test_what_cannot_be_decided_stays_and_the_set_is_not_called_irreducible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arrays = build("geometric_mean", [4] * 3, [[0, 1], [1, 2], [0, 2]], 3.0, floor=[0.5, 0.01, 0.01])
    whole = System.of(arrays)

    def doubtful(system: System, tick: deciding.Tick, *, exact: bool = False) -> deciding.Answer:
        return deciding.decide(system, tick, exact=exact) if system.kept >= whole.kept else None

    monkeypatch.setattr("budget_opt.solvers.conflicts.filtering.decide", doubtful)
    found = explain(arrays, SECONDS)
    assert not found.conflict.irreducible
    assert Constraint("floor", 0) in found.members


def test_unrelated_floors_are_not_named_and_the_group_that_is_in_the_way_is() -> None:
    moments = [[0, 1], [2, 3], [4, 5], [0, 4]]
    arrays = build(
        "geometric_mean", [4] * 6, moments, 40.0, [([0, 5], 9.0), ([2, 3], 1.0), ([1, 4], 9.0)],
        floor=[0.3, 0.35, 0.2, 0.1],
    )  # fmt: skip
    found = explain(arrays, SECONDS)
    assert set(found.members) == {Constraint("floor", 1), Constraint("group", 2)}
    assert found.no_total


def test_a_lower_bound_that_eats_the_total_is_part_of_the_conflict() -> None:
    arrays = build("geometric_mean", [4, 4, 4], [[0, 1], [2]], 5.0, lower=[0, 0, 4.0], floor=[0.2, 0.0])
    found = explain(arrays, SECONDS)
    total, bound = Constraint("total_epsilon", 0), Constraint("epsilon_min", 2)
    assert set(found.members) == {Constraint("floor", 0), total, bound}
    assert found.enough[bound].limit == pytest.approx(5.0 - (found.least_total.enough - 4.0), rel=1e-3)


def test_pins_that_use_the_whole_total_are_part_of_the_conflict() -> None:
    arrays = build(
        "geometric_mean", [2, 5, 4], [[0, 1], [1, 2]], 3.0, lower=[1, 2, 0], upper=[1, 2, 9], floor=[0, 0.1]
    )
    found = explain(arrays, SECONDS)
    assert {one.kind for one in found.members} == {"floor", "total_epsilon", "epsilon"}
    assert found.least_total is not None


def test_a_floor_of_one_is_said_to_need_infinite_epsilon() -> None:
    arrays = build("geometric_mean", [4, 4], [[0, 1], [0]], 3.0, floor=[1.0, 0.1])
    with pytest.raises(
        InfeasibleError, match="a floor of 1 needs infinite epsilon: attribute 1 x attribute 2"
    ):
        solve(arrays)


def test_a_larger_problem_is_explained_with_its_multipliers_in_order() -> None:
    arrays = _many(40, 200, 80.0)
    found = explain(arrays, SECONDS / 20)
    weights = [found.conflict.proof.multipliers[one] for one in found.members]
    assert None not in weights
    assert weights == sorted(weights, reverse=True)
    floors = [w for one, w in zip(found.members, weights, strict=True) if one.kind == "floor"]
    assert sum(floors) == pytest.approx(1.0)


def test_multipliers_are_derivatives_of_the_common_factor() -> None:
    arrays = build(
        "max_min", [4, 3, 5], [[0, 1], [1, 2]], 4.0, [([0, 1], 2.5)], floor=[0.5, 0.6], lower=[0.5, 0, 0]
    )
    found = explain(arrays, SECONDS)
    members = System(arrays, frozenset(found.members))
    for one in found.members:
        limit, step = limit_of(arrays, one), 1e-4
        ends = [
            deciding.margin(
                System(with_limit(arrays, one, limit * np.exp(s)), members.kept).restricted, exact=True
            )
            for s in (-step, step)
        ]
        slope = (ends[1].reached - ends[0].reached) / (2 * step)
        assert found.conflict.proof.multipliers[one] == pytest.approx(abs(slope), rel=1e-3)


def test_the_least_hitting_set_is_the_least_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        items = [Constraint("floor", i) for i in range(8)]
        sets = [
            frozenset(items[i] for i in rng.choice(8, int(rng.integers(2, 4)), replace=False))
            for _ in range(int(rng.integers(1, 15)))
        ]
        chosen, least = least_hitting(sets, lambda: True)
        assert all(chosen & one for one in sets)
        assert len(chosen) == least
        smaller = combinations(items, least - 1)
        assert not any(all(set(fewer) & one for one in sets) for fewer in smaller)
        early, bound = least_hitting(sets, lambda: False)
        assert all(early & one for one in sets)
        assert bound <= least


def test_the_linear_relaxation_never_asks_for_more_than_the_fewest() -> None:
    raised = 0
    for seed in range(300, 330):
        arrays = crowded_problem(seed)
        plain = replace(arrays, log_ceiling=np.zeros(arrays.moments))
        bound, _ = relaxation.Relaxation.of(plain, []).solve(10.0)
        system = System.of(plain)
        if not isinstance(deciding.decide(system, lambda: None), deciding.Proof):
            assert bound == 0
            continue
        fewest = fewest_given_up(system, system.wishes, Clock(SECONDS))
        assert fewest.fewest == len(fewest.wishes)
        assert bound <= fewest.fewest
        raised += bound > 1
    assert raised > 0


def test_every_answer_of_decide_is_a_checked_split_or_a_proof_that_stands_alone() -> None:
    for seed in range(400, 440):
        whole = System.of(crowded_problem(seed))
        answer = deciding.decide(whole, lambda: None)
        if isinstance(answer, deciding.Proof):
            assert isinstance(
                deciding.decide(System(whole.arrays, answer.members), lambda: None), deciding.Proof
            )
        elif answer is not None:
            assert holds(whole.restricted, answer)


def test_a_proof_names_more_where_what_it_would_name_first_proves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deciding, "_NEEDED", 0.9)
    for seed in range(500, 512):
        whole = System.of(crowded_problem(seed))
        answer = deciding.decide(whole, lambda: None)
        if isinstance(answer, deciding.Proof):
            assert margin_by_cvxpy(whole.arrays, answer.members) < UNCLEAR


def test_multipliers_of_a_possible_problem_prove_nothing() -> None:
    arrays = build("geometric_mean", [4, 4, 4], [[0, 1], [1, 2]], 6.0, floor=[0.2, 0.15])
    whole = System.of(arrays)
    found = deciding.margin(whole.restricted, exact=True)
    assert 0 < found.bound < 1
    assert not deciding._proves(whole, whole, found.multipliers)


def test_a_proof_names_at_once_only_what_it_needs() -> None:
    arrays = build(
        "geometric_mean", [4] * 6, [[0, 1], [4, 5]], 6.0, [([4, 5], 30.0)],
        lower=[0, 0, 4.5, 0, 0.1, 0], upper=[9, 9, 9, 0.5, 9, 9], floor=[0.3, 0.01],
    )  # fmt: skip
    answer = deciding.decide(System.of(arrays), lambda: None, exact=True)
    assert isinstance(answer, deciding.Proof)
    assert {(one.kind, one.index) for one in answer.members} == {
        ("floor", 0),
        ("floor", 1),
        ("total_epsilon", 0),
        ("epsilon_min", 2),
    }


def test_no_total_is_only_said_to_be_enough_where_that_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = build("geometric_mean", [4, 4], [[0, 1]], 2.0, floor=[0.5])

    def doubtful(system: System, tick: deciding.Tick, *, exact: bool = False) -> deciding.Answer:
        with_total = system.of_kind("total_epsilon")
        return deciding.decide(system, tick, exact=exact) if with_total else None

    monkeypatch.setattr(explaining, "decide", doubtful)
    found = explain(arrays, SECONDS)
    assert not found.no_total
    assert found.least_total is None
    text = str(infeasible(found, Names.numbered(arrays)))
    assert text.startswith("the floors do not fit the total epsilon of 2.\n")


def test_dropping_and_keeping_constraints_changes_only_them() -> None:
    arrays = build(
        "max_min", [4, 4], [[0, 1], [0]], 3.0, [([0], 2.0)], lower=[0.5, 1.0], upper=[0.5, 2.0],
        floor=[0.2, 0], ceiling=[1, 0.9],
    )  # fmt: skip
    kinds = sorted(one.kind for one in constraints_of(arrays))
    assert kinds == ["ceiling", "epsilon", "epsilon_max", "epsilon_min", "floor", "group", "total_epsilon"]
    bare = System(arrays, frozenset()).restricted
    assert (bare.budgets, bare.floors.size, bare.ceilings.size) == ((), 0, 0)
    assert np.all(bare.lower == 0)
    assert np.all(np.isinf(bare.upper))
    same = System.of(arrays).restricted
    assert [budget.name for budget in same.budgets] == [TOTAL, "group 0"]
    assert np.array_equal(same.lower, arrays.lower)
    assert isinstance(same.incidence, csr_array)
