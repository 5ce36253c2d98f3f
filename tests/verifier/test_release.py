"""`verify_release`: sound releases pass at the stated rate, and every fault of RELIABILITY is convicted.

Sound releases are drawn here from the matrices of the allocation with numpy's generator, not with the
randomizer. A test that a sound release passes raises a false alarm with probability at most 1e-9; the
seeds are fixed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from budget_opt.allocation import Allocation, uniform
from budget_opt.errors import DataError, InputError, VerificationError
from budget_opt.model.attribute import Attribute
from budget_opt.model.moment import CrossMoment, PublicColumn
from budget_opt.model.problem import Problem
from budget_opt.tables.encoding import decode
from budget_opt.verifier.comparison import differing
from budget_opt.verifier.release import ReleaseJudge, ReleaseReport, judge_release, verify_release

Codes = npt.NDArray[np.uint8]
Table = dict[str, Codes]
N = 40_000


def allocation_of(total: float = 6.0, **changes: Any) -> Allocation:
    problem = Problem(
        attributes=[
            Attribute("smoker", categories=["no", "yes"], ordered=True),
            Attribute("income", categories=5, ordered=True),
            Attribute("region", categories=["north", "south", "east", "west"]),
            Attribute("twin", categories=["no", "yes"], ordered=True),
        ],
        moments=[
            CrossMoment("smoker", "income"),
            CrossMoment("region", "income"),
            CrossMoment("smoker", "twin"),
            CrossMoment("smoker", "income", "twin"),
            CrossMoment("income"),
            CrossMoment("region"),
        ],
        public=[PublicColumn("wave", why="the same for everybody")],
        total_epsilon=total,
        **changes,
    )
    return uniform(problem)


def originals(rng: np.random.Generator, n: int = N) -> Table:
    """Correlated columns with rare categories."""
    income = rng.choice(5, n, p=[0.5, 0.3, 0.1, 0.07, 0.03])
    smoker = rng.random(n) < 0.1 + 0.15 * income
    region = np.where(rng.random(n) < 0.5, income % 4, rng.integers(0, 4, n))
    twin = np.where(rng.random(n) < 0.3, smoker, rng.random(n) < 0.4)
    return {
        name: np.asarray(column, dtype=np.uint8)
        for name, column in {"smoker": smoker, "income": income, "region": region, "twin": twin}.items()
    }


def randomized(rng: np.random.Generator, column: Codes, cardinality: int, kept: float) -> Codes:
    noise = rng.integers(0, cardinality, column.size)
    return np.where(rng.random(column.size) < kept, column, noise).astype(np.uint8)


def sound(rng: np.random.Generator, allocation: Allocation, table: Mapping[str, Codes]) -> Table:
    return {
        a.name: randomized(rng, table[a.name], a.cardinality, float(a.exact_retention))
        for a in allocation.attributes
    }


@pytest.mark.parametrize("seed", range(20))
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
def test_at_a_false_alarm_rate_of_5_percent_at_most_5_percent_of_sound_releases_fail() -> None:
    """2,000 releases at 6 standard deviations (false alarm 1e-9)."""
    rng, repetitions, rate = np.random.default_rng(1), 2_000, 0.05
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
    """The fault is in the joint distribution alone: the test of the moment is not a repetition."""
    rng = np.random.default_rng(3)
    allocation, table = allocation_of(), originals(rng)
    faulty = one_stream_for_two_columns(rng, allocation, table, sound(rng, allocation, table))
    failed = [check.claim for check in judge_release(allocation, table, faulty).failed]
    assert all("retention" in claim for claim in failed)


def test_every_second_release_at_the_stated_smallest_fault_is_noticed() -> None:
    """600 releases; a half is missed by 8 standard deviations (0.16) with probability 1e-15."""
    rng = np.random.default_rng(4)
    allocation, n, noticed = allocation_of(), 2_000, 0
    table, attribute = originals(rng, n), allocation["income"]
    report = judge_release(allocation, table, sound(rng, allocation, table))
    fault = next(e.smallest_fault for e in report.transitions if e.name == "income")
    # P(report = truth) = lambda + (1 - lambda) / r
    kept = float(attribute.exact_retention) + fault / (1 - 1 / attribute.cardinality)
    for _ in range(600):
        faulty = {**table, "income": randomized(rng, table["income"], attribute.cardinality, kept)}
        evidence = judge_release(allocation, table, faulty).transitions[1]
        noticed += not evidence.kept_holds
    assert abs(noticed / 600 - 0.5) < 8 * 0.5 / math.sqrt(600)


def test_batches_give_the_verdict_of_the_whole() -> None:
    rng = np.random.default_rng(5)
    allocation, table = allocation_of(), originals(rng)
    released = sound(rng, allocation, table)
    judge = ReleaseJudge(allocation)
    for part in (slice(0, 1), slice(1, 17_000), slice(17_000, None)):
        judge.add(*({name: column[part] for name, column in side.items()} for side in (table, released)))
    whole = judge_release(allocation, table, released)
    assert judge.report().to_dict() == whole.to_dict()


def test_the_report_is_internal_and_its_error_tells_no_number() -> None:
    rng = np.random.default_rng(6)
    allocation, table = allocation_of(), originals(rng)
    report = judge_release(allocation, table, dict(table))
    document = report.to_dict()
    assert next(iter(document)) == "notice"
    assert document["notice"] == "Computed from the originals: outside the guarantee, do not pass on"
    assert document["releasable"] is False
    assert str(report).startswith(document["notice"])
    json.dumps(document, allow_nan=False)
    with pytest.raises(VerificationError, match="smoker: share of cells") as caught:
        report.require()
    assert not any(character.isdigit() for character in str(caught.value).partition("checks fail:")[2])


def test_the_evidence_carries_retentions_with_their_errors() -> None:
    rng = np.random.default_rng(7)
    allocation, table = allocation_of(), originals(rng)
    report = judge_release(allocation, table, sound(rng, allocation, table))
    for evidence in report.retentions:
        assert evidence.predicted_retention == pytest.approx(allocation.retention(*evidence.attributes))
        if evidence.is_measurable:
            distance = abs(evidence.retention - evidence.predicted_retention)
            assert distance <= 7 * evidence.retention_error  # 1e-11 for a normal
            assert evidence.retention_error < evidence.smallest_fault
    counts = report.transitions[0].counts
    assert counts is not None
    assert np.sum(counts) == N


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


def labelled(allocation: Allocation, table: Mapping[str, Codes]) -> pa.Table:
    columns = {name: decode(codes, allocation[name].domain) for name, codes in table.items()}
    plain = {n: c.cast(pa.string()) if pa.types.is_dictionary(c.type) else c for n, c in columns.items()}
    return pa.table({**plain, "wave": pa.array(np.arange(len(next(iter(table.values())))) % 7)})


@pytest.fixture(scope="module")
def job() -> tuple[Allocation, pa.Table, pa.Table]:
    rng = np.random.default_rng(9)
    allocation, table = allocation_of(), originals(rng)
    return allocation, labelled(allocation, table), labelled(allocation, sound(rng, allocation, table))


Job = tuple[Allocation, pa.Table, pa.Table]


def failed(report: ReleaseReport) -> list[str]:
    return [check.claim for check in report.failed]


@pytest.mark.parametrize("kind", ["pyarrow", "pandas", "polars", "parquet", "csv", "mixed"])
def test_tables_and_files_of_every_kind_are_compared(job: Job, kind: str, tmp_path: Path) -> None:
    allocation, original, released = job
    sides: list[Any] = []
    for place, table in enumerate((original, released)):
        if kind == "pandas":
            sides.append(table.to_pandas())
        elif kind == "polars":
            polars = pytest.importorskip("polars")
            sides.append(polars.from_arrow(table))
        elif kind == "csv" or (kind == "mixed" and place):
            sides.append(tmp_path / f"{place}.csv")
            pyarrow.csv.write_csv(table, sides[-1])
        elif kind == "parquet":
            sides.append(tmp_path / f"{place}.parquet")
            pyarrow.parquet.write_table(table, sides[-1], row_group_size=7_001 + place)
        else:
            sides.append(table)
    report = verify_release(allocation, *sides)
    assert report.holds, str(report)
    reference = verify_release(allocation, original, released)
    assert report.transitions == reference.transitions
    assert report.retentions == reference.retentions


def test_a_changed_public_column_is_convicted(job: Job) -> None:
    allocation, original, released = job
    wave = released["wave"].to_numpy().copy()
    wave[-1] += 1
    changed = released.set_column(released.column_names.index("wave"), "wave", pa.array(wave))
    report = verify_release(allocation, original, changed)
    assert failed(report) == ["public column wave: changed cells"]
    assert report.failed[0].measured == 1


def test_public_cells_that_are_missing_or_not_a_number_on_both_sides_are_equal(job: Job) -> None:
    allocation, original, released = job
    values = pa.array([None, math.nan, 1.5, 0.1] * (N // 4))
    place = original.column_names.index("wave")
    sides = [table.set_column(place, "wave", values) for table in (original, released)]
    assert verify_release(allocation, *sides).holds


@pytest.mark.parametrize(
    ("values", "changed"),
    [
        (pa.array(["a", None, "b"]), pa.array(["a", "", "b"])),
        (pa.array(["a", "b", "c"]).dictionary_encode(), pa.array(["a", "b", "d"])),
        (pa.array(["a", "b", "c"], pa.string_view()), pa.array(["a", "b", "C"], pa.string_view())),
        (pa.array(["a", "b", "c"]), pa.array(["a", "b", "C"], pa.large_string())),
        (pa.array([1, 2, 3]), pa.array(["1", "2", "4"])),
        (pa.array(["0.1", "2", "3"]), pa.array([0.1, 2, 3.0000000000000004])),
        (pa.array([True, False, None]), pa.array([True, False, False])),
        (pa.array([0, 1, 2], pa.date32()), pa.array([0, 1, 3], pa.date32())),
        (pa.array([0, 1, 2], pa.timestamp("us")), pa.array([0, 1, 3], pa.timestamp("us"))),
        (pa.array([[1], [2, 3], []]), pa.array([[1], [2, 3], [4]])),
        (pa.array([b"a", b"b", b"c"]), pa.array([b"a", b"b", b"d"])),
        (pa.array([1.5, 2, 3]).cast(pa.decimal128(5, 2)), pa.array([1.5, 2, 4]).cast(pa.decimal128(5, 2))),
    ],
    ids=lambda values: str(values.type),
)
def test_public_cells_of_every_type_are_compared_by_value(values: pa.Array, changed: pa.Array) -> None:
    assert differing(values, values) == differing(changed, changed) == 0
    assert differing(values, changed) == 1


def test_public_cells_that_cannot_be_read_in_the_others_type_are_all_different() -> None:
    assert differing(pa.array([1, 2]), pa.array(["1", "two"])) == 2


def test_columns_too_many_or_too_few_are_convicted(job: Job) -> None:
    allocation, original, released = job
    report = verify_release(allocation, original, released.drop_columns(["region"]))
    assert failed(report) == ["the release has the allocation's columns and no other"]
    assert "without 'region'" in str(report.failed[0].measured)
    assert any("region x income" in note for note in report.notes)
    more = released.append_column("name", pa.array(["someone"] * N))
    assert failed(verify_release(allocation, original, more)) == [
        "the release has the allocation's columns and no other"
    ]


def test_another_number_of_rows_is_convicted_and_nothing_else_is_judged(job: Job) -> None:
    allocation, original, released = job
    report = verify_release(allocation, original, released.slice(1))
    assert failed(report) == ["the release has every row"]
    assert not report.transitions


def test_a_released_label_outside_the_domain_is_convicted_without_its_value(job: Job) -> None:
    allocation, original, released = job
    region = released["region"].to_pylist()
    region[5] = "canary"
    changed = released.set_column(released.column_names.index("region"), "region", pa.array(region))
    report = verify_release(allocation, original, changed)
    assert failed(report) == ["region: cells outside the declared domain"]
    assert "canary" not in str(report)
    assert "region" not in {evidence.name for evidence in report.transitions}
    other = released.set_column(released.column_names.index("region"), "region", pa.array(np.arange(N)))
    assert failed(verify_release(allocation, original, other)) == [
        "region: cells outside the declared domain"
    ]


def test_an_original_outside_the_domain_is_an_error(job: Job) -> None:
    allocation, original, released = job
    changed = original.set_column(
        original.column_names.index("region"), "region", pa.array(["canary"] * N, pa.string())
    )
    with pytest.raises(DataError, match="region") as caught:
        verify_release(allocation, changed, released)
    assert "canary" not in str(caught.value)


def test_a_shuffled_table_fails_with_the_hint_that_it_must_be_in_the_original_order(job: Job) -> None:
    allocation, original, released = job
    order = np.random.default_rng(10).permutation(N)
    report = verify_release(allocation, original, released.take(order))
    assert any("before any shuffle" in claim for claim in failed(report))
    with pytest.raises(VerificationError, match="before any shuffle"):
        report.require()


def test_a_column_without_budget_may_be_absent_and_is_judged_as_pure_noise_where_it_is_released() -> None:
    rng = np.random.default_rng(11)
    problem = Problem(
        attributes=[
            Attribute("a", categories=3, ordered=True, epsilon=0.0),
            Attribute("b", categories=2, epsilon=1.0),
        ],
        moments=[CrossMoment("a", "b", weight=1.0)],
        total_epsilon=1.0,
    )
    allocation = uniform(problem)
    n = 5_000
    table = {"a": rng.integers(0, 3, n).astype(np.uint8), "b": rng.integers(0, 2, n).astype(np.uint8)}
    released = sound(rng, allocation, table)
    assert judge_release(allocation, table, {"b": released["b"]}).holds
    assert judge_release(allocation, table, released).holds
    assert not judge_release(allocation, table, {**released, "a": table["a"]}).holds
