"""The background of the categories of a report, from what is stated about the declared ones."""

from __future__ import annotations

from collections.abc import Sequence

from budget_opt.model.backgrounds.background import Background, Weights, background_weights, require_shares
from budget_opt.model.groupings.grouping import Merged


def released_weights(
    stated: Background, marginal: Sequence[float] | None, cardinality: int, merged: Merged | None
) -> Weights | None:
    """The whole weights of the background of a report's categories, all positive; None for the uniform one.

    A list of probabilities and the `marginal` (sound shares, or None) are of the `cardinality` declared
    categories; where a grouping has `merged` some, theirs are summed. The uniform background is that of the
    merged categories. Raises `UnfitError` where there is no such background.
    """
    if merged is None:
        return background_weights(stated, marginal, cardinality)
    if isinstance(stated, tuple):
        require_shares(stated, cardinality)
        stated = _merged(merged, stated)
    shares = None if marginal is None else _merged(merged, tuple(marginal))
    return background_weights(stated, shares, len(merged.labels))


def _merged(merged: Merged, shares: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(float, merged.coarsening(shares).merged_shares()))
