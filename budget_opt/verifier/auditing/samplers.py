"""What is audited, behind one call: a table of made-up records goes in, whatever comes back comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Literal, Protocol

import pyarrow as pa

from budget_opt.errors import InputError
from budget_opt.verifier.auditing.words import beginning

_SHOWN = 300
Takes = Literal["pandas", "polars", "pyarrow", "record"]
"""What a callable is given: a table of one of these kinds, or one record as a dictionary at a time."""


class SamplerError(InputError):
    """The audited sampler failed: it raised, took too long, or gave no table of the same rows."""

    subject = "the sampler"


class Sampler(Protocol):
    """One call of the black box."""

    batched: bool
    """Whether it takes many records in one call."""
    in_process: bool
    """Whether it runs in this process, where global seeds can reach it."""

    def __call__(self, records: pa.Table) -> Any:
        """A table, or a list of mappings, with a report for each record. Raises `SamplerError`."""


class TableSampler:
    """A callable that takes a table and returns one with the same rows in the same order."""

    batched = in_process = True

    def __init__(self, function: Callable[[Any], Any], takes: Takes) -> None:
        self._function, self._convert = function, _CONVERSIONS[takes]

    def __call__(self, records: pa.Table) -> Any:
        """What the callable returns for the whole table."""
        return _answer(self._function, self._convert(records))


class RecordSampler:
    """A callable that takes one record as a dictionary and returns its report as one."""

    batched, in_process = False, True

    def __init__(self, function: Callable[[dict[str, Any]], Any]) -> None:
        self._function = function

    def __call__(self, records: pa.Table) -> list[Mapping[str, Any]]:
        """What the callable returns, record by record."""
        return [self._report(record) for record in records.to_pylist()]

    def _report(self, record: dict[str, Any]) -> Mapping[str, Any]:
        report = _answer(self._function, record)
        if not isinstance(report, Mapping):
            raise SamplerError(
                f"the sampler: returned a {type(report).__name__} for one record, must return a dictionary "
                "of names and values."
            )
        return report


def _answer(function: Callable[[Any], Any], given: Any) -> Any:
    try:
        returned = function(given)
    except (Exception, SystemExit) as failure:  # sys.exit is no reason to end the audit's own process
        raise SamplerError(
            f"the sampler: raised {type(failure).__name__}: {_cut(str(failure))} The records are made up "
            "from the declared domains. Does it know these names and categories, and take what `takes` says?"
        ) from failure
    if returned is None:
        raise SamplerError(
            "the sampler: returned nothing. It must return the reports, not change the records in place."
        )
    return returned


def _cut(text: str) -> str:
    shown = beginning(text, _SHOWN)
    return shown if shown.endswith(".") else f"{shown}."


def _pandas(records: pa.Table) -> Any:
    _module("pandas")
    return records.to_pandas()


def _polars(records: pa.Table) -> Any:
    return _module("polars").from_arrow(records)


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise InputError(
            f"takes: is {name!r}, which is not installed. Install it, or take another kind."
        ) from None


_CONVERSIONS: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": lambda records: records,
}
