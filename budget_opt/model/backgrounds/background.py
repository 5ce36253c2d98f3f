"""Backgrounds: the distribution that a replaced cell is drawn from, in exact shares (DESIGN 2.1).

What a file states are decimals, and they count as they stand: the shares of a background are whole weights
with a common factor, so that the price 1 / min q and the integers of the sampler follow from them exactly.
Nothing here needs more than numpy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from budget_opt.mechanisms.exact import exact
from budget_opt.model.values import UnfitError, items_of, real

FloatArray = npt.NDArray[np.float64]
SMALLEST_SHARE = Fraction(1, 10**12)
"""Of a background: where a category is rarer, it makes every budget worthless."""
SUM_ERROR = Fraction(1, 10**6)
"""How far from 1 shares of a file may sum; they are divided by their sum."""

Weights = tuple[int, ...]
"""Shares times a common factor: positive integers, or integers >= 0 with a positive sum."""


@dataclass(frozen=True)
class Mixture:
    """q = w marginal + (1 - w) uniform, w = `mixture` from 0 to 1: `{"mixture": 0.9}` in files."""

    mixture: float


Named = Literal["uniform", "marginal"]
_NAMED: tuple[Named, ...] = ("uniform", "marginal")
Background = Named | tuple[float, ...] | Mixture


def background(value: object) -> Background:
    """What a file may state as a background, apart from what the rest of the attribute says."""
    limit = 'must be "uniform", "marginal", a list of probabilities, or {"mixture": share of the marginal}'
    remedy = 'Give "marginal" for the shares that the attribute states, or remove the field (uniform then)'
    if isinstance(value, Mixture):
        value = {"mixture": value.mixture}  # Python lets anything stand there
    if isinstance(value, str):
        for named in _NAMED:
            if value == named:
                return named
        raise UnfitError(limit, remedy)
    if isinstance(value, Mapping):
        if set(value) != {"mixture"}:
            raise UnfitError(limit, remedy)
        return Mixture(_share(value["mixture"], "mixture, the marginal's share, must be", "Give 0.9, say"))
    of_list = "must have probabilities", "Give one share a category"
    return tuple(_share(one, *of_list) for one in items_of(value, limit, remedy))


def _share(value: Any, said: str, remedy: str) -> float:
    number = real(value, "a number", remedy)
    if not 0 <= number <= 1:
        raise UnfitError(f"{said} from 0 to 1", remedy)
    return number


def to_json(stated: Background) -> Any:
    """The background as it stands in a file."""
    if isinstance(stated, Mixture):
        return {"mixture": stated.mixture}
    return stated if isinstance(stated, str) else list(stated)


def background_weights(
    stated: Background, marginal: Sequence[float] | None, cardinality: int
) -> Weights | None:
    """The weights of a background of `cardinality` categories, all positive; None for the uniform one.

    `marginal` are sound shares, one a category, or None. Raises `UnfitError` where there is no such
    background.
    """
    if stated == "uniform":
        return None
    if not isinstance(stated, tuple):
        if marginal is None:
            raise UnfitError(
                "needs the marginal of the attribute",
                'Add its public shares as "marginal", or give the probabilities here as a list',
            )
        weights = decimal_weights(marginal)
        if isinstance(stated, Mixture):
            weights = _mixed(weights, exact(stated.mixture))
    else:
        require_shares(stated, cardinality)
        weights = decimal_weights(stated)
    _require_replacing(weights)
    return weights


def decimal_weights(shares: Sequence[float]) -> Weights:
    """The decimals of these shares as whole weights without a common factor; their sum is positive."""
    decimals = [Decimal(repr(share)) for share in shares]
    places = max(0, *(-int(decimal.as_tuple().exponent) for decimal in decimals))
    return _reduced([int(exact(share) * 10**places) for share in shares])


def background_shares(weights: Weights) -> FloatArray:
    """The shares of these weights as doubles, (r,)."""
    whole = sum(weights)
    return np.array([weight / whole for weight in weights])


def _mixed(weights: Weights, share: Fraction) -> Weights:
    """share times these weights, and 1 - share of the uniform background."""
    kept, even = share.numerator, share.denominator - share.numerator
    whole, r = sum(weights), len(weights)
    return _reduced([kept * r * weight + even * whole for weight in weights])


def _reduced(weights: Sequence[int]) -> Weights:
    factor = math.gcd(*weights) or 1
    return tuple(weight // factor for weight in weights)


def require_shares(shares: Sequence[float], cardinality: int) -> None:
    """Raise `UnfitError` unless these are one share a category with sum 1, but for rounding."""
    if len(shares) != cardinality:
        raise UnfitError(
            f"must be {cardinality} shares", "Give one share a category (the missing category last)"
        )
    total = sum(map(exact, shares), Fraction(0))
    if abs(total - 1) > SUM_ERROR:
        raise UnfitError("must sum to 1", f"It sums to {float(total):.9g}")


def _require_replacing(weights: Weights) -> None:
    """A category that is never drawn would be reported for its own members alone: it would tell them."""
    least = min(weights)
    if least < SMALLEST_SHARE * sum(weights):
        code = weights.index(least)
        raise UnfitError(
            f"must give every category a share of at least {float(SMALLEST_SHARE):g}, and gives "
            f"{_said_below(Fraction(least, sum(weights)), SMALLEST_SHARE)} to category number {code + 1}",
            'Mix the uniform background in, for instance {"mixture": 0.9} (nine parts of the marginal), or '
            "merge rare categories",
        )


def _said_below(share: Fraction, limit: Fraction) -> str:
    """A share with enough digits that they do not round it up to the limit that it misses."""
    for digits in (6, 12, 17):
        text = f"{float(share):.{digits}g}"
        if exact(float(text)) < limit:
            return text
    return "a little less"
