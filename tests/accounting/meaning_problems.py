"""Small allocations, their matrices as fractions, and brute force over every record and every report."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

import budget_opt as bo
from budget_opt.accounting.joint import LearnedUnderJoint, learned_under, whole_numbers
from budget_opt.allocation import AllocatedAttribute
from budget_opt.mechanisms.background_sampler import BackgroundSampler

Matrix = list[list[Fraction]]


def learned_of(allocation: bo.Allocation, names: Sequence[str], table: np.ndarray) -> LearnedUnderJoint:
    """What `bo.meaning` says under this joint, without all else that it says, which takes far longer."""
    return learned_under(allocation, names, whole_numbers(table))


def allocation_of(sizes: Sequence[int], epsilons: Sequence[float], **fields: Any) -> bo.Allocation:
    """Attributes a, b, c, … of these cardinalities and epsilons."""
    names = "abcdefgh"[: len(sizes)]
    problem = bo.Problem(
        total_epsilon=max(sum(epsilons), 1e-3),
        attributes=[bo.Attribute(name, categories=size) for name, size in zip(names, sizes, strict=True)],
        moments=[bo.CrossMoment(*names)],
        **fields,
    )
    split = dict(zip(names, epsilons, strict=True))
    return bo.allocation_from(problem.with_total(max(problem.total_epsilon or 0, 100.0)), split)


def matrix(attribute: AllocatedAttribute) -> Matrix:
    """P(y | x), rows the truth: from the report of every category under what the sampler states."""
    r, sampler = attribute.cardinality, attribute.sampler
    if sampler is None:
        return [[Fraction(1, r)] * r for _ in range(r)]
    if isinstance(sampler, BackgroundSampler):
        words = 2**sampler.bits
        kept = words - sum(sampler.counts)
        return [
            [Fraction(count + kept * (x == y), words) for y, count in enumerate(sampler.counts)]
            for x in range(r)
        ]
    share = Fraction(sampler.q, 2**sampler.bits)
    return [[1 - (r - 1) * share if x == y else share for y in range(r)] for x in range(r)]


def likelihoods(
    allocation: bo.Allocation, joint: Mapping[tuple[int, ...], Fraction], axis: int
) -> dict[tuple[int, ...], dict[int, Fraction]]:
    """P(y, a = v) for every report y of all attributes and every value v of attribute `axis`."""
    matrices = [matrix(one) for one in allocation.attributes]
    sizes = [one.cardinality for one in allocation.attributes]
    found: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for report in itertools.product(*map(range, sizes)):
        by_value = dict.fromkeys(range(sizes[axis]), Fraction(0))
        for record, share in joint.items():
            chance = share
            for P, x, y in zip(matrices, record, report, strict=True):
                chance *= P[x][y]
            by_value[record[axis]] += chance
        found[report] = by_value
    return found


def marginal(joint: Mapping[tuple[int, ...], Fraction], axis: int) -> dict[int, Fraction]:
    """P(a = v) of the values that are possible."""
    shares: dict[int, Fraction] = {}
    for record, share in joint.items():
        if share:
            shares[record[axis]] = shares.get(record[axis], Fraction(0)) + share
    return shares
