"""What must hold between moments and the columns that they name, and what merged categories leave of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from budget_opt.errors import Fault
from budget_opt.mechanisms.exact import exact
from budget_opt.model.values import SMALLEST_RETENTION

if TYPE_CHECKING:
    from budget_opt.model.moments.moment import CrossMoment
    from budget_opt.model.problem import Problem


def moment_faults(problem: Problem) -> list[Fault]:
    """Moments of public columns alone, and floors that no epsilon keeps once categories are merged."""
    public = {column.name for column in problem.public}
    faults = []
    for moment in problem.moments:
        if public.issuperset(moment.attributes):
            faults.append(
                Fault(
                    f"moments ({moment.label})",
                    list(moment.attributes),
                    "must name an attribute: public columns alone are released as they are",
                    "Remove it, or add an attribute.",
                )
            )
        faults += _floor_faults(problem, moment)
    return faults


def _floor_faults(problem: Problem, moment: CrossMoment) -> Iterator[Fault]:
    """A floor that would need a retention of 1 of what the groupings leave."""
    detail = problem.detail_of(moment)
    if detail == 1 or moment.floor is None or exact(moment.floor) < detail * (1 - exact(SMALLEST_RETENTION)):
        return
    grouped = [one.name for one in problem.attributes if one.name in moment.attributes and one.detail < 1]
    yield Fault(
        f"moments ({moment.label}).floor",
        moment.floor,
        f"cannot be met: the grouping of {' and '.join(grouped)} leaves a share of {float(detail):.6g} "
        "before anything is randomized",
        "Lower the floor, or merge fewer categories.",
    )
