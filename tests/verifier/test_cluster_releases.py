"""Releases of clusters: a cluster is one column of joint categories, and the noise of its members is shared.

The statistical checks of a report fail a sound release with probability at most 1e-9 in all (R9). 40,000
rows; clusters of 10 and of 8 joint categories at epsilon 2.5 and 2.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import budget_opt as bo
from budget_opt.tables.counting import joint_counts
from budget_opt.verifier.channels import Channel
from budget_opt.verifier.joint import RowSums, project_tables
from budget_opt.verifier.noise.judge import NoiseJudge
from budget_opt.verifier.noise.repeats import RepeatTally
from budget_opt.verifier.release import ReleaseJudge, judge_release
from budget_opt.verifier.streams import columns_of, streams_of
from tests.cluster_moments import Together, released_moment
from tests.verifier import sample_clusters as clusters
from tests.verifier.sample_clusters import ALLOCATION, Fault, Table

NAMES = ("smoker", "income", "region", "twin", "sex")


@pytest.mark.parametrize("seed", range(3))
def test_r9_a_sound_release_of_clusters_passes(seed: int) -> None:
    """Fails with probability 3e-9 at most."""
    rng = np.random.default_rng(seed)
    table = clusters.data(rng)
    judge_release(ALLOCATION, table, clusters.sound(rng, table)).require()


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 9.0])
def test_r9_a_sound_release_passes_where_members_nearly_always_or_never_agree(epsilon: float) -> None:
    """Where little is replaced, long stretches of members of one cluster are alike; at 0 it is all noise."""
    problem = clusters.PROBLEM.with_total(30.0)
    allocation = bo.allocation_from(problem, dict.fromkeys(NAMES, epsilon))
    rng = np.random.default_rng(100)
    table = clusters.data(rng)
    judge_release(allocation, table, clusters.sound(rng, table, allocation)).require()


@pytest.mark.slow
def test_r9_sound_releases_of_clusters_fail_no_more_often_than_the_false_alarm_rate_says() -> None:
    """150 releases at a rate of 0.5: more than 111 fail with probability 1e-9 at most (6 sigma)."""
    problem, failed = clusters.PROBLEM.with_total(30.0), 0
    for epsilon in (0.4, 2.5, 5.0):
        allocation = bo.allocation_from(problem, dict.fromkeys(NAMES, epsilon))
        for seed in range(50):
            rng = np.random.default_rng([seed, 7])
            table = clusters.data(rng, 1_200)
            released = clusters.sound(rng, table, allocation)
            failed += not judge_release(allocation, table, released, false_alarm=0.5).holds
    assert failed <= 111


FAULTS: list[tuple[Fault, str]] = [
    (clusters.members_apart, "smoker + income: share of cells reported as they are"),
    (clusters.a_member_left_as_it_is, "smoker + income: share of cells reported as they are"),
    (clusters.noise_of_another_cluster, "the changes of different attributes are independent of each other"),
    (
        clusters.one_draw_decides_for_both_clusters,
        "the changes of different attributes are independent of each other",
    ),
    (
        clusters.noise_that_a_member_shares,
        "what different attributes are changed into does not go together",
    ),
    (
        clusters.a_cluster_of_the_row_before,
        "the changes of an attribute are independent of those of another some rows before",
    ),
]


@pytest.mark.parametrize(("fault", "claim"), FAULTS, ids=lambda one: getattr(one, "__name__", ""))
def test_r9_a_fault_in_joint_randomization_is_convicted_by_the_claim_that_names_it(
    fault: Fault, claim: str
) -> None:
    rng = np.random.default_rng(1)
    table = clusters.data(rng)
    failed = [check.claim for check in judge_release(ALLOCATION, table, fault(rng, table)).failed]
    assert any(one.startswith(claim) for one in failed), failed


def test_members_that_are_drawn_apart_look_sound_column_by_column() -> None:
    """What only the joint column shows: an allocation that takes each alone accepts every column's counts."""
    rng = np.random.default_rng(2)
    table = clusters.data(rng)
    released = clusters.members_apart(rng, table)
    report = judge_release(ALLOCATION, table, released)
    by_name = {evidence.name: evidence for evidence in report.transitions}
    assert set(by_name) == {"smoker + income", "region + twin", "sex"}
    assert not by_name["smoker + income"].kept_holds
    assert by_name["region + twin"].kept_holds
    assert by_name["region + twin"].counts_hold
    # so many percentage points are noticed, and the fault is far more
    stated = by_name["smoker + income"].smallest_fault
    assert stated is not None
    assert stated < 0.02 < abs(by_name["smoker + income"].kept - by_name["smoker + income"].truth_probability)


