"""Whole counts of words for a matrix of any form (R1, R2, R4 for source-aware matrices)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.errors import InputError
from budget_opt.mechanisms.exact import exact
from budget_opt.mechanisms.hamming import (
    MatrixSampler,
    Source,
    StochasticMatrix,
    least_distortion,
    sampler_of,
)
from budget_opt.mechanisms.hamming.matrix import matrix_of
from tests.mechanisms.sources import ordered_sources, sources

epsilons = st.sampled_from((0.0, 1e-9, 1e-3, 0.5, 1.0, 3.0, 12.0, 20.0, 30.0))


@given(source=st.one_of(sources(), ordered_sources()), epsilon=epsilons)
def test_r2_r4_the_implemented_matrix_is_within_epsilon_and_next_to_the_wanted_one(
    source: Source, epsilon: float
) -> None:
    wanted = least_distortion(source, epsilon)
    sampler = sampler_of(wanted.matrix, epsilon)
    ratio = sampler.likelihood_ratio
    with mpmath.workdps(200):
        log = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        decimal = exact(epsilon)
        assert log <= mpmath.mpf(decimal.numerator) / decimal.denominator
    assert exact(sampler.loss) <= exact(epsilon)
    assert exact(sampler.loss) >= exact(wanted.epsilon) * (1 - Fraction(1, 10**6)) or sampler.bits == 128
    assert sampler.matrix.reported == wanted.reported
    for code, row in enumerate(wanted.matrix.rows):
        for report, share in enumerate(row):
            assert abs(sampler.probability(code, report) - share) <= Fraction(
                2 * len(row) ** 2, 2**sampler.bits
            )


@given(source=sources(), epsilon=st.sampled_from((0.0, 0.4, 2.0)), data=st.data())
def test_r1_every_threshold_word_leads_to_the_report_whose_words_it_starts(
    source: Source, epsilon: float, data: st.DataObject
) -> None:
    sampler = sampler_of(least_distortion(source, epsilon).matrix, epsilon)
    code = data.draw(st.integers(0, source.cardinality - 1))
    words = Counter[int]()
    start = 0
    for end in sampler.thresholds[code]:
        if end > start:
            assert sampler.report(code, start) == sampler.report(code, end - 1)
            words[sampler.report(code, start)] += end - start
        start = end
    assert start == 2**sampler.bits
    assert [words[report] for report in range(source.cardinality)] == list(sampler.counts[code])


def test_rows_too_near_for_words_are_drawn_as_one_row() -> None:
    # rho = 1 + 1e-39 of class I: what tells the truths apart is less than a word of 2^-128
    wanted = matrix_of((Fraction(1),) * 3, 1 + Fraction(1, 10**39))
    sampler = sampler_of(wanted, wanted.loss)
    assert sampler.loss == 0
    assert sampler.bits == 128
    assert max(abs(share - Fraction(1, 3)) for row in sampler.matrix.rows for share in row) <= Fraction(
        1, 2**128
    )


def test_the_loss_of_the_counts_is_that_of_the_matrix_they_draw() -> None:
    source = Source.of([(0.5, 0.2, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4)])
    sampler = sampler_of(least_distortion(source, 2.0).matrix, 2.0)
    assert sampler.likelihood_ratio == sampler.matrix.likelihood_ratio
    assert sampler.loss == sampler.matrix.loss


def test_a_matrix_with_more_loss_than_epsilon_is_refused() -> None:
    matrix = least_distortion(Source.anything(3), 1.0).matrix
    with pytest.raises(InputError, match="at least the loss"):
        sampler_of(matrix, 0.5)


@pytest.mark.parametrize("epsilon", [math.nan, math.inf, -1.0, 701.0])
def test_r13_an_epsilon_out_of_range_is_refused(epsilon: float) -> None:
    matrix = least_distortion(Source.anything(3), 1.0).matrix
    with pytest.raises(InputError, match="epsilon: is"):
        sampler_of(matrix, epsilon)
    with pytest.raises(ValueError, match="least_bits: is 256"):
        sampler_of(matrix, 1.0, least_bits=256)


@pytest.mark.parametrize(
    ("bits", "counts"),
    [
        (31, ((2**31, 0), (2**31, 0))),
        (32, ((2**32, 1), (2**32, 0))),
        (32, ((2**32, 0), (0, 2**32))),
        (32, ((2**32 + 1, -1), (2**32, 0))),
        (32, ((2**32,),)),
    ],
)
def test_counts_that_are_no_private_matrix_are_refused(
    bits: int, counts: tuple[tuple[int, ...], ...]
) -> None:
    with pytest.raises(ValueError, match="sampler"):
        MatrixSampler(bits, counts)


def test_a_matrix_without_a_finite_loss_is_refused() -> None:
    half = Fraction(1, 2)
    with pytest.raises(InputError, match="infinite"):
        StochasticMatrix(((half, half), (Fraction(0), Fraction(1))))
    with pytest.raises(InputError, match="sum exactly to one"):
        StochasticMatrix(((half, half), (half, Fraction(1, 3))))
