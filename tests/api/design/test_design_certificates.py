"""The file that carries the bound of all designs: what it proves, and what is noticed when it is changed."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions import proof
from budget_opt.certificate.partitions.document import DesignCertificate, read_design_certificate
from budget_opt.certificate.partitions.proof import PriceRow, proved
from budget_opt.errors import CertificateError, InputError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.solvers.partitions import search
from tests.solvers.partitions.designs import best_of_all, random_design

CONVEX = ["geometric_mean", "max_min", "min_variance", "min_epsilon"]
FEASIBLE = (0, 4)
"""Seeds whose problems have a design."""


def chain(**fields: object) -> bo.Problem:
    """Five attributes in a row, each tied to the next by a floor that most partitions cannot meet."""
    return bo.Problem(
        **{
            "attributes": [bo.Attribute(f"a{i}", categories=3) for i in range(5)],
            "moments": [bo.CrossMoment(f"a{i}", f"a{i + 1}", floor=0.4, weight=1 + i) for i in range(4)],
            "total_epsilon": 7.0,
            "objective": "max_min",
            "clusters": "auto",
            "max_cells": 81,
            **fields,
        }
    )


def merging() -> bo.Problem:
    """An attribute with candidate groupings, of which none meets a floor alone under all partitions."""
    steps = [[list(range(start, start + width)) for start in range(0, 12, width)] for width in (2, 6)]
    return bo.Problem(
        attributes=[
            bo.Attribute("age", categories=12, groupings=steps),
            bo.Attribute("smoker", categories=2),
            bo.Attribute("z", categories=3),
        ],
        moments=[bo.CrossMoment("age", "smoker"), bo.CrossMoment("z", "age", floor=0.1)],
        total_epsilon=2.0,
        objective="geometric_mean",
        clusters="auto",
        max_cells=24,
    )


def no_worse(problem: bo.Problem, bound: float, value: float) -> bool:
    """True where a value does not pass a bound."""
    return bound <= value if problem.objective in MINIMIZED else value <= bound


@pytest.mark.parametrize(("objective", "seed"), [*itertools.product(CONVEX, FEASIBLE)])
def test_the_file_proves_what_the_design_says_and_verify_needs_nothing_else(
    objective: str, seed: int, tmp_path: Path
) -> None:
    problem = random_design(seed, 4, objective)
    design = bo.design(problem, certificate=tmp_path / "design.certificate")
    assert design.certified_bound == pytest.approx(design.bound, rel=1e-6)
    report = bo.verify(design.allocation, certificate=tmp_path / "design.certificate").require()
    assert [check.name for check in report.checks if check.name.startswith("design's")] == [
        "design's problem",
        "design's value",
        "design's bound",
        "design's gap",
    ]
    assert not report.open


@pytest.mark.parametrize("problem", [chain(), merging()], ids=["floors", "groupings"])
def test_partitions_and_groupings_that_cannot_meet_the_floors_are_ruled_out_by_prices_of_need(
    problem: bo.Problem, tmp_path: Path
) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(problem, certificate=path)
    document = read_design_certificate(path)
    assert design.certified_bound == pytest.approx(design.bound, rel=1e-6)
    assert any(row.need for row in document.rows)
    without = [row for row in document.rows if not row.need]
    assert proved(document.problem, document.max_cells, without) > design.bound * 1.01
    bo.verify(design.allocation, certificate=path).require()


def anything(problem: bo.Problem, seed: int) -> list[PriceRow]:
    """Rows that nobody has optimized."""
    rng = np.random.default_rng(seed)
    moments, budgets = len(problem.moments), len(problem.budgets())
    return [
        PriceRow(
            variant=0,
            need=bool(rng.integers(2)),
            multipliers=Multipliers(
                rng.exponential(1.0, moments),
                rng.exponential(1.0, moments),
                rng.exponential(0.5, budgets),
                np.zeros(moments),
            ),
            shares=rng.exponential(1.0, moments),
            cover=rng.normal(size=len(problem.attributes)),
        )
        for _ in range(6)
    ]


@pytest.mark.parametrize("objective", CONVEX)
def test_whatever_the_prices_no_partition_has_a_split_that_passes_their_bound(
    objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in FEASIBLE:
        problem = random_design(seed, 4, objective)
        best = best_of_all(problem)
        assert best is not None
        for blocks, partitions in ((10**4, 10**4), (10**4, 0), (0, 0)):
            monkeypatch.setattr(proof, "MOST_BLOCKS", blocks)
            monkeypatch.setattr(proof, "MOST_LISTED", partitions)
            for drawn in range(5):
                bound = proved(problem, problem.max_cells or 64, anything(problem, drawn))
                assert no_worse(problem, bound, best)


@pytest.mark.parametrize("most", [(0, 0), (10**4, 0)], ids=["attributes", "cover"])
def test_too_many_partitions_to_list_are_covered_at_once(
    most: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    problem = random_design(0, 4, "geometric_mean")
    for module in (search, proof):
        monkeypatch.setattr(module, "MOST_BLOCKS", most[0])
        monkeypatch.setattr(module, "MOST_LISTED", most[1])
    path = tmp_path / "design.certificate"
    design = bo.design(problem, certificate=path)
    document = read_design_certificate(path)
    assert len(document.rows) == 1
    assert design.certified_bound is not None
    assert design.bound <= design.certified_bound < proved(document.problem, document.max_cells, [])
    bo.verify(design.allocation, certificate=path).require()


def _failing(allocation: bo.Allocation, path: Path) -> set[str]:
    report = bo.verify(allocation, certificate=path)
    return {check.name for check in report.checks if not check.holds}


def test_a_file_that_claims_more_than_it_proves_fails(tmp_path: Path) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(random_design(0, 4, "geometric_mean"), certificate=path)
    document = read_design_certificate(path)
    assert document.bound is not None

    def changed(**fields: object) -> set[str]:
        dataclasses.replace(document, **fields).write(path)
        return _failing(design.allocation, path)

    assert changed() == set()
    assert changed(bound=document.bound * (1 - 1e-9)) == {"design's bound"}
    assert changed(rows=()) == {"design's bound", "design's gap"}
    assert changed(problem=document.problem.with_total(2.75)) == {"design's problem"}
    # the split of another choice is not the best
    alone = design["no clusters, best split"].allocation
    assert alone is not None
    document.write(path)
    assert _failing(alone, path) == {"design's gap"}


def test_numbers_of_any_size_prove_nothing_and_break_nothing(tmp_path: Path) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(chain(), certificate=path)
    document = read_design_certificate(path)
    for size in (0.0, 5e-324, 1.7e308):
        rows = [
            dataclasses.replace(
                row,
                multipliers=dataclasses.replace(
                    row.multipliers,
                    floors=np.full_like(row.multipliers.floors, size),
                    budgets=np.full_like(row.multipliers.budgets, size),
                ),
            )
            for row in document.rows
        ]
        dataclasses.replace(document, rows=rows).write(path)
        assert _failing(design.allocation, path) <= {"design's bound", "design's gap"}


def test_damaged_and_foreign_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(random_design(0, 4, "geometric_mean"), certificate=path)
    whole, document = path.read_bytes(), read_design_certificate(path)
    for content in (whole[:-40], b"", b"PK"):
        path.write_bytes(content)
        with pytest.raises(CertificateError):
            bo.verify(design.allocation, certificate=path)

    def refused(written: DesignCertificate, match: str) -> None:
        written.write(path)
        with pytest.raises(CertificateError, match=match):
            bo.verify(design.allocation, certificate=path)

    first = document.rows[0]
    negative = dataclasses.replace(
        first, multipliers=dataclasses.replace(first.multipliers, budgets=-first.multipliers.budgets)
    )
    refused(dataclasses.replace(document, rows=[negative]), r"prices/budgets\.npy .* must be finite and >= 0")
    endless = dataclasses.replace(first, cover=np.full_like(first.cover, np.nan))
    refused(dataclasses.replace(document, rows=[endless]), r"prices/cover\.npy .* must be finite\.")
    refused(dataclasses.replace(document, problem=design.problem), "must leave its clusters open")


def test_nothing_is_written_where_no_file_can_carry_the_bound_or_another_file_stands(tmp_path: Path) -> None:
    problem = random_design(0, 3, "weighted_sum")
    with pytest.raises(InputError, match="certificate: the bound of a weighted sum"):
        bo.design(problem, certificate=tmp_path / "design.certificate")
    assert not list(tmp_path.iterdir())
    other = tmp_path / "thesis.txt"
    other.write_text("precious")
    with pytest.raises(InputError, match="is not a certificate"):
        bo.design(problem.with_objective("max_min"), certificate=other)
    assert other.read_text() == "precious"
