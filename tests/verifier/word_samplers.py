"""Releases from uniform words, as a sampler makes them (DESIGN 2.8), so that words can be faulty."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from budget_opt.allocation import Allocation, uniform
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment, PublicColumn
from budget_opt.model.problem import Problem
from tests.verifier.sample_release import Table

Words = npt.NDArray[np.float64]
"""Uniform on [0, 1): the word over 2^bits."""


def allocation_of(epsilons: Mapping[str, float] | None = None) -> Allocation:
    """Four attributes, by default of epsilon 1.5 each."""
    chosen = {"smoker": 1.5, "income": 1.5, "region": 1.5, "twin": 1.5} | dict(epsilons or {})
    domains = {
        "smoker": ["no", "yes"],
        "income": 5,
        "region": ["north", "south", "east", "west"],
        "twin": ["no", "yes"],
    }
    return uniform(
        Problem(
            attributes=[
                Attribute(name, categories=domain, ordered=name != "region", epsilon=chosen[name])
                for name, domain in domains.items()
            ],
            moments=[CrossMoment("smoker", "income"), CrossMoment("region")],
            public=[PublicColumn("wave", why="the same for everybody")],
            total_epsilon=sum(chosen.values()),
        )
    )


def words(rng: np.random.Generator, allocation: Allocation, n: int) -> dict[str, Words]:
    """Independent words for every cell."""
    return {attribute.name: rng.random(n) for attribute in allocation.attributes}


def reports(allocation: Allocation, table: Table, drawn: Mapping[str, Words]) -> Table:
    """d = min(u div q, r - 1); report = (x + d + 1) mod r."""
    released = {}
    for attribute in allocation.attributes:
        r, other = attribute.cardinality, attribute.other_probability
        step = np.minimum((drawn[attribute.name] / other).astype(np.int64), r - 1)
        released[attribute.name] = ((table[attribute.name] + step + 1) % r).astype(np.uint8)
    return released


def textbook(
    allocation: Allocation, table: Table, keep: Mapping[str, Words], noise: Mapping[str, Words]
) -> Table:
    """Other words decide whether the truth is kept, and others which category replaces it."""
    released = {}
    for attribute in allocation.attributes:
        name, r = attribute.name, attribute.cardinality
        kept = keep[name] < float(attribute.exact_retention)
        drawn = np.minimum((noise[name] * r).astype(np.int64), r - 1)
        released[name] = np.where(kept, table[name], drawn).astype(np.uint8)
    return released
