"""Public columns that take part in moments, as channels that change nothing.

Their values are those of the originals, found by reading these once before the release is judged: nothing
declares them. Values that are numbers are their own scores; those of others are nominal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

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

    `unusable` says why a column is none of the `channels`: too many values, or of a type that has none.
    """

    def __init__(self, originals: Source, names: Iterable[str]) -> None:
        self._values = {name: PublicCategories(name) for name in names}
        self.unusable: dict[str, str] = {}
        for batch in originals.batches(list(self._values)) if self._values else ():
            for name in list(self._values):
                try:
                    self._values[name].codes(_as_categories(batch.column(name)))
                except (DataError, InputError):
                    self.unusable[name] = "it has too many values, or none that can be told apart"
                    del self._values[name]
        self.channels: Mapping[str, Channel] = {
            name: Channel(name, len(one.sorted()[0]), Fraction(0), _scores(one.sorted()[0]))
            for name, one in self._values.items()
        }
        self._places = {name: one.sorted()[1] for name, one in self._values.items()}

    def codes(self, batch: pa.RecordBatch) -> dict[str, AnyCodes]:
        """The codes of these columns in a batch of the originals."""
        return {
            name: self._places[name][one.codes(_as_categories(batch.column(name)))]
            for name, one in self._values.items()
        }


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
