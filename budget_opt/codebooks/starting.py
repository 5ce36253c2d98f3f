"""A first problem file from a codebook, for the curator to fill in."""

from __future__ import annotations

from typing import Any

from budget_opt.codebooks.codebook import Codebook
from budget_opt.errors import InputError
from budget_opt.model.moments.priorities import MOST_MOMENTS
from budget_opt.model.problem import FORMAT, VERSION, Problem


def starting_document(
    codebook: Codebook, total_epsilon: float = 1.0, *, name: str = "", drop_others: bool = False
) -> dict[str, Any]:
    """A problem file with the attributes of a codebook and, until the curator knows better, all their pairs.

    Its objective is the geometric mean, which gives no pair up; `total_epsilon` is in nats. Columns without
    a declared domain are dropped if `drop_others`; else a release refuses them until they are decided.
    Raises `InputError` where the codebook has no attribute, and where the file would not be a valid problem.
    """
    if not codebook.attributes:
        raise InputError(
            f"{codebook.source}: declares the categories of no column. "
            "Add value labels or lists of values to it, or write the attributes by hand."
        )
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        "total_epsilon": total_epsilon,
        "objective": "geometric_mean",
        "attributes": [attribute.to_dict() for attribute in codebook.attributes],
        **_moments([attribute.name for attribute in codebook.attributes]),
    }
    if drop_others and codebook.others:
        document["dropped"] = [other.name for other in codebook.others]
    Problem.from_dict(document)
    return document


def _moments(names: list[str]) -> dict[str, Any]:
    """All pairs as one rule; the marginals where there are too many pairs, or none."""
    if len(names) > 1 and len(names) * (len(names) - 1) // 2 <= MOST_MOMENTS:
        return {"moment_rules": [{"all_pairs": names}]}
    return {"moments": [{"attributes": [name]} for name in names]}
