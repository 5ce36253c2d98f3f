"""R30: intervals of group means and of their differences over 10,000 repetitions, each target's own truth.

Nominal 95 % lies between 94 and 96: with a true coverage of 95 % a false alarm has probability 5e-6 an
interval, and the seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest

from budget_opt.estimators.estimate import Target
from budget_opt.estimators.groups.means import means_by_group
from tests.estimators.release_model import FloatArray, design, skewed, sparse
from tests.estimators.surveys import survey

GROUP, SCORED = design("g", 0.6, [0, 1, 2]), design("y", 0.5, [0, 1, 3, 7])
SHAPE = (3, 4)
LABELS = ("north", "south", "west")


def tables(kind: str) -> list[FloatArray]:
    first, second = skewed(np.random.default_rng(1), SHAPE), sparse(np.random.default_rng(12), SHAPE)
    second = 0.8 * second + 0.2 * np.outer([0.3, 0.4, 0.3], second.sum(axis=0))
    return {"skewed": [first], "sparse": [second], "weighted": [first, second]}[kind]


def truths(table: FloatArray) -> dict[str, float]:
    """Means and differences by their definition."""
    means = table @ SCORED.scores / table.sum(axis=1)
    rest = (table.sum(axis=0) - table[0]) @ SCORED.scores / (table.sum() - table[0].sum())
    return {
        **dict(zip(LABELS, means, strict=True)),
        "north - south": means[0] - means[1],
        "south - west": means[1] - means[2],
        "north - rest": means[0] - rest,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("sparse", "population"),
        ("weighted", "data"),
    ],
)
def test_r30_intervals_of_group_means_and_differences_cover(kind: str, target: Target) -> None:
    rng = np.random.default_rng([len(kind), len(target)])
    made = survey(tables(kind), [GROUP, SCORED], 6_000, target, rng)
    truth = truths(made.truth)
    covered, values, errors = dict.fromkeys(truth, 0), [], []
    for counts in made.releases("gy"):
        found = means_by_group(counts, GROUP, SCORED, LABELS, target)
        estimates = {
            **{name: found[name] for name in LABELS},
            "north - south": found.difference("north", "south"),
            "south - west": found.difference("south", "west"),
            "north - rest": found.against_rest("north"),
        }
        for name, estimate in estimates.items():
            low, high = estimate.interval(0.95)
            covered[name] += low <= truth[name] <= high
        values.append([estimate.value for estimate in estimates.values()])
        errors.append([estimate.standard_error for estimate in estimates.values()])
    shares = {name: hits / len(values) for name, hits in covered.items()}
    assert all(0.94 <= share <= 0.96 for share in shares.values()), shares
    assert np.median(errors, axis=0) == pytest.approx(np.std(values, axis=0), rel=0.1)
