"""Group means and differences as results: by name, as rows, as JSON, and as people read them."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from budget_opt.errors import InputError
from budget_opt.estimators.channels import FloatArray
from budget_opt.estimators.estimate import (
    Estimate,
    Target,
    circumstances,
    finite_or_none,
    reach,
    sentence,
)
from budget_opt.estimators.intervals.ratio import ratio_interval
from budget_opt.estimators.number_texts import estimates_columns
from budget_opt.estimators.unchanging import hold_arrays
from budget_opt.model.domain import Label
from budget_opt.tables.printing import plain_text
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

MISSING = "missing"
_COLUMNS = (
    "value", "standard_error", "low", "high", "raw", "share", "effective_n", "useful", "mse_corrected",
    "mse_raw",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GroupMean(Estimate):
    """The corrected mean within one group, whose corrected share of all is `share` with `share_error`.

    Its interval is Fieller's (see `ratio`): the share is estimated too. `errors` are the variance of the
    numerator about the mean, its covariance with the share, and the share's variance, in units of the share.
    """

    share: float
    share_error: float
    errors: tuple[float, float, float]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases."""
        below, above = self.reach(level)
        return self.value - below, self.value + above

    def reach(self, level: float) -> tuple[float, float]:
        """How far the interval reaches below the value and above it."""
        v, c, d = (np.array(number) for number in self.errors)
        low, high = ratio_interval(np.array(0.0), v, c, d, reach(level, self.degrees))
        return -float(low), float(high)


