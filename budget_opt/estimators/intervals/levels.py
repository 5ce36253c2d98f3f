"""The level of an interval, checked and turned into standard errors."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError
from budget_opt.model.arguments import require_number


def require_level(level: object) -> float:
    """The level as a double; `InputError` for anything but a number above 0 and below 1."""
    number = require_number(level, "level")
    if not 0 < number < 1:
        raise InputError(f"level: is {level!r}, must be above 0 and below 1, for instance 0.95.")
    return number


def reach_of_normal(level: object) -> float:
    """The reach of a two-sided normal interval in standard errors; `InputError` as `require_level`."""
    # not of 0.5 + level / 2, which is 1 for the levels nearest to 1
    return -NormalDist().inv_cdf(0.5 - require_level(level) / 2)


def reach_of_student(level: object, degrees: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The same of Student's t with so many degrees of freedom, of any shape; infinite ones are the normal."""
    from scipy.special import stdtrit

    normal = reach_of_normal(level)
    given = np.asarray(degrees, dtype=np.float64)
    finite = np.isfinite(given)
    reached = -stdtrit(np.where(finite, given, 1.0), 0.5 - require_level(level) / 2)
    reach: npt.NDArray[np.float64] = np.where(finite, reached, normal)
    return reach
