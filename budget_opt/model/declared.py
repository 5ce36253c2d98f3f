"""A declared attribute: its domain and scores, as problem and allocation both state them (DESIGN 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import StrictBool

from budget_opt.errors import MISSING, Fault
from budget_opt.mechanisms.hamming import Source
from budget_opt.model.backgrounds.background import (
    Weights,
    background_shares,
    decimal_weights,
    require_shares,
    to_json,
)
from budget_opt.model.backgrounds.released import released_weights
from budget_opt.model.backgrounds.spread import FloatArray, spread_under, spread_under_uniform
from budget_opt.model.domain import Domain, declared_domain
from budget_opt.model.fields import BackgroundField, Categories, Edges, LabelField, Name, Number, Share
from budget_opt.model.groupings.detail import Coarsening
from budget_opt.model.groupings.fields import GroupingField
from budget_opt.model.groupings.grouping import Grouping, Merged, merged
from budget_opt.model.labels import Label, code_of_other, declared_labels
from budget_opt.model.parts import Part, below
from budget_opt.model.sources.field import KnownSourceField
from budget_opt.model.values import UnfitError

LARGEST_SPREAD = 1e300


class Declared(Part):
    """Name, domain, scores, public shares and background of an attribute.

    What is stated is about the declared categories (`scores`, `marginal`, a list as `background`). With a
    `grouping` the released ones are merged, and all that is computed with is about these: `domain`,
    `cardinality`, `shares`, `score_values`, `background_weights`, `spread`.
    """

    identity: ClassVar[tuple[str, ...]] = ("name",)

    name: Name
    categories: Categories | None = None
    bins: Edges | None = None
    scores: tuple[Number, ...] | None = None
    ordered: StrictBool = False
    marginal: tuple[Share, ...] | None = None
    missing: Literal["error", "category"] = "error"
    missing_score: Number | None = None
    other: LabelField | None = None
    background: BackgroundField = "uniform"
    grouping: GroupingField | None = None
    source: KnownSourceField | None = None

    def __init__(self, /, *name: str, **fields: Any) -> None:
        if len(name) > 1:
            raise TypeError(f"{type(self).__name__} takes one name; everything else by keyword")
        super().__init__(**fields, **({"name": name[0]} if name else {}))

    @cached_property
    def domain(self) -> Domain:
        """The categories that a report can take, by code; the missing category last, as None."""
        missing = self.missing == "category"
        return declared_domain(
            self.categories, self.bins, missing=missing, other=self.other, grouping=self.grouping
        )

    @property
    def cardinality(self) -> int:
        """r, the number of categories of a report, the missing one included."""
        return self.declared_cardinality if self._merged is None else len(self._merged.labels)

    @property
    def declared_cardinality(self) -> int:
        """The number of declared categories, before any are merged."""
        return len(self._plain_labels()) + (self.missing == "category")

    @cached_property
    def _merged(self) -> Merged | None:
        return None if self.grouping is None else self._merged_by(self.grouping)

    def _merged_by(self, grouping: Grouping) -> Merged:
        """What a grouping makes of the domain; raises `UnfitError` where it does not fit."""
        return merged(grouping, self._plain_labels(), self.bins, missing=self.missing == "category")

    @cached_property
    def _coarsening(self) -> Coarsening | None:
        return None if self._merged is None else self._merged.coarsening(self.marginal)

    @cached_property
    def detail(self) -> Fraction:
        """The share of the score's variance that the grouping leaves, in (0, 1]; 1 without one.

        By the stated marginal, else as if all declared categories were equally frequent. It multiplies the
        retention of every moment with this attribute, under the assumption of `groupings.detail`.
        """
        return Fraction(1) if self._coarsening is None else self._coarsening.detail(self._scores_by_code())

    @cached_property
    def shares(self) -> tuple[float, ...] | None:
        """The public or assumed shares of the categories of a report; None where none are stated."""
        if self.marginal is None or self._coarsening is None:
            return self.marginal
        return tuple(map(float, self._coarsening.merged_shares()))

    @property
    def effective_cardinality(self) -> float:
        """1 / least background share: what the price depends on; r for the uniform one (DESIGN 2.1)."""
        weights = self.background_weights
        return float(self.cardinality if weights is None else Fraction(sum(weights), min(weights)))

    @cached_property
    def known_source(self) -> Source | None:
        """The distributions over the categories of a report that `source` leaves; None without one."""
        return None if self.source is None else self.source.over(self.cardinality)

    @cached_property
    def background_weights(self) -> Weights | None:
        """The background, exactly, times a common factor: positive integers; None for the uniform one."""
        return self._weights()

    def _weights(self) -> Weights | None:
        """The same; raises `UnfitError` where there is no such background."""
        return released_weights(self.background, self.marginal, self.declared_cardinality, self._merged)

    @cached_property
    def score_values(self) -> tuple[float, ...] | None:
        """f of each category by code; None for nominal categories (at least three unordered labels).

        Given `scores`, else bin mid-points, else the index where the order means something: a number
        of categories, `ordered`, or two labels (where every scoring is the same up to scale). That of merged
        categories is the mean of their scores, weighted by the stated marginal, else a plain one.
        """
        declared = self._scores_by_code()
        if self._coarsening is None:
            return declared
        if declared is None:
            return (0.0, 1.0) if self.cardinality == 2 and self.domain.missing is None else None
        return tuple(map(float, self._coarsening.merged_scores(declared)))

    def _scores_by_code(self) -> tuple[float, ...] | None:
        """The scores of the declared categories."""
        declared = self._declared_scores()
        if declared is None or self.missing == "error":
            return declared
        if self.missing_score is None:
            return None
        return (*declared, self.missing_score)

    def _declared_scores(self) -> tuple[float, ...] | None:
        if self.scores is not None:
            return self.scores
        if self.bins is not None:
            edges = [edge for edge in self.bins if edge is not None]
            if len(edges) < len(self.bins):
                return None
            return tuple((low + high) / 2 for low, high in pairwise(edges))
        count = len(self._plain_labels())
        # with a missing category two labels are three, unless its score says where it stands
        two = count == 2 and (self.missing == "error" or self.missing_score is not None)
        means_order = self.ordered or isinstance(self.categories, int) or two
        return tuple(float(i) for i in range(count)) if means_order else None

    @cached_property
    def spread(self) -> tuple[float, float]:
        """(a, b) = (E f^2, s) / Var f of DESIGN 2.3, f centred at the background's mean.

        Under the stated marginal, else the uniform one: (1, 1) where the background is the same. For nominal
        categories the sums over all category indicators take the place of E f^2, s and Var f.
        """
        weights, marginal = self.background_weights, self.believed_shares
        if weights is None:
            if marginal is None:
                return 1.0, 1.0
            return spread_under_uniform(_shares(marginal), self.score_values)
        believed = (1,) * self.cardinality if marginal is None else decimal_weights(marginal)
        if believed == weights:
            return 1.0, 1.0
        return spread_under(background_shares(weights), background_shares(believed), self.score_values)

    @cached_property
    def believed_shares(self) -> tuple[float, ...] | None:
        """The shares that figures rest on, None where all categories count as equally frequent."""
        if self.marginal is None and self._coarsening is not None:
            return tuple(map(float, self._coarsening.merged_shares()))
        return self.shares

    def _laws(self) -> list[Fault]:
        if (self.categories is None) == (self.bins is None):
            value = MISSING if self.categories is None else self.categories
            return [Fault("categories, bins", value, "exactly one must be given", "Give one of the two.")]
        own = [*self._score_faults(), *self._marginal_faults(), *self._other_faults()]
        own = own or self._grouping_faults()
        return [*own, *([] if own else [*self._background_faults(), *self._source_faults()])]

    def _score_faults(self) -> list[Fault]:
        faults = []
        declared = len(self._plain_labels())
        if self.scores is not None and len(self.scores) != declared:
            faults.append(
                Fault("scores", self.scores, f"must be {declared} numbers", "Give one score a category.")
            )
        elif self.scores is not None and len(set(self.scores)) == 1:
            faults.append(Fault("scores", self.scores, "must differ", "Give at least two different scores."))
        if self.scores is None and self.bins is not None and None in self.bins:
            faults.append(
                Fault("scores", MISSING, "is required where a bin is open", "Give one score a bin.")
            )
        if self.missing == "error" and self.missing_score is not None:
            faults.append(
                Fault(
                    "missing_score",
                    self.missing_score,
                    'needs "missing": "category"',
                    "Add it, or remove the score.",
                )
            )
        if self.missing == "category" and self.missing_score is not None and self._declared_scores() is None:
            faults.append(
                Fault(
                    "missing_score",
                    self.missing_score,
                    "has no meaning: the other categories have no scores",
                    'Give scores or "ordered": true, or remove it.',
                )
            )
        if self.missing == "category" and self.missing_score is None and self._declared_scores() is not None:
            faults.append(
                Fault(
                    "missing_score",
                    MISSING,
                    "is required: the other categories have scores",
                    "Give the score that stands for a missing answer.",
                )
            )
        return faults

    def _marginal_faults(self) -> list[Fault]:
        if self.marginal is None:
            return []
        try:
            require_shares(self.marginal, self.declared_cardinality)
        except UnfitError as why:
            return [Fault("marginal", self.marginal, why.limit, f"{why.remedy}.")]
        # whatever the background, both parts are inverse to the variance
        under_uniform = (
            ()
            if self._score_faults()
            else spread_under_uniform(_shares(self.marginal), self._scores_by_code())
        )
        if not all(part <= LARGEST_SPREAD for part in under_uniform):
            return [
                Fault(
                    "marginal",
                    self.marginal,
                    "must leave the attribute some variance",
                    "Give at least two categories with different scores a share above 0.",
                )
            ]
        return []

    def _grouping_faults(self) -> list[Fault]:
        return [] if self.grouping is None else below("grouping", self._faults_of_grouping(self.grouping))

    def _faults_of_grouping(self, grouping: Grouping) -> list[Fault]:
        """What keeps the categories from being merged so."""
        try:
            self._merged_by(grouping).require_variance(self.marginal, self._scores_by_code())
        except UnfitError as why:
            return [Fault("", grouping.to_json(), why.limit, f"{why.remedy}.")]
        return []

    def _background_faults(self) -> list[Fault]:
        try:
            self._weights()
        except UnfitError as why:
            return [Fault("background", to_json(self.background), why.limit, f"{why.remedy}.")]
        return []

    def _source_faults(self) -> list[Fault]:
        """What keeps a known source from choosing the matrix."""
        if self.source is None:
            return []
        if self.background != "uniform":
            limit = "has no meaning beside a source, whose matrix is chosen whole"
            return [Fault("background", to_json(self.background), limit, "Remove one of the two.")]
        try:
            self.source.over(self.cardinality)
        except UnfitError as why:
            return [Fault("source", self.source.to_json(), why.limit, f"{why.remedy}.")]
        return []

    def _other_faults(self) -> list[Fault]:
        if self.other is None:
            return []
        try:
            code_of_other(self._plain_labels(), self.other, self.bins)
        except UnfitError as why:
            return [Fault("other", self.other, why.limit, f"{why.remedy}.")]
        return []

    def _plain_labels(self) -> tuple[Label, ...]:
        return declared_labels(self.categories, self.bins)


def _shares(marginal: Sequence[float]) -> FloatArray:
    """The shares with sum 1 to the last digits."""
    return np.asarray(marginal) / math.fsum(marginal)
