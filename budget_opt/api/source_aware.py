"""The best matrix for one attribute about whose distribution something is known (Kalantari 2018)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isinf
from typing import TYPE_CHECKING, Any

from budget_opt.allocation.merging import is_merged, merged_told
from budget_opt.errors import InputError
from budget_opt.estimators.source_marginals import corrected_by_inverse
from budget_opt.mechanisms.exact import exact, float_at_least, float_at_most, multiple_at_least
from budget_opt.mechanisms.hamming import (
    MatrixSampler,
    Optimum,
    Source,
    StochasticMatrix,
    least_distortion,
    least_epsilon,
    sampler_of,
)
from budget_opt.mechanisms.sampler import LARGEST_LOST_SHARE, WIDTHS, sampler_for
from budget_opt.model.attribute import Attribute
from budget_opt.model.distortion import distortion as symmetric_distortion
from budget_opt.model.labels import label_text
from budget_opt.solvers.conflicts.rounding import rounded_down, rounded_up

if TYPE_CHECKING:
    from budget_opt.model.labels import Label

_LEAST_BITS = 64
_SPARE_WORDS = 4
"""Times r^2 words: by what a distortion is aimed lower, more than the rounding of a row can cost."""
_ENOUGH = Fraction(1, 10**9)
"""Longer words are tried while the loss is above the least epsilon by more than this share of it."""
_NAMED = 12
_DIGITS = 6
"""Of printed numbers, each rounded to its safe side."""

Known = Source | Sequence[Sequence[float | Fraction]]


@dataclass(frozen=True)
class SourceAware:
    """A matrix of its own for one attribute, its integers, and all that can be said before anything is drawn.

    Its effect on moments is no single factor, so that it has no retention and takes no part in floors and
    weights. `source` of an attribute puts the same into a problem; whoever draws with it otherwise adds
    `loss` to that of whatever else is released of the same people. All numbers are of the implemented matrix
    and proved.
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
        """That of randomized response with the same `loss`, whatever the source; rounded up."""
        plain = sampler_for(self.loss, self.attribute.cardinality)
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
        return corrected_by_inverse(self.matrix, reports, reports)

    def __str__(self) -> str:
        name, kind, least = self.attribute.name, self.optimum.source.source_class, self.optimum.bound
        proved = (
            f"changes fewer than {_told(rounded_down(float_at_most(100 * exact(least)), _DIGITS))}%"
            if self.optimum.minimized == "distortion"
            else f"has less than {_told(rounded_down(least, _DIGITS))} nats"
        )
        return (
            f"{name}: source of class {kind}, loss {_told(rounded_up(self.loss, _DIGITS))} nats"
            f"{self._loss_left}\n"
            f"  never reported: {self._censored_told}\n"
            f"  changed cells (expected, worst source): {_percent_at_least(self.distortion)}; of randomized "
            f"response with this loss: {_percent_at_least(self.distortion_of_randomized_response)}\n"
            f"  no matrix that keeps the other of the two {proved} (proved)"
        )

    @property
    def _censored_told(self) -> str:
        """How many categories, and which: the reports tell nothing of them apart."""
        labels = [label_text(label) for label in self.censored]
        more = f" and {len(labels) - _NAMED:,} more" if len(labels) > _NAMED else ""
        which = f" ({', '.join(labels[:_NAMED])}{more})" if labels else ""
        return f"{len(labels) or 'none'} of {self.attribute.cardinality:,} categories{which}"

    @property
    def _loss_left(self) -> str:
        """What is said where words are too coarse for the loss of the exact matrix."""
        wanted = self.optimum.epsilon
        if exact(self.loss) >= exact(wanted) * (1 - LARGEST_LOST_SHARE):
            return ""
        of_exact = _told(rounded_up(wanted, _DIGITS))
        return f", all that {self.sampler.bits}-bit words implement of the {of_exact} of the exact matrix"


def _told(number: float) -> str:
    return f"{number:.{_DIGITS}g}"


def _percent_at_least(share: float) -> str:
    return f"{_told(rounded_up(multiple_at_least(share, 100), _DIGITS))}%"


