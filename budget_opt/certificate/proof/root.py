"""The bound of a weighted sum on the box of the whole problem: a tree of one node."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from budget_opt.certificate.boxes.bound import cut_off
from budget_opt.certificate.boxes.descent import descended
from budget_opt.certificate.proof.packing import packed
from budget_opt.certificate.proof.proof import TreeProof, nothing_to_prove, walked
from budget_opt.certificate.proof.tree import LEAF, Tree
from budget_opt.certificate.pruning.hull import applies, tangent_at
from budget_opt.certificate.pruning.question import Question
from budget_opt.mechanisms import randomized_response as rr
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.objectives import value as objective_value

_CLOSED = 1e-9
"""Relative gap at which nothing is left to do."""


def proved_at_root(
    arrays: Arrays, epsilon: FloatArray, proceed: Callable[[], bool] | None = None
) -> tuple[TreeProof, float]:
    """Good multipliers of the whole box, with tangents at `epsilon` (M,), and the bound that they prove.

    `proceed` is asked before every step and may end the search for better ones.
    """
    if not np.any(arrays.weight > 0):
        return nothing_to_prove(arrays), 0.0
    question = Question.of(arrays)
    proof = _root_proof(arrays, question, epsilon, proceed)
    return proof, walked(arrays, proof, question=question).bound


def _root_proof(
    arrays: Arrays, question: Question, epsilon: FloatArray, proceed: Callable[[], bool] | None
) -> TreeProof:
    unit = question.scale * cut_off(question.layout)
    target = objective_value(arrays, epsilon) * (1.0 + _CLOSED) / unit
    point = rr.retention(epsilon[:, None], question.r)
    on = question.relaxation(question.lower, question.upper, point)
    on, found = descended(on, target, lambda _: proceed is None or proceed())
    numbers = {"point": on.point.T.astype(np.float32), **packed(found.multipliers)}
    tree = Tree(np.array([LEAF]), np.zeros(1), np.ones(1, dtype=bool), numbers)
    if not applies(question):
        return TreeProof(tree, 0.0, epsilon, np.zeros(arrays.floors.size))
    plane = tangent_at(question, epsilon)
    return TreeProof(tree, 0.0, plane.x[:, 0], plane.kappa)
