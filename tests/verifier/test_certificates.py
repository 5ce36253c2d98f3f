"""A certificate is judged by what it proves when its bounds are evaluated again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.certificate.document import CertificateDocument, read_certificate
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.proof.proof import TreeProof
from budget_opt.certificate.proof.tree import LEAF, Tree
from budget_opt.errors import InputError, VerificationError
from budget_opt.model.arrays import MINIMIZED, OBJECTIVES, Objective
from budget_opt.verifier.certificates import StatedCertificate
from budget_opt.verifier.report import VerificationReport


def _problem(objective: Objective = "weighted_sum", total: float = 9.0) -> bo.Problem:
    """Pins, bounds, a group, a floor and a ceiling together."""
    names = ["a", "b", "c", "d", "e"]
    pairs = [("a", "b"), ("b", "c"), ("a", "d"), ("c", "d"), ("a", "c"), ("d", "e")]
    limits = {0: {"floor": 0.02}, 3: {"ceiling": 0.2}}
    return bo.Problem(
        attributes=[
            *(bo.Attribute(name, categories=3 + 2 * i) for i, name in enumerate(names[:3])),
            bo.Attribute("d", categories=4, epsilon_max=2.5),
            bo.Attribute("e", categories=3, epsilon=0.5),
        ],
        moments=[
            bo.CrossMoment(*pair, weight=1.0 + (3 * i) % 7, **limits.get(i, {}))
            for i, pair in enumerate(pairs)
        ],
        groups=[bo.Group("first", attributes=["a", "b"], epsilon_max=2.5)],
        total_epsilon=total,
        objective=objective,
    )


GAP = 1e-3
"""What the search is asked for, and so the verification."""
Solved = tuple[bo.Allocation, Path]


@pytest.fixture(scope="module")
def solved_for(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Objective], Solved]:
    folder = tmp_path_factory.mktemp("proof")

    @cache
    def solved(objective: Objective) -> Solved:
        path = folder / f"{objective}.zip"
        return bo.solve(_problem(objective), gap=GAP, certificate=path), path

    return solved


@pytest.fixture(scope="module")
def solved(solved_for: Callable[[Objective], Solved]) -> Solved:
    return solved_for("weighted_sum")


def _failed(report: VerificationReport) -> set[str]:
    return {check.claim for check in report.failed}


def _unnamed(allocation: bo.Allocation) -> bo.Allocation:
    """The allocation without the hash of its certificate, so that only what is proved counts."""
    return replace(allocation, objective=replace(allocation.objective, certificate_sha256=None))


def _judged(allocation: bo.Allocation, document: CertificateDocument, path: Path) -> VerificationReport:
    """The verification with a changed certificate."""
    document.write(path)
    return bo.verify(_unnamed(allocation), certificate=path, gap=GAP)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_solve_writes_is_confirmed_for_every_objective(
    solved_for: Callable[[Objective], Solved], objective: Objective
) -> None:
    allocation, path = solved_for(objective)
    report = bo.verify(allocation, problem=_problem(objective), certificate=path, gap=GAP).require()
    claims = {check.claim for check in report.checks}
    assert {f"bound of {objective}", "the certificate is of the allocation's split"} <= claims
    assert not any("not confirmed" in note for note in report.notes)
    assert not report.open


def test_the_certificate_brings_the_pins_and_bounds_that_an_allocation_lacks(solved: Solved) -> None:
    allocation, path = solved
    report = bo.verify(allocation, certificate=path, gap=GAP).require()
    assert "bounds of e" in {check.claim for check in report.checks}
    assert not any("not confirmed without the problem" in note for note in report.notes)


def test_without_its_certificate_an_allocation_that_names_one_is_told_so(solved: Solved) -> None:
    report = bo.verify(solved[0], problem=_problem(), gap=GAP).require()
    assert any("was not given" in note for note in report.notes)


def test_the_report_says_how_many_boxes_were_looked_at(solved: Solved) -> None:
    allocation, path = solved
    proof = read_certificate(path)[0].proof
    assert isinstance(proof, TreeProof)
    assert f"{proof.tree.count} boxes" in str(bo.verify(allocation, certificate=path, gap=GAP))


def test_a_bound_better_than_the_proved_one_fails(solved: Solved) -> None:
    allocation, path = solved
    outcome = allocation.objective
    assert outcome.bound is not None
    better = replace(allocation, objective=replace(outcome, bound=outcome.bound * (1 - 1e-9)))
    assert "bound of weighted_sum" in _failed(bo.verify(better, certificate=path, gap=GAP))


def test_a_certificate_that_claims_more_than_it_proves_fails(solved: Solved, tmp_path: Path) -> None:
    allocation, path = solved
    document = read_certificate(path)[0]
    assert document.bound is not None
    report = _judged(allocation, replace(document, bound=document.bound * (1 - 1e-9)), tmp_path / "c.zip")
    assert _failed(report) == {"bound that the certificate states"}


def _first_split(tree: Tree) -> int:
    return int(np.flatnonzero(tree.attribute >= 0)[0])


def _without_children(tree: Tree) -> Tree:
    """The tree that ends at its first split."""
    node = _first_split(tree)
    kept = np.arange(tree.count) <= node
    attribute = np.where(np.arange(tree.count) == node, LEAF, tree.attribute)[kept]
    bounded = tree.bounded & kept
    numbers = {part: rows[: int(np.sum(bounded))] for part, rows in tree.numbers.items()}
    return Tree(attribute, tree.at[kept], bounded[kept], numbers)


def _split_elsewhere(tree: Tree) -> Tree:
    """The tree with its first split moved to where it separates nothing."""
    at = tree.at.copy()
    at[_first_split(tree)] = 0.0
    return replace(tree, at=at)


def _without_prices(tree: Tree) -> Tree:
    """The tree with multipliers that prove next to nothing."""
    return replace(tree, numbers={part: 0.0 * rows for part, rows in tree.numbers.items()})


@pytest.mark.parametrize("change", [_without_children, _split_elsewhere, _without_prices])
def test_a_tree_that_leaves_boxes_open_fails(
    solved: Solved, tmp_path: Path, change: Callable[[Tree], Tree]
) -> None:
    allocation, path = solved
    document = read_certificate(path)[0]
    assert isinstance(document.proof, TreeProof)
    changed = replace(document, proof=replace(document.proof, tree=change(document.proof.tree)))
    failed = _failed(_judged(allocation, changed, tmp_path / "c.zip"))
    assert {"bound of weighted_sum", "the split is optimal: relative gap"} <= failed


def test_a_cut_below_the_value_proves_nothing(solved: Solved, tmp_path: Path) -> None:
    allocation, path = solved
    document = read_certificate(path)[0]
    assert isinstance(document.proof, TreeProof)
    assert document.value is not None
    low = replace(document.proof, cut=0.5 * document.value)
    report = _judged(allocation, replace(document, proof=low), tmp_path / "c.zip")
    assert "bound of weighted_sum" in _failed(report)
    assert "value of weighted_sum is within its bound" not in _failed(report)


def test_a_certificate_of_another_problem_fails_and_is_not_evaluated(solved: Solved, tmp_path: Path) -> None:
    allocation, path = solved
    other = replace(read_certificate(path)[0], problem=_problem(total=4.1))
    report = _judged(allocation, other, tmp_path / "c.zip")
    assert _failed(report) == {"the certificate is of the allocation's problem"}
    assert not any(check.claim.startswith("bound of") for check in report.checks)


def test_a_certificate_of_another_split_fails(solved: Solved) -> None:
    _, path = solved
    other = bo.uniform(_problem())
    assert "the certificate is of the allocation's split" in _failed(bo.verify(other, certificate=path))


def test_a_certificate_with_other_bytes_than_the_allocation_names_fails(
    solved: Solved, tmp_path: Path
) -> None:
    allocation, path = solved
    document = read_certificate(path)[0]
    replace(document, software="somebody else").write(tmp_path / "c.zip")
    report = bo.verify(allocation, certificate=tmp_path / "c.zip", gap=GAP)
    assert _failed(report) == {"the certificate is the one that the allocation names"}
    with pytest.raises(VerificationError, match="1 of"):
        report.require()


@pytest.mark.parametrize("objective", [name for name in OBJECTIVES if name != "weighted_sum"])
def test_no_multipliers_prove_more_than_is_true(
    solved_for: Callable[[Objective], Solved], objective: Objective, tmp_path: Path
) -> None:
    allocation, path = solved_for(objective)
    changed = tmp_path / "changed.zip"
    document, rng = read_certificate(path)[0], np.random.default_rng(0)
    assert isinstance(document.proof, Multipliers)
    assert document.value is not None
    for _ in range(12):
        noise = {
            name: rows * rng.lognormal(0, 1, rows.shape)
            + rng.exponential(size=rows.shape) * rng.choice([0, 1])
            for name, rows in vars(document.proof).items()
            if rows is not None
        }
        replace(document, proof=Multipliers(**noise)).write(changed)
        checks = StatedCertificate(changed).checks(_unnamed(allocation), GAP)
        within = next(check for check in checks if check.claim.endswith("is within its bound"))
        assert within.holds
        assert isinstance(within.limit, float)
        assert (within.limit <= document.value) == (objective in MINIMIZED)


def test_a_search_that_ends_at_its_limit_has_a_certificate_of_its_honest_gap(tmp_path: Path) -> None:
    path = tmp_path / "proof.zip"
    allocation = bo.solve(_problem(), gap=1e-9, time_limit=0.05, certificate=path)
    report = bo.verify(allocation, certificate=path, gap=GAP).require()
    assert any(check.claim == "bound of weighted_sum" for check in report.checks)


def test_a_local_search_and_several_levels_have_certificates_too(tmp_path: Path) -> None:
    levels = bo.Problem(
        attributes=[bo.Attribute(name, categories=4) for name in "abc"],
        moments=[bo.CrossMoment("a", "b"), bo.CrossMoment("b", "c", level=2)],
        total_epsilon=3.0,
        objective="geometric_mean",
    )
    one = levels.with_objective("weighted_sum").with_fields(moments=bo.all_pairs(["a", "b", "c"]))
    local = bo.solve(one, solver="local search", certificate=tmp_path / "local.zip")
    bo.verify(local, certificate=tmp_path / "local.zip").require()
    allocation = bo.solve(levels, certificate=tmp_path / "levels.zip")
    bo.verify(allocation, certificate=tmp_path / "levels.zip", gap=GAP).require()


def test_nothing_else_is_ever_replaced_by_a_certificate(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n")
    with pytest.raises(InputError, match="is not a certificate"):
        bo.solve(_problem(), certificate=tmp_path / "data.csv")
    with pytest.raises(InputError, match="is not a folder"):
        bo.solve(_problem(), certificate=tmp_path / "nowhere" / "proof.zip")
    assert (tmp_path / "data.csv").read_text() == "a,b\n"


def test_verifying_loads_no_solver_and_no_randomizer(
    solved: Solved, run_module: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    allocation, path = solved
    allocation.write(tmp_path / "allocation.json")
    code = (
        "import sys, budget_opt as bo; from pathlib import Path;"
        f"bo.verify(bo.Allocation.read('allocation.json'), certificate={str(path)!r}, gap={GAP}).require();"
        "others = ('budget_opt.solvers', 'budget_opt.randomizer', 'cvxpy');"
        "print(*(name for name in sys.modules if name.startswith(others)))"
    )
    done = run_module("-c", code)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
