"""The integers of the best matrix for a known source: that of the fewest changed cells at an epsilon.

A limit of changed cells is turned into the least epsilon that keeps it, with a hair to spare for whole counts
of words; from there on epsilon alone decides. What is drawn keeps its epsilon in exact arithmetic whatever
the source is, and whatever found the matrix.
"""

from __future__ import annotations

from decimal import ROUND_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming import MatrixSampler, Source, least_distortion, least_epsilon, sampler_of
from budget_opt.mechanisms.hamming.optimum import LARGEST_EPSILON

_SPARE = Fraction(1, 10**9)
"""By what a distortion is aimed lower, relatively."""
_DIGITS = 12
_LEAST_BITS, _MOST_BITS = 64, 128


@lru_cache(maxsize=256)
def source_sampler(source: Source, epsilon: float, distortion: float | None = None) -> MatrixSampler | None:
    """The sampler of the fewest changed cells at `epsilon` (nats, 0..700), None for 0.

    64 bits wide, and 128 where that changes more than the share `distortion`. Raises `InputError` for an
    epsilon outside its range, and where no width draws the matrix.
    """
    if epsilon == 0:
        return None
    matrix = least_distortion(source, epsilon).matrix
    sampler = sampler_of(matrix, epsilon, least_bits=_LEAST_BITS)
    if distortion is not None and sampler.matrix.distortion(source) > exact(distortion):
        return sampler_of(matrix, epsilon, least_bits=_MOST_BITS)
    return sampler


@lru_cache(maxsize=256)
def epsilon_within(source: Source, distortion: float) -> float:
    """The least epsilon (nats, 12 digits, rounded up) whose `source_sampler` keeps the share `distortion`.

    0 where one report for everybody keeps it. Raises `InputError` where no finite epsilon does, or where
    128-bit words do not reach it.
    """
    if least_epsilon(source, exact(distortion)).epsilon == 0:
        return 0.0
    needed = least_epsilon(source, exact(distortion) * (1 - _SPARE)).epsilon
    epsilon = float(Context(prec=_DIGITS, rounding=ROUND_UP).create_decimal(Decimal(repr(needed))))
    sampler = source_sampler(source, epsilon, distortion) if epsilon <= LARGEST_EPSILON else None
    if sampler is None or sampler.matrix.distortion(source) > exact(distortion):
        raise InputError(
            f"distortion: is {distortion!r}, which {_MOST_BITS}-bit words cannot keep. Allow a larger share"
        )
    return epsilon
