"""What clusters cost beside what they bring: members, domains and moments, without clusters and as chosen."""

from __future__ import annotations

import math

import numpy as np

from budget_opt.allocation import AllocatedBlock, AllocatedMoment, Allocation
from budget_opt.api.design.result import DesignedMoment, Joined, Member
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.objectives import log_spread_at


def joined(chosen: Allocation, n: float | None) -> tuple[Joined, ...]:
    """The chosen clusters."""
    return tuple(
        Joined(
            block.name,
            block.names,
            block.cardinality,
            block.epsilon,
            block.retention,
            None if n is None else n / block.cardinality,
        )
        for block in chosen.blocks
        if block.is_cluster
    )


def members(chosen: Allocation, alone: Allocation | None, n: float | None) -> tuple[Member, ...]:
    """Every member of a cluster, beside the split without clusters, where there is one."""
    return tuple(
        _member(name, block, None if alone is None else alone.block_of(name), n)
        for block in chosen.blocks
        if block.is_cluster
        for name in block.names
    )


def _member(name: str, block: AllocatedBlock, alone: AllocatedBlock | None, n: float | None) -> Member:
    inflation = marginal_inflation(block, name)
    before = None if alone is None else marginal_inflation(alone, name)
    return Member(
        name=name,
        cluster=block.name,
        epsilon_alone=None if alone is None else alone.epsilon,
        epsilon=block.epsilon,
        retention_alone=None if alone is None else alone.retention,
        retention=block.retention,
        variance_inflation_alone=before,
        variance_inflation=inflation,
        records_alone=None if n is None or before is None else n / before,
        records=None if n is None or inflation is None else n / inflation,
    )


def marginal_inflation(block: AllocatedBlock, name: str) -> float | None:
    """The variance inflation of this member's own marginal (DESIGN 2.3); None where it is not released.

    Divided by the `detail` that a grouping leaves of its score, as in `inflation_of`.
    """
    if not block.is_released:
        return None
    detail = next(float(one.detail) for one in block.block.members if one.name == name)
    kept = np.array([math.log(block.retention)])
    a, b = block.block.spread_of([name])
    return float(np.exp(log_spread_at(np.array([a]), np.array([b]), rr.log_tau_of(kept)))[0]) / detail


def moments(chosen: Allocation, alone: Allocation | None) -> tuple[DesignedMoment, ...]:
    """Every moment, beside the split without clusters, where there is one."""
    before = [None] * len(chosen.moments) if alone is None else alone.moments
    return tuple(
        DesignedMoment(
            label=moment.label,
            weight=moment.weight,
            floor=moment.floor,
            retention_alone=None if other is None else other.retention,
            retention=moment.retention,
            variance_inflation_alone=None if other is None else inflation_of(other),
            variance_inflation=inflation_of(moment),
            touches_twice=moment.touches_twice,
        )
        for moment, other in zip(chosen.moments, before, strict=True)
    )


def inflation_of(moment: AllocatedMoment) -> float | None:
    """The variance inflation of the moment of the declared scores; None where a member is not released.

    An allocation states that of the moment of the merged scores. Groupings leave a share `detail` of the
    variance of the declared ones, by which it is divided, as `min_variance` does (`model.compile`).
    """
    inflation = moment.variance_inflation
    return None if inflation is None else inflation / float(moment.detail)


def weighted_variance(allocation: Allocation) -> float | None:
    """The sum of weight x variance x inflation, as in `min_variance`; None where one is infinite.

    The inflations are those of `inflation_of`, so that fine and coarse categories are in the same units.
    """
    terms = [
        (moment.weight * moment.stated.variance, inflation_of(moment))
        for moment in allocation.moments
        if moment.weight > 0
    ]
    if any(inflation is None for _, inflation in terms):
        return None
    return math.fsum(weight * inflation for weight, inflation in terms if inflation is not None)
