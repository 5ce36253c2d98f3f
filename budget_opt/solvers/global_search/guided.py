"""A search that is led by the tree of another total: its splits and multipliers, walked again.

Where two totals are near each other, so are their trees. A walk bounds each box once, at the multipliers
that the other search found for its counterpart, splits what is still above its own cut as that did, and
leaves the rest to the search. Splits may be any, and a bound holds at any multipliers: nothing that was
proved for the other total is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from budget_opt.certificate.proof.packing import template, unpacked
from budget_opt.certificate.proof.replay import Boxes, halves
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.solvers.global_search.node import Batch
from budget_opt.solvers.global_search.recording import Recording
from budget_opt.solvers.global_search.search import Rounds, Search

_UP = 3.0
"""Nats beyond log r where the search for a maximum begins."""
_AGAIN = 1.003
"""A box whose bound is so little above the cut is bounded with some steps before it is split."""


@dataclass(frozen=True)
class Guide:
    """The tree below the root `name` of a record."""

    recording: Recording
    name: int

    @property
    def knows(self) -> bool:
        """Whether it has any multipliers: a search that ends at once leaves none."""
        return self.recording.nearest(self.settled(self.name)) >= 0

    def settled(self, name: int) -> int:
        """The last of the boxes that one node became before it was split."""
        recording = self.recording
        while recording.first[name] >= 0 and recording.attribute[name] < 0:
            name = recording.first[name]
        return name

    def has_parts(self, name: int) -> bool:
        """Whether a settled node was split."""
        return self.recording.first[name] >= 0


def walked(search: Search, guide: Guide) -> Rounds:
    """The batches of a walk, each to be bounded without any step; what stays open is queued."""
    search.renew_tangent()
    level: Batch | None = _root(search, guide)
    while level is not None:
        following: list[Batch] = []
        for begin in range(0, level.count, search.width):
            search.check()
            part = level.only(np.arange(begin, min(begin + search.width, level.count)))
            batch = search.tightened(part)
            if batch is None:
                continue
            search.nodes += batch.count
            survived = yield batch
            if survived is None:
                continue
            parts = np.array([guide.has_parts(int(name)) for name in survived.batch.name])
            if not np.all(parts):
                search.push(
                    survived.only(np.flatnonzero(~parts), 0),
                    survived.batch.bound[~parts] < _AGAIN * search.cut,
                )
            if np.any(parts):
                following.append(_parts(search, guide, survived.batch.only(np.flatnonzero(parts))))
        level = Batch.joined(following) if following else None
    search.in_hand = -np.inf


def _root(search: Search, guide: Guide) -> Batch:
    """The root box with the multipliers of the guide's."""
    question, r = search.question, search.question.r
    low, high = rr.retention(question.lower, r), rr.retention(question.upper, r)
    hints = np.clip(rr.retention(np.log(r) + _UP, r), low, high), low, high
    bound, name = np.array([search.in_hand]), np.array([guide.settled(guide.name)])
    batch = Batch(question.lower, question.upper, low, template(question), hints, bound, name)
    return _led(search, guide, batch)


def _parts(search: Search, guide: Guide, batch: Batch) -> Batch:
    """Both parts of every node, split as the guide's was."""
    recording, names = guide.recording, [int(name) for name in batch.name]
    boxes = Boxes(batch.lower, batch.upper, batch.bound)
    attribute = np.array([recording.attribute[name] for name in names])
    both = halves(boxes, attribute, np.array([recording.at[name] for name in names]))
    children = [
        replace(
            batch,
            lower=half.lower,
            upper=half.upper,
            name=np.array([guide.settled(recording.first[name] + part) for name in names]),
        )
        for part, half in enumerate(both)
    ]
    return _led(search, guide, Batch.joined(children))


def _led(search: Search, guide: Guide, batch: Batch) -> Batch:
    """The batch at the tangent points and multipliers of the guide's nodes."""
    recording = guide.recording
    rows = recording.rows([recording.nearest(int(name)) for name in batch.name])
    point = rows.pop("point").T.astype(np.float64)
    multipliers = unpacked(rows, batch.multipliers, search.question.layout)
    return replace(batch, point=point, multipliers=multipliers)
