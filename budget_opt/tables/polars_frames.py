"""Data frames of polars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa

from budget_opt.model.domain import Domain
from budget_opt.tables.label_types import Labels, type_like
from budget_opt.tables.public import Order


class PolarsFrame:
    """A `polars.DataFrame`."""

    def __init__(self, frame: Any) -> None:
        self._frame, self._polars = frame, nw.get_native_namespace(frame)

    def names(self) -> list[Any]:
        """The names of the columns."""
        return list(self._frame.columns)

    def read(self, name: str) -> pa.Array:
        """One column as Arrow."""
        return self._frame[name].to_arrow()

    def nested(self, name: str) -> str | None:
        """The kind of a nested type, as polars calls it."""
        given = self._frame.schema[name]
        return str(given.base_type()).lower() if given.is_nested() else None

    def rebuilt(self, names: Sequence[str], labels: Mapping[str, Labels], order: Order) -> Any:
        """See `FrameSource.rebuilt`."""
        return self._polars.DataFrame(
            [
                self._label_series(name, labels[name]) if name in labels else self._public_series(name, order)
                for name in names
            ]
        )

    def _label_series(self, name: str, labels: Labels) -> Any:
        target = self._type_like(self._frame.schema[name], labels.domain)
        # all labels first, so that categories stand in the declared order
        return self._polars.Series(name, list(labels.domain.labels), dtype=target).gather(labels.codes)

    def _type_like(self, given: Any, domain: Domain) -> Any:
        """The type of the released labels of a column of type `given`: the law of `label_types`."""
        polars = self._polars
        if domain.kind == "bins" or (domain.kind == "text" and given == polars.Enum):
            return polars.Enum([label for label in domain.labels if label is not None])
        if domain.kind == "text":
            return given if given == polars.Categorical else polars.String
        if domain.kind == "boolean":
            return polars.Boolean
        arrow = polars.Series([], dtype=given).to_arrow().type if given.is_numeric() else pa.null()
        return polars.from_arrow(pa.array([], type=type_like(arrow, domain))).dtype

    def _public_series(self, name: str, order: Order) -> Any:
        polars = self._polars
        values = self._frame[name].gather(order)
        if values.dtype in (polars.String, polars.Binary):
            # polars' views keep all text of a frame this one was cut from, Arrow's plain types do not
            return polars.Series(name, values.to_arrow(), dtype=values.dtype)
        if values.dtype == polars.Categorical:
            return values.cast(polars.String).cast(values.dtype)
        if values.dtype == polars.Enum:
            used = set(values.unique())
            kept = [category for category in values.dtype.categories if category in used]
            return values.cast(polars.String).cast(polars.Enum(kept))
        return values
