"""epsilon as a function of z = lambda, for bounds that work in z (Ruiz 2026, eq. 3; GLOBAL_SOLVER_PROOFS).

With a = r - 1 and p(z) = (1 + a z)(1 - z):  e = log((1 + a z) / (1 - z)),  e' = r / p,  e'' = -r p' / p^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from budget_opt.mechanisms.randomized_response import Real


def slope_product(z: Real, cardinality: Real) -> tuple[Any, Any]:
    """p and its derivative p' = a - 1 - 2 a z, at z in [0, 1)."""
    kept, a = np.asarray(z), np.asarray(cardinality) - 1.0
    return (1.0 + a * kept) * (1.0 - kept), a - 1.0 - 2.0 * a * kept


def upper_point(product: Real, cardinality: Real) -> Any:
    """The larger z with p(z) = product; where p stays below, the z at which p is largest."""
    r = np.asarray(cardinality)
    a = r - 1.0
    root = np.sqrt(np.maximum(r**2 - 4.0 * a * np.asarray(product), 0.0))
    # of the quadratic a z^2 - (a - 1) z + product - 1 = 0
    return ((a - 1.0) + root) / (2.0 * a)
