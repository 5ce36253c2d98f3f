"""How a background spreads a score, from which the variance inflation follows (DESIGN 2.3).

Letters: p the shares of the categories, q the background, f a score centred at its mean under q,
a = E_p f^2 / Var_p f, b = s / Var_p f with s = E_q f^2.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def spread_under_uniform(share: FloatArray, scores: Sequence[float] | None) -> tuple[float, float]:
    """(a, b) of the uniform background; `share` (r,) is p with sum 1.

    Without scores the sums over all category indicators take the place of E f^2, s and Var f.
    """
    r, top = share.size, int(np.argmax(share))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if scores is None:
            # 1 - sum of squares, from what the most common category leaves: nothing cancels
            others = np.delete(share, top)
            rest = others.sum()
            ratio = float((1.0 - 1.0 / r) / (rest * (2.0 - rest) - others @ others))
            return ratio, ratio
        f = np.asarray(scores)
        g = f - f[top]  # seen from the most common category the variance does not cancel
        f = f - f.mean()
        variance = share @ g**2 - (share @ g) ** 2
        return float(share @ f**2 / variance), float(np.mean(f**2) / variance)


def spread_under(
    background: FloatArray, share: FloatArray, scores: Sequence[float] | None
) -> tuple[float, float]:
    """(a, b) of any background q (r,); `share` (r,) is p, both with sum 1.

    Without scores the sums over all category indicators take the place of E f^2, s and Var f:
    sum_v p_v (1 - q_v)^2 + (1 - p_v) q_v^2,  sum_v q_v (1 - q_v)  and  sum_v p_v (1 - p_v).
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        if scores is None:
            lost, missed = _complement(background), _complement(share)
            variance = share @ missed
            about = share @ lost**2 + missed @ background**2
            return float(about / variance), float(background @ lost / variance)
        f = np.asarray(scores)
        g = f - f[int(np.argmax(share))]
        variance = share @ g**2 - (share @ g) ** 2
        f = f - background @ f
        return float(share @ f**2 / variance), float(background @ f**2 / variance)


def _complement(share: FloatArray) -> FloatArray:
    """1 - share, with all digits where one category has nearly everything."""
    complement, top = 1.0 - share, int(np.argmax(share))
    complement[top] = np.delete(share, top).sum()
    return complement
