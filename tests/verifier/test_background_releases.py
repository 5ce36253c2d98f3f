"""Verification where replaced cells are not drawn uniformly: integers, transitions, and noise made even."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.mechanisms.background_sampler import BackgroundSampler, background_sampler_of_width
from budget_opt.mechanisms.sampler import sampler_for
from budget_opt.verifier.channels import BackgroundChannel, MatrixChannel
from budget_opt.verifier.evening import Evening
from budget_opt.verifier.release import judge_release
from budget_opt.verifier.static import verify_allocation
from budget_opt.verifier.transitions import TransitionCounts, judge_transitions
from tests.verifier.sample_allocations import with_block

Codes = npt.NDArray[np.uint8]
ROWS = 30_000


def asked(**fields: object) -> bo.Problem:
    return bo.Problem(
        **{
            "attributes": [
                bo.Attribute("x", categories=3, marginal=[0.6, 0.3, 0.1], background="marginal"),
                bo.Attribute("y", categories=4),
                bo.Attribute("z", categories=2, background=[0.9, 0.1]),
            ],
            "moments": [bo.CrossMoment("x", "y"), bo.CrossMoment("x", "z"), bo.CrossMoment("z")],
            "total_epsilon": 6.0,
            **fields,
        }
    )


def truths(seed: int, n: int = ROWS) -> dict[str, Codes]:
    """Attributes that go together, in an order that does too."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.choice(3, n, p=[0.6, 0.3, 0.1]))
    y, z = (x + rng.integers(0, 2, n)) % 4, (rng.random(n) < 0.2 + 0.3 * x).astype(int)
    return {name: codes.astype(np.uint8) for name, codes in (("x", x), ("y", y), ("z", z))}


def drawn(sampler: BackgroundSampler, truth: Codes, words: npt.NDArray[np.uint64]) -> Codes:
    """The reports under these 32-bit words, by the rule of the sampler."""
    found = np.searchsorted(np.array(sampler.thresholds, dtype=np.uint64), words, side="right")
    return np.where(found == sampler.cardinality, truth, found).astype(truth.dtype)


def words(rng: np.random.Generator, n: int = ROWS) -> npt.NDArray[np.uint64]:
    return rng.integers(0, 2**32, n, dtype=np.uint64)


def released(allocation: bo.Allocation, original: dict[str, Codes], seed: int) -> dict[str, Codes]:
    rng = np.random.default_rng(seed)
    reports = {}
    for attribute in allocation.attributes:
        sampler, truth = attribute.sampler, original[attribute.name]
        if isinstance(sampler, BackgroundSampler):
            reports[attribute.name] = drawn(sampler, truth, words(rng))
        elif sampler is not None:
            keep = rng.random(truth.size) < float(sampler.retention)
            noise = rng.integers(0, sampler.cardinality, truth.size)
            reports[attribute.name] = np.where(keep, truth, noise).astype(np.uint8)
    return reports


def failed_claims(
    allocation: bo.Allocation, original: dict[str, Codes], reports: dict[str, Codes]
) -> list[str]:
    report = judge_release(allocation, original, reports)
    return [check.claim for check in report.checks if not check.holds]


@pytest.mark.parametrize("counts", [(5, 3, 1), (9, 1), (1, 1, 1, 1), (1, 2, 3, 40)])
def test_evened_reports_have_the_law_of_the_even_matrix_whatever_the_truth(counts: tuple[int, ...]) -> None:
    """Every truth, every report, and a grid for the number that is drawn beside them."""
    channel = BackgroundChannel("x", 4 * sum(counts), counts, None)
    evening, grid = Evening(channel), (np.arange(4000) + 0.5) / 4000
    r = channel.cardinality
    for x in range(r):
        shares = np.zeros(r)
        for y in range(r):
            evening._rng = type("Grid", (), {"random": lambda self, n: grid})()
            found = evening.reports(np.full(grid.size, x), np.full(grid.size, y))
            chance = channel.others[y] + (float(channel.retention) if x == y else 0.0)
            shares += chance * np.bincount(found, minlength=r) / grid.size
        due = np.full(r, float(channel.even.other))
        due[x] = float(1 - channel.even.changed)
        assert shares == pytest.approx(due, abs=1e-3)


