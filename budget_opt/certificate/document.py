"""The certificate file: a bound and what proves it, for anyone to evaluate again.

A zip archive with

- `certificate.json`: format and version, the problem, the split (epsilons in the order of its blocks:
  attributes, and clusters where their first member stands), value, bound, relative gap, and `kind`;
- kind `multipliers` (convex objectives, DESIGN 2.5): `multipliers/floors.npy`, `moments`, `budgets`,
  `ceilings`, and `point` where `min_variance` is linearized; doubles, in the order of the problem;
- kind `tree` (weighted sums, GLOBAL_SOLVER 2 to 4): `tree/attribute.npy`, `tree/at.npy`, `tree/bounded.npy`,
  one entry a node, breadth first (`certificate.proof.tree`); `tree/numbers/*.npy`, one row a bounded node,
  the tangent point in lambda and the multipliers in single precision; `plane/point.npy`, `plane/kappa.npy`,
  and `cut` in the JSON (`certificate.proof.proof`).

Arrays are in numpy's .npy format 1.0, little endian, never pickled. The same content makes the same bytes.
Nothing in the file needs trust: the bound that counts is the one that is evaluated from the problem.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from budget_opt.certificate.container import AnyArray, Container, Shape, begins_as, packed_bytes
from budget_opt.certificate.multipliers import Multipliers
from budget_opt.certificate.proof.packing import shapes_of, template
from budget_opt.certificate.proof.proof import TreeProof
from budget_opt.certificate.proof.tree import AGAIN, Tree
from budget_opt.certificate.pruning.question import Question
from budget_opt.errors import CertificateError, InputError
from budget_opt.model.arguments import require_path
from budget_opt.model.arrays import Arrays, FloatArray
from budget_opt.model.documents import json_text, parse_document, uncollected, write_bytes
from budget_opt.model.fields import Finite, Title
from budget_opt.model.parts import Part
from budget_opt.model.problem import Problem

FORMAT: Literal["budget-opt/certificate"] = "budget-opt/certificate"
VERSION: Literal[1] = 1
HEADER = "certificate.json"
_DOUBLE, _SINGLE, _INDEX, _FLAG = "<f8", "<f4", "<i4", "|u1"


class Header(Part):
    """The fields of `certificate.json`; `cut` is of kind `tree` alone, `bound` null where none is proved."""

    noun: ClassVar[str] = "the certificate"
    error: ClassVar[type[InputError]] = CertificateError

    format: Literal["budget-opt/certificate"]
    version: Literal[1]
    software: Title
    kind: Literal["multipliers", "tree"]
    problem: dict[str, Any]
    epsilon: tuple[Finite, ...]
    value: Finite | None
    bound: Finite | None
    relative_gap: Finite | None
    cut: Finite | None


def certificate_schema() -> dict[str, Any]:
    """JSON Schema of `certificate.json` (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Header.model_json_schema()}


@dataclass(frozen=True)
class CertificateDocument:
    """What a certificate file states: a problem, a split (M,), its value, a bound, and what proves it."""

    problem: Problem
    epsilon: FloatArray
    value: float | None
    bound: float | None
    relative_gap: float | None
    proof: Multipliers | TreeProof
    software: str

    @property
    def content(self) -> bytes:
        """The bytes of the file."""
        tree = isinstance(self.proof, TreeProof)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "software": self.software,
            "kind": "tree" if tree else "multipliers",
            "epsilon": self.epsilon.tolist(),
            "value": self.value,
            "bound": self.bound,
            "relative_gap": self.relative_gap,
            "cut": self.proof.cut if isinstance(self.proof, TreeProof) else None,
            "problem": self.problem.to_dict(),
        }
        return packed_bytes({HEADER: json_text(header)}, _arrays_of(self.proof))

    def write(self, path: str | Path) -> str:
        """Write the file, whole or not at all; returns its SHA-256 in hexadecimal digits."""
        content = self.content
        write_bytes(content, path)
        return hashlib.sha256(content).hexdigest()


def read_certificate(path: str | Path) -> tuple[CertificateDocument, str]:
    """The certificate in a file and the file's SHA-256; raises `CertificateError` with what is wrong."""
    path = require_path(path, "certificate")
    container, sha256 = Container.of_file(path)
    where = path / HEADER
    header = _header(container.text(HEADER), where)
    problem = problem_in(header.problem, where)
    blocks = problem.blocks
    if len(header.epsilon) != len(blocks):
        noun = "attributes and clusters" if problem.clusters else "attributes"
        raise CertificateError(
            f"{where}: epsilon has {len(header.epsilon)} numbers, the problem {len(blocks)} {noun}. "
            "The file was changed or is damaged."
        )
    document = CertificateDocument(
        problem,
        np.array(header.epsilon),
        header.value,
        header.bound,
        header.relative_gap,
        _proof(container, header, problem, path),
        header.software,
    )
    return document, sha256


