"""The design certificate: a bound of all partitions under all groupings, for anyone to evaluate again.

A zip archive like that of `certificate.document`, with

- `design.json`: format and version, the problem with its clusters open ("auto") and `max_cells`, what the
  best design that was found is worth, the bound, and their relative gap;
- `prices/*.npy`, one row a price vector: `variant`, the number of the combination of groupings that it is
  for (`variants`, from 0); `need`, 1 where it bounds the total that the floors need; `floors`, `moments`,
  `shares` in the order of the problem's moments, `budgets` of its total and groups, `cover` of the
  attributes.

Nothing in the file needs trust: the bound that counts is evaluated from the problem (`proof`).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from budget_opt.certificate.container import AnyArray, Container, Shape, begins_as, packed_bytes
from budget_opt.certificate.document import problem_in
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.partitions.proof import MOST_ROWS, PriceRow
from budget_opt.certificate.partitions.variants import MOST_GROUPINGS, candidates
from budget_opt.errors import CertificateError, InputError
from budget_opt.model.arguments import require_path
from budget_opt.model.documents import json_text, parse_document, write_bytes
from budget_opt.model.fields import Finite, Title
from budget_opt.model.parts import Part
from budget_opt.model.problem import Problem

FORMAT: Literal["budget-opt/design-certificate"] = "budget-opt/design-certificate"
VERSION: Literal[1] = 1
HEADER = "design.json"
_DOUBLE, _INDEX, _FLAG = "<f8", "<i4", "|u1"


class DesignHeader(Part):
    """The fields of `design.json`; `bound` is null where none is proved."""

    noun: ClassVar[str] = "the design certificate"
    error: ClassVar[type[InputError]] = CertificateError

    format: Literal["budget-opt/design-certificate"]
    version: Literal[1]
    software: Title
    problem: dict[str, Any]
    value: Finite | None
    bound: Finite | None
    relative_gap: Finite | None


def design_certificate_schema() -> dict[str, Any]:
    """JSON Schema of `design.json` (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **DesignHeader.model_json_schema()}


@dataclass(frozen=True, eq=False)
class DesignCertificate:
    """What a design certificate states: an open problem, a value, a bound of all designs, and its prices."""

    problem: Problem
    value: float | None
    bound: float | None
    relative_gap: float | None
    rows: Sequence[PriceRow]
    software: str

    @property
    def max_cells(self) -> int:
        """The most joint categories of a cluster."""
        assert self.problem.max_cells is not None  # as read, and as design writes it
        return self.problem.max_cells

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "software": self.software,
            "value": self.value,
            "bound": self.bound,
            "relative_gap": self.relative_gap,
            "problem": self.problem.to_dict(),
        }
        return packed_bytes({HEADER: json_text(header)}, self._arrays())

    def write(self, path: str | Path) -> str:
        """Write the file, whole or not at all; returns its SHA-256 in hexadecimal digits."""
        content = self.content
        write_bytes(content, path)
        return hashlib.sha256(content).hexdigest()

    def _arrays(self) -> dict[str, AnyArray]:
        columns: dict[str, list[Any]] = {name: [] for name in ("variant", "need", *_widths(self.problem))}
        for row in self.rows:
            found = {
                "variant": row.variant,
                "need": row.need,
                "floors": row.multipliers.floors,
                "moments": row.multipliers.moments,
                "budgets": row.multipliers.budgets,
                "shares": row.shares,
                "cover": row.cover,
            }
            for name, value in found.items():
                columns[name].append(value)
        shapes = _shapes(self.problem)
        return {
            f"prices/{name}": np.array(column, dtype=shapes[name].dtype).reshape(
                len(self.rows), *shapes[name].sizes[1:]
            )
            for name, column in columns.items()
        }


def read_design_certificate(path: str | Path) -> DesignCertificate:
    """The design certificate in a file; raises `CertificateError` with what is wrong."""
    path = require_path(path, "certificate")
    container, _ = Container.of_file(path)
    where = path / HEADER
    document = parse_document(container.text(HEADER), where, FORMAT, VERSION, CertificateError)
    try:
        header = DesignHeader(**document)
    except InputError as failure:
        raise CertificateError.from_faults(failure.faults, str(where)) from None
    problem = problem_in(header.problem, where, decided=False)
    if problem.clusters != "auto" or problem.max_cells is None or problem.objective == "weighted_sum":
        raise CertificateError(
            f"{where}: the problem must leave its clusters open (clusters: auto, with max_cells) and have "
            "another objective than weighted_sum. The file was changed or is damaged."
        )
    if problem.total_delta > 0:
        raise CertificateError(
            f"{where}: the problem has a total_delta, for which no bound over all partitions is known. "
            "The file was changed or is damaged."
        )
    count = math.prod(candidates(problem).values())
    if count > MOST_GROUPINGS:
        raise CertificateError(
            f"{where}: the problem has {count:,} combinations of groupings, at most {MOST_GROUPINGS} are "
            "judged. The file was changed or is damaged."
        )
    rows = _rows(container, problem)
    return DesignCertificate(problem, header.value, header.bound, header.relative_gap, rows, header.software)


def is_design_certificate(path: str | Path) -> bool:
    """True where the file begins as a design certificate; its prices are not read."""
    return begins_as(path, HEADER, FORMAT, VERSION)


def has_design_header(path: str | Path) -> bool:
    """True where the file has the text of a design certificate, of whatever version."""
    try:
        return Container.of_file(path)[0].holds(HEADER)
    except CertificateError:
        return False


def _widths(problem: Problem) -> dict[str, int]:
    moments = len(problem.moments)
    budgets, attributes = len(problem.budgets()), len(problem.attributes)
    return {"floors": moments, "moments": moments, "shares": moments, "budgets": budgets, "cover": attributes}


def _shapes(problem: Problem) -> dict[str, Shape]:
    return {
        "variant": Shape(_INDEX, (None,)),
        "need": Shape(_FLAG, (None,)),
        **{name: Shape(_DOUBLE, (None, width)) for name, width in _widths(problem).items()},
    }


def _rows(container: Container, problem: Problem) -> list[PriceRow]:
    shapes = _shapes(problem)
    container.require_members({HEADER, *(f"prices/{name}.npy" for name in shapes)})
    count = len(container.array("prices/variant", shapes["variant"]))
    if count > MOST_ROWS:
        raise container.fault("prices/variant.npy", f"has {count:,} rows, at most {MOST_ROWS:,} are judged")
    read = {
        name: container.numbers(
            f"prices/{name}", Shape(shape.dtype, (count, *shape.sizes[1:])), signed=name == "cover"
        )
        for name, shape in shapes.items()
    }
    nothing = np.zeros(len(problem.moments))
    return [
        PriceRow(
            variant=int(read["variant"][n]),
            need=bool(read["need"][n]),
            multipliers=Multipliers(
                read["floors"][n], read["moments"][n], read["budgets"][n], ceilings=nothing
            ),
            shares=read["shares"][n],
            cover=read["cover"][n],
        )
        for n in range(count)
    ]
