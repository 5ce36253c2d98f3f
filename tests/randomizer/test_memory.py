"""A release takes the same memory whatever the number of rows: R26."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.release import LARGEST_GROWTH_MB, LARGEST_MB, ORDERS, Order, measured


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the tables of both orders, which are made once."""
    return tmp_path_factory.mktemp("tables")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks the system for the peak of memory")
@pytest.mark.parametrize("row_order", ORDERS)
def test_r26_memory_does_not_grow_with_the_rows(tables: Path, row_order: Order) -> None:
    small, large = (measured(tables, rows, row_order) for rows in (1_000_000, 4_000_000))
    assert large.peak_mb <= small.peak_mb + LARGEST_GROWTH_MB
    assert large.peak_mb <= LARGEST_MB
