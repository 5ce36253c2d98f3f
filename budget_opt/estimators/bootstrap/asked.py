"""Standard errors by drawing again, on request, beside those by formula.

population: rows are drawn from the rows with replacement (Efron 1979); sampling and randomization vary as
in the release. data: the originals stay and only the randomization is drawn again (parametric), from the
originals that make the release most likely; the errors are then measured from those originals' own value.
Rows drawn again say nothing about the data target, since they vary the sample as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.bootstrap.redrawing import plausible_truths, redrawn_reports, resampled_rows
from budget_opt.estimators.bootstrap.replicates import Replicates
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.releases.compacting import compacted
from budget_opt.estimators.releases.counting import LARGEST_TABLE, Cells, Counts, cells_of_counts, counts_of
from budget_opt.estimators.releases.naming import require_weight
from budget_opt.estimators.releases.released import Weight
from budget_opt.model.arguments import require
from budget_opt.tables.counting import IntArray

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation

ChannelT = TypeVar("ChannelT", bound=Channel)

LEAST, MOST = 20, 100_000
"""Replicates that may be asked for."""
HOW: dict[Target, str] = {
    "population": "bootstrap: rows drawn from the rows with replacement",
    "data": "parametric bootstrap: the randomization drawn again from the likeliest originals",
}


@dataclass(frozen=True)
class Bootstrap:
    """How many replicates, and the generator that draws them; `InputError` outside 20 to 100,000."""

    times: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        if type(self.times) is not int or not LEAST <= self.times <= MOST:
            raise InputError(
                f"bootstrap: is {self.times!r}, must be a whole number of replicates from {LEAST} to "
                f"{MOST:,}, for instance 1000; 0 for none."
            )

    def errors(
        self,
        statistic: Callable[[Cells, Sequence[ChannelT]], FloatArray],
        cells: Cells,
        channels: Sequence[ChannelT],
        target: Target,
    ) -> FloatArray:
        """The errors of a statistic of any shape, stacked along a first axis of length `times`.

        `statistic` takes cells and the channels that they came through, NaN where it is not defined. Raises
        `InputError` for the data target with survey weights, or a joint table above 2^20 cells.
        """
        if target == "population":
            cells = cells if cells.weights is not None else compacted(cells, channels)
            centre = statistic(cells, channels)
            drawn: Iterator[Cells] = (resampled_rows(cells, self.rng) for _ in range(self.times))
        else:
            truths = self._truths(cells, channels)
            open_channels = [replace(channel, retention=1.0) for channel in channels]
            centre = statistic(cells_of_counts(truths), open_channels)
            drawn = (cells_of_counts(redrawn_reports(truths, channels, self.rng)) for _ in range(self.times))
        return np.stack([statistic(one, channels) - centre for one in drawn])

    def replicates(
        self,
        statistic: Callable[[Cells, Sequence[ChannelT]], FloatArray],
        cells: Cells,
        channels: Sequence[ChannelT],
        target: Target,
        values: FloatArray,
    ) -> list[Replicates]:
        """The replicates of each of the `values`, of a statistic of shape (k,)."""
        errors = self.errors(statistic, cells, channels, target)
        return [Replicates(float(value), errors[:, k], HOW[target]) for k, value in enumerate(values)]

    def _truths(self, cells: Cells, channels: Sequence[Channel]) -> IntArray:
        shape = [channel.cardinality for channel in channels]
        if cells.weights is not None:
            raise InputError(
                "bootstrap: with survey weights it is offered for the population only, since the likeliest "
                'originals have no weights. Use target="population", or the standard error by formula.'
            )
        if math.prod(shape) > LARGEST_TABLE:
            raise InputError(
                f"bootstrap: measured from the data it needs the joint table of all attributes, which has "
                f"{math.prod(shape):,} cells; at most {LARGEST_TABLE:,} can be. Name fewer attributes, or "
                "use the standard error by formula."
            )
        return plausible_truths(counts_of(cells, [channel.name for channel in channels], shape), channels)


def bootstrap_of(times: int, rng: np.random.Generator | None) -> Bootstrap | None:
    """What the arguments `bootstrap` and `rng` mean: 0 is none, and no generator is one of seed 0."""
    if rng is not None:
        require(rng, np.random.Generator, "rng", "Give numpy.random.default_rng(seed), or leave it out.")
    if type(times) is int and times == 0:
        return None
    return Bootstrap(times, np.random.default_rng(0) if rng is None else rng)


def single_rows(
    released: Any, allocation: Allocation, weight: Weight, bootstrap: Bootstrap | None
) -> tuple[str, ...]:
    """The public column to be read as numbers, so that every row stays by itself: the survey weights.

    Counted rows do not say which of them had which weight; without a bootstrap nobody asks.
    """
    require_weight(weight)
    column = allocation.survey_weight if weight is None else weight
    if bootstrap is None or not column or isinstance(released, Counts):
        return ()
    return (column,)
