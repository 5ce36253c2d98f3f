"""The matrices as arrays (.npz) or as one tidy table (.csv), for any other software.

Each entry is the double nearest to the exact fraction, so rows sum to 1 but for the rounding of entries.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence

import numpy as np

from budget_opt.allocation import Allocation
from budget_opt.api.exports.labels import as_text, joint_labels, separator_for
from budget_opt.api.exports.released import Released, require_small
from budget_opt.mechanisms.doubles import nearest_matrix
from budget_opt.mechanisms.samplers import other_probabilities, truth_probabilities

HEADING = ("attribute", "truth", "report", "probability")


def content(_: Allocation, blocks: Sequence[Released], ending: str) -> tuple[bytes, tuple[str, ...]]:
    """The file's bytes by its ending, .npz or .csv, and what to say; see `archive` and `table`."""
    require_small(blocks)
    return archive(blocks) if ending == ".npz" else table(blocks), tuple(_notes(blocks))


def _notes(blocks: Sequence[Released]) -> Iterator[str]:
    yield "rows are the truth, columns the report; the doubles nearest to the exact fractions"
    if any(member.domain.missing is not None for one in blocks for member in one.members):
        yield "the missing category is empty text"
    for one in blocks:
        if one.is_cluster:
            sign = separator_for(_texts(one)).strip()
            yield f"{one.name} is one variable: its categories are those of the members, with {sign} between"


def archive(blocks: Sequence[Released]) -> bytes:
    """Arrays for `numpy.load`, without pickle: "attributes", and of each "NAME: matrix", "NAME: categories".

    The kind stands last, as `numpy.load` would take a name that ends in .npy for that of a file. Categories
    are text as in a CSV release, in the declared order of rows and columns. Of a cluster they are joint ones,
    "NAME: members" are the names of its columns, and "NAME: labels" their labels in each joint category.
    """
    arrays = {"attributes": np.array([one.name for one in blocks])}
    for one in blocks:
        texts = _texts(one)
        arrays[f"{one.name}: matrix"] = nearest_matrix(one.sampler)
        arrays[f"{one.name}: categories"] = np.array(_categories(one))
        if one.is_cluster:
            arrays[f"{one.name}: members"] = np.array(one.block.names)
            places = np.unravel_index(np.arange(one.block.cardinality), one.block.shape)
            columns = [np.array(labels)[place] for labels, place in zip(texts, places, strict=True)]
            arrays[f"{one.name}: labels"] = np.column_stack(columns)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, array in arrays.items():
            with packed.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return buffer.getvalue()


def table(blocks: Sequence[Released]) -> bytes:
    """A line for each block, truth and report; probabilities as shortest round-trip text."""
    page = io.StringIO()
    writer = csv.writer(page, lineterminator="\n")
    writer.writerow(HEADING)
    for one in blocks:
        labels = _categories(one)
        same = [repr(float(probability)) for probability in truth_probabilities(one.sampler)]
        other = [repr(float(probability)) for probability in other_probabilities(one.sampler)]
        for i, truth in enumerate(labels):
            writer.writerows(
                (one.name, truth, report, same[j] if i == j else other[j]) for j, report in enumerate(labels)
            )
    return page.getvalue().encode("utf-8")


def _texts(one: Released) -> list[list[str]]:
    return [as_text(member.domain.labels) for member in one.members]


def _categories(one: Released) -> list[str]:
    texts = _texts(one)
    return joint_labels(texts, separator_for(texts))
