"""`verify_release`: sound releases pass at the stated rate, and every fault of RELIABILITY is convicted.

Sound releases are drawn here from the matrices of the allocation with numpy's generator, not with the
randomizer. A test that a sound release passes raises a false alarm with probability at most 1e-9; the
seeds are fixed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from budget_opt.allocation import Allocation
from budget_opt.errors import DataError, InputError, VerificationError
from budget_opt.verifier.release import ReleaseJudge, judge_release
from budget_opt.verifier.release_report import ReleaseReport
from budget_opt.verifier.streams import columns_of, streams_of
from budget_opt.verifier.transitions import TransitionCounts, judge_transitions
from tests.verifier.sample_release import N, Table, allocation_of, originals, randomized, sound


@pytest.mark.parametrize("seed", range(5))
def test_a_sound_release_passes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    allocation, table = allocation_of(), originals(rng)
    report = judge_release(allocation, table, sound(rng, allocation, table))
    assert report.holds, str(report)
    assert report.false_alarm == 1e-9
    assert {evidence.label for evidence in report.retentions} == {m.label for m in allocation.moments}


@pytest.mark.parametrize("n", [1, 2, 7, 300])
def test_a_release_of_a_few_rows_passes(n: int) -> None:
    rng = np.random.default_rng(n)
    allocation, table = allocation_of(), originals(rng, n)
    assert judge_release(allocation, table, sound(rng, allocation, table)).holds


def test_an_empty_release_passes_and_says_that_nothing_was_judged() -> None:
    empty = originals(np.random.default_rng(0), 0)
    report = judge_release(allocation_of(), empty, empty)
    assert report.holds
    assert any("no row was judged" in note for note in report.notes)


@pytest.mark.slow
def test_at_a_false_alarm_rate_of_20_percent_at_most_20_percent_of_sound_releases_fail() -> None:
    """250 releases at 6 standard deviations (false alarm 1e-9); nearly twice the rate would show."""
    rng, repetitions, rate = np.random.default_rng(1), 250, 0.2
    allocation = allocation_of(3.0)
    table = originals(rng, 500)
    failed = sum(
        not judge_release(allocation, table, sound(rng, allocation, table), false_alarm=rate).holds
        for _ in range(repetitions)
    )
    assert failed <= rate * repetitions + 6 * math.sqrt(repetitions * rate * (1 - rate))
    assert failed > 0  # not so cautious that it sees nothing


Fault = Callable[[np.random.Generator, Allocation, Table, Table], Table]


def kept_twice(rng: np.random.Generator, allocation: Allocation, table: Table, released: Table) -> Table:
    """OpenDP's historical fault: the truth with p + (1 - p) p instead of p."""
    attribute = allocation["income"]
    p = attribute.truth_probability
    again = rng.random(table["income"].size) < p
    return {**released, "income": np.where(again, table["income"], released["income"])}


def last_batch_left_alone(
    rng: np.random.Generator, allocation: Allocation, table: Table, released: Table
) -> Table:
    """1 of 16 batches: the share of kept cells is 2.6 percentage points too high."""
    cut = N - N // 16
    return {name: np.concatenate([released[name][:cut], table[name][cut:]]) for name in released}


def biased_modulo(rng: np.random.Generator, allocation: Allocation, table: Table, released: Table) -> Table:
    """The noise of 5 categories from 4 bits modulo 5: category 0 four times in 16, the others three."""
    kept = float(allocation["income"].exact_retention)
    noise = rng.integers(0, 16, N) % 5
    return {**released, "income": np.where(rng.random(N) < kept, table["income"], noise).astype(np.uint8)}


def off_by_one(rng: np.random.Generator, allocation: Allocation, table: Table, released: Table) -> Table:
    """The last category is never drawn as noise."""
    kept = float(allocation["income"].exact_retention)
    noise = rng.integers(0, 4, N)
    return {**released, "income": np.where(rng.random(N) < kept, table["income"], noise).astype(np.uint8)}


def wrong_step(rng: np.random.Generator, allocation: Allocation, table: Table, released: Table) -> Table:
    """report = x + d instead of x + d + 1: as many changes as there should be kept cells."""
    return {**released, "income": ((released["income"].astype(int) + 4) % 5).astype(np.uint8)}


def another_epsilon(rng: np.random.Generator, allocation: Allocation, table: Table, released: Table) -> Table:
    """The retention of an epsilon 7 % larger."""
    other = allocation_of(6.0 * 1.07)
    return {**released, "income": sound(rng, other, table)["income"]}


