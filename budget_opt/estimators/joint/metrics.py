"""How far an estimated joint table is from the true one.

Letters: P the true shares, Q the estimated ones, D the number of cells. Castell's text defines the mean
absolute error, MAE = 1/D sum |P - Q|, and takes the average variation distance, AVD, from Ren et al. (2018,
LoPub): half of sum |P - Q| of one set of attributes, averaged over the sets that were drawn (its displayed
formula is missing in our copy). For distributions AVD lies in 0 .. 1 and is the largest error in the share
of any set of cells; MAE is 2 AVD / D, so that it falls with D for any estimate and an estimate of all zeros
has 1 / D.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError


def mean_absolute_error(truth: npt.ArrayLike, estimate: npt.ArrayLike) -> float:
    """MAE, the mean over the cells of |truth - estimate|, >= 0 (Castell 2022, section IV).

    Raises `InputError` for tables of different shapes, or without cells.
    """
    return float(np.mean(_distances(truth, estimate)))


def variation_distance(truth: npt.ArrayLike, estimate: npt.ArrayLike) -> float:
    """AVD of one set of attributes, 1/2 sum |truth - estimate|, >= 0, and at most 1 between distributions.

    Raises `InputError` for tables of different shapes, or without cells.
    """
    return float(np.sum(_distances(truth, estimate)) / 2)


def average_variation_distance(tables: Iterable[tuple[npt.ArrayLike, npt.ArrayLike]]) -> float:
    """The paper's AVD: the mean of `variation_distance` over pairs (truth, estimate), one a set.

    Raises `InputError` where there is no pair, and for a pair of different shapes.
    """
    distances = [variation_distance(truth, estimate) for truth, estimate in tables]
    if not distances:
        raise InputError("tables: none are given. Give a pair (truth, estimate) a set of attributes.")
    return float(np.mean(distances))


def _distances(truth: npt.ArrayLike, estimate: npt.ArrayLike) -> npt.NDArray[np.float64]:
    true, estimated = np.asarray(truth, dtype=np.float64), np.asarray(estimate, dtype=np.float64)
    if true.shape != estimated.shape or not true.size:
        raise InputError(
            f"tables: the truth has the shape {true.shape}, the estimate {estimated.shape}; both must be the "
            "same, with at least one cell. Estimate the table of the same attributes in the same order."
        )
    return np.abs(true - estimated)
