"""What an estimator knows of one attribute of a moment: its matrix, its scores, and the noise they imply.

Letters (DESIGN 2.1-2.3): f scores, q background, lambda retention, W = f(y) of the released cell,
Z = f(x) of the original one, s = E_q (f - E_q f)^2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from budget_opt.errors import InputError

if TYPE_CHECKING:
    from budget_opt.allocation import AllocatedAttribute, Allocation

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """One attribute as it was randomized: P = lambda I + (1 - lambda) 1 q^T over r categories.

    `retention` is the implemented lambda in (0, 1]; `background` q and `scores` f have shape (r,).
    Raises `InputError` where the shapes disagree or a score is not finite.
    """

    name: str
    retention: float
    background: FloatArray
    scores: FloatArray

    def __post_init__(self) -> None:
        if not 0 < self.retention <= 1:
            raise InputError(
                f"attribute {self.name!r}: the retention is {self.retention!r}, must be in (0, 1]"
            )
        if self.scores.shape != self.background.shape:
            raise InputError(
                f"attribute {self.name!r}: {self.scores.size} scores are given, the domain has "
                f"{self.background.size} categories. Give one score a category, in the domain's order."
            )
        if not np.all(np.isfinite(self.scores)):
            raise InputError(f"attribute {self.name!r}: every score must be a finite number.")

    @property
    def cardinality(self) -> int:
        """r, the number of categories."""
        return int(self.background.size)

    @property
    def background_mean(self) -> float:
        """E_q f, the mean score of a cell that is pure noise."""
        return float(self.background @ self.scores)

    @property
    def noise(self) -> FloatArray:
        """An unbiased estimate of Var(W | x) from the released category alone, shape (r,), >= 0.

        (1 - lambda)((f(y) - E_q f)^2 + lambda s): its mean given x is
        (1 - lambda)(lambda (f(x) - E_q f)^2 + s), which is Var(W | x) (DESIGN 2.2 with x fixed).
        """
        centred = self.scores - self.background_mean
        spread = float(self.background @ centred**2)
        noise: FloatArray = (1 - self.retention) * (centred**2 + self.retention * spread)
        return noise


def designs_of(
    allocation: Allocation,
    attributes: Sequence[str],
    scores: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Design, ...]:
    """The designs of the named attributes, in that order.

    `scores` replaces the declared scores of some of them, one number a category. Raises `InputError` for
    no attribute, an unknown or repeated one, one of which nothing was released, and one without scores.
    """
    given = dict(scores or {})
    known = {attribute.name: attribute for attribute in allocation.attributes}
    if not attributes:
        raise InputError("moment: no attribute is named, at least one is needed. Name one or more.")
    for name in attributes:
        if name not in known:
            raise InputError(f"moment: {name!r} is not an attribute of the allocation. {_hint(name, known)}")
        if list(attributes).count(name) > 1:
            raise InputError(
                f"moment: {name!r} is named twice; the product rule of retentions holds for distinct "
                "attributes only. Name each once."
            )
    for name in given:
        if name not in attributes:
            raise InputError(f"scores: {name!r} is not an attribute of the moment. {_hint(name, attributes)}")
    return tuple(_design(known[name], given.get(name)) for name in attributes)


def _hint(name: str, known: Iterable[str]) -> str:
    listed = list(known)
    near = difflib.get_close_matches(str(name), listed, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(map(repr, listed))}."


def _design(attribute: AllocatedAttribute, given: Sequence[float] | None) -> Design:
    name = attribute.name
    if attribute.sampler is None:
        raise InputError(
            f"attribute {name!r}: epsilon is {attribute.epsilon!r}, so nothing about it was released and no "
            "moment with it can be estimated. Give it a budget (epsilon_min, or a floor on a moment with it)."
        )
    scores = attribute.score_values if given is None else given
    if scores is None:
        raise InputError(
            f"attribute {name!r}: its categories have no order and no scores, so a moment is not defined. "
            f'Give scores={{"{name}": [one number a category]}}, or state `scores` or `ordered: true` in the '
            "problem."
        )
    f = np.asarray(scores, dtype=np.float64)
    return Design(name, float(attribute.sampler.retention), _uniform(attribute.cardinality), f)


def _uniform(cardinality: int) -> FloatArray:
    return np.full(cardinality, 1.0 / cardinality)
