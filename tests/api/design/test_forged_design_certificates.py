"""Design certificates at the edge of doubles, budgets and groupings: no bound is too good, none is lost."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions import document as format_of
from budget_opt.certificate.partitions import proof
from budget_opt.certificate.partitions.document import read_design_certificate
from budget_opt.certificate.partitions.proof import PriceRow, proved
from budget_opt.errors import CertificateError
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.partitions import recording, search
from tests.solvers.partitions.designs import best_of_all, random_design


def row(problem: bo.Problem, *, need: bool = False, **numbers: float | list[float]) -> PriceRow:
    """Prices that are 0 but for those that are given."""
    widths = {"floors": "moments", "moments": "moments", "shares": "moments", "cover": "attributes"}
    sizes = {name: len(getattr(problem, field)) for name, field in widths.items()}
    sizes["budgets"] = len(problem.budgets())
    full = {name: np.broadcast_to(numbers.get(name, 0.0), (size,)).copy() for name, size in sizes.items()}
    multipliers = Multipliers(full["floors"], full["moments"], full["budgets"], np.zeros(sizes["moments"]))
    return PriceRow(0, need, multipliers, full["shares"], full["cover"])


def open_problem(**fields: object) -> bo.Problem:
    """Three attributes in two moments, clusters open."""
    return bo.Problem(
        **{
            "attributes": [bo.Attribute(f"x{i}", categories=2) for i in range(3)],
            "moments": [bo.CrossMoment("x0", "x1", target=0.1), bo.CrossMoment("x2", target=0.1)],
            "total_epsilon": 2.0,
            "objective": "max_min",
            "clusters": "auto",
            "max_cells": 8,
            **fields,
        }
    )


def not_listed(monkeypatch: pytest.MonkeyPatch, blocks: int) -> None:
    """No partition is listed, and so many blocks at most."""
    for module in (proof, search):
        monkeypatch.setattr(module, "MOST_BLOCKS", blocks)
        monkeypatch.setattr(module, "MOST_LISTED", 0)


def test_shares_whose_sum_is_beyond_the_largest_double_bound_no_better_than_others() -> None:
    problem = open_problem()
    best = best_of_all(problem)
    assert best is not None
    huge, plain = (proved(problem, 8, [row(problem, moments=size)]) for size in (1.7e308, 1.0))
    assert huge == pytest.approx(plain, rel=1e-12)
    assert huge >= best > 1.0


@pytest.mark.parametrize("blocks", [0, 10**4])
def test_sums_beyond_the_largest_double_prove_nothing_where_partitions_are_too_many_to_list(
    blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    not_listed(monkeypatch, blocks)
    problem = open_problem(
        attributes=[bo.Attribute(f"x{i}", categories=2, epsilon=1.0) for i in range(3)], total_epsilon=3.5
    )
    nothing = proved(problem, 8, [])
    assert proved(problem, 8, [row(problem, cover=[-1.6e308, 0.0, 0.0])]) <= nothing
    assert proved(problem, 8, [row(problem, floors=1e308, budgets=5e307)]) <= nothing
    assert proved(problem, 8, [row(problem, floors=1e308, budgets=1e308)]) == nothing


@pytest.mark.parametrize("blocks", [0, 10**4])
def test_pins_that_fit_the_total_in_clusters_alone_have_a_bound_without_a_list(
    blocks: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    not_listed(monkeypatch, blocks)
    problem = open_problem(
        attributes=[bo.Attribute(f"x{i}", categories=2, epsilon=1.0) for i in range(3)],
        clusters=[["x0", "x1"]],
    )
    path = tmp_path / "design.certificate"
    design = bo.design(problem, certificate=path)
    assert design.certified_bound is not None
    assert design.certified_bound >= design.bound > 0
    bo.verify(design.allocation, certificate=path).require()


def test_prices_of_need_prove_nothing_where_there_is_no_total() -> None:
    problem = open_problem(
        moments=[bo.CrossMoment("x0", "x1", floor=0.3)], objective="min_epsilon", total_epsilon=None
    )
    rows = [row(problem, need=True, floors=5.0)]
    assert proved(problem, 8, rows) == proved(problem, 8, [])


def test_an_epsilon_of_zero_in_a_variance_with_marginals_is_no_fault_of_who_reads() -> None:
    shares = [0.7, 0.3]
    attributes = [bo.Attribute("x0", categories=2, marginal=shares, epsilon_max=0.0)]
    attributes += [bo.Attribute(f"x{i}", categories=2, marginal=shares) for i in (1, 2)]
    problem = open_problem(attributes=attributes, objective="min_variance")
    assert proved(problem, 8, [row(problem, shares=1.0, budgets=1.0)]) >= 0


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ({"total_delta": 0.01}, "has a total_delta"),
        (
            {
                "attributes": [
                    bo.Attribute(f"x{i}", categories=5, groupings=[[[0, 1], [2, 3, 4]]]) for i in range(7)
                ],
            },
            "128 combinations of groupings, at most 64",
        ),
    ],
    ids=["delta", "groupings"],
)
def test_a_problem_that_design_would_not_take_is_refused(
    fields: dict[str, object], match: str, tmp_path: Path
) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(open_problem(), certificate=path)
    document = read_design_certificate(path)
    dataclasses.replace(document, problem=open_problem(**fields), rows=[]).write(path)
    with pytest.raises(CertificateError, match=match):
        bo.verify(design.allocation, certificate=path)


def test_more_prices_than_a_design_states_are_refused_before_they_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(open_problem(), certificate=path)
    document = read_design_certificate(path)
    dataclasses.replace(document, rows=[document.rows[0]] * 20_001).write(path)
    with pytest.raises(CertificateError, match="20,001 rows, at most 20,000"):
        bo.verify(design.allocation, certificate=path)


def test_a_later_version_is_refused_as_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(open_problem(), certificate=path)
    document = read_design_certificate(path)
    with monkeypatch.context() as later:
        later.setattr(format_of, "VERSION", 2)
        document.write(path)
    with pytest.raises(CertificateError, match="version: is 2, must be 1"):
        bo.verify(design.allocation, certificate=path)


def test_a_last_digit_is_no_reason_to_state_the_same_prices_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    moments = [bo.CrossMoment("x0", "x1", ceiling=0.2), bo.CrossMoment("x2", ceiling=0.3)]
    problem = open_problem(moments=moments, objective="geometric_mean")
    honest, calls = recording.of_each, []

    def a_digit_worse(among: proof.Partitions, of: PriceRow) -> FloatArray:
        calls.append(of)
        assert len(calls) < 50, "prices are stated without end"
        worse: FloatArray = np.nextafter(honest(among, of), np.inf)
        return worse

    monkeypatch.setattr(recording, "of_each", a_digit_worse)
    design = bo.design(problem, certificate=tmp_path / "design.certificate")
    assert design.certified_bound is not None
    assert design.certified_bound > design.bound  # ceilings are left out


def pinned() -> bo.Problem:
    """What the pin leaves of the total is the upper bound of the others, and no price of their split."""
    return open_problem(
        attributes=[
            bo.Attribute("x0", categories=3),
            bo.Attribute("x1", categories=3),
            bo.Attribute("x2", categories=3, epsilon=1.5),
        ],
        moments=[
            bo.CrossMoment("x0", "x1", weight=3.0, floor=0.2),
            bo.CrossMoment("x0", "x1", "x2", weight=3.0),
        ],
        objective="geometric_mean",
        total_epsilon=3.0,
        max_cells=9,
    )


def distorted() -> bo.Problem:
    """The more categories a cluster has, the more epsilon a distortion needs."""
    return random_design(0, 3, "geometric_mean").with_fields(
        attributes=[
            bo.Attribute("x0", categories=4),
            bo.Attribute("x1", categories=4, distortion_max=0.4),
            bo.Attribute("x2", categories=4),
        ],
        moments=[bo.CrossMoment("x0", "x1"), bo.CrossMoment("x1", "x2"), bo.CrossMoment("x2", "x0")],
        groups=[],
        total_epsilon=3.0,
        max_cells=64,
    )


def grouped() -> bo.Problem:
    """Within the group the floors of some partitions are met by no total."""
    return open_problem(
        attributes=[bo.Attribute(f"x{i}", categories=3) for i in range(3)],
        moments=[bo.CrossMoment("x0", "x2", floor=0.3), bo.CrossMoment("x0", "x1", weight=9.0)],
        groups=[bo.Group(name="g", attributes=["x0", "x2"], epsilon_max=2.5)],
        objective="geometric_mean",
        total_epsilon=4.0,
        max_cells=9,
    )


def grouped_without_a_total() -> bo.Problem:
    """The same of the least total."""
    floors = [bo.CrossMoment("x0", "x2", floor=0.3), bo.CrossMoment("x0", "x1", floor=0.3)]
    return grouped().with_fields(moments=floors, objective="min_epsilon", total_epsilon=None)


@pytest.mark.parametrize(
    "problem",
    [pinned(), distorted(), grouped(), grouped_without_a_total()],
    ids=["pin", "distortion", "group", "group without total"],
)
def test_lower_bounds_and_groups_cost_the_certificate_nothing(problem: bo.Problem, tmp_path: Path) -> None:
    path = tmp_path / "design.certificate"
    design = bo.design(problem, certificate=path)
    assert design.status == "optimal"
    assert design.certified_bound == pytest.approx(design.bound, rel=1e-6)
    bo.verify(design.allocation, certificate=path).require()
