"""`bo.observed_strengths` and `bo.pilot_strengths`: which links are worth a budget, from the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from budget_opt.api.arguments import require, require_number
from budget_opt.errors import DataError, InputError
from budget_opt.model.problem import Problem

if TYPE_CHECKING:
    from budget_opt.api.charging.charging import Payer
    from budget_opt.estimators.strengths.result import Strengths
    from budget_opt.randomizer.row_names import RowNames
    from budget_opt.tables.counting import AnyCodes

LEAST_EPSILON, LARGEST_EPSILON = 1e-6, 1e4

_ORDER = "Read one from a file with Problem.read(path); the table comes first."


def observed_strengths(table: Any, problem: Problem, *, least: float = 0.0) -> Strengths:
    """How strong the link of every weighted moment is in the originals. INTERNAL: do not pass it on.

    For the central scenario (Ruiz 2026, section 4): `observed_strengths(table, problem).apply(problem)` has
    the strengths as weights, and its weights are marked as `private data`. Its allocation was then made from
    the data and is itself outside the guarantee: whoever sees the split learns something that no epsilon
    bounds. Where the allocation leaves the house, as it does with every release, use `pilot_strengths`.

    `table` is a pandas, polars or pyarrow table, or a path; the columns of these attributes are read. What is
    called strength is in `budget_opt.estimators.strengths.links`: |correlation| of scored attributes,
    Cramer's V of nominal ones, the size of the standardized cross-moment for three and more. Those below
    `least` (>= 0) are 0. Moments with a public column are not measured, and keep their weights. Raises
    `InputError` and `DataError` (columns, counts and rows, never a value).
    """
    from budget_opt.estimators.strengths.pilots import counted, links_of, weighted_moments
    from budget_opt.estimators.strengths.result import strengths_of

    require(problem, Problem, "problem", _ORDER)
    limit = _at_least_0(least, "least")
    moments = weighted_moments(problem)
    codes, n = _codes(table, problem, moments)
    found = strengths_of(links_of(problem, counted(problem, moments, codes), n), n)
    return found.without_weak(limit)


def pilot_strengths(
    table: Any,
    problem: Problem,
    *,
    epsilon: float,
    noise_levels: float = 2.0,
    charge_to: Payer | None = None,
) -> Strengths:
    """How strong the link of every weighted moment is, measured under differential privacy for `epsilon`.

    Each weighted moment's table of counts gets integer noise, drawn exactly with secure randomness, and
    strengths are computed from the noisy tables alone. That is `epsilon`-differentially private (nats, one
    record's values replaced, n public), for all moments together: replacing a record moves it between two
    cells of each of the K tables, which changes their counts by at most 2 K in sum, and the noise has rate
    epsilon / (2 K) (the proof stands in `budget_opt.estimators.strengths.pilots`). Fewer moments mean less
    noise. Moments with a public column are not measured, and keep their weights.

    Every record in the table pays `epsilon`, besides what a release costs; a person with several records
    pays it for each, and one with more than the problem's unit allows is refused. Calling again costs again.
    With `charge_to` (see `Payer`) the data set of a ledger pays before anything is drawn: the record, each
    attribute that is read and each group once. `.apply(problem)` multiplies the weights by the strengths and
    writes `private data, epsilon E` into the provenance, from which `verify` states the price of a record
    in all. To stay within C in all, give the problem a total of C - epsilon. Records that were drawn for
    the pilot without looking at their values and are left out of the release pay for the pilot alone, and
    the rest for the release alone; the prices that are stated count both, and are then too high.

    A strength within `noise_levels` (>= 0, root mean squares) of what noise alone gives is 0; of the others
    the expected square of the noise is taken off. Mean absolute error over the 9 moments of the survey of
    `budget-opt demo` (n = 9,822; 200 simulations): 0.05 at epsilon 0.5, 0.03 at 1, 0.017 at 2, 0.006 at 5.

    `epsilon` is from 1e-6 to 1e4. Raises `InputError`, `DataError` (columns, counts and rows, never a
    value), `BudgetExceededError` and `LedgerError`, with nothing measured and nothing to be paid, and
    `RandomSourceError`, after which a charge stays.
    """
    from budget_opt.estimators.strengths.pilots import (
        links_of,
        noise_rate,
        noisy,
        require_room,
        weighted_moments,
    )
    from budget_opt.estimators.strengths.result import strengths_of
    from budget_opt.randomizer.entropy import fresh_below

    require(problem, Problem, "problem", _ORDER)
    budget = require_number(epsilon, "epsilon")
    if not LEAST_EPSILON <= budget <= LARGEST_EPSILON:
        raise InputError(
            f"epsilon: is {budget:g}, must be from {LEAST_EPSILON:g} to {LARGEST_EPSILON:g} nats. "
            "Give what every record may pay for the pilot, for instance 0.5."
        )
    levels = _at_least_0(noise_levels, "noise_levels")
    moments = weighted_moments(problem)
    require_room(problem, moments)
    codes, n = _codes(table, problem, moments)
    _require_few_rows_a_person(table, problem)
    rate = noise_rate(budget, len(moments))

    def measure() -> Strengths:
        tables = noisy(problem, moments, codes, rate, fresh_below)
        return strengths_of(links_of(problem, tables, n, rate=rate, noise_levels=levels), n, budget)

    if charge_to is None:
        return measure()
    from budget_opt.api.charging.charging import Payer
    from budget_opt.api.charging.known_data import DataMarks
    from budget_opt.api.charging.pilots import charged_pilot

    require(charge_to, Payer, "charge_to", 'Write Payer("name of the data set", ledger).')
    domains = {name: problem.attribute(name).domain for name in codes}
    marks = DataMarks(charge_to.ledger, charge_to.dataset, domains, charge_to.tell)
    marks.add(codes)
    return charged_pilot(charge_to, problem, marks, budget, measure)


def _codes(
    table: Any, problem: Problem, moments: tuple[tuple[str, ...], ...]
) -> tuple[dict[str, AnyCodes], int]:
    """The codes of the attributes of the moments, and the number of rows, at least 1."""
    from budget_opt.tables.reading import read_codes

    domains = {name: problem.attribute(name).domain for names in moments for name in names}
    codes: dict[str, AnyCodes] = dict(read_codes(table, domains))
    n = next(iter(codes.values())).size
    if n == 0:
        raise DataError("the table: has no rows, so it has no links. Give the table of the records.")
    return codes, n


def _require_few_rows_a_person(table: Any, problem: Problem) -> None:
    """`DataError` where a person has more records than the unit of the problem allows."""
    from budget_opt.randomizer.persons import person_ids, require_few, require_person_column
    from budget_opt.tables.findings import Findings
    from budget_opt.tables.reading import numbered, open_table

    ids = person_ids(problem.unit)
    if ids is None:
        return
    source, column = open_table(table), ids.column_name
    require_person_column(problem.unit, source.names)

    def rows() -> Iterator[tuple[int, RowNames]]:
        for first_row, batch in numbered(source.batches([column])):
            findings = Findings()
            names = ids.names(findings, batch.column(column), first_row)
            findings.require_none()
            yield first_row, names

    require_few(rows, problem.unit)


def _at_least_0(value: object, name: str) -> float:
    number = require_number(value, name)
    if not 0 <= number < float("inf"):
        raise InputError(f"{name}: is {number:g}, must be 0 or a positive number.")
    return number
