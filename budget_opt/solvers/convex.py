"""The convex objectives, solved until the certificate alone grants the gap (DESIGN 2.5).

The interior-point method proposes points and multipliers; every proposal is brought exactly inside and
bounded by `certificate.convex`. The best point and the best bound are kept separately.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from budget_opt.certificate.convex import Frame, log_bound
from budget_opt.certificate.fitting import attained
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.errors import NotSolvedError
from budget_opt.model.arrays import FloatArray
from budget_opt.solvers.interior_point import CAREFUL, Rules, iterate
from budget_opt.solvers.iterate import Constraints, Iterate
from budget_opt.solvers.program import Program
from budget_opt.solvers.reduction import Reduction, inner_start

AIM = 1e-9
"""Relative gap at which a convex solve ends."""
ACCEPTED = 1e-8
"""Relative gap at which it is not begun anew."""
WORTH_REFINING = 1e-6
"""Relative gap below which slacks nearer to rounding may close the rest."""
FINE = Rules(iterations=20, tolerance=1e-11)


@dataclass
class Progress:
    """The best point and bound so far, in the logarithm of the objective (`min_epsilon`: -epsilon / unit)."""

    reduction: Reduction
    frame: Frame
    inside: FloatArray
    enough: Callable[[float, float], bool] | None = None
    tick: Callable[[], None] | None = None
    aim: float = AIM
    epsilon: FloatArray | None = None
    reached: float = -np.inf
    least_bound: float = np.inf
    multipliers: Multipliers | None = None
    duals: tuple[FloatArray, FloatArray] | None = None
    stalled: int = field(default=0)

    @property
    def gap(self) -> float:
        """Distance of bound and value on the logarithm, a relative gap once it is small."""
        if not (np.isfinite(self.least_bound) and np.isfinite(self.reached)):
            return np.inf
        return (self.least_bound - self.reached) / self.reduction.program.unit(self.reached)

    @property
    def done(self) -> bool:
        """True once the gap is small enough, or what the caller waits for has come."""
        if self.enough is not None and self.enough(self.reached, self.least_bound):
            return True
        return self.gap <= self.aim

    @property
    def best(self) -> FloatArray:
        """The best point (M,)."""
        if self.epsilon is None:
            raise NotSolvedError("no split strictly inside all constraints was found; they leave no room.")
        return self.epsilon

    def watch(self, at: Iterate) -> bool:
        """Judge one iterate of the interior-point method."""
        if self.tick is not None:
            self.tick()
        wanted = self.aim * self.reduction.program.unit(self.reached)
        if at.complementarity > 1e3 * wanted and self.enough is None:
            return False
        before = self.gap
        self.propose(self.reduction.program.epsilon(at.v))
        rows = self.reduction.program.row_bound.size
        caps = self.reduction.program.cap_limit.size
        self.bound_by(at.dual[:rows], at.dual[rows : rows + caps])
        self.stalled = 0 if self.gap < 0.9 * before or not np.isfinite(before) else self.stalled + 1
        return self.done or (self.stalled > 6 and at.complementarity < 0.1 * wanted)

    def propose(self, epsilon: FloatArray) -> None:
        """Keep the point (n,) if, once exactly inside, it is the best."""
        point = brought_inside(self.reduction, epsilon, self.inside)
        if point is None:
            return
        whole = self.reduction.expand(point)
        reached = attained(self.reduction.arrays, whole) / self.reduction.unit
        if reached > self.reached or self.epsilon is None:
            self.epsilon, self.reached = whole, reached

    def bound_by(self, rows: FloatArray, caps: FloatArray) -> None:
        """Keep the bound by these multipliers of the program's rows and caps if it is the best."""
        arrays = self.reduction.arrays
        point = self.epsilon if self.epsilon is not None else self.reduction.expand(self.inside)
        tangent = point if arrays.objective == "min_variance" else None
        multipliers = replace(self.reduction.multipliers(rows, caps).sanitized(arrays), point=tangent)
        found = log_bound(self.frame, point, multipliers)[0] / self.reduction.unit
        if found < self.least_bound or self.multipliers is None:
            self.least_bound, self.multipliers, self.duals = found, multipliers, (rows, caps)

    @property
    def level(self) -> float:
        """The level of the program's rows at the best point; 0 where there is none."""
        return self.reached if self.reduction.program.has_level else 0.0

    def as_good(self, epsilon: FloatArray) -> bool:
        """True where a split (M,) loses next to nothing of the gap that was aimed at."""
        reached = attained(self.reduction.arrays, epsilon) / self.reduction.unit
        return self.reached - reached <= 1e-2 * self.aim * self.reduction.program.unit(self.reached)


def brought_inside(reduction: Reduction, epsilon: FloatArray, inside: FloatArray) -> FloatArray | None:
    """The point (n,), moved towards `inside` by as little as feasibility needs; None where that fails.

    Both ends are mixed in the program's coordinate, in which all constraints are convex, so that the mixture
    keeps what both nearly keep.
    """
    program = reduction.program
    wanted = _slack(reduction, epsilon)
    if np.min(wanted, initial=0.0) >= 0:
        return epsilon
    have = np.maximum(_slack(reduction, inside), 0.0)
    violation = np.maximum(-wanted, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        theta = float(np.max(np.where(violation > 0, violation / (violation + have), 0.0)))
    for stretch in (1.0, 1.01, 2.0, 8.0):
        share = min(1.0, theta * stretch + 1e-15)
        mixed = mixture(program, epsilon, inside, share)
        if np.min(_slack(reduction, mixed), initial=0.0) >= 0:
            return mixed
    return None


def mixture(program: Program, first: FloatArray, second: FloatArray, share: float) -> FloatArray:
    """The point (n,) at `share` of the way between two splits, in the program's coordinate."""
    # 0 lies infinitely far away
    start = np.clip(np.maximum(first, 1e-12 * second), program.lower, program.upper)
    end = np.clip(np.maximum(second, 1e-12 * first), program.lower, program.upper)
    return program.epsilon((1 - share) * program.point(start) + share * program.point(end))


def _slack(reduction: Reduction, epsilon: FloatArray) -> FloatArray:
    """Slack of the rows without a level and of the caps at epsilon (n,)."""
    program = reduction.program
    v = program.point(epsilon)
    rows = program.row_slack(v, 0.0)[program.row_level == 0]
    caps = program.cap_limit - program.cap @ (epsilon - program.lower)
    return np.concatenate([rows, caps])


def improve(progress: Progress, *, careful: bool = True) -> Progress:
    """Run the interior-point method, and where it does not close the gap again in careful steps."""
    program = progress.reduction.program
    constraints = Constraints(program)
    attempts: list[tuple[FloatArray, float | None, Rules]] = [(progress.inside, None, Rules())]
    if careful:
        attempts.append((inner_start(program), 1.0, CAREFUL))
    for point, complementarity, rules in attempts:
        at = constraints.start(program.point(point), complementarity)
        for step_rules in (rules, FINE):
            progress.stalled = 0
            at = iterate(constraints, at, progress.watch, step_rules)
            if progress.done or progress.gap > WORTH_REFINING:
                break
        if progress.done or progress.gap <= ACCEPTED:
            break
    return progress
