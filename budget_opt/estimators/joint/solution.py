"""What a method of estimating a joint table gives back, and what it says of its own error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from budget_opt.estimators.channels import Channel, FloatArray
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.releases.counting import Counts


@dataclass(frozen=True)
class Solution:
    """The estimated `shares` of every cell, an axis an attribute.

    `notes` are sentences about this very estimate. `trace` holds the log-likelihoods per row of the steps of
    an iterative method, None where there is none.
    """

    shares: FloatArray
    notes: tuple[str, ...] = ()
    trace: tuple[float, ...] | None = None


@dataclass(frozen=True)
class OwnError:
    """What a method expects its AVD = 1/2 sum |truth - estimate| to be, and `how` that was computed.

    `standard_error` is that of the computation itself (of few replicates), None where there is none.
    `up_to` is what cannot be excluded, where the release does not show what the method may miss; None where
    nothing is known of it. `rough` says in a sentence why the figure is rough, None where it is not.
    """

    expected_avd: float
    how: str
    standard_error: float | None = None
    up_to: float | None = None
    rough: str | None = None


Run = Callable[[Counts, Sequence[Channel], np.random.Generator], Solution]
"""A method: released counts and the channels of their axes in, shares out; the generator draws."""

Judge = Callable[[Counts, Sequence[Channel], Solution, Target, np.random.Generator], OwnError]
"""What a method expects of the error of its solution, from the target."""
