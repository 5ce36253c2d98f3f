"""SPSS and Stata files: the value labels in their headers, read without a single row (pyreadstat)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from budget_opt.codebooks.column import BINS, STATE, TEXT, Column, whole
from budget_opt.errors import InputError
from budget_opt.model.domain import Label

SUFFIXES = (".sav", ".zsav", ".por", ".dta")
UNLABELLED = "no value labels"
_DERIVED = (
    "value labels may have been made from the data, as Stata's encode, SPSS's AUTORECODE and pandas' "
    "to_stata make them: take them for a domain only if they were declared, and say so in the problem's "
    "provenance"
)


def columns_of_labels(path: Path) -> list[Column]:
    """The columns of an SPSS (.sav, .zsav, .por) or Stata (.dta) file; raises `InputError`."""
    header = _header(path)
    return [_column(name, header) for name in header.column_names]


def _header(path: Path) -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise InputError(
            f"{path}: reading labels of SPSS and Stata files needs the package pyreadstat. "
            "Install it with: python -m pip install 'budget-opt[codebooks]'"
        ) from None
    readers: dict[str, Callable[..., Any]] = {".por": pyreadstat.read_por, ".dta": pyreadstat.read_dta}
    suffix = path.suffix.lower()
    # without it the codes that are declared missing are left out of the header
    options = {} if suffix == ".por" else {"user_missing": True}
    try:
        _, header = readers.get(suffix, pyreadstat.read_sav)(str(path), metadataonly=True, **options)
    except _failures(pyreadstat) as failure:
        # the text of an error of decoding would show bytes of the file
        raise InputError(
            f"{path}: cannot be read as an SPSS or Stata file ({type(failure).__name__}). Check the file."
        ) from None
    return header


def _failures(pyreadstat: Any) -> tuple[type[Exception], ...]:
    """The errors of the reader; versions before 1.3 keep one of its own inside."""
    places = (pyreadstat, getattr(pyreadstat, "_readstat_parser", None))
    found = (getattr(place, name, None) for place in places for name in ("ReadstatError", "PyreadstatError"))
    return (OSError, ValueError, *(error for error in found if error is not None))


def _column(name: str, header: Any) -> Column:
    text = header.readstat_variable_types.get(name) == "string"
    stated = header.variable_value_labels.get(name, {})
    ranges = header.missing_ranges.get(name, [])
    # Stata's .a to .z are letters among the labels of a numeric variable
    gone = [code for code in stated if _in_one_of(ranges, code) or (isinstance(code, str) and not text)]
    labels = {_code(code): label for code, label in _sorted(stated) if code not in gone}
    why_not = _why_not(labels, header.variable_measure.get(name))
    if why_not:
        advice = STATE if labels else TEXT if text else BINS
        return Column(name, why_not=why_not, advice=advice)
    unlabelled = [one for one in ranges if not any(_in_one_of([one], code) for code in gone)]
    missing = [*(f"{_shown(code)} {stated[code]!r}" for code in gone), *map(_bounds, unlabelled)]
    return Column(
        name,
        tuple(code for code in labels if code is not None),
        tuple(label.strip() for label in labels.values()),
        ordered=header.variable_measure.get(name) == "ordinal",
        may_be_missing=bool(missing or header.missing_user_values.get(name)),
        missing=tuple(missing),
        notes=(_DERIVED,),
    )


def _sorted(stated: Mapping[Any, str]) -> list[tuple[Any, str]]:
    """Numbers in their order, because it is that of an ordinal variable; text as it is listed."""
    return sorted(stated.items(), key=lambda item: 0.0 if isinstance(item[0], str) else item[0])


def _why_not(labels: Mapping[Label | None, str], measure: str | None) -> str:
    """Why the labels do not make a domain; empty where they do."""
    if not labels:
        return UNLABELLED
    if None in labels:
        return "codes that are not whole numbers"
    if len(labels) < 2:
        return "a label for one value only"
    if measure == "scale":
        return f"measured on a scale, with labels for {len(labels)} values, which may not be all"
    return ""


def _code(code: Any) -> Label | None:
    """A code as it stands in the data, None where it cannot be a label."""
    return code if isinstance(code, str) else whole(code)


def _in_one_of(ranges: list[Mapping[str, Any]], code: Any) -> bool:
    return any(
        one["lo"] <= code <= one["hi"]
        for one in ranges
        if isinstance(one["lo"], str) == isinstance(code, str)
    )


def _shown(code: Any) -> str:
    number = whole(code)
    return str(code if number is None else number)


def _bounds(one: Mapping[str, Any]) -> str:
    low, high = one["lo"], one["hi"]
    if low == high:
        return _shown(low)
    ends = [None if isinstance(end, float) and math.isinf(end) else _shown(end) for end in (low, high)]
    return f"{ends[0] or 'lowest'} to {ends[1] or 'highest'}"
