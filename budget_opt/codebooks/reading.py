"""One way in for every kind of codebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

from budget_opt.codebooks.attributes import Released, codebook_of
from budget_opt.codebooks.codebook import Codebook
from budget_opt.codebooks.column import Column
from budget_opt.codebooks.csvw import columns_of_csvw
from budget_opt.codebooks.frictionless import columns_of_frictionless
from budget_opt.codebooks.label_files import SUFFIXES, columns_of_labels
from budget_opt.codebooks.types import columns_of_types
from budget_opt.errors import InputError
from budget_opt.model.documents import read_mapping


def read_codebook(source: Any, *, released: Released = "codes", table: str | None = None) -> Codebook:
    """The attributes that a codebook declares; no value of the table is ever read.

    `source` is the path of an SPSS (.sav, .zsav, .por) or Stata (.dta) file, of which only the labels are
    read; of a Frictionless Table Schema or Data Package; or of CSVW metadata (JSON or YAML). Or it is a data
    frame of pandas or polars, or its schema, of which only types with declared categories count. `released`
    says what the cells of the table hold where a codebook has both: "codes" (the default, as these files
    keep them) or "labels". `table` names the table where a codebook describes several.

    Raises `InputError` for what is no codebook, and where pyreadstat (the extra `codebooks`) is missing.
    """
    if released not in get_args(Released):
        raise InputError(f'released: is {released!r}, must be "codes" or "labels".')
    if not isinstance(source, str | Path):
        return codebook_of(f"types of a {type(source).__name__}", columns_of_types(source), released, ())
    path = Path(source)
    columns = _columns(path, table)
    return codebook_of(str(path), columns, released, _general_notes(columns, released))


def _columns(path: Path, table: str | None) -> list[Column]:
    suffix = path.suffix.lower()
    if suffix in SUFFIXES:
        return columns_of_labels(path)
    if suffix not in (".json", ".yaml", ".yml", ".jsonld"):
        raise InputError(
            f"{path}: is no codebook by its name. Give a file that ends in {', '.join(SUFFIXES)}, or "
            "Frictionless or CSVW metadata in .json or .yaml; a table of values is never read for its domain."
        )
    document = read_mapping(path, InputError)
    if "tables" in document or "tableSchema" in document:
        return columns_of_csvw(document, path, table)
    if "resources" in document or "fields" in document:
        return columns_of_frictionless(document, path, table)
    raise InputError(
        f"{path}: is neither a Frictionless schema (with fields or resources) nor CSVW metadata (with tables "
        "or a tableSchema). Give one of them."
    )


def _general_notes(columns: list[Column], released: Released) -> list[str]:
    """What holds for all columns that have both codes and labels."""
    labelled = [column for column in columns if column.labels]
    if not labelled:
        return []
    if released == "labels":
        return ["the categories are the labels: the table must hold them, letter by letter (else use codes)"]
    notes = ["the categories are the codes, as the table is assumed to hold them (else use labels)"]
    if any(isinstance(code, int) for column in labelled for code in column.codes):
        notes.append("codes are whole numbers: 1 and not 1.0 in a CSV file, an integer type in a data frame")
    return notes
