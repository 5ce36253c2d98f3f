"""Public columns that take part in moments, as channels that change nothing.

Their values are those of the originals, found by reading these once before the release is judged: nothing
declares them. Values that are numbers are their own scores; those of others are nominal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from budget_opt.allocation import Allocation
from budget_opt.errors import DataError, InputError
from budget_opt.model.labels import Label
from budget_opt.model.values import LARGEST_NUMBER
from budget_opt.tables.counting import AnyCodes
from budget_opt.tables.public import without_dictionary
from budget_opt.tables.public_columns import PublicCategories
from budget_opt.tables.source import Source
from budget_opt.verifier.channels import Channel, FloatArray


class PublicValues:
    """The values of these public columns of the originals.

    A column with too many values, or of a type that has none, is none of the `channels`.
    """

    def __init__(self, originals: Source, names: Iterable[str]) -> None:
        self._values = {name: PublicCategories(name) for name in names}
        for batch in originals.batches(list(self._values)) if self._values else ():
            for name in list(self._values):
                try:
                    self._values[name].codes(_as_categories(batch.column(name)))
                except (DataError, InputError):
                    del self._values[name]
        self.channels: Mapping[str, Channel] = {
            name: Channel(name, len(one.sorted()[0]), Fraction(0), _scores(one.sorted()[0]))
            for name, one in self._values.items()
        }
        self._places = {name: one.sorted()[1] for name, one in self._values.items()}

    def codes(self, batch: pa.RecordBatch) -> dict[str, AnyCodes]:
        """The codes of these columns in a batch of the originals; `DataError` for a value that is new."""
        found: dict[str, AnyCodes] = {}
        for name, one in self._values.items():
            numbers, places = one.codes(_as_categories(batch.column(name))), self._places[name]
            if numbers.size and int(numbers.max()) >= places.size:
                raise _changed_meanwhile(name)
            found[name] = places[numbers]
        return found


class PublicRows:
    """The codes of public columns for as many rows of the originals at a time as are asked for, in order."""

    def __init__(self, originals: Source, values: PublicValues) -> None:
        self._values, names = values, list(values.channels)
        self._batches = originals.batches(names) if names else iter(())
        self._rest: pa.RecordBatch | None = None

    @property
    def channels(self) -> Mapping[str, Channel]:
        """The columns, as channels that change nothing."""
        return self._values.channels

    def codes(self, rows: int) -> dict[str, AnyCodes]:
        """Those of the next rows; raises `DataError` where there are no more."""
        parts: dict[str, list[AnyCodes]] = {name: [np.empty(0, dtype=np.uint16)] for name in self.channels}
        while rows and self.channels:
            if self._rest is None or not self._rest.num_rows:
                self._rest = next(self._batches, None)
                if self._rest is None:
                    raise _changed_meanwhile(next(iter(self.channels)))
                continue
            part = self._rest.slice(0, rows)
            self._rest, rows = self._rest.slice(part.num_rows), rows - part.num_rows
            for name, codes in self._values.codes(part).items():
                parts[name].append(codes)
        return {name: np.concatenate(found) for name, found in parts.items()}


def public_in_moments(allocation: Allocation) -> list[str]:
    """The public columns that take part in moments."""
    wanted = {name for moment in allocation.moments for name in moment.attributes}
    return [name for name in allocation.public if name in wanted]


def _changed_meanwhile(name: str) -> DataError:
    return DataError(
        f"public column {name!r}: is not what it was a moment ago; the table was changed while it was read. "
        "Let nobody write into it, and begin again.",
        column=name,
    )


def _as_categories(column: pa.Array) -> pa.Array:
    """Fractions as text, which says what they are."""
    plain = without_dictionary(column)
    return plain.cast(pa.large_string()) if pa.types.is_floating(plain.type) else plain


def _scores(labels: Sequence[Label | None]) -> FloatArray | None:
    """The numbers that the values are, None where one is none."""
    try:
        found = np.array([float(label) for label in labels if label is not None])
    except ValueError:
        return None
    usable = None not in labels and bool(np.all(np.abs(found) <= LARGEST_NUMBER))
    return found if usable else None