@pytest.mark.parametrize(
    "channel",
    [
        BackgroundChannel("x", 2**128, (3, 2, 1), None),
        MatrixChannel("x", 2**128, ((2**128 - 3, 2, 1), (1, 2**128 - 2, 1), (1, 1, 2**128 - 2))),
    ],
)
def test_where_next_to_nothing_is_replaced_what_is_kept_and_what_is_not_stay_apart(
    channel: BackgroundChannel | MatrixChannel,
) -> None:
    """No double lies between the share that is kept and 1. A warning would be an error."""
    x, y = (np.repeat(np.arange(3), 3), np.tile(np.arange(3), 3))
    found = Evening(channel).reports(x, y)
    assert np.array_equal(found == x, x == y)
    assert set(found) == {0, 1, 2}


def test_batches_have_no_effect_and_columns_do_not_share_their_numbers() -> None:
    def evening(name: str) -> Evening:
        return Evening(BackgroundChannel(name, 100, (30, 15, 5), None))

    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 3, (2, 1000)).astype(np.uint8)
    whole, parts = evening("x").reports(x, y), evening("x")
    assert np.array_equal(whole, np.concatenate([parts.reports(x[:7], y[:7]), parts.reports(x[7:], y[7:])]))
    assert not np.array_equal(whole, evening("y").reports(x, y))


@pytest.mark.parametrize("seed", [1, 2])
def test_r9_a_sound_release_passes_with_attributes_that_go_together(seed: int) -> None:
    allocation, original = bo.uniform(asked()), truths(seed)
    assert failed_claims(allocation, original, released(allocation, original, seed)) == []


@pytest.mark.parametrize("clusters", [[], [["x", "z"]], [["x", "y"]]])
def test_a_release_of_the_product_passes_clusters_as_well(clusters: list[list[str]]) -> None:
    """False alarm 1e-9 for every verdict."""
    allocation = bo.uniform(asked(clusters=clusters))
    table = pd.DataFrame(truths(3, 5000)).astype(int)
    kept_order = bo.randomize(table, allocation, row_order="public")
    bo.verify_release(allocation, original=table, released=kept_order).require()
    bo.verify(allocation).require()


