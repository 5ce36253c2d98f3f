"""Where a statistic is refused because its bias would be noise, or its rows are too few for its cells.

The bound of the bias (`divergence`) holds for cells whose errors are nearly normal. Where most cells hold a
report or none, it does not: measured on 30 x 30 cells with 1,000 rows at a retention of 0.8, mutual
information came out at twice the truth, ten of its errors away.
"""

from __future__ import annotations

import numpy as np

from budget_opt.errors import NoiseError
from budget_opt.estimators.intervals.noise_limit import require_noise_limit, require_signal
from budget_opt.estimators.statistics.corrected import CorrectedTable
from budget_opt.estimators.statistics.smoothing import near_zero

ROWS_A_CELL = 4.0
"""Rows that there must be for every cell within 4 standard errors of 0."""


def require_informed(
    what: str, table: CorrectedTable, error: float, bias: float, largest: float, noise_limit: float
) -> None:
    """Raise `NoiseError` where an error, or the error with a bias, is above `noise_limit` times `largest`.

    And where there are fewer than 4 / `noise_limit` rows (with survey weights Kish's effective ones) for
    every cell near 0. Raises `InputError` for another limit.
    """
    times = require_noise_limit(noise_limit)
    require_signal(what, error, largest, noise_limit)
    way_out = (
        "Merge categories, or estimate it from more rows or from attributes with a larger epsilon; "
        "noise_limit=math.inf shows it all the same."
    )
    limit = times * largest
    if error + bias > limit:
        raise NoiseError(
            f"{what}: the standard error is {error:.3g} and what cells or categories near 0 may hide is "
            f"{bias:.3g}, together above the limit {limit:.3g}: the estimate would be noise. {way_out}",
            what=what,
            standard_error=error,
            limit=limit,
        )
    near = int(np.count_nonzero(near_zero(table.cells, table.errors)))
    rows = 1 / float(table.squares.sum())
    if near * ROWS_A_CELL > rows * times:
        raise NoiseError(
            f"{what}: {near:,} of {table.cells.size:,} cells are within 4 standard errors of 0, and the "
            f"{rows:,.0f} rows are fewer than the limit, {ROWS_A_CELL / times:g} for each: neither its bias "
            f"nor its error is known. {way_out}",
            what=what,
            standard_error=error,
            limit=limit,
        )
