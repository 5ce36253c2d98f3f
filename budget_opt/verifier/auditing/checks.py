"""What an audit finds beside the bounds: reports outside the domains, noise that goes together, leaks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from budget_opt.tables.binomial import acceptance
from budget_opt.tables.counting import joint_counts
from budget_opt.verifier.auditing.across import Link
from budget_opt.verifier.auditing.dependence import either
from budget_opt.verifier.auditing.events import LARGEST_TABLE
from budget_opt.verifier.auditing.judged import Judged
from budget_opt.verifier.auditing.rows import Rows, joined
from budget_opt.verifier.auditing.samplers import SamplerError
from budget_opt.verifier.auditing.undeclared import RECORDS, Undeclared
from budget_opt.verifier.report import Check

FloatArray = npt.NDArray[np.float64]
_TWO = math.log(2)
"""Both sides are looked at."""
_OUT_OF_LINE = 1e-9
"""With this chance an attribute that keeps what it should is told to keep less; no finding rests on it."""


def require_in_line(judged: Sequence[Judged], rows: Rows) -> list[str]:
    """Notes on attributes and clusters that keep less than they could.

    Raises `SamplerError` where all keep nearly as little as reports that do not belong to the records: of
    such rows an audit would say nothing.
    """
    n, kept = len(rows), rows.kept.sum(axis=1)
    notes, lost = [], []
    for b, a in enumerate(judged):
        truth = a.truth_probability
        least = n - acceptance(n, 1 - truth, _OUT_OF_LINE)[1] if 0 < truth < 1 else 0
        if not a.is_released or kept[b] >= least:
            lost.append(not a.is_released)
            continue
        halfway = (1 / a.cardinality + truth) / 2
        lost.append(bool(kept[b] < n * halfway))
        notes.append(
            f"{a.name}: {100 * kept[b] / n:.3g} % of the reports are the truth, by the allocation "
            f"{100 * truth:.3g} % could be. Less comes out than is paid for."
        )
    if all(lost) and any(a.is_released for a in judged):
        raise SamplerError(
            "the sampler: its reports do not belong to the records, row by row: they are shuffled, or do not "
            "depend on them at all. Let it keep the order of the rows for an audit."
        )
    return notes


def domain_checks(judged: Sequence[Judged], rows: Rows) -> Iterator[Check]:
    """Every report is one of the declared categories."""
    for one, reports in zip(judged, rows.reports, strict=True):
        count = int(np.count_nonzero(reports == one.cardinality))
        claim = f"{one.name}: {count:,} reports outside its domain"
        yield Check(claim, count, 0, count == 0, f"{len(rows):,} records", kind="tested")


def independence_checks(
    judged: Sequence[Judged],
    batches: Sequence[Rows],
    pairs: Sequence[tuple[int, int]],
    error: float,
) -> Iterator[Check]:
    """Reports go with nothing but their own truth: not with other noise, and not with other values.

    `pairs` are numbers (a, b): whether the report of a goes with the value of b is tested.
    """
    names = [one.name for one in judged]
    if len(names) > 1:
        yield _across(names, batches, error / 3)
        yield _leaks(names, joined(batches), pairs, error / 3)
    tails = np.minimum(_from_row_to_row(batches, 1), _from_row_to_row(batches, 2)) + 2 * _TWO
    yield chance_check("noise of neighbouring records, or of the halves of a batch", names, tails, error / 3)


def _across(names: Sequence[str], batches: Sequence[Rows], error: float) -> Check:
    both = np.zeros((len(names), len(names)))
    for batch in batches:
        kept = batch.kept[:-1].astype(np.float64)
        both += kept @ kept.T
    n, single = sum(len(batch) for batch in batches), np.diagonal(both)
    first, second = np.triu_indices(len(names), 1)
    tails = _TWO + _tails(both[first, second], single[first], single[second], n)
    couples = [f"{names[a]} and {names[b]}" for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    return chance_check("noise of two attributes", couples, tails, error)


def _leaks(names: Sequence[str], rows: Rows, pairs: Sequence[tuple[int, int]], error: float) -> Check:
    """The values are drawn apart, so a report goes with another attribute's value only if it carries it."""
    tails = np.array([_goes_with(rows, a, b) for a, b in pairs])
    couples = [f"{names[a]} with the value of {names[b]}" for a, b in pairs]
    return chance_check("reports that go with another value", couples, tails, error)


