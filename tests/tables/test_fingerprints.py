"""The same people in two tables are noticed by keyed marks, and independent samples are not taken for them.

False alarms: one in 10^9 for records and runs, one in 256 a column for equal tables, which is why the tables
that must not be taken for one another differ in their number of rows.
"""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

import budget_opt as bo
from budget_opt.tables.encoding import Codes
from budget_opt.tables.fingerprints import FALSE_ALARM, Fingerprint, Fingerprinter, _fewest

ROWS = 4000
SAME, RECORDS, RUNS = (
    "are the same table as",
    "share most records with",
    "share most rows, in the same order, with",
)
WIDE, NARROW, SINGLE = (4,) * 12, (2, 5, 4), (5,)
Table = dict[str, Codes]


def drawn(widths: tuple[int, ...], seed: int, rows: int = ROWS) -> Table:
    random = np.random.default_rng(seed)
    return {f"c{i}": random.integers(0, r, rows).astype(np.uint8) for i, r in enumerate(widths)}


def marks(
    table: Table, widths: tuple[int, ...], batch: int = ROWS, key: bytes = b"key", **labels: list[str]
) -> Fingerprint:
    domains = {
        name: bo.Attribute(name, categories=labels.get(name, [str(i) for i in range(width)])).domain
        for name, width in zip(table, widths, strict=True)
    }
    maker = Fingerprinter(domains, hashlib.blake2b(key=key, digest_size=32).copy)
    for start in range(0, len(next(iter(table.values()))), batch):
        maker.add({name: codes[start : start + batch] for name, codes in table.items()})
    return maker.fingerprint()


def in_order(table: Table, order: np.ndarray) -> Table:
    return {name: codes[order] for name, codes in table.items()}


def with_rows(table: Table, more: Table) -> Table:
    return {name: np.concatenate([codes, more[name]]) for name, codes in table.items()}


@pytest.mark.parametrize("batch", [1, 17, 63, 64, 65, 1000])
def test_marks_do_not_depend_on_the_batches(batch: int) -> None:
    table = drawn(NARROW, 1, 500)
    assert marks(table, NARROW, batch) == marks(table, NARROW)
    assert Fingerprint.from_text(marks(table, NARROW, batch).text) == marks(table, NARROW)


@pytest.mark.parametrize("widths", [WIDE, NARROW, SINGLE])
def test_r22_the_same_table_in_another_row_order_and_under_other_names_is_noticed(
    widths: tuple[int, ...],
) -> None:
    table, order = drawn(widths, 2), np.random.default_rng(3).permutation(ROWS)
    first = marks(table, widths)
    assert first.likeness(marks(in_order(table, order), widths)) == SAME
    renamed = {f"renamed {name}": codes for name, codes in table.items()}
    assert first.likeness(marks(renamed, widths)) == SAME


def test_r22_other_category_orders_and_labels_are_noticed() -> None:
    table, first = drawn(NARROW, 2), marks(drawn(NARROW, 2), NARROW)
    turned = {**table, "c1": (4 - table["c1"]).astype(np.uint8)}
    assert first.likeness(marks(turned, NARROW, c1=["4", "3", "2", "1", "0"])) == SAME
    assert first.likeness(marks(table, NARROW, c1=["a", "b", "c", "d", "e"])) == SAME


def test_the_same_table_with_fewer_columns_is_noticed() -> None:
    table = drawn(WIDE, 2)
    part = {name: table[name] for name in ("c3", "c1")}
    assert marks(table, WIDE).likeness(marks(part, (4, 4))) == SAME


@pytest.mark.parametrize(("widths", "likeness"), [(WIDE, RECORDS), (NARROW, RUNS), (SINGLE, RUNS)])
def test_r22_most_of_a_table_with_rows_added_is_noticed(widths: tuple[int, ...], likeness: str) -> None:
    table, more = drawn(widths, 4), drawn(widths, 5, ROWS // 4)
    for grown in (with_rows(table, more), with_rows(more, table)):
        assert marks(table, widths).likeness(marks(grown, widths)) == likeness
        assert marks(grown, widths).likeness(marks(table, widths)) == likeness


def test_r22_records_are_noticed_in_any_order_with_rows_added() -> None:
    table, more = drawn(WIDE, 6), drawn(WIDE, 7, ROWS // 4)
    order = np.random.default_rng(8).permutation(ROWS + ROWS // 4)
    assert marks(table, WIDE).likeness(marks(in_order(with_rows(table, more), order), WIDE)) == RECORDS


@pytest.mark.parametrize("widths", [WIDE, (3,) * 8, NARROW, SINGLE])
def test_independent_samples_of_one_population_are_not_taken_for_the_same(widths: tuple[int, ...]) -> None:
    for seed in range(3):
        one, other = drawn(widths, 10 + seed), drawn(widths, 20 + seed, ROWS - 1)
        assert marks(one, widths).likeness(marks(other, widths)) is None


@pytest.mark.parametrize("widths", [SINGLE, NARROW])
def test_sorted_tables_are_not_taken_for_the_same(widths: tuple[int, ...]) -> None:
    def ordered(table: Table) -> Table:
        return in_order(table, np.lexsort(tuple(table.values())))

    one, other = ordered(drawn(widths, 30)), ordered(drawn(widths, 31, ROWS - 1))
    assert marks(one, widths).likeness(marks(other, widths)) is None


def test_marks_under_another_key_say_nothing() -> None:
    table = drawn(WIDE, 32)
    assert marks(table, WIDE).likeness(marks(table, WIDE, key=b"other")) is None


def test_r35_marks_are_a_byte_a_column_and_two_bits_a_sampled_row() -> None:
    found = marks(drawn(WIDE, 33), WIDE)
    assert len(found.columns) == len(WIDE)
    assert all(0 <= mark < 256 for mark in found.columns)
    assert len(found.records) == len(found.runs) == 512
    assert set(found.records) | set(found.runs) <= set("0123")


def test_tables_of_other_lengths_are_not_equal_though_their_bytes_are() -> None:
    one, other = (Fingerprint(rows, (3, 3, 200), "0" * 512, "0" * 512) for rows in (100, 101))
    assert one.likeness(one) == SAME
    assert one.likeness(other) is None


def test_a_sampled_row_that_only_one_table_has_counts_against_their_likeness() -> None:
    def with_records(records: str) -> Fingerprint:
        return Fingerprint(len(records), (1,), records.ljust(512, "0"), "0" * 512)

    assert with_records("123" * 20).likeness(with_records("123" * 20 + "0")) == RECORDS
    assert with_records("123" * 20).likeness(with_records("123" * 60)) is None
    assert with_records("123" * 9).likeness(with_records("123" * 9 + "0")) is None  # too few to tell


def test_so_few_are_equal_by_chance_as_the_binomial_tail_of_scipy_says() -> None:
    from scipy.stats import binom

    chance = 1 / 3 + 2 / 3 / (2 * np.e - 1)
    for trials in (0, 1, 28, 29, 100, 511, 512):
        fewest = _fewest(trials)
        assert fewest > trials or binom.sf(fewest - 1, trials, chance) <= FALSE_ALARM
        assert binom.sf(fewest - 2, trials, chance) > FALSE_ALARM
    assert _fewest(20) == 21  # too few to tell
