"""The report of one record: its values checked, fresh words drawn, each value randomized (DESIGN 2.8)."""

from __future__ import annotations

import datetime
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import Any

import numpy as np

from budget_opt.errors import DataError, InputError
from budget_opt.mechanisms.background_sampler import blind_counts
from budget_opt.mechanisms.samplers import AnySampler
from budget_opt.model.domain import Label
from budget_opt.randomizer.entropy import fresh_bytes
from budget_opt.randomizer.local.cells import Cells, UnfitCellError
from budget_opt.randomizer.local.sources import Source, terms_from
from budget_opt.randomizer.local.terms import BlockTerms

_DATES = (datetime.date, datetime.time, datetime.timedelta)
_PLAIN = (str, bytes, bool, int, float, Decimal, np.generic, *_DATES, type(None))
"""Types of public values: none has other values inside."""


class _Blind:
    """A report from the background alone (R36), as `kernel.blind_report` of arrays."""

    bits = 64

    def __init__(self, cardinality: int, background: Sequence[int] | None) -> None:
        self._largest = cardinality - 1
        self._count = ((1 << self.bits) + cardinality - 1) // cardinality
        self._ends = None if background is None else tuple(accumulate(blind_counts(background, self.bits)))

    def report(self, code: int, word: int) -> int:
        """The code of the report."""
        del code
        return (
            min(word // self._count, self._largest) if self._ends is None else bisect_right(self._ends, word)
        )


@dataclass(frozen=True)
class _Column:
    """An attribute that is reported."""

    cells: Cells
    labels: tuple[Label | None, ...]


@dataclass(frozen=True)
class _Block:
    """What is randomized as one: an attribute, or the members of a cluster in the order of its joint code."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    kernel: AnySampler | _Blind

    def report(self, codes: Mapping[str, int], word: int) -> dict[str, int]:
        """The codes of the report, by attribute."""
        joint = 0
        for name, r in zip(self.names, self.shape, strict=True):
            joint = joint * r + codes[name]
        joint, reports = self.kernel.report(joint, word), {}
        for name, r in zip(reversed(self.names), reversed(self.shape), strict=True):
            joint, reports[name] = divmod(joint, r)
        return reports


class LocalRandomizer:
    """Randomizes one record at a time where it is collected, so that nobody but the person sees the truth.

    `LocalRandomizer(allocation).report({"smoker": "yes", "age": 41})` takes the values of one record as
    the problem declares them, and gives a report in the same labels: bins as their label, missing as None.
    Each value is randomized with a word of its own, the values of a cluster together with one, drawn from the
    operating system for this report alone; the object holds no random state, so copies, threads and forked
    processes draw independent words.

    Every report of the same person costs `loss` nats again: over many reports the truth shows. Take one
    report a person and keep it, and send the kept one where it is asked for again. Where the problem speaks
    of persons and waves, whoever asks must see to it that nobody gives more reports than it allows.

    `allocation` is an `Allocation`, the path of its file, or the parsed file. This runs where only numpy and
    cryptography are installed; the file is then checked as far as the guarantee rests on it.
    `include_empty` also reports the attributes without a sampler (epsilon 0), as pure noise.

    Raises `AllocationError`, `InputError`, and `VerificationError` for an allocation that overspends.
    """

    def __init__(self, allocation: Source, *, include_empty: bool = False) -> None:
        terms = terms_from(allocation)
        terms.require_kept()
        blocks = [block for block in terms.blocks if block.sampler is not None or include_empty]
        self._blocks = tuple(_block(block) for block in blocks)
        reported = {name for block in blocks for name in block.names}
        self._columns = {
            one.name: _Column(Cells(one.domain), one.domain.labels)
            for one in terms.attributes
            if one.name in reported
        }
        self._public, self._loss = terms.public, terms.loss
        self._required = (*self._columns, *terms.public)
        if not self._required:
            raise InputError(
                "allocation: nothing would be reported, as every attribute has epsilon 0. "
                "Give an attribute a budget, or ask for the empty columns."
            )
        self._known = frozenset(
            (*(attribute.name for attribute in terms.attributes), *terms.public, *terms.dropped)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """What a report holds and a record must: randomized attributes in order, then public columns."""
        return self._required

    @property
    def loss(self) -> float:
        """The privacy loss of one report in nats, rounded up; it adds with every report of a person."""
        return self._loss

    def report(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The report of one record: a value for each of `columns`, in that order.

        `record` has a value for each of `columns`; dropped columns and attributes that are not reported may
        be in it and are not looked at, another name is refused. Public values pass as they are.
        All values are checked before a word is drawn, and all take the same steps to their report. No more
        is claimed about time: Python's dictionaries and integers are not made for it, so whoever can
        measure single operations where the data is collected may learn something there.

        Raises `DataError` that names every attribute which is absent, unknown, of another type or outside
        its domain, and never a value, and `RandomSourceError`; then nothing is reported.
        """
        given = _snapshot(record)
        self._require_names(given)
        codes, reports = self._codes(given), dict[str, int]()
        for block, word in zip(self._blocks, self._words(), strict=True):
            reports |= block.report(codes, word)
        labels: dict[str, Any] = {
            name: column.labels[reports[name]] for name, column in self._columns.items()
        }
        return labels | {name: given[name] for name in self._public}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.columns)}; loss {self.loss:.6g} nats a report)"

    def _words(self) -> list[int]:
        """One word a block, each of bytes of its own."""
        sizes = [block.kernel.bits // 8 for block in self._blocks]
        drawn, words, start = fresh_bytes(sum(sizes)), [], 0
        for size in sizes:
            words.append(int.from_bytes(drawn[start : start + size], "little"))
            start += size
        return words

    def _require_names(self, given: Mapping[Any, Any]) -> None:
        """`DataError` with every declared name that is absent, else with every name that is not declared."""
        faults = {
            name: "absent. Give a value; names must be equal, case and blanks included."
            for name in self._required
            if name not in given
        }
        # where a declared name is absent, values may stand where names should
        if not faults:
            way_out = "neither an attribute nor public or dropped. Leave it out."
            faults = {str(name): way_out for name in given if name not in self._known}
        _require_none(faults)

    def _codes(self, given: Mapping[Any, Any]) -> dict[str, int]:
        """The code of every column's value, by its name; `DataError` with all that have none."""
        faults, codes = {}, {}
        for name, column in self._columns.items():
            try:
                codes[name] = column.cells.code(given[name])
            except UnfitCellError as why:
                faults[name] = f"{why.what}. {why.remedy}"
        for name in self._public:
            if not isinstance(given[name], _PLAIN):
                faults[name] = (
                    "public, and no plain value. Give text, a number, a truth value, a date or None."
                )
        _require_none(faults)
        return codes


def _snapshot(record: Mapping[str, Any]) -> dict[Any, Any]:
    """The record as it is now: what is checked is what is reported."""
    if not isinstance(record, Mapping):
        raise DataError(f"the record: is a {type(record).__name__}, must map names to values.")
    return dict(record)


def _require_none(faults: Mapping[str, str]) -> None:
    if faults:
        lines = "".join(f"\n  {name!r}: {what}" for name, what in faults.items())
        raise DataError(f"the record does not fit the allocation:{lines}", column=next(iter(faults)))


def _block(terms: BlockTerms) -> _Block:
    kernel = _Blind(terms.cardinality, terms.background) if terms.sampler is None else terms.sampler
    return _Block(terms.names, terms.shape, kernel)
