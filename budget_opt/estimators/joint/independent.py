"""RR-Independent: the product of the marginals (Domingo-Ferrer and Soria-Comas 2020; Castell 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.releases.counting import Counts


def independent(counts: Counts, channels: Sequence[Channel]) -> FloatArray:
    """The product of the corrected marginals, each moved to the nearest one that is a distribution.

    So no share is negative and they add up to 1. With the marginals as they come, negative shares included,
    their products would be neither: two negative ones make a positive cell.
    """
    return product_of(corrected_marginals(counts, channels))


def corrected_marginals(counts: Counts, channels: Sequence[Channel]) -> tuple[FloatArray, ...]:
    """The marginal of every attribute, corrected, and moved to the nearest distribution."""
    shares = counts.shares
    axes = range(shares.ndim)
    return tuple(
        nearest_shares(channel.corrected(shares.sum(axis=tuple(other for other in axes if other != axis))))
        for axis, channel in enumerate(channels)
    )


def product_of(marginals: Sequence[FloatArray]) -> FloatArray:
    """The table with these marginals in which all attributes are independent, an axis each."""
    table: FloatArray = reduce(np.multiply.outer, marginals)
    return table
