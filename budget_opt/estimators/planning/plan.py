"""What a release will be worth, before it is made: errors and power from the split alone (DESIGN 2.3).

Letters: n rows, V = prod Var f over a moment's attributes, its square root the `scale`; g the guess in this
scale (of a pair: the correlation); VI the variance inflation, from stated or uniform marginals.

A plan rests on three assumptions, and says so: the marginals; that within a moment the squares of the scored
attributes multiply in expectation (independence), so that the guess enters by its own square alone; and large
samples. For order >= 3 the means that are estimated along with the moment add sum_j m_{S without j} W~_j to
its influence function: under independence these terms vanish.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.allocation.build import implemented_log_inflations
from budget_opt.errors import InputError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.planning import precision
from budget_opt.estimators.planning.inside_cluster import excess_of
from budget_opt.estimators.planning.standardizing import Units, errors, guesses, scale_of_moment
from budget_opt.model.moments.by_moment import ByMoment
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

    from budget_opt.allocation import AllocatedMoment, Allocation

FEW = 30
"""An effective number of rows below this makes the normal approximation doubtful."""


@dataclass(frozen=True)
class PlannedMoment:
    """What one moment will be worth at `n` rows: expected, on the marginals that `basis` names.

    `scale` is the product of the standard deviations of the scores; numbers called relative, `guess` and
    `wanted_error` are divided by it (of a pair: a correlation; of one attribute: its mean, in standard
    deviations from what the marginal says). `relative_error` is the standard error from the population,
    `relative_error_data` from the value in the original table. `effective_n` = n / variance inflation: so
    many rows that are not randomized would say as much, where there is no link. `power` is the chance that
    the two-sided test at the plan's level finds the guess; `n_for_power` and `n_for_error` are the least
    rows for the wanted power and error. None where nothing was asked, where the number does not exist, and
    where `note` says why.
    """

    attributes: tuple[str, ...]
    label: str
    n: int
    retention: float
    variance_inflation: float | None
    basis: str
    scale: float | None
    guess: float | None
    wanted_error: float | None
    relative_error: float | None
    relative_error_data: float | None
    effective_n: float | None
    power: float | None
    n_for_power: int | None
    n_for_error: int | None
    floor: float | None
    weight: float
    note: str = ""

    @property
    def standard_error(self) -> float | None:
        """From the population, in units of the scores; None for attributes without scores."""
        return _product(self.relative_error, self.scale)

    @property
    def standard_error_data(self) -> float | None:
        """From the value in the original table, in units of the scores."""
        return _product(self.relative_error_data, self.scale)

    @property
    def doubtful(self) -> bool:
        """True where the effective number of rows is too small for the normal approximation."""
        return self.effective_n is not None and self.effective_n < FEW

    def to_dict(self) -> dict[str, Any]:
        """All numbers as plain values."""
        plain = asdict(self)
        plain["attributes"] = list(self.attributes)
        note = plain.pop("note")
        return {
            **plain,
            "standard_error": self.standard_error,
            "standard_error_data": self.standard_error_data,
            "doubtful": self.doubtful,
            "note": note,
        }


@dataclass(frozen=True)
class Plan(Rows):
    """Every moment of an allocation at `n` rows, before any release; `level` is that of the test.

    `wanted_power` is what `n_for_power` is for, `target` what `n_for_error` is measured from. A row a moment.
    """

    allocation: Allocation
    n: int
    level: float
    moments: tuple[PlannedMoment, ...]
    wanted_power: float
    target: Target

    def __getitem__(self, attributes: str | tuple[str, ...]) -> PlannedMoment:
        """The moment of these attributes, in any order: plan["smoker", "income"]."""
        wanted = {attributes} if isinstance(attributes, str) else set(attributes)
        for moment in self.moments:
            if set(moment.attributes) == wanted:
                return moment
        labels = ", ".join(moment.label for moment in self.moments)
        raise InputError(f"moment {attributes!r} is not in the plan; it has {labels or 'none'}.")

    def rows(self) -> list[dict[str, Any]]:
        """A row a moment."""
        return [{**moment.to_dict(), "attributes": ", ".join(moment.attributes)} for moment in self.moments]

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON, with what it assumes."""
        return {
            "kind": "assumed",
            "problem_sha256": self.allocation.problem_sha256,
            "spent_epsilon": self.allocation.spent_epsilon,
            "n": self.n,
            "level": self.level,
            "wanted_power": self.wanted_power,
            "target": self.target,
            "assumptions": list(self.assumptions),
            "moments": [moment.to_dict() for moment in self.moments],
        }

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the numbers rest on, in words."""
        from budget_opt.estimators.planning.plan_tables import assumptions

        return assumptions(self)

    def renderable(self) -> RenderableType:
        """The plan for a rich console."""
        from budget_opt.estimators.planning.plan_tables import renderable

        return renderable(self)

    def __str__(self) -> str:
        return plain_text(self.renderable())


@dataclass(frozen=True)
class Asked:
    """What a plan is asked for; see `api.planning.plan`."""

    guess: ByMoment = None
    wanted_error: ByMoment = None
    level: float = 0.95
    wanted_power: float = 0.8
    target: Target = "population"
    units: Units = "standardized"


def plan(allocation: Allocation, n: int, asked: Asked = Asked()) -> Plan:
    """The expected errors of every moment of the allocation at `n` rows."""
    stated = [moment.stated for moment in allocation.moments]
    scales = [scale_of_moment(moment, allocation.question) for moment in stated]
    guessed = guesses(stated, scales, asked.guess, asked.units)
    wanted = errors(stated, scales, asked.wanted_error, asked.units, "wanted_error")
    inflations = implemented_log_inflations(allocation.question, allocation.blocks)
    moments = tuple(
        _planned(_Case(allocation, moment, n, scales[k], guessed[k], wanted[k], float(inflations[k])), asked)
        for k, moment in enumerate(allocation.moments)
    )
    return Plan(allocation, n, asked.level, moments, asked.wanted_power, asked.target)


@dataclass(frozen=True)
class _Case:
    """One moment and what is asked of it."""

    allocation: Allocation
    moment: AllocatedMoment
    n: int
    scale: float | None
    guess: float | None
    wanted_error: float | None
    log_inflation: float

    @property
    def order(self) -> int:
        return len(self.moment.attributes)

    @property
    def excess(self) -> float | None:
        """VI - 1, in a cluster with what the guess adds to it; None where a double cannot carry it."""
        return excess_of(self.allocation, self.moment, self.log_inflation, self.guess or 0.0)

    @property
    def silent(self) -> list[str]:
        """Attributes of which nothing is released."""
        names = self.allocation.question.attributes_in(self.moment.stated)
        return [name for name in names if not self.allocation[name].is_released]


def _planned(case: _Case, asked: Asked) -> PlannedMoment:
    """All numbers of one moment."""
    excess = None if case.silent else case.excess
    few = case.n < precision.least_rows_of(case.order)
    numbers: dict[str, Any] = dict.fromkeys(_NUMBERS)
    if excess is not None:
        numbers |= _at_any_n(case, excess, asked)
        if not few:
            numbers |= _at_n(case, excess, asked.level)
    return PlannedMoment(
        attributes=case.moment.attributes,
        label=case.moment.label,
        n=case.n,
        retention=case.moment.retention,
        variance_inflation=case.moment.variance_inflation,
        basis=case.moment.variance_basis,
        scale=case.scale,
        guess=case.guess,
        wanted_error=case.wanted_error,
        floor=case.moment.floor,
        weight=case.moment.weight,
        note=_note(case, numbers["effective_n"], few=few),
        **numbers,
    )


_NUMBERS = ("relative_error", "relative_error_data", "effective_n", "power", "n_for_power", "n_for_error")


def _at_n(case: _Case, excess: float, level: float) -> dict[str, float | None]:
    guess, order = case.guess or 0.0, case.order
    error = precision.relative_error(excess, order, guess, "population", case.n)
    return {
        "relative_error": error,
        "relative_error_data": precision.relative_error(excess, order, guess, "data", case.n),
        "effective_n": case.n / (1.0 + excess),
        "power": None if case.guess is None else precision.power(guess, error, level),
    }


def _at_any_n(case: _Case, excess: float, asked: Asked) -> dict[str, int | None]:
    guess, order, rows = case.guess or 0.0, case.order, dict[str, int | None]()
    if case.guess is not None:
        power, level = asked.wanted_power, asked.level
        rows["n_for_power"] = precision.rows_for_power(power, level, excess, order, guess)
    if case.wanted_error is not None:
        error = case.wanted_error
        rows["n_for_error"] = precision.rows_for_error(error, excess, order, guess, asked.target)
    return rows


def _note(case: _Case, effective_n: float | None, *, few: bool) -> str:
    """Why a number is missing, or should not be leant on."""
    if case.silent:
        return f"{', '.join(case.silent)}: not released (epsilon is 0, or too small for any sampler)"
    if few:
        return f"n = {case.n} is too few: an error needs {precision.least_rows_of(case.order)} rows"
    if effective_n is None:
        return "so little is retained that no number can say it"
    if effective_n < FEW:
        return f"doubtful: worth fewer than {FEW} rows, the normal approximation may fail"
    return ""


def _product(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first * second
