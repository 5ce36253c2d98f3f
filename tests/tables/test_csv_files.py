"""What is a CSV table and what is none: R14, R28."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from budget_opt.errors import DataError
from budget_opt.tables.csv_files import CsvSource


def read(
    folder: Path, content: bytes, *, name: str = "t.csv", block_bytes: int = 2**16
) -> list[dict[str, str | None]]:
    path = folder / name
    path.write_bytes(content)
    source = CsvSource(path, block_bytes=block_bytes)
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


def test_every_cell_is_text_and_only_an_empty_field_without_quotation_marks_is_missing(
    tmp_path: Path,
) -> None:
    rows = read(tmp_path, b'a,b\n01,NA\n,""\nnan,1e5\n')
    assert rows == [{"a": "01", "b": "NA"}, {"a": None, "b": ""}, {"a": "nan", "b": "1e5"}]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_r28_byte_order_mark_line_ends_and_quoted_line_breaks(tmp_path: Path, end: bytes) -> None:
    content = b"\xef\xbb\xbf" + end.join([b"a,b", b'1,"x' + end + b'""y"', b"2,z"])
    assert read(tmp_path, content) == [{"a": "1", "b": f'x{end.decode()}"y'}, {"a": "2", "b": "z"}]
    assert read(tmp_path, content + end) == read(tmp_path, content)


def test_blank_lines_are_no_records_except_in_a_single_column(tmp_path: Path) -> None:
    assert len(read(tmp_path, b"a,b\n\n1,2\n\n")) == 1
    assert read(tmp_path, b"a\n\n1\n") == [{"a": None}, {"a": "1"}]


def test_a_table_without_records_has_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n")
    assert CsvSource(path).names == ("a", "b")
    assert read(tmp_path, b"a,b\n") == []


@pytest.mark.parametrize("block_bytes", [32, 2**16])
@pytest.mark.parametrize(("bad", "fields"), [(b"CANARY\n", 1), (b"CANARY,2,3\n", 3)])
def test_r28_a_ragged_record_is_named_by_its_number(
    tmp_path: Path, block_bytes: int, bad: bytes, fields: int
) -> None:
    with pytest.raises(DataError, match=f"record 57 .* has {fields} fields, the header has 2") as caught:
        read(tmp_path, b"a,b\n" + b"1,2\n" * 57 + bad + b"1,2\n" * 9, block_bytes=block_bytes)
    assert caught.value.rows == (57,)
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,,b\n1,2,3\n", "column number 2 has no name"),
        (b"a, ,b\n1,2,3\n", "column number 2 has no name"),
        (b"a,b,a\n1,2,3\n", "numbers 1, 3 have names that stand more than once"),
        (b"a,\xff\n1,2\n", "UTF-8"),
        (b"a,b\n1,CANARY\xff\n", "UTF-8"),
        ("a,b\n1,CANARY\n".encode("utf-16"), "is not text in UTF-8"),
        (b'a,b\n1,"CANARY\n3,4\n', "never closed"),
        (b'a\n"CANARY', "never closed"),
        (b'a,b\n1,CANARY"\n', "never closed"),
        (b'a\n"' + b"CANARY" * 50000 + b'"\n', "longer than 65,536 bytes"),
    ],
    ids=lambda item: item[:20] if isinstance(item, str) else "",
)
def test_r14_r28_what_is_not_a_whole_table_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(tmp_path, content)
    assert "t.csv" in str(caught.value)
    assert "CANARY" not in str(caught.value)


def test_bytes_of_a_column_that_is_not_read_may_be_anything(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,\xff\n")
    assert [batch.to_pylist() for batch in CsvSource(path).batches(["a"])] == [[{"a": "1"}]]


def test_r28_a_gzip_file_cut_or_changed_anywhere_is_refused(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,2\n" % i for i in range(99)), mtime=0)
    assert len(read(tmp_path, whole, name="t.csv.gz")) == 99
    for cut in range(len(whole)):
        with pytest.raises(DataError):
            read(tmp_path, whole[:cut], name="t.csv.gz")
    with pytest.raises(DataError):
        read(tmp_path, whole + b"more", name="t.csv.gz")
    refused = 0
    for place in range(10, len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 0x10
        try:
            # the bits that fill the last byte of the stream mean nothing
            assert len(read(tmp_path, bytes(changed), name="t.csv.gz")) == 99
        except DataError:
            refused += 1
    assert refused >= len(whole) - 11


def test_the_share_that_was_read_grows_to_one(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 50000)
    source = CsvSource(path, block_bytes=2**12)
    shares = [source.share() for _ in source.batches(["a"])]
    assert shares == sorted(shares)
    assert shares[0] < 1.0
    assert source.share() == 1.0