@dataclass(frozen=True, kw_only=True)
class GroupDifference(Estimate):
    """The difference of two group means, with the covariance of both in its error.

    Its interval joins those of both means by their correlation (variance estimates recovery, Zou and Donner
    2008), and so keeps what Fieller's gain for each where a share is uncertain.
    """

    first: GroupMean
    second: GroupMean
    correlation: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The interval that covers the target in a share `level`, in (0, 1), of releases."""
        (below, above), (other_below, other_above) = self.first.reach(level), self.second.reach(level)
        return (
            self.value - self._joined(below, other_above),
            self.value + self._joined(above, other_below),
        )

    def _joined(self, one: float, other: float) -> float:
        if not math.isfinite(one) or not math.isfinite(other):
            return math.inf
        return math.sqrt(max(one * one + other * other - 2 * self.correlation * one * other, 0.0))

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """The difference as plain values for JSON, with its interval at `level`."""
        first, second = self.first.to_dict(level), self.second.to_dict(level)
        return {**super().to_dict(level), "first": first, "second": second}


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupMeans(Rows):
    """The corrected means of `attribute` within the `groups`, the categories of `by`.

    `labels` are the categories themselves, None the missing one: a group is named by its label, or by its
    text in `groups`. `means` has one estimate a group and `rests` one of all other groups together, None
    where it is withheld, which `notes` explain. `covariance`, shape (2 r, 2 r), is that of all of them,
    groups first.
    """

    attribute: str
    by: str
    groups: tuple[str, ...]
    means: tuple[GroupMean | None, ...]
    rests: tuple[GroupMean | None, ...]
    covariance: FloatArray
    n: int
    target: Target
    labels: tuple[Label | None, ...] = ()
    notes: tuple[str, ...] = ()
    kind: Literal["estimated"] = "estimated"

    def __post_init__(self) -> None:
        hold_arrays(self)

    def __getitem__(self, group: object) -> GroupMean:
        """The mean of one group; raises `InputError` for another label, and for one that is withheld."""
        place = self._place(group)
        return self._known(self.means[place], self.groups[place])

    def difference(self, first: object, second: object) -> GroupDifference:
        """The mean of the first group minus that of the second, with its own error."""
        a, b = self._place(first), self._place(second)
        if a == b:
            raise InputError(f"difference: both groups are {self.groups[a]!r}. Name two.")
        return self._difference(self[first], self[second], a, b)

    def against_rest(self, group: object) -> GroupDifference:
        """The mean of a group minus that of all others together, with its own error."""
        place = self._place(group)
        rest = self._known(self.rests[place], f"all but {self.groups[place]}")
        return self._difference(self[group], rest, place, len(self.groups) + place)

    def differences(self) -> Iterator[GroupDifference]:
        """Of each two groups whose means are both known."""
        for a, b in combinations(range(len(self.groups)), 2):
            first, second = self.means[a], self.means[b]
            if first is not None and second is not None:
                yield self._difference(first, second, a, b)

    def rows(self, level: float = 0.95) -> list[dict[str, Any]]:
        """A row a group; None where its mean is withheld."""
        return [_row(name, mean, level, self) for name, mean in zip(self.groups, self.means, strict=True)]

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Means and differences as plain values for JSON, with intervals at `level`; null where withheld."""
        return {
            "attribute": self.attribute,
            "by": self.by,
            "groups": self.rows(level),
            "against_rest": [
                _row(name, rest, level, self) for name, rest in zip(self.groups, self._against, strict=True)
            ],
            "level": level,
            "n": self.n,
            "target": self.target,
            "notes": list(self.notes),
            "kind": self.kind,
        }

    def renderable(self, level: float = 0.95) -> RenderableType:
        """A line a group and the notes, for a rich console."""
        from rich.console import Group
        from rich.text import Text

        from budget_opt.tables.wide import Column, WideTable

        first = Column(self.by, self.groups)
        columns = estimates_columns(f"mean of {self.attribute}", self.rows(level), level, share=True)
        told = (circumstances(self.n, self.target), *map(sentence, self.notes))
        return Group(WideTable(first, columns), *map(Text, told))

    def __str__(self) -> str:
        return plain_text(self.renderable())

    @property
    def _against(self) -> list[GroupDifference | None]:
        known = zip(self.groups, self.means, self.rests, strict=True)
        return [self.against_rest(name) if mean and rest else None for name, mean, rest in known]

    def _place(self, group: object) -> int:
        # True == 1 in Python, so the type is compared as well
        for place, label in enumerate(self.labels):
            if type(group) is type(label) and group == label:
                return place
        name = MISSING if group is None else str(group)
        if name in self.groups:
            return self.groups.index(name)
        near = difflib.get_close_matches(name, self.groups, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"They are {', '.join(map(repr, self.groups))}."
        raise InputError(f"{name!r} is not a group of {self.by}. {hint}")

    def _known(self, mean: GroupMean | None, name: str) -> GroupMean:
        if mean is None:
            raise InputError(f"mean of {self.attribute} in {name}: is withheld. {' '.join(self.notes)}")
        return mean

    def _difference(self, first: GroupMean, second: GroupMean, a: int, b: int) -> GroupDifference:
        covariance = float(self.covariance[a, b])
        variance = first.standard_error**2 + second.standard_error**2 - 2 * covariance
        product = first.standard_error * second.standard_error
        correlation = min(max(covariance / product, -1.0), 1.0) if product > 0 else 0.0
        return GroupDifference(
            label=f"{first.label} - {second.label}",
            value=first.value - second.value,
            standard_error=math.sqrt(max(variance, 0.0)),
            n=self.n,
            target=self.target,
            raw=None if first.raw is None or second.raw is None else first.raw - second.raw,
            first=first,
            second=second,
            correlation=correlation,
            notes=tuple(note for note in first.notes if note in self.notes),  # what holds for all groups
        )


def group_names(labels: Sequence[Label | None]) -> tuple[str, ...]:
    """The texts of labels, each one's own: where two would read alike, that of text is quoted."""
    plain = [MISSING if label is None else str(label) for label in labels]
    return tuple(
        repr(label) if isinstance(label, str) and plain.count(text) > 1 else text
        for label, text in zip(labels, plain, strict=True)
    )


def _row(
    name: str, estimate: GroupMean | GroupDifference | None, level: float, means: GroupMeans
) -> dict[str, Any]:
    row: dict[str, Any] = {"group": name, **dict.fromkeys(_COLUMNS)}
    if estimate is not None:
        row["value"], row["standard_error"] = estimate.value, estimate.standard_error
        row["low"], row["high"] = map(finite_or_none, estimate.interval(level))
        row["raw"], row["effective_n"] = estimate.raw, estimate.effective_n
        if isinstance(estimate, GroupMean):
            row["share"] = estimate.share
        if estimate.usefulness is not None:
            row["useful"] = estimate.usefulness.useful
            row["mse_corrected"] = estimate.usefulness.mse_corrected
            row["mse_raw"] = estimate.usefulness.mse_raw
    return {**row, "target": means.target, "n": means.n, "kind": means.kind}
