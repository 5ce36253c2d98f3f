"""Group means and differences: exact identities, what is withheld, and how they are read."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.groups.means import means_by_group
from budget_opt.estimators.groups.result import GroupMeans
from budget_opt.estimators.moments.moment import moment_from_counts
from budget_opt.estimators.releases.counting import Counts
from tests.estimators.release_model import design, released_shares, skewed

LABELS = ("north", "south", "west")
TARGETS: tuple[Target, ...] = ("population", "data")


def counted(n: int = 10_000, kept: float = 0.6) -> Counts:
    rng = np.random.default_rng(3)
    law = released_shares(
        skewed(rng, (3, 4)), [design("g", kept, [0, 1, 2]), design("y", kept, [0, 1, 3, 7])]
    )
    return Counts(("g", "y"), rng.multinomial(n, law.ravel()).reshape(3, 4))


def means(counts: Counts, kept: float = 0.6, target: Target = "population", limit: float = 1.0) -> GroupMeans:
    group, scored = design("g", kept, [0, 1, 2]), design("y", kept, [0, 1, 3, 7])
    return means_by_group(counts, group, scored, LABELS, target, limit)


@given(st.integers(0, 2**32 - 1), st.floats(0.2, 1.0))
def test_the_expected_release_of_a_table_gives_back_its_own_group_means(seed: int, kept: float) -> None:
    rng = np.random.default_rng(seed)
    table = skewed(rng, (3, 4)) + 0.02
    table /= table.sum()
    group = Channel("g", kept, rng.dirichlet(np.full(3, 5.0)))
    scored = design("y", 0.5, rng.normal(size=4))
    law = released_shares(table, [design("g", kept, [0, 0, 0], group.background), scored])
    counts = Counts(("g", "y"), np.rint(1e15 * law).astype(np.int64))
    found = means_by_group(counts, group, scored, LABELS, "population")
    for g, label in enumerate(LABELS):
        assert found[label].value == pytest.approx(table[g] @ scored.scores / table[g].sum(), abs=1e-8)
        assert found[label].share == pytest.approx(table[g].sum(), abs=1e-8)
    rest = table[1:].sum(axis=0)
    assert found.against_rest("north").value == pytest.approx(
        table[0] @ scored.scores / table[0].sum() - rest @ scored.scores / rest.sum(), abs=1e-7
    )


def test_without_randomization_it_is_the_mean_of_the_rows_of_a_group() -> None:
    """Its error is sd / sqrt(rows of the group), and means of different groups do not vary together."""
    counts = counted(kept=1.0)
    found = means(counts, 1.0)
    f = np.array([0.0, 1, 3, 7])
    for table, label in zip(counts.rows, LABELS, strict=True):
        rows = table.sum()
        mean = table @ f / rows
        assert found[label].value == found[label].raw == pytest.approx(mean)
        error = math.sqrt(table @ (f - mean) ** 2) / rows
        assert found[label].standard_error == pytest.approx(error, rel=1e-3)
        assert found[label].effective_n == pytest.approx(counts.n)
    difference = found.difference("north", "west")
    assert difference.correlation == pytest.approx(0, abs=1e-12)
    assert means(counts, 1.0, "data")["north"].standard_error == pytest.approx(0, abs=1e-6)


def test_a_public_grouping_attribute_is_one_that_was_not_randomized() -> None:
    counts = counted()
    public = Channel("g", 1.0, np.full(3, 1 / 3))
    found = means_by_group(counts, public, design("y", 0.6, [0, 1, 3, 7]), LABELS, "data")
    table = counts.rows[0]
    raw = table @ [0, 1, 3, 7] / table.sum()
    assert found["north"].value == pytest.approx((raw - 0.4 * 2.75) / 0.6)
    assert found["north"].standard_error < means(counts, target="data")["north"].standard_error


@pytest.mark.parametrize("target", TARGETS)
def test_two_groups_are_each_others_rest(target: Target) -> None:
    counts = Counts(("g", "y"), counted().rows[:2])
    group, scored = design("g", 0.6, [0, 1]), design("y", 0.6, [0, 1, 3, 7])
    found = means_by_group(counts, group, scored, ("a", "b"), target)
    one, other = found.difference("a", "b"), found.against_rest("a")
    assert one.value == pytest.approx(other.value)
    assert one.standard_error == pytest.approx(other.standard_error)
    assert one.interval() == pytest.approx(other.interval())


def test_counts_that_are_all_doubled_by_weights_give_the_same_means_and_errors() -> None:
    counts = counted()
    weighted = Counts(("g", "y"), counts.rows, 2.0 * counts.rows, 4.0 * counts.rows)
    one, other = means(counts), means(weighted)
    assert other["north"].value == pytest.approx(one["north"].value)
    assert other["north"].standard_error == pytest.approx(one["north"].standard_error)
    assert other["north"].effective_n == pytest.approx(one["north"].effective_n)


def test_a_group_that_never_occurs_is_withheld_with_a_note_and_the_others_are_not() -> None:
    table = np.array([[900, 400, 300, 200], [800, 700, 300, 100], [0, 0, 0, 0]])
    designs = [design("g", 0.6, [0, 1, 2]), design("y", 0.6, [0, 1, 3, 7])]
    law = released_shares(table / table.sum(), designs)
    found = means(Counts(("g", "y"), np.rint(law * 5000).astype(np.int64)))
    assert found.means[2] is None
    assert found.rows()[2]["value"] is None
    assert found["north"].value == pytest.approx(table[0] @ [0, 1, 3, 7] / table[0].sum(), abs=0.05)
    assert any(note.startswith("west: withheld, its estimated share") for note in found.notes)
    with pytest.raises(InputError, match="in west: is withheld"):
        found.difference("north", "west")
    assert [one.label for one in found.differences()] == ["mean of y in north - mean of y in south"]
    json.dumps(found.to_dict(), allow_nan=False)


def test_near_retention_0_the_means_are_refused() -> None:
    with pytest.raises(NoiseError, match="share of every group is within 3 standard errors of 0"):
        means(counted(kept=0.02), 0.02)
    group, scored = Channel("g", 1.0, np.full(3, 1 / 3)), design("y", 0.005, [0, 1, 3, 7])
    with pytest.raises(NoiseError, match="noise_limit"):
        means_by_group(counted(), group, scored, LABELS, "data", 1.0)


def test_r30_counts_beyond_2_to_the_31_keep_their_digits() -> None:
    counts = counted()
    many = means(Counts(("g", "y"), counts.rows * 10**10))
    one = means(counts)
    assert many["north"].value == pytest.approx(one["north"].value, rel=1e-9)
    assert many["north"].standard_error * 1e5 == pytest.approx(one["north"].standard_error, rel=1e-3)


def test_group_means_are_read_by_name_as_rows_and_as_text() -> None:
    found = means(counted())
    assert [row["group"] for row in found.rows()] == list(LABELS)
    low, high = found["south"].interval()
    assert (found.rows()[1]["low"], found.rows()[1]["high"]) == (low, high)
    assert low < found["south"].value < high
    assert "mean of y" in str(found)
    assert "north" in str(found)
    assert len(list(found.differences())) == 3
    assert json.loads(json.dumps(found.difference("north", "west").to_dict(), allow_nan=False))["interval"]
    with pytest.raises(InputError, match="Did you mean 'north'"):
        found["nort"]
    with pytest.raises(InputError, match="both groups are 'north'"):
        found.difference("north", "north")


def test_an_interval_that_leaves_the_range_of_the_scores_is_not_cut_off_and_a_note_says_so() -> None:
    """Scores 0 and 1: a mean of a rare group reaches below 0, which no mean of them can be."""
    group, scored = design("g", 0.5, [0, 1, 2]), design("y", 0.3, [0, 1])
    table = np.array([[0.55, 0.05], [0.2, 0.1], [0.02, 0.08]])
    law = released_shares(table, [group, scored])
    counts = Counts(("g", "y"), np.rint(2000 * law).astype(np.int64))
    found = means_by_group(counts, group, scored, LABELS, "population", math.inf)
    assert found["north"].interval()[0] < 0
    said = (
        "the 95 % interval leaves the range of the scores, 0 to 1, which the mean cannot; it is not cut off"
    )
    leaving = [name for name in LABELS if said in found[name].notes]
    assert leaving == [
        name for name in LABELS if found[name].interval()[0] < 0 or found[name].interval()[1] > 1
    ]
    assert f"{', '.join(leaving)}: {said}" in found.notes
    plain = means(counted(100_000))
    assert not any("range of the scores" in note for note in plain.notes)


def test_a_mean_outside_the_range_of_the_scores_is_told() -> None:
    rows = np.array([[500, 300, 100, 90]])
    scored = design("y", 0.2, [10, 11, 13, 17])
    found = moment_from_counts(rows[0], [scored])
    assert found.value < 10
    assert "the estimate is outside the range of the scores, 10 to 17" in " ".join(found.notes)
    moved = moment_from_counts(np.array([250, 250, 250, 250]), [scored])
    assert not any("outside" in note for note in moved.notes)
