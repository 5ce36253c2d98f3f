"""Allocations whose cells are replaced by another law than the uniform one: figures, file, clusters."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.errors import AllocationError
from budget_opt.mechanisms.background_sampler import BackgroundSampler, background_sampler_for
from budget_opt.mechanisms.exact import exact
from tests.strategies import Document

MARGINAL = (0.6, 0.3, 0.1)


def asked(**fields: Any) -> bo.Problem:
    return bo.Problem(
        **{
            "attributes": [
                bo.Attribute("x", categories=3, marginal=MARGINAL, background="marginal"),
                bo.Attribute("y", categories=4),
                bo.Attribute("z", categories=["a", "b"], background=[0.9, 0.1]),
            ],
            "moments": [bo.CrossMoment("x", "y"), bo.CrossMoment("x", "z")],
            "total_epsilon": 6.0,
            **fields,
        }
    )


def split(problem: bo.Problem | None = None, **epsilons: float) -> Allocation:
    return bo.allocation_from(problem or asked(), {"x": 2.0, "y": 2.0, "z": 2.0, **epsilons})


def test_the_sampler_of_a_background_has_its_counts_and_that_of_a_uniform_one_its_q() -> None:
    made = split()
    assert made["x"].sampler == background_sampler_for(2.0, (6, 3, 1))
    assert made["z"].sampler == background_sampler_for(2.0, (9, 1))
    assert made["y"].truth_probability is not None
    for name in ("x", "z"):
        assert made[name].truth_probability is None
        assert made[name].other_probability is None


def test_the_laws_of_a_column_are_lambda_and_the_background() -> None:
    x = split()["x"]
    q = np.array(MARGINAL)
    assert x.other_probabilities == pytest.approx((1 - x.retention) * q, abs=1e-9)
    assert x.truth_probabilities == pytest.approx(x.retention + (1 - x.retention) * q, abs=1e-9)
    assert x.truth_range == (x.truth_probabilities.min(), x.truth_probabilities.max())


def test_r36_without_a_budget_both_laws_are_the_background_itself() -> None:
    x = split(x=0.0)["x"]
    assert not x.is_released
    assert x.truth_probabilities.tolist() == x.other_probabilities.tolist() == [0.6, 0.3, 0.1]
    assert (x.loss, x.retention, x.truth_range) == (0.0, 0.0, (0.1, 0.6))


def test_the_file_has_the_counts_as_decimal_strings_and_no_single_probability(tmp_path: Path) -> None:
    made = split()
    made.write(tmp_path / "a.json")
    stated = json.loads((tmp_path / "a.json").read_text())["attributes"][0]
    sampler = made["x"].sampler
    assert isinstance(sampler, BackgroundSampler)
    assert stated["background"] == "marginal"
    assert stated["sampler"] == {"bits": 32, "counts": [str(count) for count in sampler.counts]}
    assert stated["truth_probability"] is stated["other_probability"] is None
    again = bo.Allocation.read(tmp_path / "a.json")
    assert again == made
    assert [one.sampler for one in again.attributes] == [one.sampler for one in made.attributes]


def first(change: dict[str, Any]) -> Callable[[Document], None]:
    def apply(document: Document) -> None:
        document["attributes"][0] |= change

    return apply


def counts_of(document: Document, change: Callable[[list[int]], list[int]]) -> None:
    sampler = document["attributes"][0]["sampler"]
    sampler["counts"] = [str(count) for count in change([int(count) for count in sampler["counts"]])]


@pytest.mark.parametrize(
    ("forge", "said"),
    [
        (lambda d: counts_of(d, lambda c: [c[0], c[1], c[2] - 1]), r"sampler\.counts\[2\]"),
        (lambda d: counts_of(d, lambda c: [c[1], c[0], c[2]]), r"sampler\.counts\[0\]"),
        (lambda d: counts_of(d, lambda c: c[:2]), r"sampler\.counts"),
        (lambda d: counts_of(d, lambda c: [*c[:2], 0]), r"sampler\.counts"),
        (first({"sampler": {"bits": 32, "q": "5"}}), "sampler"),
        (first({"sampler": {"bits": 32}}), r"sampler\.q"),
        (first({"background": "uniform"}), "attributes"),
        (first({"background": [0.6, 0.2, 0.2]}), "attributes"),
        (first({"background": {"mixture": 0.5}}), "attributes"),
        (first({"marginal": [0.5, 0.4, 0.1]}), "attributes"),
        (first({"truth_probability": 0.5}), "truth_probability"),
        (first({"retention": 0.9}), "retention"),
    ],
)
def test_a_file_that_does_not_agree_with_its_background_is_refused_by_the_field(
    forge: Callable[[Document], None], said: str, tmp_path: Path
) -> None:
    document = json.loads(json.dumps(split().to_dict()))
    forge(document)
    (tmp_path / "forged.json").write_text(json.dumps(document))
    with pytest.raises(AllocationError, match=said):
        bo.Allocation.read(tmp_path / "forged.json")


def test_a_cluster_is_randomized_by_the_product_of_its_members_backgrounds(tmp_path: Path) -> None:
    made = bo.uniform(asked(clusters=[["x", "z"]]))
    block = made.block_of("x")
    assert block.sampler == background_sampler_for(block.epsilon, (54, 6, 27, 3, 9, 1))
    assert (block.truth_probability, block.other_probability) == (None, None)
    for name, shape in (("x", 3), ("z", 2)):
        column = made[name].column_sampler
        assert isinstance(column, BackgroundSampler)
        assert column.cardinality == shape
        assert column.retention == block.exact_retention
    made.write(tmp_path / "a.json")
    stated = json.loads((tmp_path / "a.json").read_text())["clusters"][0]
    assert stated["background"] == "product"
    assert len(stated["sampler"]["counts"]) == 6
    assert bo.Allocation.read(tmp_path / "a.json") == made


def test_one_uniform_member_has_no_single_probability_beside_another_background() -> None:
    made = bo.uniform(asked(clusters=[["x", "y"]]))
    assert made["y"].truth_probability is None
    assert np.ptp(made["y"].other_probabilities) < 1e-8


def test_a_floor_that_binds_is_kept_exactly_with_the_counts() -> None:
    """The width rises until the implemented lambda, which is rounded down, is at least the floor."""
    problem = asked(
        moments=[bo.CrossMoment("x", "z", floor=0.37)], objective="min_epsilon", total_epsilon=None
    )
    made = bo.solve(problem)
    assert made.moments[0].exact_retention >= exact(0.37)
    sampler = made["x"].sampler
    assert sampler is not None
    assert sampler.bits > 32
    assert sampler.retention < Fraction(1)


def test_the_table_tells_the_range_of_the_truth_and_what_replaces_a_cell() -> None:
    told = str(split())
    assert "replaced by" in told
    assert "marginal" in told
    assert "given shares" in told
    least, most = split()["x"].truth_range
    assert f"{100 * least:.1f} %"[:3] in told
    assert " to " in told
    assert least < most
    plain = bo.Problem(
        attributes=[bo.Attribute("a", categories=3)], moments=[bo.CrossMoment("a")], total_epsilon=1.0
    )
    assert "replaced by" not in str(bo.uniform(plain))
