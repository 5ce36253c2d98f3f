"""Results that are tables as well: rows for people, pyarrow, pandas and files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from budget_opt.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


class Rows:
    """A result with one row an item; every row has the same columns, and None where nothing is known."""

    def rows(self) -> list[dict[str, Any]]:
        """The rows as plain dictionaries, columns in order."""
        raise NotImplementedError

    def to_arrow(self) -> pa.Table:
        """The rows as a pyarrow table."""
        import pyarrow as pa

        return pa.Table.from_pylist(self.rows())

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame; `InputError` where pandas is not installed."""
        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            raise InputError(
                "to_pandas: pandas is not installed. Install it with: python -m pip install pandas, "
                "or use rows() or to_arrow()."
            ) from None

    def write(self, path: str | Path) -> None:
        """Write the rows as .csv or .json, whole or not at all; raises `InputError` for another ending."""
        from budget_opt.model.arguments import require_path
        from budget_opt.model.documents import write_text

        path = require_path(path, "path")
        kinds = {".csv": as_csv, ".json": as_json}
        if path.suffix.lower() not in kinds:
            raise InputError(f"{path}: must end in .csv or .json. Choose one of them.")
        write_text(kinds[path.suffix.lower()](self.rows()), path)


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV with a heading; None is an empty cell, numbers are shortest round-trip text.

    Labels are written as they were declared, so that they can be read back. A spreadsheet takes one that
    begins with =, +, - or @ for a formula: import such a file with every column as text.
    """
    page = io.StringIO()
    writer = csv.DictWriter(page, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return page.getvalue()


def as_json(rows: list[dict[str, Any]]) -> str:
    """The rows as a strict JSON list."""
    return json.dumps(rows, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
