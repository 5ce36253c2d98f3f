"""What must hold of a DataFrame before anything of it is released."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from budget_opt.engines.batch_tasks import CHECKED, CheckTask
from budget_opt.errors import DataError, InputError
from budget_opt.model.moments.moment import Unit
from budget_opt.randomizer.persons import too_many_rows
from budget_opt.tables.findings import Findings
from budget_opt.tables.translation import translated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_USED = ("columns", "limit", "mapInArrow", "schema", "select", "toArrow", "toDF")


def require_dataframe(dataframe: Any) -> None:
    """`InputError` for what is no Spark DataFrame of rows that stand still; also for Spark before 4.0."""
    lacking = [name for name in _USED if not hasattr(dataframe, name)]
    if lacking:
        raise InputError(
            f"dataframe: {_what(dataframe, lacking[0])}, must be a DataFrame of Spark 4.0 or later. Make one "
            "with spark.createDataFrame or spark.read, or use budget_opt.randomize for a table of this "
            "machine."
        )
    if dataframe.isStreaming:
        raise InputError(
            "dataframe: is a stream, whose ids cannot be compared before the release. Release every finished "
            "batch by itself with foreachBatch, its ids distinct from those of all others."
        )
    if not _is_deterministic(dataframe):
        raise DataError(
            "dataframe: is computed with something that may differ each time, such as rand, uuid or "
            "monotonically_increasing_id. Spark computes it again when it likes, and rows with other ids "
            "would be a second noisy copy of the same people. Write it to a table, and release what you read "
            "from there."
        )


def _what(given: object, lacking: str) -> str:
    kind, home = type(given).__name__, type(given).__module__.partition(".")[0]
    if home == "pyspark":
        return f"is a {kind} of Spark without {lacking}"
    return f"is a {kind}{'' if home == 'builtins' else f' of {home}'}, which is no Spark DataFrame"


def _is_deterministic(dataframe: Any) -> bool:
    """What Spark itself says of the plan; a DataFrame of Spark Connect does not tell, and passes."""
    plan = getattr(dataframe, "_jdf", None)
    return plan is None or bool(plan.queryExecution().analyzed().deterministic())


def require_sound_rows(rows: DataFrame, task: CheckTask, row_id: str) -> None:
    """One Spark job over all rows: `DataError` for faulty cells, all of them, and for ids that stand twice.

    What Spark shuffles for it are order keys, which say nothing to who has not the release's key.
    """
    from pyspark.sql.functions import expr

    keys = rows.mapInArrow(task.batches, CHECKED).groupBy("high", "low", "faults").count()
    wrong = keys.filter("faults IS NOT NULL OR count > 1")
    told = wrong.groupBy("faults").agg(expr("count(*)"), expr("sum(count)"))
    findings, repeated = Findings(), None
    for faults, distinct, count in translated(told.collect, not_evaluated):
        if faults is None:
            repeated = _repeated(row_id, distinct, count)
        else:
            for _ in range(count):  # tasks that found the same
                findings.include(faults)
    findings.require_none()
    if repeated is not None:
        raise repeated


def require_few_rows(column: DataFrame, unit: Unit) -> None:
    """One Spark job over the column of persons: `DataError` for missing ids, and for too many rows of one."""
    from pyspark.sql.functions import expr

    (name,) = column.columns
    told = column.groupBy(name).count().filter(f"{name} IS NULL OR count > {unit.max_rows}")
    sums = told.agg(expr(f"sum(CASE WHEN {name} IS NULL THEN count END)"), expr(f"count({name})"))
    ((missing, persons),) = translated(sums.collect, not_evaluated)
    if missing:
        raise DataError(
            f"column {unit.id!r}: is missing, and tells no person, in {missing} rows. Fill the cells.",
            column=unit.id,
            count=missing,
        )
    if persons:
        raise too_many_rows(unit, persons)


def _repeated(row_id: str, ids: int, rows: int) -> DataError:
    stand = "1 id stands" if ids == 1 else f"{ids} ids stand"
    return DataError(
        f"column {row_id!r}: {stand} in more than one row, {rows} rows in all. The random words of a row are "
        "made from its id, so rows of one id share them: equal cells would get equal reports, and different "
        "reports would reveal that the cells differ. Give every row an id of its own.",
        column=row_id,
        count=rows,
    )


def not_evaluated(failure: Exception) -> DataError:
    """Of an error of Spark only its kind: its text may quote a cell."""
    text = str(failure)
    if "No module named 'budget_opt'" in text:
        return DataError(
            "the workers have no budget_opt. Install the same version there, with pyarrow and cryptography, "
            f"or let the workers use this Python: PYSPARK_PYTHON={sys.executable} (set it before the session "
            "begins)."
        )
    return DataError(
        f"dataframe: Spark cannot compute it ({_kind(failure)}). Compute it once without budget_opt, where "
        "its rows may be seen, to find out why: Spark's message may quote cells, and is not repeated here."
    )


def _kind(failure: Exception) -> str:
    condition = getattr(failure, "getCondition", lambda: None)()
    known = isinstance(condition, str) and re.fullmatch(r"[A-Z0-9_.]+", condition)
    return f"{type(failure).__name__}, {condition}" if known else type(failure).__name__
