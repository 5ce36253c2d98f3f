"""The matrices as arrays (.npz) or as one tidy table (.csv), for any other software.

Each entry is the double nearest to the exact fraction, so rows sum to 1 but for the rounding of entries.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.api.exports.labels import as_text
from budget_opt.api.exports.released import Released, require_small
from budget_opt.mechanisms.doubles import nearest_matrix

HEADING = ("attribute", "truth", "report", "probability")


def content(_: Allocation, attributes: Sequence[Released], ending: str) -> tuple[bytes, tuple[str, ...]]:
    """The file's bytes by its ending, .npz or .csv, and what to say; see `archive` and `table`."""
    require_small(attributes)
    made = archive(attributes) if ending == ".npz" else table(attributes)
    notes = ["rows are the truth, columns the report; the doubles nearest to the exact fractions"]
    if any(one.domain.missing is not None for one in attributes):
        notes.append("the missing category is empty text")
    return made, tuple(notes)


def archive(attributes: Sequence[Released]) -> bytes:
    """Arrays for `numpy.load`, without pickle: "attributes", and of each "NAME: matrix", "NAME: categories".

    The kind stands last, as `numpy.load` would take a name that ends in .npy for that of a file. Categories
    are text as in a CSV release, in the declared order of rows and columns.
    """
    arrays = {"attributes": np.array([one.name for one in attributes])}
    for one in attributes:
        arrays[f"{one.name}: matrix"] = nearest_matrix(one.sampler)
        arrays[f"{one.name}: categories"] = np.array(as_text(one.domain.labels))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, array in arrays.items():
            with packed.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return buffer.getvalue()


def table(attributes: Sequence[Released]) -> bytes:
    """A line for each attribute, truth and report; probabilities as shortest round-trip text."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(HEADING)
    for one in attributes:
        labels, sampler = as_text(one.domain.labels), one.sampler
        same, other = repr(float(sampler.truth_probability)), repr(float(sampler.other_probability))
        for i, truth in enumerate(labels):
            writer.writerows(
                (one.name, truth, report, same if i == j else other) for j, report in enumerate(labels)
            )
    return page.getvalue().encode("utf-8")
