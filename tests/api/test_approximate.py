"""Problems whose total epsilon holds with a total delta."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import budget_opt as bo
from budget_opt.accounting import delta_at, epsilon_at, keeps_total
from budget_opt.accounting.outer import as_sum, largest_sum
from budget_opt.errors import (
    AllocationError,
    InfeasibleError,
    InputError,
    NotSolvedError,
    ProblemError,
    VerificationError,
)
from budget_opt.model.arrays import FloatArray

DELTA = 1e-6


def many(objective: str = "geometric_mean", count: int = 16, **fields: Any) -> bo.Problem:
    """Attributes in pairs: a total of so many losses is far below their sum."""
    names = [f"a{i}" for i in range(count)]
    pairs = zip(names[::2], names[1::2], strict=True)
    stated: dict[str, Any] = {
        "attributes": [bo.Attribute(name, categories=2 + i % 4) for i, name in enumerate(names)],
        "moments": [bo.CrossMoment(first, second) for first, second in pairs],
        "objective": objective,
        "total_epsilon": 10.0,
        "total_delta": DELTA,
    }
    return bo.Problem(**stated | fields)


def given(problem: bo.Problem, epsilons: FloatArray) -> bo.Allocation:
    return bo.allocation_from(problem, dict(zip(problem.names, epsilons.tolist(), strict=True)))


SOLVED = bo.solve(many())


def without_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a test of a report's words: figures take most of its time."""
    from budget_opt.report import figures
    from budget_opt.report.blocks import Figure

    monkeypatch.setattr(figures, "_figure", lambda draw, name, title, text: Figure("<svg/>", title, text))


@pytest.mark.parametrize("objective", ["geometric_mean", "max_min", "min_variance"])
def test_the_total_is_used_up_by_exact_convolution_and_never_passed(objective: str) -> None:
    problem = many(objective)
    allocation = bo.solve(problem)
    cost = epsilon_at(allocation, DELTA).epsilon
    assert keeps_total(allocation)
    assert 10.0 * (1 - 1e-4) <= cost <= 10.0
    assert allocation.spent_epsilon > 1.03 * 10.0
    alone = bo.solve(as_sum(problem, 10.0)).objective.value
    better = allocation.objective.value
    assert better is not None
    assert alone is not None
    assert better < alone if objective == "min_variance" else better > alone


def test_no_solved_sum_that_keeps_the_total_passes_the_bound() -> None:
    outcome = SOLVED.objective
    assert outcome.bound is not None
    assert outcome.value is not None
    assert outcome.value <= outcome.bound
    assert outcome.status == "feasible"
    assert outcome.relative_gap == pytest.approx((outcome.bound - outcome.value) / outcome.value, rel=1e-6)
    outer = largest_sum(many())
    for share in (0.5, 0.8, 0.95, 1.0):
        split = bo.solve(as_sum(many(), share * outer))
        if keeps_total(replace(split, question=many())):
            assert split.objective.value is not None
            assert split.objective.value <= outcome.bound
        else:
            assert share * outer > SOLVED.spent_epsilon


def test_it_says_which_sums_enclose_the_split() -> None:
    told = SOLVED.objective.solver
    assert f"best of sums to {SOLVED.spent_epsilon:.9g}" in told
    assert f"bound of {largest_sum(many()):.9g}" in told


def test_few_attributes_are_proved_to_a_hundredth() -> None:
    """There the report that is true everywhere leaves no room for a larger sum."""
    allocation = bo.solve(many(count=4, total_epsilon=3.0))
    assert allocation.objective.relative_gap is not None
    assert allocation.objective.relative_gap <= 0.01


def test_a_gap_within_the_tolerance_is_optimal() -> None:
    allocation = bo.solve(many(count=2, total_epsilon=2.0, total_delta=1e-12), gap=1e-4)
    assert allocation.objective.status == "optimal"


def test_a_weighted_sum_is_searched_the_same_way() -> None:
    allocation = bo.solve(many("weighted_sum", count=12, total_epsilon=8.0), time_limit=4, gap=1e-3)
    assert keeps_total(allocation)
    assert allocation.objective.bound is not None
    assert allocation.objective.value is not None
    assert allocation.objective.value <= allocation.objective.bound


def test_groups_pins_and_bounds_stay_sums() -> None:
    problem = many().with_fields(
        attributes=[
            bo.Attribute("a0", categories=2, epsilon=1.5),
            bo.Attribute("a1", categories=3, epsilon_max=0.25),
            *many().attributes[2:],
        ],
        groups=[bo.Group("first", attributes=["a2", "a3", "a4"], epsilon_max=1.0)],
    )
    allocation = bo.solve(problem)
    assert allocation["a0"].epsilon == 1.5
    assert allocation["a1"].epsilon <= 0.25
    assert sum(allocation[name].epsilon for name in ("a2", "a3", "a4")) <= 1.0 + 1e-12
    assert bo.verify(allocation, problem=problem).holds


