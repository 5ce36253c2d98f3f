"""R30: shares of sub-tables and conditional shares, against the whole table and by 10,000 repetitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from budget_opt.errors import InputError, NoiseError
from budget_opt.estimators.channels import Channel, uniform
from budget_opt.estimators.estimate import Target
from budget_opt.estimators.joint.subtables import Masks, coarser, conditional_share, masks_of, share_of
from budget_opt.estimators.joint.unbiased import linear
from budget_opt.mechanisms.randomized_response import retention
from tests.estimators.joint.dense import REPETITIONS, channels, counts, covariance, random_counts, releases
from tests.estimators.release_model import FloatArray, skewed, sparse

SHAPE = (3, 4, 2)
GIVEN = channels(SHAPE, (0.5, 0.7, 0.6), skewed=True)
TARGETS: tuple[Target, ...] = ("population", "data")
LABELS = (("a", "b", "c"), (1, 2, 3, None), (True, False))


def masks(*chosen: list[int]) -> Masks:
    return tuple(np.isin(np.arange(r), codes) for r, codes in zip(SHAPE, chosen, strict=True))


EVENT = masks([0, 2], [0, 1, 2, 3], [1])
CONDITION = masks([0, 1, 2], [1, 2], [0, 1])


def indicator(chosen: Masks) -> FloatArray:
    table = np.zeros(SHAPE)
    table[np.ix_(*chosen)] = 1.0
    return table


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_share_is_the_linear_function_of_its_cells(weighted: bool, target: Target) -> None:
    """Merging categories and summing axes out changes neither the value nor the error."""
    counted = random_counts(np.random.default_rng(31), SHAPE, weighted=weighted)
    share = share_of(counted, GIVEN, EVENT, target, "a share")
    found = linear(counted, GIVEN, [indicator(EVENT)])
    assert share.value == pytest.approx(found.values[0], rel=1e-10)
    assert share.raw == pytest.approx(found.raw[0], rel=1e-12)
    assert share.standard_error**2 == pytest.approx(getattr(found.covariances, target)[0, 0], rel=1e-9)
    low, high = share.interval()
    assert 0 <= low < share.value < high <= 1


@pytest.mark.parametrize("target", TARGETS)
def test_a_conditional_share_has_the_error_of_the_delta_method(target: Target) -> None:
    counted = random_counts(np.random.default_rng(32), SHAPE)
    ratio = conditional_share(counted, GIVEN, EVENT, CONDITION, target, "a ratio")
    inside = tuple(a & b for a, b in zip(EVENT, CONDITION, strict=True))
    both = np.stack([indicator(inside), indicator(CONDITION)])
    flat = both.reshape(2, -1)
    a, b = linear(counted, GIVEN, list(both)).values
    gradient = np.array([1 / b, -a / b**2])
    dense = flat @ covariance(counted, GIVEN, target) @ flat.T
    assert ratio.value == pytest.approx(a / b, rel=1e-10)
    assert ratio.standard_error**2 == pytest.approx(gradient @ dense @ gradient, rel=1e-9)


def test_coarser_counts_are_those_of_merged_categories_and_keep_the_weights() -> None:
    counted = random_counts(np.random.default_rng(33), SHAPE, weighted=True)
    coarse, merged = coarser(counted, GIVEN, EVENT)
    assert coarse.attributes == ("a", "c")
    assert coarse.rows.shape == (2, 2)
    assert coarse.rows[1, 1] == counted.rows[[0, 2], :, 1].sum()
    assert coarse.squares is not None
    assert counted.squares is not None
    assert coarse.squares[0, 1] == pytest.approx(counted.squares[1, :, 1].sum())
    assert merged[0].retention == GIVEN[0].retention
    assert merged[0].background == pytest.approx([GIVEN[0].background[1], GIVEN[0].background[[0, 2]].sum()])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "epsilon", "n", "target"),
    [("sparse", 3.0, 1500, "data"), ("skewed", 1.0, 4000, "population")],
)
def test_r30_shares_and_conditional_shares_are_covered(
    kind: str, epsilon: float, n: int, target: Target
) -> None:
    given = tuple(
        Channel(name, float(retention(epsilon, r)), uniform(r)) for name, r in zip("abc", SHAPE, strict=True)
    )
    rng = np.random.default_rng(34)
    shares = {"skewed": skewed, "sparse": sparse}[kind](rng, SHAPE)
    condition = masks([0, 1], [0, 1, 2, 3], [0, 1])
    covered, done = np.zeros(2), 0
    truth, drawn = releases(shares, given, n, target, seed=34)
    whole = truth[condition[0]].sum()
    truths = (indicator(EVENT) * truth).sum(), (indicator(EVENT) * truth)[condition[0]].sum() / whole
    for released in drawn:
        try:
            ratio = conditional_share(released, given, EVENT, condition, target, "ratio")
        except NoiseError:
            continue
        done += 1
        share = share_of(released, given, EVENT, target, "share")
        for place, (found, value) in enumerate(zip((share, ratio), truths, strict=True)):
            low, high = found.interval()
            covered[place] += low <= value <= high
    assert done > 0.999 * REPETITIONS
    assert np.all((covered / done >= 0.94) & (covered / done <= 0.96))


def test_fiellers_interval_says_nothing_where_the_condition_may_be_empty() -> None:
    counted = counts(np.array([[[20, 30]] * 4] * 3))
    ratio = conditional_share(counted, channels(SHAPE, (0.9,) * 3), EVENT, CONDITION, "population", "r")
    assert ratio.interval(1 - 1e-12)[0] < ratio.interval()[0] < ratio.value < ratio.interval()[1]
    assert replace(ratio, covariance=np.eye(2)).interval() == (0.0, 1.0)


def test_a_condition_that_may_be_empty_is_refused_as_noise() -> None:
    counted = counts(np.full(SHAPE, 3))
    with pytest.raises(NoiseError, match="Choose a larger condition"):
        conditional_share(
            counted, channels(SHAPE, (0.05,) * 3), EVENT, masks([0], [0], [0]), "population", "r"
        )


def test_labels_are_found_by_value_and_type_and_the_missing_category_by_none() -> None:
    chosen = masks_of({"b": [1, None]}, ("a", "b", "c"), LABELS, "share")
    assert [mask.tolist() for mask in chosen] == [[True] * 3, [True, False, False, True], [True, True]]
    assert masks_of({"c": True}, ("a", "b", "c"), LABELS, "share")[2].tolist() == [True, False]
    for wrong, said in (
        ({"d": 1}, "not an attribute of the table"),
        ({"b": True}, "not one of its categories"),
        ({"b": "1"}, "not one of its categories"),
        ({"a": []}, "no category is chosen"),
    ):
        with pytest.raises(InputError, match=said):
            masks_of(wrong, ("a", "b", "c"), LABELS, "share")
    with pytest.raises(InputError, match="their share is 1"):
        coarser(counts(np.ones(SHAPE, dtype=int)), GIVEN, masks([0, 1, 2], [0, 1, 2, 3], [0, 1]))
