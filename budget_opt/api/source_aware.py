"""The best matrix for one attribute about whose distribution something is known (Kalantari 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isinf
from typing import TYPE_CHECKING, Any

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.mechanisms.hamming import (
    MatrixSampler,
    Optimum,
    Source,
    StochasticMatrix,
    least_distortion,
    least_epsilon,
    sampler_of,
)
from budget_opt.mechanisms.sampler import WIDTHS, sampler_for
from budget_opt.model.attribute import Attribute
from budget_opt.model.distortion import distortion as symmetric_distortion

if TYPE_CHECKING:
    from budget_opt.model.labels import Label

_SPARE = Fraction(1, 10**9)
"""By what a distortion is aimed lower, relatively."""
_LEAST_BITS = 64

Known = Source | Sequence[Sequence[float | Fraction]]


@dataclass(frozen=True)
class SourceAware:
    """A matrix of its own for one attribute, its integers, and all that can be said before anything is drawn.

    It stands beside an allocation and not in it: its effect on moments is no single factor, so that it has
    no retention and takes no part in floors and weights. Whoever draws with it adds `loss` to that of
    whatever else is released of the same people. All numbers are of the implemented matrix and proved.
    """

    attribute: Attribute
    optimum: Optimum
    sampler: MatrixSampler

    @property
    def matrix(self) -> StochasticMatrix:
        """The implemented matrix in exact fractions, rows the truth."""
        return self.sampler.matrix

    @property
    def loss(self) -> float:
        """Privacy loss in nats, rounded up, whatever the source is: the guarantee does not rest on it."""
        return self.sampler.loss

    @cached_property
    def distortion(self) -> float:
        """The expected share of changed cells in the worst case that the source leaves, rounded up."""
        return float_at_least(self.matrix.distortion(self.optimum.source))

    @cached_property
    def distortion_of_randomized_response(self) -> float:
        """That of randomized response with the same epsilon, whatever the source; rounded up."""
        plain = sampler_for(self.optimum.epsilon, self.attribute.cardinality)
        kept = Fraction(0) if plain is None else plain.retention
        return float_at_least(
            symmetric_distortion(Attribute("a", categories=self.attribute.cardinality), kept)
        )

    @property
    def censored(self) -> tuple[Label | None, ...]:
        """The categories that are never reported."""
        reported = set(self.matrix.reported)
        return tuple(label for code, label in enumerate(self.attribute.domain.labels) if code not in reported)

    def effect(self, scores: Sequence[float | Fraction] | None = None) -> tuple[Fraction, ...]:
        """(Q f)(x) = E[f(report) | truth x] by code, exactly; f the attribute's scores by default.

        This is the whole effect on moments. For attributes S that are randomized independently beside this
        one, with retention R_S,

            E f(Y) prod_S W~  =  R_S  E (Q f)(X) prod_S Z~:

        in every moment the scores f are replaced by Q f, and what it is worth depends on the joint
        distribution. Raises InputError without scores.
        """
        used = self.attribute.score_values if scores is None else scores
        if used is None:
            raise InputError(
                f"{self.attribute.name}: has no scores, so there is nothing to take the mean of. Give "
                "`scores`, one number a category"
            )
        return self.matrix.expected(used)

    def corrected_marginal(self, counts: Sequence[int]) -> tuple[Any, Any]:
        """Unbiased shares of the truths from the counts of the reports by code, and their standard errors.

        Both estimated, arrays of shape (r,); shares may be negative. The errors are those of the population's
        shares: drawing and sampling are both random. Raises InputError for other than r counts that are
        not all zero, and where categories are censored: then nothing corrects them.
        """
        import numpy as np

        reports = np.asarray(counts, dtype=np.float64)
        total = float(reports.sum())
        if reports.shape != (self.attribute.cardinality,) or reports.min() < 0 or total == 0:
            raise InputError(
                f"counts: must be {self.attribute.cardinality} numbers >= 0, one a category, not all zero"
            )
        inverse = self.matrix.inverse()
        shares = reports / total
        spread = inverse.T @ (np.diag(shares) - np.outer(shares, shares)) @ inverse / total
        return shares @ inverse, np.sqrt(np.maximum(np.diag(spread), 0.0))

    def __str__(self) -> str:
        name, kind, least = self.attribute.name, self.optimum.source.source_class, self.optimum.bound
        fewest = self.optimum.minimized == "distortion"
        proved = f"changes fewer than {least:.4%}" if fewest else f"has less than {least:.6g} nats"
        censored = ", ".join(str(label) for label in self.censored) or "none"
        return (
            f"{name}: source of class {kind}, loss {self.loss:.6g} nats\n"
            f"  changed cells (expected, worst source): {self.distortion:.4%}; "
            f"of randomized response with this epsilon: {self.distortion_of_randomized_response:.4%}\n"
            f"  no matrix that keeps the other of the two {proved} (proved)\n"
            f"  never reported: {censored}"
        )


def source_aware(
    attribute: Attribute, source: Known, *, epsilon: float | None = None, distortion: float | None = None
) -> SourceAware:
    """The best matrix for this attribute: the fewest changed cells at `epsilon`, or the least epsilon.

    `source` is a `hamming.Source` over the attribute's categories by code, or a list of distributions of
    which some mixture holds; it must be public, as an allocation is. Give `epsilon` (nats, 0..700) or
    `distortion` (0..1), which the implemented matrix keeps exactly; by default the attribute's own pin or
    `distortion_max`. Raises InputError, for an epsilon outside the attribute's bounds too.
    """
    known = source if isinstance(source, Source) else Source.of(source)
    if known.cardinality != attribute.cardinality:
        raise InputError(
            f"source: is over {known.cardinality} categories, and {attribute.name} reports "
            f"{attribute.cardinality}. State a share for each, the missing category last"
        )
    if epsilon is None and distortion is None:
        epsilon, distortion = attribute.epsilon, attribute.distortion_max
    if (epsilon is None) == (distortion is None):
        raise InputError(
            f"{attribute.name}: needs an epsilon or a distortion, and not both. Give epsilon=... for the "
            "fewest changed cells, or distortion=... for the least epsilon"
        )
    if epsilon is not None:
        optimum = least_distortion(known, epsilon)
        sampler = sampler_of(optimum.matrix, epsilon)
    else:
        assert distortion is not None
        optimum, sampler = _within(known, distortion)
    _require_within_bounds(attribute, optimum.epsilon)
    return SourceAware(attribute, optimum, sampler)


def _within(source: Source, distortion: float) -> tuple[Optimum, MatrixSampler]:
    """The best matrix for a hair less than `distortion`, so that whole counts of words still keep it."""
    asked = exact(distortion)
    optimum = least_epsilon(source, distortion)
    aimed = least_epsilon(source, asked * (1 - _SPARE))
    for bits in (width for width in WIDTHS if width >= _LEAST_BITS):
        sampler = sampler_of(aimed.matrix, aimed.epsilon, least_bits=bits)
        if sampler.matrix.distortion(source) <= asked:
            return optimum, sampler
    raise InputError(
        f"distortion: is {distortion!r}, which {max(WIDTHS)}-bit words cannot keep. Allow a larger share"
    )


def _require_within_bounds(attribute: Attribute, epsilon: float) -> None:
    high = attribute.upper
    if exact(attribute.lower) <= exact(epsilon) and (isinf(high) or exact(epsilon) <= exact(high)):
        return
    raise InputError(
        f"{attribute.name}: epsilon {epsilon!r} is outside its bounds {attribute.lower!r} to {high!r}. "
        "Change the bounds, or what is asked for"
    )
