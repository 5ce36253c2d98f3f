"""The joint table of released rows, as counts that can be kept and added up."""

from __future__ import annotations

from typing import Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require, require_names
from budget_opt.estimators.counting import Counts

_ORDER = "Read one from a file with Allocation.read(path); the released table comes first."


def count(
    released: Any, allocation: Allocation, *attributes: str, weight: str | Literal[False] | None = None
) -> Counts:
    """How often each combination of categories stands in a released table: all that estimates need of it.

    `released` is a table or path, or `Counts` of more attributes. Counts of parts of a release add up (`first
    + second`), and go from one machine to another as `to_dict()`; every function of `bo.estimate` takes them
    in place of the table. `weight` is the public column of survey weights (None: the one that the allocation
    states; False: none). Raises `InputError` and `DataError`, as those functions do, and `InputError` for a
    table of more than 1e9 bytes.
    """
    from budget_opt.estimators.released import open_released, require_table

    require_names(attributes)
    require(allocation, Allocation, "allocation", _ORDER)
    require_table(allocation, attributes)
    return open_released(released, allocation, attributes, weight).counts(*attributes)