@pytest.mark.slow
def test_floors_that_need_a_larger_sum_are_met_where_the_delta_allows_it() -> None:
    floor = 0.95 * min(moment.retention for moment in bo.solve(many("max_min")).moments)
    problem = many(
        moments=[bo.CrossMoment(*moment.attributes, floor=round(floor, 6)) for moment in many().moments]
    )
    with pytest.raises(InfeasibleError):
        bo.solve(as_sum(problem, 10.0))
    allocation = bo.solve(problem)
    assert keeps_total(allocation)
    assert all(moment.keeps_floor for moment in allocation.moments)
    findings = bo_check(problem)
    assert not findings.feasible
    assert findings.impossible is None
    assert "open: floors, pins and minima need a sum of" in str(findings)


def test_floors_beyond_every_delta_are_infeasible_and_those_between_are_not_solved() -> None:
    def with_floor(floor: float) -> bo.Problem:
        moments = [bo.CrossMoment(*moment.attributes, floor=floor) for moment in many().moments]
        return many(moments=moments)

    with pytest.raises(InfeasibleError):
        bo.solve(with_floor(0.9))
    assert "infeasible" in str(bo_check(with_floor(0.9)))
    with pytest.raises(NotSolvedError, match=r"need a sum of .* costs epsilon .* at total_delta 1e-06"):
        bo.solve(with_floor(0.15))


def bo_check(problem: bo.Problem) -> Any:
    from budget_opt.api.checking.checking import check

    return check(problem)


@pytest.mark.parametrize(
    ("total", "delta", "count"),
    [(0.5, 1e-2, 2), (3.0, 1e-6, 2), (0.5, 0.5, 6), (12.0, 1e-4, 6), (3.0, 1e-12, 16), (6.0, 1e-2, 16)],
)
def test_no_split_that_keeps_the_total_has_a_larger_sum(total: float, delta: float, count: int) -> None:
    """Random splits, scaled until they just keep it."""
    problem = many(count=count, total_epsilon=total, total_delta=delta)
    outer = largest_sum(problem)
    random = np.random.default_rng(count)
    for _ in range(3):
        shape = random.dirichlet(np.full(count, 10.0 ** random.uniform(-1, 2)))
        low, high = total, 1.2 * outer
        for _ in range(8):
            middle = (low + high) / 2
            split = bo.allocation_from(
                problem, dict(zip(problem.names, (middle * shape).tolist(), strict=True))
            )
            low, high = (middle, high) if keeps_total(split) else (low, middle)
        assert low <= outer


def test_the_outer_sum_is_that_of_the_total_where_delta_vanishes_and_attributes_are_few() -> None:
    assert largest_sum(many(count=4, total_delta=1e-300)) == pytest.approx(10.0, rel=1e-9)
    assert largest_sum(many(count=4, total_delta=1e-300)) >= 10.0


def test_a_file_states_the_delta_and_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "allocation.json"
    SOLVED.write(path)
    document = json.loads(path.read_text())
    assert document["total_delta"] == DELTA
    assert document["privacy"]["composition"] == "convolution"
    assert document["spent_epsilon"] > document["total_epsilon"]
    assert bo.Allocation.read(path).to_dict() == SOLVED.to_dict()
    assert bo.Problem.from_dict(many().to_dict()) == many()


@pytest.mark.parametrize("composition", ["sum", "product"])
def test_a_file_with_another_composition_is_refused_by_the_field(composition: str, tmp_path: Path) -> None:
    document = SOLVED.to_dict()
    document["privacy"]["composition"] = composition
    path = tmp_path / "allocation.json"
    path.write_text(json.dumps(document))
    with pytest.raises(AllocationError, match=r"privacy\.composition"):
        bo.Allocation.read(path)


def test_verification_proves_the_pair_from_the_integers() -> None:
    report = bo.verify(SOLVED, problem=many())
    (check,) = [check for check in report.checks if check.claim == "delta of a record at epsilon 10.0"]
    assert check.holds
    assert check.measured == delta_at(SOLVED, 10.0).delta
    assert check.limit == DELTA
    assert report.holds
    assert not any(check.claim.startswith("epsilon of a record") for check in report.checks)


@pytest.mark.parametrize("change", [{"total_epsilon": 9.99}, {"total_delta": 0.99e-6}])
def test_a_total_that_does_not_hold_fails_verification_and_stops_a_release(
    change: dict[str, float],
) -> None:
    stricter = many(**change)
    split = bo.allocation_from(
        stricter, dict(zip(SOLVED.question.names, SOLVED.epsilons.tolist(), strict=True))
    )
    assert [check.name for check in bo.verify(split).failed] == ["budget"]
    assert [broken.limit for broken in bo.judge(stricter, split, quick=True).broken] == [
        repr(stricter.total_delta)
    ]
    table = pa.table({name: [0] for name in stricter.names})
    with pytest.raises(VerificationError, match="delta of a record"):
        bo.randomize(table, split)


def test_a_table_is_randomized_under_it() -> None:
    table = pa.table({name: [0, 1, 0, 1] for name in many().names})
    released = bo.randomize(table, SOLVED)
    assert released.num_rows == 4


