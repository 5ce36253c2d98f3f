"""Integer noise with P(N = k) proportional to exp(-rate |k|), drawn exactly.

Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020, algorithms 1 and
2. The rate is a fraction and every step compares integers, so that no rounding of a double stands between
the law and what is drawn: Laplace noise in doubles leaks through its last bits (Mironov 2012).

Whole numbers that are shifted by at most D in sum of absolute differences, when one record is replaced,
are rate x D-differentially private with this noise on each: the ratio of any two probabilities of the same
output is at most exp(rate (|y - c'| - |y - c|)) <= exp(rate |c - c'|), number by number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

Below = Callable[[int], int]
"""A whole number from 0 to n - 1, each with the same probability, new at every call."""


def discrete_laplace(rate: Fraction, below: Below) -> int:
    """One draw with P(k) = tanh(rate / 2) exp(-rate |k|); `rate` > 0.

    A geometric number of scale 1 / numerator is put together from its remainder and its whole part
    below and above the denominator; a sign is drawn, and minus zero is drawn again.
    """
    whole = rate.denominator
    while True:
        remainder = below(whole)
        if not _with_exp_probability(remainder, whole, below):
            continue
        times = 0
        while _with_exp_probability(1, 1, below):
            times += 1
        size = (remainder + whole * times) // rate.numerator
        negative = below(2) == 1
        if not (negative and size == 0):
            return -size if negative else size


def noise_variance(rate: Fraction) -> float:
    """The variance 2 exp(-rate) / (1 - exp(-rate))^2 of one draw; 0 where it is below every double."""
    half = float(rate) / 2
    return 0.5 / math.sinh(half) ** 2 if half < 350 else 0.0


def _with_exp_probability(top: int, bottom: int, below: Below) -> bool:
    """True with probability exp(-top / bottom), 0 <= top <= bottom: a run of rarer draws has odd length."""
    length = 1
    while below(bottom * length) < top:
        length += 1
    return length % 2 == 1
