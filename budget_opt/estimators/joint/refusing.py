"""Which tables are refused before and after they are estimated, and why, beside their expected AVD.

An expected AVD alone cannot tell noise: of two distributions it is at most 1, however noisy the one is, and
half of that for shares that add up to nothing. So a table is refused as well

- where one of its attributes alone would be (`require_marginals`): then neither dependence nor independence
  says anything about its cells;
- by a method that cuts the unbiased table, where the standard error of a cell of that is above 1, the largest
  share (`require_cells`): the cells that are left are then those of the luckiest noise;
- where its shares add up to less than a half, or more than one and a half (`require_sum`).

`noise_limit` multiplies each of these limits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.noise_limit import require_noise_limit, require_signal
from budget_opt.estimators.joint.blend import squared_noise
from budget_opt.estimators.joint.mean_errors import expected_avds
from budget_opt.estimators.joint.methods import Method
from budget_opt.estimators.joint.own_error import REPLICATES, require_useful
from budget_opt.estimators.releases.counting import Counts
from budget_opt.tables.printing import at_most

LARGEST_WORK = 2 * 10**9
"""Bytes that a method may take for all its copies of a table."""
LARGEST_GAP = 0.5
"""How far the sum of shares may be from 1, at noise_limit 1."""


def require_room(method: Method, channels: Sequence[Channel]) -> None:
    """`InputError` where the method's copies of the table would take more than `LARGEST_WORK` bytes."""
    sizes = sorted((channel.cardinality for channel in channels), reverse=True)
    cells = math.prod(sizes)
    size = 8 * max(method.copies * cells, method.pair_copies * math.prod(sizes[:2]))
    if size > LARGEST_WORK:
        raise InputError(
            f"the table of {' x '.join(channel.name for channel in channels)}: has {cells:,} cells, and "
            f"method={method.name!r} takes {size:,} bytes for its copies; at most {LARGEST_WORK:,} bytes are "
            "allowed. Ask for fewer attributes at a time: no release of ordinary size tells anything about "
            "so many cells."
        )


def require_marginals(
    counts: Counts, channels: Sequence[Channel], target: Target, noise_limit: float
) -> None:
    """`NoiseError` where the unbiased table of one of several attributes alone would be refused."""
    if len(channels) == 1:
        return
    for channel in channels:
        alone = counts.marginal(channel.name)
        rng = np.random.default_rng(0)  # the table's own draws stay what they are
        expected = float(np.mean(expected_avds(alone, [channel], target, REPLICATES, rng)))
        title = f"the table of {' x '.join(counts.attributes)}: the shares of {channel.name} alone"
        way_out = "No table with this attribute tells anything. "
        require_useful(title, expected, noise_limit, way_out, channel.cardinality)


def require_cells(method: Method, counts: Counts, channels: Sequence[Channel], noise_limit: float) -> None:
    """`NoiseError` for a method that cuts the unbiased table where the cells of that are noise.

    Their standard errors are the root of their mean square, given the data.
    """
    if method.cuts_unbiased:
        error = math.sqrt(squared_noise(counts, channels).mean / counts.rows.size)
        table = " x ".join(counts.attributes)
        require_signal(
            f"a cell of the unbiased table of {table}, which {method.name!r} cuts", error, 1.0, noise_limit
        )


def require_sum(title: str, shares: FloatArray, noise_limit: float) -> None:
    """`NoiseError` where the shares add up to something else than 1 by more than `LARGEST_GAP`."""
    gap = abs(1 - float(shares.sum()))
    limit = require_noise_limit(noise_limit) * LARGEST_GAP
    if gap <= limit:
        return
    raise NoiseError(
        f"{title}: its shares add up to {shares.sum():.3g}, further than {limit:.3g} from 1: the table would "
        'be noise. Take another method, such as method="default", estimate it from more rows, ask for fewer '
        f"or coarser attributes, or pass noise_limit={at_most(gap / LARGEST_GAP, 3)} or more to see it all "
        "the same.",
        what=title,
        standard_error=gap,
        limit=limit,
    )
