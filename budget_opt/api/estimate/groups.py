"""Corrected means within groups of a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from budget_opt.allocation import Allocation
from budget_opt.api.estimate.asking import require_release

if TYPE_CHECKING:
    import numpy as np

    from budget_opt.estimators.groups.result import GroupMeans


def group_means(  # noqa: PLR0913 (each a word that users type)
    released: Any,
    allocation: Allocation,
    attribute: str,
    *,
    by: str,
    target: Literal["population", "data"] = "population",
    scores: Mapping[str, Sequence[float]] | None = None,
    weight: str | Literal[False] | None = None,
    noise_limit: float = 1.0,
    bootstrap: int = 0,
    rng: np.random.Generator | None = None,
) -> GroupMeans:
    """The original mean of a scored attribute within each category of `by`, randomized or public.

    Of a `grouping` it is of the merged categories, as a note says.
    `.difference("north", "south")` and `.against_rest("north")` compare groups with the covariance of
    their means in the error. A group whose estimated share is not clearly above 0, or whose error is above
    `noise_limit` times half the range of the scores, is withheld, with a note; `NoiseError` where all are.
    Everything else as in `bo.estimate.moment`.
    """
    from budget_opt.estimators.bootstrap.asked import bootstrap_of
    from budget_opt.estimators.groups import released_groups
    from budget_opt.estimators.moments.options import MomentOptions

    require_release(released, allocation, (attribute, by))
    options = MomentOptions(target, scores, weight, noise_limit, bootstrap_of(bootstrap, rng))
    return released_groups.group_means(released, allocation, attribute, by, options)
