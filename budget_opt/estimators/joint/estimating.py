"""From released rows to joint tables and to marginals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from budget_opt.errors import NoiseError
from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.estimate import Target, require_target
from budget_opt.estimators.joint.cell_errors import FEW_EVENTS, CellErrors, cell_errors
from budget_opt.estimators.joint.marginals import MarginalEstimates
from budget_opt.estimators.joint.methods import method_named
from budget_opt.estimators.joint.own_error import qualified, require_useful
from budget_opt.estimators.joint.refusing import require_cells, require_marginals, require_room, require_sum
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.table import TableEstimate
from budget_opt.estimators.joint.unbiased import require_counted
from budget_opt.estimators.releases.counting import Counts, FloatArray
from budget_opt.mechanisms.exact import exact, float_at_least

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation
    from budget_opt.estimators.releases.released import Released


@dataclass(frozen=True)
class TableOptions:
    """By which method, from which target, and how many times what noise may be (`refusing`).

    What a method or its own error draws comes from `seed`: the same release gives the same table.
    """

    method: str = "default"
    target: Target = "population"
    noise_limit: float = 1.0
    seed: int = 0


def estimate_table(released: Released, names: Sequence[str], options: TableOptions) -> TableEstimate:
    """The joint table of these attributes.

    Raises `InputError` for an unknown method or target, too few rows and a table too large to count or for
    the method, `NoiseError` where its expected AVD is above the limit, and as `refusing` says.
    """
    require_target(options.target)
    method = method_named(options.method)
    channels = released.channels_of(*names)
    require_room(method, channels)
    counts = released.counts(*names)
    require_counted(counts, channels, 2)
    require_marginals(counts, channels, options.target, options.noise_limit)
    require_cells(method, counts, channels, options.noise_limit)
    rng = np.random.default_rng(options.seed)
    solution = method.run(counts, channels, rng)
    own = method.own_judge(counts, channels, solution, options.target, rng)
    own = qualified(own, counts.effective)
    way_out = "" if method.is_normalised else 'Another method, such as method="default", errs less. '
    title = f"the table of {' x '.join(names)}"
    require_useful(title, own.expected_avd, options.noise_limit, way_out, counts.rows.size)
    require_sum(title, solution.shares, options.noise_limit)
    errors = cell_errors(counts, channels, options.target) if method.name == "unbiased" else None
    return TableEstimate(
        attributes=tuple(names),
        labels=tuple(released.labels[name] for name in names),
        method=method.name,
        about=method.title,
        bias=method.bias,
        target=options.target,
        n=counts.n,
        effective_n=effective_rows(counts, channels),
        epsilon=spent_epsilon(released.allocation, names),
        shares=solution.shares,
        raw=counts.shares,
        standard_errors=None if errors is None else errors.standard_errors,
        own_error=own,
        errors=errors,
        counts=counts,
        channels=channels,
        run=method.run,
        trace=solution.trace,
        notes=(*solution.notes, *_flags(solution.shares, errors), *counts.notes),
    )


def estimate_marginals(
    released: Released, names: Sequence[str], options: TableOptions, *, named: bool
) -> MarginalEstimates:
    """The unbiased table of each of these attributes alone, and the nearest distribution to it.

    Where the attributes are not `named` by the user, those that would be noise are left out, with a note;
    raises `NoiseError` where they are, or where none is left.
    """
    tables, noise = [], []
    for name in names:
        try:
            tables.append(estimate_table(released, [name], options))
        except NoiseError as error:
            noise.append(error)
            if named:
                raise
    if not tables and noise:
        raise noise[0]
    notes = tuple(f"left out: {error}" for error in noise)
    nearest = tuple(nearest_shares(table.shares) for table in tables)
    return MarginalEstimates(tables=tuple(tables), nearest=nearest, notes=notes)


def effective_rows(counts: Counts, channels: Sequence[Channel]) -> float | None:
    """How many unrandomized rows give an unbiased table of the same total squared error from the population.

    With S = sum pi^2 it is (1 - S) / n without randomization and (sum_x E h_x^2 - S) / n with it, a
    closed form (DESIGN 2.3, summed over the indicators of all cells). S is estimated without bias. None
    where S is 1.
    """
    weighted = counts.second / counts.second.sum()
    total = float(along_all(Channel.squared, channels, weighted).sum())
    shares: FloatArray = along_all(Channel.corrected, channels, counts.shares)
    effective = counts.effective
    square = (float((shares**2).sum()) - total / effective) / (1 - 1 / effective) if effective > 1 else 1.0
    square = min(max(square, 1 / shares.size), 1.0)
    return effective * (1 - square) / (total - square) if square < 1 else None


def spent_epsilon(allocation: Allocation, names: Sequence[str]) -> float:
    """What a record has spent on these attributes, nats, rounded up; public columns cost nothing.

    A cluster costs its whole epsilon once, however many of its members are named.
    """
    randomized = [one.name for one in allocation.attributes if one.name in names]
    spent = (exact(block.epsilon) for block in allocation.touched(randomized))
    return float_at_least(sum(spent, Fraction(0)))


def _flags(shares: FloatArray, errors: CellErrors | None) -> tuple[str, ...]:
    """What a reader must know of negative cells and rough intervals."""
    notes = []
    negative = int(np.count_nonzero(shares < 0))
    if negative:
        notes.append(
            f"{negative} of {shares.size} cells are negative: noise, which an unbiased table shows; "
            "normalised() gives the nearest distribution, which is biased"
        )
    few = 0 if errors is None else int(np.count_nonzero(errors.few))
    if few:
        notes.append(
            f"{few} of {shares.size} cells have fewer than {FEW_EVENTS} chance events behind them: their "
            "intervals are rough, and widened"
        )
    return tuple(notes)
