"""Means within groups with their errors, and which of them are withheld."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.bootstrap.replicates import Replicates
from budget_opt.estimators.channels import Channel, FloatArray, retention_of
from budget_opt.estimators.estimate import Target, require_target
from budget_opt.estimators.groups.functions import GroupNumbers, group_numbers
from budget_opt.estimators.groups.result import GroupMean, GroupMeans
from budget_opt.estimators.intervals.chance_events import behind, chance_events, degrees_of, few_note
from budget_opt.estimators.intervals.errors_of_means import require_rows
from budget_opt.estimators.intervals.noise_limit import require_noise_limit, require_signal
from budget_opt.estimators.intervals.score_ranges import range_notes
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.moments.usefulness import usefulness
from budget_opt.estimators.releases.counting import Counts

CLEARLY = 3.0
"""Standard errors above 0 that a group's share must be: nearer to 0 no interval of its mean covers."""
MOST_GROUPS = 300
_NAMED = 8


@dataclass(frozen=True)
class _Means:
    """What the estimates of all groups and rests are made from."""

    numbers: GroupNumbers
    target: Target
    n: int
    effective: float
    largest: float
    noise_limit: float
    degrees: FloatArray
    behind: FloatArray
    origin: float
    ends: tuple[float, float]
    """The least and the largest score."""


def means_by_group(
    counts: Counts,
    group: Channel,
    design: Design,
    labels: Sequence[str],
    target: Target,
    noise_limit: float = math.inf,
) -> GroupMeans:
    """The corrected mean of `design` in every category of `group`, and against the rest.

    `counts` is the joint table of both. A group is withheld where its share is not `CLEARLY` above 0, or
    its error above `noise_limit` times half the range of the scores; `NoiseError` where all are. Raises
    `InputError` for more than 300 groups and for fewer than 3 rows.
    """
    require_target(target)
    require_rows(counts, "a group mean", 3)
    require_noise_limit(noise_limit)
    if group.cardinality > MOST_GROUPS:
        raise InputError(
            f"by: {group.name!r} has {group.cardinality:,} categories, at most {MOST_GROUPS} groups are told "
            "apart. Take a coarser attribute."
        )
    if not np.ptp(design.scores):
        raise InputError(
            f"attribute {design.name!r}: its scores are all equal, and its mean the same in every group. "
            f'Give others, one number a category: scores={{"{design.name}": [...]}}.'
        )
    numbers = group_numbers(counts, group, design)
    # of a public group its own rows are given; the number of all others tells nothing of its mean
    within = np.maximum(numbers.shares, 0.0) if group.retention == 1 else np.ones_like(numbers.shares)
    rows = counts.effective * within
    kept_of_both = retention_of([group, design])
    events = chance_events(numbers.squares, numbers.fourths * within, rows)
    made = _Means(
        numbers,
        target,
        counts.n,
        counts.effective,
        float(np.ptp(design.scores)) / 2,
        noise_limit,
        degrees_of(events, rows),
        behind(events, rows, kept_of_both, target),
        design.origin,
        (design.origin + float(design.scores.min()), design.origin + float(design.scores.max())),
    )
    names = [*labels, *(f"all but {label}" for label in labels)]
    estimates = [_mean(made, design.name, name, place) for place, name in enumerate(names)]
    kept = tuple(one if isinstance(one, GroupMean) else None for one in estimates)
    r = len(labels)
    reasons = tuple(one for one in estimates[:r] if isinstance(one, str))
    if not any(kept[:r]):
        _refuse(made, design.name, group.name, r)
    return GroupMeans(
        attribute=design.name,
        by=group.name,
        groups=tuple(labels),
        means=kept[:r],
        rests=kept[r:],
        covariance=_of(made)[: 2 * r, : 2 * r],
        n=counts.n,
        target=target,
        notes=(*reasons, *_notes_of(labels, kept[:r])),
    )


def _of(made: _Means) -> FloatArray:
    covariances = made.numbers.covariances
    return covariances.population if made.target == "population" else covariances.data


