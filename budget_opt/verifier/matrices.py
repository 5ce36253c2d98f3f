"""The implemented matrix of a block, rebuilt from the file's integers by counting words (DESIGN 2.1, 2.8).

A block is what is randomized as one: an attribute, or a cluster with its joint categories (DESIGN 2.9).

A uniform b-bit word u gives d = min(u div q, r - 1) and the report (x + d + 1) mod r: q words for each d
below r - 1, which are other categories, and the rest of the 2^b for d = r - 1, the truth. Row x is thus these
counts moved by x: every row and every column holds the same r counts, two of them distinct. A statement about
one row is a statement about all, and r x r is never built, however many categories there are. Of another
background than the uniform one: `background_matrices`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, prod
from typing import TypeAlias

from budget_opt.allocation import Allocation
from budget_opt.allocation.blocks import AllocatedAttribute, AllocatedBlock
from budget_opt.mechanisms.background_sampler import BackgroundSampler
from budget_opt.mechanisms.exact import exact, float_at_least, float_at_most, log_at_least
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler
from budget_opt.mechanisms.samplers import AnySampler, any_sampler_as_stated
from budget_opt.verifier.background_matrices import BackgroundMatrix
from budget_opt.verifier.report import EXPECTED, Check, listed_figures
from budget_opt.verifier.source_matrices import SourceMatrix, best_matrix_check

_NAMED = 3
"""Counts of a sampler that are listed where they are not what they must be."""
_POSSIBLE = ("every report is possible", "a report is possible for every truth or for none")


@dataclass(frozen=True)
class Matrix:
    """How many of `words` equally likely words lead to the truth, and to each of the r - 1 others."""

    cardinality: int
    words: int
    truth_words: int
    other_words: int

    @classmethod
    def of(cls, block: AllocatedBlock) -> Matrix:
        """The matrix of a block's r, b and q; without a sampler every report is alike (R36)."""
        r, sampler = block.cardinality, block.sampler
        if not isinstance(sampler, Sampler):
            return cls(r, r, 1, 1)
        words = 2**sampler.bits
        return cls(r, words, max(0, words - (r - 1) * sampler.q), sampler.q)

    def seen(self, shape: Sequence[int], members: Sequence[int]) -> Matrix:
        """The matrix of these members alone, `shape` being the categories of all.

        Each of their joint categories stands for r / (their number) of the block's: the words of all of these
        lead to it, also those of the true one (DESIGN 2.9).
        """
        cardinality = prod(shape[member] for member in members)
        alike = self.cardinality // cardinality
        truth_words = self.truth_words + (alike - 1) * self.other_words
        return Matrix(cardinality, self.words, truth_words, alike * self.other_words)

    @property
    def is_stochastic(self) -> bool:
        """True where the counts of a row, and so of a column, add up to all words, and none is 0."""
        whole = self.truth_words + (self.cardinality - 1) * self.other_words == self.words
        return whole and min(self.truth_words, self.other_words) > 0

    @property
    def truth(self) -> Fraction:
        """P(report = truth)."""
        return Fraction(self.truth_words, self.words)

    @property
    def other(self) -> Fraction:
        """P(report = one given other category)."""
        return Fraction(self.other_words, self.words)

    @property
    def least(self) -> Fraction:
        """The smallest entry."""
        return min(self.truth, self.other)

    @property
    def kept_words(self) -> int:
        """lambda, the diagonal less the rest, times `words`; negative where the truth is avoided."""
        return self.truth_words - self.other_words

    @property
    def retention(self) -> Fraction:
        """lambda."""
        return Fraction(self.kept_words, self.words)

    @cached_property
    def loss(self) -> float:
        """The largest log ratio of two entries of a column, over all columns, in nats, rounded up.

        A column has one entry `truth` and r - 1 entries `other`. inf where the matrix is none, or one of its
        entries is 0.
        """
        if not self.is_stochastic:
            return inf
        most, least = max(self.truth_words, self.other_words), min(self.truth_words, self.other_words)
        return log_at_least(Fraction(most, least))


AnyMatrix: TypeAlias = Matrix | BackgroundMatrix | SourceMatrix
Matrices = dict[str, AnyMatrix]


def matrices_of(blocks: Iterable[AllocatedBlock]) -> Matrices:
    """The matrix of every block by name."""
    return {block.name: matrix_of(block) for block in blocks}


def matrix_of(block: AllocatedBlock) -> AnyMatrix:
    """The matrix of a block: of the kind that its integers are of, and else of its background."""
    if isinstance(block.sampler, MatrixSampler):
        return SourceMatrix.of(block.sampler)
    if isinstance(block.sampler, Sampler) or (block.sampler is None and block.has_uniform_background):
        return Matrix.of(block)
    return BackgroundMatrix.of(block)


def kept_of(matrix: AnyMatrix) -> Fraction:
    """lambda, exactly; 0 of a matrix without one, which no problem has in a moment."""
    return Fraction(0) if isinstance(matrix, SourceMatrix) else matrix.retention


def size_checks(blocks: Iterable[AllocatedBlock]) -> Iterator[Check]:
    """A failed check of every block whose integers are for another number of categories than it has.

    What they make of its categories is then not what any check here is of.
    """
    for block in blocks:
        if block.sampler is not None and block.sampler.cardinality != block.cardinality:
            yield Check(
                claim=f"the sampler of {block.name} is for all of its categories, and no others",
                measured=block.sampler.cardinality,
                limit=block.cardinality,
                holds=False,
                source="sampler integers",
                name="sampler size",
                word=EXPECTED,
                about=block.names,
            )


