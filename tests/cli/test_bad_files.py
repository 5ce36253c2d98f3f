"""Bad files end with exit code 2, a message with the way out, and nothing written: R28, R35."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import budget_opt as bo
from budget_opt.cli import main
from tests.cli.killable import Killable, Order

RECORDS = [f"{i % 2},{'abc'[i % 3]}" for i in range(500)]
TEXT = "smoker,region\n" + "\n".join(RECORDS) + "\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an allocation and an empty folder for the release."""
    problem = bo.Problem(
        attributes=[bo.Attribute("smoker", categories=2), bo.Attribute("region", categories=["a", "b", "c"])],
        moments=[bo.CrossMoment("smoker", "region")],
        total_epsilon=2.0,
    )
    bo.uniform(problem).write(tmp_path / "allocation.json")
    (tmp_path / "public").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def whole_parquet() -> bytes:
    rows = [record.split(",") for record in RECORDS]
    table = pa.table({"smoker": [int(row[0]) for row in rows], "region": [row[1] for row in rows]})
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def ragged(text: str) -> str:
    return text.replace("\n1,b\n", "\n1,b,CANARY\n", 1)


BAD: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "truncated Parquet": ("t.parquet", lambda: whole_parquet()[:-20], "is not a whole Parquet file"),
    "text named Parquet": ("t.parquet", lambda: b"CANARY" * 99, "is not a whole Parquet file"),
    "ragged": ("t.csv", lambda: ragged(TEXT).encode(), r"record 1 .* has 3 fields"),
    "quotation mark": ("t.csv", lambda: TEXT.encode() + b'1,"CANARY', "never closed"),
    "not UTF-8": ("t.csv", lambda: TEXT.encode() + b"1,CANARY\xff\n", "UTF-8"),
    "UTF-16": ("t.csv", lambda: (TEXT + "1,CANARY\n").encode("utf-16"), "t.csv: "),
    "truncated gzip": ("t.csv.gz", lambda: b"\x1f\x8b\x08\x00", "not a whole gzip file"),
    "empty": ("t.csv", lambda: b"", "is empty"),
    "faulty last cell": ("t.csv", lambda: TEXT.encode() + b"1,CANARY\n", r"t.csv .*'region'.*row 500"),
    "another ending": ("t.sav", lambda: b"CANARY", "must end in"),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("target", ["public/r.csv", "public/r.parquet", "public/r"])
def test_r28_a_file_that_is_not_a_whole_table_exits_with_2_and_leaves_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], bad: str, target: str
) -> None:
    name, content, message = BAD[bad]
    (place / name).write_bytes(content())
    assert main(["randomize", "allocation.json", name, "-o", target]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "CANARY" not in said
    assert name in said
    assert re.search(message, said)
    assert list((place / "public").iterdir()) == []


def test_r28_byte_order_mark_crlf_and_quoted_line_breaks_are_read(place: Path) -> None:
    lines = TEXT.replace("\n", "\r\n").replace(",a\r", ',"a"\r')
    (place / "t.csv").write_bytes(b"\xef\xbb\xbf" + lines.encode())
    assert main(["randomize", "allocation.json", "t.csv", "-o", "public/r.csv"]) == 0


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="takes a folder that nobody can write to")
@pytest.mark.parametrize("target", ["/proc/r.csv", "/proc/r.parquet", "/proc/r", "/sys/r.csv"])
def test_r28_a_target_that_cannot_be_written_exits_with_2(
    place: Path, capsys: pytest.CaptureFixture[str], target: str
) -> None:
    (place / "t.csv").write_text(TEXT)
    assert main(["randomize", "allocation.json", "t.csv", "-o", target]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"{target}: cannot be written" in said
    assert "See that the folder can be written to" in said


@pytest.mark.parametrize(
    ("room", "row_order", "message"),
    [
        (2000, "shuffle", "the rows cannot wait there until all are randomized (File too large)"),
        (500, "public", "r.csv: cannot be written (File too large)"),
    ],
)
def test_r28_a_file_that_may_not_grow_exits_with_2_and_leaves_nothing(
    killable: Killable, place: Path, room: int, row_order: str, message: str
) -> None:
    (place / "t.csv").write_text("smoker,region\n" + "\n".join(RECORDS * 9) + "\n")
    command = ("randomize", "allocation.json", "t.csv", "-o", "public/r.csv", "--row-order", row_order)
    ended = killable.run(Order(command, str(place), file_bytes=room))
    assert ended.code == 2, ended.said
    assert message in " ".join(ended.said.split())
    assert list((place / "public").iterdir()) == []


FULL = """
import os, subprocess, sys
from budget_opt.cli import main
from budget_opt.randomizer import sorting
sorting.WAITING_BYTES = 1000
for kilobytes, protect in (("12", False), ("36", False), ("1000", True)):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", "public"], check=True)
    if protect:
        subprocess.run(["mount", "-o", "remount,ro", "public"], check=True)
    code = main(["randomize", "allocation.json", "t.csv", "-o", "public/r.csv"])
    print(code, os.listdir("public"), file=sys.stderr)
    subprocess.run(["umount", "public"], check=True)
"""


def _may_mount() -> bool:
    trial = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    try:
        return subprocess.run(trial, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.slow
def test_r28_a_disk_that_is_full_or_read_only_exits_with_2_and_leaves_nothing(
    place: Path, root: Path
) -> None:
    """With room for nothing, with room for the waiting rows but not for the table, and with none to write."""
    if not _may_mount():
        pytest.skip("this system lets nobody mount a file system")
    (place / "t.csv").write_text("smoker,region\n" + "\n".join(RECORDS * 40) + "\n")
    environment = {**os.environ, "PYTHONPATH": str(root)}
    command = ["unshare", "-m", sys.executable, "-c", FULL]
    done = subprocess.run(command, env=environment, cwd=place, capture_output=True, text=True, check=True)
    said, ends = done.stderr.splitlines(), ("No space left on device",) * 2 + ("Read-only file system",)
    answers = [i for i, line in enumerate(said) if line == "2 []"]
    assert len(answers) == 3, done.stderr
    for first, last, end in zip((0, *(i + 1 for i in answers)), answers, ends, strict=False):
        told = " ".join(said[first:last])
        assert end in told
        assert "part" not in told
        assert told.endswith(".")
