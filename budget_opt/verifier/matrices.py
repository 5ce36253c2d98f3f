"""One attribute's implemented matrix, rebuilt from the file's integers by counting words (DESIGN 2.1, 2.8).

A uniform b-bit word u gives d = min(u div q, r - 1) and the report (x + d + 1) mod r: q words for each d
below r - 1, which are other categories, and the rest of the 2^b for d = r - 1, the truth. Row x is thus these
counts moved by x: every row and every column holds the same r counts, two of them distinct. A statement about
one row is a statement about all, and r x r is never built, however many categories there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf

from budget_opt.allocation import AllocatedAttribute
from budget_opt.mechanisms.exact import exact, float_at_most, log_at_least
from budget_opt.mechanisms.sampler import sampler_as_stated
from budget_opt.verifier.report import EXPECTED, Check


@dataclass(frozen=True)
class Matrix:
    """How many of `words` equally likely words lead to the truth, and to each of the r - 1 others."""

    cardinality: int
    words: int
    truth_words: int
    other_words: int

    @classmethod
    def of(cls, attribute: AllocatedAttribute) -> Matrix:
        """The matrix of an attribute's r, b and q; without a sampler every report is alike (R36)."""
        r, sampler = attribute.cardinality, attribute.sampler
        if sampler is None:
            return cls(r, r, 1, 1)
        words = 2**sampler.bits
        return cls(r, words, max(0, words - (r - 1) * sampler.q), sampler.q)

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


Matrices = dict[str, Matrix]


def matrices_of(attributes: tuple[AllocatedAttribute, ...]) -> Matrices:
    """The matrix of every attribute by name."""
    return {attribute.name: Matrix.of(attribute) for attribute in attributes}


def loss_checks(attributes: tuple[AllocatedAttribute, ...], matrices: Matrices) -> Iterator[Check]:
    """Every matrix is one, and its loss is at most the attribute's epsilon."""
    for attribute in attributes:
        name = attribute.name
        matrix = matrices[name]
        yield Check(
            claim=f"matrix of {name}: every report is possible",
            measured=float(min(matrix.truth, matrix.other)),
            limit="above 0, rows and columns sum to 1",
            holds=matrix.is_stochastic,
            source="sampler integers",
            name="matrix",
            about=(name,),
        )
        yield Check(
            claim=f"loss of {name}",
            measured=matrix.loss,
            limit=attribute.epsilon,
            holds=matrix.loss < inf and exact(matrix.loss) <= exact(attribute.epsilon),
            source="largest log ratio of its matrix",
            name="loss",
            about=(name,),
        )


def statement_checks(attributes: tuple[AllocatedAttribute, ...], matrices: Matrices) -> Iterator[Check]:
    """The integers are those that epsilon demands, and what is stated of the matrix is what they make."""
    for attribute in attributes:
        yield _sampler_check(attribute)
        yield _figures_check(attribute, matrices[attribute.name])


def _sampler_check(attribute: AllocatedAttribute) -> Check:
    """q = ceil(2^b / (exp(epsilon) + r - 1)): a larger one is as private, but is not what is stated."""
    stated = attribute.sampler
    bits = None if stated is None else stated.bits
    due = sampler_as_stated(attribute.epsilon, attribute.cardinality, bits)
    return Check(
        claim=f"sampler of {attribute.name}",
        measured="none" if stated is None else str(stated.q),
        limit="none" if due is None else str(due.q),
        holds=stated == due,
        source="the q that its epsilon demands, exp rounded outward",
        name="sampler",
        word=EXPECTED,
        about=(attribute.name,),
    )


def _figures_check(attribute: AllocatedAttribute, matrix: Matrix) -> Check:
    """Each stated double is the exact number rounded in its direction: loss up, retention down."""
    figures = {
        "loss": (attribute.loss, matrix.loss),
        "retention": (attribute.retention, float_at_most(matrix.retention)),
        "truth_probability": (attribute.truth_probability, float(matrix.truth)),
        "other_probability": (attribute.other_probability, float(matrix.other)),
    }
    wrong = {name: pair for name, pair in figures.items() if pair[0] != pair[1]}
    return Check(
        claim=f"stated loss, retention and probabilities of {attribute.name}",
        measured=_listed({name: stated for name, (stated, _) in wrong.items()}) or "4 agree",
        limit=_listed({name: exactly for name, (_, exactly) in wrong.items()}) or "4",
        holds=not wrong,
        source="its matrix; loss rounded up, retention down",
        name="figures",
        word=EXPECTED,
        about=(attribute.name,),
    )


def _listed(figures: dict[str, float]) -> str:
    return ", ".join(f"{name} {value!r}" for name, value in figures.items())