def loss_checks(blocks: Iterable[AllocatedBlock], matrices: Matrices) -> Iterator[Check]:
    """Every matrix is one of the block's categories, and its loss is at most the block's epsilon."""
    for block in blocks:
        name = block.name
        matrix = matrices[name]
        yield from size_checks([block])
        yield Check(
            claim=f"matrix of {name}: {_POSSIBLE[isinstance(matrix, SourceMatrix)]}",
            measured=float(matrix.least),
            limit="above 0, rows sum to 1"
            if isinstance(matrix, SourceMatrix)
            else "above 0, rows and columns sum to 1",
            holds=matrix.is_stochastic,
            source="sampler integers",
            name="matrix",
            about=block.names,
        )
        yield Check(
            claim=f"loss of {name}",
            measured=matrix.loss,
            limit=block.epsilon,
            holds=matrix.loss < inf and exact(matrix.loss) <= exact(block.epsilon),
            source="largest log ratio of its matrix",
            name="loss",
            about=block.names,
        )


def statement_checks(allocation: Allocation, matrices: Matrices) -> Iterator[Check]:
    """The integers are those that epsilon demands, and what is stated of the matrix is what they make."""
    for block in allocation.blocks:
        yield _sampler_check(block) if block.block.source is None else best_matrix_check(block)
        yield _figures_check(block, block.names, matrices[block.name])
    for attribute in allocation.attributes:
        if attribute.cluster:
            whole = matrices[attribute.part.name]
            part = attribute.part
            own = whole.seen(part.shape, [part.names.index(attribute.name)])
            yield _figures_check(attribute, (attribute.name,), own, whole)


def _sampler_check(block: AllocatedBlock) -> Check:
    """q = ceil(2^b / (exp(epsilon) + r - 1)): a larger one is as private, but is not what is stated.

    So for the counts of another background.
    """
    stated = block.sampler
    bits = None if stated is None else stated.bits
    due = any_sampler_as_stated(block.epsilon, block.cardinality, block.block.background_weights, bits)
    measured, expected = _integers(stated, due)
    return Check(
        claim=f"sampler of {block.name}",
        measured=measured,
        limit=expected,
        holds=stated == due,
        source="the integers that its epsilon and background demand, exp rounded outward"
        if isinstance(due, BackgroundSampler)
        else "the q that its epsilon demands, exp rounded outward",
        name="sampler",
        word=EXPECTED,
        about=block.names,
    )


def _figures_check(
    stating: AllocatedBlock | AllocatedAttribute,
    about: tuple[str, ...],
    matrix: AnyMatrix,
    whole: AnyMatrix | None = None,
) -> Check:
    """Each stated double is the exact number rounded in its direction: loss up, retention down.

    Of the member of a cluster the probabilities are its column's, and the loss is that of the `whole`: what a
    change of it costs.
    """
    figures: dict[str, tuple[float | None, float | None]] = {
        "loss": (stating.loss, (whole or matrix).loss),
        "retention": (
            stating.retention if stating.has_retention else None,
            None if isinstance(matrix, SourceMatrix) else float_at_most(matrix.retention),
        ),
        "truth_probability": (stating.truth_probability, _double(matrix.truth)),
        "other_probability": (stating.other_probability, _double(matrix.other)),
    }
    source = stating.block.source if isinstance(stating, AllocatedBlock) else None
    if source is not None and isinstance(matrix, SourceMatrix):
        figures["distortion"] = (stating.distortion, float_at_least(matrix.distortion(source)))
    wrong = {name: pair for name, pair in figures.items() if pair[0] != pair[1]}
    return Check(
        claim=f"stated loss, retention and probabilities of {stating.name}",
        measured=listed_figures({name: stated for name, (stated, _) in wrong.items()})
        or f"{len(figures)} agree",
        limit=listed_figures({name: exactly for name, (_, exactly) in wrong.items()}) or f"{len(figures)}",
        holds=not wrong,
        source="its matrix; loss rounded up, retention down"
        if whole is None
        else "the matrix of its cluster, summed over the others; loss of the cluster",
        name="figures",
        word=EXPECTED,
        about=about,
    )


def _double(probability: Fraction | None) -> float | None:
    return None if probability is None else float(probability)


def _integers(stated: AnySampler | None, due: AnySampler | None) -> tuple[str, str]:
    """Both samplers in words; of two lists of counts only how many agree, or the first that do not."""
    if not isinstance(stated, BackgroundSampler) or not isinstance(due, BackgroundSampler):
        return _in_words(stated), _in_words(due)
    if stated == due:
        return f"{stated.cardinality:,} counts agree", f"{due.cardinality:,}"
    pairs = zip(stated.counts, due.counts, strict=True)
    differing = [place for place, (one, other) in enumerate(pairs) if one != other]
    return _some_counts(stated, differing), _some_counts(due, differing)


def _some_counts(sampler: BackgroundSampler, places: Sequence[int]) -> str:
    more = "" if len(places) <= _NAMED else f" and {len(places) - _NAMED:,} more"
    counts = ", ".join(f"count {place} is {sampler.counts[place]}" for place in places[:_NAMED])
    return f"{counts}{more}"


def _in_words(sampler: AnySampler | None) -> str:
    if isinstance(sampler, BackgroundSampler):
        return f"a count for each of {sampler.cardinality:,} categories"
    if isinstance(sampler, MatrixSampler):
        return f"{sampler.cardinality:,} rows of counts"
    return "none" if sampler is None else f"q {sampler.q}"
