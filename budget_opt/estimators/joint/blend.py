"""A model's table blended with the unbiased one, by how much the model is seen to miss.

Letters: J the unbiased joint table, Q a model's, P the data's own, n the effective number of rows (Kish),
y the reports, h(y) the row of the inverse that a report adds to J, s(x) = E h_x(y)^2. Given the data,

    E |J - P|^2   = (E |h|^2 - 1) / n             for uniform backgrounds (prod c_i - 1) / n, whatever P is,
    Var |J - P|^2 = 2 (E (h(y) . h(y'))^2 - 2 sum P s + sum P^2) / n^2             (of normal noise)

with y and y' two independent reports: `mean` and the square of `spread`, products along the axes. What
|J - Q|^2 has above the mean is the squared error of the model (`misfit_of`). Of the blends Q + t (J - Q)
the best has t = misfit / E |J - Q|^2 (James and Stein 1961). A gate keeps it at 0 unless the model is seen
to miss something, the quantile that noise alone exceeds with the chance `FALSE_ALARM`:

    t = max(0, 1 - gate / |J - Q|^2)

By Satterthwaite (1946) the noise is taken to have the gamma law with this mean and spread. Without
randomization both are 0, and the table itself is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv

from budget_opt.estimators.channels import Channel, FloatArray, along_all
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.unbiased import unbiased
from budget_opt.estimators.layout import layout_of
from budget_opt.estimators.releases.counting import Counts

FALSE_ALARM = 1e-3
"""How often a model that misses nothing is moved: by the noise of the whole table, so it must be rare."""


@dataclass(frozen=True)
class SquaredNoise:
    """The squared error of the unbiased joint from the data's own table, summed over the cells."""

    mean: float
    spread: float

    @property
    def gate(self) -> float:
        """What it exceeds with the chance `FALSE_ALARM`."""
        if self.spread == 0:
            return self.mean
        shape = (self.mean / self.spread) ** 2
        return float(gammaincinv(shape, 1 - FALSE_ALARM)) / shape * self.mean if shape > 0 else 0.0


@dataclass(frozen=True)
class Blend:
    """The blended `shares`, and how they came about.

    `weight` is t, the share of the unbiased table; 0 where the model is not seen to miss anything.
    """

    shares: FloatArray
    weight: float


def blended(model: FloatArray, counts: Counts, channels: Sequence[Channel]) -> Blend:
    """The model's table moved towards the unbiased one, and then to the nearest table of shares."""
    apart = unbiased(counts, channels) - model
    distance = float(np.vdot(apart, apart))
    noise = squared_noise(counts, channels)
    gate = noise.gate
    weight = 1 - gate / distance if distance > gate else 0.0
    shares = nearest_shares(model + weight * apart) if weight > 0 else model
    return Blend(shares, weight)


def misfit_of(model: FloatArray, counts: Counts, channels: Sequence[Channel]) -> tuple[float, float]:
    """|J - Q|^2 less its noise, the squared error of a given table, without bias; and the noise's spread.

    It may be negative, and is somewhat too small for a table that was fitted to the same counts.
    """
    apart, noise = unbiased(counts, channels) - model, squared_noise(counts, channels)
    return float(np.vdot(apart, apart)) - noise.mean, noise.spread


def squared_noise(counts: Counts, channels: Sequence[Channel]) -> SquaredNoise:
    """What |J - P|^2 is expected to be given the data's own table P, and its standard deviation."""
    layout = layout_of(channels)
    reports = layout.joined(counts.shares)
    inverses = [channel.unbiased(np.eye(channel.cardinality), 0) for channel in layout.blocks]
    products = [inverse @ inverse.T for inverse in inverses]  # h(y) . h(y') of one axis
    lengths = met = reports
    for product in products:
        lengths = np.tensordot(lengths, np.diag(product), axes=(0, 0))
        met = np.tensordot(met, product**2, axes=(0, 0))  # the axes come back in their order
    mean = max(float(lengths) - 1, 0.0) / counts.effective
    truth = nearest_shares(along_all(Channel.corrected, layout.blocks, reports))
    own = along_all(Channel.squared, layout.blocks, reports)
    square = np.vdot(reports, met) - 2 * np.vdot(truth, own) + np.vdot(truth, truth)
    return SquaredNoise(mean, math.sqrt(2 * max(float(square), 0.0)) / counts.effective)
