"""What a method expects of its own error: AVD = 1/2 sum |truth - estimate| (Ren et al. 2018; Castell 2022).

Of the unbiased table it follows from the laws of its cells (`mean_errors`). Other methods are judged by a
parametric bootstrap: rows are drawn from a table, and randomized, and estimated again in the same way; a
replicate's truth is that table (population) or the rows that were drawn (data). The table is a plausible
truth (`plausible`), or, of a method with a form of its own, its estimate. A bootstrap sees the noise and
the bias of the method on tables like the one it draws from. From its own estimate it does not see what
that cannot hold, such as dependence in a product of marginals: such a method brings its own judge
(`methods`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.errors import NoiseError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.intervals.noise_limit import require_noise_limit
from budget_opt.estimators.joint.drawing import drawn_originals, drawn_reports
from budget_opt.estimators.joint.mean_errors import expected_avds
from budget_opt.estimators.joint.metrics import variation_distance
from budget_opt.estimators.joint.plausible import plausible_shares
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.solution import Judge, OwnError, Run, Solution
from budget_opt.estimators.releases.counting import Counts
from budget_opt.model.arguments import require_whole
from budget_opt.tables.printing import at_most

REPLICATES = 8
"""Of the bootstrap of an AVD: a sum over all cells varies little."""
LARGE_TABLE = 20_000
"""Cells above which two replicates are drawn: a sum over so many cells hardly varies."""
MOST_REPLICATES = 100_000
"""That may be asked for."""
FEW_ROWS = 10
"""Effective rows below which no figure is to be trusted: a table of so few tells nothing of its own law."""

ROUGH = 2.0
"""How many times the expected AVD the one that cannot be excluded may be, without a word."""


def replicates_of(cells: int) -> int:
    """How many replicates tell the AVD of a table of so many cells."""
    return 2 if cells > LARGE_TABLE else REPLICATES


def exact_judge(
    counts: Counts, channels: Sequence[Channel], solution: Solution, target: Target, rng: np.random.Generator
) -> OwnError:
    """The expected AVD of the unbiased table, from the mean absolute errors of its cells."""
    avds = expected_avds(counts, channels, target, replicates_of(solution.shares.size), rng)
    return OwnError(float(np.mean(avds)), "by the mean absolute errors of its cells", _spread_of_mean(avds))


def bootstrap_judge(run: Run) -> Judge:
    """The judge of a method by a parametric bootstrap from a plausible truth."""

    def judge(
        counts: Counts,
        channels: Sequence[Channel],
        solution: Solution,
        target: Target,
        rng: np.random.Generator,
    ) -> OwnError:
        drawing = Bootstrap(counts, channels, run, plausible_shares(counts, channels), target)
        replicates = replicates_of(solution.shares.size)
        distances = np.array([variation_distance(*drawing.replicate(rng)) for _ in range(replicates)])
        how = f"by {replicates} replicates of a parametric bootstrap"
        return OwnError(float(np.mean(distances)), how, _spread_of_mean(distances))

    return judge


def reference_judge(reference: Run, judge: Judge) -> Judge:
    """The judge of a method that leaves dependence out, by another that does not and judges itself.

    What the method lacks shows in its distance from the reference, and what that one does not know is
    added to it as squares. Measured, mean expected / mean true AVD of the product of marginals by
    "default", w = 2..4 at epsilon 0.5 to 3: Adult 0.84 to 1.05; German Credit 0.9 to 1.7.
    """

    def judged(
        counts: Counts,
        channels: Sequence[Channel],
        solution: Solution,
        target: Target,
        rng: np.random.Generator,
    ) -> OwnError:
        other = reference(counts, channels, rng)
        doubt = judge(counts, channels, other, target, rng)
        apart = variation_distance(solution.shares, other.shares)
        how = "by its distance from the default table, and that one's own error"
        expected = math.hypot(apart, doubt.expected_avd)
        up_to = None if doubt.up_to is None else max(expected, min(apart + doubt.up_to, 1.0))
        return OwnError(expected, how, doubt.standard_error, up_to)

    return judged


def _spread_of_mean(values: FloatArray) -> float | None:
    return None if values.size < 2 else float(np.std(values, ddof=1)) / math.sqrt(values.size)


def qualified(own: OwnError, effective: float) -> OwnError:
    """The same, with a sentence where it is rough: too few rows, or far from what cannot be excluded.

    Measured, mean expected / mean true AVD: with 2 to 5 rows of 2 x 3 cells at lambda 0.8 0.7 to 1.25, and
    in single releases down to a quarter; where noise hides strong dependence (10 x 10 sparse cells,
    n = 1000, lambda 0.2; the diagonal of 4 x 4, n = 300, lambda 0.1) 0.6 to 0.85.
    """
    if effective < FEW_ROWS:
        reason = (
            f"rough: the release is worth {effective:.3g} rows, and fewer than {FEW_ROWS} do not tell of "
            "their own error; the true one was up to four times as large"
        )
        return replace(own, up_to=max(own.expected_avd, own.up_to or 0.0, 1.0), rough=reason)
    if own.up_to is not None and own.up_to > ROUGH * own.expected_avd:
        reason = (
            "rough: dependence that the noise hides is counted in part only; where it hid strong "
            "dependence, 0.6 of the true error was expected"
        )
        return replace(own, rough=reason)
    return own


@dataclass(frozen=True)
class Bootstrap:
    """How releases are drawn from a table of truths, `shares`, and estimated by the method `run`.

    Where rows have survey weights, as many rows are drawn as the effective number.
    """

    counts: Counts
    channels: Sequence[Channel]
    run: Run
    shares: FloatArray
    target: Target

    def replicate(self, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """The truth of one replicate, and what the method makes of its reports."""
        model = nearest_shares(self.shares)
        n = max(2, round(self.counts.effective))
        originals = drawn_originals(model, n, rng)
        reports = Counts(self.counts.attributes, drawn_reports(originals, self.channels, rng))
        truth = model if self.target == "population" else originals / n
        return truth, self.run(reports, self.channels, rng).shares

    def standard_errors(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """The standard deviation over replicates of every cell's error; `InputError` outside 2 to 100,000."""
        replicates = require_whole(replicates, "replicates", 2, MOST_REPLICATES, 200)
        mean, squares = np.zeros(self.shares.shape), np.zeros(self.shares.shape)
        for done in range(1, replicates + 1):  # Welford: a pass without keeping the replicates
            truth, estimate = self.replicate(rng)
            step = estimate - truth - mean
            mean += step / done
            squares += step * (estimate - truth - mean)
        errors: FloatArray = np.sqrt(squares / (replicates - 1))
        return errors


def require_useful(
    title: str, expected_avd: float, noise_limit: float, way_out: str, cells: int | None = None
) -> None:
    """Raise `NoiseError` where the expected AVD is above `noise_limit` x the most that equal shares can err.

    That is 1 - 1/`cells`, or 1 for any number of cells: beyond it the table tells less than nothing known.
    """
    times = require_noise_limit(noise_limit)
    largest = 1.0 if cells is None else 1 - 1 / cells
    if math.isinf(times) or expected_avd <= times * largest:
        return
    enough = f"{at_most(expected_avd / largest, 3)} or more" if largest > 0 else "math.inf"
    raise NoiseError(
        f"{title}: its expected AVD (1/2 sum |truth - estimate|) is {expected_avd:.3g}, the limit "
        f"{times * largest:.3g}, and equal shares of all cells are never further than {largest:.3g} from the "
        f"truth: the table would be noise. {way_out}"
        "Estimate it from more rows, ask for fewer or coarser attributes, or pass noise_limit="
        f"{enough} to see it all the same.",
        what=title,
        standard_error=expected_avd,
        limit=times * largest,
    )