def test_a_split_is_judged_by_a_bound_that_holds_for_the_pair() -> None:
    judged = bo.judge(many(), SOLVED, quick=True)
    assert judged.keeps_all
    assert judged.bound is not None
    assert judged.value is not None
    assert judged.value <= judged.bound
    even = bo.judge(many(), bo.uniform(many()))
    assert even.keeps_all
    assert even.bound == SOLVED.objective.bound


VERBS: dict[str, Callable[[], object]] = {
    "prices": lambda: bo.prices(SOLVED, many()),
    "rounded": lambda: bo.rounded(SOLVED, 0.1),
    "explain": lambda: bo.explain(SOLVED),
    "frontier": lambda: bo.frontier(many(), [1.0, 2.0]),
    "least_total": lambda: bo.least_total(many(), retention=0.1),
    "explore": lambda: bo.explore(many()),
    "a certificate": lambda: bo.solve(many(), certificate="proof.json"),
    "one record": lambda: bo.LocalRandomizer(SOLVED),
    "levels": lambda: bo.solve(
        many(moments=[bo.CrossMoment("a0", "a1"), bo.CrossMoment("a2", "a3", level=2)])
    ),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_that_adds_epsilons_up_refuses_the_delta_by_name(verb: str) -> None:
    with pytest.raises(InputError, match=r"total_delta: is .*(eave|without|leave|Round) "):
        VERBS[verb]()


@pytest.mark.parametrize("verb", ["a certificate", "explain", "rounded"])
def test_nobody_is_told_to_give_up_the_delta_for_what_can_be_had_with_it(verb: str) -> None:
    with pytest.raises(InputError) as told:
        VERBS[verb]()
    assert "Leave total_delta out" not in str(told.value)
    assert "verify with the problem" in str(told.value) or verb == "rounded"


def test_a_change_of_some_attributes_has_both_figures() -> None:
    names = ("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7")
    report = bo.verify(SOLVED, subsets=[names])
    found = {check.name: check.measured for check in report.checks if check.name.startswith("subset")}
    assert found == {
        "subset": bo.privacy_of(SOLVED, names=names).sum,
        "subset with delta": epsilon_at(SOLVED, DELTA, names).epsilon,
    }
    assert report.holds


def test_allocations_are_compared_with_the_even_sum() -> None:
    found = bo.compare({"best": SOLVED})
    assert found.names == ("even split", "best")
    assert all(ratio is None or ratio >= 1 for ratio in found.ratios)


def test_it_carries_no_price() -> None:
    assert SOLVED.sensitivity == {}
    assert all(attribute.shadow_price is None for attribute in SOLVED.attributes)


def test_its_text_tells_the_pair_and_the_sum_apart() -> None:
    first = str(SOLVED).splitlines()[0]
    assert "epsilon 10 with delta 1e-06 a record, by exact convolution" in first
    assert f"sum of epsilons {SOLVED.spent_epsilon:g}" in " ".join(str(SOLVED).split())


def test_the_report_tells_two_guarantees_that_are_both_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_drawings(monkeypatch)
    page = bo.report(SOLVED, tmp_path / "r.html").read_text("utf-8")
    assert "10 with delta 1e-06</strong>" in page
    assert "Two guarantees, both true: this one, and the sum, " in page
    assert "there is no probability with which the guarantee fails" not in page
    assert "With a small delta" not in page


def test_a_large_delta_is_warned_of() -> None:
    assert not any("total_delta" in note for note in bo_check(many()).warnings)
    (note,) = [note for note in bo_check(many(total_delta=1e-3)).warnings if "total_delta" in note]
    assert "1,000 of 1,000,000" in note
    assert "this one is 1 divided by 1,000" in note


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 1e-301, "1e-6", True, float("nan")])
def test_a_delta_that_is_none_is_a_fault_of_the_problem(delta: Any) -> None:
    with pytest.raises(ProblemError, match="total_delta: is"):
        many(total_delta=delta)


def test_the_least_sum_has_no_delta() -> None:
    with pytest.raises(ProblemError, match=r"total_delta: .*no meaning for min_epsilon"):
        many("min_epsilon", moments=[bo.CrossMoment("a0", "a1", floor=0.1)])


def test_a_report_tells_the_delta_with_the_total() -> None:
    from budget_opt.report.sections.question import opening

    assert "a privacy budget (epsilon) of 10 with delta 1e-06 on each record" in opening(many()).replace(
        "\N{NO-BREAK SPACE}", " "
    )


def test_opendp_is_given_the_sum_that_its_maps_add_up(tmp_path: Path) -> None:
    pytest.importorskip("opendp")
    bo.export(SOLVED, "opendp", tmp_path / "mechanisms.json")
    document = json.loads((tmp_path / "mechanisms.json").read_text())
    assert document["total_epsilon"] == SOLVED.spent_epsilon
    assert document["composed_epsilon"] <= SOLVED.spent_epsilon


def test_an_open_question_is_neither_feasible_nor_impossible_on_the_command_line(tmp_path: Path) -> None:
    from budget_opt.cli import main

    moments = [bo.CrossMoment(*moment.attributes, floor=0.15) for moment in many().moments]
    many(moments=moments).write(tmp_path / "problem.json")
    assert main(["check", str(tmp_path / "problem.json")]) == NotSolvedError.exit_code
