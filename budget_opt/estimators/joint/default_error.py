"""What a smoothing estimate expects of its own error: an estimate, and no bound.

Letters: Q the estimate, P the truth, J the unbiased table, AVD = 1/2 sum |P - Q|. Two parts are added as
squares:

- *noise*, by parametric bootstrap from Q (`own_error`): sampling, randomization, and shrinking what Q
  shows;
- *misfit*, what Q lacks: of every pair of attributes, and of the whole table, |J - Q|^2 less the known
  noise of J (`blend`) estimates the squared error without bias. It becomes an AVD by the shape of an
  error in proportion to sqrt(Q), the noise of a count: 1/2 sqrt(2/pi) sqrt(misfit) sum sqrt(Q). The AVDs
  of pairs add up; the larger of pairs and table is taken.

The noise of the misfit can be far larger than any misfit, so at most twice the square of the first part
is taken: dependence that hides in the noise altogether is seen in part. What cannot be excluded is told
beside it (`up_to`): the misfit and `REACH` standard deviations of its noise, but no more than the
marginals allow, and as many of the replicates' AVD.

Measured, mean expected / mean true AVD, w = 2..4: Adult 0.8 to 1.3 at epsilon 0.5 to 4, German Credit 1.0
to 1.4. Where the attributes of the data are a complete design (Nursery), the bootstrap draws dependence by
chance that is not there, and expects up to 2.7 times the true error at epsilon 4. Where noise hides strong
dependence it is 0.6 to 0.85 (diagonal of 4 x 4, n = 300, lambda 0.1; sparse 10 x 10, n = 1000, lambda 0.2).
`up_to` was above the true AVD in all of 40 sets of Adult and German Credit (w = 2, 3; epsilon 1, 3: 1.3 to
4.5 times the expected one), and in 99 of 100 releases of tables where noise hides the dependence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.blend import misfit_of
from budget_opt.estimators.joint.error_bounds import dependence_bound
from budget_opt.estimators.joint.independent import product_of
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.own_error import Bootstrap, replicates_of
from budget_opt.estimators.joint.solution import Judge, OwnError, Run, Solution
from budget_opt.estimators.releases.counting import Counts

MOST_MISFIT = 2.0
REACH = 1.645
"""Standard deviations of the misfit's own noise up to which it cannot be excluded (one of twenty)."""


def smoothing_judge(run: Run) -> Judge:
    """The judge of a method that smooths: its expected AVD from the target, at most 1."""

    def judge(
        counts: Counts,
        channels: Sequence[Channel],
        solution: Solution,
        target: Target,
        rng: np.random.Generator,
    ) -> OwnError:
        drawing = Bootstrap(counts, channels, run, solution.shares, target)
        replicates = replicates_of(solution.shares.size)
        distances = [variation_distance(*drawing.replicate(rng)) for _ in range(replicates)]
        noise = float(np.mean(distances))
        seen, hidden = squared_lacks(solution.shares, counts, channels)
        expected = min(math.sqrt(noise**2 + min(seen, MOST_MISFIT * noise**2)), 1.0)
        spread = float(np.std(distances, ddof=1))
        farthest = min(math.sqrt(noise**2 + hidden), noise + _farthest(solution.shares))
        up_to = min(max(expected, farthest) + REACH * spread, 1.0)
        return OwnError(
            expected,
            f"parametric bootstrap, {replicates} replicates, and what the unbiased table shows to be missing",
            spread / math.sqrt(replicates),
            up_to if len(channels) > 1 else None,
        )

    return judge


def squared_lacks(shares: FloatArray, counts: Counts, channels: Sequence[Channel]) -> tuple[float, float]:
    """The squares of the AVDs, >= 0, by which the table seems to miss the truth, and by which it still may.

    The first is what the unbiased table shows, the second what its noise cannot exclude; both 0 for one
    attribute, whose table is fitted to that one itself.
    """
    if len(channels) == 1:
        return 0.0, 0.0
    pairs = list(combinations(range(len(channels)), 2))
    of_pairs, variance = 0.0, 0.0
    for pair in pairs:
        others = tuple(axis for axis in range(len(channels)) if axis not in pair)
        part = counts.marginal(*(counts.attributes[axis] for axis in pair))
        lack, spread = _squared_avd(shares.sum(axis=others), part, [channels[axis] for axis in pair])
        of_pairs, variance = of_pairs + lack, variance + spread**2
    whole, spread = _squared_avd(shares, counts, channels)
    seen = max(len(pairs) * of_pairs, whole, 0.0)
    hidden_of_pairs = max(of_pairs, 0.0) + REACH * math.sqrt(variance)
    hidden = max(len(pairs) * hidden_of_pairs, max(whole, 0.0) + REACH * spread)
    return seen, hidden


def _squared_avd(shares: FloatArray, counts: Counts, channels: Sequence[Channel]) -> tuple[float, float]:
    """The square of the AVD of an error in proportion to sqrt(shares), with the misfit's sign; its spread."""
    misfit, spread = misfit_of(shares, counts, channels)
    factor = float(np.sqrt(shares).sum()) ** 2 / (2 * math.pi)
    return misfit * factor, spread * factor


def _farthest(shares: FloatArray) -> float:
    """No table with the same marginals is further from this one (`error_bounds`)."""
    axes = range(shares.ndim)
    marginals = [shares.sum(axis=tuple(other for other in axes if other != axis)) for axis in axes]
    return variation_distance(shares, product_of(marginals)) + dependence_bound(marginals)
