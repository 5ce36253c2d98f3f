"""What the reports of one column give away of its values to somebody who sees that column alone.

Letters: pi the prior, r the cardinality, t = P(report = truth), o = P(report = one given other category), t
and o being fractions of the sampler's integers, t >= o. For a report y

    P(truth = y | report = y) = pi_y t / (pi_y t + (1 - pi_y) o)
    P(best guess is right)    = sum over y of max_x pi_x P(y | x) = sum over y of max(pi_y t, max pi o)

and the odds of two categories move by t / o at most. With a background that is not uniform t and o depend on
y, the same holds with t_y and o_y, and a value is reported as it is with probability sum pi_y t_y. A matrix
that was chosen for a known source is taken as it is, entry by entry. The column
of a member of a cluster is randomized by a matrix of the same kind, with its own t and o (DESIGN 2.9); but a
change of the member moves the odds of the columns of all members together by more, up to the loss of the
cluster. All of it is exact, and rounded up where it becomes a double: what an attacker gains is never said to
be less than it is. Other columns may carry the same value, so these figures do not bound what is learned of
it from a whole record (DESIGN 2.1; see `joint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from budget_opt.allocation.blocks import AllocatedAttribute
from budget_opt.mechanisms.exact import exact, float_at_least
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.sampler import Sampler

PriorKind = Literal["uniform", "marginal", "stated"]
"""Every category alike; the problem's marginal; or what the caller says that people believe."""


@dataclass(frozen=True)
class ColumnAlone:
    """The figures of one attribute; probabilities and the factor are rounded up.

    - `released` is False where the report does not depend on the truth, so that nothing is learned.
    - `odds_factor`: the most by which a report in this column can change the odds of any two categories;
      `loss` is its logarithm in nats. Of a member of the `cluster` named, the columns of all members seen
      together do up to `cluster_loss`, which is what a change of it costs; None where there is none.
    - `truth_reported`: the probability that a value is reported as it is (under the prior, where it depends
      on the value).
    - `believed`: the least and the largest probability, over the categories that are possible under the
      `prior`, that a reported category is the true one.
    - `guess_without`, `guess_with`: how probable the best guess of a value is right, before the report is
      seen and after it.
    """

    name: str
    cardinality: int
    released: bool
    loss: float
    odds_factor: float
    truth_reported: float
    prior: PriorKind
    believed: tuple[float, float]
    guess_without: float
    guess_with: float
    cluster: tuple[str, ...] = ()
    cluster_loss: float | None = None


def column_alone(
    attribute: AllocatedAttribute, prior: Sequence[Fraction] | None, kind: PriorKind
) -> ColumnAlone:
    """The figures under a prior, one share a category with sum 1; None for the uniform one."""
    r, sampler = attribute.cardinality, attribute.column_sampler
    uniform = Fraction(1, r)
    if isinstance(sampler, MatrixSampler):
        figures = _by_matrix(sampler, [uniform] * r if prior is None else prior)
    elif not attribute.part.has_uniform_background:
        figures = _by_value(attribute, [uniform] * r if prior is None else prior)
    elif isinstance(sampler, Sampler):
        figures = _alike(r, prior, sampler.truth_probability, sampler.other_probability)
    else:
        figures = _alike(r, prior, uniform, uniform)
    return ColumnAlone(
        name=attribute.name,
        cardinality=r,
        released=sampler is not None,
        loss=0.0 if sampler is None else sampler.loss,
        odds_factor=1.0 if sampler is None else float_at_least(sampler.likelihood_ratio),
        truth_reported=float_at_least(figures.truth_reported),
        prior=kind,
        believed=(float_at_least(figures.believed[0]), float_at_least(figures.believed[1])),
        guess_without=float_at_least(uniform if prior is None else max(prior)),
        guess_with=float_at_least(figures.guess_with),
        cluster=attribute.cluster,
        cluster_loss=attribute.loss if attribute.cluster else None,
    )


@dataclass(frozen=True)
class _Figures:
    """What depends on the prior and on the matrix, exactly."""

    truth_reported: Fraction
    believed: tuple[Fraction, Fraction]
    guess_with: Fraction


def _alike(r: int, prior: Sequence[Fraction] | None, truth: Fraction, other: Fraction) -> _Figures:
    """Where t and o are the same for all categories; a uniform prior needs no list of up to a million."""
    shares = [Fraction(1, r)] if prior is None else sorted(set(prior) - {Fraction(0)})
    most = shares[-1]
    after = r * most * truth if prior is None else sum(max(share * truth, most * other) for share in prior)
    # what is believed grows with the share
    believed = _believed(shares[0], truth, other), _believed(most, truth, other)
    return _Figures(truth, believed, Fraction(after))


def _by_value(attribute: AllocatedAttribute, prior: Sequence[Fraction]) -> _Figures:
    """Where t and o depend on the category, as the background does."""
    truths, others = attribute.exact_laws
    most = max(prior)
    rows = list(zip(prior, truths, others, strict=True))
    believed = [_believed(*row) for row in rows if row[0] > 0]
    return _Figures(
        truth_reported=sum((share * truth for share, truth, _ in rows), Fraction(0)),
        believed=(min(believed), max(believed)),
        guess_with=sum((max(share * truth, most * other) for share, truth, other in rows), Fraction(0)),
    )


def _by_matrix(sampler: MatrixSampler, prior: Sequence[Fraction]) -> _Figures:
    """Where every truth has a law of its own, Q: P(truth = y | report = y) = pi_y Q[y, y] / (pi Q)_y."""
    rows, reports = sampler.matrix.rows, sampler.matrix.released_marginal(prior)
    shown = [y for y, share in enumerate(prior) if share > 0 and reports[y] > 0]
    believed = [prior[y] * rows[y][y] / reports[y] for y in shown]
    return _Figures(
        truth_reported=sum((share * rows[x][x] for x, share in enumerate(prior)), Fraction(0)),
        believed=(min(believed, default=Fraction(0)), max(believed, default=Fraction(0))),
        guess_with=sum(
            (max(share * row[y] for share, row in zip(prior, rows, strict=True)) for y in range(len(rows))),
            Fraction(0),
        ),
    )


def _believed(share: Fraction, truth: Fraction, other: Fraction) -> Fraction:
    """P(truth = y | report = y)."""
    return share * truth / (share * truth + (1 - share) * other)


def normalized(shares: Sequence[float]) -> list[Fraction]:
    """Shares as exact decimals, divided by their sum, which is above 0."""
    stated = [exact(share) for share in shares]
    total = sum(stated, Fraction(0))
    return [share / total for share in stated]
