"""From the record of a search to a tree that proves its bound when it is walked again.

What a node's box was in the search depends on steps that are not recorded, so that here and there a box is a
little larger in the walk, and its bound too. Such leaves are bounded again and split further, each box as the
walk will find it, until all of them are at the target.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np

from budget_opt.certificate.boxes.bound import Evaluation, Relaxation
from budget_opt.certificate.boxes.outer import Hints
from budget_opt.certificate.certify import Certificate
from budget_opt.certificate.proof.packing import unpacked
from budget_opt.certificate.proof.proof import TreeProof, ground_of
from budget_opt.certificate.proof.replay import Boxes, Ground, Walked, halves, walk
from budget_opt.certificate.proof.tree import Tree
from budget_opt.certificate.pruning.hull import applies, tangent_at
from budget_opt.certificate.pruning.question import Question
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import FloatArray, IntArray
from budget_opt.model.objectives import relative_gap
from budget_opt.solvers.answer import Clock, OutOfTimeError
from budget_opt.solvers.global_search.bounding import bounded
from budget_opt.solvers.global_search.node import Batch, Node, Queue, flattened, gathered
from budget_opt.solvers.global_search.recording import Recording, pruned
from budget_opt.solvers.global_search.root import first_batch

_UP = 3.0
"""Nats beyond log r where the search for a maximum begins."""
_CUT, _TARGET = 0.99, 0.998
"""Parts of the gap asked for: boxes are ended below the first, and need not be split below the second."""
_LEAST, _SHARE = 5.0, 0.5
"""Seconds, and share of the search's seconds, that completing its record may take."""


@dataclass(frozen=True)
class Aim:
    """What is to be proved: a bound of the question near `bound`, for a split (M,) with value `attained`."""

    question: Question
    split: FloatArray
    attained: float
    bound: float
    gap: float


def certificate_of(aim: Aim, recording: Recording, searched: float) -> Certificate:
    """The certificate with its proof; the bound is what that proves, and may be above the search's.

    `searched` are the seconds of the search.
    """
    question = aim.question
    point, kappa = aim.split, np.zeros(question.log_floor.size)
    if applies(question):
        plane = tangent_at(question, aim.split)
        point, kappa = plane.x[:, 0], plane.kappa
    cut = aim.attained * (1.0 + _CUT * aim.gap)
    ground = ground_of(question, cut, point, kappa)
    target = max(aim.bound, aim.attained * (1.0 + _TARGET * aim.gap)) / ground.in_objective_unit(1.0)
    clock = Clock(max(_LEAST, _SHARE * searched))
    tree, proved = Prover(ground, recording, target, clock.check).proof()
    bound = max(ground.in_objective_unit(proved), aim.attained)
    gap = relative_gap(aim.attained, bound)
    return Certificate(aim.attained, bound, gap, None, TreeProof(tree, cut, point, kappa))


