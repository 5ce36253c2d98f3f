"""What merging categories leaves of an attribute's score: shares, scores, and the share of its variance.

Letters: p the shares of the declared categories (public or assumed; all alike where none are stated), f their
scores, g a merged category, P_g = sum_g p. The merged score is the conditional mean F_g = sum_g p f / P_g, so
that Var f = Var F + E Var(f | g), and the detail is Var F / Var f, in (0, 1].

A moment of Z~ = f - E f with anything whose regression on f is a line is multiplied by exactly the detail
when F takes the place of f: cov(F, V) = cov(F, E[V | f]) = b Var F = detail b Var f. It is an assumption
about the data elsewhere, where retentions are proved. For nominal categories the sums over all their
indicators take the place of the variances: (sum_g (sum_g p^2) / P_g - sum p^2) / (1 - sum p^2). That is
(G - 1) / (r - 1) for G merged of r categories that are all alike, which lose as much as the larger lambda
brings; what pays is to merge those that are rare, or alike by their scores.

Everything is a fraction of the decimals that are stated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from budget_opt.mechanisms.exact import exact


@dataclass(frozen=True)
class Coarsening:
    """`codes` says for each declared category which of the `count` merged ones it goes into.

    `shares` are the decimals that are stated of the declared categories, None where none are.
    """

    codes: tuple[int, ...]
    count: int
    shares: tuple[float, ...] | None = None

    def merged_shares(self) -> tuple[Fraction, ...]:
        """P of every merged category, which sum to 1."""
        return tuple(self._summed(self._shares()))

    def merged_scores(self, scores: Sequence[float]) -> tuple[Fraction, ...]:
        """F of every merged category; the plain mean of its members where their shares are 0."""
        share, f = self._shares(), [exact(score) for score in scores]
        weights = self._summed(share)
        plain = [Fraction(1) if weights[code] == 0 else p for code, p in zip(self.codes, share, strict=True)]
        whole = self._summed(plain)
        sums = self._summed([p * score for p, score in zip(plain, f, strict=True)])
        return tuple(total / weight for total, weight in zip(sums, whole, strict=True))

    def detail(self, scores: Sequence[float] | None) -> Fraction:
        """The share of the score's variance that is left; of nominal categories where there are no scores.

        0 where nothing is left, also where the declared categories have no variance.
        """
        kept, whole = self._nominal() if scores is None else self._scored(scores)
        return kept / whole if whole > 0 else Fraction(0)

    def _scored(self, scores: Sequence[float]) -> tuple[Fraction, Fraction]:
        """Var F and Var f."""
        share, f = self._shares(), [exact(score) for score in scores]
        mean = sum((p * score for p, score in zip(share, f, strict=True)), Fraction(0))
        whole = sum((p * (score - mean) ** 2 for p, score in zip(share, f, strict=True)), Fraction(0))
        pairs = zip(self._summed(share), self.merged_scores(scores), strict=True)
        return sum((p * (score - mean) ** 2 for p, score in pairs), Fraction(0)), whole

    def _nominal(self) -> tuple[Fraction, Fraction]:
        """The same summed over the indicators of all declared categories."""
        share = self._shares()
        squares = [p * p for p in share]
        within = sum(squares, Fraction(0))
        pairs = zip(self._summed(squares), self._summed(share), strict=True)
        between = sum((square / weight for square, weight in pairs if weight > 0), Fraction(0))
        return between - within, 1 - within

    def _shares(self) -> list[Fraction]:
        """p, which sum to 1."""
        if self.shares is None:
            return [Fraction(1, len(self.codes))] * len(self.codes)
        stated = [exact(share) for share in self.shares]
        total = sum(stated, Fraction(0))
        return [share / total for share in stated]

    def _summed(self, values: Sequence[Fraction]) -> list[Fraction]:
        """Sums over the members of every merged category."""
        sums = [Fraction(0)] * self.count
        for code, value in zip(self.codes, values, strict=True):
            sums[code] += value
        return sums