def _goes_with(rows: Rows, a: int, b: int) -> float:
    """log of the tail for the most unlikely cell of the table of reports of a by truths of b."""
    shape = rows.cardinalities[a] + 1, rows.cardinalities[b]
    if math.prod(shape) > LARGEST_TABLE:
        return 0.0
    table = joint_counts((rows.reports[a], rows.truths[b]), shape)
    reports, truths = table.sum(axis=1, keepdims=True), table.sum(axis=0, keepdims=True)
    return float(_TWO + math.log(table.size) + _tails(table, reports, truths, len(rows)).min())


def _from_row_to_row(batches: Sequence[Rows], lag: int) -> FloatArray:
    """log of the tail by attribute: neighbours for lag 1, else first and second halves."""
    counts = np.zeros((3, len(batches[0].cardinalities)))
    n = 0
    for batch in batches:
        kept, half = batch.kept[:-1], len(batch) // 2
        first, second = (
            (kept[:, 0 : 2 * half : 2], kept[:, 1 : 2 * half : 2])
            if lag == 1
            else (kept[:, :half], kept[:, half : 2 * half])
        )
        counts += [(first & second).sum(axis=1), first.sum(axis=1), second.sum(axis=1)]
        n += half
    return _tails(counts[0], counts[1], counts[2], n)


def _tails(both: npt.NDArray[Any], first: npt.NDArray[Any], second: npt.NDArray[Any], n: int) -> FloatArray:
    """log of the smaller of both tails."""
    tails: FloatArray = either(both, first, second, n)
    return tails


def across_checks(kinds: Mapping[str, Sequence[Link]], error: float) -> Iterator[Check]:
    """Reports go with no value of another record, by each kind of link to them."""
    for claim, links in kinds.items():
        tails = np.array([link.tail for link in links])
        yield chance_check(claim, [link.words for link in links], tails, error / len(kinds))


def chance_check(claim: str, names: Sequence[str], tails: FloatArray, error: float) -> Check:
    """The smallest tail (its log is given) against its share of the error; names which are too small."""
    least = int(np.argmin(tails))
    limit = error / len(names)
    bad = [name for name, tail in zip(names, tails, strict=True) if tail <= math.log(limit)]
    more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
    subject = f"{claim}: {names[least]}{more}" if bad else claim
    source = "the chance of so much agreement in a sound sampler, Hoeffding 1963"
    return Check(subject, math.exp(min(0.0, tails[least])), limit, not bad, source, kind="tested")


def undeclared_checks(tried: Sequence[Undeclared], asked: int) -> tuple[list[Check], list[str]]:
    """A check of each kind of undeclared value that comes back, or one of all; notes on what is taken."""
    source = f"{len(tried)} of {asked} values outside the domains tried"
    checks, notes = [], []
    for what in dict.fromkeys(one.what for one in tried):
        returned = [one for one in tried if one.what == what and one.outcome == "unchanged"]
        if returned:
            names = ", ".join(f"{one.attribute.name} ({one.unchanged} of {RECORDS})" for one in returned)
            claim = f"{what} comes back unchanged: {names}"
            checks.append(Check(claim, len(returned), 0, False, source, kind="tested"))
    if not checks and tried:
        checks = [Check("undeclared values that come back unchanged", 0, 0, True, source, kind="tested")]
    drawn = [f"{one.attribute.name} ({one.what})" for one in tried if one.drawn_in_silence]
    if drawn:
        notes.append(f"undeclared values are taken in silence, not refused: {', '.join(drawn)}.")
    if len(tried) < asked:
        notes.append(f"{source}; the others cost a call each.")
    return checks, notes