@dataclass
class Prover:
    """Makes the record of a search whole; `target`, in the question's unit, is the bound to prove.

    `check` raises OutOfTimeError where no more boxes are to be split.
    """

    ground: Ground
    recording: Recording
    target: float
    check: Callable[[], None]
    queue: Queue = field(default_factory=Queue)

    def proof(self) -> tuple[Tree, float]:
        """The tree and the bound that it proves, in the question's unit; above the target in short time."""
        tree, names = self.recording.tree()
        walked = walk(self.ground, tree, self.ground.root())
        with suppress(OutOfTimeError, KeyboardInterrupt):
            self._complete(walked, names)
        if self.queue.made:
            tree, _ = self.recording.tree()
            walked = walk(self.ground, tree, self.ground.root())
        return pruned(tree, walked.bound, walked.proved), walked.proved

    def _complete(self, walked: Walked, names: IntArray) -> None:
        """Bound and split open leaves until none is above the target."""
        above = np.flatnonzero(walked.boxes.bound > self.target)
        if not above.size:
            return
        batch = self._begun(names[walked.open[above]], walked.boxes.only(above))
        self._push(batch.name, Boxes(batch.lower, batch.upper, batch.bound), flattened(batch))
        while self.queue.bound > self.target:
            self.check()
            self._split(gathered(self.queue.pop(self.ground.width // 2, self.target), batch.multipliers))

    def _begun(self, names: IntArray, boxes: Boxes) -> Batch:
        """Open leaves with the multipliers of the nearest node that has some; steps at the root without."""
        recording, question = self.recording, self.ground.question
        nearest = [recording.nearest(int(name)) for name in names]
        if min(nearest) < 0:
            on = question.relaxation(boxes.lower, boxes.upper, rr.retention(boxes.lower, question.r))
            first = first_batch(on, (boxes.lower, boxes.upper), self.ground.cut, lambda _: self.check())
            # what the walk knows of the box; what the steps found is bounded again, and heard
            return replace(first, bound=boxes.bound)
        rows = recording.rows(nearest)
        point = rows.pop("point").T.astype(np.float64)
        multipliers = unpacked(rows, self.ground.like, question.layout)
        # a leaf that was bounded already gets a child for what the next steps find
        used = np.array([int(name) in recording.numbers for name in names])
        fresh = names.copy()
        fresh[used] = [recording.again(int(name)) for name in names[used]]
        boxes = self.ground.tightened(boxes).where(used, boxes)
        hints = self._hints(boxes)
        return Batch(boxes.lower, boxes.upper, point, multipliers, hints, boxes.bound, fresh)

    def _hints(self, boxes: Boxes) -> Hints:
        r = self.ground.question.r
        low, high = rr.retention(boxes.lower, r), rr.retention(boxes.upper, r)
        return np.clip(rr.retention(np.log(r) + _UP, r), low, high), low, high

    def _push(self, names: IntArray, boxes: Boxes, numbers: FloatArray) -> None:
        """Queue boxes with their numbers as columns."""
        for b, name in enumerate(names):
            ends = boxes.lower[:, b].copy(), boxes.upper[:, b].copy()
            self.queue.push(
                Node(*ends, float(boxes.bound[b]), -1, 0.0, True, numbers[:, b].copy(), int(name))
            )

    def _split(self, batch: Batch) -> None:
        """Bound some nodes as the walk will; split those that stay above the target."""
        ground, recording = self.ground, self.recording

        def heard(batch: Batch, still: IntArray, on: Relaxation, found: Evaluation, _: bool) -> None:
            recording.heard(batch, still, on, found, False)

        survived = bounded(ground.question, batch, ground.cut, heard=heard)
        boxes = Boxes(batch.lower, batch.upper, batch.bound)
        found = ground.bounded(boxes, recording.rows(batch.name))
        numbers = flattened(batch)
        attribute, at = self._widest(found)
        if survived is not None:
            numbers[:, survived.kept] = flattened(survived.batch)
            attribute[survived.kept], at[survived.kept] = survived.attribute, survived.at
        left = np.flatnonzero(found.bound > self.target)
        if not left.size:
            return
        names = np.array(
            [recording.split(int(batch.name[b]), int(attribute[b]), float(at[b])) for b in left], np.int64
        )
        for part, half in enumerate(halves(found.only(left), attribute[left], at[left])):
            child = ground.tightened(half)
            going = np.flatnonzero(child.bound > self.target)
            self._push(names[going] + part, child.only(going), numbers[:, left[going]])

    def _widest(self, boxes: Boxes) -> tuple[IntArray, FloatArray]:
        """The attribute whose interval is widest in lambda, and its middle."""
        r = self.ground.question.r
        low, high = rr.retention(boxes.lower, r), rr.retention(boxes.upper, r)
        attribute = np.argmax(high - low, axis=0)
        every = np.arange(boxes.count)
        middle = 0.5 * (low + high)[attribute, every]
        return attribute, rr.epsilon_for_retention(middle, r[attribute, 0])
