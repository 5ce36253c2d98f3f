"""Keyed mode gives a row its reports wherever, whenever and however often it is drawn: R6, R34."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget_opt.allocation import uniform
from budget_opt.model.attribute import Attribute
from budget_opt.model.moments.moment import CrossMoment
from budget_opt.model.problem import Problem
from budget_opt.randomizer.batches import BatchRandomizer
from budget_opt.randomizer.cell_words import CHUNK_ROWS
from budget_opt.randomizer.drawing import Keyed
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.randomizer.row_names import positions
from tests.randomizer.keyed_cells import attribute, by_name, codes_for, names_of, parts, release_under

KEY = bytes(range(32))
ATTRIBUTES = by_name(
    attribute("a", 2, 0.5),
    attribute("b", 7, 1.0, least_bits=64),
    attribute("c", 300, 3.0, least_bits=128),
    attribute("blind", 5, 0.0),
)
KEYED = Keyed(parts(ATTRIBUTES), release_under(KEY))

ids = st.integers(-(2**63), 2**64 - 1)
cells = st.tuples(ids, st.integers(0, 299))


def drawn(rows: list[tuple[int, int]], keyed: Keyed = KEYED) -> dict[int, tuple[Any, ...]]:
    """Reports and order key of each row, by its id; every attribute has the row's code."""
    names = names_of(*(name for name, _ in rows))
    reports = keyed.reports(codes_for(ATTRIBUTES, [code for _, code in rows]), names)
    columns = [*(column.tolist() for column in reports.values()), keyed.order_keys(names).tolist()]
    return {rows[i][0]: tuple(str(column[i]) for column in columns) for i in range(len(rows))}


@given(st.lists(cells, unique_by=lambda cell: cell[0]), st.randoms(use_true_random=False), st.data())
def test_r34_slices_orders_and_retries_give_every_row_its_reports(
    rows: list[tuple[int, int]], random: Any, data: st.DataObject
) -> None:
    expected = drawn(rows)
    shuffled = random.sample(rows, len(rows))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    parts = [shuffled[a:b] for a, b in itertools.pairwise([0, *cuts, len(rows)])]
    again = [*parts, *random.sample(parts, len(parts))]  # every part twice: a retry
    for part in again:
        for name, reports in drawn(part).items():
            assert reports == expected[name]


@given(st.lists(cells, min_size=1, unique_by=lambda cell: cell[0]), st.data())
def test_r5_r34_a_changed_cell_changes_no_other(rows: list[tuple[int, int]], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    name, code = rows[place]
    changed = [*rows[:place], (name, (code + 1) % 300), *rows[place + 1 :]]
    before, after = drawn(rows), drawn(changed)
    assert {other for other in before if before[other] != after[other]} <= {name}
    assert before[name][-2:] == after[name][-2:]  # the blind report and the order key look at no cell


def test_r34_rows_at_the_edges_of_chunks_are_like_all() -> None:
    """Counts of rows around one and two chunks, against each row of them on its own."""
    one = by_name(attribute("a", 2, 0.5))
    keyed = Keyed(parts(one), release_under(KEY))
    most = 2 * CHUNK_ROWS + 7
    codes, rows = codes_for(one, range(most)), positions(0, most)
    whole = keyed.reports(codes, rows)["a"]
    keys = keyed.order_keys(rows)
    for count in (1, CHUNK_ROWS - 1, CHUNK_ROWS, CHUNK_ROWS + 1, 2 * CHUNK_ROWS):
        part = keyed.reports({"a": codes["a"][:count]}, rows[:count])["a"]
        assert np.array_equal(part, whole[:count])
    for row in (0, 1, CHUNK_ROWS - 1, CHUNK_ROWS, 2 * CHUNK_ROWS - 1, 2 * CHUNK_ROWS, most - 1):
        single = slice(row, row + 1)
        assert keyed.reports({"a": codes["a"][single]}, rows[single])["a"][0] == whole[row]
        assert np.array_equal(keyed.order_keys(rows[single])[0], keys[row])
    assert np.array_equal(keyed.reports({"a": codes["a"][::-2]}, rows[::-2])["a"], whole[::-2])


def test_r34_a_pickled_copy_and_another_reading_of_the_key_draw_the_same() -> None:
    rows = [(i, i * 7) for i in range(500)]
    expected = drawn(rows)
    assert drawn(rows, pickle.loads(pickle.dumps(KEYED))) == expected
    assert drawn(rows, Keyed(parts(ATTRIBUTES), release_under(KEY))) == expected
    assert drawn(rows, Keyed(parts(ATTRIBUTES), release_under(bytes(32)))) != expected


def test_r6_threads_that_share_a_drawing_draw_the_same() -> None:
    """Eight threads over overlapping slices: a buffer or cipher that two share would mix their words."""
    rows, codes = positions(0, 60_000), codes_for(ATTRIBUTES, range(60_000))
    whole = KEYED.reports(codes, rows)

    def differs(start: int) -> bool:
        part = slice(start, start + 30_000)
        reports = KEYED.reports({name: column[part] for name, column in codes.items()}, rows[part])
        return any(not np.array_equal(reports[name], whole[name][part]) for name in whole)

    with ThreadPoolExecutor(8) as pool:
        assert not any(pool.map(differs, range(0, 30_000, 1000)))


@pytest.fixture(scope="module")
def randomizer() -> BatchRandomizer:
    problem = Problem(
        attributes=[Attribute("a", categories=["x", "y", "z"]), Attribute("b", categories=4)],
        moments=[CrossMoment("a", "b")],
        total_epsilon=2.0,
        dropped=["id"],
    )
    schema = pa.schema([("id", pa.int64()), ("a", pa.string()), ("b", pa.int32())])
    return BatchRandomizer(schema, uniform(problem), KeyedRelease("survey"), row_id="id")


@pytest.mark.parametrize("method", [pytest.param("spawn", marks=pytest.mark.slow), "fork"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_r6_r34_other_processes_draw_the_same(method: str, randomizer: BatchRandomizer) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    columns = {
        "id": np.arange(3000) * 17,
        "a": ["x", "y", "z"] * 1000,
        "b": np.arange(3000, dtype=np.int32) % 4,
    }
    batch = pa.record_batch(
        columns, schema=pa.schema([("id", pa.int64()), ("a", pa.string()), ("b", pa.int32())])
    )
    parts = [batch.slice(start, 1000) for start in range(0, 3000, 1000)]
    expected = [randomizer.with_order_keys(part) for part in parts]
    workers = 2 if method == "fork" else 1  # a spawned one loads everything
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context(method)) as pool:
        twice = list(pool.map(randomizer.with_order_keys, [*parts, *parts]))
        elsewhere = pool.submit(os.getpid).result()
    assert all(given.equals(wanted) for given, wanted in zip(twice, [*expected, *expected], strict=True))
    assert elsewhere != os.getpid()
