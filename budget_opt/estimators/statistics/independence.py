"""Is there any association in the population? Tests whose null distribution is that of randomized data.

Attributes are randomized one by one, and every matrix can be inverted: the originals are independent if and
only if the reports are. So Pearson's and the likelihood-ratio test of the RELEASED table are right as they
stand, and lose power by the noise, not validity. A chi-square of the CORRECTED table is not: its null is a
weighted sum of chi-squares (`null_weights`) with a mean of many times the freedoms, and the textbook's test
of it rejects independence nearly always.

Members of one cluster are another matter: they are reported together, so that the released table of
independent originals is dependent where their shares are not those of the background. Of them only the
corrected table can be tested.

The released table is the default. Measured (`benchmarks/independence.py`) at nominal 5 %, it finds up to four
times as much as the corrected one where frequent categories go together, and at least nine tenths as much
where rare ones do, to which the corrected table gives more weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from scipy import stats

from budget_opt.errors import InputError
from budget_opt.estimators.channels import (
    Channel,
    FloatArray,
    along_all,
    axes_of_blocks,
    touches_twice,
)
from budget_opt.estimators.estimate import sentence
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.statistics.corrected import CorrectedTable, corrected_table
from budget_opt.estimators.statistics.null_weights import (
    Margin,
    freedoms_of,
    weights_of_clusters,
    weights_of_rows,
    weights_of_survey,
)
from budget_opt.estimators.statistics.weighted_chi_square import weighted_chi_square_tail
from budget_opt.model.arguments import require_whole
from budget_opt.tables.printing import plain_text, text_table
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

Method = Literal["released", "likelihood", "corrected", "permutation"]
LARGEST_PERMUTED = 10_000_000
MOST_PERMUTATIONS = 1_000_000
_DRAWN_CELLS = 2_000_000
"""Cells of random tables that are held at once."""
_FEW_EXPECTED = 5.0
_WHY_CORRECTED = (
    "{} are randomized together, so that their released table would be dependent without the originals: "
    "their corrected table was tested"
)


@dataclass(frozen=True, kw_only=True)
class IndependenceTest(Rows):
    """A test that the attributes are independent of each other in the population.

    `statistic` is compared with the sum of `weights` times chi-squares of one freedom, None for a
    permutation test; `freedoms` is their number, and that of an ordinary chi-square where all are 1.
    `p_value` is the probability of a statistic at least as large where they are independent.
    """

    attributes: tuple[str, ...]
    statistic: float
    p_value: float
    freedoms: int
    weights: tuple[float, ...] | None
    method: Method
    n: int
    effective_n: float
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def rows(self) -> list[dict[str, Any]]:
        """The test as one row of a table."""
        return [
            {
                "attributes": " x ".join(self.attributes),
                "method": self.method,
                "statistic": self.statistic,
                "freedoms": self.freedoms,
                "p_value": self.p_value,
                "n": self.n,
                "effective_n": self.effective_n,
                "kind": self.kind,
                "notes": "; ".join(self.notes),
            }
        ]

    def to_dict(self) -> dict[str, Any]:
        """The test as plain values for JSON."""
        weights = None if self.weights is None else list(self.weights)
        changed = {"attributes": list(self.attributes), "notes": list(self.notes), "weights": weights}
        return {**self.rows()[0], **changed}

    def renderable(self) -> RenderableType:
        """The test as a small table for a rich console, with its notes."""
        from rich.console import Group
        from rich.text import Text

        line = (self.method, f"{self.statistic:.5g}", f"{self.freedoms}", f"{self.p_value:.3g}")
        table = text_table(("method", "statistic", "degrees of freedom", "p value"), [line])
        title = (
            f"Test of the independence of {' x '.join(self.attributes)} in the population (n = {self.n:,})"
        )
        return Group(Text(title), table, *(Text(sentence(note)) for note in self.notes))

    def __str__(self) -> str:
        return plain_text(self.renderable())


def independence_test(
    counts: Counts,
    channels: Sequence[Channel],
    method: Method | None = None,
    *,
    permutations: int = 9_999,
    seed: int = 0,
) -> IndependenceTest:
    """Test the mutual independence of two or more attributes; see `api.estimate.independence_test`."""
    if method is not None and method not in get_args(Method):
        raise InputError(f"method: is {method!r}, must be one of {', '.join(map(repr, get_args(Method)))}.")
    if len(channels) < 2:
        raise InputError("independence_test: fewer than two attributes are named. Name two or more.")
    together = _together(channels)
    chosen = () if method is not None or not together else (_WHY_CORRECTED.format(together),)
    method = method or ("corrected" if together else "released")
    _require_apart(together, method)
    permutations = require_whole(permutations, "permutations", 1, MOST_PERMUTATIONS, 9_999)
    seed = require_whole(seed, "seed", 0, 2**64 - 1, 0)
    used = [
        channel if method == "corrected" else Channel(channel.name, 1.0, channel.background)
        for channel in channels
    ]
    # of data that are not randomized nothing is uncertain, so that the expected counts are Pearson's own
    table = corrected_table(counts, used, "population" if method == "corrected" else "data")
    margins = [_margin(table, axis) for axis in table.axes]
    for margin in margins:
        if np.count_nonzero(margin.expected) < 2:
            raise InputError(
                f"independence_test: {margin.channel.name!r} has rows of one category alone, so that nothing "
                "can depend on it. Leave it out."
            )
    expected = _product([margin.expected for margin in margins])
    statistic = _statistic(table, margins, expected, method) * counts.effective
    if method == "permutation":
        weights, p_value = None, _permuted(counts, statistic, permutations, seed)
    else:
        weights = _weights(table, margins, counts.effective)
        p_value = weighted_chi_square_tail(statistic, weights)
    return IndependenceTest(
        attributes=tuple(channel.name for channel in channels),
        statistic=statistic,
        p_value=p_value,
        freedoms=freedoms_of(margins) if weights is None else weights.size,
        weights=None if weights is None else tuple(float(weight) for weight in weights),
        method=method,
        n=counts.n,
        effective_n=counts.effective,
        notes=(*chosen, *_notes(expected * counts.effective, counts, method, permutations)),
    )


def _together(channels: Sequence[Channel]) -> str:
    """The members of one cluster that take part, in words; empty where there are no two."""
    members = [axes for axes in axes_of_blocks(channels) if len(axes) > 1]
    return " and ".join(channels[axis].name for axis in members[0]) if members else ""


def _require_apart(together: str, method: Method) -> None:
    """`InputError` for a test of the released table where two members of one cluster take part."""
    if together and method != "corrected":
        raise InputError(
            f"independence_test: {together} are randomized together, so that their released table is "
            f"dependent even where the originals are not, and the method {method} would find that. Use "
            'method="corrected", or name no method.'
        )


def _weights(table: CorrectedTable, margins: Sequence[Margin], effective: float) -> FloatArray:
    alike = np.allclose(table.squares * effective, table.shares, rtol=1e-9, atol=0)
    if touches_twice(table.channels):
        truths = _product([margin.expected / margin.expected.sum() for margin in margins])
        expected = along_all(Channel.spread, table.channels, truths)
        return weights_of_clusters(margins, table.channels, expected if alike else table.squares * effective)
    return weights_of_rows(margins) if alike else weights_of_survey(margins, table.squares, effective)


def _margin(table: CorrectedTable, axis: int) -> Margin:
    one = table.margin(axis)
    return Margin(table.channels[axis], one.shares.ravel(), one.cells.ravel(), one.errors.ravel())


def _product(shares: Sequence[FloatArray]) -> FloatArray:
    grid = np.ones((1,) * len(shares))
    for axis, one in enumerate(shares):
        grid = grid * one.reshape([-1 if other == axis else 1 for other in range(len(shares))])
    return grid


def _statistic(
    table: CorrectedTable, margins: Sequence[Margin], expected: FloatArray, method: Method
) -> float:
    """phi^2 = sum d^2 / expected, or 2 sum t log(t / expected) of the released shares t."""
    can_be = expected > 0
    if method == "likelihood":
        seen = table.shares > 0
        return 2 * float((table.shares[seen] * np.log(table.shares[seen] / expected[seen])).sum())
    d = table.cells - _product([margin.truths for margin in margins])
    return float((d[can_be] ** 2 / expected[can_be]).sum())


def _permuted(counts: Counts, statistic: float, permutations: int, seed: int) -> float:
    """(1 + tables at least as far from independence) / (1 + tables), of tables with the same margins."""
    if counts.weights is not None or counts.rows.ndim != 2 or counts.n > LARGEST_PERMUTED:
        raise InputError(
            "independence_test: a permutation test is of two attributes, at most 10,000,000 rows, and rows "
            'of equal weight. Use method="released".'
        )
    rows, columns = counts.rows.sum(axis=1), counts.rows.sum(axis=0)
    rows, columns = rows[rows > 0], columns[columns > 0]
    law, rng = stats.random_table(rows, columns), np.random.default_rng(seed)
    expected = np.outer(rows, columns) / counts.n
    at_once, as_far = max(_DRAWN_CELLS // expected.size, 1), 0
    for start in range(0, permutations, at_once):
        drawn = law.rvs(min(at_once, permutations - start), random_state=rng)
        values = ((drawn - expected) ** 2 / expected).sum(axis=(-2, -1))
        as_far += int(np.count_nonzero(values >= statistic * (1 - 1e-9)))
    return (1 + as_far) / (1 + permutations)


def _notes(expected: FloatArray, counts: Counts, method: Method, permutations: int) -> tuple[str, ...]:
    notes = list(counts.notes)
    least = float(expected[expected > 0].min())
    if method == "permutation":
        notes.append(f"p value from {permutations:,} random tables with the margins of the released one")
    elif method == "corrected":
        notes.append("compared with the weighted sum of chi-squares that noise alone leads to")
    if least < _FEW_EXPECTED and method != "permutation":
        can_be_drawn = counts.weights is None and method != "corrected"
        way_out = " The method permutation needs no such approximation." if can_be_drawn else ""
        notes.append(
            f"the least expected count is {least:.2g}: the chi-squares are an approximation.{way_out}"
        )
    if counts.weights is not None:
        notes.append("with weights: statistic by Kish's effective n, null by Rao and Scott")
    return tuple(notes)
