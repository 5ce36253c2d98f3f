"""What is publicly known of an attribute's distribution: the field `source` of an attribute (DESIGN 2.1).

The attribute is then randomized by the matrix that changes the fewest cells in the worst case of what is
known (`mechanisms.hamming`). Its loss does not depend on that: only the share of changed cells does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from budget_opt.errors import InputError
from budget_opt.mechanisms.hamming import Source
from budget_opt.model.values import UnfitError, items_of, real

LARGEST_SOURCE = 256
"""Categories up to which a file states the whole matrix."""
_MOST_DISTRIBUTIONS = 1000
_LIMIT = 'must be {"between": …}, {"ordered": …} or {"distributions": …}'
_REMEDY = (
    'State {"between": {"lower": [...], "upper": [...]}}, {"ordered": {"first_at_least": 0.5}}, or '
    '{"distributions": [[...], ...]}'
)

Shares = tuple[float, ...]


@dataclass(frozen=True)
class KnownSource:
    """One of three statements about the shares of the categories of a report, by code.

    `between`: each share lies between a lower and an upper one. `ordered`: the categories are listed from the
    most to the least frequent, and the first has at least this share. `distributions`: some mixture of these.
    """

    between: tuple[Shares, Shares] | None = None
    ordered: float | None = None
    distributions: tuple[Shares, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """The statement as it stands in a file."""
        if self.between is not None:
            lower, upper = self.between
            return {"between": {"lower": list(lower), "upper": list(upper)}}
        if self.ordered is not None:
            return {"ordered": {"first_at_least": self.ordered}}
        return {"distributions": [list(shares) for shares in self.distributions or ()]}

    def over(self, cardinality: int) -> Source:
        """The set of distributions over so many categories; raises `UnfitError` where there is none."""
        if cardinality > LARGEST_SOURCE:
            raise UnfitError(
                f"needs at most {LARGEST_SOURCE} categories, and there are {cardinality:,}",
                "Remove it, or merge categories (grouping)",
            )
        try:
            source = _source(self, cardinality)
        except InputError as why:
            raise UnfitError(f"states no distribution: {why}", _REMEDY) from None
        if source.cardinality != cardinality:
            raise UnfitError(
                f"must have {cardinality} shares in every list",
                "Give one a category of the report (the missing category last)",
            )
        return source


@lru_cache(maxsize=256)
def _source(known: KnownSource, cardinality: int) -> Source:
    if known.between is not None:
        return Source.between(*known.between)
    if known.ordered is not None:
        return Source.ordered(cardinality, first_at_least=known.ordered)
    return Source.of(known.distributions or ())


def known_source(value: object) -> KnownSource:
    """What a file may state, apart from what the rest of the attribute says; raises `UnfitError`."""
    if isinstance(value, KnownSource):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise UnfitError(_LIMIT, _REMEDY)
    ((kind, stated),) = value.items()
    if kind == "between" and isinstance(stated, Mapping) and set(stated) == {"lower", "upper"}:
        return KnownSource(between=(_shares(stated["lower"]), _shares(stated["upper"])))
    if kind == "ordered" and isinstance(stated, Mapping) and set(stated) == {"first_at_least"}:
        return KnownSource(ordered=_share(stated["first_at_least"]))
    if kind == "distributions":
        listed = items_of(stated, _LIMIT, _REMEDY)
        if not 0 < len(listed) <= _MOST_DISTRIBUTIONS:
            raise UnfitError(f"must list 1 to {_MOST_DISTRIBUTIONS:,} distributions", _REMEDY)
        return KnownSource(distributions=tuple(_shares(one) for one in listed))
    raise UnfitError(_LIMIT, _REMEDY)


def _shares(value: Any) -> Shares:
    return tuple(_share(one) for one in items_of(value, "must have lists of shares", _REMEDY))


def _share(value: Any) -> float:
    number = real(value, "a number", _REMEDY)
    if not 0 <= number <= 1:
        raise UnfitError("must have shares from 0 to 1", _REMEDY)
    return number
