"""The ways to estimate a joint table, by name. To add one: write it, and add an entry here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.joint.default import default
from budget_opt.estimators.joint.default_error import smoothing_judge
from budget_opt.estimators.joint.held_out import likelihood
from budget_opt.estimators.joint.hybrid import hybrid_solution
from budget_opt.estimators.joint.independent import independent
from budget_opt.estimators.joint.likelihood import maximum_likelihood
from budget_opt.estimators.joint.own_error import bootstrap_judge, exact_judge, reference_judge
from budget_opt.estimators.joint.simplex import nearest_shares, simplex
from budget_opt.estimators.joint.solution import Judge, Run, Solution
from budget_opt.estimators.joint.truncated import truncated
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.releases.counting import Counts


@dataclass(frozen=True)
class Method:
    """A way to estimate a joint table.

    `title` says what it is (and its name in the literature), `bias` what is systematically wrong with it,
    in a sentence each. `is_normalised`: its shares are >= 0 and add up to 1. `judge` estimates its own error;
    None: by parametric bootstrap. `cuts_unbiased`: its cells are those of the unbiased table, cut. `copies`
    of the table are held at a time, by the method or its judge, and `pair_copies` of the table of two of its
    attributes (measured, rounded up).
    """

    name: str
    title: str
    bias: str
    is_normalised: bool
    run: Run
    judge: Judge | None = None
    cuts_unbiased: bool = False
    copies: int = 16
    pair_copies: int = 0

    @property
    def own_judge(self) -> Judge:
        """What estimates its error: its own judge, or the bootstrap."""
        return self.judge or bootstrap_judge(self.run)


@dataclass(frozen=True)
class _Plain:
    """An estimator that draws nothing and gives nothing but shares: a `Run` that can be pickled."""

    estimator: Callable[[Counts, Sequence[Channel]], FloatArray]

    def __call__(self, counts: Counts, channels: Sequence[Channel], rng: np.random.Generator) -> Solution:
        del rng
        return Solution(self.estimator(counts, channels))


@dataclass(frozen=True)
class Normalised:
    """A method, and then the nearest distribution."""

    run: Run

    def __call__(self, counts: Counts, channels: Sequence[Channel], rng: np.random.Generator) -> Solution:
        """The method's own notes are about another table, and left out."""
        return Solution(nearest_shares(self.run(counts, channels, rng).shares))


def _hybrid(counts: Counts, channels: Sequence[Channel], rng: np.random.Generator) -> Solution:
    """The hybrid by its default rule."""
    del rng
    return hybrid_solution(counts, channels)


def _converged(counts: Counts, channels: Sequence[Channel], rng: np.random.Generator) -> Solution:
    """Maximum likelihood to its end, with what is proved of how far that is."""
    del rng
    fit = maximum_likelihood(counts.shares, channels)
    note = (
        f"The log-likelihood a row is within {fit.gap:.1g} of its maximum (proved), after {fit.iterations} "
        f"steps, which ended by {fit.stopped_by}."
    )
    return Solution(fit.shares, (note,), fit.trace)


_LISTED = (
    Method(
        "default",
        "all pairs by held-out likelihood, completed by maximum entropy, blended with the unbiased table",
        "Biased towards independence: dependence below the noise, and of three and more attributes, is lost.",
        is_normalised=True,
        run=default,
        judge=smoothing_judge(default),
        pair_copies=70,
    ),
    Method(
        "unbiased",
        "corrected along each axis in turn (RR-Ind-Joint of Castell)",
        "No bias: cells may be negative, and the noise is that of a division by all retentions.",
        is_normalised=False,
        run=_Plain(unbiased),
        judge=exact_judge,
    ),
    Method(
        "simplex",
        "the table of shares nearest to the unbiased one",
        "Biased: all cells are moved down by one amount and cut at 0, so that rare ones are lost.",
        is_normalised=True,
        run=_Plain(simplex),
        cuts_unbiased=True,
    ),
    Method(
        "likelihood",
        "expectation-maximization of all cells (iterative Bayesian update), stopped by held-out likelihood",
        "Biased towards the product of marginals, where it starts: weak dependence is lost.",
        is_normalised=True,
        run=likelihood,
        judge=smoothing_judge(likelihood),
        copies=70,
    ),
    Method(
        "maximum-likelihood",
        "expectation-maximization of all cells, accelerated by SQUAREM, to convergence",
        "Biased: it follows the noise, so that weak cells are 0 and others too large (over-fitting).",
        is_normalised=True,
        run=_converged,
    ),
    Method(
        "independent",
        "the product of the corrected marginals (RR-Independent of Castell)",
        "Biased wherever attributes depend on each other, which it does not show, whatever n is.",
        is_normalised=True,
        run=_Plain(independent),
        judge=reference_judge(default, smoothing_judge(default)),
        pair_copies=70,
    ),
    Method(
        "hybrid",
        "the unbiased table or the product of marginals, whichever errs less by estimate (hybrid of Castell)",
        "Unbiased where it takes the first, all dependence lost where it takes the second: see its notes.",
        is_normalised=False,
        run=_hybrid,
        judge=reference_judge(default, smoothing_judge(default)),
        pair_copies=70,
    ),
    Method(
        "truncated",
        "the unbiased table cut by those of fewer attributes, from one upward (truncated of Castell)",
        "Biased: shares need not add up to 1; with much noise they add up to nearly nothing.",
        is_normalised=False,
        run=_Plain(truncated),
        cuts_unbiased=True,
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _LISTED}
"""Every method by its name."""


def method_named(name: object) -> Method:
    """The method of this name; `InputError` for another, with the nearest."""
    if isinstance(name, str) and name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(str(name), METHODS, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"method: is {name!r}, must be one of {', '.join(map(repr, METHODS))}.{hint}")
