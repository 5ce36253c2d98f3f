"""Samplers to audit: a sound one, on codes, and the faults of RELIABILITY, each as another draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

import budget_opt as bo

Codes = npt.NDArray[np.int64]
Columns = dict[str, Codes]
Draw = Callable[[np.random.Generator, Columns], Columns]

PROBLEM = bo.Problem(
    attributes=[
        bo.Attribute("smoker", categories=["no", "yes"]),
        bo.Attribute("income", categories=5),
        bo.Attribute("works", categories=[False, True]),
    ],
    moments=[bo.CrossMoment("smoker", "income")],
    total_epsilon=3.0,
)
ALLOCATION = bo.uniform(PROBLEM)
LABELS = {a.name: np.array(a.domain.labels, dtype=object) for a in ALLOCATION.attributes}
KEPT = {a.name: a.truth_probability for a in ALLOCATION.attributes}


def tables(draw: Draw, seed: int = 0, labels: Mapping[str, Any] = LABELS) -> Callable[[pa.Table], pa.Table]:
    """The sampler of a `draw`, from table to table; it refuses what is undeclared."""
    rng, declared = np.random.default_rng(seed), {name: pa.array(of.tolist()) for name, of in labels.items()}

    def sampler(table: pa.Table) -> pa.Table:
        codes = {name: _codes(table[name], declared[name]) for name in table.column_names}
        reports = draw(rng, codes)
        return pa.table({name: declared[name].take(pa.array(column)) for name, column in reports.items()})

    return sampler


def _codes(column: pa.ChunkedArray, declared: pa.Array) -> Codes:
    if column.type != declared.type:
        raise TypeError(f"values are {column.type}, and {declared.type} is declared")
    found = pc.index_in(column, value_set=declared)
    if found.null_count:
        raise ValueError("a value is not declared")
    return found.to_numpy().astype(np.int64)


def randomized(
    rng: np.random.Generator, name: str, codes: Codes, *, kept: float | None = None, u: Any = None
) -> Codes:
    """Randomized response; `u` are uniform numbers that decide whether a cell is kept."""
    u = rng.random(codes.size) if u is None else u
    r = LABELS[name].size
    other = (codes + rng.integers(1, r, codes.size)) % r
    return np.where(u < (KEPT[name] if kept is None else kept), codes, other)


def sound(rng: np.random.Generator, codes: Columns) -> Columns:
    return {name: randomized(rng, name, column) for name, column in codes.items()}


def kept_twice(rng: np.random.Generator, codes: Columns) -> Columns:
    """OpenDP's historical fault: the truth is kept with p + (1 - p) p."""
    return {
        name: randomized(rng, name, column, kept=KEPT[name] + (1 - KEPT[name]) * KEPT[name])
        for name, column in codes.items()
    }


def without_last(rng: np.random.Generator, codes: Columns) -> Columns:
    """The loop ends one early."""
    return {
        name: np.append(randomized(rng, name, column)[:-1], column[-1:]) for name, column in codes.items()
    }


def without_last_chunk(rng: np.random.Generator, codes: Columns) -> Columns:
    """What is left after whole chunks of 1,000 is not randomized."""
    reports = sound(rng, codes)
    for name, column in codes.items():
        whole = column.size // 1000 * 1000
        reports[name][whole:] = column[whole:]
    return reports


def floor_for_ceil(rng: np.random.Generator, codes: Columns) -> Columns:
    """Words of 3 bits, of which floor(8 / (exp(1) + 4)) = 1 goes to each other category."""
    reports = sound(rng, codes)
    d = np.minimum(rng.integers(0, 8, codes["income"].size), 4)
    return reports | {"income": (codes["income"] + d + 1) % 5}


def biased_modulo(rng: np.random.Generator, codes: Columns) -> Columns:
    """The replacement is a word of 3 bits modulo 5: three categories are drawn twice as often as two."""
    kept = float(ALLOCATION["income"].retention)
    income = codes["income"]
    drawn = np.where(rng.random(income.size) < kept, income, rng.integers(0, 8, income.size) % 5)
    return sound(rng, codes) | {"income": drawn}


def one_stream(rng: np.random.Generator, codes: Columns) -> Columns:
    """The same uniform numbers decide for two attributes."""
    u = rng.random(codes["smoker"].size)
    return sound(rng, codes) | {name: randomized(rng, name, codes[name], u=u) for name in ("smoker", "works")}


def now_and_then(rng: np.random.Generator, codes: Columns) -> Columns:
    """One record in five is left as it is, all of it, and each column alone is as it should be."""
    left = rng.random(codes["smoker"].size) < 0.2
    return {
        name: np.where(left, codes[name], randomized(rng, name, codes[name], kept=(KEPT[name] - 0.2) / 0.8))
        for name in codes
    }


def carried(rng: np.random.Generator, codes: Columns) -> Columns:
    """One report in ten of income tells whether somebody smokes."""
    reports = sound(rng, codes)
    tells = rng.random(codes["smoker"].size) < 0.1
    return reports | {"income": np.where(tells, 3 + codes["smoker"], reports["income"])}


def one_category_kept(rng: np.random.Generator, codes: Columns) -> Columns:
    """Of one category only, too many are kept."""
    reports, income = sound(rng, codes), codes["income"]
    more = randomized(rng, "income", income, kept=0.7)
    return reports | {"income": np.where(income == 2, more, reports["income"])}


SCRIPT = """
import csv, random, sys
labels = {"smoker": ["no", "yes"], "income": list("01234"), "works": ["false", "true"]}
kept = {"smoker": 0.731, "income": 0.404, "works": float(sys.argv[1])}
source = open(sys.argv[2]) if len(sys.argv) > 2 else sys.stdin
target = open(sys.argv[3], "w") if len(sys.argv) > 3 else sys.stdout
draw, records = random.SystemRandom(), csv.DictReader(source)
reports = csv.DictWriter(target, records.fieldnames)
reports.writeheader()
for record in records:
    for name, value in record.items():
        others = [label for label in labels[name] if label != value]
        if len(others) == len(labels[name]):
            sys.exit(f"{name}: undeclared")
        if draw.random() >= kept[name]:
            record[name] = draw.choice(others)
    reports.writerow(record)
"""
"""A sound command where the last column keeps with 0.731 (the first argument); files may follow."""
