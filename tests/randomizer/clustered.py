"""A table with a cluster whose members stand apart and in another order than in the problem, and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import budget_opt as bo
from budget_opt.allocation import AllocatedBlock
from budget_opt.mechanisms.sampler import sampler_for
from budget_opt.model.attribute import Attribute
from budget_opt.model.clusters.block import Block
from budget_opt.tables.encoding import code_type

CLUSTER = ("income", "smoker", "age")
"""The members in the order of the joint code."""
SHAPE = (5, 2, 4)
COLUMNS = ("age", "wave", "smoker", "region", "income")
"""The released columns in the table's order."""


def problem(**changes: Any) -> bo.Problem:
    fields: dict[str, Any] = {
        "attributes": [
            bo.Attribute("smoker", categories=["no", "yes"]),
            bo.Attribute("region", categories=[7, 3, 5], missing="category"),
            bo.Attribute(
                "age", bins=[18, 30, 65, None], scores=[24, 45, 75], missing="category", missing_score=40
            ),
            bo.Attribute("income", categories=5),
        ],
        "moments": [bo.CrossMoment("smoker", "income"), bo.CrossMoment("region", "age")],
        "total_epsilon": 6.0,
        "clusters": [CLUSTER],
        "public": [{"name": "wave", "why": "the same for everybody"}],
        "dropped": ["id"],
    }
    return bo.Problem(**(fields | changes))


def allocation(epsilon: float = 4.0, **changes: Any) -> bo.Allocation:
    return bo.allocation_from(problem(**changes), {"income + smoker + age": epsilon, "region": 2.0})


def table(rows: int) -> pa.Table:
    pick = np.random.default_rng(rows).integers
    age = np.array([20.0, 40.0, 70.0, np.nan])[pick(0, 4, rows)]
    return pa.table(
        {
            "id": pa.array([f"CANARY-{i}" for i in range(rows)], pa.string()),
            "age": pa.array(age, from_pandas=True),
            "wave": pa.array([f"w{i % 7}" for i in range(rows)], pa.string()),
            "smoker": np.array(["no", "yes"])[pick(0, 2, rows)],
            "region": pa.array(np.array([7, 3, 5])[pick(0, 3, rows)], mask=pick(0, 5, rows) == 0),
            "income": pick(0, 5, rows),
        }
    )


def block(
    names: Sequence[str], shape: Sequence[int], epsilon: float, *, least_bits: int = 32
) -> AllocatedBlock:
    """A block of attributes with these numbers of categories."""
    made = Block(tuple(Attribute(name, categories=r) for name, r in zip(names, shape, strict=True)))
    return AllocatedBlock(made, epsilon, sampler_for(epsilon, made.cardinality, least_bits=least_bits))


def columns_of(made: AllocatedBlock, joint: npt.ArrayLike) -> dict[str, Any]:
    """The members' columns of these joint codes, by numpy."""
    places = np.unravel_index(np.asarray(joint, dtype=np.int64), made.shape)
    return {
        name: place.astype(code_type(r))
        for name, place, r in zip(made.names, places, made.shape, strict=True)
    }


def joint_of(made: AllocatedBlock, columns: Any) -> npt.NDArray[np.int64]:
    """The joint codes of the members' columns, by numpy."""
    return np.ravel_multi_index([columns[name].astype(np.int64) for name in made.names], made.shape)
