"""Releases and allocations with a matrix that a known source chose: sound ones pass, faults are found. R9."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.allocation import Allocation
from budget_opt.mechanisms.hamming import MatrixSampler, Source, sampler_of
from budget_opt.mechanisms.hamming.matrix import matrix_of
from budget_opt.verifier.channels import MatrixChannel
from budget_opt.verifier.evening import Evening

ROWS = 20_000
SOURCE = {"between": {"lower": [0.5, 0.1, 0.0], "upper": [0.7, 0.4, 0.1]}}
PROBLEM = bo.Problem(
    attributes=[
        bo.Attribute("x", categories=4),
        bo.Attribute("s", categories=3, source={"distributions": [[0.6, 0.3, 0.1]]}, distortion_max=0.25),
        bo.Attribute("t", categories=3, source=SOURCE, epsilon=1.0),
    ],
    moments=[bo.CrossMoment("x")],
    total_epsilon=5.0,
    row_order="public",
)
MADE = bo.solve(PROBLEM)


def truths(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "x": rng.integers(0, 4, ROWS),
            "s": rng.choice(3, ROWS, p=[0.6, 0.3, 0.1]),
            "t": rng.choice(3, ROWS, p=[0.6, 0.35, 0.05]),
        }
    )


ORIGINAL = truths(1)
SOUND = bo.randomize(ORIGINAL, MADE)


def failing(released: pd.DataFrame, allocation: Allocation = MADE) -> set[str]:
    report = bo.verify_release(allocation, original=ORIGINAL, released=released)
    return {check.claim for check in report.checks if not check.holds}


def with_matrix(name: str, sampler: MatrixSampler) -> Allocation:
    blocks = tuple(replace(block, sampler=sampler) if block.name == name else block for block in MADE.blocks)
    return replace(MADE, blocks=blocks)


def test_a_sound_release_passes_with_and_without_its_originals() -> None:
    assert MADE["t"].censored == (2,)
    bo.verify_release(MADE, original=ORIGINAL, released=SOUND).require()
    bo.verify_release(MADE, released=SOUND).require()
    assert not (SOUND["t"] == 2).any()


def test_a_column_that_was_not_randomized_is_found_with_and_without_the_originals() -> None:
    assert any(claim.startswith("s: ") for claim in failing(SOUND.assign(s=ORIGINAL["s"])))
    untouched = SOUND.assign(t=ORIGINAL["t"])
    assert any(claim.startswith("t: ") for claim in failing(untouched))
    # nobody is ever reported as the censored category
    assert not bo.verify_release(MADE, released=untouched).holds


def test_one_report_of_a_censored_category_is_found() -> None:
    reports = SOUND["t"].copy()
    reports.iloc[17] = 2
    assert failing(SOUND.assign(t=reports)) == {"t: transition counts"}


def test_another_matrix_of_the_same_epsilon_is_found() -> None:
    """Ten thousand rows with the first truth; false alarm 1e-9. A share of changes off by 0.04 is found."""
    other = bo.allocation_from(
        PROBLEM.with_fields(attributes=[*PROBLEM.attributes[:2], bo.Attribute("t", categories=3)]),
        {"x": MADE["x"].epsilon, "s": MADE["s"].epsilon, "t": 1.0},
    )
    assert any(claim.startswith("t: ") for claim in failing(bo.randomize(ORIGINAL, other)))


def test_noise_that_two_columns_share_is_found() -> None:
    """The words of x and of s are the same: each column alone has its matrix."""
    rng = np.random.default_rng(5)
    words = [int(word) for word in rng.integers(0, 2**62, ROWS)]
    columns = {}
    for name in ("x", "s"):
        sampler = MADE[name].sampler
        assert sampler is not None
        shared = [
            word >> 62 - sampler.bits if sampler.bits < 62 else word << sampler.bits - 62 for word in words
        ]
        columns[name] = [sampler.report(int(x), u) for x, u in zip(ORIGINAL[name], shared, strict=True)]
    found = failing(SOUND.assign(**columns))
    assert found
    assert not any("kept" in claim or "transition" in claim for claim in found)


def test_evened_reports_have_the_even_law_whatever_the_truth() -> None:
    """In fractions: the pieces of every stretch that fall into each report of the even matrix."""
    rows = ((10, 0, 4, 2), (3, 0, 9, 4), (6, 0, 6, 4), (2, 0, 2, 12))
    channel = MatrixChannel("a", 16, rows)
    evening = Evening(channel)
    kept = Fraction(10 + 0 + 6 + 12, 4 * 16)
    assert 1 - channel.even.changed == kept
    for x in range(4):
        ends = []
        for y in range(4):
            begin, length = evening._stretches.of(np.array([x]), np.array([y]))
            ends.append((float(begin[0]), float(length[0])))
            assert length[0] == rows[x][y] / 16
        # the stretches of a truth fill the unit interval once
        reached = 0.0
        for begin, length in sorted(one for one in ends if one[1] > 0):
            assert begin == pytest.approx(reached)
            reached = begin + length
        assert reached == pytest.approx(1.0)
    counts = np.zeros((4, 4))
    rng = np.random.default_rng(3)
    for x in range(4):
        reports = rng.choice(4, 100_000, p=np.array(rows[x]) / 16)
        evened = evening.reports(np.full(100_000, x), reports)
        counts[x] = np.bincount(evened, minlength=4) / 100_000
    other = float(channel.even.other)
    expected = np.where(np.eye(4, dtype=bool), float(kept), other)
    # six standard errors of a share are 0.0095
    assert np.abs(counts - expected).max() < 0.0095


def test_forged_matrices_are_found_by_the_verifier() -> None:
    assert bo.verify(MADE, PROBLEM).holds
    sampler = MADE["t"].sampler
    assert isinstance(sampler, MatrixSampler)
    more = tuple(
        tuple(c + d for c, d in zip(row, (2**60, -(2**60), 0), strict=True)) for row in sampler.counts[:1]
    )
    leaking = with_matrix("t", MatrixSampler(64, (*more, *sampler.counts[1:])))
    failed = {check.name for check in bo.verify(leaking, PROBLEM).checks if not check.holds}
    assert "loss" in failed
    # as private as it should be, and further from the truth than the best
    source = Source.anything(3)
    poor = sampler_of(matrix_of((Fraction(1),) * 3, Fraction(3, 2)), 1.0, least_bits=64)
    worse = bo.verify(with_matrix("s", poor), PROBLEM)
    failed = {check.name for check in worse.checks if not check.holds}
    assert {"sampler", "distortion"} <= failed
    assert poor.matrix.distortion(source) > Fraction(1, 4)


def test_what_the_matrix_of_another_kind_changes_is_told_against_the_problem() -> None:
    """An allocation whose `s` is randomized response, judged by the problem that asks for the source."""
    plain = PROBLEM.with_fields(
        attributes=[PROBLEM.attributes[0], bo.Attribute("s", categories=3), PROBLEM.attributes[2]]
    )
    made = bo.allocation_from(plain, {"x": 1.0, "s": MADE["s"].epsilon, "t": 1.0})
    failed = {check.name for check in bo.verify(made, PROBLEM).checks if not check.holds}
    assert {"distortion", "question"} <= failed


def test_an_audit_of_the_release_finds_nothing() -> None:
    def sampler(records: pd.DataFrame) -> pd.DataFrame:
        return bo.randomize(records, MADE)

    assert bo.audit(sampler, MADE, trials=4_000).holds


def test_all_pairs_of_the_product_are_judged_by_the_same_numbers_as_the_file_states() -> None:
    for name, (x, y) in product(("s", "t"), product(range(3), range(3))):
        sampler = MADE[name].sampler
        assert isinstance(sampler, MatrixSampler)
        assert MADE[name].exact_matrix[x][y] == sampler.probability(x, y)
