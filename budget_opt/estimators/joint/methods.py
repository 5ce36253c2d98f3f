"""The ways to estimate a joint table, by name. To add one: write it, and add an entry here."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.counting import Counts
from budget_opt.estimators.joint.default import default
from budget_opt.estimators.joint.default_error import smoothing_judge
from budget_opt.estimators.joint.held_out import likelihood
from budget_opt.estimators.joint.hybrid import hybrid_solution
from budget_opt.estimators.joint.independent import independent
from budget_opt.estimators.joint.likelihood import maximum_likelihood
from budget_opt.estimators.joint.own_error import bootstrap_judge, exact_judge, reference_judge
from budget_opt.estimators.joint.simplex import simplex
from budget_opt.estimators.joint.solution import Judge, Run, Solution
from budget_opt.estimators.joint.truncated import truncated
from budget_opt.estimators.joint.unbiased import unbiased


@dataclass(frozen=True)
class Method:
    """A way to estimate a joint table.

    `title` says what it is (and its name in the literature), `bias` what is systematically wrong with it,
    in a sentence each. `is_normalised`: its shares are >= 0 and add up to 1. `judge` estimates its own error;
    None: by parametric bootstrap.
    """

    name: str
    title: str
    bias: str
    is_normalised: bool
    run: Run
    judge: Judge | None = None

    @property
    def own_judge(self) -> Judge:
        """What estimates its error: its own judge, or the bootstrap."""
        return self.judge or bootstrap_judge(self.run)


def _plain(estimator: Callable[[Counts, Sequence[Channel]], FloatArray]) -> Run:
    """An estimator that draws nothing and gives nothing but shares."""

    def run(counts: Counts, channels: Sequence[Channel], rng: np.random.Generator) -> Solution:
        del rng
        return Solution(estimator(counts, channels))

    return run


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
    ),
    Method(
        "unbiased",
        "corrected along each axis in turn (RR-Ind-Joint of Castell)",
        "No bias: cells may be negative, and the noise is that of a division by all retentions.",
        is_normalised=False,
        run=_plain(unbiased),
        judge=exact_judge,
    ),
    Method(
        "simplex",
        "the table of shares nearest to the unbiased one",
        "Biased: all cells are moved down by one amount and cut at 0, so that rare ones are lost.",
        is_normalised=True,
        run=_plain(simplex),
    ),
    Method(
        "likelihood",
        "expectation-maximization of all cells (iterative Bayesian update), stopped by held-out likelihood",
        "Biased towards the product of marginals, where it starts: weak dependence is lost.",
        is_normalised=True,
        run=likelihood,
        judge=smoothing_judge(likelihood),
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
        run=_plain(independent),
        judge=reference_judge(default, smoothing_judge(default)),
    ),
    Method(
        "hybrid",
        "the unbiased table or the product of marginals, whichever errs less by estimate (hybrid of Castell)",
        "Unbiased where it takes the first, all dependence lost where it takes the second: see its notes.",
        is_normalised=False,
        run=lambda counts, channels, rng: hybrid_solution(counts, channels),
        judge=reference_judge(default, smoothing_judge(default)),
    ),
    Method(
        "truncated",
        "the unbiased table cut by those of fewer attributes, from one upward (truncated of Castell)",
        "Biased: shares need not add up to 1; with much noise they add up to nearly nothing.",
        is_normalised=False,
        run=_plain(truncated),
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
