"""Steps towards good multipliers, of Polyak's length, blockwise (GLOBAL_SOLVER 2, "Multipliers").

Shares move multiplicatively (mirror descent), nu and mu in a metric of their own size, floors' multipliers
additively. Whatever the steps do, every bound on the way is a proof.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budget_opt.certificate.boxes.bound import Multipliers, Relaxation
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.model.arrays import FloatArray

_SMALLEST_SHARE = 0.002
"""Of a term's weight; smaller shares are dropped."""
_FAR = 50.0
"""The most that a multiplier moves in one step, in units of its metric."""
MEMORY = 0.5
"""Part of the last direction that is added to the subgradient."""
METRIC, ROOT_METRIC = 0.02, 0.1
"""nu and mu move in the metric (nu + this x mu)^2; more where a start is far off."""


def first(on: Relaxation) -> Multipliers:
    """Half of every share on the global quadratic, no other multiplier."""
    shares = []
    for degree in on.layout.degrees:
        part = np.full(degree.arcs, 0.5 / (degree.arcs - 1))
        part[-1] = 0.5
        spread = degree.weight[:, None, None] * part[None, :, None]
        shares.append(np.repeat(spread, on.count, axis=2))
    rows = len(on.rows.limit)
    mu = np.zeros((rows, on.count))
    mu[0] = (
        np.sum(on.layout.single) + sum(np.sum(degree.weight) for degree in on.layout.degrees)
    ) / on.rows.limit[0]
    return Multipliers(
        tuple(shares),
        np.zeros((rows, on.layout.attributes, on.count)),
        mu,
        np.zeros((on.log_floor.size, on.count)),
    )


def direction(
    layout: Layout, gradient: Multipliers, now: Multipliers, memory: Multipliers | None
) -> Multipliers:
    """The subgradient, centred within each term, plus a part of the last direction."""
    shares = tuple(
        slope - (np.sum(share * slope, axis=1) / degree.weight[:, None])[:, None]
        for slope, share, degree in zip(gradient.shares, now.shares, layout.degrees, strict=True)
    )
    steepest = replace(gradient, shares=shares)
    if memory is None:
        return steepest
    return Multipliers(
        tuple(a + MEMORY * b for a, b in zip(steepest.shares, memory.shares, strict=True)),
        steepest.nu + MEMORY * memory.nu,
        steepest.mu + MEMORY * memory.mu,
        steepest.kappa + MEMORY * memory.kappa,
    )


def moved(
    layout: Layout, now: Multipliers, along: Multipliers, excess: FloatArray, metric: float = METRIC
) -> Multipliers:
    """One step of each block, of the length that would close `excess` (B,) if it were alone."""
    price = np.max(now.mu, axis=0, initial=0.0)
    nu = _stepped(now.nu, along.nu, (now.nu + metric * price) ** 2, excess)
    mu = now.mu
    if len(mu) > 1:  # the first row's is found exactly
        others = _stepped(mu[1:], along.mu[1:], (mu[1:] + metric * price) ** 2, excess)
        mu = np.vstack([mu[:1], others])
    kappa = _stepped(now.kappa, along.kappa, np.ones_like(now.kappa), excess / 3.0)
    return Multipliers(_shared(layout, now.shares, along.shares, excess), nu, mu, kappa)


def _stepped(now: FloatArray, along: FloatArray, metric: FloatArray, excess: FloatArray) -> FloatArray:
    """A projected step in the given metric."""
    norm = np.sum(metric * along**2, axis=tuple(range(now.ndim - 1)))
    # where the direction is nearly 0 while other blocks leave much to close, the length says nothing
    unit = np.sqrt(metric)
    length = np.minimum(_ratio(excess, norm), 1e100)
    with np.errstate(over="ignore"):
        step = np.clip(length * unit * along, -_FAR, _FAR)
    result: FloatArray = np.maximum(now - unit * step, 0.0)
    return result


def _ratio(excess: FloatArray, norm: FloatArray) -> FloatArray:
    """excess / norm, 0 where there is no direction to go."""
    usable = norm > 1e-200 * np.maximum(excess, 1e-100)
    ratio: FloatArray = np.divide(excess, norm, out=np.zeros_like(excess), where=usable)
    return ratio


def _shared(
    layout: Layout, now: tuple[FloatArray, ...], along: tuple[FloatArray, ...], excess: FloatArray
) -> tuple[FloatArray, ...]:
    """A multiplicative step of the shares; each term's sum to its weight."""
    norm = np.zeros_like(excess)
    for share, slope in zip(now, along, strict=True):
        norm = norm + np.einsum("tab,tab,tab->b", share, slope, slope)
    length = _ratio(excess, norm)
    result = []
    for share, slope, degree in zip(now, along, layout.degrees, strict=True):
        weight = degree.weight[:, None]
        factor = slope * -length
        np.clip(factor, -1.0, 1.0, out=factor)
        np.exp(factor, out=factor)
        factor *= share
        factor *= (weight / np.sum(factor, axis=1))[:, None]
        factor *= factor >= (_SMALLEST_SHARE * weight)[:, None]
        factor *= (weight / np.sum(factor, axis=1))[:, None]
        result.append(factor)
    return tuple(result)
