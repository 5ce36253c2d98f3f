"""Joint tables and marginals of a release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.estimate.asking import require_release
from budget_opt.errors import InputError

if TYPE_CHECKING:
    from budget_opt.estimators.joint.marginals import MarginalEstimates
    from budget_opt.estimators.joint.table import TableEstimate
    from budget_opt.estimators.source_marginals import SourceMarginal


def table(
    released: Any,
    allocation: Allocation,
    *attributes: str,
    method: str = "default",
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
) -> TableEstimate:
    """The original joint table of these attributes: the share of every combination of their categories.

    Of a `grouping` it is of the merged categories, as a note says.
    `released` is a table, a path, or `Counts`. `method` is "default" (pairs, their maximum-entropy
    completion and the unbiased table, blended: the least error), "unbiased" (standard errors and
    intervals of every cell; cells may be negative), "simplex" (the nearest distribution to it),
    "likelihood" (of all cells, stopped by held-out rows), "maximum-likelihood" (to convergence: it
    over-fits), or one of Castell's others, "independent", "hybrid", "truncated". `target` says what errors
    are measured from: the `population` (sampling and randomization), or `data` (the original table).
    `weight` names the public column of survey weights, None the one that the allocation states, False none.
    What a method draws comes from a fixed seed. Raises `NoiseError` where the table would be noise, by
    limits that `noise_limit` multiplies: an expected AVD, 1/2 sum |truth - share|, above 1 - 1/cells, the
    most that equal shares of all cells can err; one of the attributes alone of which that holds, unbiased;
    for "simplex" and "truncated" unbiased cells with a standard error above 1, the largest share; and a
    sum of shares further than 1/2 from 1. Raises `InputError`, also for a table too large for the method's
    copies of it (2e9 bytes: 15.6 million cells by most methods, 3.5 million by "likelihood"), and
    `DataError` for a table that is no release under this allocation.
    """
    from budget_opt.estimators.joint.estimating import TableOptions, estimate_table
    from budget_opt.estimators.releases.released import open_released

    require_release(released, allocation, attributes)
    if not attributes:
        raise InputError("attributes: none is named. Name one or more, or take marginals() for all.")
    opened = open_released(released, allocation, attributes, weight)
    return estimate_table(opened, attributes, TableOptions(method, target, noise_limit))


def marginals(
    released: Any,
    allocation: Allocation,
    *attributes: str,
    target: Literal["population", "data"] = "population",
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
) -> MarginalEstimates:
    """The original share of every category of each of these attributes (none named: of all of them).

    Unbiased, with intervals, and beside it the nearest distribution; the release is read once. Of all
    attributes, those that would be noise are left out with a note; named ones raise `NoiseError`. Those whose
    matrix a known source chose are left out with a note too: `source_marginal` takes them one by one.
    Everything else as in `table`.
    """
    from budget_opt.estimators.joint.estimating import TableOptions, estimate_marginals
    from budget_opt.estimators.releases.released import open_released

    require_release(released, allocation, attributes)
    every = tuple(one.name for one in allocation.attributes if one.is_correctable)
    names = attributes or every
    opened = open_released(released, allocation, names, weight)
    options = TableOptions("unbiased", target, noise_limit)
    found = estimate_marginals(opened, names, options, named=bool(attributes))
    others = () if attributes else (one.name for one in allocation.attributes if not one.has_retention)
    beside = (f"left out: {name}, see source_marginal (--source-marginal)" for name in others)
    return replace(found, notes=(*found.notes, *beside))


def source_marginal(
    released: Any, allocation: Allocation, attribute: str, *, weight: str | Literal[False] | None = None
) -> SourceMarginal:
    """The original share of every category of an attribute whose matrix a known `source` chose.

    Unbiased, by the inverse of the implemented matrix, with standard errors and intervals from the
    population; shares may be negative. `released` and `weight` as in `table`. Raises `InputError` for an
    attribute without a source, and where categories are censored: then nothing corrects them; `DataError` as
    `table`.
    """
    from budget_opt.estimators.releases.released import released_column
    from budget_opt.estimators.source_marginals import source_marginal_of

    require_release(released, allocation, (attribute,))
    return source_marginal_of(allocation[attribute], released_column(released, allocation, attribute, weight))
