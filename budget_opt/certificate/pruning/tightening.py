"""Smaller boxes that lose no optimum: by budgets, floors, ceilings, order, first-order conditions.

Everything here keeps at least one optimum of the problem, if the box contains one: an optimum obeys the
constraints
and the first-order conditions, and one of them has interchangeable attributes in decreasing order.
"""

from __future__ import annotations

import numpy as np

from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.pruning.question import Question
from budget_opt.mechanisms import inverse
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import BoolArray, FloatArray

_OUTWARD = 1e-11
"""Relative; far above the rounding of the sums and logarithms here."""
_ROUNDS = 2


def by_constraints(
    question: Question, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Tightened boxes (M, B), and which of them (B,) may still contain a feasible, ordered point."""
    lower, upper = lower.copy(), upper.copy()
    for _ in range(_ROUNDS):
        for twins in question.twins:
            # decreasing order within a class
            upper[twins] = np.minimum.accumulate(upper[twins], axis=0)
            lower[twins] = np.maximum.accumulate(lower[twins][::-1], axis=0)[::-1]
        for row, cap in zip(question.budgets, question.caps, strict=True):
            inside = row > 0
            least = np.sum(lower[inside], axis=0)
            spare = (cap - least) + _OUTWARD * (cap + least)
            upper[inside] = np.minimum(upper[inside], lower[inside] + spare)
        _by_floors(question, lower, upper)
        _by_ceilings(question, lower, upper)
    return lower, upper, np.all(lower <= upper, axis=0)


def _by_floors(question: Question, lower: FloatArray, upper: FloatArray) -> None:
    """All floors at once: each raises lower ends by the upper ones, which none of them moves."""
    if not question.log_floor.size:
        return
    kept_all = rr.log_retention(np.maximum(upper, 0.0), question.r)
    for members, floor in question.floors_by_size:
        r, kept = question.r[members], kept_all[members]
        with np.errstate(invalid="ignore"):
            needed = floor[:, None, None] - (np.sum(kept, axis=1, keepdims=True) - kept)
        needed = np.where(np.isnan(needed), -np.inf, needed)
        needed = needed - _OUTWARD * np.maximum(1.0, np.abs(np.where(np.isfinite(needed), needed, 0.0)))
        least = rr.epsilon_for_log_retention(np.minimum(needed, -1e-15), r) * (1 - _OUTWARD)
        np.maximum.at(lower, members, np.where(needed >= 0, upper[members] + 1.0, least))


def _by_ceilings(question: Question, lower: FloatArray, upper: FloatArray) -> None:
    for inside, top in zip(question.ceilings, question.log_ceiling, strict=True):
        r = question.r[inside]
        kept = rr.log_retention(lower[inside], r)
        with np.errstate(invalid="ignore"):
            allowed = top - (np.sum(kept, axis=0) - kept)
        allowed = np.where(np.isnan(allowed), np.inf, allowed)
        allowed = allowed + _OUTWARD * np.maximum(1.0, np.abs(np.where(np.isfinite(allowed), allowed, 0.0)))
        most = rr.epsilon_for_log_retention(np.minimum(allowed, -1e-15), r) * (1 + _OUTWARD)
        upper[inside] = np.minimum(upper[inside], np.where(allowed >= -1e-15, np.inf, most))


def values_and_pulls(layout: Layout, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The weighted sum (B,) at z (M, B), no term above its ceiling, and its derivatives without (M, B)."""
    value = layout.single @ z
    pull = np.repeat(layout.single[:, None], z.shape[1], axis=1)
    for degree in layout.degrees:
        factors = z[degree.members]
        size = degree.degree
        before, after = [np.ones_like(factors[:, 0])], [np.ones_like(factors[:, 0])]
        for q in range(size - 1):
            before.append(before[-1] * factors[:, q])
            after.append(after[-1] * factors[:, size - 1 - q])
        product = before[-1] * factors[:, -1]
        if degree.ceiling is not None:
            product = np.minimum(product, degree.ceiling[:, None])
        value = value + degree.weight @ product
        others = np.stack([before[q] * after[size - 1 - q] for q in range(size)], axis=1)
        others *= degree.weight[:, None, None]
        pull += degree.to_attributes @ others.reshape(-1, z.shape[1])
    return value, pull


def by_first_order(
    question: Question, lower: FloatArray, upper: FloatArray, pull_low: FloatArray, pull_high: FloatArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Boxes tightened by g_i lambda_i' = price between the bounds, and which may contain an optimum.

    `pull_low`, `pull_high` (M, B) bound g_i on the box. Attributes under floors take no part; a group or a
    ceiling
    only adds to an attribute's price, so its members bound the total's price from above alone.
    """
    r = question.r
    steep_low, steep_high = slope_range(lower, upper, r)
    under_floor = np.any(question.floors > 0, axis=0)[:, None]
    priced = np.any(question.budgets[1:] > 0, axis=0)[:, None]
    for inside in question.ceilings:
        priced[inside] = True
    can_fall = (lower > question.lower) & ~under_floor
    can_rise = (upper < question.highest) & ~under_floor & ~priced
    most = np.min(np.where(can_fall, pull_high * steep_high, np.inf), axis=0) * (1 + _OUTWARD)
    least = np.max(np.where(can_rise, pull_low * steep_low, 0.0), axis=0) * (1 - _OUTWARD)
    # whoever is above its lower bound gains at least the price at the margin
    with np.errstate(over="ignore"):  # infinity is what a pull of next to nothing needs, as one of 0 does
        needed = np.divide(r * least, pull_high, out=np.full_like(pull_high, np.inf), where=pull_high > 0)
    needed = needed * (1 - _OUTWARD)
    peak = r**2 / (4.0 * (r - 1.0))
    told = ~under_floor & (needed > 0)
    idle = told & (needed > peak * (1 + _OUTWARD))
    usable = told & (needed <= peak)
    largest = inverse.upper_point(np.minimum(np.where(usable, needed, peak), peak), r)
    smallest = (r - 2.0) / (r - 1.0) - largest
    e_high = rr.epsilon_for_retention(np.clip(largest, 0.0, 1 - 2.0**-52), r) * (1 + _OUTWARD) + _OUTWARD
    e_low = rr.epsilon_for_retention(np.clip(smallest, 0.0, 1 - 2.0**-52), r) * (1 - _OUTWARD) - _OUTWARD
    upper = np.where(usable, np.minimum(upper, np.maximum(e_high, question.lower)), upper)
    idle |= usable & (upper < e_low)
    upper = np.where(idle, np.minimum(upper, question.lower), upper)
    lower = np.where(usable & can_fall, np.maximum(lower, e_low), lower)
    return lower, upper, (least <= most) & np.all(lower <= upper, axis=0)


def slope_range(lower: FloatArray, upper: FloatArray, r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Least and largest d lambda / d e on [lower, upper]: it rises up to exp(e) = r - 1 and falls after."""
    at_low, at_high = rr.retention_slope(lower, r), rr.retention_slope(upper, r)
    top = np.log(r - 1.0)
    inside = (lower <= top) & (top <= upper)
    return np.minimum(at_low, at_high), np.where(inside, r / (4.0 * (r - 1.0)), np.maximum(at_low, at_high))
