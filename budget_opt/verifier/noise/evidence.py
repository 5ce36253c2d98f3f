"""What the tests of one kind say together, and the smallest fault that they would notice."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from budget_opt.verifier.noise.blocks import Block
from budget_opt.verifier.report import Check

FloatArray = npt.NDArray[np.float64]

_NAMED = 5


@dataclass(frozen=True)
class NoiseEvidence:
    """The `tests` of one kind: the smallest tail probability times their number, against `alarm`.

    A sound release has `least_tail` <= `alarm` with probability at most `alarm`. `suspects` says what the
    tests that fail are about, `notices` the smallest fault that is noticed, in words.
    """

    claim: str
    tests: int
    least_tail: float
    alarm: float
    suspects: tuple[str, ...]
    notices: str
    source: str

    @property
    def holds(self) -> bool:
        """True where no count is too unlikely."""
        return self.least_tail > self.alarm

    def check(self) -> Check:
        """The evidence as one check; a claim that fails names the suspects, and no number."""
        return Check(
            claim=self.claim if self.holds else f"{self.claim}: not so for {_listed(self.suspects)}",
            measured=self.least_tail,
            limit=f"above {self.alarm:.3g}",
            holds=self.holds,
            source=f"{self.source}, least probability times their number",
            kind="tested",
            notices=self.notices,
            name=self.claim,
        )

    def to_dict(self) -> dict[str, Any]:
        """The evidence as plain values for JSON."""
        return {**asdict(self), "suspects": list(self.suspects), "holds": self.holds}


class NoiseTally(Protocol):
    """Running counts of one kind or several; blocks add up."""

    def add(self, block: Block) -> None:
        """Take the rows of one block."""

    def evidence(self, judged: Collection[int]) -> Iterator[NoiseEvidence]:
        """What the rows say of the attributes with these numbers."""


def combined(
    claim: str,
    tails: npt.ArrayLike,
    alarm: float,
    label: Callable[[int], str],
    *,
    notices: str,
    source: str,
) -> NoiseEvidence:
    """One piece of evidence from the tail probabilities of all tests of a kind.

    `label` says what the test with a number is about; only the tests that fail are asked for.
    """
    flat = np.asarray(tails, dtype=np.float64).ravel()
    adjusted = flat * flat.size
    failing = np.flatnonzero(adjusted <= alarm)
    worst = failing[np.argsort(adjusted[failing], kind="stable")]
    return NoiseEvidence(
        claim=claim,
        tests=int(flat.size),
        least_tail=min(1.0, float(adjusted.min(initial=1.0))),
        alarm=alarm,
        suspects=tuple(dict.fromkeys(label(int(i)) for i in worst)),
        notices=notices,
        source=source,
    )


def deviations_noticed(alarm: float, tests: int) -> float:
    """The standard deviations that one of `tests` tests must be off to be noticed half the time, about."""
    return -NormalDist().inv_cdf(alarm / max(tests, 1) / 2)


def correlation_in_words(rows: float, alarm: float, tests: int, between: str) -> str:
    """The smallest correlation between things as a sentence."""
    smallest = deviations_noticed(alarm, tests) / math.sqrt(max(rows, 1))
    if smallest >= 1:
        return "nothing: there are too few rows"
    return f"about a correlation of {smallest:.2g} between {between}"


def count_in_words(count: float, unit: str) -> str:
    """41 rows; 1 row."""
    return f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"


def _listed(suspects: tuple[str, ...]) -> str:
    shown = ", ".join(suspects[:_NAMED])
    return f"{shown} and others" if len(suspects) > _NAMED else shown
