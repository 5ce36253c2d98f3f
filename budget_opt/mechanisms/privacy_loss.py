"""What (epsilon, delta) counts of a loss: the only home of 1 - exp(-x) for losses (Dwork and Roth 2014, 3.5).

delta(epsilon) = E (1 - exp(epsilon - loss))+; x is how far a loss lies beyond epsilon, in nats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def excess(beyond: npt.ArrayLike) -> Any:
    """1 - exp(-x) for x >= 0 nats, all digits at small x too; x of any shape."""
    return -np.expm1(-np.asarray(beyond, dtype=np.float64))


def log_excess(beyond: npt.ArrayLike) -> Any:
    """log(1 - exp(-x)) for x > 0."""
    return np.log(excess(beyond))
