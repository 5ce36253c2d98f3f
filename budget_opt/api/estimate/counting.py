"""The joint table of released rows, as counts that can be kept and added up."""

from __future__ import annotations

from typing import Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.estimate.asking import require_release
from budget_opt.errors import InputError
from budget_opt.estimators.releases.counting import Counts


def count(
    released: Any, allocation: Allocation, *attributes: str, weight: str | Literal[False] | None = None
) -> Counts:
    """How often each combination of categories stands in a released table: all that estimates need of it.

    Attributes are counted, not public columns, whose categories are known from the table alone. `released` is
    a table or path, or `Counts` of more attributes. Counts of parts of a release add up (`first + second`, or
    `sum`), and go from one machine to another as `to_dict()`; every function of `bo.estimate` takes them in
    place of the table. `weight` is the public column of survey weights (None: the one that the allocation
    states; False: none). Raises `InputError` and `DataError`, as those functions do, and `InputError` for a
    public column and for a table of more than 1e9 bytes.
    """
    from budget_opt.estimators.releases.released import open_released, require_table

    require_release(released, allocation, attributes)
    require_table(allocation, attributes)
    _require_no_public(allocation, attributes)
    return open_released(released, allocation, attributes, weight).counts(*attributes)


def _require_no_public(allocation: Allocation, attributes: tuple[str, ...]) -> None:
    for name in attributes:
        if name in allocation.public:
            raise InputError(
                f"count: {name!r} is a public column, whose categories the allocation does not state, so no "
                "estimate could read such counts. Give the released table itself to the estimate, or count "
                f"the rows of each value of {name!r} by themselves."
            )
