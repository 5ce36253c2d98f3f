"""What a design says of how many it was chosen from, against counting them one by one."""

from __future__ import annotations

import itertools
import math

import pytest

import budget_opt as bo
from tests.solvers.partitions.designs import attained, best_of_all, set_partitions

BELL = {3: 5, 5: 52}


def survey(sizes: tuple[int, ...], objective: str = "geometric_mean") -> bo.Problem:
    names = [f"x{i}" for i in range(len(sizes))]
    return bo.Problem(
        attributes=[bo.Attribute(name, categories=r) for name, r in zip(names, sizes, strict=True)],
        moments=[bo.CrossMoment(*pair) for pair in itertools.combinations(names, 2)],
        total_epsilon=3.0,
        objective=objective,
    )


def allowed(sizes: tuple[int, ...], max_cells: int) -> int:
    """Partitions into clusters of at most so many cells."""
    cells = {f"x{i}": r for i, r in enumerate(sizes)}
    return sum(
        all(len(block) == 1 or math.prod(cells[name] for name in block) <= max_cells for block in partition)
        for partition in set_partitions(tuple(cells))
    )


@pytest.mark.parametrize("max_cells", [4, 12, 1000])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (2, 3, 2, 4, 3)])
def test_the_partitions_are_those_within_max_cells(sizes: tuple[int, ...], max_cells: int) -> None:
    design = bo.design(survey(sizes), max_cells=max_cells)
    expected = allowed(sizes, max_cells)
    assert design.considered == design.counts.designs == design.counts.distinct == expected
    if max_cells == 1000:
        assert expected == BELL[len(sizes)]
    assert f"among all {expected:,} partitions with" in str(design).replace("\n", " ")
    assert design.to_dict()["partitions"] == expected


def test_partitions_that_differ_by_swaps_of_equals_are_counted_and_told_apart() -> None:
    design = bo.design(survey((2,) * 4, "weighted_sum"))
    assert (design.considered, design.counts.distinct) == (15, 5)
    assert "among all 15 partitions (5 of the partitions differ by more than swaps" in str(design).replace(
        "\n", " "
    )
    assert design.to_dict()["partitions"] == 15
    assert design.to_dict()["partitions_that_differ"] == 5


def test_a_minimum_and_a_distortion_that_need_the_same_alone_are_no_equals() -> None:
    """In a cluster the distortion needs more, so that only one of two partitions fits the total."""
    bounded = bo.Attribute("x0", categories=2, distortion_max=0.27)
    block = bo.Problem(attributes=[bounded], moments=[bo.CrossMoment("x0")], total_epsilon=9.0).blocks[0]
    attributes = [
        bounded,
        bo.Attribute("x1", categories=2, epsilon_min=block.lower),
        bo.Attribute("x2", categories=2),
    ]
    problem = survey((2, 2, 2), "weighted_sum").with_fields(
        attributes=attributes,
        moments=[bo.CrossMoment("x0", "x2"), bo.CrossMoment("x1", "x2")],
        total_epsilon=2.2 * block.lower,
    )
    best = best_of_all(problem.with_fields(clusters="auto", max_cells=4))
    design = bo.design(problem, max_cells=4)
    assert design.counts.distinct == design.considered
    assert best is not None
    assert design.bound >= best
    assert attained(design.allocation) == pytest.approx(best, rel=1e-6)


def test_partitions_and_combinations_of_groupings_are_counted_apart() -> None:
    problem = survey((4, 2, 3))
    candidates = [[[0, 1], [2, 3]], [[0], [1], [2, 3]]]
    fine = bo.Attribute("x0", categories=4, groupings=candidates)
    problem = problem.with_fields(attributes=[fine, *problem.attributes[1:]])
    alike = bo.design(problem, max_cells=24)
    assert (alike.considered, alike.counts.groupings, alike.counts.designs) == (5, 3, 15)
    assert "among all 5 partitions times 3 combinations of groupings" in str(alike).replace("\n", " ")
    narrow = bo.design(problem, max_cells=12)
    designs = sum(allowed((r, 2, 3), 12) for r in (4, 2, 3))
    assert (narrow.considered, narrow.counts.designs) == (5, designs)
    assert f"among all {designs} designs, 5 partitions at most" in str(narrow).replace("\n", " ")
    document = narrow.to_dict()
    assert (document["partitions"], document["combinations_of_groupings"], document["designs"]) == (
        5,
        3,
        designs,
    )


def test_inflations_of_coarse_and_fine_categories_are_in_the_same_units() -> None:
    shares = [0.3, 0.3, 0.3, 0.1]
    coarse = bo.Attribute(
        "x", categories=4, scores=[0.0, 1.0, 2.0, 100.0], marginal=shares, groupings=[[[0, 1, 2], [3]]]
    )
    attributes = [coarse, bo.Attribute("y", categories=2)]
    problem = bo.Problem(
        attributes=attributes,
        moments=[bo.CrossMoment("x", "y", weight=2.0)],
        total_epsilon=3.0,
        objective="min_variance",
    )
    design = bo.design(problem, max_cells=4, n=1000)
    detail = float(design.problem.attribute("x").detail)
    assert detail < 1
    for one in design.alternatives:
        # what min_variance minimizes is what the column says
        assert one.variance == pytest.approx(one.value, rel=1e-12)
    stated = design.allocation.moments[0].variance_inflation
    assert stated is not None
    assert design.moments[0].variance_inflation == pytest.approx(stated / detail, rel=1e-12)
    member = {one.name: one for one in design.members}["x"]
    block = design.allocation.block_of("x")
    a, b = block.block.spread_of(["x"])
    tau = 1 / block.retention - 1
    plain = 1 + tau * a + tau * (1 + tau) * b  # DESIGN 2.3
    assert member.variance_inflation is not None
    assert member.records == pytest.approx(1000 / member.variance_inflation)
    assert member.variance_inflation * detail == pytest.approx(plain, rel=1e-9)
