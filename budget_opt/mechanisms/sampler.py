"""Exact integers of the sampler of one attribute (DESIGN 2.8).

One uniform b-bit word u a cell and q = ceil(2^b / (exp(e) + r - 1)):

    d = min(u div q, r - 1);   report = (x + d + 1) mod r;   d = r - 1 leaves the truth.

The implemented matrix is rational: q / 2^b off the diagonal, and everything here is a fraction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol, TypeVar

from budget_opt.mechanisms.exact import context, exact, float_at_most, log_at_least

WIDTHS = (32, 64, 128)
LARGEST_LOST_SHARE = Fraction(1, 10**6)
"""A width is too small where the implemented loss falls short of epsilon by more than this share."""


class _Lossy(Protocol):
    """What has a privacy loss in nats."""

    @property
    def loss(self) -> float: ...


S = TypeVar("S", bound=_Lossy)


@dataclass(frozen=True)
class Sampler:
    """The integers b (`bits`) and q of one attribute with r = `cardinality` >= 2 categories."""

    cardinality: int
    bits: int
    q: int

    def __post_init__(self) -> None:
        if self.cardinality < 2 or self.bits not in WIDTHS or self.q < 1:
            raise ValueError(
                f"sampler: cardinality {self.cardinality}, bits {self.bits}, q {self.q}; "
                f"needs cardinality >= 2, bits in {WIDTHS}, q >= 1"
            )
        if self.cardinality * self.q >= 2**self.bits:
            raise ValueError(
                f"sampler: r q = {self.cardinality * self.q} must be below 2^{self.bits}; "
                "such an attribute must be reported without looking at it"
            )

    @property
    def retention(self) -> Fraction:
        """The implemented lambda, (2^b - r q) / 2^b."""
        return Fraction(2**self.bits - self.cardinality * self.q, 2**self.bits)

    @property
    def other_probability(self) -> Fraction:
        """P(report = one given other category), q / 2^b."""
        return Fraction(self.q, 2**self.bits)

    @property
    def truth_probability(self) -> Fraction:
        """P(report = truth), 1 - (r - 1) q / 2^b."""
        return 1 - (self.cardinality - 1) * self.other_probability

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest likelihood ratio of the implemented matrix, at most exp(epsilon)."""
        return self.truth_probability / self.other_probability

    def probability(self, code: int, report: int) -> Fraction:
        """P(report | code), 0 <= code, report < r."""
        return self.truth_probability if report == code else self.other_probability

    def marginal_of(self, axis: int, shape: Sequence[int]) -> Sampler:
        """The law of one column of a joint code, row-major over `shape` with product r; lambda is the same.

        With s = r / r_m joint categories to each of the column's, every other one of those is reported by s q
        of the words, and the rest leaves the truth. It is the law of that column alone: columns drawn with it
        one by one would not be a draw of the code.
        """
        return Sampler(shape[axis], self.bits, self.q * (self.cardinality // shape[axis]))

    def report(self, code: int, word: int) -> int:
        """The report of a cell with this code, 0 <= code < r, under one uniform word, 0 <= word < 2^b.

        The same integers as arrays take them, for one cell.
        """
        offset = min(word // self.q, self.cardinality - 1)
        return (code + offset + 1) % self.cardinality

    @property
    def loss(self) -> float:
        """ln of the likelihood ratio, in nats, rounded up."""
        return log_at_least(self.likelihood_ratio)

    @property
    def retention_at_most(self) -> float:
        """The implemented lambda as a double, rounded down."""
        return float_at_most(self.retention)


def sampler_for(epsilon: float, cardinality: int, *, least_bits: int = 32) -> Sampler | None:
    """The sampler of the least width from `least_bits` on that serves `epsilon` (nats, >= 0), or None.

    `least_bits` is 64 or 128 where a floor binds (DESIGN 2.8). None means that the report must not depend
    on the truth: epsilon is 0, or too small for 128 bits. At large epsilon 128 bits may implement
    less than epsilon; the stated loss is then what is implemented.
    """
    if cardinality < 2:
        raise ValueError(f"cardinality: is {cardinality!r}, must be an integer >= 2")
    return of_least_width(lambda bits: sampler_of_width(epsilon, cardinality, bits), epsilon, least_bits)


def of_least_width(of_width: Callable[[int], S | None], epsilon: float, least_bits: int) -> S | None:
    """What `of_width` makes of the least width >= `least_bits` that loses next to nothing of `epsilon`.

    The last that there is where every width loses more; None where no width serves, and at epsilon 0.
    """
    if not 0 <= epsilon < float("inf"):
        raise ValueError(f"epsilon: is {epsilon!r}, must be finite and >= 0")
    if least_bits not in WIDTHS:
        raise ValueError(f"least_bits: is {least_bits!r}, must be one of {WIDTHS}")
    if epsilon == 0:
        return None
    found = None
    for bits in (width for width in WIDTHS if width >= least_bits):
        found = of_width(bits) or found
        if found is not None and exact(found.loss) >= exact(epsilon) * (1 - LARGEST_LOST_SHARE):
            break
    return found


def sampler_of_width(epsilon: float, cardinality: int, bits: int) -> Sampler | None:
    """The sampler of `epsilon` (nats, > 0) with b = `bits`; None where r q would reach 2^b."""
    q = _smallest_count(exact(epsilon), cardinality, bits)
    return Sampler(cardinality, bits, q) if cardinality * q < 2**bits else None


def sampler_as_stated(epsilon: float, cardinality: int, bits: int | None) -> Sampler | None:
    """The sampler that a file must state which names this width, or none (`bits` None)."""
    if epsilon == 0 or cardinality < 2:
        return None
    return sampler_for(epsilon, cardinality) if bits is None else sampler_of_width(epsilon, cardinality, bits)


def _smallest_count(epsilon: Fraction, cardinality: int, bits: int) -> int:
    """ceil(2^b / (exp(epsilon) + r - 1)), exactly.

    exp of a rational other than 0 is irrational, so the quotient is never an integer and some
    precision separates it from its neighbours.
    """
    if epsilon >= bits:
        return 1  # exp(b) > 2^b
    digits = 50
    while True:
        below, above = exp_between(epsilon, digits)
        least = ceil_div(2**bits, above + cardinality - 1)
        most = ceil_div(2**bits, below + cardinality - 1)
        if least == most:
            return least
        digits *= 2


def exp_between(epsilon: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Fractions on both sides of exp(epsilon), `digits` significant digits apart at the last place."""
    ctx = context(digits)
    # epsilon is the decimal of a double: at most 17 digits, so this quotient is exact
    exponent = ctx.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    nearest = ctx.exp(exponent)
    return Fraction(ctx.next_minus(nearest)), Fraction(ctx.next_plus(nearest))


def ceil_div(numerator: int, divisor: Fraction) -> int:
    """The least integer >= numerator / divisor, divisor > 0."""
    return -(-numerator * divisor.denominator // divisor.numerator)