def test_r9_faults_of_the_noise_are_found() -> None:
    allocation, original = bo.uniform(asked()), truths(4)
    sound = released(allocation, original, 5)
    x, z = (allocation[name].sampler for name in ("x", "z"))
    assert isinstance(x, BackgroundSampler)
    assert isinstance(z, BackgroundSampler)
    rng = np.random.default_rng(6)
    shared = words(rng)
    uniform = sampler_for(2.0, 3)
    assert uniform is not None
    keep = rng.random(ROWS) < float(x.retention)
    faults = {
        "untouched": {"x": original["x"]},
        "the last rows untouched": {"x": np.where(np.arange(ROWS) < ROWS - 2000, sound["x"], original["x"])},
        "the uniform background": {"x": np.where(keep, original["x"], rng.integers(0, 3, ROWS))},
        "the background reversed": {
            "x": np.where(keep, original["x"], rng.choice(3, ROWS, p=[0.1, 0.3, 0.6]))
        },
        "p + (1 - p) p": {"x": np.where(rng.random(ROWS) < 0.3, original["x"], sound["x"])},
        "one stream for two attributes": {
            "x": drawn(x, original["x"], shared),
            "z": drawn(z, original["z"], shared),
        },
        "words used again after 1,000 rows": {
            "x": drawn(x, original["x"], np.tile(words(rng, 1000), ROWS // 1000))
        },
        "rows of another order": {"x": rng.permutation(sound["x"])},
    }
    for fault, columns in faults.items():
        changed = {name: column.astype(np.uint8) for name, column in columns.items()}
        assert failed_claims(allocation, original, {**sound, **changed}), fault


def test_a_category_that_is_drawn_too_often_by_a_fiftieth_is_found_with_many_rows() -> None:
    sampler = background_sampler_of_width(2.0, (6, 3, 1), 32)
    assert sampler is not None
    channel = BackgroundChannel("x", 2**32, sampler.counts, None)
    rng = np.random.default_rng(7)
    truth = rng.choice(3, 2_000_000, p=[0.6, 0.3, 0.1]).astype(np.uint8)
    share = float(sampler.counts[1] / 2**32)
    for excess, holds in ((0.0, True), (0.02 * share, False)):
        report = drawn(sampler, truth, words(rng, truth.size))
        moved = (report == 0) & (truth != 0) & (rng.random(truth.size) < excess / share)
        report[moved] = 1
        counts = TransitionCounts(3)
        counts.add(truth, report)
        evidence = judge_transitions(channel, counts.totals(), 1e-9)
        assert (evidence.kept_holds and evidence.counts_hold) == holds


def test_the_number_of_changed_cells_is_accepted_as_a_sum_of_binomials() -> None:
    """Truths of which one kind is changed often and the other hardly ever: Hoeffding's binomial holds."""
    channel = BackgroundChannel("x", 1000, (490, 10), None)
    rng = np.random.default_rng(8)
    truth = np.repeat([0, 1], [300, 200]).astype(np.uint8)
    for _ in range(200):
        u = rng.random(truth.size)
        report = np.where(u < 0.49, 0, np.where(u < 0.5, 1, truth)).astype(np.uint8)
        counts = TransitionCounts(2)
        counts.add(truth, report)
        evidence = judge_transitions(channel, counts.totals(), 1e-9)
        assert evidence.kept_holds
        assert evidence.counts_hold
        assert evidence.truth_probability == pytest.approx(1 - (300 * 0.01 + 200 * 0.49) / 500)


def test_integers_that_the_background_does_not_demand_are_no_sound_allocation() -> None:
    allocation = bo.uniform(asked())
    sampler = allocation["x"].sampler
    assert isinstance(sampler, BackgroundSampler)
    a, b, c = sampler.counts
    forgeries = {
        (a, b, c - 1): {"loss of x", "sampler of x"},
        (a, b, c + 1): {"sampler of x"},
        (b, a, c): {"sampler of x"},
        (a + 5, b, c): {"sampler of x"},
    }
    for counts, due in forgeries.items():
        forged = with_block(allocation, "x", sampler=replace(sampler, counts=counts))
        claims = {check.claim for check in verify_allocation(forged).failed}
        assert due <= claims, counts
        assert ("loss of x" in claims) == ("loss of x" in due)
    uniform = with_block(allocation, "x", sampler=sampler_for(2.0, 3))
    assert "sampler of x" in {check.claim for check in verify_allocation(uniform).failed}


def test_a_release_alone_must_have_shares_that_its_background_can_lead_to() -> None:
    """Without originals: what 18 % of the words are drawn into cannot be missing from 4,000 rows."""
    allocation = bo.uniform(asked())
    n = 4000
    impossible = pd.DataFrame({"x": np.repeat([0, 2], n // 2), "y": np.arange(n) % 4, "z": np.arange(n) % 2})
    with pytest.raises(bo.DataError, match="impossible after this randomization"):
        bo.estimate.moment(impossible, allocation, "x", "y")


def test_many_counts_are_not_listed_but_those_that_are_wrong() -> None:
    """Forty integers of nine digits tell nobody anything; three of those that are off do."""
    marginal = [0.02] * 30 + [0.04] * 10
    first = bo.Attribute("x", categories=40, marginal=marginal, background="marginal")
    allocation = bo.uniform(asked(attributes=[first, *asked().attributes[1:]]))
    sampler = allocation["x"].sampler
    assert isinstance(sampler, BackgroundSampler)
    (fine,) = (
        one for one in verify_allocation(allocation).checks if one.name == "sampler" and "x" in one.about
    )
    assert (fine.measured, fine.limit) == ("40 counts agree", "40")
    for wrong, said in (
        (2, "count 1 is {}, count 2 is {}"),
        (5, "count 1 is {}, count 2 is {}, count 3 is {} and 2 more"),
    ):
        counts = [count + (1 <= place <= wrong) for place, count in enumerate(sampler.counts)]
        forged = with_block(allocation, "x", sampler=replace(sampler, counts=tuple(counts)))
        (found,) = (one for one in verify_allocation(forged).failed if one.name == "sampler")
        assert found.measured == said.format(*counts[1:4])
        assert found.limit == said.format(*sampler.counts[1:4])