def test_the_noise_of_members_of_one_cluster_may_go_together() -> None:
    """As columns of different blocks the same noise is convicted."""
    rng = np.random.default_rng(3)
    table = clusters.data(rng)
    released = clusters.sound(rng, table)
    columns = columns_of(streams_of(ALLOCATION, NAMES))
    pair = [columns["smoker"], columns["income"]]
    sides = [[side[name] for name in ("smoker", "income")] for side in (table, released)]
    for channels, holds in ((pair, True), ([replace(one, cluster=None) for one in pair], False)):
        judge = NoiseJudge(channels, 1e-9)
        judge.add(*sides)
        assert all(evidence.holds for evidence in judge.evidence()) == holds


def test_windows_of_one_cluster_that_share_rows_are_no_repetitions() -> None:
    """Their noise is alike by design; of other rows, or of another cluster, it must not be."""
    channels = [stream.channel for stream in streams_of(ALLOCATION, NAMES)]
    # the joint codes of two clusters, an attribute alone, and then the four columns of the clusters
    memory = RepeatTally(channels, 1e-9)._of_single
    smoker, income, twin = 3, 4, 6
    for sequence, row, repeated in ((smoker, 100, 0), (income, 105, 0), (income, 110, 1), (twin, 100, 2)):
        memory.take(b"one digest", (7, sequence, row), 10)
        assert memory.repeated.total() == repeated


@pytest.mark.parametrize("names", [("smoker", "income"), ("smoker", "income", "sex"), ("region", "twin")])
def test_what_is_predicted_of_a_moment_within_a_cluster_is_the_formula_of_joint_randomization(
    names: tuple[str, ...],
) -> None:
    """DESIGN 2.9 on the table of truths, in fractions, with two members and an outsider; all scored."""
    rng = np.random.default_rng(4)
    table = clusters.data(rng, 5_000)
    columns = [
        replace(columns_of(streams_of(ALLOCATION, NAMES))[name], scores=np.arange(r, dtype=float))
        for name, r in ((name, ALLOCATION[name].cardinality) for name in names)
    ]
    shape = [one.cardinality for one in columns]
    truths = joint_counts([table[name] for name in names], shape)
    found = project_tables(columns, truths, truths)
    blocks = [
        Together((0, 1), columns[0].retention, tuple(np.full(r, Fraction(1, r)) for r in shape[:2])),
        *(
            Together((axis,), columns[axis].retention, (np.full(r, Fraction(1, r)),))
            for axis, r in enumerate(shape)
            if axis > 1
        ),
    ]
    scores = [np.array([Fraction(v) for v in range(r)]) for r in shape]
    exactly = released_moment(truths.astype(object) * Fraction(1), scores, blocks)
    assert found.predicted == pytest.approx(float(exactly), rel=1e-10)
    # the product rule would predict something else
    kept = np.prod([float(columns[0].retention), *(float(one.retention) for one in columns[2:])])
    assert abs(found.predicted - kept * found.data) > 1e-3 * abs(found.data)


