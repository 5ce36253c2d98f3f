"""What the page calls proved or optimal it has confirmed itself; what a file states is told as that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import budget_opt as bo
from budget_opt.report.blocks import Bullets, Paragraph, Table, Warned
from budget_opt.report.content import ReportContent, content_of, subject_of
from budget_opt.report.proof import Proof
from tests.report.reported_problems import hand_made, health
from tests.report.stated_allocations import NAMES, forged, in_levels, wide

pytestmark = pytest.mark.usefixtures("nothing_is_drawn")

POOR = dict.fromkeys(NAMES, 0.85) | {"smoke": 1.9, "diab": 1.6, "age": 0.0, "region": 0.0}


@pytest.fixture
def quick_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reasons are looked for in a moment: what they are does not matter here."""
    from budget_opt.api import explaining

    explain = explaining.explain
    monkeypatch.setattr(explaining, "explain", lambda *given: explain(*given, time_limit=0.01))


@pytest.fixture
def nothing_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """No better split is found, as with a forgery that is near to the truth: what is left is open."""
    monkeypatch.setattr("budget_opt.verifier.outcome.better_split", lambda *given: None)


def tiles(content: ReportContent) -> dict[str, str]:
    return {
        fact.what: f"{fact.value} | {fact.meaning}".replace("\u00a0", " ") for fact in content.summary.facts
    }


def comparison(content: ReportContent) -> str:
    (section,) = (section for section in content.sections if section.name == "comparison")
    lines = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    lines += [item for block in section.blocks if isinstance(block, Bullets) for item in block.items]
    return "\n".join(lines).replace("\u00a0", " ")


def claims(content: ReportContent) -> list[str]:
    (section,) = (section for section in content.sections if section.name == "checks")
    return [row[0] for block in section.blocks if isinstance(block, Table) for row in block.rows]


def assert_nothing_is_claimed(content: ReportContent) -> None:
    said = tiles(content)
    assert "optimal" not in said["How good"]
    assert "proved" not in said["How good"]
    assert "is stated in the allocation, not checked here" in said["How good"]
    assert "value and bound" not in said["Checks"]
    assert "the stated bound is not confirmed" in said["Checks"]
    assert "Proved: no split" not in comparison(content)
    assert "is optimal" not in comparison(content)
    assert "Stated in the allocation and not confirmed here: no split" in comparison(content)
    assert not [claim for claim in claims(content) if claim.startswith("the split is optimal")]
    assert not [claim for claim in claims(content) if claim.startswith("bound of") and "toler" not in claim]


@pytest.mark.parametrize("tolerance", [1e-6, 1.0])
def test_a_forged_optimum_is_told_as_stated_beside_what_the_page_confirms(
    tolerance: float, tmp_path: Path, quick_reasons: None, nothing_refuted: None
) -> None:
    content = content_of(forged(wide(), POOR, tmp_path / "f.json", tolerance), wide())
    assert_nothing_is_claimed(content)
    assert tiles(content)["How good"].startswith("within ")
    assert "this page confirms 8.8" in tiles(content)["How good"]
    assert "Proved by this page: no split that keeps all limits gets above 8.8" in comparison(content)
    assert " because " not in comparison(content)  # reasons are of an optimum


def test_a_forged_optimum_that_a_better_split_refutes_fails(tmp_path: Path, quick_reasons: None) -> None:
    content = content_of(forged(wide(), POOR, tmp_path / "f.json"), wide())
    assert "a check of this allocation fails" in tiles(content)["How good"]
    assert "FAIL" in tiles(content)["Checks"]


def test_what_is_open_is_told_on_the_first_page_and_with_the_checks(
    tmp_path: Path, quick_reasons: None, nothing_refuted: None
) -> None:
    content = content_of(forged(wide(), POOR, tmp_path / "f.json"), wide())
    assert "hold, 1 open" in tiles(content)["Checks"]
    (section,) = (section for section in content.sections if section.name == "checks")
    (told,) = (block.text for block in section.blocks if isinstance(block, Warned))
    assert "1 claim of the allocation is open: the bound 4.9" in told