def source_aware(
    attribute: Attribute, source: Known, *, epsilon: float | None = None, distortion: float | None = None
) -> SourceAware:
    """The best matrix for this attribute: the fewest changed cells at `epsilon`, or the least epsilon.

    `source` is a `hamming.Source` over the attribute's categories by code, or a list of distributions of
    which some mixture holds; it must be public, as an allocation is. (`Source.between`, with bounds on every
    share, takes at most 14 categories; merge some, or list distributions.) Give `epsilon` (nats, 0..700) or
    `distortion` (0..1), which the implemented matrix keeps exactly; by default the attribute's own pin or
    `distortion_max`. The loss of the implemented matrix may be less than `epsilon`: words of 128 bits end
    near 88.7 nats, and the best matrix may need less. Raises InputError, also where `epsilon`, or the one
    that `distortion` needs, is outside the attribute's bounds.
    """
    known = source if isinstance(source, Source) else Source.of(source)
    if known.cardinality != attribute.cardinality:
        of_merged = f", {merged_told(attribute)}" if is_merged(attribute) else ""
        raise InputError(
            f"source: is over {known.cardinality} categories, and {attribute.name} reports "
            f"{attribute.cardinality}{of_merged}. State a share for each, the missing category last"
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
        _require_within_bounds(attribute, epsilon, epsilon)
        return SourceAware(attribute, optimum, sampler)
    assert distortion is not None
    optimum = least_epsilon(known, distortion)
    sampler = _keeping(attribute, optimum, distortion)
    _require_within_bounds(attribute, optimum.epsilon, sampler.loss)
    return SourceAware(attribute, optimum, sampler)


def _keeping(attribute: Attribute, optimum: Optimum, distortion: float) -> MatrixSampler:
    """The sampler with the least loss whose whole counts of words keep `distortion`."""
    asked = exact(distortion)
    enough = exact(optimum.epsilon) * (1 + _ENOUGH)
    _, high = _stated_bounds(attribute)
    if not isinf(high):
        enough = min(enough, exact(high))
    best: MatrixSampler | None = None
    for sampler in _samplers(optimum, asked):
        if sampler.matrix.distortion(optimum.source) <= asked:
            best = sampler if best is None else min(best, sampler, key=lambda one: one.loss)
            if exact(best.loss) <= enough:
                break
    if best is None:
        raise InputError(
            f"distortion: is {distortion!r}, which {max(WIDTHS)}-bit words cannot keep. Allow a larger share"
        )
    return best


def _samplers(optimum: Optimum, asked: Fraction) -> Iterator[MatrixSampler]:
    """Of the best matrix, then, with ever longer words, of the best ones for a hair less distortion.

    The first keeps `asked` where one report is best for every truth. There the least epsilon jumps, from 0
    at that distortion to more than 0 a hair below it, so that aiming lower is no way to it.
    """
    yield sampler_of(optimum.matrix, optimum.epsilon, least_bits=_LEAST_BITS)
    for bits in (width for width in WIDTHS if width >= _LEAST_BITS):
        aim = asked - Fraction(_SPARE_WORDS * optimum.source.cardinality**2, 2**bits)
        if aim > 0:
            aimed = least_epsilon(optimum.source, aim)
            yield sampler_of(aimed.matrix, aimed.epsilon, least_bits=bits)


def _stated_bounds(attribute: Attribute) -> tuple[float, float]:
    """Those of the attribute itself, and not the pin that a `source` of its own makes of its distortion."""
    if attribute.epsilon is not None:
        return attribute.epsilon, attribute.epsilon
    return attribute.epsilon_min or 0.0, inf if attribute.epsilon_max is None else attribute.epsilon_max


def _require_within_bounds(attribute: Attribute, wanted: float, spent: float) -> None:
    """`wanted` nats are at least the lower bound, and `spent` nats at most the upper one."""
    low, high = _stated_bounds(attribute)
    reaches, keeps = exact(low) <= exact(wanted), isinf(high) or exact(spent) <= exact(high)
    if reaches and keeps:
        return
    raise InputError(
        f"{attribute.name}: epsilon {spent if reaches else wanted!r} is outside its bounds {low!r} to "
        f"{high!r}. Change the bounds, or what is asked for"
    )
