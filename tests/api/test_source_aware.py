"""A matrix of its own for one attribute whose distribution is partly known (R2 for its integers)."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.sampler import sampler_for
from tests.mechanisms.sources import ordered_sources, sources

PUBLISHED = [(0.5, 0.2, 0.15, 0.1, 0.05), (0.4, 0.3, 0.2, 0.06, 0.04)]
INCOME = bo.Attribute("income", categories=["a", "b", "c", "d", "e"], scores=[0, 1, 2, 4, 8])


@settings(max_examples=40)
@given(source=ordered_sources(), thousandths=st.integers(20, 900))
def test_r2_the_integers_keep_the_asked_distortion_and_the_stated_loss_exactly(
    source: bo.hamming.Source, thousandths: int
) -> None:
    attribute = bo.Attribute("a", categories=source.cardinality)
    asked = thousandths / 1000
    chosen = bo.source_aware(attribute, source, distortion=asked)
    assert chosen.matrix.distortion(source) <= exact(asked)
    assert chosen.loss <= chosen.optimum.epsilon + 1e-6
    assert chosen.loss >= chosen.optimum.bound - 1e-6 or chosen.optimum.epsilon == 0


def printed(words: str, text: str) -> Fraction:
    found = re.search(words, text)
    assert found is not None
    return exact(float(found[1]))


def near(distortion: float) -> list[float]:
    """This share of cells and its neighbours, next to it and farther off."""
    steps = [distortion + step for step in (-1e-7, -1e-12, 0.0, 1e-12, 1e-7)]
    return [*steps, math.nextafter(distortion, 0), math.nextafter(distortion, 1)]


@settings(max_examples=40)
@given(source=ordered_sources(), data=st.data())
def test_r2_at_and_around_every_threshold_the_loss_is_the_least_epsilon_and_under_the_cap(
    source: bo.hamming.Source, data: st.DataObject
) -> None:
    bounds = bo.hamming.thresholds(source)
    shares = sorted({share for bound in bounds for share in near(bound) if 1e-9 < share <= 1})
    asked = data.draw(st.sampled_from(shares or [0.5]))
    least = bo.hamming.least_epsilon(source, asked).epsilon
    # a cap near 0 is below what 128-bit words tell apart
    capped = {"epsilon_max": least} if least > 1e-13 else {}
    chosen = bo.source_aware(
        bo.Attribute("a", categories=source.cardinality, **capped), source, distortion=asked
    )
    assert chosen.matrix.distortion(source) <= exact(asked)
    assert chosen.loss <= least * (1 + 1e-8) + 1e-30
    assert not capped or exact(chosen.loss) <= exact(least)
    if source.source_class == "II" and asked >= bounds[0]:
        # the least epsilon jumps here: a hair below the first threshold it is not near 0
        assert chosen.loss == 0


@settings(max_examples=40)
@given(source=sources(), data=st.data())
def test_r2_where_one_report_is_enough_the_loss_is_nothing_for_sources_without_an_order_too(
    source: bo.hamming.Source, data: st.DataObject
) -> None:
    certain = max(min(column) for column in zip(*source.vertices, strict=True))
    asked = data.draw(st.sampled_from([share for share in near(float(1 - certain)) if 1e-9 < share <= 1]))
    least = bo.hamming.least_epsilon(source, asked).epsilon
    chosen = bo.source_aware(bo.Attribute("a", categories=source.cardinality), source, distortion=asked)
    assert chosen.matrix.distortion(source) <= exact(asked)
    assert chosen.loss <= least * (1 + 1e-8) + 1e-30


def test_a_constant_that_keeps_the_distortion_exactly_costs_nothing_under_any_cap() -> None:
    capped = bo.Attribute("a", categories=3, epsilon_max=0.3)
    chosen = bo.source_aware(capped, [(0.5, 0.3, 0.2)], distortion=0.5)
    assert chosen.loss == 0
    assert chosen.distortion == 0.5
    # the comparison is with randomized response at the loss that is implemented
    assert chosen.distortion_of_randomized_response == pytest.approx(2 / 3)


def test_the_loss_of_the_integers_is_held_to_the_cap_not_that_of_the_exact_matrix() -> None:
    free = bo.source_aware(INCOME, PUBLISHED, distortion=1e-30)
    assert free.loss > free.optimum.epsilon
    assert bo.source_aware(INCOME.with_fields(epsilon_max=free.loss), PUBLISHED, distortion=1e-30) == (
        bo.SourceAware(INCOME.with_fields(epsilon_max=free.loss), free.optimum, free.sampler)
    )
    with pytest.raises(bo.InputError, match="outside its bounds"):
        bo.source_aware(INCOME.with_fields(epsilon_max=free.optimum.epsilon), PUBLISHED, distortion=1e-30)
    with pytest.raises(bo.InputError, match=r"epsilon 2\.0 is outside its bounds"):
        bo.source_aware(INCOME.with_fields(epsilon_max=1.5), PUBLISHED, epsilon=2.0)


@settings(max_examples=40)
@given(source=st.one_of(sources(), ordered_sources()), tenths=st.integers(1, 60), fewest=st.booleans())
def test_no_printed_figure_of_the_matrix_is_better_than_the_printed_bound(
    source: bo.hamming.Source, tenths: int, fewest: bool
) -> None:
    asked = {"epsilon": tenths / 10} if fewest else {"distortion": tenths / 61}
    chosen = bo.source_aware(bo.Attribute("a", categories=source.cardinality), source, **asked)
    text = str(chosen)
    loss, changed = printed(r"loss (\S+) nats", text), printed(r"worst source\): (\S+)%", text)
    bound = printed(r"(?:fewer than|less than) ([^ %]+)", text)
    assert exact(chosen.loss) <= loss
    assert 100 * exact(chosen.distortion) <= changed
    assert bound <= (100 if fewest else 1) * exact(chosen.optimum.bound)
    assert bound <= (changed if fewest else loss)
    # rounded to six digits, not to nothing
    assert changed <= 100 * exact(chosen.distortion) * (1 + Fraction(1, 10**5))


def test_tiny_shares_are_printed_with_their_digits() -> None:
    text = str(bo.source_aware(INCOME, PUBLISHED, distortion=1e-12))
    assert "worst source): 1e-10%" in text


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-45, 1e-40, 1e-38, 1e-36, 1e-20, 1e-12])
@pytest.mark.parametrize("source", [[(0.5, 0.3, 0.2)], [(1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0.3, 0.3, 0.4)]])
def test_r4_an_epsilon_below_what_words_tell_apart_is_served_within_it(
    epsilon: float, source: list[tuple[float, ...]]
) -> None:
    chosen = bo.source_aware(bo.Attribute("a", categories=3), source, epsilon=epsilon)
    assert exact(chosen.loss) <= exact(epsilon)
    assert exact(chosen.optimum.bound) <= exact(chosen.distortion)
    assert chosen.distortion == pytest.approx(chosen.optimum.bound, abs=1e-9)


@pytest.mark.parametrize("epsilon", [100.0, 700.0])
def test_beyond_128_bits_the_loss_that_is_implemented_is_stated_as_less(epsilon: float) -> None:
    chosen = bo.source_aware(INCOME, PUBLISHED, epsilon=epsilon)
    assert chosen.loss < 128 * math.log(2) + 0.1
    assert f"implement of the {epsilon:g} of the exact matrix" in str(chosen)
    assert "of the exact matrix" not in str(bo.source_aware(INCOME, PUBLISHED, epsilon=5.0))


def test_at_an_epsilon_it_changes_fewer_cells_than_randomized_response() -> None:
    chosen = bo.source_aware(INCOME, PUBLISHED, epsilon=1.0)
    assert chosen.loss <= 1.0
    plain = sampler_for(1.0, 5)
    assert plain is not None
    assert chosen.distortion_of_randomized_response == pytest.approx(1 - float(plain.truth_probability))
    assert chosen.distortion < chosen.distortion_of_randomized_response - 0.1
    assert chosen.censored == ("c", "d", "e")
    assert str(chosen).splitlines()[1] == "  never reported: 3 of 5 categories (c, d, e)"


@settings(max_examples=40)
@given(data=st.data())
def test_its_effect_on_a_moment_is_exact_on_any_joint_distribution(data: st.DataObject) -> None:
    chosen = bo.source_aware(INCOME, PUBLISHED, epsilon=data.draw(st.sampled_from([0.5, 1.5, 3.0])))
    other = sampler_for(1.0, 3)
    assert other is not None
    counts = data.draw(st.lists(st.integers(0, 9), min_size=15, max_size=15).filter(any))
    joint = {
        pair: Fraction(count, sum(counts))
        for pair, count in zip(product(range(5), range(3)), counts, strict=True)
    }
    f, g = [exact(score) for score in INCOME.score_values or ()], [Fraction(0), Fraction(1), Fraction(5)]

    def moment(first: list[Fraction], second: list[Fraction]) -> Fraction:
        mean = sum((share * second[z] for (_, z), share in joint.items()), Fraction(0))
        terms = (share * first[x] * (second[z] - mean) for (x, z), share in joint.items())
        return sum(terms, Fraction(0))

    # E f(Y) (g(W) - E g(W)) by enumeration of both reports
    reports = [
        [other.truth_probability if w == z else other.other_probability for w in range(3)] for z in range(3)
    ]
    means = [sum((p * value for p, value in zip(row, g, strict=True)), Fraction(0)) for row in reports]
    released = moment(
        [sum((q * v for q, v in zip(row, f, strict=True)), Fraction(0)) for row in chosen.matrix.rows], means
    )
    assert released == other.retention * moment(list(chosen.effect()), g)


def test_marginals_are_corrected_without_bias_and_with_their_errors() -> None:
    chosen = bo.source_aware(INCOME, PUBLISHED, epsilon=3.0)
    truth = [Fraction(k, 20) for k in (8, 5, 4, 2, 1)]
    released = np.array([float(share) for share in chosen.matrix.released_marginal(truth)])
    shares, errors = chosen.corrected_marginal(released * 1e6)
    assert shares == pytest.approx([float(share) for share in truth])
    rng = np.random.default_rng(5)
    drawn = np.array([chosen.corrected_marginal(row)[0] for row in rng.multinomial(10**6, released, 2000)])
    # 2,000 draws: the ratio of deviations is off by 1.6 % (one standard error), a tenth is six of them
    assert drawn.std(axis=0) / errors == pytest.approx(np.ones(5), abs=0.1)


def test_where_categories_are_censored_marginals_are_not_corrected() -> None:
    chosen = bo.source_aware(INCOME, PUBLISHED, epsilon=1.0)
    with pytest.raises(bo.InputError, match="3 of 5 categories are never reported"):
        chosen.corrected_marginal([10, 20, 0, 0, 0])
    with pytest.raises(bo.InputError, match="one a category"):
        chosen.corrected_marginal([10, 20])


def test_the_attributes_own_pin_distortion_and_bounds_count() -> None:
    pinned = bo.source_aware(INCOME.with_fields(epsilon=1.0), PUBLISHED)
    assert pinned.optimum.minimized == "distortion"
    asked = bo.source_aware(INCOME.with_fields(distortion_max=0.3), PUBLISHED)
    assert asked.optimum.minimized == "epsilon"
    assert asked.distortion <= 0.3
    with pytest.raises(bo.InputError, match="outside its bounds"):
        bo.source_aware(INCOME.with_fields(epsilon_max=0.5), PUBLISHED, distortion=0.1)
    with pytest.raises(bo.InputError, match="needs an epsilon or a distortion"):
        bo.source_aware(INCOME, PUBLISHED)
    with pytest.raises(bo.InputError, match="needs an epsilon or a distortion"):
        bo.source_aware(INCOME, PUBLISHED, epsilon=1.0, distortion=0.1)


def test_a_source_over_other_categories_and_nominal_scores_are_refused() -> None:
    with pytest.raises(bo.InputError, match="over 2 categories, and income reports 5"):
        bo.source_aware(INCOME, [(0.5, 0.5)], epsilon=1.0)
    nominal = bo.Attribute("region", categories=["n", "s", "e"])
    with pytest.raises(bo.InputError, match="has no scores"):
        bo.source_aware(nominal, [(0.5, 0.3, 0.2)], epsilon=1.0).effect()


def test_a_source_of_the_declared_categories_is_told_which_are_reported() -> None:
    coarse = INCOME.with_fields(grouping={"low": ["a", "b", "c"], "high": ["d", "e"]})
    with pytest.raises(bo.InputError, match="reports 2, of the merged categories low to high"):
        bo.source_aware(coarse, PUBLISHED, epsilon=1.0)
    with pytest.raises(bo.InputError, match=r"reports 5\. State"):
        bo.source_aware(INCOME, [(0.5, 0.5)], epsilon=1.0)
