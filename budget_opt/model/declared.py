"""A declared attribute: its domain and scores, as problem and allocation both state them (DESIGN 3)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import StrictBool

from budget_opt.errors import MISSING, Fault
from budget_opt.mechanisms.exact import exact
from budget_opt.model.domain import Domain, Label, code_of_other, declared_domain, declared_labels
from budget_opt.model.fields import Categories, Edges, LabelField, Name, Number, Share
from budget_opt.model.parts import Part
from budget_opt.model.values import UnfitError

MARGINAL_SUM_ERROR = Fraction(1, 10**6)
LARGEST_SPREAD = 1e300


class Declared(Part):
    """Name, domain, scores and public shares of an attribute; `later` refuses other backgrounds."""

    later: ClassVar[dict[str, Any]] = {"background": "uniform"}
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
    background: Literal["uniform", "marginal"] | tuple[Share, ...] = "uniform"

    def __init__(self, /, *name: str, **fields: Any) -> None:
        if len(name) > 1:
            raise TypeError(f"{type(self).__name__} takes one name; everything else by keyword")
        super().__init__(**fields, **({"name": name[0]} if name else {}))

    @cached_property
    def domain(self) -> Domain:
        """The categories that a cell can take, by code; the missing category last, as None."""
        return declared_domain(
            self.categories, self.bins, missing=self.missing == "category", other=self.other
        )

    @property
    def cardinality(self) -> int:
        """r, the number of categories, the missing one included."""
        return len(self._plain_labels()) + (self.missing == "category")

    @property
    def effective_cardinality(self) -> float:
        """1 / least background share; r, as the background is uniform (DESIGN 2.1)."""
        return float(self.cardinality)

    @cached_property
    def score_values(self) -> tuple[float, ...] | None:
        """f of each category by code; None for nominal categories (at least three unordered labels).

        Given `scores`, else bin mid-points, else the index where the order means something: a number
        of categories, `ordered`, or two labels (where every scoring is the same up to scale).
        """
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

    @property
    def spread(self) -> tuple[float, float]:
        """(a, b) = (E f^2, s) / Var f of DESIGN 2.3, f centred at the background's mean.

        Under the stated marginal, else (1, 1) for the uniform one. For nominal categories the sums
        over all category indicators take the place of E f^2, s and Var f.
        """
        if self.marginal is None:
            return 1.0, 1.0
        share = np.asarray(self.marginal) / math.fsum(self.marginal)
        r, top = share.size, int(np.argmax(share))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if self.score_values is None:
                # 1 - sum of squares, from what the most common category leaves: nothing cancels
                others = np.delete(share, top)
                rest = others.sum()
                ratio = float((1.0 - 1.0 / r) / (rest * (2.0 - rest) - others @ others))
                return ratio, ratio
            f = np.asarray(self.score_values)
            g = f - f[top]  # seen from the most common category the variance does not cancel
            f = f - f.mean()
            variance = share @ g**2 - (share @ g) ** 2
            return float(share @ f**2 / variance), float(np.mean(f**2) / variance)

    def _laws(self) -> list[Fault]:
        if (self.categories is None) == (self.bins is None):
            value = MISSING if self.categories is None else self.categories
            return [Fault("categories, bins", value, "exactly one must be given", "Give one of the two.")]
        return [*self._score_faults(), *self._marginal_faults(), *self._other_faults()]

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
        if len(self.marginal) != self.cardinality:
            return [
                Fault(
                    "marginal",
                    self.marginal,
                    f"must be {self.cardinality} shares",
                    "Give one share a category (the missing category last).",
                )
            ]
        total = sum(map(exact, self.marginal), Fraction(0))
        if abs(total - 1) > MARGINAL_SUM_ERROR:
            return [Fault("marginal", self.marginal, "must sum to 1", f"It sums to {float(total):g}.")]
        if not self._score_faults() and not all(part <= LARGEST_SPREAD for part in self.spread):
            return [
                Fault(
                    "marginal",
                    self.marginal,
                    "must leave the attribute some variance",
                    "Give at least two categories with different scores a share above 0.",
                )
            ]
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
