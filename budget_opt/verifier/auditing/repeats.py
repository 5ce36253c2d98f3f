"""Does a second call draw noise of its own, and do global seeds move it?

Three calls with equal records: the same twice, and then another record, of which every value differs. The
cells that keep the truth in one call are compared, row by row, with those that do in another: a stream that
begins anew, or a seed for every call, makes them fall together.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.verifier.auditing.dependence import together
from budget_opt.verifier.auditing.rows import Codes, Rows

RECORDS = 400
FloatArray = npt.NDArray[np.float64]
Draw = Callable[[Codes], Rows]


def equal_records(rng: np.random.Generator, cardinalities: tuple[int, ...], n: int) -> tuple[Codes, Codes]:
    """n times one record, and n times another that differs in every value."""
    r = np.array(cardinalities, dtype=np.int32)
    one = rng.integers(0, r, dtype=np.int32)
    other = (one + rng.integers(1, r, dtype=np.int32)) % r
    return np.repeat(one[:, None], n, axis=1), np.repeat(other[:, None].astype(np.int32), n, axis=1)


def repeated_noise(draw: Draw, one: Codes, other: Codes) -> tuple[FloatArray, FloatArray]:
    """log of the tail, by attribute: for the same records twice, and for other records."""
    first, second, third = (draw(truths).kept[:-1] for truths in (one, one, other))
    return _fall_together(first, second), _fall_together(first, third)


def seeded_noise(draw: Draw, one: Codes) -> FloatArray:
    """log of the tail, by attribute, for two calls from the same state of the global generators.

    That is what `random.seed` and `numpy.random.seed` with one seed before each call make. The states are
    put back as they were.
    """
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - what is tested is this global state
    try:
        first = draw(one).kept[:-1]
        _put_back(*states)
        return _fall_together(first, draw(one).kept[:-1])
    finally:
        _put_back(*states)


def _put_back(of_python: Any, of_numpy: Any) -> None:
    random.setstate(of_python)
    np.random.set_state(of_numpy)  # noqa: NPY002 - as above


def _fall_together(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> FloatArray:
    n = first.shape[1]
    both = np.count_nonzero(first & second, axis=1)
    tails: FloatArray = together(both, first.sum(axis=1), second.sum(axis=1), n)
    return tails