def test_the_variance_of_a_moment_within_a_cluster_is_that_of_enumerated_reports() -> None:
    """Three members of two blocks, all truths and all reports; from tables and from rows."""
    kept_pair, kept_one = Fraction(1, 2), Fraction(1, 4)
    first = Channel("a", 2, (1 - kept_pair) / 2, np.array([0.0, 1.0]), "a + b")
    second = Channel("b", 3, (1 - kept_pair) / 3, np.array([0.0, 1.0, 4.0]), "a + b")
    third = Channel("c", 2, (1 - kept_one) / 2, np.array([-1.0, 2.0]))
    channels, shape = [first, second, third], (2, 3, 2)
    rng = np.random.default_rng(5)
    table = [rng.integers(0, r, 60).astype(np.uint8) for r in shape]
    law = np.zeros((12, 12))
    for truth in range(12):
        for report in range(12):
            of_pair = float(kept_pair) * (truth // 2 == report // 2) + float(1 - kept_pair) / 6
            of_third = float(kept_one) * (truth % 2 == report % 2) + float(1 - kept_one) / 2
            law[truth, report] = of_pair * of_third
    codes = np.ravel_multi_index(table, shape)
    means = [
        np.mean(
            [
                law[x] @ np.array([c.scores[u] for u in np.unravel_index(range(12), shape)[axis]])
                for x in codes
            ]
        )
        for axis, c in enumerate(channels)
    ]
    scores = [
        np.asarray(c.scores)[np.unravel_index(range(12), shape)[axis]] for axis, c in enumerate(channels)
    ]
    g = np.prod([s - m for s, m in zip(scores, means, strict=True)], axis=0)
    expected = law[codes] @ g
    variance = np.mean(law[codes] @ g**2 - expected**2)
    counts = joint_counts(table, shape)
    rows = RowSums(channels)
    rows.add(table, table)
    for found in (project_tables(channels, counts, counts), rows.projection()):
        assert found.predicted == pytest.approx(expected.mean(), rel=1e-10)
        assert found.variance == pytest.approx(variance, rel=1e-10)


def test_retentions_within_a_cluster_are_told_as_shares_of_these_data() -> None:
    rng = np.random.default_rng(6)
    table = clusters.data(rng)
    report = judge_release(ALLOCATION, table, clusters.sound(rng, table))
    found = {evidence.attributes: evidence for evidence in report.retentions}
    assert found["smoker", "twin"].factor == pytest.approx(ALLOCATION.retention("smoker", "twin"))
    within = found["smoker", "income"]
    assert within.factor is None
    assert within.predicted_retention is not None
    assert within.smallest_fault is not None
    assert abs((within.retention or 0) - within.predicted_retention) <= within.smallest_fault
    claims = [check.claim for check in report.checks if check.name == "retention"]
    assert "smoker x income: share of the moment that joint randomization leaves (the scores)" in claims
    assert "smoker x twin: retention (the scores)" in claims
    assert within.to_dict()["retention_of"] == "these data, by joint randomization"
    assert "retention_of" not in found["smoker", "twin"].to_dict()


def test_the_verdict_does_not_depend_on_batches_and_checks_name_all_members() -> None:
    rng = np.random.default_rng(7)
    table = clusters.data(rng, 9_000)
    released = clusters.sound(rng, table)
    judge = ReleaseJudge(ALLOCATION)
    for start in range(0, 9_000, 1_234):
        part = slice(start, start + 1_234)
        judge.add(*({name: side[name][part] for name in NAMES} for side in (table, released)))
    whole = judge_release(ALLOCATION, table, released)
    assert judge.report().to_dict() == whole.to_dict()
    of_cluster = [check for check in whole.checks if check.name == "transition counts"]
    assert of_cluster[0].about == ("smoker", "income")
    assert of_cluster[2].about == ("sex",)


def test_some_members_of_a_cluster_are_judged_by_the_matrix_that_they_make_without_the_others() -> None:
    rng = np.random.default_rng(8)
    table = clusters.data(rng)
    released = clusters.sound(rng, table)
    names = ("income", "twin", "sex")
    report = judge_release(ALLOCATION, table, {name: released[name] for name in names}).require()
    assert [evidence.name for evidence in report.transitions] == list(names)
    income = report.transitions[0]
    assert income.retention == pytest.approx(ALLOCATION["income"].retention, abs=1e-9)
    assert income.truth_probability == pytest.approx(ALLOCATION["income"].truth_probability)


# --- tables, and releases without originals ---


def labelled(table: Table) -> pd.DataFrame:
    return pd.DataFrame(
        {name: np.array(ALLOCATION[name].domain.labels, dtype=object)[table[name]] for name in NAMES}
    )


def test_tables_of_clusters_are_verified_with_and_without_originals(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    table = clusters.data(rng)
    released = labelled(clusters.sound(rng, table))
    path = tmp_path / "released.csv"
    released.to_csv(path, index=False)
    bo.verify_release(ALLOCATION, labelled(table), path).require()
    alone = bo.verify_release(ALLOCATION, released=released[::-1].reset_index(drop=True)).require()
    shares = [check.about for check in alone.checks if check.name == "possible shares"]
    assert ("smoker", "income") in shares
    assert ("smoker",) in shares
    # members of one cluster make no joint table of independent columns
    tables = [check.about for check in alone.checks if check.name == "possible joint table"]
    assert tables == [("income", "sex"), ("income", "twin"), ("smoker", "sex"), ("smoker", "twin")]


def test_a_joint_category_that_is_never_reported_is_impossible_without_originals() -> None:
    """Every joint category has (1 - lambda) / 10 of 40,000 rows at least, whatever the originals."""
    rng = np.random.default_rng(10)
    released = clusters.sound(rng, clusters.data(rng))
    never = (released["smoker"] == 1) & (released["income"] == 0)
    released["income"][never] = 1
    report = bo.verify_release(ALLOCATION, released=labelled(released))
    assert [check.about for check in report.failed] == [("smoker", "income")]


@pytest.mark.parametrize("column", ["smoker", "sex"])
def test_a_column_with_undeclared_cells_takes_its_cluster_out_and_nothing_else(column: str) -> None:
    rng = np.random.default_rng(11)
    table = clusters.data(rng, 2_000)
    released = labelled(clusters.sound(rng, table))
    released.loc[3, column] = "x"
    report: Any = bo.verify_release(ALLOCATION, labelled(table), released)
    names = [evidence.name for evidence in report.transitions]
    assert names == (["region + twin", "sex"] if column == "smoker" else ["smoker + income", "region + twin"])
