"""What an estimator knows of one attribute of a moment: its matrix, its scores, and the noise they imply.

Letters (DESIGN 2.1-2.3): f scores, q background, lambda retention, W = f(y) of the released cell,
Z = f(x) of the original one, s = E_q (f - E_q f)^2.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray, channel_of
from budget_opt.estimators.releases.naming import hint, shown

if TYPE_CHECKING:
    from budget_opt.allocation import AllocatedAttribute, Allocation

_FAR = 1000  # so many times their range scores may be away from 0 before their digits are looked after
_NAMED = 10
_EXPONENTS = 1022  # doubles between 2^-1022 and 2^1022 have all their digits


@dataclass(frozen=True)
class Design(Channel):
    """A channel with `scores` f of its categories, shape (r,), counted from an `origin`.

    A mean of what was stated is the `origin` more than that of the scores; every centred number is the same.
    Raises `InputError` where the shapes disagree or a score is not finite.
    """

    scores: FloatArray
    origin: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.scores.shape != self.background.shape:
            raise InputError(
                f"attribute {self.name!r}: {self.scores.size} scores are given, the domain has "
                f"{self.background.size} categories. Give one score a category, in the domain's order."
            )
        if not np.all(np.isfinite(self.scores)):
            raise InputError(f"attribute {self.name!r}: every score must be a finite number.")

    @property
    def background_mean(self) -> float:
        """E_q f, the mean score of a cell that is pure noise."""
        return float(self.background @ self.scores)

    @property
    def noise(self) -> FloatArray:
        """An unbiased estimate of Var(W | x) from the released category alone, shape (r,), >= 0.

        (1 - lambda)((f(y) - E_q f)^2 + lambda s): its mean given x is
        (1 - lambda)(lambda (f(x) - E_q f)^2 + s), which is Var(W | x) (DESIGN 2.2 with x fixed).
        """
        centred = self.scores - self.background_mean
        spread = float(self.background @ centred**2)
        noise: FloatArray = (1 - self.retention) * (centred**2 + self.retention * spread)
        return noise


def designs_of(
    allocation: Allocation,
    attributes: Sequence[str],
    scores: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Design, ...]:
    """The designs of the attributes of one moment, in that order.

    As `designs_each`; raises `InputError` too for scores that pass `require_products_in_range`.
    """
    designs = designs_each(allocation, attributes, scores)
    require_products_in_range(designs)
    return designs


def designs_each(
    allocation: Allocation,
    attributes: Sequence[str],
    scores: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Design, ...]:
    """The designs of the named attributes, in that order.

    `scores` replaces the declared scores of some of them, one number a category. Raises `InputError` for
    no attribute, an unknown or repeated one, one of which nothing was released, one without scores, and
    scores that are no finite numbers.
    """
    given = scores_by_name(scores)
    known = {attribute.name: attribute for attribute in allocation.attributes}
    if not attributes:
        raise InputError("moment: no attribute is named, at least one is needed. Name one or more.")
    for name in attributes:
        if name not in known:
            raise InputError(
                f"moment: {shown(name)} is not an attribute of the allocation. {hint(name, known)}"
            )
        if list(attributes).count(name) > 1:
            raise InputError(
                f"moment: {name!r} is named twice; the product rule of retentions holds for distinct "
                "attributes only. Name each once."
            )
    for name in given:
        if name not in attributes:
            raise InputError(
                f"scores: {shown(name)} is not an attribute of the moment. {hint(name, attributes)}"
            )
    return tuple(_design(known[name], given.get(name)) for name in attributes)


def scored_attributes(
    allocation: Allocation, scores: Mapping[str, Sequence[float]] | None = None
) -> tuple[str, ...]:
    """The names of the released attributes that have scores, declared or in `scores`, and a retention."""
    given = scores_by_name(scores)
    return tuple(
        one.name
        for one in allocation.attributes
        if one.is_correctable and (one.name in given or one.score_values is not None)
    )


def scores_by_name(scores: Mapping[str, Sequence[float]] | None) -> dict[str, Sequence[float]]:
    """The scores that were given, by attribute; `InputError` for anything but a mapping or None."""
    if scores is None:
        return {}
    if not isinstance(scores, Mapping):
        raise InputError(
            f"scores: is a {type(scores).__name__}, must map names to scores, "
            'like {"income": [0, 1, 2]}, one number a category.'
        )
    return dict(scores)


def require_products_in_range(designs: Sequence[Design]) -> None:
    """`InputError` where sums of products of the scores may leave the range of doubles.

    With s the largest score of an attribute by size, k the order and n < 2^63 rows, a row's centred score
    is at most 2 s, its noise at most 5 s^2, and every sum of `moments._variances` at most
    n 4 (1 + k)^2 times a product of some of the 8 s^2. Attributes whose scores are all 0 take no part.
    """
    sizes = {one.name: float(np.abs(one.scores).max()) for one in designs}
    room = _EXPONENTS - 63 - 2 - 2 * math.log2(1 + len(designs))
    squares = [3 + 2 * math.log2(size) for size in sizes.values() if size > 0]
    large, small = sum(x for x in squares if x > 0), -sum(x for x in squares if x < 0)
    if max(large, small) > room:
        told = ", ".join(
            f"attribute {name!r} up to {size:.3g}" for name, size in list(sizes.items())[:_NAMED]
        )
        told += f" and {len(sizes) - _NAMED} more" if len(sizes) > _NAMED else ""
        passed = "the largest double, 1.8e+308" if large > room else "the least double, 2.2e-308"
        raise InputError(
            f"scores: {told}: their products, squared and summed over the rows, may pass {passed}. "
            "Multiply the scores of an attribute by a constant: the moment and its error are multiplied "
            "by the same."
        )


def _design(attribute: AllocatedAttribute, given: Sequence[float] | None) -> Design:
    name, channel = attribute.name, channel_of(attribute)
    scores = attribute.score_values if given is None else given
    if scores is None:
        raise InputError(
            f"attribute {name!r}: its categories have no order and no scores, so a moment is not defined. "
            f'Give scores={{"{name}": [one number a category]}}, or state `scores` or `ordered: true` in the '
            "problem; of categories as they are, Cramer's V says how strong a link is."
        )
    f, origin = from_origin(numbers_of(name, scores))
    return Design(name, channel.retention, channel.background, f, origin, cluster=channel.cluster)


def from_origin(f: FloatArray) -> tuple[FloatArray, float]:
    """The scores from an origin among them, and that origin; as they are where they do not lie far from 0.

    Squares of scores such as times in microseconds would lose the digits that tell them apart. Differences
    of doubles so near to each other are exact (Sterbenz), and so is their sum with the origin.
    """
    if f.size == 0 or not np.all(np.isfinite(f)):
        return f, 0.0
    low, high = float(f.min()), float(f.max())
    if low * high <= 0 or (high - low) * _FAR > max(abs(low), abs(high)):
        return f, 0.0
    return f - low, low


def numbers_of(name: str, scores: object) -> FloatArray:
    """The scores as doubles; `InputError` for anything but real numbers in an order."""
    unordered = isinstance(scores, str | bytes | Mapping | AbstractSet)
    unordered = unordered or (isinstance(scores, np.ndarray) and scores.ndim != 1)
    if unordered or not isinstance(scores, Collection):
        raise InputError(
            f"attribute {name!r}: the scores are {shown(scores)}, must be a list of numbers, one a "
            "category, in the domain's order."
        )
    return np.array([_double(name, score) for score in scores], dtype=np.float64)


def _double(name: str, score: object) -> float:
    if isinstance(score, bool) or not isinstance(score, Real | Decimal):
        raise InputError(
            f"attribute {name!r}: the score {shown(score)} is not a number. Give one number a category."
        )
    try:
        return float(score)
    except (OverflowError, ValueError):  # beyond the largest double, or a signalling NaN
        return math.nan