def _variance(made: _Means, place: int, other: int | None = None) -> float:
    """Of one influence function, or of it minus another one."""
    combination = np.zeros(len(made.numbers.covariances.data))
    combination[place] = 1.0
    if other is not None:
        combination[other] = -1.0
    return made.numbers.covariances.variance(combination, made.target)


def _relative_error(made: _Means, place: int) -> float:
    """That of a group's share."""
    k = len(made.numbers.means)
    return math.sqrt(_variance(made, k + place)) if made.numbers.shares[place] > 0 else math.inf


def _mean(made: _Means, attribute: str, name: str, place: int) -> GroupMean | str:
    """The estimate of a group or rest; a sentence where it is withheld."""
    numbers, k = made.numbers, len(made.numbers.means)
    share = float(numbers.shares[place])
    relative = _relative_error(made, place)
    if relative * CLEARLY > 1:
        return f"{name}: withheld, its estimated share is not {CLEARLY:g} standard errors above 0"
    variance = _variance(made, place)
    if math.sqrt(variance) > made.noise_limit * made.largest:
        return (
            f"{name}: withheld, the error of its mean is above {made.noise_limit:g} times half the range of "
            "the scores"
        )
    raw = float(numbers.raw[place])
    useful = None
    if math.isfinite(raw):
        difference = _variance(made, 2 * k + place, place)
        distance = raw - float(numbers.means[place])
        useful = usefulness(distance, difference, variance, _variance(made, 2 * k + place))
    degrees = float(made.degrees[place])
    inflation = float(numbers.inflations[place])
    effective = made.effective / inflation if math.isfinite(inflation) else None
    found = GroupMean(
        label=f"mean of {attribute} in {name}",
        value=made.origin + float(numbers.means[place]),
        standard_error=math.sqrt(variance),
        n=made.n,
        target=made.target,
        raw=made.origin + raw if math.isfinite(raw) else None,
        effective_n=effective,
        degrees=degrees if math.isfinite(degrees) else None,
        notes=few_note(float(made.behind[place])),
        usefulness=useful,
        share=share,
        share_error=relative * share,
        errors=(variance, float(_of(made)[place, k + place]), relative**2),
    )
    return replace(found, notes=(*found.notes, *range_notes(found, *made.ends)))


def _notes_of(groups: Sequence[str], means: Sequence[GroupMean | None]) -> Iterator[str]:
    """Every note of a group once, with all groups whose it is."""
    found: dict[str, list[str]] = {}
    for name, mean in zip(groups, means, strict=True):
        for note in () if mean is None else mean.notes:
            found.setdefault(note, []).append(name)
    for note, names in found.items():
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        yield f"{', '.join(names[:_NAMED])}{more}: {note}"


def _refuse(made: _Means, attribute: str, by: str, groups: int) -> None:
    """Raise for the group with the smallest error, when none is left."""
    clear = [place for place in range(groups) if _relative_error(made, place) * CLEARLY <= 1]
    what = f"mean of {attribute} by {by}"
    if not clear:
        least = min(_relative_error(made, place) for place in range(groups))
        raise NoiseError(
            f"{what}: the estimated share of every group is within {CLEARLY:g} standard errors of 0, so that "
            "no mean within a group is known. Estimate it from more rows, take coarser groups, or give "
            f"{by} a larger epsilon in the next release.",
            what=what,
            standard_error=least,
            limit=1 / CLEARLY,
        )
    error = min(math.sqrt(_variance(made, place)) for place in clear)
    require_signal(f"{what}, the most certain group", error, made.largest, made.noise_limit)


def with_replicates(means: GroupMeans, errors: FloatArray, how: str) -> GroupMeans:
    """The same with the errors of bootstrap replicates, shape (B, 2 r)."""

    def added(estimates: Sequence[GroupMean | None], start: int) -> tuple[GroupMean | None, ...]:
        return tuple(
            None
            if one is None
            else replace(one, bootstrap=Replicates(one.value, errors[:, start + place], how))
            for place, one in enumerate(estimates)
        )

    return replace(means, means=added(means.means, 0), rests=added(means.rests, len(means.groups)))
