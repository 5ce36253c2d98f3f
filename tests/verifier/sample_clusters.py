"""Originals with two clusters, and releases of them drawn from the matrices with numpy's generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import budget_opt as bo
from tests.verifier.sample_release import Codes, Table, originals, randomized

N = 40_000
Fault = Callable[[np.random.Generator, Table], Table]

PROBLEM = bo.Problem(
    attributes=[
        bo.Attribute("smoker", categories=["no", "yes"], ordered=True),
        bo.Attribute("income", categories=5, ordered=True),
        bo.Attribute("region", categories=["north", "south", "east", "west"]),
        bo.Attribute("twin", categories=["no", "yes"], ordered=True),
        bo.Attribute("sex", categories=["f", "m"], ordered=True),
    ],
    moments=[
        bo.CrossMoment("smoker", "income"),
        bo.CrossMoment("smoker", "twin"),
        bo.CrossMoment("smoker", "income", "twin"),
        bo.CrossMoment("smoker", "income", "sex"),
        bo.CrossMoment("region", "twin"),
        bo.CrossMoment("income"),
    ],
    clusters=[("smoker", "income"), ("region", "twin")],
    total_epsilon=6.0,
)
SPLIT = {"smoker": 2.5, "income": 2.5, "region": 2.0, "twin": 2.0, "sex": 1.5}
ALLOCATION = bo.allocation_from(PROBLEM, SPLIT)


def data(rng: np.random.Generator, n: int = N) -> Table:
    """Correlated columns with rare categories; the released cells are not shuffled."""
    table = originals(rng, n)
    return {**table, "sex": (rng.random(n) < 0.3 + 0.4 * table["smoker"]).astype(np.uint8)}


def joint(names: tuple[str, ...], table: Mapping[str, Any]) -> Codes:
    shape = [ALLOCATION[name].cardinality for name in names]
    return np.ravel_multi_index([table[name] for name in names], shape).astype(np.uint8)


def split(names: tuple[str, ...], codes: Any) -> Table:
    shape = [ALLOCATION[name].cardinality for name in names]
    columns = np.unravel_index(codes, shape)
    return {name: column.astype(np.uint8) for name, column in zip(names, columns, strict=True)}


def sound(rng: np.random.Generator, table: Table, allocation: bo.Allocation = ALLOCATION) -> Table:
    """Every block by its own draws."""
    released: Table = {}
    for block in allocation.blocks:
        codes = joint(block.names, table)
        released |= split(
            block.names, randomized(rng, codes, block.cardinality, float(block.exact_retention))
        )
    return {name: released[name] for name in table}


def members_apart(rng: np.random.Generator, table: Table) -> Table:
    """The members of one cluster each by a draw of its own, with the lambda of the cluster."""
    released = sound(rng, table)
    for name in ("smoker", "income"):
        one = ALLOCATION[name]
        released[name] = randomized(rng, table[name], one.cardinality, float(one.exact_retention))
    return released


def a_member_left_as_it_is(rng: np.random.Generator, table: Table) -> Table:
    return {**sound(rng, table), "smoker": table["smoker"]}


def noise_of_another_cluster(rng: np.random.Generator, table: Table) -> Table:
    """twin is turned wherever smoker is: their columns each are what they should be, to two percent."""
    released = sound(rng, table)
    turned = released["smoker"] ^ table["smoker"]
    return {**released, "twin": table["twin"] ^ turned}


def one_draw_decides_for_both_clusters(rng: np.random.Generator, table: Table) -> Table:
    """Whether a cluster is replaced: one word a row; what replaces it is drawn for each."""
    released, u = sound(rng, table), rng.random(table["smoker"].size)
    for block in ALLOCATION.blocks[:2]:
        noise = rng.integers(0, block.cardinality, u.size)
        kept = u < float(block.exact_retention)
        released |= split(block.names, np.where(kept, joint(block.names, table), noise))
    return released


def noise_that_a_member_shares(rng: np.random.Generator, table: Table) -> Table:
    """Where both clusters are replaced smoker and twin get one new value: either is as it should be."""
    released: Table = {}
    value = rng.integers(0, 2, table["smoker"].size)
    for names, member in ((("smoker", "income"), "smoker"), (("region", "twin"), "twin")):
        block = ALLOCATION.block_of(member)
        noise = split(names, rng.integers(0, block.cardinality, value.size)) | {member: value}
        kept = rng.random(value.size) < float(block.exact_retention)
        released |= {name: np.where(kept, table[name], noise[name]).astype(np.uint8) for name in names}
    return {**sound(rng, table), **released}


def a_cluster_of_the_row_before(rng: np.random.Generator, table: Table) -> Table:
    """The noise of a whole cluster once more for the next row's other cluster."""
    released = sound(rng, table)
    turned = np.roll(released["smoker"] ^ table["smoker"], 1)
    return {**released, "twin": table["twin"] ^ turned}