def test_a_forged_optimum_of_several_levels_is_told_as_stated(
    tmp_path: Path, quick_reasons: None, nothing_refuted: None
) -> None:
    allocation = forged(in_levels(), {"a": 2, "b": 1.5, "c": 1.1, "d": 0.4}, tmp_path / "f.json")
    content = content_of(allocation, in_levels())
    assert_nothing_is_claimed(content)
    assert "this page confirms 0.57" in tiles(content)["How good"]
    alone = content_of(allocation)  # the pin is not known: no bound can be evaluated
    assert_nothing_is_claimed(alone)
    assert tiles(alone)["How good"].startswith("not confirmed")
    assert "The file of the problem, or the certificate" in comparison(alone)


@pytest.mark.slow
def test_a_weighted_sum_is_optimal_with_its_certificate_and_only_stated_without(
    tmp_path: Path, quick_reasons: None
) -> None:
    allocation = bo.solve(wide(), gap=1e-4, certificate=tmp_path / "c.zip")
    alone = content_of(allocation, wide())
    assert_nothing_is_claimed(alone)
    assert "The certificate that solve writes" in comparison(alone)
    proved = content_of(allocation, wide(), certificate=tmp_path / "c.zip")
    assert tiles(proved)["How good"].startswith("within 0.01 % | weighted_sum 8.21")
    assert "proved to be this near to the best" in tiles(proved)["How good"]
    assert "value and bound were computed again" in tiles(proved)["Checks"]
    assert "Proved: no split that keeps all limits gets above 8.21" in comparison(proved)
    assert "a longer search can narrow this" in comparison(proved)
    assert "Stated in the allocation" not in comparison(proved)


@pytest.mark.parametrize(
    "problem",
    [
        lambda: wide("geometric_mean"),
        lambda: wide("max_min"),
        lambda: wide("min_epsilon"),
        lambda: wide("min_variance"),
    ],
)
def test_a_convex_optimum_is_confirmed_without_a_certificate(
    problem: Callable[[], bo.Problem], quick_reasons: None
) -> None:
    content = content_of(bo.solve(problem()), problem())
    assert tiles(content)["How good"].startswith("optimal | ")
    assert "value and bound were computed again" in tiles(content)["Checks"]
    assert "Proved: no split that keeps all limits gets" in comparison(content)


def test_a_page_names_one_gap_and_not_two(quick_reasons: None) -> None:
    problem = in_levels()
    content = content_of(bo.solve(problem), problem)
    text = comparison(content)
    assert tiles(content)["How good"].startswith("within 0.1 % | max_min 0.36991 on level 1")
    assert "may be up to 0.1 % behind the best one." in text
    assert "longer search" not in text
    assert {line.split("up to ")[1][:5] for line in text.split("\n") if "behind the best" in line} == {
        "0.1 %"
    }
    assert "Level 2 reaches max_min 0.0476599; how near that is to the best" in text
    assert "beyond" not in text


def test_a_certificate_of_another_problem_confirms_nothing(tmp_path: Path) -> None:
    bo.solve(wide("geometric_mean"), certificate=tmp_path / "c.zip")
    content = content_of(bo.solve(health()), health(), certificate=tmp_path / "c.zip")
    assert tiles(content)["How good"].startswith("not judged | ")
    assert "FAIL" in tiles(content)["Checks"]
    assert "A check of this allocation fails, so nothing is said" in comparison(content)
    assert "evaluated again" not in str(content.sections[5])


def test_a_given_split_is_not_judged_whether_its_checks_hold_or_not() -> None:
    for split in (hand_made(health()), bo.uniform(health())):
        content = content_of(split, health())
        assert tiles(content)["How good"].startswith("not judged | geometric_mean")
        assert "The split was given, not optimized: nothing is proved" in comparison(content)
        assert "bound" not in tiles(content)["Checks"]


def test_the_bound_is_the_one_that_verify_has_evaluated() -> None:
    subject = subject_of(bo.solve(health()), health(), None, certificate=None, guess=0.1)
    (check,) = (check for check in subject.checks.checks if check.claim.endswith("is within its bound"))
    assert subject.proof.bound == check.limit
    assert subject.proof.is_optimal


def test_a_split_that_fails_a_check_is_neither_optimal_nor_confirmed() -> None:
    assert Proof(bound=1.0, relative_gap=0.0, stated=1.0, stated_gap=0.0, holds=True).is_optimal
    failing = Proof(bound=1.0, relative_gap=0.0, stated=1.0, stated_gap=0.0, holds=False)
    assert not failing.is_optimal
    assert not failing.confirms
