"""`bo.plan`: what every moment will be worth at n rows, before any release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require, require_number
from budget_opt.errors import InputError
from budget_opt.model.moments.by_moment import ByMoment

if TYPE_CHECKING:
    from budget_opt.estimators.planning.plan import Plan


def plan(  # noqa: PLR0913 (each a word that users type)
    allocation: Allocation,
    n: int = 10_000,
    guess: ByMoment = None,
    level: float = 0.95,
    *,
    wanted_error: ByMoment = None,
    wanted_power: float = 0.8,
    target: Literal["population", "data"] = "population",
    units: Literal["standardized", "scores"] = "standardized",
) -> Plan:
    """Expected standard errors, effective n and power of every moment at `n` rows, from the split alone.

    Both targets, `population` and `data`, are planned. The marginals are those that the problem states, else
    uniform ones: every moment says which. `guess` is what a moment may be: one number for all, or numbers by
    attributes, {("smoker", "income"): 0.1}, or by label. It is standardized, that is, divided by the product
    of the standard deviations (of a pair: a correlation, -1 to 1; of one attribute: how far its mean lies
    from the marginal's); with units="scores" it is the moment itself. With a guess come the power of the
    two-sided test at `level` (0.95: 5 %) that the moment is zero, and the least n for `wanted_power`.
    `wanted_error`, in the same `units`, asks for the least n at which the standard error from the `target`
    is that small.

    The numbers are assumed: they hold for large samples whose attributes are linked within a moment by no
    more than the guess. Raises `InputError` for an argument outside its range.
    """
    from budget_opt.estimators.planning.plan import Asked
    from budget_opt.estimators.planning.plan import plan as planned

    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    require_target(target)
    level, wanted_power = require_share(level, "level"), require_share(wanted_power, "wanted_power")
    asked = Asked(guess, wanted_error, level, wanted_power, target, units)
    return planned(allocation, require_rows(n), asked)


def require_rows(n: Any) -> int:
    """n as an integer; `InputError` unless it is a whole number from 1 to 10^15."""
    from budget_opt.estimators.planning.precision import LARGEST_ROWS

    rows = require_number(n, "n")
    if not 1 <= rows <= LARGEST_ROWS or int(rows) != rows:
        raise InputError(f"n: is {rows:.17g}, must be a whole number of rows from 1 to 10^15.")
    return int(rows)


def require_share(value: Any, name: str) -> float:
    """The number; `InputError` unless it is one above 0 and below 1."""
    share = require_number(value, name)
    if not 0 < share < 1:
        raise InputError(f"{name}: is {share!r}, must be above 0 and below 1.")
    return share


def require_target(target: object) -> None:
    """`InputError` unless it is one of both words."""
    if target not in ("population", "data"):
        raise InputError(f'target: is {target!r}, must be "population" or "data".')