def one_rare_category_alone(
    rng: np.random.Generator, allocation: Allocation, table: Table, released: Table
) -> Table:
    """Only the rarest category, 3 % of the rows, is left as it is."""
    rare = table["income"] == 4
    return {**released, "income": np.where(rare, table["income"], released["income"])}


def shifted_by_one_row(
    rng: np.random.Generator, allocation: Allocation, table: Table, released: Table
) -> Table:
    return {**released, "region": np.roll(released["region"], 1)}


def a_tenth_of_the_rows_swapped(
    rng: np.random.Generator, allocation: Allocation, table: Table, released: Table
) -> Table:
    order = np.arange(N)
    order[: N // 10] = np.roll(order[: N // 10], 1)
    return {name: column[order] for name, column in released.items()}


def shuffled(rng: np.random.Generator, allocation: Allocation, table: Table, released: Table) -> Table:
    order = rng.permutation(N)
    return {name: column[order] for name, column in released.items()}


def one_stream_for_two_columns(
    rng: np.random.Generator, allocation: Allocation, table: Table, released: Table
) -> Table:
    """Each column alone is sound; their noise is the same, which only the moment of both shows."""
    noise = rng.integers(0, 2, N)
    keep = rng.random(N) < float(allocation["smoker"].exact_retention)
    both = {name: np.where(keep, table[name], noise).astype(np.uint8) for name in ("smoker", "twin")}
    return {**released, **both}


def nothing_randomized(
    rng: np.random.Generator, allocation: Allocation, table: Table, released: Table
) -> Table:
    return dict(table)


@pytest.mark.parametrize(
    ("fault", "convicted"),
    [
        (kept_twice, "income: share of cells"),
        (last_batch_left_alone, "income: share of cells"),
        (biased_modulo, "income: transition counts"),
        (off_by_one, "income: transition counts"),
        (wrong_step, "income: share of cells"),
        (another_epsilon, "income: share of cells"),
        (one_rare_category_alone, "income: transition counts"),
        (shifted_by_one_row, "region: rows are those of the originals, in the same order"),
        (a_tenth_of_the_rows_swapped, "income: share of cells"),
        (shuffled, "verify before any shuffle"),
        (one_stream_for_two_columns, "smoker x twin: retention"),
        (nothing_randomized, "smoker: share of cells"),
    ],
)
def test_a_faulty_release_is_convicted(fault: Fault, convicted: str) -> None:
    rng = np.random.default_rng(2)
    allocation, table = allocation_of(), originals(rng)
    faulty = fault(rng, allocation, table, sound(rng, allocation, table))
    report = judge_release(allocation, table, faulty)
    assert not report.holds
    assert any(convicted in check.claim for check in report.failed), str(report)


def test_two_columns_of_one_stream_pass_every_test_of_a_single_column() -> None:
    """The fault is in the joint distribution alone: only the moment and the pairs of attributes show it."""
    rng = np.random.default_rng(3)
    allocation, table = allocation_of(), originals(rng)
    faulty = one_stream_for_two_columns(rng, allocation, table, sound(rng, allocation, table))
    failed = [check.claim for check in judge_release(allocation, table, faulty).failed]
    assert failed
    allowed = ("retention", "different attributes", "records are left as they are")
    assert all(any(part in claim for part in allowed) for claim in failed), failed


def test_every_second_release_at_the_stated_smallest_fault_is_noticed() -> None:
    """600 releases; a half is missed by 8 standard deviations (0.16) with probability 1e-15."""
    rng = np.random.default_rng(4)
    allocation, n, noticed = allocation_of(), 2_000, 0
    table, attribute = originals(rng, n), allocation["income"]
    report = judge_release(allocation, table, sound(rng, allocation, table))
    stated = next(e for e in report.transitions if e.name == "income")
    fault, channel = stated.smallest_fault, columns_of(streams_of(allocation, table))["income"]
    # P(report = truth) = lambda + (1 - lambda) / r
    kept = float(attribute.exact_retention) + fault / (1 - 1 / attribute.cardinality)
    for _ in range(600):
        counts = TransitionCounts(attribute.cardinality)
        counts.add(table["income"], randomized(rng, table["income"], attribute.cardinality, kept))
        evidence = judge_transitions(channel, counts.totals(), 4 * stated.alarm)
        noticed += not evidence.kept_holds
    assert abs(noticed / 600 - 0.5) < 8 * 0.5 / math.sqrt(600)


class Judged(NamedTuple):
    """A sound release with its report, and the report of the originals as they are."""

    table: Table
    released: Table
    report: ReleaseReport
    untouched: ReleaseReport


@pytest.fixture(scope="module")
def judged() -> Judged:
    rng = np.random.default_rng(7)
    allocation, table = allocation_of(), originals(rng)
    released = sound(rng, allocation, table)
    report = judge_release(allocation, table, released)
    return Judged(table, released, report, judge_release(allocation, table, dict(table)))


def test_batches_give_the_verdict_of_the_whole(judged: Judged) -> None:
    allocation = allocation_of()
    judge = ReleaseJudge(allocation)
    for part in (slice(0, 1), slice(1, 17_000), slice(17_000, None)):
        judge.add(*({name: column[part] for name, column in side.items()} for side in judged[:2]))
    assert judge.report().to_dict() == judged.report.to_dict()


def test_the_report_is_internal_and_its_error_tells_no_number(judged: Judged) -> None:
    report = judged.untouched
    document = report.to_dict()
    assert next(iter(document)) == "notice"
    assert document["notice"] == "Computed from the originals: outside the guarantee, do not pass on"
    assert document["releasable"] is False
    assert str(report).startswith(document["notice"])
    json.dumps(document, allow_nan=False)
    with pytest.raises(VerificationError, match="smoker: share of cells") as caught:
        report.require()
    assert not any(character.isdigit() for character in str(caught.value).partition("checks fail:")[2])


def test_the_evidence_carries_retentions_with_their_errors(judged: Judged) -> None:
    allocation, report = allocation_of(), judged.report
    for evidence in report.retentions:
        assert evidence.predicted_retention == pytest.approx(allocation.retention(*evidence.attributes))
        if evidence.is_measurable:
            distance = abs(evidence.retention - evidence.predicted_retention)
            assert distance <= 7 * evidence.retention_error  # 1e-11 for a normal
            assert evidence.retention_error < evidence.smallest_fault
    counts = report.transitions[0].counts
    assert counts is not None
    assert np.sum(counts) == N


def test_as_text_a_release_passes_or_fails_and_every_number_is_for_who_asks(judged: Judged) -> None:
    report = judged.report
    assert str(report).splitlines() == [
        "Computed from the originals: outside the guarantee, do not pass on",
        "release: all checks hold (false-alarm rate 1e-09)",
        "  note   judged given the originals, 40,000 rows; rows are taken as independent of each other",
    ]
    assert len(report.in_full.splitlines()) == 3 + len(report.checks)
    assert all(check.notices and check.notices in report.in_full for check in report.checks)
    faulty = str(judged.untouched)
    assert "FAILS  smoker: share of cells reported as they are" in faulty
    assert not any(character.isdigit() for character in faulty.partition("FAILS")[2].partition("note")[0])


def test_the_json_of_a_report_has_the_tests_of_the_noise_with_what_they_would_notice(
    judged: Judged,
) -> None:
    noise = judged.report.to_dict()["noise"]
    assert len(noise) == 18
    for evidence in noise:
        assert evidence["holds"]
        assert evidence["notices"]
        assert 0 < evidence["least_tail"] <= 1
    # all kinds together have half of the rate
    assert sum(evidence["alarm"] for evidence in noise) == pytest.approx(5e-10)


@pytest.mark.parametrize("rate", [0.0, 1.0, -1e-9, math.nan])
def test_a_false_alarm_rate_outside_0_and_1_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="false_alarm"):
        ReleaseJudge(allocation_of(), false_alarm=rate)


def test_codes_that_do_not_fit_are_refused_without_their_value() -> None:
    table = originals(np.random.default_rng(8), 10)
    allocation = allocation_of()
    wrong = {**table, "income": np.full(10, 177, np.uint8)}
    with pytest.raises(DataError, match="column 'income': 10 rows") as caught:
        judge_release(allocation, table, wrong)
    assert "177" not in str(caught.value)
    with pytest.raises(DataError, match="different numbers of rows"):
        judge_release(allocation, table, {name: column[1:] for name, column in table.items()})
    with pytest.raises(DataError, match="'income': is not among the original codes"):
        judge_release(allocation, {n: c for n, c in table.items() if n != "income"}, table)


# Tables and files
