"""A survey with every kind of column and with ids, and how a release of it is compared cell for cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import budget_opt as bo
from budget_opt.allocation import uniform

TEXTS = ["york", "leeds", 'hull, "the" port']
ROWS = 500


TOGETHER = (("age", "city", "owns"),)
"""A cluster of columns that stand apart, in another order than in the problem and in the table."""


def allocation_for(row_order: str = "shuffle", clusters: tuple[tuple[str, ...], ...] = ()) -> bo.Allocation:
    """Text with `other`, integers and bins with a missing category, booleans, and a public column."""
    return uniform(
        bo.Problem(
            attributes=[
                bo.Attribute("city", categories=TEXTS, other="leeds"),
                bo.Attribute(
                    "size.of", categories=[4, 1, 200], missing="category", missing_score=0, scores=[4, 1, 2]
                ),
                bo.Attribute("owns", categories=[True, False]),
                bo.Attribute(
                    "age", bins=[18, 30, 65, None], scores=[24, 45, 75], missing="category", missing_score=40
                ),
            ],
            moments=[bo.CrossMoment("city", "size.of"), bo.CrossMoment("owns", "age")],
            total_epsilon=6.0,
            public=[{"name": "wave", "why": "the same for everybody"}],
            dropped=["id", "note"],
            row_order=row_order,
            clusters=clusters,
        )
    )


def survey(*, text_ids: bool = False, rows: int = ROWS) -> pa.Table:
    """Rows that fit the problem; columns not in the problem's order."""
    random = np.random.default_rng(5)
    pick = random.integers
    ids = pick(-(2**62), 2**62, rows)
    age = random.uniform(18, 100, rows).round(1)
    age[pick(0, 9, rows) == 0] = np.nan
    return pa.table(
        {
            "note": pa.array([f"CANARY-{i}" for i in range(rows)], pa.string()),
            "age": pa.array(age, mask=pick(0, 9, rows) == 0),
            "owns": pa.array(pick(0, 2, rows).astype(bool)),
            "id": pa.array([f"person-{i}" for i in ids]) if text_ids else pa.array(ids),
            "wave": pa.array([f"w{i % 7}" if i % 5 else None for i in range(rows)], pa.string()),
            "city": np.array([*TEXTS, "elsewhere"])[pick(0, 4, rows)],
            "size.of": pa.array(
                np.array([4, 1, 200])[pick(0, 3, rows)], pa.int16(), mask=pick(0, 7, rows) == 0
            ),
        }
    )


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    """The rows of a table of pyarrow in their order, whatever form text has in it."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
