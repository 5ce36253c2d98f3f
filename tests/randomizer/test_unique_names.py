"""Every row has a name of its own, or the release is refused: in flat memory, and without an id told."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.errors import DataError
from budget_opt.randomizer import repeated_names
from budget_opt.randomizer.repeated_names import NamedRows
from budget_opt.randomizer.row_names import RowIds, RowNames
from budget_opt.randomizer.unique_names import require_unique
from budget_opt.tables.findings import Findings
from tests.randomizer.keyed_cells import names_of, release_under

IDS = RowIds(release_under(bytes(range(32))), "person")


def in_parts(names: RowNames, size: int) -> tuple[NamedRows, Counter[str]]:
    """The names in batches, and how often they are read."""
    read: Counter[str] = Counter()

    def rows() -> Iterator[tuple[int, RowNames]]:
        read["begun"] += 1
        for start in range(0, max(1, len(names)), size):
            yield start, names[start : start + size]
        read["ended"] += 1

    return rows, read


def shared_rows(values: list[int]) -> list[int]:
    times = Counter(values)
    return [row for row, value in enumerate(values) if times[value] > 1]


some_ids = (
    st.integers(-3, 3) | st.sampled_from([2**63, 2**64 - 1, 2**64 - 2]) | st.integers(-(2**63), 2**64 - 1)
)


@given(st.lists(some_ids, max_size=40), st.integers(1, 9), st.integers(2, 20))
def test_rows_that_share_an_id_are_counted_and_the_first_five_are_told(
    values: list[int], size: int, room: int
) -> None:
    rows, _ = in_parts(names_of(*values), size)
    shared = shared_rows(values)
    if not shared:
        require_unique(rows, "person", room=room)
        return
    with pytest.raises(DataError) as told:
        require_unique(rows, "person", room=room)
    assert told.value.column == "person"
    assert told.value.count == len(shared)
    assert told.value.rows == tuple(shared[:5])


@given(st.lists(st.text(max_size=3), max_size=30), st.integers(2, 9))
def test_texts_that_stand_twice_are_found_as_well(texts: list[str], room: int) -> None:
    names = IDS.names(Findings(), pa.array(texts, pa.string()), 0)
    rows, _ = in_parts(names, 7)
    if len(set(texts)) == len(texts):
        require_unique(rows, "person", room=room)
    else:
        with pytest.raises(DataError, match="share an id"):
            require_unique(rows, "person", room=room)


def test_different_names_that_have_one_mark_are_no_duplicates() -> None:
    sign = 0x9E3779B97F4A7C15
    values = [5, -(2**63) + 7, 2**63 + 7 + sign - 2**64, 6, 4]
    marks = repeated_names._marks(names_of(*values))
    assert marks[1] == marks[2]
    rows, read = in_parts(names_of(*values), 2)
    require_unique(rows, "person")
    assert read["ended"] == 2  # the marks, and the names of the two
    with pytest.raises(DataError, match=r"2 of them share an id with another \(rows 0, 5; "):
        require_unique(in_parts(names_of(*values, 5), 2)[0], "person")


def test_ascending_ids_are_read_once_and_others_a_part_of_the_range_at_a_time() -> None:
    rows, read = in_parts(names_of(*range(0, 3000, 3)), 100)
    require_unique(rows, "person", room=10)
    assert read == {"begun": 1, "ended": 1}
    mixed = np.random.default_rng(1).permutation(1000)
    rows, read = in_parts(names_of(*mixed.tolist()), 100)
    require_unique(rows, "person", room=1001)
    assert read == {"begun": 2, "ended": 1}
    rows, read = in_parts(names_of(*mixed.tolist()), 100)
    require_unique(rows, "person", room=100)
    assert 10 <= read["ended"] <= 20


def test_memory_does_not_grow_with_the_rows() -> None:
    names = names_of(*range(1000))

    def rows() -> Iterator[tuple[int, RowNames]]:
        for part in range(300):
            part_names = names.copy()
            part_names[:, 1] = (part * 7919) % 300
            yield 1000 * part, part_names

    tracemalloc.start()
    require_unique(rows, "person", room=2**14)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20  # 128 KiB of marks; all of them would take 2.4 MB


def test_a_column_of_few_values_is_refused_in_flat_memory_and_without_looping_over_rows() -> None:
    names = names_of(*([1, 2, 3, 4] * 250))
    rows, _ = in_parts(np.tile(names, (200, 1)), 10_000)
    with pytest.raises(DataError, match=r"200000 of them .*rows 0, 1, 2, 3, 4, \.\.\.;"):
        require_unique(rows, "person", room=100)


def test_where_too_many_stand_twice_the_count_is_said_to_be_a_lower_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeated_names, "SUSPECTS", 10)
    rows, _ = in_parts(names_of(*list(range(50)) * 2), 7)
    with pytest.raises(DataError, match="at least 20 of them") as told:
        require_unique(rows, "person", room=16)
    assert told.value.count == 20


def test_r35_the_message_has_no_id_in_it() -> None:
    names = IDS.names(Findings(), pa.array(["CANARY", "b", "CANARY"]), 0)
    with pytest.raises(DataError, match="share an id") as told:
        require_unique(in_parts(names, 2)[0], "person")
    assert "CANARY" not in str(told.value)
    assert "equal reports" in str(told.value)
