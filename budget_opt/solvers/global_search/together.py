"""Several searches in step: their batches are bounded side by side.

A step on a few boxes takes nearly the time of a step on many. So searches of questions that differ in their
caps and root boxes alone, as along a range of totals, go round by round together. Nothing that one search
proves is used for another: it may guide one, by splits and multipliers, but there any are valid.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from budget_opt.certificate.boxes.bound import Relaxation
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.pruning.question import Question
from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.global_search.bounding import STEPS, Bounded, bounded
from budget_opt.solvers.global_search.guided import Guide, walked
from budget_opt.solvers.global_search.node import Batch
from budget_opt.solvers.global_search.search import Rounds, Search

_WIDTH = 512
"""Boxes side by side, unless one search has more: with many more they no longer fit into the cache."""
Told = Callable[[int, float, int | None], None]
"""Hears which search, its bound and its nodes; None for them where it has ended."""


@dataclass(frozen=True)
class Several:
    """Boxes of questions that differ in their caps alone: `caps` (R, B) are those of each box."""

    question: Question
    caps: FloatArray

    @property
    def layout(self) -> Layout:
        """That of every box."""
        return self.question.layout

    def relaxation(self, lower: FloatArray, upper: FloatArray, point: FloatArray) -> Relaxation:
        """The relaxation on boxes (M, B), each under its own caps."""
        return self.question.relaxation(lower, upper, point, self.caps)

    def only(self, index: IntArray) -> Several:
        """Some of the boxes."""
        return replace(self, caps=self.caps[:, index])


def kind(question: Question) -> Hashable:
    """Equal for questions that differ in caps and root boxes alone."""
    arrays = question.arrays
    parts = (arrays.incidence.indptr, arrays.incidence.indices, arrays.weight, arrays.cardinality)
    limits = (arrays.log_floor, arrays.log_ceiling, question.budgets)
    return tuple(part.tobytes() for part in (*parts, *limits))


@dataclass
class Running:
    """Searches of one `kind` on their way: their rounds, and the batch that each of them waits for.

    `ended` hears of every search whose rounds are over.
    """

    searches: Sequence[Search]
    rounds: Sequence[Rounds]
    ended: Callable[[int], None]
    waiting: dict[int, Batch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for k in range(len(self.rounds)):
            self._advance(k, self.waiting, None)

    def go_on(self, count: int = STEPS, pause: Callable[[], bool] = lambda: False) -> None:
        """Bound what waits side by side, with so many steps, until all rounds are over, or to a pause."""
        while self.waiting and not pause():
            following: dict[int, Batch] = {}
            for some in _portions(self.waiting):
                searches = [self.searches[k] for k in some]
                shares = side_by_side(searches, [self.waiting[k] for k in some], count)
                for k, share in zip(some, shares, strict=True):
                    self._advance(k, following, share)
            self.waiting = following

    def _advance(self, k: int, waiting: dict[int, Batch], share: Bounded | None) -> None:
        try:
            waiting[k] = self.rounds[k].send(share)
        except StopIteration:
            self.ended(k)


def begun(searches: Sequence[Search], told: Told) -> Running:
    """Searches from their roots."""
    rounds = [search.rounds(_teller(told, k)) for k, search in enumerate(searches)]
    return Running(searches, rounds, lambda k: told(k, searches[k].bound, None))


def follow(searches: Sequence[Search], guides: Sequence[Guide], told: Told) -> None:
    """Run searches, each of them from where its guide leads, until all have ended."""
    walks = [walked(search, guide) for search, guide in zip(searches, guides, strict=True)]
    Running(searches, walks, lambda _: None).go_on(0)
    rounds = [search.further(_teller(told, k), led=True) for k, search in enumerate(searches)]
    Running(searches, rounds, lambda k: told(k, searches[k].bound, None)).go_on()


def _teller(told: Told, k: int) -> Callable[[float, int], None]:
    return lambda bound, nodes: told(k, bound, nodes)


def _portions(waiting: dict[int, Batch]) -> Iterator[list[int]]:
    """Which of the searches to take together."""
    some, boxes = list[int](), 0
    for k, batch in waiting.items():
        if some and boxes + batch.count > _WIDTH:
            yield some
            some, boxes = [], 0
        some.append(k)
        boxes += batch.count
    yield some


def side_by_side(searches: Sequence[Search], batches: Sequence[Batch], count: int) -> list[Bounded | None]:
    """What is left of the batch of every search after so many steps."""
    sizes = [batch.count for batch in batches]
    cut = np.repeat([search.cut for search in searches], sizes)
    caps = np.repeat(np.stack([search.question.caps for search in searches], axis=1), sizes, axis=1)
    several = Several(searches[0].question, caps)
    together = bounded(several, Batch.joined(batches), cut, count, searches[0].heard)
    if together is None:
        return [None] * len(searches)
    ends = np.cumsum([0, *sizes])
    places = np.searchsorted(together.kept, ends)
    return [
        together.only(np.arange(start, stop), int(before)) if start < stop else None
        for start, stop, before in zip(places[:-1], places[1:], ends[:-1], strict=True)
    ]
