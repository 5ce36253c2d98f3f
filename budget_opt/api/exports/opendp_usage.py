"""How an OpenDP export is used, as code that stands in the file and runs."""

from __future__ import annotations

USAGE = (
    "from bisect import bisect_right",
    "from math import inf, isfinite",
    "from pathlib import Path",
    "import opendp.prelude as dp",
    'dp.enable_features("contrib")',
    'mechanisms = dp.deserialize(Path("FILE").read_text(encoding="utf-8"))["attributes"]',
    "def reader(column):",
    '    """From a cell, None or NaN where missing, to its code; KeyError for what is no category."""',
    '    declared = column.get("declared", column["categories"])',
    '    codes = column.get("codes", range(len(declared)))',
    "    code = dict(zip(declared, codes))",
    '    edges = column.get("bins", [None])',
    "    low, high = -inf if edges[0] is None else edges[0], inf if edges[-1] is None else edges[-1]",
    "    def read(cell):",
    "        cell = None if cell != cell else cell",
    '        if "bins" in column and not isinstance(cell, (str, bool, type(None))):',
    "            if isfinite(float(cell)) and low <= float(cell) <= high:",
    "                return codes[bisect_right(edges[1:-1], float(cell))]",
    "        elif cell in code:",
    "            return code[cell]",
    '        elif cell is not None and "other" in column:',
    '            return code[column["other"]]',
    """        raise KeyError(f"{column['name']}: not a declared category")""",
    "    return read",
    "def randomizer(one):",
    '    """From a cell to its report; for a cluster from the members\' cells to their reports."""',
    '    columns, place = one.get("members", [one]), {value: i for i, value in enumerate(one["values"])}',
    "    readers = [reader(column) for column in columns]",
    "    def randomized(*cells):",
    "        joint, reports = 0, []",
    "        for read, column, cell in zip(readers, columns, cells, strict=True):",
    '            joint = joint * len(column["categories"]) + read(cell)',
    '        joint = place[one["mechanism"](one["values"][joint])]',
    "        for column in reversed(columns):",
    '            joint, code = divmod(joint, len(column["categories"]))',
    '            reports.insert(0, column["categories"][code])',
    '        return tuple(reports) if "members" in one else reports[0]',
    "    return randomized",
    'randomizers = {one["name"]: randomizer(one) for one in mechanisms}',
)
"""How to use the file, as code that runs: what becomes of a cell is what `LocalRandomizer` makes of it.

OpenDP itself reports a uniform draw for a cell that is no category, in silence; `other` is the declared
category that takes such cells, but for those that are missing. A `KeyError` never shows the cell.
"""
