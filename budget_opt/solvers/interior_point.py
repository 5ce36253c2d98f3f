"""A primal-dual interior-point method for `Program` (Mehrotra; shared/CONVEX_SOLVER.md).

It never stops by itself: `watch` sees every iterate and says when a certificate is good enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.coordinate import LOG
from budget_opt.solvers.iterate import Constraints, Iterate, Local, local, objective
from budget_opt.solvers.newton import System, system

Watch = Callable[[Iterate], bool]
"""Called with each iterate; True ends the method."""


@dataclass(frozen=True)
class Rules:
    """How the iteration goes: `tolerance` is on the objective, which is of order one or a logarithm.

    `damped` adds curvature until a step is no longer than `largest_step`, instead of cutting the step.
    """

    iterations: int = 200
    tolerance: float = 1e-9
    largest_step: float = 4.0
    least_centring: float = 0.0
    damped: bool = False


CAREFUL = Rules(iterations=400, largest_step=1.0, least_centring=0.2, damped=True)
"""For what the usual rules do not close: short, well centred steps."""


def iterate(constraints: Constraints, start: Iterate, watch: Watch, rules: Rules) -> Iterate:
    """Iterate from `start` until `watch` is satisfied, no step is possible, or the iterations end."""
    at = start
    for _ in range(rules.iterations):
        if watch(at):
            return at
        following = _step(constraints, at, local(constraints, at), rules)
        if following is None:
            return at
        at = following
    watch(at)
    return at


def _step(constraints: Constraints, at: Iterate, here: Local, rules: Rules) -> Iterate | None:
    """One predictor-corrector step, or None where rounding leaves no step."""
    newton = _tame_system(constraints, at, here, rules)
    if newton is None:
        return None
    pairs = max(at.slack.size, 1)
    mu = at.complementarity / pairs
    affine = newton.solve(np.zeros(at.slack.size))
    if affine is None:
        return None
    reached = at.moved(affine, at.longest(affine)).complementarity / pairs
    sigma = max(_centring(mu, reached, here), rules.least_centring)
    # without a floor under the centre, slacks reach rounding and no iterate is ever exactly inside
    least = 0.05 * rules.tolerance * constraints.program.unit(here.objective) / pairs
    centre = max(sigma * mu, least)
    aim = centre - affine.slack * affine.dual
    direction = newton.solve(aim)
    if direction is None:
        return None
    for _ in range(2):
        aim, direction = _recentred(newton, at, aim, direction, centre)
    return _advance(constraints, at, here, direction, rules)


def _tame_system(constraints: Constraints, at: Iterate, here: Local, rules: Rules) -> System | None:
    """The Newton system, where the rules say so or in log lambda damped until its step is short enough.

    There an attribute far from every constraint has next to no curvature, and a step cut short would
    go wherever the flattest attribute points.
    """
    newton = system(constraints, at, here)
    if not rules.damped and constraints.program.coordinate is not LOG:
        return newton
    damping = 1e-6
    while newton is not None and damping < 1e6:
        step = newton.solve(np.zeros(at.slack.size))
        if step is not None and np.max(np.abs(step.v), initial=0.0) <= rules.largest_step:
            return newton
        newton, damping = system(constraints, at, here, damping), damping * 10.0
    return newton


def _centring(mu: float, reached: float, here: Local) -> float:
    """Mehrotra's sigma, and more where the residuals lag behind the complementarity."""
    sigma = min((reached / max(mu, 1e-300)) ** 3, 1.0)
    lag = max(here.primal, here.dual) / max(mu, 1e-300)
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
) -> Iterate | None:
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
        following = at.moved(direction, length)
        astray = following.slack - constraints.values(following.v, following.level)
        excess = objective(constraints.program, following) - here.objective - length * slope
        if np.max(np.abs(astray), initial=0.0) <= limit and excess <= 0.25:
            return following
        length *= 0.6
    return None
