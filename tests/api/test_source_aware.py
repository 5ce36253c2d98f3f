"""A matrix of its own for one attribute whose distribution is partly known (R2 for its integers)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import budget_opt as bo
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.sampler import sampler_for
from tests.mechanisms.sources import ordered_sources

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


def test_at_an_epsilon_it_changes_fewer_cells_than_randomized_response() -> None:
    chosen = bo.source_aware(INCOME, PUBLISHED, epsilon=1.0)
    assert chosen.loss <= 1.0
    plain = sampler_for(1.0, 5)
    assert plain is not None
    assert chosen.distortion_of_randomized_response == pytest.approx(1 - float(plain.truth_probability))
    assert chosen.distortion < chosen.distortion_of_randomized_response - 0.1
    assert chosen.censored == ("c", "d", "e")
    assert "never reported: c, d, e" in str(chosen)


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
