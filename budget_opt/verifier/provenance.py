"""What the guarantee of an allocation takes for granted, for programs (DESIGN 3.1).

A statement of provenance cannot be checked from a file, so nothing here can fail: it says on what the
guarantee rests, and where it ends. The same in words is `accounting.price.provenance_notes`.
"""

from __future__ import annotations

from typing import Any

from budget_opt.accounting.price import release_epsilon
from budget_opt.allocation import Allocation
from budget_opt.mechanisms.exact import float_at_least
from budget_opt.model.problem import Problem
from budget_opt.model.provenance import from_the_data, not_public, priced_fields, provenance_epsilon


def provenance_findings(allocation: Allocation, problem: Problem | None = None) -> dict[str, Any]:
    """What is assumed, what came from the data, and what a record pays; epsilons in nats, rounded up.

    `allocation_outside_guarantee` is true where something was made from the data with no epsilon that bounds
    what it tells; then a record has no price, and `price_of_record` is None. `problem` is what the allocation
    was made from: it also says whether pins and bounds are used.
    """
    question = allocation.question if problem is None else problem
    making, private = provenance_epsilon(question), from_the_data(question)
    price = None if private else float_at_least(release_epsilon(allocation) + making)
    return {
        "assumed_public": list(not_public(question)),
        "from_the_data": list(private),
        "allocation_outside_guarantee": bool(private),
        "priced": {field: float_at_least(epsilon) for field, epsilon in priced_fields(question).items()},
        "epsilon": float_at_least(making),
        "price_of_record": price,
    }
