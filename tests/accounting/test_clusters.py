"""What clusters cost, against enumeration of all pairs of records in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.accounting import delta_at, epsilon_at, sum_loss, zcdp
from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, exact_sum, float_at_least, log_at_least
from tests.accounting.cluster_problems import law, records, two_clusters

NAMES = "abcde"


@pytest.fixture(scope="module")
def allocation() -> bo.Allocation:
    return two_clusters()


@pytest.fixture(scope="module")
def laws(allocation: bo.Allocation) -> dict[tuple[int, ...], dict[tuple[int, ...], Fraction]]:
    shape = [attribute.cardinality for attribute in allocation.attributes]
    return {truth: law(allocation, truth) for truth in records(shape)}


def test_the_largest_ratio_of_all_pairs_of_records_is_what_is_stated_for_any_attributes(
    allocation: bo.Allocation, laws: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]]
) -> None:
    """Every subset of attributes, every pair of records that differ within it, every report."""
    largest: dict[frozenset[str], Fraction] = {}
    for truth, other in product(laws, repeat=2):
        changed = frozenset(name for name, u, v in zip(NAMES, truth, other, strict=True) if u != v)
        ratio = max(p / q for p, q in zip(laws[truth].values(), laws[other].values(), strict=True))
        largest[changed] = max(ratio, largest.get(changed, Fraction(0)))
    for size in range(1, len(NAMES) + 1):
        for names in combinations(NAMES, size):
            within = max(ratio for changed, ratio in largest.items() if changed <= set(names))
            stated = sum_loss(allocation, names)
            blocks = allocation.touched(names)
            # the sum rounds every block up, so it is above by a few units in the last place at most
            assert exact(log_at_least(within)) <= exact(stated)
            assert stated <= log_at_least(within) * (1 + 1e-14)
            assert exact(stated) <= exact_sum(block.epsilon for block in blocks)
            assert sum_loss(allocation, [names[0]]) == allocation.block_of(names[0]).loss


def test_a_change_of_one_member_alone_costs_as_much_as_of_the_whole_cluster(
    allocation: bo.Allocation,
) -> None:
    assert sum_loss(allocation, "a") == sum_loss(allocation, ["c"]) == sum_loss(allocation, ["a", "c"])
    assert sum_loss(allocation, ["a", "b"]) == float_at_least(
        exact_sum(allocation.block_of(name).loss for name in "ab")
    )
    assert sum_loss(allocation) == allocation.loss == sum_loss(allocation, list(NAMES))
    with pytest.raises(InputError, match="stands twice"):
        sum_loss(allocation, ["a", "a"])


@pytest.mark.parametrize("names", [None, ["a"], ["c", "d"], ["b", "e"]])
def test_epsilon_and_delta_are_those_of_all_reports(
    allocation: bo.Allocation,
    laws: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]],
    names: list[str] | None,
) -> None:
    """sum over reports of (P - exp(epsilon) Q)+, the largest over all pairs that differ in these at most."""
    first = next(iter(laws))
    pairs = [
        (truth, other)
        for truth, other in product(laws, repeat=2)
        if all(u == v for name, u, v in zip(NAMES, truth, other, strict=True) if names and name not in names)
        and (truth == first or names)
    ]
    for epsilon in (0.0, 0.3, 0.9, 1.4):
        worst = max(
            sum(
                max(0.0, float(p) - math.exp(epsilon) * float(q))
                for p, q in zip(laws[truth].values(), laws[other].values(), strict=True)
            )
            for truth, other in pairs
        )
        found = delta_at(allocation, epsilon, names)
        assert found.delta == pytest.approx(worst, rel=1e-4, abs=1e-12)
        assert found.delta >= worst * (1 - 1e-9)
    assert epsilon_at(allocation, 0.0, names).epsilon == sum_loss(allocation, names)


def test_rho_of_zcdp_is_the_largest_divergence_of_the_joint_matrix(allocation: bo.Allocation) -> None:
    """Of one cluster, over orders; a member alone costs the same."""
    block = allocation.block_of("a")
    r, t = block.cardinality, float(block.truth_probability or 0.0)
    o = float(block.other_probability or 0.0)
    orders = 1 + np.geomspace(1e-6, 1e4, 4_000)
    powers = [
        math.log(t**order * o ** (1 - order) + o**order * t ** (1 - order) + (r - 2) * o)
        / (order - 1)
        / order
        if order < 200
        else ((order * math.log(t) + (1 - order) * math.log(o)) / (order - 1)) / order
        for order in orders.tolist()
    ]
    assert zcdp(allocation, ["a"]) == zcdp(allocation, ["a", "c"])
    assert zcdp(allocation, ["c"]) == pytest.approx(max(powers), rel=1e-5)
    assert zcdp(allocation, ["a", "e"]) == pytest.approx(
        zcdp(allocation, ["a"]) + zcdp(allocation, ["e"]), rel=1e-12
    )


def test_privacy_says_what_a_part_of_a_cluster_costs(allocation: bo.Allocation) -> None:
    told = str(bo.privacy_of(allocation, names=["a", "e"]))
    assert "randomized together are a and c" in told
    assert "costs all of the cluster's" in told
    assert "together" not in str(bo.privacy_of(allocation, names=["a", "c"]))
    assert "together" not in str(bo.privacy_of(allocation))
