"""A tree with what it needs to be walked: the whole proof of a weighted sum's bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from budget_opt.certificate.boxes.bound import cut_off
from budget_opt.certificate.proof.replay import Ground, walk
from budget_opt.certificate.proof.tree import LEAF, Tree
from budget_opt.certificate.pruning.hull import Tangent, applies, tangent_of
from budget_opt.certificate.pruning.question import Question
from budget_opt.model.arrays import Arrays, FloatArray


@dataclass(frozen=True)
class TreeProof:
    """No feasible split has a weighted sum above `cut`, or above the bounds of the boxes that stay open.

    `cut` is in the unit of the objective. `point` (M,) and `kappa` (F,) say where the plane of the hull test
    touches; any numbers make a valid proof, good ones a strong one.
    """

    tree: Tree
    cut: float
    point: FloatArray
    kappa: FloatArray


class Proved(NamedTuple):
    """The bound that a walk proves, in the unit of the objective, and how many boxes and leaves it met."""

    bound: float
    boxes: int
    leaves: int


def nothing_to_prove(arrays: Arrays) -> TreeProof:
    """The proof where no weight is positive: the sum is 0."""
    empty = Tree(np.array([LEAF]), np.zeros(1), np.zeros(1, dtype=bool), {})
    return TreeProof(empty, 0.0, arrays.lower.copy(), np.zeros(arrays.floors.size))


def ground_of(question: Question, cut: float, point: FloatArray, kappa: FloatArray) -> Ground:
    """What a walk stands on; `cut` in the unit of the objective."""
    tangent: Tangent | None = None
    if applies(question):
        clean = np.where(np.isfinite(point), point, 0.0)[:, None]
        weights = np.where(np.isfinite(kappa), np.maximum(kappa, 0.0), 0.0)
        tangent = tangent_of(question, np.clip(clean, question.lower, question.upper), weights)
    return Ground(question, cut / question.scale / cut_off(question.layout), tangent)


def walked(
    arrays: Arrays,
    proof: TreeProof,
    check: Callable[[], None] | None = None,
    question: Question | None = None,
) -> Proved:
    """Walk the whole tree anew; `check` is called now and then and may raise.

    `question` is that of `arrays`, where it is known already.
    """
    if not np.any(arrays.weight > 0):
        return Proved(0.0, proof.tree.count, proof.tree.count)
    ground = ground_of(question or Question.of(arrays), proof.cut, proof.point, proof.kappa)
    found = walk(ground, proof.tree, ground.root(), check)
    return Proved(ground.in_objective_unit(found.proved), found.checked, found.leaves)
