"""A public joint distribution in a table file: one row a combination of categories, with its count."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from budget_opt.accounting.joint import MOST_CELLS
from budget_opt.allocation.allocation import Allocation
from budget_opt.errors import DataError
from budget_opt.tables.reading import open_file, read_codes
from budget_opt.tables.source import FileSource
from budget_opt.tables.translation import translated


def read_joint(path: str | Path, allocation: Allocation) -> dict[tuple[str, ...], npt.NDArray[np.float64]]:
    """The joint distribution in a .csv or .parquet file, as `bo.meaning` takes it.

    All columns but one are attributes, in labels as they are released (bins as "[18, 30)"), and that one,
    of any name, has counts or shares >= 0. Combinations that are not there have none, those that are there
    more than once are added. Raises `DataError` for other columns, categories or numbers, and where the
    distribution has too many cells.
    """
    table = open_file(path)
    domains = {one.name: one.domain for one in allocation.attributes if one.name in table.names}
    others = [name for name in table.names if name not in domains]
    if public := [name for name in others if name in allocation.public]:
        raise DataError(
            f"{path}: {', '.join(public)} is released as it is, so everybody knows its value: what is "
            "learned beside it is another joint for each value. Give a file for each value, with the rows "
            "that have it and without the column; the largest figures of all are those that count.",
            column=public[0],
        )
    if len(others) != 1 or len(domains) < 2:
        raise DataError(
            f"{path}: has {len(domains)} columns that are attributes and {len(others)} others, must have at "
            "least two attributes and one column of counts. Names must be equal, case and blanks included."
        )
    names = tuple(domains)
    shape = tuple(domain.cardinality for domain in domains.values())
    if math.prod(shape) > MOST_CELLS:
        raise DataError(
            f"{path}: {' x '.join(names)} has {math.prod(shape):,} cells, must have at most {MOST_CELLS:,}. "
            "Leave an attribute out."
        )
    codes = read_codes(path, domains, released=True)
    joint = np.zeros(shape)
    np.add.at(joint, tuple(codes[name] for name in names), _counts(table, others[0]))
    return {names: joint}


def _counts(table: FileSource, name: str) -> npt.NDArray[np.float64]:
    """A column of numbers >= 0."""

    def unreadable(failure: Exception) -> DataError:
        del failure
        return _no_counts(table, name)

    def read() -> npt.NDArray[np.float64]:
        parts = [batch.column(0) for batch in table.batches([name])]
        column = pa.chunked_array(parts or [pa.array([], pa.float64())])
        found: npt.NDArray[np.float64] = np.asarray(pc.cast(column, pa.float64()))
        return found

    numbers = translated(read, unreadable)
    if not (np.isfinite(numbers).all() and (numbers >= 0).all()):
        raise _no_counts(table, name)
    return numbers


def _no_counts(table: FileSource, name: str) -> DataError:
    return DataError(
        f"{table.title}: column {name!r} must hold counts or shares, finite numbers >= 0 in every row. It "
        "is the only one that is no attribute.",
        column=name,
    )
