"""What a regression is asked for, and by which family it is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from budget_opt.errors import InputError
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.regression.linear import linear
from budget_opt.estimators.regression.logistic import logistic
from budget_opt.estimators.regression.opening import opened
from budget_opt.estimators.regression.result import Family, LogisticMethod, Regression
from budget_opt.estimators.releases.released import Weight

if TYPE_CHECKING:
    from budget_opt.allocation import Allocation


@dataclass(frozen=True)
class Asked:
    """The arguments of `bo.estimate.regress`."""

    formula: str
    family: Family
    target: Target
    weight: Weight = None
    scores: Mapping[str, Sequence[float]] | None = None
    noise_limit: float = 1.0
    method: LogisticMethod | None = None


def regression(released: Any, allocation: Allocation, asked: Asked) -> Regression:
    """The regression of a release; raises what `bo.estimate.regress` says."""
    if asked.family not in get_args(Family):
        raise InputError(f'family: is {asked.family!r}, must be "linear" or "logistic".')
    is_logistic = asked.family == "logistic"
    if not is_logistic and asked.method is not None:
        raise InputError(
            f'method: is {asked.method!r}, and family "linear" has one, least squares. Leave it out, or ask '
            'for family="logistic".'
        )
    found = opened(
        released,
        allocation,
        asked.formula,
        scores=asked.scores,
        weight=asked.weight,
        categories=is_logistic,
    )
    if is_logistic:
        return logistic(found, asked.target, asked.noise_limit, asked.method)
    return linear(found, asked.target, asked.noise_limit)
