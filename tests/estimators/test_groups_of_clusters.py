"""Means within groups where the groups and the scored attribute are members of one cluster."""

from __future__ import annotations

import numpy as np
import pytest

from budget_opt.estimators.channels import Channel, along_all
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.groups.means import means_by_group
from budget_opt.estimators.moments.designs import Design
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.release_model import FloatArray, design, release, skewed

SCORES = np.array([0.0, 1.0, 3.0])


def members(retention: float = 0.65, cluster: str | None = "g + f") -> tuple[Design, Design]:
    """The grouping attribute of three categories and the scored one, with unlike backgrounds."""
    return (
        design("g", retention, [0, 1, 2], [0.5, 0.25, 0.25], cluster),
        design("f", retention, SCORES.tolist(), [0.2, 0.3, 0.5], cluster),
    )


def truth_of(table: FloatArray) -> FloatArray:
    """The mean within each group and the rest of each, by their definition."""
    rests = table.sum(axis=0) - table
    means: FloatArray = np.concatenate([part @ SCORES / part.sum(axis=1) for part in (table, rests)])
    return means


def shares() -> FloatArray:
    return skewed(np.random.default_rng(3), (3, 3))


def test_the_expected_reports_of_a_cluster_give_the_means_of_the_truth() -> None:
    group, scored = members()
    counts = np.rint(along_all(Channel.spread, [group, scored], shares()) * 10**14).astype(np.int64)
    found = means_by_group(Counts(("g", "f"), counts), group, scored, ["x", "y", "z"], "population")
    values = [one.value for one in (*found.means, *found.rests) if one is not None]
    assert values == pytest.approx(truth_of(shares()), abs=1e-9)
    assert [one.raw for one in found.means if one is not None] == pytest.approx(truth_of(counts)[:3])


def test_without_noise_members_of_a_cluster_are_attributes_like_others() -> None:
    counts = Counts(("g", "f"), np.random.default_rng(4).multinomial(2000, shares().ravel()).reshape(3, 3))
    both = [
        means_by_group(counts, *members(1.0, cluster), ["x", "y", "z"], "population")
        for cluster in ("g + f", None)
    ]
    for one, other in zip(both[0].means, both[1].means, strict=True):
        assert one is not None
        assert other is not None
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.standard_error == pytest.approx(other.standard_error, rel=1e-9)
        assert one.effective_n == pytest.approx(other.effective_n, rel=1e-9)
        assert one.interval() == pytest.approx(other.interval(), rel=1e-9)


@pytest.mark.slow
def test_r30_means_within_groups_of_a_cluster_cover() -> None:
    """10,000 releases of one table: 94 to 96 % for each group, and errors within 5 % of the spread.

    The error from the data is that from the population less what is not noise, and rests on more.
    """
    target: Target = "data"
    group, scored = members()
    rng = np.random.default_rng(len(target))
    n = 8000
    originals = rng.multinomial(n, shares().ravel()).reshape(3, 3)
    truth, tables = truth_of(originals), release(rng, originals, [group, scored], 10_000)
    found = np.array(
        [
            [
                (one.value, one.standard_error, *one.interval())
                for one in means_by_group(Counts(("g", "f"), table), group, scored, list("xyz"), target).means
                if one is not None
            ]
            for table in tables
        ]
    )
    values, errors, low, high = np.moveaxis(found, -1, 0)
    covered = np.mean((low <= truth[:3]) & (truth[:3] <= high), axis=0)
    assert np.all((covered >= 0.94) & (covered <= 0.96)), covered
    assert errors.mean(axis=0) == pytest.approx(values.std(axis=0), rel=0.05)
