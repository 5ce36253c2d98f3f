"""A release of a Spark DataFrame, cell for cell the one that a single machine makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from budget_opt.allocation import Allocation
from budget_opt.api.arguments import require
from budget_opt.api.releasing.releasing import warn_where_outside
from budget_opt.engines.batch_tasks import CheckTask, ReleaseTask, positional
from budget_opt.engines.spark.checking import (
    not_evaluated,
    require_dataframe,
    require_few_rows,
    require_sound_rows,
)
from budget_opt.engines.spark.runtime import require_pyspark
from budget_opt.engines.spark.types import arrow_type, spark_type
from budget_opt.errors import DataError
from budget_opt.model.moments.moment import Unit
from budget_opt.randomizer.batches import BatchRandomizer
from budget_opt.randomizer.keyed_release import KeyedRelease
from budget_opt.randomizer.persons import require_person_column
from budget_opt.randomizer.release import row_order_of
from budget_opt.tables.source import TABLE, require_names
from budget_opt.tables.translation import translated
from budget_opt.verifier.static import verify_privacy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField

_DEFAULT_ID = "id"


def randomize(
    dataframe: DataFrame,
    allocation: Allocation,
    release: KeyedRelease,
    row_id: str = _DEFAULT_ID,
    *,
    row_order: Literal["shuffle", "public"] | None = None,
) -> DataFrame:
    """The release of a DataFrame as another one: the same cells as on one machine, on any number of them.

    Equal to `bo.randomize(table, allocation, release=release, row_id=row_id)`: the report of a cell depends
    on the release's key, the row's id and the cell alone. So a task that is tried again or run twice, and a
    DataFrame that is computed twice, give the same reports, and nobody gets a second noisy copy.

    `row_id` is a column of integers or text that names every row; dropped, or public with a reason. It must
    be in the data: an id that Spark makes while it computes is another one the next time. Columns come in the
    table's order: text and bins as strings, integers in the column's type or the next that holds the declared
    categories, booleans, public columns as they are. With `row_order` (else the allocation's) "shuffle" rows
    stand in the order of the release on one machine, which Spark keeps when they are collected or written.
    With "public" they stand as in `dataframe`, as far as Spark keeps an order: within a partition, and for
    partitions that follow each other as in a file; after a join or groupBy there is none to keep.

    All rows are looked at in one Spark job before this returns, in two where the unit is a person. The
    result is computed when it is used, every time anew from the source, which must not change in between: a
    changed cell is released as in a further wave, and a cell outside its domain ends that computation.

    The workers get keys that are derived from the release's: who has one of these and the release can undo
    it. On a network that others see, set spark.authenticate and spark.network.crypto.enabled; on disks that
    others read, spark.io.encryption.enabled. Spark's shuffle files hold released rows and order keys only.
    budget_opt must be installed on the workers, which on this machine run the `python3` of the PATH unless
    PYSPARK_PYTHON names another when the session begins (`local_session` sees to that). What Spark itself
    logs of errors in `dataframe`'s own plan, which may quote cells, is as it is without us.

    Raises `InputError` (no pyspark, no DataFrame of Spark >= 4.0, `row_order`), `DataError` (columns; cells
    outside their domains; ids that are missing or stand twice; persons with more rows than the problem
    allows: columns and counts, never a value), and `VerificationError` for an allocation that overspends.
    Warns where the allocation itself was made from private data without a budget.
    """
    require_pyspark()
    require(allocation, Allocation, "allocation", "Read one from a file with Allocation.read(path).")
    require(release, KeyedRelease, "release", "Make one: KeyedRelease(data, number), or read its key file.")
    require_dataframe(dataframe)
    verify_privacy(allocation).require()
    warn_where_outside(allocation)
    ordered = row_order_of(row_order, allocation.row_order) == "shuffle"
    used = _used(dataframe, allocation, row_id)
    rows = _by_position(dataframe, used)
    randomizer = _randomizer(_schema(dataframe, rows, used), allocation, release, row_id)
    require_sound_rows(rows, CheckTask(randomizer, tuple(used)), row_id)
    _require_few_rows(dataframe, allocation.unit)
    public = {field.name: field for field in dataframe.schema if field.name in allocation.public}
    return _released(rows, randomizer, used, public, ordered=ordered)


def _randomizer(
    schema: pa.Schema, allocation: Allocation, release: KeyedRelease, row_id: str
) -> BatchRandomizer:
    """With a hint for who has not named the column of ids."""
    try:
        return BatchRandomizer(schema, allocation, release, row_id=row_id)
    except DataError as error:
        if not error.column == row_id == _DEFAULT_ID:
            raise
        raise DataError(f'{error} (row_id is "{row_id}" unless you name another.)', column=row_id) from None


def _used(dataframe: DataFrame, allocation: Allocation, row_id: str) -> list[str]:
    """The columns that the workers need, in the table's order."""
    wanted = {attribute.name for attribute in allocation.attributes} | set(allocation.public) | {row_id}
    return [name for name in require_names(dataframe.columns, TABLE) if name in wanted]


def _require_few_rows(dataframe: DataFrame, unit: Unit) -> None:
    """`DataError` where a person has more rows than the problem allows, or the table does not tell."""
    require_person_column(unit, dataframe.columns)
    if unit.id is not None:
        require_few_rows(_by_position(dataframe, [unit.id]), unit)


def _by_position(dataframe: DataFrame, used: Sequence[str]) -> DataFrame:
    """These columns, named by their position: in Spark a name may have a dot, which means something there."""
    positions = positional(len(dataframe.columns))
    wanted = [position for position, name in zip(positions, dataframe.columns, strict=True) if name in used]
    return dataframe.toDF(*positions).select(*wanted).toDF(*positional(len(wanted)))


def _schema(dataframe: DataFrame, rows: DataFrame, used: Sequence[str]) -> pa.Schema:
    """The Arrow types of all columns; for those that are not used it does not matter which."""
    types = dict(zip(used, translated(rows.limit(0).toArrow, not_evaluated).schema.types, strict=True))
    return pa.schema([(name, types.get(name, pa.null())) for name in dataframe.columns])


def _released(
    rows: DataFrame,
    randomizer: BatchRandomizer,
    used: Sequence[str],
    public: Mapping[str, StructField],
    *,
    ordered: bool,
) -> DataFrame:
    """The released rows; `public` has Spark's own fields of the columns that pass as they are."""
    from pyspark.sql.types import LongType, StructField, StructType

    names = randomizer.schema.names
    values, halves = positional(len(names)), positional(len(names) + 2)[-2:] if ordered else []
    types = [None if field.name in public else arrow_type(field.type) for field in randomizer.schema]
    fields = [
        # a new field, without what the original's metadata say
        StructField(value, public[name].dataType if kind is None else spark_type(kind))
        for value, name, kind in zip(values, names, types, strict=True)
    ]
    fields += [StructField(half, LongType()) for half in halves]
    task = ReleaseTask(randomizer, tuple(used), tuple(types), ordered)
    released = rows.mapInArrow(task.batches, StructType(fields))
    if ordered:
        # the filter lets every row pass, but Spark cannot know that: it must not leave the sort out
        # where a join or another sort follows, which could then show the order of the originals
        released = released.orderBy(*halves).filter("spark_partition_id() >= 0").select(*values)
    return released.toDF(*names)
