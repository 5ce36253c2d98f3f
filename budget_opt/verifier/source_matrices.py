"""The implemented matrix of an attribute with a known source, rebuilt from the file's integers (DESIGN 2.8).

`rows[x][y]` of the 2^b words turn the truth x into the report y. A report that is possible for one truth must
be possible for all: a column of counts is all zero, a censored category, or all positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

from budget_opt.allocation.blocks import AllocatedBlock
from budget_opt.mechanisms.exact import exact, float_at_least, log_at_least
from budget_opt.mechanisms.hamming import MatrixSampler, Source, least_distortion
from budget_opt.verifier.report import EXPECTED, Check

_HAIR = Fraction(1, 10**6)
"""The share of cells by which a matrix may miss the best one: whole counts, and a solver's digits."""


@dataclass(frozen=True)
class SourceMatrix:
    """Of `words` equally likely words `rows[x][y]` turn the truth x into the report y."""

    words: int
    rows: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sampler: MatrixSampler) -> SourceMatrix:
        """The matrix of these counts."""
        return cls(2**sampler.bits, sampler.counts)

    @property
    def cardinality(self) -> int:
        """r, the number of categories."""
        return len(self.rows)

    def seen(self, shape: Sequence[int], members: Sequence[int]) -> SourceMatrix:
        """Itself: it is of one attribute, which is randomized alone."""
        assert len(shape) == len(members) == 1
        return self

    @cached_property
    def _columns(self) -> tuple[tuple[int, ...], ...]:
        return tuple(zip(*self.rows, strict=True))

    @property
    def is_stochastic(self) -> bool:
        """True where every row uses all words, and every report is possible for all truths or for none."""
        whole = all(len(row) == len(self.rows) and sum(row) == self.words for row in self.rows)
        return whole and all(min(column) > 0 or max(column) == min(column) == 0 for column in self._columns)

    @property
    def least(self) -> Fraction:
        """The smallest entry of a column that is not censored."""
        return Fraction(min(min(column) for column in self._columns if max(column) > 0), self.words)

    @property
    def truth(self) -> None:
        """P(report = truth) is not one number."""
        return None

    @property
    def other(self) -> None:
        """P(report = one given other category) is not one number."""
        return None

    @cached_property
    def loss(self) -> float:
        """The largest log ratio of two entries of a column, in nats, rounded up; inf where there is none."""
        if not self.is_stochastic:
            return inf
        return log_at_least(max(Fraction(max(one), min(one)) for one in self._columns if max(one) > 0))

    def distortion(self, source: Source) -> Fraction:
        """The expected share of changed cells under the worst distribution of the source."""
        kept = [row[code] for code, row in enumerate(self.rows)]
        return 1 - min(
            sum((share * count for share, count in zip(vertex, kept, strict=True)), Fraction(0))
            for vertex in source.vertices
        ) / Fraction(self.words)


def best_matrix_check(block: AllocatedBlock) -> Check:
    """A matrix that a source chose changes no more cells than the best one with its epsilon, within a hair.

    The best one is made anew; its own bound is proved by a closed form (`mechanisms.hamming`). Where the best
    is one report for everybody, nothing is released.
    """
    name, source, sampler = block.name, block.block.source, block.sampler
    assert source is not None
    if not isinstance(sampler, MatrixSampler):
        due = "none" if block.block.sampler(block.epsilon) is None else "a matrix of its source"
        stated = "none" if sampler is None else "no matrix of its source"
        return Check(
            claim=f"sampler of {name}",
            measured=stated,
            limit=due,
            holds=stated == due,
            source="the best matrix for its source and epsilon",
            name="sampler",
            word=EXPECTED,
            about=block.names,
        )
    changed = SourceMatrix.of(sampler).distortion(source)
    limit = exact(least_distortion(source, block.epsilon).distortion) + _HAIR
    return Check(
        claim=f"expected share of changed cells of {name}, in the worst case of its source",
        measured=float_at_least(changed),
        limit=float_at_least(limit),
        holds=changed <= limit,
        source="its counts, against the best matrix with its epsilon and a millionth",
        name="sampler",
        about=block.names,
    )
