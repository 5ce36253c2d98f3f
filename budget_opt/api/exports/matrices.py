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
from budget_opt.api.exports.released import Released, read_domain, require_small
from budget_opt.api.wording import listed
from budget_opt.mechanisms.doubles import nearest_matrix
from budget_opt.mechanisms.hamming import MatrixSampler
from budget_opt.mechanisms.samplers import other_probabilities, truth_probabilities
from budget_opt.model.attribute import Attribute

_NAMED = 12
"""Categories that a note names one by one."""
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
        if isinstance(one.sampler, MatrixSampler):
            yield f"{one.name}: its matrix was chosen for a known source; another law for every truth"
        if one.is_cluster:
            sign = separator_for(_texts(one)).strip()
            yield f"{one.name} is one variable: its categories are those of the members, with {sign} between"
    for member in _merged(blocks):
        yield (
            f"{member.name} is released in merged categories, {_groups_told(member)}: merge its cells before "
            f'the matrix is applied; an .npz file has how as "{member.name}: declared" and "merged into"'
        )


def _merged(blocks: Sequence[Released]) -> list[Attribute]:
    """The attributes whose declared categories are others than those of the matrix."""
    return [member for one in blocks for member in one.members if member.domain.fine is not None]


def _groups_told(attribute: Attribute) -> str:
    """What every merged category holds: A of A01 and A02; B of B10 and B11."""
    held: dict[str, list[str]] = {}
    for fine, coarse in zip(*_merging(attribute, "missing"), strict=True):
        held.setdefault(coarse, []).append(fine)
    told = [f"{coarse} of {listed(fine, _NAMED)}" for coarse, fine in held.items()]
    more = [f"{len(told) - _NAMED:,} more"] if len(told) > _NAMED else []
    return "; ".join([*told[:_NAMED], *more])


def _merging(attribute: Attribute, missing: str = "") -> tuple[list[str], list[str]]:
    """The declared categories as text, and of each the merged one it goes into."""
    domain = attribute.domain
    labels = as_text(domain.labels, missing)
    return as_text(read_domain(attribute).labels, missing), [labels[code] for code in domain.codes]


def archive(blocks: Sequence[Released]) -> bytes:
    """Arrays for `numpy.load`, without pickle: "attributes", and of each "NAME: matrix", "NAME: categories".

    The kind stands last, as `numpy.load` would take a name that ends in .npy for that of a file. Categories
    are text as in a CSV release, in the declared order of rows and columns. Of a cluster they are joint ones,
    "NAME: members" are the names of its columns, and "NAME: labels" their labels in each joint category. Of
    an attribute, also a member, whose categories are merged, "NAME: declared" are the categories of cells,
    and "NAME: merged into" the released one of each.
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
    for member in _merged(blocks):
        declared, into = _merging(member)
        arrays[f"{member.name}: declared"] = np.array(declared)
        arrays[f"{member.name}: merged into"] = np.array(into)
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
        if isinstance(one.sampler, MatrixSampler):
            for truth, row in zip(labels, one.sampler.matrix.rows, strict=True):
                writer.writerows(
                    (one.name, truth, report, repr(float(share)))
                    for report, share in zip(labels, row, strict=True)
                )
            continue
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
