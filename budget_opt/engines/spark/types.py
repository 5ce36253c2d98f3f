"""Released columns in Spark's types, which know no dictionaries and no unsigned integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

_NAMES = {
    pa.bool_(): "BooleanType",
    pa.int8(): "ByteType",
    pa.int16(): "ShortType",
    pa.int32(): "IntegerType",
    pa.int64(): "LongType",
    pa.float32(): "FloatType",
    pa.float64(): "DoubleType",
    pa.string(): "StringType",
}


def arrow_type(labels: pa.DataType) -> pa.DataType:
    """The Arrow type in which labels go to Spark: text in any form is plain text, the rest is as it is."""
    return labels if labels in _NAMES else pa.string()


def spark_type(labels: pa.DataType) -> DataType:
    """Spark's type of labels of an `arrow_type`."""
    from pyspark.sql import types

    kind: DataType = getattr(types, _NAMES[labels])()
    return kind
