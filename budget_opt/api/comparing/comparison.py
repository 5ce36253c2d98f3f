"""Splits of a budget side by side, as in Ruiz's Table 1: what each is worth, who gains and who loses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from budget_opt.allocation import Allocation
from budget_opt.api.comparing.backgrounds import ComparedBackground
from budget_opt.api.splits import Broken
from budget_opt.errors import InputError
from budget_opt.model.arrays import MINIMIZED
from budget_opt.model.problem import Problem
from budget_opt.tables.rows import Rows

if TYPE_CHECKING:
    from rich.console import RenderableType

EVEN = "even split"
"""The name of the even split where the caller gave none."""
SAME = 1e-3
"""Share of a retention, and of an objective, below which a change is none."""
SEEN = 1e-6
"""Share of the largest retention below which a change is none: that of a moment which nothing is left of."""


@dataclass(frozen=True)
class Change:
    """A moment whose retention differs from the reference's by more than one in a thousand."""

    label: str
    before: float
    after: float

    @property
    def ratio(self) -> float:
        """After over before; inf where nothing survived before."""
        return self.after / self.before if self.before > 0 else float("inf")


@dataclass(frozen=True)
class ComparedSplit:
    """One split under the common problem.

    `value` is the objective with the lambda that the sampler implements, and `ratio` that over the
    reference's, None where either is undefined or 0. `better` is the share by which the split is better than
    the reference, whichever way the objective goes: 0.31 for 31 %, negative where it is worse.
    `broken` are the constraints of the problem that it does not keep. `gains` and `losses` are its moments
    against the reference, the largest ratios first.
    """

    name: str
    allocation: Allocation
    value: float | None
    ratio: float | None
    better: float | None
    broken: tuple[Broken, ...]
    gains: tuple[Change, ...]
    losses: tuple[Change, ...]

    @property
    def spent_epsilon(self) -> float:
        """The exact sum of its epsilons in nats, rounded up."""
        return self.allocation.spent_epsilon

    def to_dict(self) -> dict[str, Any]:
        """The split as JSON, with its epsilons by name, one a cluster."""
        return {
            "name": self.name,
            "epsilons": {one.name: one.epsilon for one in self.allocation.blocks},
            "spent_epsilon": self.spent_epsilon,
            "loss": self.allocation.loss,
            "value": self.value,
            "ratio": self.ratio,
            "better": self.better,
            "broken": [dict(vars(broken)) for broken in self.broken],
            "gains": [dict(vars(change)) for change in self.gains],
            "losses": [dict(vars(change)) for change in self.losses],
        }


@dataclass(frozen=True)
class ComparedMoment:
    """One moment: its retention and variance inflation under every split, in their order.

    The inflation is None where a member is not released.
    """

    attributes: tuple[str, ...]
    label: str
    weight: float
    floor: float | None
    ceiling: float | None
    level: int
    retentions: tuple[float, ...]
    variance_inflations: tuple[float | None, ...]
    variance_basis: str


@dataclass(frozen=True)
class Comparison(Rows):
    """Splits side by side under one `problem`; one row a moment, its retentions in columns.

    `reference` names the split that the others are measured by. `backgrounds` are the attributes whose
    background is not the same under all splits. `cautions` say what is not comparable.
    """

    problem: Problem
    splits: tuple[ComparedSplit, ...]
    moments: tuple[ComparedMoment, ...]
    reference: str
    backgrounds: tuple[ComparedBackground, ...]
    cautions: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the splits, in order."""
        return tuple(split.name for split in self.splits)

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """The splits as allocations of the common problem, each with the clusters that it has."""
        return tuple(split.allocation for split in self.splits)

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """The objective of every split over the reference's; below 1 is better where it is minimized."""
        return tuple(split.ratio for split in self.splits)

    @property
    def minimized(self) -> bool:
        """True where a smaller objective is better."""
        return self.problem.objective in MINIMIZED

    @property
    def sentences(self) -> tuple[str, ...]:
        """A sentence a split: how it does beside the reference, and who loses most."""
        from budget_opt.api.comparing.text import sentences

        return sentences(self)

    def __getitem__(self, name: str) -> ComparedSplit:
        for split in self.splits:
            if split.name == name:
                return split
        raise InputError(f"split {name!r} is not in the comparison; it has {', '.join(self.names)}.")

    def rows(self) -> list[dict[str, Any]]:
        """A row a moment: what the problem asks, and the retention under each split."""
        return [
            {
                "moment": moment.label,
                "weight": moment.weight,
                "floor": moment.floor,
                "ceiling": moment.ceiling,
                "level": moment.level,
                **{
                    f"retention {name}": kept
                    for name, kept in zip(self.names, moment.retentions, strict=True)
                },
            }
            for moment in self.moments
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "problem": self.problem.name,
            "problem_sha256": self.problem.sha256,
            "objective": self.problem.objective,
            "better_is": "smaller" if self.minimized else "larger",
            "reference": self.reference,
            "cautions": list(self.cautions),
            "sentences": list(self.sentences),
            "splits": [split.to_dict() for split in self.splits],
            **({"backgrounds": [dict(vars(one)) for one in self.backgrounds]} if self.backgrounds else {}),
            "moments": [
                {
                    **vars(moment),
                    "attributes": list(moment.attributes),
                    "retentions": dict(zip(self.names, moment.retentions, strict=True)),
                    "variance_inflations": dict(zip(self.names, moment.variance_inflations, strict=True)),
                }
                for moment in self.moments
            ],
        }

    def renderable(self) -> RenderableType:
        """Tables and sentences for a rich console."""
        from budget_opt.api.comparing.text import renderable

        return renderable(self)

    def __str__(self) -> str:
        from budget_opt.tables.printing import plain_text

        return plain_text(self.renderable())
