"""A folder of Parquet files is one table, or is refused with the reason: R14, R28."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import budget_opt as bo
from budget_opt.errors import DataError, InputError
from budget_opt.model.domain import Domain
from budget_opt.randomizer.files import FileOptions, randomize_file
from budget_opt.tables.parquet_folders import ParquetFolder
from budget_opt.tables.reading import open_batches, open_file, read_codes


def write(folder: Path, name: str, values: Any, column: str = "a") -> None:
    folder.mkdir(exist_ok=True)
    parquet.write_table(pa.table({column: values}), folder / name)


def values(folder: Path) -> list[Any]:
    return [row["a"] for batch in open_batches(folder) for row in batch.to_pylist()]


def test_the_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write(folder, "part-10.parquet", [4, 5])
    write(folder, "part-02.PARQUET", [3])
    write(folder, "a.parquet", [1, 2])
    write(folder, "empty.parquet", pa.array([], pa.int64()))
    for ignored in ("_SUCCESS", "_metadata.parquet", ".a.parquet.crc", ".hidden.parquet", "notes.txt"):
        (folder / ignored).write_bytes(b"no Parquet")
    assert values(folder) == [1, 2, 3, 4, 5]
    assert open_file(folder).names == ("a",)
    assert open_file(folder).title == str(folder)


def test_the_share_that_was_read_grows_to_one(tmp_path: Path) -> None:
    for i in range(4):
        write(tmp_path / "t", f"{i}.parquet", [1] * 10)
    source = open_file(tmp_path / "t")
    shares = [source.share() for _ in source.batches(["a"])]
    assert shares == sorted(set(shares))
    assert source.share() == 1.0


def refuse(folder: Path, message: str) -> str:
    with pytest.raises(DataError, match=message) as caught:
        values(folder)
    assert str(folder) in str(caught.value)
    return str(caught.value)


def test_r28_what_is_not_one_table_is_refused_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    refuse(folder, "is a folder without .parquet files")
    (folder / "_SUCCESS").touch()
    refuse(folder, "is a folder without .parquet files. Give")
    (folder / "a.csv").touch()
    refuse(folder, r"without .parquet files \(it has 1 .csv file: give it\)")
    (folder / "b.csv.gz").touch()
    refuse(folder, r"without .parquet files \(it has 2 .csv files: give one of them\)")
    write(folder, "a.parquet", [1])
    (folder / "city=CANARY").mkdir()
    assert "CANARY" not in refuse(folder, "folders inside .perhaps column=value.*one folder")
    (folder / "city=CANARY").rmdir()
    (folder / ".hidden").mkdir()
    (folder / "_temporary").mkdir()
    assert values(folder) == [1]


@pytest.mark.parametrize(
    ("odd", "column", "difference"),
    [(["x"], "a", "column number 1"), ([1.0], "a", "column number 1"), ([1], "CANARY", "column number 1")],
)
def test_r28_a_file_that_is_not_like_the_first_is_named(
    tmp_path: Path, odd: list[Any], column: str, difference: str
) -> None:
    folder = tmp_path / "t"
    write(folder, "a.parquet", [1])
    write(folder, "b.parquet", [2])
    write(folder, "odd.parquet", odd, column)
    said = refuse(folder, rf"odd.parquet: has other columns, .*a.parquet \({difference}\)")
    assert "CANARY" not in said
    parquet.write_table(pa.table({"a": [1], "b": [2]}), folder / "odd.parquet")
    refuse(folder, "2 columns instead of 1")


def test_dictionaries_of_other_widths_are_the_same_column(tmp_path: Path) -> None:
    labels = pa.array(["x", "y"])
    for name, index in (("a", pa.int8()), ("b", pa.int32())):
        write(
            tmp_path / "t", f"{name}.parquet", pa.DictionaryArray.from_arrays(pa.array([1, 0], index), labels)
        )
    write(tmp_path / "t", "c.parquet", labels)
    codes = read_codes(tmp_path / "t", {"a": Domain("text", ("x", "y"))})
    assert codes["a"].tolist() == [1, 0, 1, 0, 0, 1]


def test_r28_a_broken_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write(folder, "a.parquet", [1])
    write(folder, "b.parquet", [2])
    whole = (folder / "b.parquet").read_bytes()
    for broken in (b"", whole[:-9], whole[:40]):
        (folder / "b.parquet").write_bytes(broken)
        refuse(folder, "b.parquet: is not a whole Parquet file")


def test_r10_a_faulty_cell_is_told_by_its_row_in_the_table_and_in_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write(folder, "a.parquet", [1, 2, 1])
    write(folder, "b.parquet", [])
    write(folder, "c.parquet", [2, 31415926])
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), folder / "b.parquet")
    with pytest.raises(DataError, match=r"row 4 \(row 1 of c.parquet\)") as caught:
        read_codes(folder, {"a": Domain("integer", (1, 2))})
    assert str(folder) in str(caught.value)
    assert caught.value.rows == (4,)
    assert "31415926" not in str(caught.value)


@pytest.mark.parametrize("skip", range(8))
def test_rows_are_skipped_across_files(tmp_path: Path, skip: int) -> None:
    for name, numbers in (("a", [0, 1]), ("b", []), ("c", [2, 3, 4]), ("d", [5])):
        write(tmp_path / "t", f"{name}.parquet", pa.array(numbers, pa.int64()))
    source = ParquetFolder(tmp_path / "t")
    rows = [row["a"] for batch in source.batches(["a"], skip) for row in batch.to_pylist()]
    assert rows == list(range(6))[skip:]


@pytest.fixture
def halves() -> bo.Allocation:
    attributes = [bo.Attribute("a", categories=3), bo.Attribute("b", categories=["x", "y"])]
    return bo.uniform(
        bo.Problem(attributes=attributes, moments=[bo.CrossMoment("a", "b")], total_epsilon=9.0)
    )


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        random = np.random.default_rng(1)
        for part in "ab":
            columns = {"a": random.integers(0, 3, 500), "b": np.array(["x", "y"])[random.integers(0, 2, 500)]}
            parquet.write_table(pa.table(columns), folder / f"{part}.parquet")
        return folder

    return make


def test_a_folder_is_released_into_a_folder_that_is_verified_and_estimated(
    tmp_path: Path, made: Callable[[str], Path], halves: bo.Allocation
) -> None:
    original, target = made("t"), tmp_path / "released"
    release = bo.randomize_file(original, halves, target, FileOptions(row_order="public"))
    assert (release.table, release.rows) == (target, 1000)
    assert [path.name for path in target.iterdir()] == ["part-00000.parquet"]
    assert bo.verify_release(halves, original=original, released=target).holds
    table = parquet.read_table(target / "part-00000.parquet")
    of_folder, of_table = (bo.estimate.moment(kept, halves, "a", "b") for kept in (target, table))
    assert of_folder.to_dict() == of_table.to_dict()


def test_a_release_never_lands_in_the_folder_of_the_original(
    made: Callable[[str], Path], halves: bo.Allocation
) -> None:
    original = made("t")
    for target in (original / "r.parquet", original / "r", original):
        with pytest.raises(InputError, match=r"folder of the original|the original itself"):
            randomize_file(original, halves, target)
    assert len(list(original.iterdir())) == 2
