"""RR-Joint: one randomization of a whole record (Domingo-Ferrer and Soria-Comas 2020; Castell 2022).

The D = prod r_m combinations of categories are the categories of one attribute, released with the whole
budget: report = truth with probability lambda(e, D) and else any of the D. Its inverse is the closed form
of one axis of length D, so that what limits it is neither time nor storage but noise: lambda falls as 1/D,
and the summed squared error is (1 - (1 - lambda^2) / D) / lambda^2 - 1 over n. As for a cluster (DESIGN
2.9), a change of one attribute alone costs the whole budget.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, uniform
from budget_opt.estimators.releases.counting import Counts
from budget_opt.mechanisms.sampler import sampler_for

LARGEST_DOMAIN = 10**7
"""Cells of a domain that is randomized as one: a count and a share of each are kept, 16 bytes a cell."""


def channel_of_domain(
    cardinalities: Sequence[int], total_epsilon: float, *, largest: int = LARGEST_DOMAIN
) -> Channel:
    """The channel of the domain of these attributes, released as one at `total_epsilon` (nats, > 0).

    Raises `InputError` where the domain has more than `largest` cells, or where the budget is too small for a
    report to depend on the record.
    """
    cells = math.prod(cardinalities)
    if cells > largest:
        raise InputError(
            f"domain: {' x '.join(map(str, cardinalities))} = {cells} cells ({16 * cells} bytes), at most "
            f"{largest} are randomized as one. Take fewer attributes, or randomize each by itself."
        )
    sampler = sampler_for(total_epsilon, cells)
    if sampler is None:
        raise InputError(
            f"total_epsilon: is {total_epsilon!r}, too small for a report over {cells} cells to depend on "
            "the record. Give a larger one, or take fewer attributes."
        )
    return Channel("record", float(sampler.retention), uniform(cells))


def one_domain(counts: Counts, channel: Channel) -> FloatArray:
    """The unbiased shares of the records' cells, from counts of reports over the whole domain.

    `counts` has an axis an attribute, its cells in the order of the domain (the last attribute counts
    fastest), as `channel_of_domain` numbers them. Raises `InputError` for a channel of another size.
    """
    shares = counts.shares
    if channel.cardinality != shares.size:
        raise InputError(
            f"domain: the channel has {channel.cardinality} cells, the counts have {shares.size}. Take the "
            "channel of the attributes that were counted."
        )
    return channel.corrected(np.ravel(shares)).reshape(shares.shape)
