"""One release of one table, every method on one set of attributes of it, and the means over many."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

import numpy as np

from benchmarks import lopub
from benchmarks.joint_data import Codes, Data, FloatArray
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.joint.hybrid import hybrid
from budget_opt.estimators.joint.methods import METHODS
from budget_opt.estimators.joint.metrics import mean_absolute_error, variation_distance
from budget_opt.estimators.joint.one_domain import channel_of_domain, one_domain
from budget_opt.estimators.joint.simplex import nearest_shares
from budget_opt.estimators.joint.truncated import truncated
from budget_opt.estimators.releases.counting import Counts
from budget_opt.mechanisms.sampler import sampler_for
from budget_opt.tables.counting import joint_counts

LARGEST_LIKELIHOOD = 5_000
"""Cells up to which maximum likelihood is run: beyond, its steps take most of the time."""

REGISTERED = {
    "independent": "RR-Independent",
    "unbiased": "RR-Ind-Joint",
    "hybrid": "hybrid",
    "truncated": "truncated",
    "simplex": "RR-Ind-Joint on the simplex",
    "likelihood": "likelihood",
    "default": "default",
}
"""The methods of the package by their titles here; those that are not registered are left out."""


@dataclass(frozen=True)
class Release:
    """One table released once, `epsilon` (nats) an attribute: reports and channels, filters of LoPub."""

    data: Data
    epsilon: float
    rng: np.random.Generator

    @cached_property
    def channels(self) -> dict[str, Channel]:
        """How each attribute was randomized."""
        return {name: channel(name, r, self.epsilon) for name, r in self.data.cardinality.items()}

    @cached_property
    def reports(self) -> dict[str, Codes]:
        """The released codes."""
        return {
            name: randomized(self.rng, codes, self.channels[name]) for name, codes in self.data.codes.items()
        }

    @cached_property
    def filters(self) -> dict[str, lopub.Filters]:
        """The same table, released as LoPub's filters at the same budget of each attribute."""
        return lopub.filters_of(self.rng, self.data.codes, self.data.cardinality, self.epsilon)


@dataclass(frozen=True)
class Row:
    """Means over the `cases` (sets x releases) of one table, budget, w and method."""

    data: str
    budget: str
    epsilon: float
    w: int
    method: str
    avd: float
    cell_error: float
    seconds: float
    cases: int


@dataclass(frozen=True)
class Point:
    """One set: number of cells, and the two errors of one method."""

    method: str
    cells: int
    avd: float
    cell_error: float
    seconds: float


def channel(name: str, cardinality: int, epsilon: float) -> Channel:
    """The channel of an attribute at `epsilon`, from the sampler's integers."""
    sampler = sampler_for(epsilon, cardinality)
    if sampler is None:
        raise ValueError(f"{name}: nothing is released at epsilon {epsilon}")
    return Channel(name, float(sampler.retention), uniform(cardinality))


def randomized(rng: np.random.Generator, codes: Codes, one: Channel) -> Codes:
    """Reports of these codes: each kept with the retention, else uniform over all categories."""
    kept = rng.random(codes.size) < one.retention
    return np.where(kept, codes, rng.integers(0, one.cardinality, codes.size))


def points(release: Release, names: Sequence[str]) -> Iterator[Point]:
    """Every method on one set of attributes of a release."""
    shape, truth = release.data.shape(names), release.data.shares(names)
    for method, estimator in estimators(release, names, shape).items():
        started = time.process_time()
        estimate = estimator()
        seconds = time.process_time() - started
        yield Point(
            method,
            truth.size,
            variation_distance(truth, estimate),
            mean_absolute_error(truth, estimate),
            seconds,
        )


def estimators(
    release: Release, names: Sequence[str], shape: Sequence[int]
) -> dict[str, Callable[[], FloatArray]]:
    """The methods that are feasible for this set, by title; counting is not part of them."""
    counts = Counts(tuple(names), joint_counts([release.reports[name] for name in names], shape))
    channels = [release.channels[name] for name in names]
    found: dict[str, Callable[[], FloatArray]] = {}
    for name, title in REGISTERED.items():
        if name in METHODS and (name != "likelihood" or math.prod(shape) <= LARGEST_LIKELIHOOD):
            found[title] = _registered(name, counts, channels, release.rng)
    found["hybrid, paper's rule"] = lambda: hybrid(counts, channels, rule="paper")
    found["hybrid, proved bounds"] = lambda: hybrid(counts, channels, rule="bounds")
    found["truncated, normalised"] = lambda: truncated(counts, channels, normalised=True)
    found |= _whole_records(release, names, shape)
    if lopub.is_possible():
        filters = [release.filters[name] for name in names]
        for title, regression in LOPUB.items():
            if lopub.fits(shape, regression):
                found[title] = _lopub(filters, regression)
    found["all zeros"] = lambda: np.zeros(tuple(shape))
    return found


LOPUB: dict[str, lopub.Regression] = {"LoPub": "concatenated", "LoPub with pairs of bits": "pairs"}


def _registered(
    name: str, counts: Counts, channels: Sequence[Channel], rng: np.random.Generator
) -> Callable[[], FloatArray]:
    return lambda: METHODS[name].run(counts, channels, rng).shares


def _lopub(filters: Sequence[lopub.Filters], regression: lopub.Regression) -> Callable[[], FloatArray]:
    return lambda: lopub.estimate(filters, regression)


def _whole_records(
    release: Release, names: Sequence[str], shape: Sequence[int]
) -> Mapping[str, Callable[[], FloatArray]]:
    """RR-Joint: another release, of this set alone, its combinations randomized as one at w times epsilon."""
    whole = channel_of_domain(shape, release.epsilon * len(names))
    codes = np.ravel_multi_index([release.data.codes[name] for name in names], tuple(shape))
    counts = Counts(
        tuple(names), joint_counts([randomized(release.rng, codes, whole)], [math.prod(shape)]).reshape(shape)
    )
    return {
        "RR-Joint": lambda: one_domain(counts, whole),
        "RR-Joint on the simplex": lambda: nearest_shares(one_domain(counts, whole)),
    }


def rows_of(data: Data, budget: str, epsilon: float, w: int, found: Iterable[Point]) -> list[Row]:
    """The means of points, a row a method."""
    by_method: dict[str, list[Point]] = defaultdict(list)
    for point in found:
        by_method[point.method].append(point)
    return [
        Row(
            data.title,
            budget,
            epsilon,
            w,
            method,
            mean(point.avd for point in some),
            mean(point.cell_error for point in some),
            mean(point.seconds for point in some),
            len(some),
        )
        for method, some in by_method.items()
    ]
