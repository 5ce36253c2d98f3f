"""The formula of DESIGN 2.9 against the enumeration of every truth and every report, in fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cluster_moments import Together, released_means, released_moment

PARTITIONS = {
    2: [((0, 1),), ((0,), (1,))],
    3: [((0, 1), (2,)), ((0, 2), (1,)), ((0, 1, 2),), ((0,), (1,), (2,))],
    4: [((0, 1), (2, 3)), ((0, 3), (1, 2)), ((0, 2), (1,), (3,)), ((0, 1, 2), (3,)), ((0, 1, 2, 3),)],
}
Case = tuple[Any, list[Any], list[Together]]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Random joint truths, scores, backgrounds and retentions, all fractions."""
    order = draw(st.integers(2, 4))
    shape = [draw(st.integers(2, 3 if order < 4 else 2)) for _ in range(order)]
    counts = [draw(st.integers(0, 9)) for _ in range(math.prod(shape) - 1)]
    truths = np.array([Fraction(count) for count in (*counts, 1)], dtype=object).reshape(shape)
    scores = [np.array([Fraction(draw(st.integers(-5, 9))) for _ in range(r)], dtype=object) for r in shape]
    blocks = []
    for axes in draw(st.sampled_from(PARTITIONS[order])):
        backgrounds = []
        for axis in axes:
            parts = [draw(st.integers(1, 5)) for _ in range(shape[axis])]
            backgrounds.append(np.array([Fraction(part, sum(parts)) for part in parts], dtype=object))
        kept = draw(st.fractions(0, 1, max_denominator=20))
        blocks.append(Together(axes, kept, tuple(backgrounds)))
    return truths, scores, blocks


def law_of_reports(case: Case) -> Any:
    """The joint law of the reports, by every truth, every choice of blocks that stay, and every report."""
    truths, _, blocks = case
    cells = list(product(*map(range, truths.shape)))
    law = np.full(truths.shape, Fraction(0), dtype=object)
    for x in cells:
        share = Fraction(truths[x]) / truths.sum()
        for y in cells:
            chance = share
            for block in blocks:
                stays = block.retention if all(x[axis] == y[axis] for axis in block.axes) else Fraction(0)
                pairs = zip(block.axes, block.backgrounds, strict=True)
                noise = math.prod((q[y[axis]] for axis, q in pairs), start=Fraction(1))
                chance *= stays + (1 - block.retention) * noise
            law[y] += chance
    return law


def centred_moment(law: Any, scores: list[Any]) -> Any:
    moment: Any = law
    for axis, f in enumerate(scores):
        others = tuple(other for other in range(law.ndim) if other != axis)
        mean = (law.sum(axis=others) * f).sum()
        moment = moment * (f - mean).reshape([-1 if other == axis else 1 for other in range(law.ndim)])
    return moment.sum()


@settings(max_examples=25)
@given(cases())
def test_the_released_moment_is_that_of_the_enumerated_law(case: Case) -> None:
    """Orders 2 to 4, one and two clusters, outsiders, any backgrounds: exactly."""
    truths, scores, blocks = case
    law = law_of_reports(case)
    assert law.sum() == 1
    assert released_moment(truths, scores, blocks) == centred_moment(law, scores)
    for axis, mean in enumerate(released_means(truths, scores, blocks)):
        others = tuple(other for other in range(law.ndim) if other != axis)
        assert mean == (law.sum(axis=others) * scores[axis]).sum()


def test_a_covariance_in_a_cluster_and_a_moment_with_an_outsider_are_those_of_design_2_9() -> None:
    """cov(W_a, W_b) = L cov + L (1 - L) delta_a delta_b; L lambda_c {...} with an outsider."""
    rng = np.random.default_rng(5)
    truths = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    scores = [np.arange(r, dtype=float) for r in truths.shape]
    uniform = [np.full(r, 1 / r) for r in truths.shape]
    means = [np.tensordot(truths, f, ((axis,), (0,))).sum() for axis, f in enumerate(scores)]
    delta = [mean - f.mean() for mean, f in zip(means, scores, strict=True)]

    def covariance(a: int, b: int) -> float:
        pair = truths.sum(axis=3 - a - b)
        return float((scores[a] - means[a]) @ pair @ (scores[b] - means[b]))

    kept, other = 0.7, 0.4
    pair = truths.sum(axis=2)
    inside = released_moment(pair, scores[:2], [Together((0, 1), kept, tuple(uniform[:2]))])
    assert inside == pytest.approx(kept * covariance(0, 1) + kept * (1 - kept) * delta[0] * delta[1])
    blocks = [Together((0, 1), kept, tuple(uniform[:2])), Together((2,), other, (uniform[2],))]
    third = centred_moment(truths, scores)
    shifts = (1 - kept) * (delta[1] * covariance(0, 2) + delta[0] * covariance(1, 2))
    assert released_moment(truths, scores, blocks) == pytest.approx(kept * other * (third + shifts))
