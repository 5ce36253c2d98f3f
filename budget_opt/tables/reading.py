"""Any table that is read here, in batches, or as codes of the declared domains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from budget_opt.errors import DataError
from budget_opt.model.domain import Domain
from budget_opt.tables.csv_files import CsvSource
from budget_opt.tables.encoding import Codes, Encoder, code_type
from budget_opt.tables.findings import Findings
from budget_opt.tables.frames import FrameSource
from budget_opt.tables.parquet_files import ParquetSource
from budget_opt.tables.parquet_folders import ParquetFolder
from budget_opt.tables.source import FileSource, Source, require_columns

ENDINGS = (".csv", ".csv.gz", ".parquet")
"""The endings of the names of table files, in any case."""

_OR_A_PATH = f", or the path of a {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]} file."


def open_file(path: str | Path) -> FileSource:
    """The table in a .csv, .csv.gz or .parquet file, or a folder of .parquet files.

    Raises `DataError` for an address, another ending, no such file, or a folder that is not one table.
    """
    if not str(path) or "://" in str(path):
        what = "is an address, and files are read from disks only" if path else "an empty path is no file"
        raise DataError(f"{path}: {what}. Give a table to read.".removeprefix(": "))
    path = Path(path)
    if path.is_dir():
        return ParquetFolder(path)
    if not path.suffix and not path.exists():
        raise DataError(f"{path}: there is no such file or folder. Give a table to read.")
    return ParquetSource(path) if ending(path) == ".parquet" else CsvSource(path)


def open_table(source: Any) -> Source:
    """A path, a pandas or polars data frame, a pyarrow table or record batch, ready to be read."""
    return open_file(source) if isinstance(source, str | Path) else FrameSource(source, _OR_A_PATH)


def open_batches(source: Any) -> Iterator[pa.RecordBatch]:
    """All records with all columns; from a CSV file every column is text, without inference."""
    table = open_table(source)
    return table.batches(table.names)


def read_codes(source: Any, domains: Mapping[str, Domain], *, released: bool = False) -> dict[str, Codes]:
    """The codes of these columns, by name, for all rows; other columns are not looked at.

    `released` tables carry labels (bins as their label's text). Raises `DataError` for absent columns
    and for columns of other types and cells outside the domains, all of them at once.
    """
    table = open_table(source)
    require_columns(list(domains), table)
    encoders = encoders_for(table, domains, released=released)
    findings = Findings()
    parts: dict[str, list[Codes]] = {name: [] for name in domains}
    for first_row, batch in numbered(table.batches(list(domains))):
        for name, codes in encoded(batch, encoders, findings, first_row).items():
            parts[name].append(codes)
    findings.require_none(table.title, place_in(table))
    return {name: joined(parts[name], domain) for name, domain in domains.items()}


def encoders_for(
    table: Source, domains: Mapping[str, Domain], *, released: bool = False
) -> dict[str, Encoder]:
    """The encoder of each of these columns of a table."""
    return {
        name: Encoder(domain, name, released=released, text=table.text) for name, domain in domains.items()
    }


def encoded(
    batch: pa.RecordBatch, encoders: Mapping[str, Encoder], findings: Findings, first_row: int
) -> dict[str, Codes]:
    """The codes of one batch by column; what is wrong with its columns and cells goes to `findings`."""
    codes = {name: coder.blank(batch.num_rows) for name, coder in encoders.items()}
    for name, coder in encoders.items():
        with findings.collecting(name):
            codes[name] = coder.codes(findings, batch.column(name), first_row)
    return codes


def numbered(batches: Iterator[pa.RecordBatch], first_row: int = 0) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Batches with the number of their first row; the first one begins with `first_row`."""
    for batch in batches:
        yield first_row, batch
        first_row += batch.num_rows


def place_in(table: Source) -> Callable[[int], str]:
    """How the rows of a table are told: by their number from 0, in a folder also by file."""
    return table.place if isinstance(table, ParquetFolder) else str


def joined(parts: list[Codes], domain: Domain) -> Codes:
    """The codes of consecutive batches as one array."""
    return np.concatenate([np.empty(0, dtype=code_type(domain.cardinality)), *parts])


def ending(path: Path) -> str:
    """Which of `ENDINGS` the file's name has; `DataError` for another."""
    for candidate in ENDINGS:
        if path.name.lower().endswith(candidate):
            return candidate
    raise DataError(f"{path}: the name must end in {', '.join(ENDINGS)}. Convert or rename the file.")