def problem_in(document: dict[str, Any], where: Path, *, decided: bool = True) -> Problem:
    """The problem that a certificate holds, its clusters `decided` or not; raises `CertificateError`."""
    try:
        with uncollected():
            problem = Problem.from_dict(document)
            if decided:
                _ = problem.blocks
    except InputError as failure:
        raise CertificateError.from_faults(failure.faults, f"{where}: problem") from None
    return problem


def is_certificate(path: str | Path) -> bool:
    """True where the file begins as a certificate; its proof is not read."""
    return begins_as(path, HEADER, FORMAT, VERSION)


def _header(text: str, where: Path) -> Header:
    document = parse_document(text, where, FORMAT, VERSION, CertificateError)
    try:
        header = Header(**document)
    except InputError as failure:
        raise CertificateError.from_faults(failure.faults, str(where)) from None
    if (header.cut is None) != (header.kind == "multipliers"):
        raise CertificateError(
            f"{where}: cut is {header.cut!r}, must be a number for kind tree, and null for kind multipliers."
        )
    return header


def _proof(container: Container, header: Header, problem: Problem, path: Path) -> Multipliers | TreeProof:
    arrays = problem.arrays
    if (header.kind == "tree") != (arrays.objective == "weighted_sum"):
        raise CertificateError(
            f"{path}: kind is {header.kind!r}, which proves nothing of the objective {arrays.objective}. "
            "The file was changed or is damaged."
        )
    if header.cut is None:
        return _multipliers(container, arrays, path)
    return _tree_proof(container, arrays, header.cut, path)


def _arrays_of(proof: Multipliers | TreeProof) -> dict[str, AnyArray]:
    """The arrays of a file by name, in the order of the file."""
    if isinstance(proof, Multipliers):
        return {name: value.astype(_DOUBLE) for name, value in _multiplier_fields(proof)}
    tree = proof.tree
    return {
        "tree/attribute": tree.attribute.astype(_INDEX),
        "tree/at": tree.at.astype(_DOUBLE),
        "tree/bounded": tree.bounded.astype(_FLAG),
        **{f"tree/numbers/{part}": rows.astype(_SINGLE) for part, rows in tree.numbers.items()},
        "plane/point": proof.point.astype(_DOUBLE),
        "plane/kappa": proof.kappa.astype(_DOUBLE),
    }


def _multiplier_fields(multipliers: Multipliers) -> Iterator[tuple[str, FloatArray]]:
    for field in fields(multipliers):
        value = getattr(multipliers, field.name)
        if value is not None:
            yield f"multipliers/{field.name}", value


def _multipliers(container: Container, arrays: Arrays, path: Path) -> Multipliers:
    expected = dict(_multiplier_fields(Multipliers.zero(arrays)))
    at_point = Multipliers.zero(arrays, np.zeros(arrays.blocks))
    expected |= {name: value for name, value in _multiplier_fields(at_point) if container.has(name)}
    container.require_members({HEADER, *(f"{name}.npy" for name in expected)})
    return Multipliers(
        **{
            name.removeprefix("multipliers/"): container.numbers(name, Shape(_DOUBLE, value.shape))
            for name, value in expected.items()
        }
    )


def _tree_proof(container: Container, arrays: Arrays, cut: float, path: Path) -> TreeProof:
    shapes: dict[str, tuple[int, ...]] = {}
    if np.any(arrays.weight > 0):
        shapes = {"point": (arrays.blocks,), **shapes_of(template(Question.of(arrays)))}
    members = ["tree/attribute", "tree/at", "tree/bounded", "plane/point", "plane/kappa"]
    members += [f"tree/numbers/{part}" for part in shapes]
    container.require_members({HEADER, *(f"{name}.npy" for name in members)})
    attribute = container.array("tree/attribute", Shape(_INDEX, (None,))).astype(np.int64)
    count = attribute.size
    at = container.numbers("tree/at", Shape(_DOUBLE, (count,)))
    bounded = container.array("tree/bounded", Shape(_FLAG, (count,))) != 0
    rows = int(np.sum(bounded)) if shapes else 0
    numbers = {
        part: container.numbers(f"tree/numbers/{part}", Shape(_SINGLE, (rows, *shape)))
        for part, shape in shapes.items()
    }
    tree = Tree(attribute, at, bounded, numbers)
    if np.any(attribute < AGAIN) or np.any(attribute >= arrays.blocks) or not tree.is_whole:
        raise CertificateError(
            f"{path}: tree/attribute.npy is no tree: a node is missing or stands where none can be. "
            "The file was changed or is damaged."
        )
    return TreeProof(
        tree,
        cut,
        container.numbers("plane/point", Shape(_DOUBLE, (arrays.blocks,))),
        container.numbers("plane/kappa", Shape(_DOUBLE, (arrays.floors.size,))),
    )
