"""No noise is returned in silence: what is refused because of its error, and where the line is drawn."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from budget_opt.errors import InputError, NoiseError
from budget_opt.tables.printing import at_most


def require_signal(what: str, standard_error: float, largest: float, noise_limit: float = 1.0) -> None:
    """Raise `NoiseError` where an error is above `noise_limit` times the largest value there can be.

    `largest` > 0 is the largest size that `what` can have at all, in the unit of `standard_error` (1 for a
    share or a correlation, log r for an entropy): beyond it the estimate says less than a guess.
    `noise_limit` > 0 may be `math.inf`, which lets every finite error pass; an error that is infinite or no
    number is refused always. Raises `InputError` for another limit.
    """
    times = require_noise_limit(noise_limit)
    limit = times * largest if math.isfinite(times) else math.inf
    if math.isfinite(standard_error) and standard_error <= limit:
        return
    if math.isfinite(standard_error):
        enough = f"{at_most(standard_error / largest, 3)} or more" if largest > 0 else "math.inf"
        way_out = (
            "Estimate it from more rows, give its attributes a larger epsilon in the next release, ask for "
            f"less (fewer attributes, coarser categories), or pass noise_limit={enough} to see it all the "
            "same."
        )
    else:
        way_out = "Estimate it from more rows, or give its attributes a larger epsilon in the next release."
    raise NoiseError(
        f"{what}: the standard error is {standard_error:.3g}, the limit {limit:.3g}, and no value that there "
        f"can be is further than {largest:.3g} from 0 (a mean: from the middle of its range): the estimate "
        f"would be noise. {way_out}",
        what=what,
        standard_error=standard_error,
        limit=limit,
    )


def require_noise_limit(noise_limit: Any) -> float:
    """The limit as a number above 0, which may be infinite; raises `InputError` for anything else."""
    is_number = isinstance(noise_limit, Real) and not isinstance(noise_limit, bool)
    if not is_number or not noise_limit > 0:
        raise InputError(
            f"noise_limit: is {noise_limit!r}, must be a number above 0: how many times the largest possible "
            "value an error may be. math.inf refuses none."
        )
    try:
        return float(noise_limit)
    except OverflowError:
        raise InputError(
            "noise_limit: is beyond 1.8e308, must be a smaller number above 0. math.inf refuses no error."
        ) from None
