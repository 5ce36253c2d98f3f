"""Good multipliers for the star bound: a fixed number of subgradient steps of Polyak's length.

Shares move multiplicatively (mirror descent), nu in a metric of its own size, floors' multipliers additively
(GLOBAL_SOLVER 2, "Multipliers"). The best bound is kept; whatever the steps do, it is a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.stars.bound import Boxes, Evaluation, StarMultipliers, evaluate
from budget_opt.model.arrays import FloatArray

_SMALLEST_SHARE = 0.002
"""Of a term's weight; smaller shares are dropped."""
_MEMORY = 0.4
"""Part of the last direction that is added to the subgradient."""
_SHORTEN = 0.7
_PATIENCE = 8
"""Steps without a gain of `_PROGRESS` of the gap before steps become shorter."""
_PROGRESS = 0.02
_WINDOW = 25
"""Steps that must gain `_PROGRESS` of the gap, or the descent ends."""


@dataclass(frozen=True)
class Descent:
    """`steps` at most; `target` (B,) is a value that is attained, `enough` (B,) a bound that will do.

    `proceed` is asked before every step and may end the descent, which makes its result depend on the clock.
    """

    target: FloatArray
    enough: FloatArray
    steps: int
    proceed: Callable[[], bool] | None = None


def first_multipliers(boxes: Boxes) -> StarMultipliers:
    """Half of every share on the global quadratic, a little on nu, and the price that goes with them."""
    count, rows = boxes.low.shape[1], boxes.limits.size
    shares = []
    for degree in boxes.structure.degrees:
        part = np.full(degree.arcs, 0.5 / (degree.arcs - 1))
        part[-1] = 0.5
        spread = degree.weight[:, None, None] * part[None, :, None]
        shares.append(np.repeat(spread, count, axis=2))
    nothing = StarMultipliers(
        tuple(shares),
        np.zeros((rows, len(boxes.low), count)),
        np.zeros((rows, count)),
        np.zeros((boxes.log_floor.size, count)),
    )
    price = evaluate(boxes, nothing).multipliers.mu
    return replace(nothing, mu=price, nu=nothing.nu + 0.1 * price[:, None, :])


def descend(boxes: Boxes, start: StarMultipliers, aim: Descent) -> Evaluation:
    """The evaluation with the best bound of the first box met on the way; all boxes move together."""
    best = found = evaluate(boxes, start)
    memory: StarMultipliers | None = None
    length, patience, mark, window = 1.0, 0, best.bound, best.bound
    for step in range(1, aim.steps):
        if np.all(best.bound <= aim.enough) or not (aim.proceed is None or aim.proceed()):
            break
        memory = _direction(boxes, found, memory)
        excess = np.maximum(found.bound - aim.target, 0.0) * length
        found = evaluate(boxes, _moved(boxes, found, memory, excess))
        if np.sum(found.bound) < np.sum(best.bound):
            best = found
        patience += 1
        if np.all(mark - best.bound > _PROGRESS * (mark - aim.target)):
            mark, patience = best.bound, 0
        if patience >= _PATIENCE:
            length, patience, mark = length * _SHORTEN, 0, best.bound
            found, memory = best, None
        if step % _WINDOW == 0:
            if np.all(window - best.bound <= _PROGRESS * (window - aim.target)):
                break
            window = best.bound
    return best


def _direction(boxes: Boxes, found: Evaluation, memory: StarMultipliers | None) -> StarMultipliers:
    """The subgradient, centred within each term, plus a part of the last direction."""
    shares = tuple(
        gradient - np.sum(share * gradient, axis=1, keepdims=True) / degree.weight[:, None, None]
        for gradient, share, degree in zip(
            found.gradient.shares, found.multipliers.shares, boxes.structure.degrees, strict=True
        )
    )
    steepest = replace(found.gradient, shares=shares)
    if memory is None:
        return steepest
    return StarMultipliers(
        tuple(a + _MEMORY * b for a, b in zip(steepest.shares, memory.shares, strict=True)),
        steepest.nu + _MEMORY * memory.nu,
        steepest.mu + _MEMORY * memory.mu,
        steepest.kappa + _MEMORY * memory.kappa,
    )


def _moved(
    boxes: Boxes, found: Evaluation, direction: StarMultipliers, excess: FloatArray
) -> StarMultipliers:
    """One step of each block, of the length that would close `excess` (B,) if it were alone."""
    now = found.multipliers
    price = np.max(now.mu, axis=0, initial=0.0)
    nu = _stepped(now.nu, direction.nu, (now.nu + 0.1 * price) ** 2, excess)
    mu = now.mu.copy()
    if len(mu) > 1:  # the first row's is found exactly
        mu[1:] = _stepped(mu[1:], direction.mu[1:], (mu[1:] + 0.1 * price) ** 2, excess)
    kappa = _stepped(now.kappa, direction.kappa, np.ones_like(now.kappa), excess / 3.0)
    return StarMultipliers(_shared(boxes, now.shares, direction.shares, excess), nu, mu, kappa)


def _stepped(now: FloatArray, direction: FloatArray, metric: FloatArray, excess: FloatArray) -> FloatArray:
    """A projected step in the given metric."""
    norm = np.sum(metric * direction**2, axis=tuple(range(now.ndim - 1)))
    length = _ratio(excess, norm)
    moved: FloatArray = np.maximum(now - length * metric * direction, 0.0)
    return moved


def _ratio(excess: FloatArray, norm: FloatArray) -> FloatArray:
    """excess / norm, 0 where there is no direction to go."""
    usable = norm > 1e-200 * np.maximum(excess, 1e-100)
    ratio: FloatArray = np.divide(excess, norm, out=np.zeros_like(excess), where=usable)
    return ratio


def _shared(
    boxes: Boxes, now: tuple[FloatArray, ...], direction: tuple[FloatArray, ...], excess: FloatArray
) -> tuple[FloatArray, ...]:
    """A multiplicative step of the shares; each term's sum to its weight."""
    norms = [np.sum(a * d * d, axis=(0, 1)) for a, d in zip(now, direction, strict=True)]
    norm = np.sum(np.stack([*norms, np.zeros_like(excess)]), axis=0)
    length = _ratio(excess, norm)
    moved = []
    for share, slope, degree in zip(now, direction, boxes.structure.degrees, strict=True):
        weight = degree.weight[:, None, None]
        following = share * np.exp(np.clip(-length * slope, -1.0, 1.0))
        following *= weight / np.sum(following, axis=1, keepdims=True)
        following = np.where(following < _SMALLEST_SHARE * weight, 0.0, following)
        moved.append(following * (weight / np.sum(following, axis=1, keepdims=True)))
    return tuple(moved)
