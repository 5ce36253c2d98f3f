"""What an audit says: bounds of epsilon that were shown, and violations; never that a sampler is private."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from budget_opt.verifier.report import Check, VerificationReport


@dataclass(frozen=True)
class Bound:
    """The epsilon (nats) that was shown for an attribute, or for the record (`name` None).

    The true one is at least `lower`, but for the error of the audit; `shown_by` says which test shows it.
    `allowed` is the allocation's. `noticed` is the least epsilon that 9 audits of 10 of this size notice of a
    sampler that keeps the truth too often, of all categories alike; `noticed_in_pair` the least of a fault
    of one pair of categories alone, inf where a report never given for one category goes unnoticed. Both
    are None for the record; of other faults they say nothing.
    """

    name: str | None
    allowed: float
    lower: float
    shown_by: str
    noticed: float | None = None
    noticed_in_pair: float | None = None

    @property
    def holds(self) -> bool:
        """True where no more than what is allowed was shown."""
        return self.lower <= self.allowed

    @property
    def label(self) -> str:
        """The name in words."""
        return "the record" if self.name is None else self.name

    def check(self) -> Check:
        """The bound as a check."""
        claim = f"{self.label}: epsilon at least, by the worst test"
        return Check(claim, self.lower, self.allowed, self.holds, self.shown_by, kind="tested")


@dataclass(frozen=True)
class Audit(VerificationReport):
    """The outcome of `audit`. `bounds` has a line for each attribute, and one for the record, the last.

    `false_alarm` is the error: a sound sampler has findings with at most that probability. `trials` records
    in `calls` calls were asked for, `largest_batch` in one; `seed` makes the same choices again.
    That nothing was found is no proof of privacy: `excess` and `excess_in_pair` say what would have been
    noticed of two kinds of fault.
    """

    bounds: tuple[Bound, ...] = ()
    trials: int = 0
    calls: int = 0
    largest_batch: int = 0
    seed: int = 0

    @property
    def findings(self) -> tuple[Check, ...]:
        """The violations: the checks that do not hold."""
        return self.failed

    @property
    def excess(self) -> float:
        """The excess of epsilon (nats), by a truth kept too often, that is noticed in whatever attribute.

        In 9 audits of 10.
        """
        excesses = [bound.noticed - bound.allowed for bound in self.bounds if bound.noticed is not None]
        return max(excesses, default=math.inf)

    @property
    def excess_in_pair(self) -> float:
        """The same of a fault of one pair of categories alone; inf where it goes unnoticed."""
        noticed = [(bound.noticed_in_pair, bound.allowed) for bound in self.bounds]
        return max((at - allowed for at, allowed in noticed if at is not None), default=math.inf)

    def to_dict(self) -> dict[str, Any]:
        """The audit as JSON."""
        return {
            **super().to_dict(),
            "error": self.false_alarm,
            "excess_noticed": _number(self.excess),
            "excess_noticed_in_pair": _number(self.excess_in_pair),
            "trials": self.trials,
            "calls": self.calls,
            "largest_batch": self.largest_batch,
            "seed": str(self.seed),
            "bounds": [
                {
                    name: _number(value) if isinstance(value, float) else value
                    for name, value in asdict(bound).items()
                }
                for bound in self.bounds
            ],
        }

    def __str__(self) -> str:
        lines = [f"{self.subject}: {self._verdict()}", f"  {self._effort()}"]
        broken = {bound.check() for bound in self.bounds}
        lines += [f"  FOUND  {self._sentence(bound)}" for bound in self.bounds if not bound.holds]
        lines += [f"  FOUND  {_finding(check)}" for check in self.findings if check not in broken]
        width = max((len(bound.label) for bound in self.bounds), default=0)
        lines += [f"  {bound.label:{width}}  {_line(bound)}" for bound in self.bounds]
        return "\n".join([*lines, *(f"  note   {note}" for note in self.notes)])

    def _verdict(self) -> str:
        if not self.holds:
            return f"{len(self.findings)} violation{'s' if len(self.findings) > 1 else ''} found"
        return f"no violation found; noticed would be {excess_in_words(self.excess, self.excess_in_pair)}"

    def _effort(self) -> str:
        return (
            f"{self.trials:,} made-up records, {self.calls:,} calls, at most {self.largest_batch:,} in one; "
            f"error {self.false_alarm:g}, seed {self.seed}. An audit shows violations, never their absence."
        )

    def _sentence(self, bound: Bound) -> str:
        return (
            f"epsilon of {bound.label} is at least {_down(bound.lower)} (error {self.false_alarm:g}), the "
            f"allocation allows {bound.allowed:g}: {bound.shown_by}"
        )


def _finding(check: Check) -> str:
    measured, limit = check.measured, check.limit
    if isinstance(measured, float) and isinstance(limit, float):
        chance = f"{measured:.2g}" if measured > 0 else "below 1e-300"
        return f"{check.claim}: chance {chance}, limit {limit:.2g} ({check.source})"
    return f"{check.claim} ({check.source})"


def _line(bound: Bound) -> str:
    shown = f"epsilon at least {_down(bound.lower)}, allowed {bound.allowed:g}"
    if bound.noticed is None:
        return shown
    pair = math.inf if bound.noticed_in_pair is None else bound.noticed_in_pair
    return (
        f"{shown}; noticed: truth kept too often {_from(bound.noticed)}, one pair of categories {_from(pair)}"
    )


def excess_in_words(truth: float, pair: float) -> str:
    """What an audit notices of two kinds of fault, from their excesses (nats; inf for what it does not)."""
    if math.isinf(truth):
        return "hardly any, with so few records"
    kept = f"a truth kept too often by {_up(truth)} nats"
    if math.isinf(pair):
        return f"{kept}, but not every fault of one pair of categories, however large"
    return f"{kept}, and a fault of one pair of categories by {_up(pair)} nats"


def _from(epsilon: float) -> str:
    return "not at any" if math.isinf(epsilon) else f"from {_up(epsilon)}"


def _down(value: float) -> str:
    return (
        "0" if value <= 0 else "any number" if math.isinf(value) else f"{math.floor(value * 1000) / 1000:g}"
    )


def _up(value: float) -> str:
    return f"{math.ceil(value * 1000) / 1000:g}"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
