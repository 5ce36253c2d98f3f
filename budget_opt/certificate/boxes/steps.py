"""Steps towards good multipliers, of Polyak's length, blockwise (GLOBAL_SOLVER 2, "Multipliers").

Shares move multiplicatively (mirror descent), nu and mu in a metric of their own size, floors' multipliers
additively. Whatever the steps do, every bound on the way is a proof.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from budget_opt.certificate.boxes.layout import DegreeLayout, Layout
from budget_opt.certificate.boxes.relaxation import Multipliers, Relaxation
from budget_opt.model.arrays import FloatArray

_SEED, _SMALLEST_SHARE = 1e-4, 1e-7
"""Of a term's weight. Steps are multiplicative: a share of 0 could never grow, and what is idle in one box is
needed in another. So every box begins with a seed of each, which steps may let fall to next to nothing."""
_FAR = 50.0
"""The most that a multiplier moves in one step, in units of its metric."""
MEMORY = 0.25
"""Part of the last direction that is added to the subgradient."""
_SHARES, _PRICES = 0.5, 0.15
"""Of a step's length where the budget is multiplied twice. There every block has a length of its own: prices
are so many that in one length for all they would leave next to nothing of it for the shares."""
_METRIC = 0.05
"""nu, nested and mu move in the metric (nu + this x mu)^2."""
_LEAST = 1e-100
"""The least budget that a price is made for, in units of what all moments are worth."""
_FLOORS = 0.02
"""kappa and capped move in the metric (kappa + this x what the total is worth at mu)^2."""


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
    worth = np.sum(on.layout.single) + sum(np.sum(degree.weight) for degree in on.layout.degrees)
    # where next to nothing may be spent any price does, so long as it is finite
    mu[0] = worth / np.maximum(on.rows.limit[0], _LEAST * worth)
    return Multipliers(
        tuple(shares),
        np.zeros((rows, on.layout.attributes, on.count)),
        np.zeros((rows, on.layout.nested, on.count)),
        mu,
        np.zeros((on.log_floor.size, on.count)),
        np.zeros((on.ceilings, on.count)),
    )


def seeded(layout: Layout, multipliers: Multipliers) -> Multipliers:
    """The multipliers with no share so small that a few steps could not bring it back."""
    shares = tuple(
        _at_least(share, _SEED, degree)
        for share, degree in zip(multipliers.shares, layout.degrees, strict=True)
    )
    return replace(multipliers, shares=shares)


def _at_least(share: FloatArray, part: float, degree: DegreeLayout) -> FloatArray:
    """Shares (T, A, B) of at least this part of the weight, each term's sum to its weight."""
    weight = degree.weight[:, None]
    raised = np.maximum(share, (part * weight)[:, None])
    raised *= (weight / np.sum(raised, axis=1))[:, None]
    return raised


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
        steepest.nested + MEMORY * memory.nested,
        steepest.mu + MEMORY * memory.mu,
        steepest.kappa + MEMORY * memory.kappa,
        steepest.capped + MEMORY * memory.capped,
    )


def moved(on: Relaxation, now: Multipliers, along: Multipliers, excess: FloatArray) -> Multipliers:
    """One step of Polyak's length in the blocks' metrics: it would close `excess` (B,)."""
    price = np.max(now.mu, axis=0, initial=0.0)
    others = slice(1, None)  # the first row's price is found exactly
    twice = bool(np.any(now.nested))
    blocks = [
        (now.nu, along.nu, now.nu + _METRIC * price),
        (now.mu[others], along.mu[others], now.mu[others] + _METRIC * price),
        (now.kappa, along.kappa, now.kappa + _FLOORS * price * on.rows.limit[0]),
        (now.capped, along.capped, now.capped + _FLOORS * price * on.rows.limit[0]),
    ]
    if twice:
        blocks.append((now.nested, along.nested, now.nested + _METRIC * price))
    # what stands at 0 and would fall cannot move, and must not shorten the others' step
    blocks = [(own, np.where((own <= 0) & (slope > 0), 0.0, slope), unit) for own, slope, unit in blocks]
    norm = np.zeros_like(excess)
    for share, slope in zip(now.shares, along.shares, strict=True):
        norm += np.einsum("tab,tab,tab->b", share, slope, slope)
    norms = [np.sum((unit * slope) ** 2, axis=tuple(range(slope.ndim - 1))) for _, slope, unit in blocks]
    if twice:
        lengths = [_length(_PRICES * excess, own) for own in norms]
        length = _length(_SHARES * excess, norm)
    else:
        length = _length(excess, norm + np.sum(norms, axis=0))
        lengths = [length] * len(blocks)
    stepped = [_stepped(*block, own) for block, own in zip(blocks, lengths, strict=True)]
    nu, mu, kappa, capped = stepped[:4]
    nested = stepped[4] if twice else now.nested
    shares = _shared(on.layout, now.shares, along.shares, length)
    return Multipliers(shares, nu, nested, np.vstack([now.mu[:1], mu]), kappa, capped)


def _length(excess: FloatArray, norm: FloatArray) -> FloatArray:
    length: FloatArray = np.minimum(_ratio(excess, norm), 1e100)
    return length


def _stepped(now: FloatArray, along: FloatArray, unit: FloatArray, length: FloatArray) -> FloatArray:
    """A projected step in the metric of `unit`."""
    # where the direction is nearly 0 while other blocks leave much to close, the length says nothing
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
    layout: Layout, now: tuple[FloatArray, ...], along: tuple[FloatArray, ...], length: FloatArray
) -> tuple[FloatArray, ...]:
    """A multiplicative step of the shares; each term's sum to its weight."""
    result = []
    for share, slope, degree in zip(now, along, layout.degrees, strict=True):
        weight = degree.weight[:, None]
        factor = slope * -length
        np.clip(factor, -1.0, 1.0, out=factor)
        np.exp(factor, out=factor)
        factor *= share
        factor *= (weight / np.sum(factor, axis=1))[:, None]
        result.append(_at_least(factor, _SMALLEST_SHARE, degree))
    return tuple(result)
