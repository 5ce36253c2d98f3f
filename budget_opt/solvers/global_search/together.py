"""Several searches in step: their batches are bounded side by side.

A step on a few boxes takes nearly the time of a step on many. So searches of questions that differ in their
caps and root boxes alone, as along a range of totals, go round by round together. Nothing that one search
proves is used for another: they share multipliers to begin with, at which any bound is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.boxes.bound import Relaxation
from budget_opt.certificate.boxes.layout import Layout
from budget_opt.certificate.pruning.question import Question
from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.solvers.global_search.bounding import STEPS, Bounded, bounded
from budget_opt.solvers.global_search.node import Batch
from budget_opt.solvers.global_search.search import Rounds, Search

_ROOT_STEPS = 40
"""Of roots side by side, from the multipliers of one that was bounded with many steps."""
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


def run(searches: Sequence[Search], told: Told) -> None:
    """Run searches of one `kind` until all have ended."""
    if len(searches) == 1:
        searches[0].run(_teller(told, 0))
        told(0, searches[0].bound, None)
        return
    rounds, waiting = _begun(searches, told)
    count = _ROOT_STEPS
    while waiting:
        following: dict[int, Batch] = {}
        for some in _portions(waiting):
            shares = side_by_side([searches[k] for k in some], [waiting[k] for k in some], count)
            for k, share in zip(some, shares, strict=True):
                try:
                    following[k] = rounds[k].send(share)
                except StopIteration:
                    told(k, searches[k].bound, None)
        waiting, count = following, STEPS


def _begun(searches: Sequence[Search], told: Told) -> tuple[list[Rounds], dict[int, Batch]]:
    """The rounds of every search and their roots; only the first is bounded on its own."""
    rounds = [searches[0].rounds(_teller(told, 0))]
    waiting = {0: next(rounds[0])}
    for k, search in enumerate(searches[1:], start=1):
        rounds.append(search.rounds(_teller(told, k), waiting[0]))
        waiting[k] = next(rounds[k])
    return rounds, waiting


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
    together = bounded(Several(searches[0].question, caps), Batch.joined(batches), cut, count)
    if together is None:
        return [None] * len(searches)
    ends = np.cumsum([0, *sizes])
    places = np.searchsorted(together.kept, ends)
    return [
        together.only(np.arange(start, stop), int(before)) if start < stop else None
        for start, stop, before in zip(places[:-1], places[1:], ends[:-1], strict=True)
    ]
