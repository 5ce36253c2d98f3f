"""Entries of a matrix whose error is so large that they would be noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.intervals.noise_limit import require_noise_limit, require_signal

_NAMED = 5


def withheld(
    errors: FloatArray,
    largest: FloatArray,
    names: tuple[str, ...],
    noise_limit: float,
    what: str,
    *,
    diagonal: bool,
) -> tuple[npt.NDArray[np.bool_], tuple[str, ...]]:
    """Where an error is above `noise_limit` times the largest value there can be, and what to say of it.

    NaN are errors that are not defined for another reason. Raises `NoiseError` where every pair is withheld.
    """
    limit = require_noise_limit(noise_limit)
    relative = np.divide(errors, largest, out=np.zeros_like(errors), where=largest > 0)
    hidden = relative > limit
    places = np.triu_indices(len(names), 0 if diagonal else 1)
    off_diagonal = np.triu_indices(len(names), 1)
    known = relative[off_diagonal][np.isfinite(relative[off_diagonal])]
    if known.size and np.all(known > limit):
        place = int(np.nanargmin(relative[off_diagonal]))
        a, b = off_diagonal[0][place], off_diagonal[1][place]
        require_signal(
            f"{what} of {names[a]} x {names[b]}, the most certain of {known.size}",
            float(errors[a, b]),
            float(largest[a, b]),
            noise_limit,
        )
    told = [
        names[a] if a == b else f"{names[a]} x {names[b]}"
        for a, b in zip(*places, strict=True)
        if hidden[a, b]
    ]
    if not told:
        return hidden, ()
    note = (
        f"withheld, since the error is above {limit:g} times the largest value there can be: "
        f"{listed(told)}. A larger noise limit shows them"
    )
    return hidden, (note,)


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"
