"""A primal-dual interior-point method for `Program` (Mehrotra; shared/CONVEX_SOLVER.md).

It never stops by itself: `watch` sees every iterate and says when a certificate is good enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.coordinate import LOG
from budget_opt.solvers.iterate import Constraints, Iterate, Local, Trial, local
from budget_opt.solvers.newton import System, system

Watch = Callable[[Iterate], bool]
"""Called with each iterate; True ends the method."""


@dataclass(frozen=True)
class Rules:
    """How the iteration goes: `tolerance` is on the objective, which is of order one or a logarithm.

    `patience` is how many short steps in a row are borne. `damped` adds curvature until a step is no longer
    than `largest_step`, instead of cutting the step.
    """

    iterations: int = 200
    tolerance: float = 1e-9
    patience: int = 12
    largest_step: float = 4.0
    least_centring: float = 0.0
    damped: bool = False


_FAR = 5.0
"""Times the largest step, beyond which a step is damped and not only cut."""
_SHORT = 0.1
"""Of the Newton step."""
_LEAST_DAMPING, _TRIALS = 1e-10, 16
"""The first curvature that is added, and how many are tried."""

CAREFUL = Rules(iterations=400, patience=400, largest_step=1.0, least_centring=0.2, damped=True)
"""For what the usual rules do not close: short, well centred steps."""


def iterate(constraints: Constraints, start: Iterate, watch: Watch, rules: Rules) -> Iterate:
    """Iterate from `start` until `watch` is satisfied, no step is possible, or the iterations end."""
    trial, short = Trial.of(constraints, start), 0
    for _ in range(rules.iterations):
        if watch(trial.at):
            return trial.at
        following, length = _step(constraints, trial.at, local(constraints, trial), rules)
        if following is None:
            return trial.at
        short = short + 1 if length < _SHORT else 0
        if short > rules.patience:
            break
        trial = following
    watch(trial.at)
    return trial.at


def _step(constraints: Constraints, at: Iterate, here: Local, rules: Rules) -> tuple[Trial | None, float]:
    """One predictor-corrector step and its length, None where rounding leaves no step."""
    predicted = _predicted(constraints, at, here, rules)
    if predicted is None:
        return None, 0.0
    newton, affine = predicted
    pairs = max(at.slack.size, 1)
    mu = at.complementarity / pairs
    reached = at.moved(affine, at.longest(affine)).complementarity / pairs
    sigma = max(_centring(at.complementarity, reached / max(mu, 1e-300), here), rules.least_centring)
    # without a floor under the centre, slacks reach rounding and no iterate is ever exactly inside
    least = 0.05 * rules.tolerance * constraints.program.unit(here.objective) / pairs
    centre = max(sigma * mu, least)
    aim = centre - affine.slack * affine.dual
    direction = newton.solve(aim)
    if direction is None:
        return None, 0.0
    for _ in range(2):
        aim, direction = _recentred(newton, at, aim, direction, centre)
    return _advance(constraints, at, here, direction, rules)


def _predicted(
    constraints: Constraints, at: Iterate, here: Local, rules: Rules
) -> tuple[System, Iterate] | None:
    """The Newton system and its plain step, damped where that is far too long; None where there is none.

    An attribute far from every constraint has next to no curvature, in logit lambda at tiny epsilons too, and
    a step cut short would go wherever the flattest attribute points.
    """
    strict = rules.damped or constraints.program.coordinate is LOG
    allowed = rules.largest_step * (1.0 if strict else _FAR)
    found, damping = None, 0.0
    for _ in range(_TRIALS):
        newton = system(constraints, at, here, damping)
        step = None if newton is None else newton.solve(np.zeros(at.slack.size))
        excess = np.inf
        if newton is not None and step is not None:
            found = newton, step
            excess = float(np.max(np.abs(step.v), initial=0.0)) / allowed
        if excess <= 1.0:
            break
        # along a flat direction a step is as long as the damping is small
        damping = max(_LEAST_DAMPING, damping * float(np.clip(1.5 * excess, 3.0, 1e3)))
    return found


def _centring(complementarity: float, left: float, here: Local) -> float:
    """Mehrotra's sigma for the share `left` of a full step, and more where the residuals lag behind."""
    sigma = min(left**3, 1.0)
    lag = max(here.primal, here.dual) / max(complementarity, 1e-300)
    if lag > 3e4:
        return 1.0
    return max(sigma, 0.7) if lag > 30 else sigma


def _recentred(
    newton: System, at: Iterate, aim: FloatArray, direction: Iterate, centre: float
) -> tuple[FloatArray, Iterate]:
    """Gondzio's correction: outlying products at a longer step are pulled back towards the centre."""
    length = at.longest(direction)
    if length > 0.9:
        return aim, direction
    ahead = min(1.0, length + 0.3)
    products = (at.slack + ahead * direction.slack) * (at.dual + ahead * direction.dual)
    wanted = np.clip(products, 0.1 * centre, 10.0 * centre)
    corrected_aim = aim + np.maximum(wanted - products, -10.0 * centre)
    corrected = newton.solve(corrected_aim)
    if corrected is not None and at.longest(corrected) >= length + 0.03:
        return corrected_aim, corrected
    return aim, direction


def _advance(
    constraints: Constraints, at: Iterate, here: Local, direction: Iterate, rules: Rules
) -> tuple[Trial | None, float]:
    """Move along the direction; shorter while the curved constraints or the objective go astray."""
    mu = at.complementarity / max(at.slack.size, 1)
    longest = at.longest(direction)
    length = min(1.0, longest * float(np.clip(1.0 - mu, 0.9, 0.9995)))
    largest = float(np.max(np.abs(direction.v), initial=0.0))
    length = min(length, rules.largest_step / max(largest, 1e-300))
    rising = direction.v > 0
    room = constraints.program.coordinate.end - at.v[rising]
    length = min(length, 0.9 * float(np.min(room / direction.v[rising], initial=np.inf)))
    limit = max(2.0 * here.primal, 10.0 * mu * float(np.sqrt(at.v.size)), 1e-3)
    slope = float(here.gradient @ direction.v) - direction.level * constraints.program.has_level
    for _ in range(40):
        following = Trial.of(constraints, at.moved(direction, length))
        astray = following.at.slack - following.values
        excess = following.objective - here.objective - length * slope
        if np.max(np.abs(astray), initial=0.0) <= limit and excess <= 0.25:
            return following, length
        length *= 0.6
    return None, 0.0
