"""An estimated joint table: the shares of all cells, and what is known of their errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Estimate, Target
from budget_opt.estimators.joint.cell_errors import CellErrors
from budget_opt.estimators.joint.methods import Normalised, method_named
from budget_opt.estimators.joint.own_error import Bootstrap, bootstrap_judge, qualified
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.solution import OwnError, Run, Solution
from budget_opt.estimators.joint.subtables import (
    Chosen,
    RatioEstimate,
    ShareEstimate,
    conditional_share,
    masks_of,
    share_of,
)
from budget_opt.estimators.joint.unbiased import linear
from budget_opt.estimators.releases.counting import Counts
from budget_opt.estimators.unchanging import hold_arrays
from budget_opt.model.arguments import require_whole
from budget_opt.model.domain import Label
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, kw_only=True, eq=False)
class TableEstimate(Rows):
    """The estimated shares of every combination of categories, an axis an attribute.

    `labels` are the categories of every axis in their order, None for the missing one. `raw` are the
    shares of the released table as it is. `standard_errors` are measured from the `target`, and None for
    methods whose errors have no closed form; `errors` carries them with their intervals. `own_error` is
    what the method expects of its AVD; `about` says what it does and `bias` what is systematically wrong
    with it. `effective_n` is how many unrandomized rows would give an unbiased table of the same total
    squared error (population), None where that is not known; `epsilon` is what a record has spent on these
    attributes. `trace` is the likelihood of an iterative method. `counts`, `channels` and `run`, the method
    itself, are what it was made from.
    """

    attributes: tuple[str, ...]
    labels: tuple[tuple[Label | None, ...], ...]
    method: str
    about: str
    bias: str
    target: Target
    n: int
    effective_n: float | None
    epsilon: float
    shares: FloatArray
    raw: FloatArray
    standard_errors: FloatArray | None
    own_error: OwnError
    errors: CellErrors | None
    counts: Counts
    channels: tuple[Channel, ...]
    run: Run
    trace: tuple[float, ...] | None = None
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def __post_init__(self) -> None:
        hold_arrays(self)

    @property
    def title(self) -> str:
        """The attributes in words: smoker x income."""
        return " x ".join(self.attributes)

    @property
    def expected_avd(self) -> float:
        """What 1/2 sum |truth - share| is expected to be, from the target."""
        return self.own_error.expected_avd

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """The lower and upper ends of the intervals of all cells (`CellErrors.interval`).

        Raises `InputError` for a method other than "unbiased": the others are biased by an unknown amount.
        """
        return self._errors("an interval").interval(level)

    def share(self, chosen: Chosen, given: Chosen | None = None) -> ShareEstimate | RatioEstimate:
        """The share of a sub-table, or its share among the rows of `given`; unbiased tables only.

        `chosen` names a category of some attributes, or a list of several: {"smoker": "yes", "income":
        ["low", "middle"]}. Raises `InputError` for names and labels that are not there, and for another
        method; `NoiseError` where the share of `given` is less than 4 standard errors from 0.
        """
        self._errors("the error of a share")
        masks = masks_of(chosen, self.attributes, self.labels, "share")
        label = _told(chosen)
        if given is None:
            return share_of(self.counts, self.channels, masks, self.target, label)
        condition = masks_of(given, self.attributes, self.labels, "given")
        told = f"{label} among {_told(given)}"
        return conditional_share(self.counts, self.channels, masks, condition, self.target, told)

    def combination(self, coefficients: FloatArray, label: str = "combination") -> Estimate:
        """The linear function sum coefficient x share of the cells, unbiased, with its standard error.

        `coefficients` has a number for every cell. Raises `InputError` for another shape or method.
        """
        self._errors("the error of a combination")
        found = linear(self.counts, self.channels, [coefficients])
        variance, spread = float(found.covariances.population[0, 0]), float(found.spreads[0])
        return Estimate(
            label=label,
            value=float(found.values[0]),
            standard_error=float(found.covariances.variance(np.ones(1), self.target)) ** 0.5,
            n=self.n,
            target=self.target,
            raw=float(found.raw[0]),
            effective_n=spread / variance if spread > 0 and variance > 0 else None,
        )

    def covariance(self, *coefficients: FloatArray) -> FloatArray:
        """The covariance matrix of several linear functions of the cells, shape (k, k), from the target.

        Raises `InputError` for another shape or method.
        """
        self._errors("a covariance")
        covariances = linear(self.counts, self.channels, coefficients).covariances
        return covariances.population if self.target == "population" else covariances.data

    def normalised(self) -> TableEstimate:
        """The nearest table whose shares are >= 0 and add up to 1; itself where they do already.

        It is biased and without standard errors; its own error is that of both steps together, by bootstrap.
        """
        if np.all(self.shares >= 0) and abs(float(self.shares.sum()) - 1) < 1e-9:
            return self

        run = Normalised(self.run)
        bias = method_named("simplex").bias
        shares = nearest_shares(self.shares)
        judge = bootstrap_judge(run)
        own = judge(self.counts, self.channels, Solution(shares), self.target, np.random.default_rng(0))
        own = qualified(own, self.counts.effective)
        return replace(
            self,
            shares=shares,
            method=f"{self.method}, normalised",
            about=f"{self.about}, then the nearest distribution",
            bias=bias if self.method == "unbiased" else f"{self.bias} {bias}",
            run=run,
            standard_errors=None,
            errors=None,
            own_error=own,
            notes=self.counts.notes,
        )

    def with_bootstrap(self, replicates: int = 200, seed: int = 0) -> TableEstimate:
        """The same with standard errors by parametric bootstrap, for any method: noise only, not its bias.

        `replicates` are 2 to 100,000; the same seed, 0 to 2^64 - 1, gives the same errors. Raises
        `InputError` outside of these.
        """
        seed = require_whole(seed, "seed", 0, 2**64 - 1, 0)
        drawing = Bootstrap(self.counts, self.channels, self.run, self.shares, self.target)
        errors = drawing.standard_errors(replicates, np.random.default_rng(seed))
        note = f"standard errors by {replicates} replicates of a parametric bootstrap: noise without bias"
        return replace(self, standard_errors=errors, notes=(*self.notes, note))

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """One row a cell, in the order of the categories, with its interval where there is one."""
        from budget_opt.estimators.joint.table_rows import cell_rows

        return cell_rows(self, level)

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The table as plain values for JSON, with the intervals of its cells where there are some."""
        return {
            "kind": self.kind,
            "attributes": list(self.attributes),
            "method": self.method,
            "about": self.about,
            "bias": self.bias,
            "target": self.target,
            "n": self.n,
            "effective_n": self.effective_n,
            "epsilon": self.epsilon,
            "expected_avd": self.expected_avd,
            "expected_avd_by": self.own_error.how,
            "expected_avd_error": self.own_error.standard_error,
            "expected_avd_up_to": self.own_error.up_to,
            "expected_avd_rough": self.own_error.rough,
            "level": level,
            "trace": None if self.trace is None else list(self.trace),
            "notes": list(self.notes),
            "cells": self.rows(level),
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """The table for a rich console: small ones whole, of large ones the largest cells."""
        from budget_opt.estimators.joint.table_text import renderable

        return renderable(self, level)

    def __str__(self) -> str:
        from budget_opt.tables.printing import plain_text

        return plain_text(self.renderable())

    def _errors(self, what: str) -> CellErrors:
        if self.errors is None:
            raise InputError(
                f"the table of {self.title}: {what} is known for method='unbiased' only, and this is "
                f"{self.method!r}, which is biased. Estimate the table with method='unbiased', or take "
                "with_bootstrap() for the noise of its cells."
            )
        return self.errors


def _told(chosen: Chosen) -> str:
    return ", ".join(f"{name} = {' or '.join(_texts(wanted))}" for name, wanted in chosen.items()) or "all"


def _texts(wanted: Any) -> Iterator[str]:
    listed = wanted if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
    return ("missing" if label is None else str(label) for label in listed)
